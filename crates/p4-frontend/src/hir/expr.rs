//! Expressions with types, resolved names, explicit conversions and folded constants.

use super::Ty;
use crate::ast::{BinaryOp, DeclId, Symbol, UnaryOp};
use crate::span::Span;
use num_bigint::BigInt;

/// A checked expression.
#[derive(Clone, Debug)]
pub struct Expr {
    /// The kind of expression.
    pub kind: ExprKind,
    /// Its type.
    pub ty: Ty,
    /// Its location.
    pub span: Span,
}

/// A scalar known at compile time.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Value {
    /// A value of `int`, `bit<W>`, `int<W>` or a serialisable enum, within the bounds of the type.
    Int(BigInt),
    /// Of `bool`.
    Bool(bool),
    /// Of `string`.
    String(Symbol),
    /// The index of a member of an enum without underlying type, of `error` or `match_kind`.
    Symbol(u32),
}

/// The kind of an [`Expr`].
#[derive(Clone, Debug)]
pub enum ExprKind {
    /// An error was found and reported.
    Error,
    /// A constant scalar.
    Const(Value),
    /// A variable or run-time parameter.
    Var(DeclId),
    /// A constructor's parameter that is a value.
    ConstructorParam(DeclId),
    /// An instance, or a parameter that is one: extern, parser, control, package, value set.
    Object(DeclId),
    /// A member of a struct, header or union, by index.
    Field(Box<Expr>, usize),
    /// A member of a tuple, by index.
    Element(Box<Expr>, usize),
    /// An element of a stack or another array.
    Index(Box<Expr>, Box<Expr>),
    /// `stack.next`
    Next(Box<Expr>),
    /// `stack.last`
    Last(Box<Expr>),
    /// `stack.lastIndex`
    LastIndex(Box<Expr>),
    /// Bits `hi..=lo`.
    Slice {
        /// The value.
        of: Box<Expr>,
        /// The most significant bit.
        hi: u32,
        /// The least significant bit.
        lo: u32,
    },
    /// An operator on one value.
    Unary(UnaryOp, Box<Expr>),
    /// The leftmost operand and one or more operators, each applied to everything before it. The types of an operator's
    /// operands agree.
    Binary(Box<Expr>, Vec<Operation>),
    /// `condition ? then : condition ? then : ... : otherwise`. All values have the same type.
    Conditional(Vec<(Expr, Expr)>, Box<Expr>),
    /// Conversion to the expression's type.
    Cast(Box<Expr>),
    /// All members of a struct, header, tuple, stack or list, in order.
    List(Vec<Expr>),
    /// The invalid header or union.
    Invalid,
    /// The default value of the type.
    Defaults,
    /// `value &&& mask`
    Mask(Box<Expr>, Box<Expr>),
    /// `low .. high`
    Range(Box<Expr>, Box<Expr>),
    /// `_` or `default`
    Any,
    /// In a compound assignment to a place that requires a call: the current value of the place.
    Target,
    /// `t.apply().hit`, or `.miss` when negated.
    TableHit {
        /// The table.
        table: DeclId,
        /// `.miss`
        miss: bool,
    },
    /// A call.
    Call(Box<Call>),
}

/// An operator of a chain.
#[derive(Clone, Debug)]
pub struct Operation {
    /// The operator.
    pub op: BinaryOp,
    /// Right operand.
    pub right: Expr,
    /// Type of the result.
    pub ty: Ty,
}

/// A call, with its arguments in the order of the parameters.
#[derive(Clone, Debug)]
pub struct Call {
    /// The callee.
    pub callee: Callee,
    /// Explicit or inferred, one for each type parameter.
    pub type_args: Vec<Ty>,
    /// One for each parameter. `None` for an omitted optional one.
    pub args: Vec<Option<Expr>>,
}

/// The callee of a [`Call`].
#[derive(Clone, Debug)]
pub enum Callee {
    /// A function with a body.
    Function(DeclId),
    /// A function of the architecture.
    ExternFunction(DeclId),
    /// A method of an extern object.
    Method {
        /// The object.
        object: Expr,
        /// The method's declaration.
        method: DeclId,
    },
    /// An action, directly.
    Action(DeclId),
    /// `table.apply()`
    Table(DeclId),
    /// `instance.apply(…)` of a parser or control.
    Instance(Expr),
    /// `Type.apply(…)` of a parser or control without an instance's name.
    Anonymous(Ty),
    /// `header.setValid()`, `header.setInvalid()`
    SetValid(Expr, bool),
    /// `header.isValid()`
    IsValid(Expr),
    /// `stack.push_front(n)`
    PushFront(Expr, u32),
    /// `stack.pop_front(n)`
    PopFront(Expr, u32),
    /// A constructor. The type of the expression is the instantiated type.
    Constructor,
}

