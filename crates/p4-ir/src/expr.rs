//! Places in storage, and expressions. Expressions have no side effects and cannot fail.

use crate::{Scalar, VariableId};
use num_bigint::BigUint;

/// A variable or a part of it: a header, a field, an element of a stack.
#[derive(Clone, Debug, PartialEq)]
pub struct Location {
    /// The variable.
    pub variable: VariableId,
    /// The path to the part, from the variable inwards. Empty for the whole variable.
    pub path: Vec<Step>,
}

/// One step from a value to a part of it.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// A member of a struct, header, union or tuple, by its index.
    Member(u32),
    /// An element of a stack, an array, or a tuple whose members have one type, by its index, an unsigned value.
    Element(Expr),
    /// The validity of a header, a `bool`.
    Valid,
    /// The `nextIndex` of a stack, a `bit<32>`.
    NextIndex,
}

/// A value in storage that can be read and written.
#[derive(Clone, Debug, PartialEq)]
pub struct Place {
    /// Its location.
    pub at: Location,
    /// The type of the whole value.
    pub ty: Scalar,
}

/// An expression and the type of its value.
#[derive(Clone, Debug, PartialEq)]
pub struct Expr {
    /// The operation.
    pub kind: ExprKind,
    /// The type of its value.
    pub ty: Scalar,
}

/// The operation of an expression.
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
        /// The most significant bit of the slice.
        hi: u32,
        /// The least significant bit of the slice.
        lo: u32,
    },
    /// Conversion to the expression's type: truncation, zero extension of `bit`, or sign extension of `int`.
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
    /// `++`: the left operand is the more significant one. The widths add up.
    Concat,
}

impl Location {
    /// A whole variable.
    pub const fn variable(variable: VariableId) -> Self {
        Location {
            variable,
            path: Vec::new(),
        }
    }

    /// Member `index` of this location.
    pub fn member(&self, index: u32) -> Self {
        self.step(Step::Member(index))
    }

    /// The element of this location at an index that is computed at run time.
    pub fn element(&self, index: Expr) -> Self {
        self.step(Step::Element(index))
    }

    /// Element `index` of this location.
    pub fn element_at(&self, index: u32) -> Self {
        self.element(Expr::constant(index, Scalar::Bit(32)))
    }

    /// The validity of the header at this location.
    pub fn valid(&self) -> Self {
        self.step(Step::Valid)
    }

    /// The `nextIndex` of the stack at this location.
    pub fn next_index(&self) -> Self {
        self.step(Step::NextIndex)
    }

    fn step(&self, step: Step) -> Self {
        let mut to = self.clone();
        to.path.push(step);
        to
    }

    /// Whether it is the same place for every packet.
    pub fn is_fixed(&self) -> bool {
        self.path.iter().all(Step::is_fixed)
    }

    /// Whether it may overlap `other`.
    pub fn overlaps(&self, other: &Location) -> bool {
        let mut steps = self.path.iter().zip(&other.path);
        self.variable == other.variable && steps.all(|(a, b)| a.may_be(b))
    }
}

impl Step {
    /// Whether it leads to the same part for every packet.
    pub fn is_fixed(&self) -> bool {
        match self {
            Step::Element(index) => matches!(index.kind, ExprKind::Const(_)),
            Step::Member(_) | Step::Valid | Step::NextIndex => true,
        }
    }

    /// Whether two steps from the same value may lead to the same part.
    fn may_be(&self, other: &Step) -> bool {
        match (self, other) {
            (Step::Element(a), Step::Element(b)) => match (&a.kind, &b.kind) {
                (ExprKind::Const(a), ExprKind::Const(b)) => a == b,
                _ => true,
            },
            (a, b) => a == b,
        }
    }
}

impl Place {
    /// A whole variable of one value.
    pub const fn variable(variable: VariableId, ty: Scalar) -> Self {
        Place {
            at: Location::variable(variable),
            ty,
        }
    }

    /// The validity of a header.
    pub fn validity(header: &Location) -> Self {
        Place {
            at: header.valid(),
            ty: Scalar::Bool,
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
