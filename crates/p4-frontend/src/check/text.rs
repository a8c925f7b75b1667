//! Formats expressions.

use crate::ast::{Expr, ExprKind, FieldValue, IntLiteral};

/// The expression as written, with one space around operators.
pub fn text(expr: &Expr) -> String {
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
        ExprKind::Binary { first, rest } => {
            let mut written = text(first);
            for operation in rest {
                written += &format!(" {} {}", operation.op.symbol(), text(&operation.right));
            }
            written
        }
        ExprKind::Conditional { arms, otherwise } => {
            let mut written = String::new();
            for (condition, then) in arms {
                written += &format!("{} ? {} : ", text(condition), text(then));
            }
            written + &text(otherwise)
        }
        ExprKind::Cast { operand, .. } => text(operand),
        ExprKind::List(list) => {
            let elements: Vec<String> = list.elements.iter().map(text).collect();
            format!("{{ {} }}", elements.join(", "))
        }
        ExprKind::Struct(fields) => {
            let field = |f: &FieldValue| format!("{} = {}", f.name.name, text(&f.value));
            let fields: Vec<String> = fields.fields.iter().map(field).collect();
            format!("{{ {} }}", fields.join(", "))
        }
        ExprKind::Invalid => "{#}".into(),
        ExprKind::Defaults => "...".into(),
        ExprKind::Mask { value, mask } => format!("{} &&& {}", text(value), text(mask)),
        ExprKind::Range { low, high } => format!("{} .. {}", text(low), text(high)),
        ExprKind::Default => "default".into(),
        ExprKind::DontCare => "_".into(),
        ExprKind::Error => "?".into(),
    }
}

fn int(literal: &IntLiteral) -> String {
    match literal.width {
        None => literal.value.to_string(),
        Some(w) => {
            let kind = if w.signed { 's' } else { 'w' };
            format!("{}{kind}{}", w.bits, literal.value)
        }
    }
}
