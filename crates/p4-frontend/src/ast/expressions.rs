//! Expressions.

use num_bigint::BigInt;

use super::{ExprId, Ident, Path, Symbol, Type};
use crate::span::Span;

/// An expression.
#[derive(Clone, Debug)]
pub struct Expr {
    /// Its number.
    pub id: ExprId,
    /// Where it is written, with the parentheses around it.
    pub span: Span,
    /// What it is.
    pub kind: ExprKind,
}

/// What an [`Expr`] is.
#[derive(Clone, Debug)]
pub enum ExprKind {
    /// `12`, `8w0xff`, `4s1`
    Int(IntLiteral),
    /// `true`, `false`
    Bool(bool),
    /// A string, with escapes resolved.
    String(Symbol),
    /// `this`
    This,
    /// A name; of what is for the checker to find out.
    Name(Path),
    /// A type where only a type can stand: `error` in `error.NoMatch`, `Reg<bit<8>>` in `Reg<bit<8>>.apply()`.
    Type(Type),
    /// `base.name`
    Member {
        /// Left of the dot.
        base: Box<Expr>,
        /// Right of the dot.
        name: Ident,
    },
    /// `base[index]`
    Index {
        /// A stack, tuple or list.
        base: Box<Expr>,
        /// Which element.
        index: Box<Expr>,
    },
    /// `base[high:low]`
    Slice {
        /// What is sliced.
        base: Box<Expr>,
        /// Most significant bit, inclusive.
        high: Box<Expr>,
        /// Least significant bit, inclusive.
        low: Box<Expr>,
    },
    /// `base[low +: width]`
    WidthSlice {
        /// What is sliced.
        base: Box<Expr>,
        /// Least significant bit.
        low: Box<Expr>,
        /// How many bits.
        width: Box<Expr>,
    },
    /// `callee(args)`, `callee<types>(args)`: a call of a function, method, action or table, or a constructor's.
    Call {
        /// What is called.
        callee: Box<Expr>,
        /// Type arguments; empty when none are written.
        type_args: Vec<Type>,
        /// Arguments.
        args: Vec<Argument>,
    },
    /// `op operand`
    Unary {
        /// Which.
        op: UnaryOp,
        /// On what.
        operand: Box<Expr>,
    },
    /// `first op right op right ...`: each operator applies to everything before it. A chain is one node, however
    /// long, so that no walk over the tree recurses along it.
    Binary {
        /// Leftmost operand.
        first: Box<Expr>,
        /// Operators with their right operands; one or more.
        rest: Vec<Operation>,
    },
    /// `condition ? then : condition ? then : ... : otherwise`, one node however long.
    Conditional {
        /// Conditions with their values, in order; one or more.
        arms: Vec<(Expr, Expr)>,
        /// When no condition holds.
        otherwise: Box<Expr>,
    },
    /// `(type) operand`
    Cast {
        /// To what.
        ty: Type,
        /// What.
        operand: Box<Expr>,
    },
    /// `{ a, b }`, also `{}`
    List(ListExpr),
    /// `{ a = 1, b = 2 }`
    Struct(StructExpr),
    /// `{#}`: the invalid header or header union
    Invalid,
    /// `...` as a whole initializer: every field's default value
    Defaults,
    /// `left &&& right`
    Mask {
        /// Value.
        value: Box<Expr>,
        /// Bits that count.
        mask: Box<Expr>,
    },
    /// `low .. high`, both inclusive
    Range {
        /// First.
        low: Box<Expr>,
        /// Last.
        high: Box<Expr>,
    },
    /// `default` as a label or keyset
    Default,
    /// `_` as an argument or keyset
    DontCare,
    /// What could not be parsed. A diagnostic has been given.
    Error,
}

/// An operator of a chain, and its right operand.
#[derive(Clone, Debug)]
pub struct Operation {
    /// Which.
    pub op: BinaryOp,
    /// Right operand.
    pub right: Expr,
}

