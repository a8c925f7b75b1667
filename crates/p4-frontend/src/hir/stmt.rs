//! Checked statements.

use super::Expr;
use crate::ast::DeclId;
use crate::span::Span;

/// A checked statement.
#[derive(Clone, Debug)]
pub struct Stmt {
    /// The operation.
    pub kind: StmtKind,
    /// Its location.
    pub span: Span,
}

/// The operation of a [`Stmt`].
#[derive(Clone, Debug)]
pub enum StmtKind {
    /// Declares a variable: initialises it, or makes its headers invalid.
    Declare(DeclId, Option<Expr>),
    /// Instantiates something.
    Instantiate(DeclId),
    /// Stores a value.
    Assign {
        /// An assignable expression.
        target: Expr,
        /// A value of the same type.
        value: Expr,
    },
    /// Evaluates a call.
    Call(Expr),
    /// `{ … }`
    Block(Vec<Stmt>),
    /// `if` with all of its `else if`s.
    If {
        /// One or more, in order.
        arms: Vec<IfArm>,
        /// Executed if no condition is true.
        otherwise: Vec<Stmt>,
    },
    /// `switch` on a value.
    Switch {
        /// The value.
        on: Expr,
        /// Labels that share a body.
        cases: Vec<(Vec<Expr>, Vec<Stmt>)>,
        /// Executed if no label matches.
        default: Vec<Stmt>,
    },
    /// `switch (table.apply().action_run)`
    SwitchAction {
        /// The table.
        table: DeclId,
        /// Actions that share a body.
        cases: Vec<(Vec<DeclId>, Vec<Stmt>)>,
        /// Executed for the other actions.
        default: Vec<Stmt>,
    },
    /// `for (init; condition; update)`
    For {
        /// Executed first.
        init: Vec<Stmt>,
        /// Of type `bool`.
        condition: Expr,
        /// Executed after the body.
        update: Vec<Stmt>,
        /// The body.
        body: Vec<Stmt>,
    },
    /// `for (variable in collection)`
    ForIn {
        /// The loop variable.
        variable: Expr,
        /// An array, tuple, list or [`ExprKind::Range`](super::ExprKind::Range).
        collection: Expr,
        /// The body.
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
    /// Executed if it is true.
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
    /// Its statements.
    pub body: Vec<Stmt>,
    /// Its transition.
    pub transition: Transition,
    /// The location of its name.
    pub span: Span,
}

/// The transition of a state.
#[derive(Clone, Debug)]
pub enum Transition {
    /// To one state.
    Goto(Target),
    /// To the first case that matches.
    Select {
        /// The values to match.
        keys: Vec<Expr>,
        /// In order.
        cases: Vec<Case>,
    },
}

/// A case of a `select`.
#[derive(Clone, Debug)]
pub struct Case {
    /// One set for each key, or a single value set or `Any` for all keys.
    pub sets: Vec<Expr>,
    /// The target.
    pub to: Target,
    /// Its location.
    pub span: Span,
}

/// A state, or `accept` or `reject`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// A state of the same parser.
    State(DeclId),
    /// `accept`
    Accept,
    /// `reject`
    Reject,
}
