//! Statements of actions, functions, controls and parser states.

use super::{Annotation, BinaryOp, Declaration, Expr, Path};
use crate::span::Span;

/// `{ ... }`
#[derive(Clone, Debug)]
pub struct Block {
    /// With the braces.
    pub span: Span,
    /// `@name { ... }`
    pub annotations: Vec<Annotation>,
    /// In order.
    pub statements: Vec<Statement>,
}

/// A statement, or a declaration among statements.
#[derive(Clone, Debug)]
pub struct Statement {
    /// With the semicolon.
    pub span: Span,
    /// What it is.
    pub kind: StatementKind,
}

/// What a [`Statement`] is.
#[derive(Clone, Debug)]
pub enum StatementKind {
    /// A variable, constant or instance.
    Declaration(Box<Declaration>),
    /// `target = value;`, `target += value;`
    Assign {
        /// The operator of a compound assignment.
        op: Option<BinaryOp>,
        /// Where to.
        target: Expr,
        /// What.
        value: Expr,
    },
    /// `f(args);`: the expression is an [`ExprKind::Call`](super::ExprKind::Call).
    Call(Expr),
    /// `;`
    Empty,
    /// `{ ... }`
    Block(Block),
    /// `if (condition) then else if (condition) then ... else otherwise`, one node however long.
    If {
        /// One or more.
        arms: Vec<IfArm>,
        /// When no condition holds.
        otherwise: Option<Box<Statement>>,
    },
    /// `switch (subject) { ... }`
    Switch {
        /// What decides: `table.apply().action_run` or a value.
        subject: Expr,
        /// In order.
        cases: Vec<SwitchCase>,
    },
    /// `return;`, `return value;`
    Return(Option<Expr>),
    /// `exit;`
    Exit,
    /// `break;`
    Break,
    /// `continue;`
    Continue,
    /// `for (init; condition; update) body`
    For {
        /// `@unroll for ...`
        annotations: Vec<Annotation>,
        /// Declarations of variables, assignments, calls.
        init: Vec<Statement>,
        /// What decides.
        condition: Expr,
        /// Assignments and calls.
        update: Vec<Statement>,
        /// What is repeated.
        body: Box<Statement>,
    },
    /// `for (variable in collection) body`
    ForIn {
        /// `@unroll for ...`
        annotations: Vec<Annotation>,
        /// What takes each value: a [`DeclarationKind::Variable`](super::DeclarationKind::Variable) without
        /// initial value.
        variable: Box<Declaration>,
        /// A stack, list, tuple or [`ExprKind::Range`](super::ExprKind::Range).
        collection: Expr,
        /// What is repeated.
        body: Box<Statement>,
    },
    /// What could not be parsed. A diagnostic has been given.
    Error,
}

/// `if (condition) then`
#[derive(Clone, Debug)]
pub struct IfArm {
    /// From `if`.
    pub span: Span,
    /// What decides.
    pub condition: Box<Expr>,
    /// When true.
    pub then: Box<Statement>,
}

/// `label: { ... }`
#[derive(Clone, Debug)]
pub struct SwitchCase {
    /// Label and block.
    pub span: Span,
    /// An action's name, a value, or [`ExprKind::Default`](super::ExprKind::Default).
    pub label: Expr,
    /// What is done; `None` falls through to the next case.
    pub body: Option<Block>,
}

/// What follows `transition`.
#[derive(Clone, Debug)]
pub enum Transition {
    /// `transition next;`
    Direct(Path),
    /// `transition select(...) { ... }`
    Select {
        /// From `select`.
        span: Span,
        /// What is matched, in order.
        subjects: Vec<Expr>,
        /// In order.
        cases: Vec<SelectCase>,
    },
}

/// `keyset: next;`
#[derive(Clone, Debug)]
pub struct SelectCase {
    /// With the semicolon.
    pub span: Span,
    /// One keyset per subject; or a single `default`, `_` or value set for all.
    pub keys: Vec<Expr>,
    /// The next state.
    pub next: Path,
}
