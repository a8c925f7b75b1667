//! Expressions: what they are in P4, and what they give in integers of any size.

use num_bigint::BigInt;

/// A type of P4.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ty {
    Bit(u32),
    Int(u32),
    Bool,
    /// `int`: known at compile time.
    Infinite,
}

/// An expression with its type.
#[derive(Clone, Debug)]
pub struct Node {
    pub ty: Ty,
    pub kind: Kind,
}

#[derive(Clone, Debug)]
pub enum Kind {
    /// A header field, a `bit<W>`.
    Field(usize),
    /// Of `bit<W>` or `int`.
    Literal(BigInt),
    /// `-`, `~`, `!`
    Unary(char, Box<Node>),
    Binary(Op, Box<Node>, Box<Node>),
    Slice(Box<Node>, u32, u32),
    Cast(Box<Node>),
    Conditional(Box<Node>, Box<Node>, Box<Node>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    Add,
    Sub,
    Mul,
    Div,
    Mod,
    SatAdd,
    SatSub,
    BitAnd,
    BitOr,
    BitXor,
    Shl,
    Shr,
    Concat,
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    And,
    Or,
}

impl Op {
    pub fn symbol(self) -> &'static str {
        match self {
            Op::Add => "+",
            Op::Sub => "-",
            Op::Mul => "*",
            Op::Div => "/",
            Op::Mod => "%",
            Op::SatAdd => "|+|",
            Op::SatSub => "|-|",
            Op::BitAnd => "&",
            Op::BitOr => "|",
            Op::BitXor => "^",
            Op::Shl => "<<",
            Op::Shr => ">>",
            Op::Concat => "++",
            Op::Eq => "==",
            Op::Ne => "!=",
            Op::Lt => "<",
            Op::Le => "<=",
            Op::Gt => ">",
            Op::Ge => ">=",
            Op::And => "&&",
            Op::Or => "||",
        }
    }
}

impl Node {
    /// The expression in P4, where fields read as `leaf` says.
    pub fn text(&self, leaf: &dyn Fn(usize) -> String) -> String {
        match &self.kind {
            Kind::Field(field) => leaf(*field),
            Kind::Literal(value) => match self.ty {
                Ty::Bit(width) => format!("{width}w{value}"),
                _ => format!("({value})"),
            },
            Kind::Unary(op, of) => format!("({op}{})", of.text(leaf)),
            Kind::Binary(op, a, b) => {
                format!("({} {} {})", a.text(leaf), op.symbol(), b.text(leaf))
            }
            Kind::Slice(of, hi, lo) => format!("({})[{hi}:{lo}]", of.text(leaf)),
            Kind::Cast(of) => {
                let ty = match self.ty {
                    Ty::Bit(width) => format!("bit<{width}>"),
                    Ty::Int(width) => format!("int<{width}>"),
                    Ty::Bool => "bool".into(),
                    Ty::Infinite => "int".into(),
                };
                format!("(({ty}) {})", of.text(leaf))
            }
            Kind::Conditional(condition, yes, no) => {
                let [condition, yes, no] = [condition, yes, no].map(|node| node.text(leaf));
                format!("({condition} ? {yes} : {no})")
            }
        }
    }

    /// The same as a `bit<W>`.
    pub fn as_bits(&self, leaf: &dyn Fn(usize) -> String) -> String {
        let text = self.text(leaf);
        match self.ty {
            Ty::Int(width) => format!("(bit<{width}>) {text}"),
            Ty::Bool => format!("(bit<1>) {text}"),
            Ty::Bit(_) | Ty::Infinite => text,
        }
    }

    /// What it gives for these values of the fields; a `bool` is 0 or 1. `None` if P4 does not define it.
    pub fn value(&self, fields: &[BigInt]) -> Option<BigInt> {
        let value = match &self.kind {
            Kind::Field(field) => fields[*field].clone(),
            Kind::Literal(value) => value.clone(),
            Kind::Unary('!', of) => 1 - of.value(fields)?,
            Kind::Unary('-', of) => -of.value(fields)?,
            Kind::Unary(_, of) => -of.value(fields)? - 1,
            Kind::Binary(op, a, b) => binary(*op, a, b, fields)?,
            Kind::Slice(of, _, lo) => of.value(fields)? >> *lo,
            Kind::Cast(of) => of.value(fields)?,
            Kind::Conditional(condition, yes, no) => {
                let (yes, no) = (yes.value(fields)?, no.value(fields)?);
                match condition.value(fields)? == BigInt::from(1) {
                    true => yes,
                    false => no,
                }
            }
        };
        let saturating = matches!(self.kind, Kind::Binary(Op::SatAdd | Op::SatSub, ..));
        Some(match saturating {
            true => clamp(value, self.ty),
            false => wrap(value, self.ty),
        })
    }
}

fn binary(op: Op, a: &Node, b: &Node, fields: &[BigInt]) -> Option<BigInt> {
    let below = match b.ty {
        Ty::Bit(width) | Ty::Int(width) => width,
        _ => 0,
    };
    let b_ty = b.ty;
    let (a, b) = (a.value(fields)?, b.value(fields)?);
    let zero = BigInt::ZERO;
    let truth = |holds: bool| BigInt::from(u8::from(holds));
    Some(match op {
        Op::Add | Op::SatAdd => a + b,
        Op::Sub | Op::SatSub => a - b,
        Op::Mul => a * b,
        Op::Div | Op::Mod if b <= zero || a < zero => return None,
        Op::Div => a / b,
        Op::Mod => a % b,
        // Two's complement of any length is what num-bigint's operators work on.
        Op::BitAnd => a & b,
        Op::BitOr => a | b,
        Op::BitXor => a ^ b,
        // Beyond 4096 bits nothing of a value is left.
        Op::Shl => a << u32::try_from(b).unwrap_or(u32::MAX).min(4096),
        Op::Shr => a >> u32::try_from(b).unwrap_or(u32::MAX).min(4096),
        Op::Concat => (a << below) + wrap(b, as_bit(b_ty)),
        Op::Eq => truth(a == b),
        Op::Ne => truth(a != b),
        Op::Lt => truth(a < b),
        Op::Le => truth(a <= b),
        Op::Gt => truth(a > b),
        Op::Ge => truth(a >= b),
        Op::And => a * b,
        Op::Or => truth(a + b > zero),
    })
}

fn as_bit(ty: Ty) -> Ty {
    match ty {
        Ty::Int(width) => Ty::Bit(width),
        other => other,
    }
}

/// The least and the greatest number of a type.
fn bounds(ty: Ty) -> Option<(BigInt, BigInt)> {
    let power = |exponent: u32| BigInt::from(1) << exponent;
    match ty {
        Ty::Bit(width) => Some((BigInt::ZERO, power(width) - 1)),
        Ty::Int(width) => Some((-power(width - 1), power(width - 1) - 1)),
        Ty::Bool => Some((BigInt::ZERO, BigInt::from(1))),
        Ty::Infinite => None,
    }
}

/// The number of the type that equals the value modulo 2^W.
pub fn wrap(value: BigInt, ty: Ty) -> BigInt {
    let Some((low, high)) = bounds(ty) else {
        return value;
    };
    let modulus = &high - &low + 1;
    let mut rest = (value - &low) % &modulus;
    if rest < BigInt::ZERO {
        rest += modulus;
    }
    rest + low
}

fn clamp(value: BigInt, ty: Ty) -> BigInt {
    match bounds(ty) {
        Some((low, high)) => value.clamp(low, high),
        None => value,
    }
}
