//! Expressions: names, literals, lists, slices, casts.

use super::{Checker, constants, infer, scope, suggest};
use crate::ast::{self, DeclId, Direction, IntLiteral};
use crate::diagnostic::Diagnostic;
use crate::hir::{Callee, DefKind, Expr, ExprKind, NamedKind, Ty, Value};
use crate::span::Span;
use num_bigint::BigInt;
use num_traits::{One, ToPrimitive, Zero};

impl<'a> Checker<'a> {
    /// Checks an expression by itself.
    pub(super) fn expr(&mut self, expr: &'a ast::Expr) -> Expr {
        let span = expr.span;
        match &expr.kind {
            ast::ExprKind::Int(literal) => self.int_literal(literal, span),
            ast::ExprKind::Bool(value) => Expr::constant(Value::Bool(*value), Ty::Bool, span),
            ast::ExprKind::String(text) => {
                Expr::constant(Value::String(text.clone()), Ty::String, span)
            }
            ast::ExprKind::This => {
                self.error(
                    "unsupported",
                    span,
                    "`this` is only possible in abstract methods, which are not supported",
                    "not supported",
                );
                Expr::error(span)
            }
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
            ast::ExprKind::Binary { op, left, right } => {
                let left = self.expr(left);
                let right = self.expr(right);
                self.binary(*op, left, right, span)
            }
            ast::ExprKind::Conditional {
                condition,
                then,
                otherwise,
            } => self.conditional(condition, then, otherwise, span),
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
                    "a set of values is only possible in a select, an entry or a for",
                    "expected one value",
                );
                Expr::error(span)
            }
            ast::ExprKind::DontCare => {
                self.error(
                    "dont-care-as-value",
                    span,
                    "`_` is only possible as an argument or in a set of values",
                    "expected a value",
                );
                Expr::error(span)
            }
            ast::ExprKind::Error => Expr::error(span),
        }
    }

    /// Checks an expression that must have a certain type.
    pub(super) fn expr_as(&mut self, expr: &'a ast::Expr, ty: &Ty, what: &str) -> Expr {
        let checked = self.expr(expr);
        self.coerce(checked, ty, what)
    }

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

    /// Reports an action, function or table where a value is wanted.
    pub(super) fn value(&mut self, expr: &'a ast::Expr) -> Expr {
        let checked = self.expr(expr);
        let wrong = matches!(
            checked.ty,
            Ty::Action | Ty::Function | Ty::Table(..) | Ty::State | Ty::Void | Ty::ApplyResult(..)
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

    fn index(&mut self, base: &'a ast::Expr, index: &'a ast::Expr, span: Span) -> Expr {
        let base = self.expr(base);
        let index = self.expr(index);
        if base.ty.is_error() || index.ty.is_error() {
            return Expr::error(span);
        }
        let index = match self.hir.underlying(&index.ty) {
            Some(under) if index.ty.is(NamedKind::SerialisableEnum) => self.cast_to(index, &under),
            _ => index,
        };
        if !index.ty.is_numeric() {
            let found = index.ty.clone();
            self.error(
                "type-mismatch",
                index.span,
                "an index must be of type bit<W>, int<W> or int",
                format!("found `{found}`"),
            );
            return Expr::error(span);
        }
        let known = index.int_value().cloned();
        match base.ty.clone() {
            Ty::Stack(of, len) => {
                if !self.index_within(known.as_ref(), len as usize, index.span) {
                    return Expr::error(span);
                }
                Expr {
                    kind: ExprKind::Index(Box::new(base), Box::new(index)),
                    ty: (*of).clone(),
                    span,
                }
            }
            Ty::Tuple(members) | Ty::ListExpr(members) => {
                let Some(known) = known else {
                    self.error(
                        "not-constant",
                        index.span,
                        "the index of a tuple's member must be known at compile time",
                        "not constant",
                    );
                    return Expr::error(span);
                };
                if !self.index_within(Some(&known), members.len(), index.span) {
                    return Expr::error(span);
                }
                let i = known.to_usize().unwrap_or(0);
                element(base, i, members[i].clone(), span)
            }
            Ty::List(of) => match (known.and_then(|k| k.to_usize()), &base.kind) {
                (Some(i), ExprKind::List(members)) if i < members.len() => {
                    element(base, i, (*of).clone(), span)
                }
                _ => {
                    self.error(
                        "not-constant",
                        index.span,
                        "the index into a list must be known and within it",
                        "not valid",
                    );
                    Expr::error(span)
                }
            },
            other => {
                self.error(
                    "not-indexable",
                    base.span,
                    format!("a value of type `{other}` has no elements"),
                    "expected a header stack or a tuple",
                );
                Expr::error(span)
            }
        }
    }

    fn index_within(&mut self, index: Option<&BigInt>, len: usize, span: Span) -> bool {
        let Some(index) = index else { return true };
        if index.to_usize().is_some_and(|i| i < len) {
            return true;
        }
        self.error(
            "index-out-of-range",
            span,
            format!("index {index} is out of range"),
            format!("expected 0 to {}", len.saturating_sub(1)),
        );
        false
    }

    fn slice(
        &mut self,
        base: &'a ast::Expr,
        high: &'a ast::Expr,
        low: &'a ast::Expr,
        span: Span,
    ) -> Expr {
        let of = self.sliceable(base);
        let hi = self.constant_u32(high, "a bit's number");
        let lo = self.constant_u32(low, "a bit's number");
        let (Some(of), Some(hi), Some(lo)) = (of, hi, lo) else {
            return Expr::error(span);
        };
        if hi < lo {
            self.error(
                "bad-slice",
                high.span.to(low.span),
                format!("the slice [{hi}:{lo}] ends before it starts"),
                "the more significant bit comes first",
            );
            return Expr::error(span);
        }
        self.bits_of(of, hi, lo, high.span, span)
    }

    fn bits_of(&mut self, of: Expr, hi: u32, lo: u32, at: Span, span: Span) -> Expr {
        if let Some(width) = of.ty.width().filter(|w| hi >= *w) {
            self.error(
                "bad-slice",
                at,
                format!("a value of type `{}` has no bit {hi}", of.ty),
                format!("bits are 0 to {}", width.saturating_sub(1)),
            );
            return Expr::error(span);
        }
        let ty = Ty::Bit(hi - lo + 1);
        let kind = match of.int_value() {
            Some(value) => ExprKind::Const(Value::Int(constants::slice(value, hi, lo))),
            None => ExprKind::Slice {
                of: Box::new(of),
                hi,
                lo,
            },
        };
        Expr { kind, ty, span }
    }

    fn sliceable(&mut self, base: &'a ast::Expr) -> Option<Expr> {
        let of = self.expr(base);
        if of.ty.is_error() {
            return None;
        }
        let of = match self.hir.underlying(&of.ty) {
            Some(under) if of.ty.is(NamedKind::SerialisableEnum) => self.cast_to(of, &under),
            _ => of,
        };
        if of.ty.width().is_some() || (of.ty == Ty::Int && of.is_known()) {
            return Some(of);
        }
        self.error(
            "type-mismatch",
            of.span,
            format!("a value of type `{}` has no bits to take", of.ty),
            "expected bit<W> or int<W>",
        );
        None
    }

    fn width_slice(
        &mut self,
        base: &'a ast::Expr,
        low: &'a ast::Expr,
        width: &'a ast::Expr,
        span: Span,
    ) -> Expr {
        let of = self.sliceable(base);
        let lo = self.expr(low);
        let bits = self.constant_u32(width, "a slice's width");
        let (Some(of), Some(bits)) = (of, bits) else {
            return Expr::error(span);
        };
        if lo.ty.is_error() {
            return Expr::error(span);
        }
        if bits == 0 {
            self.error(
                "bad-slice",
                width.span,
                "a slice of no bits",
                "expected 1 or more",
            );
            return Expr::error(span);
        }
        match lo.int_value().map(BigInt::to_u32) {
            Some(Some(lo)) if lo <= u32::MAX - bits => {
                self.bits_of(of, lo + bits - 1, lo, span, span)
            }
            Some(_) => {
                self.error(
                    "bad-slice",
                    low.span,
                    "not a valid bit's number",
                    "out of range",
                );
                Expr::error(span)
            }
            None => {
                let shifted = self.binary(ast::BinaryOp::Shr, of, lo, span);
                if shifted.ty.is_error() {
                    return shifted;
                }
                let bits = Ty::Bit(bits);
                let same_width = Ty::Bit(shifted.ty.width().unwrap_or(1));
                let unsigned = self.cast_to(shifted, &same_width);
                self.cast_to(unsigned, &bits)
            }
        }
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
        condition: &'a ast::Expr,
        then: &'a ast::Expr,
        otherwise: &'a ast::Expr,
        span: Span,
    ) -> Expr {
        let condition = self.expr_as(condition, &Ty::Bool, "a condition");
        let then = self.value(then);
        let otherwise = self.value(otherwise);
        if then.ty.is_error() || otherwise.ty.is_error() || condition.ty.is_error() {
            return Expr::error(span);
        }
        let (then, otherwise) = match (&then.ty, &otherwise.ty) {
            (Ty::Int, Ty::Int) if !condition.is_known() => {
                self.error(
                    "unknown-width",
                    span,
                    "the width of this value is not known",
                    "give one of the two a width, as in `8w1`",
                );
                return Expr::error(span);
            }
            (a, b) if a == b => (then, infer::settle(otherwise)),
            (Ty::Int | Ty::ListExpr(_) | Ty::StructExpr(_) | Ty::Invalid, ty) => {
                let ty = ty.clone();
                (self.coerce(then, &ty, "the first alternative"), otherwise)
            }
            (ty, _) => {
                let ty = ty.clone();
                let otherwise = self.coerce(otherwise, &ty, "the second alternative");
                (then, otherwise)
            }
        };
        if then.ty.is_error() || otherwise.ty.is_error() {
            return Expr::error(span);
        }
        let then = infer::settle(then);
        match infer::known_bool(&condition) {
            Some(true) => Expr { span, ..then },
            Some(false) => Expr { span, ..otherwise },
            None => Expr {
                ty: then.ty.clone(),
                kind: ExprKind::Conditional(
                    Box::new(condition),
                    Box::new(then),
                    Box::new(otherwise),
                ),
                span,
            },
        }
    }

    fn cast(&mut self, ty: &'a ast::Type, operand: &'a ast::Expr, span: Span) -> Expr {
        let to = self.ty_to_infer(ty);
        let operand = self.value(operand);
        if operand.ty.is_error() || to.is_error() {
            return Expr::error(span);
        }
        self.infer(&to, &operand.ty.clone());
        let to = self.known(&to);
        let from = operand.ty.clone();
        let moved = |mut e: Expr| {
            e.span = span;
            e
        };
        if from == to {
            return moved(operand);
        }
        let structural = matches!(
            from,
            Ty::ListExpr(_) | Ty::StructExpr(_) | Ty::Invalid | Ty::Defaults
        );
        if structural {
            return moved(self.coerce(operand, &to, "what is converted"));
        }
        if let (Some(value), Ty::Bool) = (operand.int_value(), &to) {
            let one_bit = value.is_zero() || value.is_one();
            if from == Ty::Int && one_bit {
                return moved(self.cast_to(operand, &to));
            }
        }
        if from == Ty::Int && matches!(to, Ty::Bit(_) | Ty::Signed(_)) {
            return moved(self.cast_to(operand, &to));
        }
        if to == Ty::Int && from.is_numeric() && !operand.is_known() {
            // Without a width nothing can be computed when packets come: the value keeps its own.
            return moved(operand);
        }
        if self.may_cast(&from, &to) || (to == Ty::Int && from.is_numeric()) {
            return moved(self.cast_step(operand, &to));
        }
        self.error(
            "bad-cast",
            span,
            format!("a value of type `{from}` cannot be converted to `{to}`"),
            "not a valid conversion",
        );
        Expr::error(span)
    }

    /// Through what serialisable enums and `type`s are over.
    fn cast_step(&mut self, operand: Expr, to: &Ty) -> Expr {
        let over = |c: &Self, ty: &Ty| {
            let named = ty.is(NamedKind::SerialisableEnum) || ty.is(NamedKind::New);
            named.then(|| c.hir.underlying(ty)).flatten()
        };
        if let Some(under) = over(self, &operand.ty) {
            let inner = self.cast_to(operand, &under);
            if inner.ty == *to {
                return inner;
            }
            return self.cast_step(inner, to);
        }
        if let Some(under) = over(self, to) {
            let inner = if operand.ty == under {
                operand
            } else {
                self.cast_step(operand, &under)
            };
            return self.cast_to(inner, to);
        }
        self.cast_to(operand, to)
    }

    fn may_cast(&self, from: &Ty, to: &Ty) -> bool {
        if from == to {
            return true;
        }
        match (from, to) {
            (Ty::Bit(1), Ty::Bool) | (Ty::Bool, Ty::Bit(1)) => true,
            (Ty::Bit(_), Ty::Bit(_)) | (Ty::Signed(_), Ty::Signed(_)) => true,
            (Ty::Bit(a), Ty::Signed(b)) | (Ty::Signed(a), Ty::Bit(b)) => a == b,
            (Ty::Int, Ty::Bit(_) | Ty::Signed(_)) => true,
            _ => self.may_cast_over(from, to),
        }
    }

    /// Conversions from and to what a `type` or serialisable enum is over.
    fn may_cast_over(&self, from: &Ty, to: &Ty) -> bool {
        let over = |ty: &Ty| {
            let kind = ty.named_kind();
            let named = matches!(kind, Some(NamedKind::SerialisableEnum | NamedKind::New));
            named.then(|| self.hir.underlying(ty)).flatten()
        };
        if let Some(under) = over(to) {
            let exact = to.is(NamedKind::New) && *from != Ty::Int;
            if under == *from || (!exact && self.may_cast(from, &under)) {
                return true;
            }
        }
        match over(from) {
            Some(under) => under == *to || (!to.is(NamedKind::New) && self.may_cast(&under, to)),
            None => false,
        }
    }

    /// Reports an expression that cannot be written to, and says why.
    pub(super) fn require_writable(&mut self, expr: &Expr, what: &str) -> bool {
        let Some(why) = self.not_writable(expr) else {
            return true;
        };
        self.error(
            "not-writable",
            expr.span,
            format!("{what} must be something that can be written to"),
            why,
        );
        false
    }

    fn not_writable(&self, expr: &Expr) -> Option<String> {
        match &expr.kind {
            ExprKind::Error => None,
            ExprKind::Var(id) => self.read_only(*id),
            ExprKind::Field(of, _)
            | ExprKind::Element(of, _)
            | ExprKind::Index(of, _)
            | ExprKind::Next(of)
            | ExprKind::Last(of)
            | ExprKind::Slice { of, .. } => self.not_writable(of),
            ExprKind::Const(_) => Some("this is a constant".into()),
            ExprKind::ConstructorParam(_) => Some("this is a constructor's parameter".into()),
            ExprKind::LastIndex(_) => Some("`lastIndex` can only be read".into()),
            ExprKind::Call(call) => match call.callee {
                Callee::Constructor(_) => Some("this is an instance".into()),
                _ => Some("this is the result of a call".into()),
            },
            _ => Some("this is a computed value".into()),
        }
    }

    fn read_only(&self, id: DeclId) -> Option<String> {
        let def = self.def(id)?;
        match &def.kind {
            DefKind::Param(_, Direction::In) => {
                Some(format!("`{}` is an `in` parameter", def.name))
            }
            DefKind::Param(_, Direction::None) => {
                Some(format!("`{}` is a parameter without direction", def.name))
            }
            _ => None,
        }
    }

    /// Says which members a type has.
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

/// A member of a tuple.
pub(super) fn element(base: Expr, i: usize, ty: Ty, span: Span) -> Expr {
    match base.kind {
        ExprKind::List(mut members) if members.iter().all(|m| !m.has_effects()) => Expr {
            span,
            ..members.swap_remove(i)
        },
        kind => Expr {
            kind: ExprKind::Element(Box::new(Expr { kind, ..base }), i),
            ty,
            span,
        },
    }
}

fn article(ty: &Ty) -> String {
    match ty {
        Ty::Action => "an action".into(),
        Ty::Function => "a function".into(),
        Ty::Table(_, name) => format!("table `{name}`"),
        Ty::Void => "a call that gives nothing".into(),
        other => format!("`{other}`"),
    }
}
