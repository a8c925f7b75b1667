//! A body: the statements being lowered, and how they leave it.

use super::Env;
use super::scope::Scope;
use crate::ast::DeclId;
use crate::hir::{Stmt, Ty};
use crate::span::Span;
use p4_ir::{Location, Place, SourceLoc, StmtKind};
use std::mem;
use std::ops::{Deref, DerefMut};

/// The kind of a body, which determines how its statements leave it.
#[derive(Clone, Debug)]
pub(super) enum Kind {
    /// States of a parser, which are left only by transitions.
    Parser,
    /// A control or action, which is left by `return` and `exit`.
    Control {
        /// Whether `exit` returns to the caller, with [`exiting`](super::Lowerer::exiting) set.
        soft_exit: bool,
    },
    /// A function or method, which is left by `return`. The result is stored here.
    Function { result: Option<(Location, Ty)> },
}

/// A body under construction.
pub(super) struct Body<'s, 'h, 'a> {
    scope: Scope<'s, 'h, 'a>,
    pub kind: Kind,
    /// The prefix of the names of its variables.
    path: String,
    /// The statements so far.
    pub sink: Vec<p4_ir::Stmt>,
    /// The statement being lowered.
    pub at: SourceLoc,
    /// In a compound assignment, the current value of its target.
    pub target: Option<p4_ir::Expr>,
}

impl<'s, 'h, 'a> Deref for Body<'s, 'h, 'a> {
    type Target = Scope<'s, 'h, 'a>;

    fn deref(&self) -> &Self::Target {
        &self.scope
    }
}

impl DerefMut for Body<'_, '_, '_> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.scope
    }
}

impl<'s, 'h, 'a> Body<'s, 'h, 'a> {
    pub(super) fn new(scope: Scope<'s, 'h, 'a>, path: String, kind: Kind) -> Self {
        Body {
            scope,
            kind,
            path,
            sink: Vec::new(),
            at: SourceLoc::default(),
            target: None,
        }
    }

    /// Lowers these statements and returns the body.
    pub(super) fn lowered(mut self, statements: &[Stmt]) -> Vec<p4_ir::Stmt> {
        self.statements(statements);
        self.sink
    }

    pub(super) fn emit(&mut self, kind: StmtKind) {
        let loc = self.at;
        self.sink.push(p4_ir::Stmt { kind, loc });
    }

    /// `to = value`
    pub(super) fn set(&mut self, to: Place, value: p4_ir::Expr) {
        self.emit(StmtKind::Assign { to, value });
    }

    /// `if (condition) { then }`
    pub(super) fn when(&mut self, condition: p4_ir::Expr, then: Vec<p4_ir::Stmt>) {
        let otherwise = Vec::new();
        self.emit(StmtKind::If {
            condition,
            then,
            otherwise,
        });
    }

    /// The statements that `body` emits, collected separately.
    pub(super) fn collect(&mut self, body: impl FnOnce(&mut Self)) -> Vec<p4_ir::Stmt> {
        let outer = mem::take(&mut self.sink);
        self.depth.open += 1;
        body(self);
        self.depth.open -= 1;
        mem::replace(&mut self.sink, outer)
    }

    /// The destination of a function's result.
    pub(super) fn result(&self) -> Option<(Location, Ty)> {
        match &self.kind {
            Kind::Function { result } => result.clone(),
            Kind::Parser | Kind::Control { .. } => None,
        }
    }

    /// A place for a function's result, if it has one.
    pub(super) fn result_variable(&mut self, ty: &Ty, span: Span) -> Option<(Location, Ty)> {
        let ty = self.ty(ty);
        let result = (ty != Ty::Void).then(|| (self.local("return", &ty, span), ty));
        self.kind = Kind::Function {
            result: result.clone(),
        };
        result
    }

    /// A variable of the body.
    pub(super) fn local(&mut self, name: &str, ty: &Ty, span: Span) -> Location {
        let name = match self.path.as_str() {
            "" => name.to_string(),
            path => format!("{path}.{name}"),
        };
        self.allocate(name, ty, span)
    }

    /// Allocates the variable of a declaration, and binds its name from here on.
    pub(super) fn declare(&mut self, id: DeclId, ty: &Ty) -> Location {
        let (name, span) = (self.name(id), self.span(id));
        let at = self.local(&name, ty, span);
        self.env
            .bindings
            .insert(id, super::Binding::Place(at.clone()));
        at
    }
}

impl<'h, 'a> Scope<'_, 'h, 'a> {
    /// A body of this instance. Its variables are named after `path`.
    pub(super) fn body(&mut self, path: String, kind: Kind) -> Body<'_, 'h, 'a> {
        Body::new(self.within(), path, kind)
    }

    /// A body of another instance, which is called or applied here.
    pub(super) fn body_of<'s>(&'s mut self, env: &'s mut Env, kind: Kind) -> Body<'s, 'h, 'a> {
        let path = env.path.clone();
        Body::new(self.within_of(env), path, kind)
    }
}
