//! The stateful ALU: the cells that it works on, and what it computes.

use crate::walk;
use crate::{Report, Tofino};
use p4_ir::{
    AbstractMethod, BinaryOp, Expr, ExprKind, ExternId, Program, Scalar, SourceLoc, StmtKind, Type,
    TypeKind,
};
use std::collections::BTreeSet;

/// Checks the type of a register's cells: one value, or a pair of the same type.
pub fn cell(program: &Program, tofino: Tofino, register: ExternId, report: &mut Report) {
    let object = &program[register];
    let Some(ty) = object.type_args.first() else {
        return;
    };
    // A single value may take both halves of the ALU.
    let (single, half) = match tofino {
        Tofino::One => (64, 32),
        Tofino::Two => (128, 64),
    };
    let fits = match values(program, ty) {
        None => return,
        Some(values) => match values[..] {
            [1] => !is_struct(program, ty),
            [width] => (8..=single).contains(&width) && width.is_power_of_two(),
            [one, other] => one == other && (8..=half).contains(&one) && one.is_power_of_two(),
            _ => false,
        },
    };
    if !fits {
        let message = format!(
            "the cells of register `{}` do not fit a stateful ALU: on {} these are 1 bit, a power of two from 8 to \
             {single} bits, or a struct of two values of 8 to {half} bits of the same type",
            object.name,
            match tofino {
                Tofino::One => "Tofino 1",
                Tofino::Two => "Tofino 2",
            },
        );
        let help = "widen the cells to the next of these, or use several registers";
        report.add(object.loc, "register-cell", message, help);
    }
}

/// The widths of a cell's values; `None` if one of them is not a number.
fn values(program: &Program, ty: &Type) -> Option<Vec<u32>> {
    if let Some(scalar) = ty.scalar(program) {
        return match scalar {
            Scalar::Bit(width) | Scalar::Int(width) => Some(vec![width]),
            _ => None,
        };
    }
    let fields = ty.fields(program).iter();
    let widths = fields.map(|field| match field.ty.scalar(program) {
        Some(Scalar::Bit(width) | Scalar::Int(width)) => Some(width),
        _ => None,
    });
    widths.collect()
}

fn is_struct(program: &Program, ty: &Type) -> bool {
    matches!(ty, Type::Named(id) if matches!(program[*id].kind, TypeKind::Struct(_)))
}

/// Checks what a `RegisterAction` computes.
pub fn action(program: &Program, tofino: Tofino, action: ExternId, report: &mut Report) {
    let methods = program.methods.iter().filter(|m| m.object == action);
    for method in methods {
        let mut comparisons = BTreeSet::new();
        walk::statements(&program[method.body].body, &mut |statement| {
            walk::expressions(statement, &mut |expr| {
                comparisons.extend(comparison(expr));
                computes(method, statement.loc, expr, report);
            });
            if matches!(statement.kind, StmtKind::Loop { .. }) {
                refuse(statement.loc, "a loop", report);
            }
        });
        let units = match tofino {
            Tofino::One => 2,
            Tofino::Two => 4,
        };
        if comparisons.len() > units {
            let object = &program[action];
            let message = format!(
                "`{}` makes {} comparisons; a stateful ALU makes {units}",
                object.name,
                comparisons.len()
            );
            let help = "compare fields of the packet in the control before, and give the result in one bit";
            report.add(object.loc, "register-comparisons", message, help);
        }
    }
}

/// A comparison, in one form with its negation and its mirror image.
fn comparison(expr: &Expr) -> Option<String> {
    let ExprKind::Binary(op, left, right) = &expr.kind else {
        return None;
    };
    if walk::is_constant(expr) {
        return None;
    }
    let (op, left, right) = match op {
        BinaryOp::Eq | BinaryOp::Ne => ("==", left, right),
        BinaryOp::Lt | BinaryOp::Ge => ("<", left, right),
        BinaryOp::Gt | BinaryOp::Le => ("<", right, left),
        _ => return None,
    };
    Some(format!("{left:?} {op} {right:?}"))
}

fn computes(method: &AbstractMethod, loc: SourceLoc, expr: &Expr, report: &mut Report) {
    let ExprKind::Binary(op, left, right) = &expr.kind else {
        return;
    };
    let on_cell = || {
        let cell = method.params.first().map(|param| param.variable);
        let of_cell = |place: &&p4_ir::Place| Some(place.at.variable) == cell;
        walk::loads(left).iter().any(of_cell)
    };
    match op {
        BinaryOp::Mul if !walk::is_constant(left) && !walk::is_constant(right) => {
            refuse(loc, "a product", report);
        }
        BinaryOp::Shl | BinaryOp::Shr if on_cell() => refuse(loc, "a shift of the cell", report),
        _ => {}
    }
}

fn refuse(loc: SourceLoc, what: &str, report: &mut Report) {
    let message = format!(
        "{what} in a `RegisterAction`; a stateful ALU adds, subtracts, compares and combines bits"
    );
    let help = "compute it from the packet's fields before, from the result afterwards, or with a `MathUnit`";
    report.add(loc, "register-operation", message, help);
}
