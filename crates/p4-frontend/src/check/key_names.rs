//! Names of keys for a control plane.

use crate::ast::{self, Expr, ExprKind, IntLiteral};
use crate::hir::{self, Callee, DefKind, Program, Ty};

/// A key's name as p4c has it: `hdr.ipv4.dst[15:8]`, `hdr.vlan.$valid$`, `hdr.x & 0xf`. Members are called what their
/// `@name` says. `meant` is what the expression `written` was checked to be.
pub fn key_name(program: &Program, written: &Expr, meant: &hir::Expr) -> String {
    let inner = |written: &Expr, meant: &hir::Expr| key_name(program, written, meant);
    match (&written.kind, &meant.kind) {
        (ExprKind::Cast { .. }, hir::ExprKind::Cast(_)) => text(written),
        (_, hir::ExprKind::Cast(of)) => inner(written, of),
        (ExprKind::Member { base, name }, hir::ExprKind::Field(of, index)) => {
            let member = member_name(program, &of.ty, *index);
            let member = member.unwrap_or_else(|| name.name.to_string());
            match member.strip_prefix('.') {
                Some(absolute) => absolute.to_string(),
                None => format!("{}.{member}", inner(base, of)),
            }
        }
        (ExprKind::Member { base, name }, hir::ExprKind::Next(of) | hir::ExprKind::Last(of)) => {
            format!("{}.{}", inner(base, of), name.name)
        }
        (ExprKind::Index { base, index }, hir::ExprKind::Index(of, _)) => {
            format!("{}[{}]", inner(base, of), text(index))
        }
        (ExprKind::Slice { base, high, low }, hir::ExprKind::Slice { of, .. }) => {
            format!("{}[{}:{}]", inner(base, of), text(high), text(low))
        }
        (ExprKind::Call { callee, .. }, hir::ExprKind::Call(call)) => {
            match (&callee.kind, &call.callee) {
                (ExprKind::Member { base, .. }, Callee::IsValid(of)) => {
                    format!("{}.$valid$", inner(base, of))
                }
                _ => text(written),
            }
        }
        (ExprKind::Binary { op, left, right }, hir::ExprKind::Binary(_, a, b)) => {
            format!("{} {} {}", inner(left, a), op.symbol(), inner(right, b))
        }
        _ => text(written),
    }
}

/// What `@name` says of a member.
fn member_name(program: &Program, ty: &Ty, index: usize) -> Option<String> {
    let Ty::Named(named) = ty else { return None };
    let DefKind::Fields(_, fields) = &program.def(named.id)?.kind else {
        return None;
    };
    ast::annotation(fields.of.get(index)?.annotations, "name")?.string()
}

/// The expression as written.
fn text(expr: &Expr) -> String {
    match &expr.kind {
        ExprKind::Int(literal) => int(literal),
        ExprKind::Bool(value) => value.to_string(),
        ExprKind::String(value) => format!("\"{value}\""),
        ExprKind::This => "this".into(),
        ExprKind::Name(path) if path.absolute => format!(".{}", path.name.name),
        ExprKind::Name(path) => path.name.name.to_string(),
        ExprKind::Type(_) => "type".into(),
        ExprKind::Member { base, name } => {
            let base = match &base.kind {
                ExprKind::Type(_) => "error".into(),
                _ => text(base),
            };
            format!("{base}.{}", name.name)
        }
        ExprKind::Index { base, index } => format!("{}[{}]", text(base), text(index)),
        ExprKind::Slice { base, high, low } => {
            format!("{}[{}:{}]", text(base), text(high), text(low))
        }
        ExprKind::WidthSlice { base, low, width } => {
            format!("{}[{}+:{}]", text(base), text(low), text(width))
        }
        ExprKind::Call { callee, args, .. } => {
            let args: Vec<String> = args.iter().map(|a| text(&a.value)).collect();
            format!("{}({})", text(callee), args.join(", "))
        }
        ExprKind::Unary { op, operand } => format!("{}{}", op.symbol(), text(operand)),
        ExprKind::Binary { op, left, right } => {
            format!("{} {} {}", text(left), op.symbol(), text(right))
        }
        ExprKind::Conditional {
            condition,
            then,
            otherwise,
        } => format!("{} ? {} : {}", text(condition), text(then), text(otherwise)),
        ExprKind::Cast { operand, .. } => text(operand),
        ExprKind::List(_) | ExprKind::Struct(_) => "{ ... }".into(),
        ExprKind::Invalid => "{#}".into(),
        ExprKind::Defaults => "...".into(),
        ExprKind::Mask { value, mask } => format!("{} &&& {}", text(value), text(mask)),
        ExprKind::Range { low, high } => format!("{} .. {}", text(low), text(high)),
        ExprKind::Default => "default".into(),
        ExprKind::DontCare => "_".into(),
        ExprKind::Error => "?".into(),
    }
}

/// Without width, in the base that it is written in.
fn int(literal: &IntLiteral) -> String {
    let prefix = match literal.radix {
        16 => "0x",
        8 => "0o",
        2 => "0b",
        _ => "",
    };
    format!("{prefix}{}", literal.value.to_str_radix(literal.radix))
}
