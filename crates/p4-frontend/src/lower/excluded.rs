//! Tables that an instance does not have, because known conditions exclude all of their applications.

use super::Known;
use crate::ast::DeclId;
use crate::hir::{Callee, Expr, ExprKind, Stmt, StmtKind, Value};
use std::collections::{HashMap, HashSet};

impl Known<'_, '_, '_> {
    /// The tables that these statements apply only where conditions that are known in this instance exclude it.
    pub(super) fn excluded_tables(&self, statements: &[Stmt]) -> HashSet<DeclId> {
        let mut excluded = HashMap::new();
        self.count_excluded(statements, false, &mut excluded);
        let all = |(id, n): (DeclId, u32)| (self.hir.applied.get(&id) == Some(&n)).then_some(id);
        excluded.into_iter().filter_map(all).collect()
    }

    /// Counts the excluded applications of each table. If `excluded` is set, all applications are excluded.
    fn count_excluded(
        &self,
        statements: &[Stmt],
        excluded: bool,
        counts: &mut HashMap<DeclId, u32>,
    ) {
        for statement in statements {
            match &statement.kind {
                StmtKind::Call(call) => add(counts, table_in(call), excluded),
                StmtKind::Block(body) => self.count_excluded(body, excluded, counts),
                StmtKind::If { arms, otherwise } => {
                    let mut excluded = excluded;
                    for arm in arms {
                        let known = self.known(&arm.condition);
                        add(counts, table_in(&arm.condition), excluded);
                        let never = known == Some(Value::Bool(false));
                        self.count_excluded(&arm.then, excluded || never, counts);
                        excluded |= known == Some(Value::Bool(true));
                    }
                    self.count_excluded(otherwise, excluded, counts);
                }
                StmtKind::Switch { cases, default, .. } => {
                    for (_, body) in cases {
                        self.count_excluded(body, excluded, counts);
                    }
                    self.count_excluded(default, excluded, counts);
                }
                StmtKind::SwitchAction {
                    table,
                    cases,
                    default,
                } => {
                    add(counts, Some(*table), excluded);
                    for (_, body) in cases {
                        self.count_excluded(body, excluded, counts);
                    }
                    self.count_excluded(default, excluded, counts);
                }
                _ => {}
            }
        }
    }
}

fn add(counts: &mut HashMap<DeclId, u32>, table: Option<DeclId>, excluded: bool) {
    if let (Some(table), true) = (table, excluded) {
        *counts.entry(table).or_default() += 1;
    }
}

/// The table that a statement or condition applies, directly or under `!`.
fn table_in(expr: &Expr) -> Option<DeclId> {
    match &expr.kind {
        ExprKind::TableHit { table, .. } => Some(*table),
        ExprKind::Unary(_, of) => table_in(of),
        ExprKind::Call(call) => match call.callee {
            Callee::Table(table) => Some(table),
            _ => None,
        },
        _ => None,
    }
}
