//! Types as written.

use super::{DeclId, Expr, Ident, Path, TypeId};
use crate::span::Span;

/// A type where it is written.
#[derive(Clone, Debug)]
pub struct Type {
    /// Its number.
    pub id: TypeId,
    /// Where it is written.
    pub span: Span,
    /// What it is.
    pub kind: TypeKind,
}

/// What a [`Type`] is.
#[derive(Clone, Debug)]
pub enum TypeKind {
    /// `bool`
    Bool,
    /// `error`
    Error,
    /// `match_kind`
    MatchKind,
    /// `string`
    String,
    /// `void`, as a result only
    Void,
    /// `_`, as a type argument only: to be inferred
    DontCare,
    /// `int`: any size, compile time only
    Int,
    /// `bit<width>`; `None` is `bit`, one bit
    Bit(Option<Box<Expr>>),
    /// `int<width>`
    Signed(Box<Expr>),
    /// `varbit<max_width>`
    Varbit(Box<Expr>),
    /// `Name` or `Name<arguments>`
    Named {
        /// The name.
        path: Path,
        /// Type arguments; empty when none are written.
        args: Vec<Type>,
    },
    /// `element[size]`
    Stack {
        /// The header or header union.
        element: Box<Type>,
        /// How many.
        size: Box<Expr>,
    },
    /// `tuple<...>`
    Tuple(Vec<Type>),
    /// `list<element>`
    List(Box<Type>),
}

/// `T` in the angle brackets of a declaration.
#[derive(Clone, Debug)]
pub struct TypeParameter {
    /// Its number.
    pub id: DeclId,
    /// Its name.
    pub name: Ident,
}
