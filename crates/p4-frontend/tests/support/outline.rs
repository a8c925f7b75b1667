//! Expressions and types with every pair of parentheses written out.

use p4_frontend::ast::{Argument, Expr, ExprKind, FieldValue, Path, Type, TypeKind};

pub fn expr(e: &Expr) -> String {
    match &e.kind {
        ExprKind::Int(literal) => match literal.width {
            None => literal.value.to_string(),
            Some(width) => {
                let sign = if width.signed { 's' } else { 'w' };
                format!("{}{sign}{}", width.bits, literal.value)
            }
        },
        ExprKind::Bool(value) => value.to_string(),
        ExprKind::String(text) => format!("{text:?}"),
        ExprKind::This => "this".into(),
        ExprKind::Name(name) => path(name),
        ExprKind::Type(written) => ty(written),
        ExprKind::Member { base, name } => format!("{}.{}", expr(base), name.as_str()),
        ExprKind::Index { base, index } => format!("{}[{}]", expr(base), expr(index)),
        ExprKind::Slice { base, high, low } => {
            format!("{}[{}:{}]", expr(base), expr(high), expr(low))
        }
        ExprKind::WidthSlice { base, low, width } => {
            format!("{}[{}+:{}]", expr(base), expr(low), expr(width))
        }
        ExprKind::Call {
            callee,
            type_args,
            args,
        } => {
            let args = list(args, argument);
            format!("{}{}({args})", expr(callee), angles(type_args))
        }
        ExprKind::Unary { op, operand } => format!("({}{})", op.symbol(), expr(operand)),
        ExprKind::Binary { first, rest } => rest.iter().fold(expr(first), |left, operation| {
            format!(
                "({left} {} {})",
                operation.op.symbol(),
                expr(&operation.right)
            )
        }),
        ExprKind::Conditional { arms, otherwise } => {
            let wrap = |otherwise, (condition, then): &(Expr, Expr)| {
                format!("({} ? {} : {otherwise})", expr(condition), expr(then))
            };
            arms.iter().rev().fold(expr(otherwise), wrap)
        }
        ExprKind::Cast { ty: to, operand } => format!("(({}) {})", ty(to), expr(operand)),
        ExprKind::List(items) => {
            let rest = if items.rest.is_some() { ", ..." } else { "" };
            format!("{{{}{rest}}}", list(&items.elements, expr))
        }
        ExprKind::Struct(items) => {
            let rest = if items.rest.is_some() { ", ..." } else { "" };
            format!("{{{}{rest}}}", list(&items.fields, field))
        }
        ExprKind::Invalid => "{#}".into(),
        ExprKind::Defaults => "...".into(),
        ExprKind::Mask { value, mask } => format!("({} &&& {})", expr(value), expr(mask)),
        ExprKind::Range { low, high } => format!("({} .. {})", expr(low), expr(high)),
        ExprKind::Default => "default".into(),
        ExprKind::DontCare => "_".into(),
        ExprKind::Error => "ERROR".into(),
    }
}

pub fn ty(t: &Type) -> String {
    match &t.kind {
        TypeKind::Bool => "bool".into(),
        TypeKind::Error => "error".into(),
        TypeKind::MatchKind => "match_kind".into(),
        TypeKind::String => "string".into(),
        TypeKind::Void => "void".into(),
        TypeKind::DontCare => "_".into(),
        TypeKind::Int => "int".into(),
        TypeKind::Bit(None) => "bit".into(),
        TypeKind::Bit(Some(width)) => format!("bit<{}>", expr(width)),
        TypeKind::Signed(width) => format!("int<{}>", expr(width)),
        TypeKind::Varbit(width) => format!("varbit<{}>", expr(width)),
        TypeKind::Named { path: name, args } => format!("{}{}", path(name), angles(args)),
        TypeKind::Stack { element, size } => format!("{}[{}]", ty(element), expr(size)),
        TypeKind::Tuple(types) => format!("tuple<{}>", list(types, ty)),
        TypeKind::List(element) => format!("list<{}>", ty(element)),
    }
}

fn path(p: &Path) -> String {
    format!("{}{}", if p.absolute { "." } else { "" }, p.name.as_str())
}

fn argument(a: &Argument) -> String {
    let name = a.name.as_ref().map(|name| format!("{} = ", name.as_str()));
    format!("{}{}", name.unwrap_or_default(), expr(&a.value))
}

fn field(f: &FieldValue) -> String {
    format!("{} = {}", f.name.as_str(), expr(&f.value))
}

fn angles(types: &[Type]) -> String {
    match types {
        [] => String::new(),
        _ => format!("<{}>", list(types, ty)),
    }
}

fn list<T>(items: &[T], text: impl Fn(&T) -> String) -> String {
    let texts: Vec<String> = items.iter().map(text).collect();
    texts.join(", ")
}
