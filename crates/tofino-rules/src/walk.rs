//! Statements and expressions, each with those within it.

use p4_ir::{Arg, Expr, ExprKind, Place, Stmt, StmtKind};

/// Each statement, those within others included.
pub fn statements<'p>(body: &'p [Stmt], visit: &mut dyn FnMut(&'p Stmt)) {
    for statement in body {
        visit(statement);
        match &statement.kind {
            StmtKind::If {
                then, otherwise, ..
            } => {
                statements(then, visit);
                statements(otherwise, visit);
            }
            StmtKind::Switch { cases, default, .. } => {
                for (_, body) in cases {
                    statements(body, visit);
                }
                statements(default, visit);
            }
            StmtKind::Loop {
                prepare,
                body,
                update,
                ..
            } => {
                statements(prepare, visit);
                statements(body, visit);
                statements(update, visit);
            }
            _ => {}
        }
    }
}

/// Each expression that a statement itself evaluates, with those within it; not those of statements within.
pub fn expressions<'p>(statement: &'p Stmt, visit: &mut dyn FnMut(&'p Expr)) {
    match &statement.kind {
        StmtKind::Assign { value, .. } | StmtKind::AssignSlice { value, .. } => parts(value, visit),
        StmtKind::If { condition, .. } | StmtKind::Loop { condition, .. } => {
            parts(condition, visit)
        }
        StmtKind::Switch { on, .. } => parts(on, visit),
        StmtKind::Verify(condition, _) => parts(condition, visit),
        StmtKind::Extern(call) => {
            for arg in &call.args {
                match arg {
                    Arg::In(value) => parts(value, visit),
                    Arg::List(items) => items.iter().for_each(|item| parts(&item.value, visit)),
                    _ => {}
                }
            }
        }
        _ => {}
    }
}

/// An expression and those within it, except indices.
pub fn parts<'p>(expr: &'p Expr, visit: &mut dyn FnMut(&'p Expr)) {
    visit(expr);
    match &expr.kind {
        ExprKind::Unary(_, of) | ExprKind::Cast(of) | ExprKind::Slice { of, .. } => {
            parts(of, visit)
        }
        ExprKind::Binary(_, left, right) => {
            parts(left, visit);
            parts(right, visit);
        }
        ExprKind::Mux(condition, yes, no) => {
            parts(condition, visit);
            parts(yes, visit);
            parts(no, visit);
        }
        ExprKind::Const(_) | ExprKind::Load(_) | ExprKind::PacketLength => {}
    }
}

/// The places that an expression reads.
pub fn loads(expr: &Expr) -> Vec<&Place> {
    let mut found = Vec::new();
    parts(expr, &mut |part| {
        if let ExprKind::Load(place) = &part.kind {
            found.push(place);
        }
    });
    found
}

/// Whether an expression has one value for all packets.
pub fn is_constant(expr: &Expr) -> bool {
    let mut constant = true;
    parts(expr, &mut |part| {
        constant &= !matches!(part.kind, ExprKind::Load(_) | ExprKind::PacketLength);
    });
    constant
}
