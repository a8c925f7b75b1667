//! Places in storage, and expressions. Expressions have no side effects and cannot fail.

use crate::Scalar;
use num_bigint::BigUint;

/// The first word of a variable, header or field, found at run time where it is an element of a stack or array.
#[derive(Clone, Debug, PartialEq)]
pub struct Location {
    /// Word offset into storage, before indices.
    pub base: u32,
    /// Indices into stacks and arrays, outermost first; empty for nearly all locations.
    pub indices: Vec<Index>,
}

/// One run-time index: adds `value · stride` words if `value < len`, else the location is out of range.
#[derive(Clone, Debug, PartialEq)]
pub struct Index {
    /// The index, an unsigned value.
    pub value: Expr,
    /// Words between elements.
    pub stride: u32,
    /// Number of elements.
    pub len: u32,
}

/// A value in storage that can be read and written.
#[derive(Clone, Debug, PartialEq)]
pub struct Place {
    /// Where its first word is.
    pub at: Location,
    /// The type of the whole value.
    pub ty: Scalar,
}

/// An expression and the type of its value.
#[derive(Clone, Debug, PartialEq)]
pub struct Expr {
    /// What it computes.
    pub kind: ExprKind,
    /// The type of its value.
    pub ty: Scalar,
}

/// What an expression computes.
#[derive(Clone, Debug, PartialEq)]
pub enum ExprKind {
    /// A constant: the value's bits as an unsigned number below 2^W.
    Const(BigUint),
    /// The value at a place.
    Load(Place),
    /// An operator on one value.
    Unary(UnaryOp, Box<Expr>),
    /// An operator on two values.
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    /// Bits `hi..=lo` of a value.
    Slice {
        /// The value.
        of: Box<Expr>,
        /// Most significant bit taken.
        hi: u32,
        /// Least significant bit taken.
        lo: u32,
    },
    /// Conversion to the expression's type: truncates, or extends by zero from `bit`, by sign from `int`.
    Cast(Box<Expr>),
    /// `cond ? yes : no`.
    Mux(Box<Expr>, Box<Expr>, Box<Expr>),
    /// `packet_in.length()`: octets of the packet, as `bit<32>`. Parsers only.
    PacketLength,
}

/// Operators on one value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnaryOp {
    /// `-`, modulo 2^W.
    Neg,
    /// `~`.
    BitNot,
    /// `!`.
    Not,
}

/// Operators on two values. Signedness is that of the left operand's type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum BinaryOp {
    Add,
    Sub,
    Mul,
    /// Unsigned.
    Div,
    /// Unsigned remainder.
    Mod,
    /// `|+|`.
    SatAdd,
    /// `|-|`.
    SatSub,
    BitAnd,
    BitOr,
    BitXor,
    /// The right operand is unsigned, of any width.
    Shl,
    /// Arithmetic on `int<W>`, logical on `bit<W>`; the right operand is unsigned, of any width.
    Shr,
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    And,
    Or,
    /// `++`: the left operand is the more significant; widths add up.
    Concat,
}

impl Location {
    /// A location known at compile time.
    pub const fn fixed(base: u32) -> Self {
        Location {
            base,
            indices: Vec::new(),
        }
    }

    /// The same element, `words` further on.
    pub fn offset(&self, words: u32) -> Self {
        Location {
            base: self.base + words,
            indices: self.indices.clone(),
        }
    }
}

impl Place {
    /// A place known at compile time.
    pub const fn fixed(base: u32, ty: Scalar) -> Self {
        Place {
            at: Location::fixed(base),
            ty,
        }
    }
}

impl Expr {
    /// A constant.
    pub fn constant(value: impl Into<BigUint>, ty: Scalar) -> Self {
        Expr {
            kind: ExprKind::Const(value.into()),
            ty,
        }
    }

    /// The value at `place`.
    pub fn load(place: Place) -> Self {
        let ty = place.ty;
        Expr {
            kind: ExprKind::Load(place),
            ty,
        }
    }
}
