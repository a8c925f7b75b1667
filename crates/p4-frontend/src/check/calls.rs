//! Calls of functions, actions and methods.

use super::arguments::{Signature, signature};
use super::{Checker, Facts, Inside, infer, scope};
use crate::ast::{self, DeclId};
use crate::hir::{
    Call, Callee, DefKind, Expr, ExprKind, Function, NamedKind, Param, Substitution, Ty, Value,
};
use crate::span::Span;
use std::rc::Rc;

impl<'a> Checker<'a> {
    pub(super) fn call(
        &mut self,
        callee: &'a ast::Expr,
        type_args: &'a [ast::Type],
        args: &'a [ast::Argument],
        span: Span,
    ) -> Expr {
        match &callee.kind {
            ast::ExprKind::Name(path) => self.call_name(path, type_args, args, span),
            ast::ExprKind::Type(ty) => {
                let ty = self.ty_to_infer(ty);
                self.constructor(&ty, args, span)
            }
            ast::ExprKind::Member { base, name } => {
                self.call_member(base, name, type_args, args, span)
            }
            _ => {
                let found = self.expr(callee);
                if !found.ty.is_error() {
                    self.error(
                        "not-callable",
                        callee.span,
                        format!("a value of type `{}` cannot be called", found.ty),
                        "expected a function, action, method or constructor",
                    );
                }
                Expr::error(span)
            }
        }
    }

    fn call_name(
        &mut self,
        path: &'a ast::Path,
        type_args: &'a [ast::Type],
        args: &'a [ast::Argument],
        span: Span,
    ) -> Expr {
        let ids = self.find(path).to_vec();
        let first = match ids.first() {
            Some(id) => *id,
            None => {
                self.resolve(path, "function or action");
                return Expr::error(span);
            }
        };
        let Some(def) = self.def(first) else {
            return Expr::error(span);
        };
        match &def.kind {
            DefKind::Function(_) => self.call_function(&ids, path, type_args, args, span),
            DefKind::Action(action) => {
                let params = action.params.clone();
                if let Some(written) = type_args.first() {
                    let name = path.name.name.clone();
                    self.wrong_type_arguments(&name, 0, type_args.len(), written.span);
                    return Expr::error(span);
                }
                self.call_action(first, params, path, args, span)
            }
            other => {
                let what = scope::described(other);
                let written: Vec<Ty> = type_args
                    .iter()
                    .map(|t| self.call_type_argument(t))
                    .collect();
                if let Some(ty) = self.type_of_definition(first, written, true, path.span) {
                    return self.constructor(&ty, args, span);
                }
                self.error(
                    "not-callable",
                    path.span,
                    format!("`{}` is {what}, which cannot be called", path.name.name),
                    "expected a function, action or constructor",
                );
                Expr::error(span)
            }
        }
    }

    fn call_function(
        &mut self,
        ids: &[DeclId],
        path: &ast::Path,
        type_args: &'a [ast::Type],
        args: &'a [ast::Argument],
        span: Span,
    ) -> Expr {
        let name = &path.name;
        let Some(id) = self.overload(ids, args, name) else {
            return Expr::error(span);
        };
        let Some(function) = self.function(id) else {
            return Expr::error(span);
        };
        let is_extern = function.body.is_none();
        let signature = signature(&name.name, function, Substitution::new());
        let Some((type_args, args, ty)) = self.arguments(signature, type_args, args, span) else {
            return Expr::error(span);
        };
        if !self.have_widths(&type_args, &args) {
            return Expr::error(span);
        }
        if is_extern && name.as_str() == "verify" && self.inside != Inside::Parser {
            self.error(
                "only-in-parser",
                span,
                "`verify` is only allowed in a parser",
                "not in a parser",
            );
            return Expr::error(span);
        }
        if is_extern && name.as_str() == "static_assert" {
            return self.static_assert(&args, span);
        }
        if self.inside == Inside::TopLevel {
            self.error(
                "call-at-top-level",
                span,
                "a call is not allowed at the top level",
                "expected a value known at compile time",
            );
            return Expr::error(span);
        }
        let callee = if is_extern {
            Callee::ExternFunction(id)
        } else {
            Callee::Function(id)
        };
        finished(callee, type_args, args, ty, span)
    }

