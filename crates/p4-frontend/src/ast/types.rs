//! Types in the source.

use super::{DeclId, Expr, Ident, Path, TypeId};
use crate::span::Span;

/// An occurrence of a type in the source.
#[derive(Clone, Debug)]
pub struct Type {
    /// Its number.
    pub id: TypeId,
    /// Its location.
    pub span: Span,
    /// The kind of type.
    pub kind: TypeKind,
}

/// The kind of a [`Type`].
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
    /// `_`, only as a type argument: to be inferred
    DontCare,
    /// `int`: unbounded, only at compile time
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
        /// Type arguments. Empty if none are written.
        args: Vec<Type>,
    },
    /// `element[size]`
    Stack {
        /// The header or header union.
        element: Box<Type>,
        /// The number of elements.
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
