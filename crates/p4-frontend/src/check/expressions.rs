//! Expressions: names, literals, lists, slices, casts.

use super::{Checker, Facts, infer, scope, suggest};
use crate::ast::{self, IntLiteral};
use crate::diagnostic::Diagnostic;
use crate::hir::{DefKind, Expr, ExprKind, Ty, Value};
use crate::span::Span;

impl<'a> Checker<'a> {
    /// `this`: the instance whose method is implemented.
    fn this(&mut self, span: Span) -> Expr {
        let this = self.scopes.iter().rev().find_map(|s| s.this.clone());
        if let Some((id, ty)) = this {
            let kind = ExprKind::Object(id);
            return Expr { kind, ty, span };
        }
        self.error(
            "misplaced-this",
            span,
            "`this` is only allowed in methods that an instance's initializer implements",
            "no instance here",
        );
        Expr::error(span)
    }

    /// Checks an expression without an expected type.
    pub(super) fn expr(&mut self, expr: &'a ast::Expr) -> Expr {
        let span = expr.span;
        match &expr.kind {
            ast::ExprKind::Int(literal) => self.int_literal(literal, span),
            ast::ExprKind::Bool(value) => Expr::constant(Value::Bool(*value), Ty::Bool, span),
            ast::ExprKind::String(text) => {
                Expr::constant(Value::String(text.clone()), Ty::String, span)
            }
            ast::ExprKind::This => self.this(span),
            ast::ExprKind::Name(path) => self.name(path, span),
            ast::ExprKind::Type(ty) => {
                self.ty(ty);
                self.error(
                    "type-as-value",
                    span,
                    "a type is not a value",
                    "expected an expression",
                );
                Expr::error(span)
            }
            ast::ExprKind::Member { base, name } => self.member(base, name, span),
            ast::ExprKind::Index { base, index } => self.index(base, index, span),
            ast::ExprKind::Slice { base, high, low } => self.slice(base, high, low, span),
            ast::ExprKind::WidthSlice { base, low, width } => {
                self.width_slice(base, low, width, span)
            }
            ast::ExprKind::Call {
                callee,
                type_args,
                args,
            } => self.call(callee, type_args, args, span),
            ast::ExprKind::Unary { op, operand } => self.unary(*op, operand, span),
            ast::ExprKind::Binary { first, rest } => {
                let mut left = self.expr(first);
                for operation in rest {
                    let right = self.expr(&operation.right);
                    let span = first.span.to(operation.right.span);
                    left = self.binary(operation.op, left, right, span);
                }
                left.span = span;
                left
            }
            ast::ExprKind::Conditional { arms, otherwise } => {
                self.conditional(arms, otherwise, span)
            }
            ast::ExprKind::Cast { ty, operand } => self.cast(ty, operand, span),
            ast::ExprKind::List(list) => self.list(list, span),
            ast::ExprKind::Struct(fields) => self.struct_expr(fields, span),
            ast::ExprKind::Invalid => Expr {
                kind: ExprKind::Invalid,
                ty: Ty::Invalid,
                span,
            },
            ast::ExprKind::Defaults => Expr {
                kind: ExprKind::Defaults,
                ty: Ty::Defaults,
                span,
            },
            ast::ExprKind::Mask { .. } | ast::ExprKind::Range { .. } | ast::ExprKind::Default => {
                self.error(
                    "set-as-value",
                    span,
                    "a set of values is only allowed in a select, an entry or a for",
                    "expected one value",
                );
                Expr::error(span)
            }
            ast::ExprKind::DontCare => {
                self.error(
                    "dont-care-as-value",
                    span,
                    "`_` is only allowed as an argument or in a set of values",
                    "expected a value",
                );
                Expr::error(span)
            }
            ast::ExprKind::Error => Expr::error(span),
        }
    }

    /// Checks an expression with an expected type.
    pub(super) fn expr_as(&mut self, expr: &'a ast::Expr, ty: &Ty, what: &str) -> Expr {
        let checked = self.expr(expr);
        self.coerce(checked, ty, what)
    }

