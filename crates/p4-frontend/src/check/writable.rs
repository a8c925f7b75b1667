//! Checks of assignable expressions.

use super::Facts;
use crate::ast::{DeclId, Direction};
use crate::hir::{Callee, DefKind, Expr, ExprKind};

impl<'a> Facts<'a> {
    /// Reports an expression that is not assignable, with the reason.
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
                Callee::Constructor => Some("this is an instance".into()),
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
}
