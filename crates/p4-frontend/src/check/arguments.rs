//! Overload resolution, assignment of arguments to parameters, and inference of type arguments.

use super::{Checker, suggest};
use crate::ast::{self, DeclId, Direction, Symbol};
use crate::diagnostic::Diagnostic;
use crate::hir::{Callee, Expr, ExprKind, Function, Param, Substitution, Ty};
use crate::span::Span;
use std::rc::Rc;

/// The signature with which a call must agree.
pub(super) struct Signature<'a> {
    /// The callee for messages: "`hash`".
    pub what: String,
    pub type_params: Vec<(DeclId, Symbol)>,
    pub params: Rc<[Param<'a>]>,
    pub result: Ty,
    /// The type arguments of the object whose method is called.
    pub with: Substitution,
    /// Whether directionless arguments must be known at compile time, as for constructors.
    pub known: bool,
}

/// Type arguments, arguments by parameter, type of the result.
type Agreed = (Vec<Ty>, Vec<Option<Expr>>, Ty);

pub(super) fn signature<'a>(
    what: &str,
    function: Function<'a>,
    with: Substitution,
) -> Signature<'a> {
    Signature {
        what: what.to_string(),
        type_params: function.type_params,
        params: function.params,
        result: function.result,
        with,
        known: false,
    }
}

impl<'a> Checker<'a> {
    /// The declaration selected by the number and names of the arguments.
    pub(super) fn overload(
        &mut self,
        ids: &[DeclId],
        args: &[ast::Argument],
        name: &ast::Ident,
    ) -> Option<DeclId> {
        if let [only] = ids {
            return Some(*only);
        }
        let functions: Vec<(DeclId, Function)> = ids
            .iter()
            .filter_map(|id| Some((*id, self.function(*id)?)))
            .collect();
        let fits = |f: &Function| {
            let required = f
                .params
                .iter()
                .filter(|p| !p.optional && p.default.is_none());
            let named = args.iter().filter_map(|a| a.name.as_ref());
            args.len() <= f.params.len()
                && args.len() >= required.count()
                && named
                    .into_iter()
                    .all(|n| f.params.iter().any(|p| p.name == n.name))
        };
        let found: Vec<DeclId> = functions
            .iter()
            .filter(|(_, f)| fits(f))
            .map(|(id, _)| *id)
            .collect();
        // Overloads that need no defaults come first. As in p4c, an overload whose `@optional` parameters are omitted
        // needs none.
        let needs_none = |f: &Function| {
            let wanted = f.params.iter().filter(|p| !p.optional);
            args.len() >= wanted.count()
        };
        let exact: Vec<DeclId> = functions
            .iter()
            .filter(|(id, f)| found.contains(id) && needs_none(f))
            .map(|(id, _)| *id)
            .collect();
        match (exact.as_slice(), found.as_slice()) {
            ([only], _) | ([], [only]) => return Some(*only),
            ([], []) => {}
            ([], several) | (several, _) => {
                self.ambiguous(several, name);
                return None;
            }
        }
        let shapes: Vec<String> = functions
            .iter()
            .map(|(_, f)| {
                let params: Vec<&str> = f.params.iter().map(|p| &*p.name).collect();
                format!("{}({})", name.name, params.join(", "))
            })
            .collect();
        self.report(
            Diagnostic::error(
                "wrong-arguments",
                format!("no `{}` takes these {} arguments", name.name, args.len()),
            )
            .label(name.span, "no declaration fits")
            .note(format!(
                "declarations: {}",
                suggest::listed(shapes.iter().map(String::as_str))
            )),
        );
        None
    }

    fn ambiguous(&mut self, ids: &[DeclId], name: &ast::Ident) {
        let message = format!("more than one `{}` takes these arguments", name.name);
        let mut diagnostic =
            Diagnostic::error("ambiguous-call", message).label(name.span, "ambiguous");
        for id in ids {
            if let Some(def) = self.def(*id) {
                diagnostic = diagnostic.label(def.span, "takes them");
            }
        }
        self.report(diagnostic.help("name the arguments, as in `f(x = 1)`"));
    }

