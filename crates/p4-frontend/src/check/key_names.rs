//! Control-plane names of keys.

use super::{Checker, text};
use crate::ast::{self, Expr, ExprKind, IntLiteral, Operation};
use crate::hir::{self, Callee, DefKind, Program, Ty, Value};
use num_bigint::BigInt;

impl Checker<'_> {
    /// The name of a key as in p4c: `hdr.ipv4.dst[15:8]`, `hdr.vlan.$valid$`, `hdr.x & 0xf`. `@name` determines the
    /// names of members. `meant` is the checked form of the expression `written`.
    pub(super) fn key_name(&self, written: &Expr, meant: &hir::Expr) -> String {
        let inner = |written: &Expr, meant: &hir::Expr| self.key_name(written, meant);
        match (&written.kind, &meant.kind) {
            (ExprKind::Cast { .. }, hir::ExprKind::Cast(_)) => plain(written),
            (_, hir::ExprKind::Cast(of)) => inner(written, of),
            (ExprKind::Member { base, name }, hir::ExprKind::Field(of, index)) => {
                let member = member_name(&self.hir, &of.ty, *index);
                let member = member.unwrap_or_else(|| name.name.to_string());
                match member.strip_prefix('.') {
                    Some(absolute) => absolute.to_string(),
                    None => format!("{}.{member}", inner(base, of)),
                }
            }
            (
                ExprKind::Member { base, name },
                hir::ExprKind::Next(of) | hir::ExprKind::Last(of),
            ) => {
                format!("{}.{}", inner(base, of), name.name)
            }
            (ExprKind::Index { base, index }, hir::ExprKind::Index(of, _)) => {
                format!("{}[{}]", inner(base, of), plain(index))
            }
            (ExprKind::Slice { base, high, low }, hir::ExprKind::Slice { of, .. }) => {
                format!("{}[{}:{}]", inner(base, of), plain(high), plain(low))
            }
            (ExprKind::Call { callee, .. }, hir::ExprKind::Call(call)) => {
                match (&callee.kind, &call.callee) {
                    (ExprKind::Member { base, .. }, Callee::IsValid(of)) => {
                        format!("{}.$valid$", inner(base, of))
                    }
                    _ => plain(written),
                }
            }
            (ExprKind::Binary { .. }, hir::ExprKind::Binary(of, meant)) => {
                let (first, rest) = chain(written);
                if rest.len() != meant.len() {
                    return plain(written);
                }
                let mut name = inner(first, of);
                for (written, meant) in rest.iter().zip(meant) {
                    let right = inner(&written.right, &meant.right);
                    name += &format!(" {} {right}", written.op.symbol());
                }
                name
            }
            (ExprKind::Name(_) | ExprKind::Int(_), hir::ExprKind::Const(Value::Int(value))) => {
                number(value, self.radix(written))
            }
            _ => plain(written),
        }
    }

    /// The radix in which the first number of a constant is written.
    pub(super) fn radix(&self, written: &Expr) -> u32 {
        match &written.kind {
            ExprKind::Int(literal) => literal.radix,
            ExprKind::Unary { operand, .. } | ExprKind::Cast { operand, .. } => self.radix(operand),
            ExprKind::Binary { first, .. } => self.radix(first),
            ExprKind::Name(path) => {
                let radix = self.find(path).first().and_then(|id| self.radices.get(id));
                radix.copied().unwrap_or(10)
            }
            _ => 10,
        }
    }
}

/// The leftmost operand of a chain of operators, and the operators. Parentheses at the left end are ignored.
fn chain(expr: &Expr) -> (&Expr, Vec<&Operation>) {
    match &expr.kind {
        ExprKind::Binary { first, rest } => {
            let (first, mut all) = chain(first);
            all.extend(rest);
            (first, all)
        }
        _ => (expr, Vec::new()),
    }
}

/// The name of a member from `@name`.
fn member_name(program: &Program, ty: &Ty, index: usize) -> Option<String> {
    let Ty::Named(named) = ty else { return None };
    let DefKind::Fields(_, fields) = program.kind(named.id)? else {
        return None;
    };
    ast::annotation(fields.of.get(index)?.annotations, "name")?.string()
}

/// The expression as written, without widths of numbers.
fn plain(expr: &Expr) -> String {
    match &expr.kind {
        ExprKind::Int(literal) => int(literal),
        _ => text::text(expr),
    }
}

/// A literal without width, in its radix.
fn int(literal: &IntLiteral) -> String {
    number(&literal.value, literal.radix)
}

fn number(value: &BigInt, radix: u32) -> String {
    let prefix = match radix {
        16 => "0x",
        8 => "0o",
        2 => "0b",
        _ => "",
    };
    format!("{prefix}{}", value.to_str_radix(radix))
}
