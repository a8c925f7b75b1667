//! Expressions.

use num_bigint::BigInt;

use super::{ExprId, Ident, Path, Symbol, Type};
use crate::span::Span;

/// An expression.
#[derive(Clone, Debug)]
pub struct Expr {
    /// Its number.
    pub id: ExprId,
    /// Its location, including surrounding parentheses.
    pub span: Span,
    /// The kind of expression.
    pub kind: ExprKind,
}

/// The kind of an [`Expr`].
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
    /// A name. The checker resolves it.
    Name(Path),
    /// A type, where only a type is valid: `error` in `error.NoMatch`, `Reg<bit<8>>` in `Reg<bit<8>>.apply()`.
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
        /// The index.
        index: Box<Expr>,
    },
    /// `base[high:low]`
    Slice {
        /// The sliced value.
        base: Box<Expr>,
        /// Most significant bit, inclusive.
        high: Box<Expr>,
        /// Least significant bit, inclusive.
        low: Box<Expr>,
    },
    /// `base[low +: width]`
    WidthSlice {
        /// The sliced value.
        base: Box<Expr>,
        /// Least significant bit.
        low: Box<Expr>,
        /// How many bits.
        width: Box<Expr>,
    },
    /// `callee(args)`, `callee<types>(args)`: a call of a function, method, action, table or constructor.
    Call {
        /// The callee.
        callee: Box<Expr>,
        /// Type arguments. Empty if none are written.
        type_args: Vec<Type>,
        /// Arguments.
        args: Vec<Argument>,
    },
    /// `op operand`
    Unary {
        /// The operator.
        op: UnaryOp,
        /// The operand.
        operand: Box<Expr>,
    },
    /// `first op right op right ...`: each operator applies to everything before it. A chain of any length is one node,
    /// so that no tree walk recurses along it.
    Binary {
        /// Leftmost operand.
        first: Box<Expr>,
        /// Operators with their right operands; one or more.
        rest: Vec<Operation>,
    },
    /// `condition ? then : condition ? then : ... : otherwise`, one node of any length.
    Conditional {
        /// Conditions with their values, in order; one or more.
        arms: Vec<(Expr, Expr)>,
        /// The value if no condition is true.
        otherwise: Box<Expr>,
    },
    /// `(type) operand`
    Cast {
        /// The target type.
        ty: Type,
        /// The operand.
        operand: Box<Expr>,
    },
    /// `{ a, b }`, also `{}`
    List(ListExpr),
    /// `{ a = 1, b = 2 }`
    Struct(StructExpr),
    /// `{#}`: the invalid header or header union
    Invalid,
    /// `...` as a complete initializer: the default value of every field
    Defaults,
    /// `left &&& right`
    Mask {
        /// Value.
        value: Box<Expr>,
        /// The bits that are compared.
        mask: Box<Expr>,
    },
    /// `low .. high`, both inclusive
    Range {
        /// The first value.
        low: Box<Expr>,
        /// The last value.
        high: Box<Expr>,
    },
    /// `default` as a label or keyset
    Default,
    /// `_` as an argument or keyset
    DontCare,
    /// An expression that could not be parsed. A diagnostic was reported.
    Error,
}

/// An operator of a chain, and its right operand.
#[derive(Clone, Debug)]
pub struct Operation {
    /// The operator.
    pub op: BinaryOp,
    /// Right operand.
    pub right: Expr,
}

/// `{ a, b, ... }`
#[derive(Clone, Debug)]
pub struct ListExpr {
    /// Elements in order.
    pub elements: Vec<Expr>,
    /// The span of a trailing `...`, if present: the remaining elements have default values.
    pub rest: Option<Span>,
}

/// `{ a = 1, b = 2, ... }`
#[derive(Clone, Debug)]
pub struct StructExpr {
    /// Fields in source order.
    pub fields: Vec<FieldValue>,
    /// The span of a trailing `...`, if present: the remaining fields have default values.
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

/// An argument of a call. `_` is [`ExprKind::DontCare`].
#[derive(Clone, Debug)]
pub struct Argument {
    /// Name and value.
    pub span: Span,
    /// The name of the parameter, if given: `f(x = 1)`.
    pub name: Option<Ident>,
    /// The value passed.
    pub value: Expr,
}

/// An integer literal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IntLiteral {
    /// The value as written, before it is truncated to the width.
    pub value: BigInt,
    /// Width and signedness, if given (`8w`, `8s`).
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

/// Binary operators, including those of compound assignments.
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
    /// The operator in source text.
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
    /// The operator in source text.
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