    fn call_action(
        &mut self,
        id: DeclId,
        params: Rc<[Param<'a>]>,
        path: &ast::Path,
        args: &'a [ast::Argument],
        span: Span,
    ) -> Expr {
        if !matches!(self.inside, Inside::Control | Inside::Action) {
            self.error(
                "misplaced-call",
                span,
                format!("action `{}` cannot be called here", path.name.name),
                "actions are called in controls and actions",
            );
            return Expr::error(span);
        }
        let signature = Signature {
            what: path.name.name.to_string(),
            type_params: Vec::new(),
            params,
            result: Ty::Void,
            with: Substitution::new(),
            known: false,
        };
        match self.arguments(signature, &[], args, span) {
            Some((_, args, ty)) => finished(Callee::Action(id), Vec::new(), args, ty, span),
            None => Expr::error(span),
        }
    }

    fn call_member(
        &mut self,
        base: &'a ast::Expr,
        name: &'a ast::Ident,
        type_args: &'a [ast::Type],
        args: &'a [ast::Argument],
        span: Span,
    ) -> Expr {
        if let Some(ty) = self.as_type(base) {
            return self.call_type_member(&ty, name, args, span);
        }
        let base_expr = self.expr(base);
        if base_expr.ty.is_error() {
            return Expr::error(span);
        }
        let ty = base_expr.ty.clone();
        let method = name.as_str();
        if let Some(size) = self.size_method(&ty, method) {
            return self.without_arguments(args, Expr::int(size, Ty::Int, span));
        }
        match &ty {
            Ty::Table(id, _) if method == "apply" => self.apply_table(*id, &ty, args, span),
            Ty::Stack(..) if self.methods_of(&ty).iter().any(|name| name == method) => {
                self.push_or_pop(base_expr, method == "push_front", args, span)
            }
            Ty::Named(named) => match (named.kind, method) {
                (NamedKind::Header, "setValid" | "setInvalid") => {
                    if !self.require_writable(&base_expr, "a header whose validity is set") {
                        return Expr::error(span);
                    }
                    let callee = Callee::SetValid(base_expr, method == "setValid");
                    let call = finished(callee, Vec::new(), Vec::new(), Ty::Void, span);
                    self.without_arguments(args, call)
                }
                (NamedKind::Header | NamedKind::Union, "isValid") => {
                    let callee = Callee::IsValid(base_expr);
                    let call = finished(callee, Vec::new(), Vec::new(), Ty::Bool, span);
                    self.without_arguments(args, call)
                }
                (NamedKind::Parser | NamedKind::Control, "apply") => {
                    if let ExprKind::Object(id) = base_expr.kind {
                        *self.hir.applied.entry(id).or_default() += 1;
                    }
                    let named = named.clone();
                    self.apply_block(&named, Callee::Instance(base_expr), type_args, args, span)
                }
                (NamedKind::Extern, _) => {
                    let named = named.clone();
                    self.call_method(base_expr, &named, name, type_args, args, span)
                }
                _ => self.no_method(&ty, name, span),
            },
            _ => self.no_method(&ty, name, span),
        }
    }

    fn call_type_member(
        &mut self,
        ty: &Ty,
        name: &'a ast::Ident,
        args: &'a [ast::Argument],
        span: Span,
    ) -> Expr {
        if ty.is_error() {
            return Expr::error(span);
        }
        if let Some(size) = self.size_method(ty, name.as_str()) {
            return self.without_arguments(args, Expr::int(size, Ty::Int, span));
        }
        match ty {
            Ty::Named(named)
                if matches!(named.kind, NamedKind::Parser | NamedKind::Control)
                    && name.as_str() == "apply" =>
            {
                if !self.constructor_params(named).is_empty() {
                    self.error(
                        "wrong-arguments",
                        span,
                        format!(
                            "`{}` must be instantiated to give it its arguments",
                            named.name
                        ),
                        "the constructor takes arguments",
                    );
                    return Expr::error(span);
                }
                self.apply_block(named, Callee::Anonymous(ty.clone()), &[], args, span)
            }
            _ => self.no_method(ty, name, span),
        }
    }
}

impl<'a> Facts<'a> {
    /// A number from which a type parameter is inferred must have a width at run time.
    pub(super) fn have_widths(&mut self, type_args: &[Ty], args: &[Option<Expr>]) -> bool {
        if !type_args.contains(&Ty::Int) {
            return true;
        }
        let number = args.iter().flatten().find(|a| a.ty == Ty::Int);
        if let Some(number) = number {
            self.error(
                "unknown-width",
                number.span,
                "the width of this value is not known",
                "give it a width, as in `8w1`",
            );
        }
        number.is_none()
    }

    fn static_assert(&mut self, args: &[Option<Expr>], span: Span) -> Expr {
        let Some(Some(check)) = args.first() else {
            return Expr::error(span);
        };
        match infer::known_bool(check) {
            Some(true) => {}
            Some(false) => {
                let text = match args.get(1).and_then(|a| a.as_ref()).and_then(Expr::value) {
                    Some(Value::String(text)) => format!("static_assert failed: {text}"),
                    _ => "static_assert failed".into(),
                };
                self.error("static-assert", span, text, "this is false");
            }
            None => self.error(
                "not-constant",
                check.span,
                "a static_assert's condition must be known at compile time",
                "not constant",
            ),
        }
        Expr::constant(Value::Bool(true), Ty::Bool, span)
    }

    pub(super) fn no_method(&mut self, ty: &Ty, name: &ast::Ident, span: Span) -> Expr {
        let is_field = self
            .hir
            .fields(ty)
            .is_some_and(|fields| fields.iter().any(|(n, _)| *n == name.name));
        if is_field {
            self.error(
                "not-callable",
                name.span,
                format!("`{}` is a field, not a method", name.name),
                "cannot be called",
            );
        } else {
            let valid = self.methods_of(ty);
            self.unknown_member(name, ty, valid);
        }
        Expr::error(span)
    }

    pub(super) fn without_arguments(&mut self, args: &'a [ast::Argument], call: Expr) -> Expr {
        let Some(first) = args.first() else {
            return call;
        };
        self.error(
            "wrong-arguments",
            first.span,
            "this method takes no arguments",
            "not expected",
        );
        Expr::error(call.span)
    }

    fn size_method(&self, ty: &Ty, method: &str) -> Option<u64> {
        let (varbit, unit) = match method {
            "minSizeInBits" => (0, 1),
            "maxSizeInBits" => (1, 1),
            "minSizeInBytes" => (0, 8),
            "maxSizeInBytes" => (1, 8),
            _ => return None,
        };
        Some(self.hir.bits(ty, varbit)?.div_ceil(unit))
    }

    pub(super) fn function(&self, id: DeclId) -> Option<Function<'a>> {
        match self.hir.kind(id)? {
            DefKind::Function(function) => Some(function.clone()),
            _ => None,
        }
    }
}

pub(super) fn finished(
    callee: Callee,
    type_args: Vec<Ty>,
    args: Vec<Option<Expr>>,
    ty: Ty,
    span: Span,
) -> Expr {
    let call = Call {
        callee,
        type_args,
        args,
    };
    Expr {
        kind: ExprKind::Call(Box::new(call)),
        ty,
        span,
    }
}
