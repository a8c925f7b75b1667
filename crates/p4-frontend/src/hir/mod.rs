//! A checked program: every name resolved, every expression typed, every conversion written out.
//!
//! What the checker leaves and lowering reads. Still generic and uninstantiated: types may hold type parameters,
//! expressions may hold parameters of constructors.

mod decl;
mod expr;
mod stmt;
mod ty;

pub use decl::*;
pub use expr::*;
pub use stmt::*;
pub use ty::*;
