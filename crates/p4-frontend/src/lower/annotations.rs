//! Annotations: tokens and values from the source, and evaluated expressions in brackets.

use super::{Known, Lowerer};
use crate::ast::{self, BinaryOp, ExprKind, UnaryOp};
use crate::hir::{DefKind, Value};
use crate::parser::FIELD_LIST;
use num_bigint::BigInt;
use p4_ir::AnnotationValue;

impl Lowerer<'_, '_> {
    pub(super) fn annotations(&self, annotations: &[ast::Annotation]) -> Vec<p4_ir::Annotation> {
        annotations.iter().map(|a| self.annotation(a)).collect()
    }

    fn annotation(&self, annotation: &ast::Annotation) -> p4_ir::Annotation {
        let mut tokens = Vec::new();
        let (values, structured) = match &annotation.body {
            ast::AnnotationBody::Empty => (Vec::new(), false),
            ast::AnnotationBody::Unstructured(body) => {
                tokens = body.iter().map(|t| t.text.to_string()).collect();
                (body.iter().map(token_value).collect(), false)
            }
            ast::AnnotationBody::Expressions(exprs) => (
                exprs.iter().map(|e| self.annotation_value(e)).collect(),
                &*annotation.name.name != FIELD_LIST,
            ),
            ast::AnnotationBody::KeyValues(pairs) => {
                let pair = |pair: &ast::FieldValue| {
                    let value = self.annotation_value(&pair.value);
                    AnnotationValue::Pair(pair.name.name.to_string(), Box::new(value))
                };
                (pairs.iter().map(pair).collect(), true)
            }
        };
        p4_ir::Annotation {
            name: annotation.name.name.to_string(),
            values,
            text: self.annotation_text(annotation),
            tokens,
            structured,
        }
    }

    fn annotation_value(&self, expr: &ast::Expr) -> AnnotationValue {
        let written = || AnnotationValue::Token(self.sources.text(expr.span).to_string());
        self.computed(expr).unwrap_or_else(written)
    }

    /// The value of an expression that consists of literals, constants and operators.
    fn computed(&self, expr: &ast::Expr) -> Option<AnnotationValue> {
        use AnnotationValue::{Bool, Int, String};
        Some(match &expr.kind {
            ExprKind::String(s) => String(s.to_string()),
            ExprKind::Int(i) => Int(i.value.clone()),
            ExprKind::Bool(b) => Bool(*b),
            ExprKind::Name(path) => self.annotation_constant(&path.name.name)?,
            ExprKind::Unary { op, operand } => match (op, self.computed(operand)?) {
                (UnaryOp::Not, Bool(value)) => Bool(!value),
                (UnaryOp::Minus, Int(value)) => Int(-value),
                (UnaryOp::Plus, Int(value)) => Int(value),
                _ => return None,
            },
            ExprKind::Binary { first, rest } => {
                let apply = |left, operation: &ast::Operation| {
                    operated(operation.op, left, self.computed(&operation.right)?)
                };
                rest.iter().try_fold(self.computed(first)?, apply)?
            }
            _ => return None,
        })
    }

    /// A top-level constant.
    fn annotation_constant(&self, name: &str) -> Option<AnnotationValue> {
        let top_level = Known {
            hir: self.hir,
            env: &self.globals,
            globals: &self.globals,
        };
        let value = self
            .hir
            .defs
            .iter()
            .flatten()
            .find_map(|def| match &def.kind {
                DefKind::Constant(value) if &*def.name == name => top_level.known(value),
                _ => None,
            })?;
        match value {
            Value::Int(value) => Some(AnnotationValue::Int(value)),
            Value::Bool(value) => Some(AnnotationValue::Bool(value)),
            Value::String(value) => Some(AnnotationValue::String(value.to_string())),
            Value::Symbol(_) => None,
        }
    }

    /// The text between the outermost parentheses or brackets.
    fn annotation_text(&self, annotation: &ast::Annotation) -> String {
        let text = self.sources.text(annotation.span);
        let open = text.find(['(', '[']);
        let close = text.rfind([')', ']']);
        match (open, close) {
            (Some(open), Some(close)) if open < close => text[open + 1..close].trim().to_string(),
            _ => String::new(),
        }
    }
}

fn token_value(token: &ast::AnnotationToken) -> AnnotationValue {
    match &token.kind {
        ast::AnnotationTokenKind::String(s) => AnnotationValue::String(s.to_string()),
        ast::AnnotationTokenKind::Int(i) => AnnotationValue::Int(i.value.clone()),
        ast::AnnotationTokenKind::Other(s) => AnnotationValue::Token(s.to_string()),
    }
}

fn operated(
    op: BinaryOp,
    left: AnnotationValue,
    right: AnnotationValue,
) -> Option<AnnotationValue> {
    use AnnotationValue::{Bool, Int, String};
    Some(match (left, right) {
        (Int(left), Int(right)) => integers(op, &left, &right)?,
        (Bool(left), Bool(right)) => Bool(match op {
            BinaryOp::Eq => left == right,
            BinaryOp::Ne => left != right,
            BinaryOp::And => left && right,
            BinaryOp::Or => left || right,
            _ => return None,
        }),
        (String(left), String(right)) if op == BinaryOp::Concat => String(left + &right),
        _ => return None,
    })
}

fn integers(op: BinaryOp, left: &BigInt, right: &BigInt) -> Option<AnnotationValue> {
    let value = match op {
        BinaryOp::Add => left + right,
        BinaryOp::Sub => left - right,
        BinaryOp::Mul => left * right,
        BinaryOp::Div => left.checked_div(right)?,
        BinaryOp::BitAnd => left & right,
        BinaryOp::BitOr => left | right,
        BinaryOp::BitXor => left ^ right,
        _ => {
            return Some(AnnotationValue::Bool(match op {
                BinaryOp::Eq => left == right,
                BinaryOp::Ne => left != right,
                BinaryOp::Lt => left < right,
                BinaryOp::Le => left <= right,
                BinaryOp::Gt => left > right,
                BinaryOp::Ge => left >= right,
                _ => return None,
            }));
        }
    };
    Some(AnnotationValue::Int(value))
}