    /// Assigns arguments to parameters, infers type arguments, and converts the arguments.
    pub(super) fn arguments(
        &mut self,
        signature: Signature<'a>,
        type_args: &'a [ast::Type],
        args: &'a [ast::Argument],
        span: Span,
    ) -> Option<Agreed> {
        let Signature {
            what,
            type_params,
            params,
            result,
            mut with,
            known,
        } = signature;
        let written: Vec<Ty> = type_args
            .iter()
            .map(|t| self.call_type_argument(t))
            .collect();
        if !written.is_empty() && written.len() != type_params.len() {
            self.wrong_type_arguments(&what, type_params.len(), written.len(), span);
            return None;
        }
        let mut given = written.into_iter();
        let mut own = Vec::new();
        for (id, _) in &type_params {
            let ty = given.next().unwrap_or_else(|| self.fresh());
            own.push(ty.clone());
            with.insert(*id, ty);
        }
        let placed = self.placed(&what, &params, args, span)?;
        let types: Vec<Ty> = params
            .iter()
            .map(|p| self.renewed(&p.ty).substitute(&with))
            .collect();
        let mut exprs: Vec<Option<Expr>> = Vec::new();
        for (i, arg) in placed.iter().enumerate() {
            exprs.push(arg.map(|arg| self.argument(arg, &params[i])));
        }
        self.infer_arguments(&types, &exprs);
        let defaults: Vec<Option<Expr>> = params
            .iter()
            .map(|param| {
                let default = param.default.clone()?;
                let ty = default.ty.substitute(&with);
                Some(Expr { ty, ..default })
            })
            .collect();
        for i in (0..params.len()).filter(|i| exprs[*i].is_none()) {
            if let Some(default) = &defaults[i] {
                self.infer(&types[i], &default.ty);
            }
        }
        let mut complete = true;
        let mut converted = Vec::new();
        for (i, expr) in exprs.into_iter().enumerate() {
            let param = &params[i];
            let Some(expr) = expr else {
                converted.push(defaults[i].clone().map(|default| Expr {
                    ty: self.known(&default.ty),
                    ..default
                }));
                continue;
            };
            let expr = self.conforming(expr, param, &types[i], &what, known);
            complete &= !expr.ty.is_error();
            converted.push(Some(expr));
        }
        if !complete {
            return None;
        }
        let own: Vec<Ty> = own.iter().map(|ty| self.known(ty)).collect();
        for ((_, name), ty) in type_params.iter().zip(&own) {
            if matches!(ty, Ty::Var(_)) {
                self.error(
                    "cannot-infer",
                    span,
                    format!("type argument `{name}` of `{what}` cannot be inferred"),
                    format!("specify it: `{what}<…>(…)`"),
                );
                return None;
            }
        }
        let result = self.known(&result.substitute(&with));
        Some((own, converted, result))
    }

    pub(super) fn argument(&mut self, arg: &'a ast::Argument, param: &Param) -> Expr {
        let span = arg.value.span;
        if !matches!(arg.value.kind, ast::ExprKind::DontCare) {
            let value = self.expr(&arg.value);
            if matches!(&value.kind, ExprKind::Call(call) if matches!(call.callee, Callee::Constructor))
            {
                self.check_not_abstract(&value.ty.clone(), span);
            }
            return value;
        }
        if param.direction == Direction::Out || param.optional {
            return Expr {
                kind: ExprKind::Any,
                ty: Ty::DontCare,
                span,
            };
        }
        self.error(
            "dont-care-as-value",
            span,
            format!(
                "`_` is only allowed for an `out` parameter; `{}` is not",
                param.name
            ),
            "expected a value",
        );
        Expr::error(span)
    }

