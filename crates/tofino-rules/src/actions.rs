//! What match-action units compute: no products, no shift by a variable, saturation at the width of a
//! container, and no conditions on fields within an action.

use crate::Report;
use crate::reach::{Body, Gress};
use crate::walk;
use p4_ir::{BinaryOp, Expr, ExprKind, Program, Scalar, SourceLoc, Stmt, StmtKind, VariableId};

pub fn check(program: &Program, gress: &Gress, body: &Body, report: &mut Report) {
    let params = gress.block.params.iter();
    let fields: Vec<VariableId> = params.map(|param| param.variable).collect();
    walk::statements(&program[body.function].body, &mut |statement| {
        walk::expressions(statement, &mut |expr| {
            arithmetic(statement.loc, expr, report)
        });
        if body.action.is_some() {
            conditions_of_action(statement, &fields, report);
        } else if let StmtKind::If { condition, .. } = &statement.kind {
            comparisons(statement.loc, condition, report);
        }
    });
}

/// What no match-action unit computes.
fn arithmetic(loc: SourceLoc, expr: &Expr, report: &mut Report) {
    let ExprKind::Binary(op, left, right) = &expr.kind else {
        return;
    };
    let variable = |expr| !walk::is_constant(expr);
    match op {
        BinaryOp::Mul if !is_shift(left, right) => report.add(
            loc,
            "multiplication",
            "a product; Tofino multiplies by powers of two only".to_owned(),
            "add multiples by powers of two, look the product up in a table, or use a `MathUnit` in a \
             `RegisterAction`",
        ),
        BinaryOp::Shl | BinaryOp::Shr if variable(right) => report.add(
            loc,
            "variable-shift",
            "Tofino shifts by constants only".to_owned(),
            "use a table with the number of bits as key, and one action per constant shift",
        ),
        BinaryOp::SatAdd | BinaryOp::SatSub if saturates_elsewhere(expr.ty) => report.add(
            loc,
            "saturation",
            format!(
                "a sum that saturates at {} bits; Tofino saturates at the width of a container: 8, 16 or 32 bits",
                expr.ty.width()
            ),
            "compute with the next greater of these widths, then take the `min` with the greatest value",
        ),
        _ => {}
    }
}

/// Whether a product is one of constants, or with a power of two.
fn is_shift(left: &Expr, right: &Expr) -> bool {
    let power_of_two = |expr: &Expr| match &expr.kind {
        ExprKind::Const(value) => value.count_ones() <= 1,
        _ => false,
    };
    power_of_two(left)
        || power_of_two(right)
        || (walk::is_constant(left) && walk::is_constant(right))
}

fn saturates_elsewhere(ty: Scalar) -> bool {
    !matches!(ty.width(), 8 | 16 | 32)
}

/// `if` and `?:` in an action, on fields of the packet.
fn conditions_of_action(statement: &Stmt, fields: &[VariableId], report: &mut Report) {
    let mut check = |condition: &Expr| {
        let on_fields = |place: &&p4_ir::Place| fields.contains(&place.at.variable);
        if walk::loads(condition).iter().any(on_fields) {
            report.add(
                statement.loc,
                "action-condition",
                "a condition on a packet's field within an action; Tofino's actions do not branch".to_owned(),
                "move the `if` to the control's `apply`, make the field a key of the table, or use `min` or `max`",
            );
        }
    };
    if let StmtKind::If {
        condition,
        then,
        otherwise,
    } = &statement.kind
        && !assigns_extreme(condition, then, otherwise)
    {
        check(condition);
    }
    walk::expressions(statement, &mut |expr| {
        if let ExprKind::Mux(condition, yes, no) = &expr.kind
            && !is_extreme(condition, yes, no)
        {
            check(condition);
        }
    });
}

/// Whether `condition ? yes : no` is the smaller or the greater of two values, which one instruction computes.
fn is_extreme(condition: &Expr, yes: &Expr, no: &Expr) -> bool {
    let ExprKind::Binary(op, left, right) = &condition.kind else {
        return false;
    };
    let (left, right) = (&**left, &**right);
    matches!(
        op,
        BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge
    ) && ((left, right) == (yes, no) || (left, right) == (no, yes))
}

/// The same as `if (condition) to = yes; else to = no;`. Without `else`, `to` keeps its value.
fn assigns_extreme(condition: &Expr, then: &[Stmt], otherwise: &[Stmt]) -> bool {
    let assignment = |body: &[Stmt]| match body {
        [
            Stmt {
                kind: StmtKind::Assign { to, value },
                ..
            },
        ] => Some((to.clone(), value.clone())),
        _ => None,
    };
    let Some((to, yes)) = assignment(then) else {
        return false;
    };
    let no = match assignment(otherwise) {
        Some((other, no)) if other == to => no,
        None if otherwise.is_empty() => Expr::load(to),
        _ => return false,
    };
    is_extreme(condition, &yes, &no)
}

/// Order between two variables in an `if` of `apply`: a gateway compares with constants.
fn comparisons(loc: SourceLoc, condition: &Expr, report: &mut Report) {
    walk::parts(condition, &mut |expr| {
        let ExprKind::Binary(op, left, right) = &expr.kind else {
            return;
        };
        let ordered = matches!(
            op,
            BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge
        );
        if ordered && !walk::is_constant(left) && !walk::is_constant(right) {
            report.add(
                loc,
                "comparison",
                "an order comparison of two variables; Tofino compares a variable with constants only".to_owned(),
                "subtract them in an action before, and test the sign bit of the difference, or compare `min` of \
                 both with one of them by `==`",
            );
        }
    });
}
