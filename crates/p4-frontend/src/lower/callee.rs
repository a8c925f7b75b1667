//! Callees: their parameters, and the results of calls.

use crate::ast::Direction;
use crate::hir::Ty;
use p4_ir::{ActionId, FunctionId, Location};

/// The result of a call.
#[derive(Clone, Debug)]
pub(super) enum Given {
    Nothing,
    Scalar(p4_ir::Expr),
    At(Location),
}

/// A parameter in storage.
#[derive(Clone, Debug)]
pub(super) struct Slot {
    pub at: Location,
    pub ty: Ty,
    pub direction: Direction,
    /// Whether it is the argument's own place, so that nothing is copied.
    pub bound: bool,
}

impl Slot {
    /// Whether the parameter is copied back after the call.
    pub fn is_written(&self) -> bool {
        !self.bound && self.direction.is_written()
    }
}

/// A function with certain type arguments.
#[derive(Clone, Debug)]
pub(super) struct FunctionInstance {
    pub id: FunctionId,
    pub slots: Vec<Option<Slot>>,
    pub result: Option<(Location, Ty)>,
}

/// An action of an instance.
#[derive(Clone, Debug)]
pub(super) struct ActionInstance {
    pub id: ActionId,
    pub function: FunctionId,
    pub slots: Vec<Slot>,
    /// Whether it may return with [`exiting`](super::Lowerer::exiting) set.
    pub soft: bool,
}