    fn name(&mut self, path: &'a ast::Path, span: Span) -> Expr {
        if self.find(path).is_empty() {
            let kinds = &self.hir.match_kinds;
            if let Some(i) = kinds.iter().position(|k| *k == path.name.name) {
                return Expr::constant(Value::Symbol(i as u32), Ty::MatchKind, span);
            }
        }
        let Some(id) = self.resolve(path, "name") else {
            return Expr::error(span);
        };
        let Some(def) = self.def(id) else {
            return Expr::error(span);
        };
        let object = |ty: &Ty| (ExprKind::Object(id), ty.clone());
        let (kind, ty) = match &def.kind {
            DefKind::Constant(value) => {
                return Expr {
                    span,
                    ..value.clone()
                };
            }
            DefKind::Variable(ty) => (ExprKind::Var(id), ty.clone()),
            DefKind::Param(ty, _) | DefKind::ConstructorParam(ty) if ty.is_object() => object(ty),
            DefKind::Param(ty, _) => (ExprKind::Var(id), ty.clone()),
            DefKind::ConstructorParam(ty) => (ExprKind::ConstructorParam(id), ty.clone()),
            DefKind::Instance(instance) => object(&instance.ty),
            DefKind::Table(_) => object(&Ty::Table(id, def.name.clone())),
            DefKind::ValueSet(set) => object(&Ty::Set(set.element.clone().into())),
            DefKind::Action(_) => object(&Ty::Action),
            DefKind::Function(_) => object(&Ty::Function),
            other => {
                let what = scope::described(other);
                let declared = def.span;
                self.report(
                    Diagnostic::error(
                        "not-a-value",
                        format!("`{}` is {what}, not a value", path.name.name),
                    )
                    .label(path.span, "expected a value")
                    .label(declared, "declared here"),
                );
                return Expr::error(span);
            }
        };
        Expr { kind, ty, span }
    }

    /// Checks an expression that must be a value. Reports an action, function or table.
    pub(super) fn value(&mut self, expr: &'a ast::Expr) -> Expr {
        let checked = self.expr(expr);
        let wrong = matches!(
            checked.ty,
            Ty::Action | Ty::Function | Ty::Table(..) | Ty::Void | Ty::ApplyResult(..)
        );
        if wrong || (checked.ty.is_object() && !checked.is_known()) {
            self.error(
                "not-a-value",
                expr.span,
                format!(
                    "{} is not a value that can be used here",
                    article(&checked.ty)
                ),
                "expected a value",
            );
            return Expr::error(expr.span);
        }
        checked
    }

    fn list(&mut self, list: &'a ast::ListExpr, span: Span) -> Expr {
        let mut members: Vec<Expr> = list.elements.iter().map(|e| self.value(e)).collect();
        if let Some(rest) = list.rest {
            members.push(Expr {
                kind: ExprKind::Defaults,
                ty: Ty::Defaults,
                span: rest,
            });
        }
        let ty = Ty::ListExpr(members.iter().map(|m| m.ty.clone()).collect());
        Expr {
            kind: ExprKind::List(members),
            ty,
            span,
        }
    }

    fn struct_expr(&mut self, fields: &'a ast::StructExpr, span: Span) -> Expr {
        let mut names: Vec<(ast::Symbol, Ty)> = Vec::new();
        let mut members = Vec::new();
        for field in &fields.fields {
            let value = self.value(&field.value);
            if names.iter().any(|(name, _)| *name == field.name.name) {
                self.error(
                    "duplicate-field",
                    field.name.span,
                    format!("field `{}` is given twice", field.name.name),
                    "given again",
                );
                continue;
            }
            names.push((field.name.name.clone(), value.ty.clone()));
            members.push(value);
        }
        if let Some(rest) = fields.rest {
            names.push(("...".into(), Ty::Defaults));
            members.push(Expr {
                kind: ExprKind::Defaults,
                ty: Ty::Defaults,
                span: rest,
            });
        }
        Expr {
            kind: ExprKind::List(members),
            ty: Ty::StructExpr(names.into()),
            span,
        }
    }

