//! A checked program: every name is resolved, every expression typed, every conversion explicit.
//!
//! The checker produces it, and lowering consumes it. It is still generic and uninstantiated: types may contain type
//! parameters, and expressions may contain constructor parameters.

mod decl;
mod expr;
mod stmt;
mod ty;

pub use decl::*;
pub use expr::*;
pub use stmt::*;
pub use ty::*;
