//! Keysets in selects and table entries.

use super::{Checker, Facts};
use crate::ast;
use crate::hir::{Expr, ExprKind, NamedKind, Ty, Value};
use crate::span::Span;
use std::ops::{Deref, DerefMut};

/// The context of keysets to which the keys of a select or a table are compared.
pub(super) struct Keysets<'c, 'a> {
    checker: &'c mut Checker<'a>,
    /// The span of the keys, if errors are reported there.
    keys: Option<Span>,
}

impl<'a> Deref for Keysets<'_, 'a> {
    type Target = Checker<'a>;

    fn deref(&self) -> &Self::Target {
        self.checker
    }
}

impl DerefMut for Keysets<'_, '_> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        self.checker
    }
}

impl<'a> Checker<'a> {
    pub(super) fn keysets(&mut self, keys: Option<Span>) -> Keysets<'_, 'a> {
        let checker = self;
        Keysets { checker, keys }
    }
}

impl<'a> Facts<'a> {
    /// The scalar types of which a type consists.
    pub(super) fn leaves(&self, ty: &Ty) -> Vec<Ty> {
        match self.hir.members(ty) {
            Some(members) => members.iter().flat_map(|m| self.leaves(m)).collect(),
            None => vec![ty.clone()],
        }
    }

    /// Converts a value to the type of the key with which it is compared. A value that does not fit is reported at its
    /// location, and at the key if that is given.
    pub(super) fn compared(&mut self, found: Expr, ty: &Ty, what: &str, key: Option<Span>) -> Expr {
        let before = self.diagnostics.len();
        let converted = self.coerce(found, ty, what);
        self.report_at_key(before, key);
        converted
    }

    /// Moves the errors after the first `before` to the key, if that is given.
    pub(super) fn report_at_key(&mut self, before: usize, key: Option<Span>) {
        let Some(key) = key else { return };
        for diagnostic in self.diagnostics[before..]
            .iter_mut()
            .filter(|d| d.is_error())
        {
            diagnostic.labels.insert(0, (key, "this is matched".into()));
        }
    }
}