    fn conditional(
        &mut self,
        arms: &'a [(ast::Expr, ast::Expr)],
        otherwise: &'a ast::Expr,
        span: Span,
    ) -> Expr {
        let mut checked = Vec::with_capacity(arms.len());
        for (condition, then) in arms {
            let condition = self.expr_as(condition, &Ty::Bool, "a condition");
            checked.push((condition, self.value(then)));
        }
        let mut rest = self.value(otherwise);
        let faulty =
            |(condition, then): &(Expr, Expr)| condition.ty.is_error() || then.ty.is_error();
        if rest.ty.is_error() || checked.iter().any(faulty) {
            return Expr::error(span);
        }
        // From the last arm to the first. `chosen` contains those before `rest`, the first at its end.
        let mut chosen = Vec::new();
        for (condition, mut then) in checked.into_iter().rev() {
            let here = condition.span.to(otherwise.span);
            match (&then.ty, &rest.ty) {
                (Ty::Int, Ty::Int) if !condition.is_known() => {
                    self.error(
                        "unknown-width",
                        here,
                        "the width of this value is not known",
                        "give one of the two a width, as in `8w1`",
                    );
                    return Expr::error(span);
                }
                (a, b) if a == b => rest = infer::settle(rest),
                (Ty::Int | Ty::ListExpr(_) | Ty::StructExpr(_) | Ty::Invalid, ty) => {
                    let ty = ty.clone();
                    then = self.coerce(then, &ty, "the first alternative");
                }
                (ty, _) => {
                    let ty = ty.clone();
                    rest = choice(std::mem::take(&mut chosen), rest, here);
                    rest = self.coerce(rest, &ty, "the second alternative");
                }
            }
            if then.ty.is_error() || rest.ty.is_error() {
                return Expr::error(span);
            }
            then = infer::settle(then);
            match infer::known_bool(&condition) {
                Some(true) => {
                    chosen.clear();
                    rest = then;
                }
                Some(false) => {}
                None => chosen.push((condition, then)),
            }
        }
        choice(chosen, rest, span)
    }
}

impl<'a> Facts<'a> {
    fn int_literal(&mut self, literal: &IntLiteral, span: Span) -> Expr {
        let Some(width) = literal.width else {
            return Expr::int(literal.value.clone(), Ty::Int, span);
        };
        let ty = if width.signed {
            Ty::Signed(width.bits)
        } else {
            Ty::Bit(width.bits)
        };
        if width.bits == 0 && width.signed {
            self.error(
                "bad-width",
                span,
                "a signed value has at least 1 bit",
                "width 0",
            );
            return Expr::error(span);
        }
        let value = Expr::int(literal.value.clone(), Ty::Int, span);
        self.sized(value, &ty)
    }

    /// Reports an unknown member, with the members that the type has.
    pub(super) fn unknown_member(&mut self, name: &ast::Ident, ty: &Ty, valid: Vec<String>) {
        let mut diagnostic = Diagnostic::error(
            "unknown-member",
            format!("`{ty}` has no member `{name}`", name = name.name),
        )
        .label(name.span, "no such member");
        let names = valid.iter().map(String::as_str);
        diagnostic = match suggest::nearest(&name.name, names.clone()) {
            Some(near) => diagnostic.help(format!("did you mean `{near}`?")),
            None if valid.is_empty() => diagnostic,
            None => diagnostic.note(format!("valid are {}", suggest::listed(names))),
        };
        self.report(diagnostic);
    }
}

/// `condition ? then : ... : otherwise`, with the arms from last to first.
fn choice(mut arms: Vec<(Expr, Expr)>, otherwise: Expr, span: Span) -> Expr {
    if arms.is_empty() {
        return Expr { span, ..otherwise };
    }
    arms.reverse();
    Expr {
        ty: otherwise.ty.clone(),
        kind: ExprKind::Conditional(arms, Box::new(otherwise)),
        span,
    }
}

fn article(ty: &Ty) -> String {
    match ty {
        Ty::Action => "an action".into(),
        Ty::Function => "a function".into(),
        Ty::Table(_, name) => format!("table `{name}`"),
        Ty::Void => "a call without a result".into(),
        other => format!("`{other}`"),
    }
}
