//! `for`.

use super::Body;
use crate::ast;
use crate::hir::{DefKind, Expr, ExprKind, NamedKind, Stmt, StmtKind, Ty};

impl<'a> Body<'_, 'a> {
    pub(super) fn for_statement(
        &mut self,
        init: &'a [ast::Statement],
        condition: &'a ast::Expr,
        update: &'a [ast::Statement],
        body: &'a ast::Statement,
    ) -> StmtKind {
        let init = self.statements(init);
        let condition = self.expr_as(condition, &Ty::Bool, "a condition");
        let update = self.statements(update);
        let body = self.loop_body(body);
        StmtKind::For {
            init,
            condition,
            update,
            body,
        }
    }

    fn loop_body(&mut self, body: &'a ast::Statement) -> Vec<Stmt> {
        let outer = std::mem::replace(&mut self.in_loop, true);
        let body = self.branch(body);
        self.in_loop = outer;
        body
    }

    pub(super) fn for_in(
        &mut self,
        declaration: &'a ast::Declaration,
        collection: &'a ast::Expr,
        body: &'a ast::Statement,
    ) -> Option<StmtKind> {
        let ast::DeclarationKind::Variable { ty, .. } = &declaration.kind else {
            return None;
        };
        self.variable(declaration, ty, None);
        let ty = match self.hir.kind(declaration.id) {
            Some(DefKind::Variable(ty)) => ty.clone(),
            _ => Ty::Error,
        };
        let variable = Expr {
            kind: ExprKind::Var(declaration.id),
            ty,
            span: declaration.name.span,
        };
        let collection = self.collection(collection, &variable.ty);
        let body = self.loop_body(body);
        if variable.ty.is_error() || collection.ty.is_error() {
            return None;
        }
        Some(StmtKind::ForIn {
            variable,
            collection,
            body,
        })
    }

    fn collection(&mut self, collection: &'a ast::Expr, element: &Ty) -> Expr {
        if let ast::ExprKind::Range { low, high } = &collection.kind {
            let numeric = matches!(element, Ty::Bit(_) | Ty::Signed(_) | Ty::Error);
            if !numeric && !element.is(NamedKind::SerialisableEnum) {
                self.error(
                    "type-mismatch",
                    collection.span,
                    format!("a variable of type `{element}` cannot run through a range"),
                    "expected bit<W> or int<W>",
                );
                return Expr::error(collection.span);
            }
            let low = self.expr_as(low, element, "a range's first value");
            let high = self.expr_as(high, element, "a range's last value");
            if low.ty.is_error() || high.ty.is_error() {
                return Expr::error(collection.span);
            }
            return Expr {
                kind: ExprKind::Range(low.into(), high.into()),
                ty: element.clone(),
                span: collection.span,
            };
        }
        let found = self.value(collection);
        let what = "each element";
        match found.ty.clone() {
            Ty::Error => found,
            Ty::ListExpr(_) => {
                let ty = Ty::List(element.clone().into());
                self.coerce(found, &ty, "the collection")
            }
            Ty::Stack(of, _) | Ty::List(of) if *of == *element => found,
            Ty::Tuple(of) if of.iter().all(|t| t == element) => found,
            Ty::Stack(of, _) | Ty::List(of) => {
                self.mismatch(found.span, element, &of, what);
                Expr::error(found.span)
            }
            other => {
                self.error(
                    "type-mismatch",
                    found.span,
                    format!("a loop cannot run through a value of type `{other}`"),
                    "expected a range, a list or an array",
                );
                Expr::error(found.span)
            }
        }
    }
}
