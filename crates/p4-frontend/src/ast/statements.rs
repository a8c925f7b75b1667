//! Statements of actions, functions, controls and parser states.

use super::{Annotation, BinaryOp, Declaration, Expr, Path};
use crate::span::Span;

/// `{ ... }`
#[derive(Clone, Debug)]
pub struct Block {
    /// Including the braces.
    pub span: Span,
    /// `@name { ... }`
    pub annotations: Vec<Annotation>,
    /// In order.
    pub statements: Vec<Statement>,
}

/// A statement, or a declaration among statements.
#[derive(Clone, Debug)]
pub struct Statement {
    /// Including the semicolon.
    pub span: Span,
    /// The kind of statement.
    pub kind: StatementKind,
}

/// The kind of a [`Statement`].
#[derive(Clone, Debug)]
pub enum StatementKind {
    /// A variable, constant or instance.
    Declaration(Box<Declaration>),
    /// `target = value;`, `target += value;`
    Assign {
        /// The operator of a compound assignment.
        op: Option<BinaryOp>,
        /// The destination.
        target: Expr,
        /// The value.
        value: Expr,
    },
    /// `f(args);`: the expression is an [`ExprKind::Call`](super::ExprKind::Call).
    Call(Expr),
    /// `;`
    Empty,
    /// `{ ... }`
    Block(Block),
    /// `if (condition) then else if (condition) then ... else otherwise`, one node of any length.
    If {
        /// One or more.
        arms: Vec<IfArm>,
        /// Executed if no condition is true.
        otherwise: Option<Box<Statement>>,
    },
    /// `switch (subject) { ... }`
    Switch {
        /// The subject: `table.apply().action_run` or a value.
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
        /// The condition.
        condition: Expr,
        /// Assignments and calls.
        update: Vec<Statement>,
        /// The body.
        body: Box<Statement>,
    },
    /// `for (variable in collection) body`
    ForIn {
        /// `@unroll for ...`
        annotations: Vec<Annotation>,
        /// The loop variable: a [`DeclarationKind::Variable`](super::DeclarationKind::Variable) without initial value.
        variable: Box<Declaration>,
        /// A stack, list, tuple or [`ExprKind::Range`](super::ExprKind::Range).
        collection: Expr,
        /// The body.
        body: Box<Statement>,
    },
    /// A statement that could not be parsed. A diagnostic was reported.
    Error,
}

/// `if (condition) then`
#[derive(Clone, Debug)]
pub struct IfArm {
    /// From `if`.
    pub span: Span,
    /// The condition.
    pub condition: Box<Expr>,
    /// Executed if it is true.
    pub then: Box<Statement>,
}

/// `label: { ... }`
#[derive(Clone, Debug)]
pub struct SwitchCase {
    /// Label and block.
    pub span: Span,
    /// An action's name, a value, or [`ExprKind::Default`](super::ExprKind::Default).
    pub label: Expr,
    /// The body. `None` falls through to the next case.
    pub body: Option<Block>,
}

/// The transition of a state.
#[derive(Clone, Debug)]
pub enum Transition {
    /// `transition next;`
    Direct(Path),
    /// `transition select(...) { ... }`
    Select {
        /// From `select`.
        span: Span,
        /// The matched expressions, in order.
        subjects: Vec<Expr>,
        /// In order.
        cases: Vec<SelectCase>,
    },
}

/// `keyset: next;`
#[derive(Clone, Debug)]
pub struct SelectCase {
    /// Including the semicolon.
    pub span: Span,
    /// One keyset per subject, or a single `default`, `_` or value set for all subjects.
    pub keys: Vec<Expr>,
    /// The next state.
    pub next: Path,
}
