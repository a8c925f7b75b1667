//! Checked statements.

use super::Expr;
use crate::ast::DeclId;
use crate::span::Span;

/// A checked statement.
#[derive(Clone, Debug)]
pub struct Stmt {
    /// What it does.
    pub kind: StmtKind,
    /// Where it is written.
    pub span: Span,
}

/// What a [`Stmt`] does.
#[derive(Clone, Debug)]
pub enum StmtKind {
    /// Declares a variable: sets it, or makes its headers invalid.
    Declare(DeclId, Option<Expr>),
    /// Instantiates something.
    Instantiate(DeclId),
    /// Stores a value.
    Assign {
        /// A place that can be written.
        target: Expr,
        /// Of the same type.
        value: Expr,
    },
    /// Evaluates a call.
    Call(Expr),
    /// `{ … }`
    Block(Vec<Stmt>),
    /// `if`, with every `else if` that follows.
    If {
        /// One or more, in order.
        arms: Vec<IfArm>,
        /// When no condition holds.
        otherwise: Vec<Stmt>,
    },
    /// `switch` on a value.
    Switch {
        /// The value.
        on: Expr,
        /// Labels that share a body.
        cases: Vec<(Vec<Expr>, Vec<Stmt>)>,
        /// When no label is the value.
        default: Vec<Stmt>,
    },
    /// `switch (table.apply().action_run)`
    SwitchAction {
        /// The table.
        table: DeclId,
        /// Actions that share a body.
        cases: Vec<(Vec<DeclId>, Vec<Stmt>)>,
        /// For the other actions.
        default: Vec<Stmt>,
    },
    /// `for (init; condition; update)`
    For {
        /// Run first.
        init: Vec<Stmt>,
        /// Of type `bool`.
        condition: Expr,
        /// Run after the body.
        update: Vec<Stmt>,
        /// What is repeated.
        body: Vec<Stmt>,
    },
    /// `for (variable in collection)`
    ForIn {
        /// What takes each value.
        variable: Expr,
        /// An array, tuple, list or [`ExprKind::Range`](super::ExprKind::Range).
        collection: Expr,
        /// What is repeated.
        body: Vec<Stmt>,
    },
    /// `return`
    Return(Option<Expr>),
    /// `exit`
    Exit,
    /// `break`
    Break,
    /// `continue`
    Continue,
}

/// `if (condition) then`
#[derive(Clone, Debug)]
pub struct IfArm {
    /// Of type `bool`.
    pub condition: Expr,
    /// When true.
    pub then: Vec<Stmt>,
    /// From `if`.
    pub span: Span,
}

/// A parser's state.
#[derive(Clone, Debug)]
pub struct State {
    /// Its declaration.
    pub id: DeclId,
    /// Its name.
    pub name: crate::ast::Symbol,
    /// What it does.
    pub body: Vec<Stmt>,
    /// Where it goes.
    pub transition: Transition,
    /// Where its name is written.
    pub span: Span,
}

/// Where a state goes.
#[derive(Clone, Debug)]
pub enum Transition {
    /// To one state.
    Goto(Target),
    /// To the first case that matches.
    Select {
        /// What is looked at.
        keys: Vec<Expr>,
        /// In order.
        cases: Vec<Case>,
    },
}

/// One line of a `select`.
#[derive(Clone, Debug)]
pub struct Case {
    /// One set for each key; or one that is a value set, or `Any`, for all.
    pub sets: Vec<Expr>,
    /// Where to.
    pub to: Target,
    /// Where it is written.
    pub span: Span,
}

/// A state, or one of the two ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// A state of the same parser.
    State(DeclId),
    /// `accept`
    Accept,
    /// `reject`
    Reject,
}