/// `{ a, b, ... }`
#[derive(Clone, Debug)]
pub struct ListExpr {
    /// Elements in order.
    pub elements: Vec<Expr>,
    /// Span of the `...` that ends the list, when there: the rest has default values.
    pub rest: Option<Span>,
}

/// `{ a = 1, b = 2, ... }`
#[derive(Clone, Debug)]
pub struct StructExpr {
    /// Fields in the order written.
    pub fields: Vec<FieldValue>,
    /// Span of the `...` that ends the list, when there: the rest has default values.
    pub rest: Option<Span>,
}

/// `name = value` in a struct expression or structured annotation.
#[derive(Clone, Debug)]
pub struct FieldValue {
    /// Field or key.
    pub name: Ident,
    /// Value.
    pub value: Expr,
}

/// An argument of a call; `_` is [`ExprKind::DontCare`].
#[derive(Clone, Debug)]
pub struct Argument {
    /// Name and value.
    pub span: Span,
    /// The parameter, when named: `f(x = 1)`.
    pub name: Option<Ident>,
    /// What is passed.
    pub value: Expr,
}

/// An integer literal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IntLiteral {
    /// The value as written, before it is fitted to the width.
    pub value: BigInt,
    /// Width and signedness, when written (`8w`, `8s`).
    pub width: Option<LiteralWidth>,
    /// 2, 8, 10 or 16.
    pub radix: u32,
}

/// The prefix of an integer literal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LiteralWidth {
    /// Bits.
    pub bits: u32,
    /// `s` rather than `w`.
    pub signed: bool,
}

/// Operators on one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UnaryOp {
    /// `!`
    Not,
    /// `~`
    Complement,
    /// `-`
    Minus,
    /// `+`
    Plus,
}

/// Operators on two operands, also those of compound assignments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BinaryOp {
    /// `*`
    Mul,
    /// `/`
    Div,
    /// `%`
    Mod,
    /// `+`
    Add,
    /// `-`
    Sub,
    /// `|+|`
    SatAdd,
    /// `|-|`
    SatSub,
    /// `<<`
    Shl,
    /// `>>`
    Shr,
    /// `<=`
    Le,
    /// `>=`
    Ge,
    /// `<`
    Lt,
    /// `>`
    Gt,
    /// `==`
    Eq,
    /// `!=`
    Ne,
    /// `&`
    BitAnd,
    /// `^`
    BitXor,
    /// `|`
    BitOr,
    /// `++`
    Concat,
    /// `&&`
    And,
    /// `||`
    Or,
}

impl UnaryOp {
    /// As written.
    pub fn symbol(self) -> &'static str {
        match self {
            UnaryOp::Not => "!",
            UnaryOp::Complement => "~",
            UnaryOp::Minus => "-",
            UnaryOp::Plus => "+",
        }
    }
}

impl BinaryOp {
    /// As written.
    pub fn symbol(self) -> &'static str {
        match self {
            BinaryOp::Mul => "*",
            BinaryOp::Div => "/",
            BinaryOp::Mod => "%",
            BinaryOp::Add => "+",
            BinaryOp::Sub => "-",
            BinaryOp::SatAdd => "|+|",
            BinaryOp::SatSub => "|-|",
            BinaryOp::Shl => "<<",
            BinaryOp::Shr => ">>",
            BinaryOp::Le => "<=",
            BinaryOp::Ge => ">=",
            BinaryOp::Lt => "<",
            BinaryOp::Gt => ">",
            BinaryOp::Eq => "==",
            BinaryOp::Ne => "!=",
            BinaryOp::BitAnd => "&",
            BinaryOp::BitXor => "^",
            BinaryOp::BitOr => "|",
            BinaryOp::Concat => "++",
            BinaryOp::And => "&&",
            BinaryOp::Or => "||",
        }
    }
}
