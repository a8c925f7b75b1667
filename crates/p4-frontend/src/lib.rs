//! P4_16 text to p4-ir: preprocess, parse, resolve, check, lower.

pub mod ast;
pub mod diagnostic;
pub mod lexer;
pub mod preprocess;
pub mod span;
pub mod suggest;
