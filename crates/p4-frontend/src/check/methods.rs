//! Methods of tables, parsers, controls, stacks and externs.

use super::arguments::Signature;
use super::arguments::signature;
use super::calls::finished;
use super::{Checker, Facts, Inside};
use crate::ast::{self, DeclId};
use crate::hir::{Callee, DefKind, Expr, Named, NamedKind, Ty};
use crate::span::Span;
use num_traits::{Signed, ToPrimitive};

impl<'a> Checker<'a> {
    pub(super) fn apply_table(
        &mut self,
        id: DeclId,
        ty: &Ty,
        args: &'a [ast::Argument],
        span: Span,
    ) -> Expr {
        if self.inside != Inside::Control {
            self.error(
                "misplaced-call",
                span,
                "a table can only be applied in a control's apply block",
                "not allowed here",
            );
            return Expr::error(span);
        }
        *self.hir.applied.entry(id).or_default() += 1;
        let Ty::Table(_, name) = ty else {
            return Expr::error(span);
        };
        let ty = Ty::ApplyResult(id, name.clone());
        let call = finished(Callee::Table(id), Vec::new(), Vec::new(), ty, span);
        self.without_arguments(args, call)
    }

    pub(super) fn apply_block(
        &mut self,
        named: &Named,
        callee: Callee,
        type_args: &'a [ast::Type],
        args: &'a [ast::Argument],
        span: Span,
    ) -> Expr {
        let (params, wanted) = match self.hir.kind(named.id) {
            Some(DefKind::Parser(g)) => (g.of.params.clone(), Inside::Parser),
            Some(DefKind::Control(g)) => (g.of.params.clone(), Inside::Control),
            _ => return Expr::error(span),
        };
        if self.inside != wanted {
            let (what, place) = match wanted {
                Inside::Parser => ("parser", "parsers apply parsers"),
                _ => ("control", "controls are applied in a control's apply block"),
            };
            self.error(
                "misplaced-call",
                span,
                format!("{what} `{}` cannot be applied here", named.name),
                place,
            );
            return Expr::error(span);
        }
        let signature = Signature {
            what: named.name.to_string(),
            type_params: Vec::new(),
            params,
            result: Ty::Void,
            with: self.hir.substitution(named),
            known: false,
        };
        match self.arguments(signature, type_args, args, span) {
            Some((type_args, args, ty)) => {
                let callee = match callee {
                    Callee::Anonymous(ty) => Callee::Anonymous(self.known(&ty)),
                    other => other,
                };
                finished(callee, type_args, args, ty, span)
            }
            None => Expr::error(span),
        }
    }

    pub(super) fn push_or_pop(
        &mut self,
        stack: Expr,
        push: bool,
        args: &'a [ast::Argument],
        span: Span,
    ) -> Expr {
        if !self.require_writable(&stack, "a stack that is pushed or popped") {
            return Expr::error(span);
        }
        let [arg] = args else {
            self.error(
                "wrong-arguments",
                span,
                "expected one argument: by how many elements",
                format!("found {}", args.len()),
            );
            return Expr::error(span);
        };
        let count = match self.constant_int(&arg.value, "the number of elements") {
            Some(count) => count,
            None => return Expr::error(span),
        };
        if count.is_negative() {
            self.error(
                "bad-number",
                arg.span,
                format!("the number of elements cannot be {count}"),
                "it is negative",
            );
            return Expr::error(span);
        }
        let count = count.to_u32().unwrap_or(u32::MAX);
        let callee = if push {
            Callee::PushFront(stack, count)
        } else {
            Callee::PopFront(stack, count)
        };
        finished(callee, Vec::new(), Vec::new(), Ty::Void, span)
    }

    pub(super) fn call_method(
        &mut self,
        object: Expr,
        named: &Named,
        name: &'a ast::Ident,
        type_args: &'a [ast::Type],
        args: &'a [ast::Argument],
        span: Span,
    ) -> Expr {
        let Some(DefKind::Extern(ext)) = self.hir.kind(named.id) else {
            return Expr::error(span);
        };
        let named_so = |m: &DeclId| self.def(*m).is_some_and(|d| d.name == name.name);
        let methods: Vec<DeclId> = ext.of.methods.iter().copied().filter(named_so).collect();
        if methods.is_empty() {
            return self.no_method(&object.ty, name, span);
        }
        let Some(method) = self.overload(&methods, args, name) else {
            return Expr::error(span);
        };
        let Some(function) = self.function(method) else {
            return Expr::error(span);
        };
        if self.inside == Inside::TopLevel {
            self.error(
                "call-at-top-level",
                span,
                "a call is not allowed at the top level",
                "expected a value known at compile time",
            );
            return Expr::error(span);
        }
        // Type arguments that the instance leaves open are determined by each call.
        let mut with = self.hir.substitution(named);
        for ty in with.values_mut() {
            *ty = self.renewed(ty);
        }
        let what = format!("{}.{}", named.name, name.name);
        let signature = signature(&what, function, with);
        match self.arguments(signature, type_args, args, span) {
            Some((type_args, args, ty)) => {
                if !self.have_widths(&type_args, &args)
                    || !self.packet_method(named, name, &type_args, &args, span)
                {
                    return Expr::error(span);
                }
                let callee = Callee::Method { object, method };
                finished(callee, type_args, args, ty, span)
            }
            None => Expr::error(span),
        }
    }
}

impl<'a> Facts<'a> {
    /// Rules that the signatures in core.p4 do not express: which types can be extracted, looked
    /// ahead and emitted.
    fn packet_method(
        &mut self,
        named: &Named,
        method: &ast::Ident,
        type_args: &[Ty],
        args: &[Option<Expr>],
        span: Span,
    ) -> bool {
        let Some(ty) = type_args.first() else {
            return true;
        };
        if ty.any(&mut |t| matches!(t, Ty::Param(..) | Ty::Error)) {
            return true;
        }
        let (fixed, most) = (self.hir.bits(ty, 0), self.hir.bits(ty, 1));
        let place = args
            .first()
            .and_then(Option::as_ref)
            .map_or(span, |a| a.span);
        let wrong = match (&*named.name, method.as_str()) {
            ("packet_in", "extract") if !ty.is(NamedKind::Header) => "expected a header",
            ("packet_in", "extract") if args.len() == 1 && fixed != most => {
                "it has a varbit: expected its length in bits as second argument"
            }
            ("packet_in", "extract") if args.len() == 2 && fixed == most => {
                "it has no varbit: expected no second argument"
            }
            ("packet_in", "lookahead") if fixed.is_none() || fixed != most => {
                "expected a type of fixed size"
            }
            ("packet_out", "emit") if !self.emits(ty) => {
                "expected a header, a stack, a union, or a struct of such"
            }
            _ => return true,
        };
        let message = format!("`{}` cannot take a value of type `{ty}`", method.name);
        self.error("bad-packet-type", place, message, wrong);
        false
    }

    fn emits(&self, ty: &Ty) -> bool {
        match ty {
            _ if ty.is_header_like() => true,
            Ty::Stack(of, _) => matches!(**of, Ty::Param(..)) || self.emits(of),
            other => match self.hir.members(other) {
                Some(members) => members.iter().all(|m| self.emits(m)),
                None => false,
            },
        }
    }
}
