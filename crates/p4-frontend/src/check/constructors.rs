//! Constructors.

use super::arguments::Signature;
use super::calls::finished;
use super::{Checker, Facts};
use crate::ast::{self, Direction};
use crate::hir::{Callee, DefKind, Expr, Named, NamedKind, Param, Ty};
use crate::span::Span;
use std::rc::Rc;

impl<'a> Checker<'a> {
    /// An instance: `Type(args)`.
    pub(super) fn constructor(&mut self, ty: &Ty, args: &'a [ast::Argument], span: Span) -> Expr {
        let Ty::Named(named) = ty else {
            if !ty.is_error() {
                self.cannot_instantiate(ty, span);
            }
            return Expr::error(span);
        };
        let with = self.hir.substitution(named);
        let Some(params) = self.instantiable(named, args, span) else {
            return Expr::error(span);
        };
        let signature = Signature {
            what: named.name.to_string(),
            type_params: Vec::new(),
            params,
            result: ty.clone(),
            with,
            known: true,
        };
        let Some((_, args, _)) = self.arguments(signature, &[], args, span) else {
            return Expr::error(span);
        };
        let result = self.known(ty);
        self.check_inferred(&result, &args, span);
        if let Ty::Named(named) = &result
            && named.kind == NamedKind::Extern
            && !self.have_widths(&named.args, &args)
        {
            return Expr::error(span);
        }
        finished(Callee::Constructor, Vec::new(), args, result, span)
    }

    /// The constructor parameters of a type that can be instantiated. Reports a type that cannot.
    fn instantiable(
        &mut self,
        named: &Named,
        args: &[ast::Argument],
        span: Span,
    ) -> Option<Rc<[Param<'a>]>> {
        match self.hir.kind(named.id) {
            Some(DefKind::Parser(g)) if g.of.body.is_some() => {
                return Some(g.of.constructor_params.clone());
            }
            Some(DefKind::Control(g)) if g.of.body.is_some() => {
                return Some(g.of.constructor_params.clone());
            }
            Some(DefKind::Package(g)) => return Some(g.of.clone()),
            Some(DefKind::Extern(g)) if !g.of.constructors.is_empty() => {
                let constructors = g.of.constructors.clone();
                let ident = ast::Ident {
                    name: named.name.clone(),
                    span,
                };
                let chosen = self.overload(&constructors, args, &ident)?;
                return Some(self.function(chosen)?.params);
            }
            _ => {}
        }
        self.cannot_instantiate(&Ty::Named(named.clone()), span);
        None
    }
}

impl<'a> Facts<'a> {
    pub(super) fn constructor_params(&self, named: &Named) -> Rc<[Param<'a>]> {
        match self.hir.kind(named.id) {
            Some(DefKind::Parser(g)) => g.of.constructor_params.clone(),
            Some(DefKind::Control(g)) => g.of.constructor_params.clone(),
            Some(DefKind::Package(g)) => g.of.clone(),
            _ => Rc::from([]),
        }
    }

    /// Reports a type argument that is not determined. A package may leave type arguments open that none of its blocks
    /// needs; an extern may leave those open that are `_` and determined by each call.
    fn check_inferred(&mut self, ty: &Ty, args: &[Option<Expr>], span: Span) {
        let Ty::Named(named) = ty else { return };
        let mut open = named.args.iter().enumerate();
        let missing = open.find(|(i, arg)| match arg {
            Ty::Var(var) => !self.dont_care.contains(var) || !self.is_left_to_calls(named, *i),
            _ => false,
        });
        let Some((i, _)) = missing else { return };
        if named.kind == NamedKind::Package {
            let open = &named.args[i];
            let needed = args.iter().flatten().any(|arg| match &arg.ty {
                Ty::Named(block) => self
                    .block_params(block)
                    .is_some_and(|params| params.iter().any(|p| p.ty.any(&mut |t| t == open))),
                _ => false,
            });
            if !needed {
                return;
            }
        }
        let Some((_, name)) = self.hir.type_params(named.id).get(i).cloned() else {
            return;
        };
        self.error(
            "cannot-infer",
            span,
            format!(
                "type argument `{name}` of `{}` cannot be inferred",
                named.name
            ),
            format!("specify it: `{}<…>`", named.name),
        );
    }

    /// Whether each call of an extern's methods can determine type argument `i`: it occurs only as the type of `in`
    /// parameters, such as an index.
    fn is_left_to_calls(&self, named: &Named, i: usize) -> bool {
        let Some(DefKind::Extern(generic)) = self.hir.kind(named.id) else {
            return false;
        };
        let (id, _) = self.hir.type_params(named.id)[i];
        let names = |ty: &Ty| ty.any(&mut |part| matches!(part, Ty::Param(of, _) if *of == id));
        let methods = generic.of.methods.iter();
        methods.filter_map(|id| self.function(*id)).all(|method| {
            let mut params = method.params.iter();
            !names(&method.result) && params.all(|p| p.direction == Direction::In || !names(&p.ty))
        })
    }

    fn cannot_instantiate(&mut self, ty: &Ty, span: Span) {
        self.error(
            "not-instantiable",
            span,
            format!("`{ty}` cannot be instantiated"),
            "expected a parser, control or package with a body, or an extern with a constructor",
        );
    }
}