    /// The argument of each parameter.
    fn placed(
        &mut self,
        what: &str,
        params: &[Param],
        args: &'a [ast::Argument],
        span: Span,
    ) -> Option<Vec<Option<&'a ast::Argument>>> {
        let named = args.iter().find(|arg| arg.name.is_some());
        let bare = args.iter().find(|arg| arg.name.is_none());
        if let (Some(named), Some(bare)) = (named, bare) {
            let message = "either all arguments of a call have names, or none";
            self.report(
                Diagnostic::error("wrong-arguments", message)
                    .label(bare.span, "without a name")
                    .label(named.span, "with a name"),
            );
            return None;
        }
        let mut placed: Vec<Option<&ast::Argument>> = vec![None; params.len()];
        for (i, arg) in args.iter().enumerate() {
            let at = match &arg.name {
                Some(name) => params.iter().position(|p| p.name == name.name),
                None => Some(i).filter(|i| *i < params.len()),
            };
            let Some(at) = at else {
                self.surplus(what, params, arg, args.len());
                return None;
            };
            if placed[at].replace(arg).is_some() {
                self.error(
                    "wrong-arguments",
                    arg.span,
                    format!("parameter `{}` of `{what}` is given twice", params[at].name),
                    "given again",
                );
                return None;
            }
        }
        let missing: Vec<&str> = params
            .iter()
            .zip(&placed)
            .filter(|(p, a)| a.is_none() && p.default.is_none() && !p.optional)
            .map(|(p, _)| &*p.name)
            .collect();
        if missing.is_empty() {
            return Some(placed);
        }
        self.error(
            "wrong-arguments",
            span,
            format!(
                "`{what}` is called without {}",
                suggest::listed(missing.iter().copied())
            ),
            format!("{} of {} arguments given", args.len(), params.len()),
        );
        None
    }

    fn surplus(&mut self, what: &str, params: &[Param], arg: &ast::Argument, found: usize) {
        let names = params.iter().map(|p| &*p.name);
        let valid = match params.len() {
            0 => "it has no parameters".to_string(),
            _ => format!("its parameters are {}", suggest::listed(names)),
        };
        let (message, label) = match &arg.name {
            Some(name) => (
                format!("`{what}` has no parameter `{}`", name.name),
                "no such parameter".to_string(),
            ),
            None => (
                match params.len() {
                    0 => format!("`{what}` takes no arguments"),
                    1 => format!("`{what}` takes 1 argument"),
                    n => format!("`{what}` takes {n} arguments"),
                },
                format!("{found} given"),
            ),
        };
        self.report(
            Diagnostic::error("wrong-arguments", message)
                .label(arg.span, label)
                .note(valid),
        );
    }

    /// Types with a width come first, so that `random(x, 0, 10)` uses the type of `x`.
    fn infer_arguments(&mut self, types: &[Ty], exprs: &[Option<Expr>]) {
        for of_int in [false, true] {
            for (ty, expr) in types.iter().zip(exprs) {
                let Some(expr) = expr else { continue };
                if (expr.ty == Ty::Int) == of_int {
                    let found = expr.ty.clone();
                    self.infer(ty, &found);
                }
            }
        }
    }

    fn conforming(&mut self, expr: Expr, param: &Param, ty: &Ty, what: &str, known: bool) -> Expr {
        let span = expr.span;
        if expr.ty.is_error() {
            return Expr::error(span);
        }
        let of = format!("argument `{}` of `{what}`", param.name);
        if param.direction.is_written() && !matches!(expr.kind, ExprKind::Any) {
            if !self.require_writable(&expr, &of) {
                return Expr::error(span);
            }
            let wanted = self.known(ty);
            if expr.ty != wanted && !wanted.is_error() && !matches!(expr.ty, Ty::Error) {
                self.mismatch(span, &wanted, &expr.ty.clone(), &of);
                return Expr::error(span);
            }
            return expr;
        }
        let expr = self.coerce(expr, ty, &of);
        let bare = matches!(
            expr.ty,
            Ty::Action | Ty::Function | Ty::Void | Ty::Table(..)
        );
        let object = expr.ty.is_object() && !param.ty.is_object();
        if expr.ty == Ty::String && param.direction != Direction::None {
            self.error(
                "type-mismatch",
                span,
                format!("{of} cannot be a string, as the parameter has a direction"),
                "expected a run-time value",
            );
            return Expr::error(span);
        }
        if bare || object {
            self.error(
                "not-a-value",
                span,
                format!("{of} must be a value"),
                "not a value",
            );
            return Expr::error(span);
        }
        if known && param.direction == Direction::None && !expr.is_known() {
            self.error(
                "not-constant",
                span,
                format!("{of} must be known at compile time"),
                "only known at run time",
            );
            return Expr::error(span);
        }
        expr
    }
}
