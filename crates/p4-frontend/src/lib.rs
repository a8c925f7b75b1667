//! P4_16 text to p4-ir: preprocess, parse, resolve, check, lower.

pub mod ast;
pub mod diagnostic;
pub mod span;