impl Expr {
    /// A constant.
    pub fn constant(value: Value, ty: Ty, span: Span) -> Self {
        Expr {
            kind: ExprKind::Const(value),
            ty,
            span,
        }
    }

    /// An integer constant.
    pub fn int(value: impl Into<BigInt>, ty: Ty, span: Span) -> Self {
        Expr::constant(Value::Int(value.into()), ty, span)
    }

    /// A placeholder for an expression with an error.
    pub fn error(span: Span) -> Self {
        Expr {
            kind: ExprKind::Error,
            ty: Ty::Error,
            span,
        }
    }

    /// The constant, if it is one.
    pub fn value(&self) -> Option<&Value> {
        match &self.kind {
            ExprKind::Const(value) => Some(value),
            _ => None,
        }
    }

    /// The integer constant, if it is one.
    pub fn int_value(&self) -> Option<&BigInt> {
        match self.value()? {
            Value::Int(value) => Some(value),
            _ => None,
        }
    }

    /// The operands of a chain of operators or of `?:`, in order. Empty for other expressions.
    pub fn operands(&self) -> impl Iterator<Item = &Expr> {
        let (first, operations, arms, last) = match &self.kind {
            ExprKind::Binary(first, rest) => (Some(&**first), &rest[..], &[][..], None),
            ExprKind::Conditional(arms, last) => (None, &[][..], &arms[..], Some(&**last)),
            _ => (None, &[][..], &[][..], None),
        };
        let right = operations.iter().map(|operation| &operation.right);
        let arms = arms.iter().flat_map(|(condition, then)| [condition, then]);
        first.into_iter().chain(right).chain(arms).chain(last)
    }

    /// Whether its value is known at compile time, given the constructor's arguments.
    pub fn is_known(&self) -> bool {
        match &self.kind {
            ExprKind::Error
            | ExprKind::Const(_)
            | ExprKind::ConstructorParam(_)
            | ExprKind::Object(_)
            | ExprKind::Invalid
            | ExprKind::Defaults
            | ExprKind::Any => true,
            ExprKind::Field(of, _)
            | ExprKind::Element(of, _)
            | ExprKind::Slice { of, .. }
            | ExprKind::Unary(_, of)
            | ExprKind::Cast(of) => of.is_known(),
            ExprKind::Index(a, b) | ExprKind::Mask(a, b) | ExprKind::Range(a, b) => {
                a.is_known() && b.is_known()
            }
            ExprKind::Binary(..) | ExprKind::Conditional(..) => self.operands().all(Expr::is_known),
            ExprKind::List(members) => members.iter().all(Expr::is_known),
            ExprKind::Call(call) => matches!(call.callee, Callee::Constructor),
            _ => false,
        }
    }

    /// Whether its evaluation may have side effects or depends on its position: whether it contains a call.
    pub fn has_effects(&self) -> bool {
        match &self.kind {
            ExprKind::Call(call) => match &call.callee {
                Callee::IsValid(header) => header.has_effects(),
                _ => true,
            },
            ExprKind::TableHit { .. } => true,
            ExprKind::Field(of, _)
            | ExprKind::Element(of, _)
            | ExprKind::Next(of)
            | ExprKind::Last(of)
            | ExprKind::LastIndex(of)
            | ExprKind::Slice { of, .. }
            | ExprKind::Unary(_, of)
            | ExprKind::Cast(of) => of.has_effects(),
            ExprKind::Index(a, b) | ExprKind::Mask(a, b) | ExprKind::Range(a, b) => {
                a.has_effects() || b.has_effects()
            }
            ExprKind::Binary(..) | ExprKind::Conditional(..) => {
                self.operands().any(Expr::has_effects)
            }
            ExprKind::List(members) => members.iter().any(Expr::has_effects),
            _ => false,
        }
    }
}