impl<'a> Keysets<'_, 'a> {
    /// The sets of a select's case.
    pub(super) fn case(&mut self, case: &'a ast::SelectCase, types: &[Ty]) -> Option<Vec<Expr>> {
        if let [only] = case.keys.as_slice() {
            if matches!(only.kind, ast::ExprKind::Default | ast::ExprKind::DontCare) {
                let all = types.iter().map(|ty| any(ty, only.span));
                return Some(all.collect());
            }
            if let [ty] = types {
                let set = self.keyset(only, ty);
                return (!set.ty.is_error()).then(|| vec![set]);
            }
            let whole = Ty::Tuple(types.into());
            if let ast::ExprKind::List(list) = &only.kind {
                return self.sets(&list.elements, types, only.span);
            }
            let found = self.expr(only);
            if found.ty.is_error() {
                return None;
            }
            if matches!(&found.ty, Ty::Set(of) if self.same_members(of, types)) {
                return Some(vec![found]);
            }
            let before = self.diagnostics.len();
            self.mismatch(only.span, &whole, &found.ty, "the case");
            self.checker.report_at_key(before, self.keys);
            return None;
        }
        self.sets(&case.keys, types, case.span)
    }

    fn same_members(&self, of: &Ty, types: &[Ty]) -> bool {
        self.leaves(of) == self.leaves(&Ty::Tuple(types.into()))
    }

    /// One set for each key.
    pub(super) fn sets(
        &mut self,
        keys: &'a [ast::Expr],
        types: &[Ty],
        span: Span,
    ) -> Option<Vec<Expr>> {
        if keys.len() != types.len() {
            let before = self.diagnostics.len();
            self.error(
                "wrong-length",
                keys.first().map_or(span, |k| k.span),
                match types.len() {
                    1 => "expected 1 set, as there is 1 key".to_string(),
                    n => format!("expected {n} sets, one for each key"),
                },
                format!("found {}", keys.len()),
            );
            self.checker.report_at_key(before, self.keys);
            return None;
        }
        let sets: Vec<Expr> = keys
            .iter()
            .zip(types)
            .map(|(k, ty)| self.keyset(k, ty))
            .collect();
        let complete = sets
            .iter()
            .all(|s| !s.ty.is_error() || matches!(s.kind, ExprKind::Any));
        complete.then_some(sets)
    }

    /// A keyset of values of type `ty`.
    pub(super) fn keyset(&mut self, expr: &'a ast::Expr, ty: &Ty) -> Expr {
        let span = expr.span;
        match &expr.kind {
            ast::ExprKind::Default | ast::ExprKind::DontCare => any(ty, span),
            ast::ExprKind::Mask { value, mask } => {
                let (value, mask) = (self.set_value(value), self.set_value(mask));
                if !self.of_one_type("&&&", &value, &mask, span) {
                    return Expr::error(span);
                }
                let value = self.masked(value, ty, "a set's value");
                let mask = self.masked(mask, ty, "a mask");
                let ty = value.ty.clone();
                self.set(ExprKind::Mask(value.into(), mask.into()), ty, span)
            }
            ast::ExprKind::Range { low, high } => {
                let (low, high) = (self.set_value(low), self.set_value(high));
                if !self.of_one_type("..", &low, &high, span) {
                    return Expr::error(span);
                }
                let low = self.set_member(low, ty, "a range's first value");
                let high = self.set_member(high, ty, "a range's last value");
                let empty = match (low.int_value(), high.int_value()) {
                    (Some(low), Some(high)) => low > high,
                    _ => false,
                };
                if empty {
                    self.error(
                        "empty-range",
                        span,
                        "the range ends before it starts",
                        "holds no value",
                    );
                }
                let ty = low.ty.clone();
                self.set(ExprKind::Range(low.into(), high.into()), ty, span)
            }
            ast::ExprKind::List(list) if list.rest.is_none() => {
                let Some(members) = self.hir.members(ty) else {
                    // `{ a }` for one key is `a`.
                    return match list.elements.as_slice() {
                        [only] => self.keyset(only, ty),
                        _ => {
                            let value = self.set_value(expr);
                            self.set_member(value, ty, "a set's value")
                        }
                    };
                };
                if members.len() != list.elements.len() {
                    let before = self.diagnostics.len();
                    self.error(
                        "wrong-length",
                        span,
                        format!("`{ty}` has {} members", members.len()),
                        format!("found {}", list.elements.len()),
                    );
                    self.checker.report_at_key(before, self.keys);
                    return Expr::error(span);
                }
                let sets = list.elements.iter().zip(&members);
                let sets = sets.map(|(e, ty)| self.keyset(e, ty)).collect();
                Expr {
                    kind: ExprKind::List(sets),
                    ty: ty.clone(),
                    span,
                }
            }
            _ => {
                let value = self.set_value(expr);
                self.set_member(value, ty, "a set's value")
            }
        }
    }

    /// Whether both sides of a range or mask have the same type, independent of the key.
    fn of_one_type(&mut self, operator: &str, left: &Expr, right: &Expr, span: Span) -> bool {
        let (Some(_), Some(_)) = (left.ty.width(), right.ty.width()) else {
            return true;
        };
        let agree = left.ty == right.ty;
        if !agree {
            let (a, b) = (&left.ty, &right.ty);
            let message = format!("the operands of `{operator}` are of two types, `{a}` and `{b}`");
            self.error("operand-types", span, message, "expected one type");
        }
        agree
    }

    fn set(&mut self, kind: ExprKind, ty: Ty, span: Span) -> Expr {
        if ty.is_error() {
            return Expr::error(span);
        }
        if let ExprKind::Mask(a, b) | ExprKind::Range(a, b) = &kind
            && !(a.is_known() && b.is_known())
        {
            self.error(
                "not-constant",
                span,
                "the ends of a range, and a mask, must be known at compile time",
                "only known at run time",
            );
            return Expr::error(span);
        }
        Expr { kind, ty, span }
    }

    /// A value or mask. For a serialisable enum it may also be a number.
    fn masked(&mut self, found: Expr, ty: &Ty, what: &str) -> Expr {
        let over = match self.hir.underlying(ty) {
            Some(over) if ty.is(NamedKind::SerialisableEnum) => over,
            _ => return self.set_member(found, ty, what),
        };
        let found = self.set_member(found, &over, what);
        self.cast_to(found, ty)
    }

    /// A value in a keyset, which must not contain calls.
    fn set_value(&mut self, expr: &'a ast::Expr) -> Expr {
        let found = self.expr(expr);
        if !found.has_effects() {
            return found;
        }
        self.error(
            "call-in-set",
            found.span,
            "a set of values cannot hold a call",
            "expected a value without calls",
        );
        Expr::error(found.span)
    }

    fn set_member(&mut self, found: Expr, ty: &Ty, what: &str) -> Expr {
        let found = match (&found.ty, ty) {
            (Ty::Set(of), _) if self.leaves(of) == self.leaves(ty) => return found,
            (Ty::Int, Ty::Bit(_) | Ty::Signed(_)) => {
                let negative = matches!(found.value(), Some(Value::Int(v)) if v.sign() == num_bigint::Sign::Minus);
                if negative && matches!(ty, Ty::Bit(_)) {
                    self.cast_to(found, ty)
                } else {
                    found
                }
            }
            _ => found,
        };
        self.checker.compared(found, ty, what, self.keys)
    }
}

/// Every value of the type.
pub(super) fn any(ty: &Ty, span: Span) -> Expr {
    Expr {
        kind: ExprKind::Any,
        ty: ty.clone(),
        span,
    }
}
