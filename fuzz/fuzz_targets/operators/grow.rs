//! Random expressions, and the statements that compute them.

use crate::expr::{Kind, Node, Op, Ty};
use libfuzzer_sys::arbitrary::{Result, Unstructured};
use num_bigint::{BigInt, BigUint};

type Random<'r, 'a> = &'r mut Unstructured<'a>;

const MOST: u32 = 2048;
const DEPTH: u32 = 4;

/// A width: small, near the end of a word of 64 bits, or any.
pub fn width(random: Random<'_, '_>) -> Result<u32> {
    Ok(match random.int_in_range(0..=3)? {
        0 => random.int_in_range(1..=16)?,
        1 => random.int_in_range(1..=130)?,
        2 => {
            (64 * random.int_in_range(0..=MOST / 64)? + random.int_in_range(0..=2)?)
                .clamp(2, MOST + 1)
                - 1
        }
        _ => random.int_in_range(1..=MOST)?,
    })
}

/// A number below 2^width: runs of ones and zeros, or any.
pub fn value(random: Random<'_, '_>, width: u32) -> Result<BigInt> {
    let one = BigInt::from(1);
    let power = |exponent: u32| one.clone() << exponent;
    Ok(match random.int_in_range(0..=5)? {
        0 => BigInt::from(random.int_in_range(0..=3)?) % power(width),
        1 => power(width) - 1,
        2 => power(width - 1),
        3 => power(width - 1) - 1,
        4 => power(random.int_in_range(0..=width - 1)?),
        _ => {
            let octets = random.bytes((width.div_ceil(8) as usize).min(random.len()))?;
            BigInt::from(BigUint::from_bytes_le(octets)) % power(width)
        }
    })
}

/// How an expression is computed.
#[derive(Clone, Debug)]
pub enum Statement {
    /// `r = expression;`
    Assign(Node),
    /// `if (expression) { r = 1; } else { r = 0; }`
    Branch(Node),
    /// `r = first; r OP= second;`, where `first OP second` is the node.
    Compound(Node),
    /// `r = first; r[hi:lo] = second;`
    Insert(Node, u32, u32, Node),
    /// The expression is of constants alone.
    Known(Node),
}

pub fn statement(random: Random<'_, '_>, fields: &[u32]) -> Result<Statement> {
    let known = random.ratio(1, 6)?;
    let mut grow = Grow {
        random,
        fields,
        known,
    };
    if known {
        let width = width(grow.random)?;
        let ty = grow.sized(width)?;
        return Ok(Statement::Known(grow.node(ty, DEPTH)?));
    }
    Ok(match grow.random.int_in_range(0..=7)? {
        0 | 1 => Statement::Branch(grow.node(Ty::Bool, DEPTH)?),
        2 => Statement::Assign(grow.node(Ty::Bool, DEPTH)?),
        3 => {
            let width = width(grow.random)?;
            Statement::Compound(grow.arithmetic(Ty::Bit(width), DEPTH)?)
        }
        4 => {
            let width = width(grow.random)?;
            let (hi, lo) = grow.part(width)?;
            let first = grow.node(Ty::Bit(width), 2)?;
            Statement::Insert(first, hi, lo, grow.node(Ty::Bit(hi - lo + 1), DEPTH)?)
        }
        _ => {
            let width = width(grow.random)?;
            let ty = grow.sized(width)?;
            Statement::Assign(grow.node(ty, DEPTH)?)
        }
    })
}

impl Statement {
    pub fn is_constant(&self) -> bool {
        matches!(self, Statement::Known(_))
    }

    pub fn width(&self) -> u32 {
        let (Statement::Assign(node)
        | Statement::Branch(node)
        | Statement::Compound(node)
        | Statement::Insert(node, ..)
        | Statement::Known(node)) = self;
        match node.ty {
            Ty::Bit(width) | Ty::Int(width) => width,
            _ => 1,
        }
    }

    /// The bits that it leaves in the result; `None` if P4 does not define them.
    pub fn value(&self, fields: &[BigInt]) -> Option<BigUint> {
        match self {
            Statement::Insert(first, hi, lo, second) => {
                let first = crate::as_bits(first, first.value(fields)?);
                let second = crate::as_bits(second, second.value(fields)?);
                let ones = (BigUint::from(1u8) << (hi - lo + 1)) - 1u8;
                let kept = &first - (&first & (ones << *lo));
                Some(kept + (second << *lo))
            }
            Statement::Assign(node)
            | Statement::Branch(node)
            | Statement::Compound(node)
            | Statement::Known(node) => Some(crate::as_bits(node, node.value(fields)?)),
        }
    }

    /// Statements that compute it into `to`.
    pub fn text(&self, to: &str, leaf: &dyn Fn(usize) -> String) -> String {
        match self {
            Statement::Assign(node) | Statement::Known(node) => {
                format!("        {to} = {};\n", node.as_bits(leaf))
            }
            Statement::Branch(node) => format!(
                "        if ({}) {{ {to} = 1; }} else {{ {to} = 0; }}\n",
                node.text(leaf)
            ),
            Statement::Compound(node) => {
                let Kind::Binary(op, a, b) = &node.kind else {
                    return format!("        {to} = {};\n", node.as_bits(leaf));
                };
                let (a, b) = (a.text(leaf), b.text(leaf));
                format!("        {to} = {a};\n        {to} {}= {b};\n", op.symbol())
            }
            Statement::Insert(first, hi, lo, second) => {
                let (first, second) = (first.as_bits(leaf), second.as_bits(leaf));
                format!("        {to} = {first};\n        {to}[{hi}:{lo}] = {second};\n")
            }
        }
    }
}

struct Grow<'r, 'a> {
    random: Random<'r, 'a>,
    /// The fields' widths.
    fields: &'r [u32],
    /// Whether everything is known at compile time: then anything may be divided.
    known: bool,
}

impl Grow<'_, '_> {
    fn sized(&mut self, width: u32) -> Result<Ty> {
        Ok(match self.random.arbitrary()? {
            true => Ty::Int(width),
            false => Ty::Bit(width),
        })
    }

    /// The bounds of a slice with the given number of bits.
    fn part(&mut self, width: u32) -> Result<(u32, u32)> {
        let lo = self.random.int_in_range(0..=width - 1)?;
        Ok((self.random.int_in_range(lo..=width - 1)?, lo))
    }

    fn binary(&mut self, op: Op, a: Ty, b: Ty, ty: Ty, depth: u32) -> Result<Node> {
        let (a, b) = (self.node(a, depth)?, self.node(b, depth)?);
        Ok(Node {
            ty,
            kind: Kind::Binary(op, a.into(), b.into()),
        })
    }

    /// An expression of a type.
    fn node(&mut self, ty: Ty, depth: u32) -> Result<Node> {
        if depth == 0 || self.random.is_empty() {
            return self.leaf(ty);
        }
        match ty {
            Ty::Bool => self.condition(depth - 1),
            Ty::Infinite => self.infinite(depth - 1),
            Ty::Bit(width) | Ty::Int(width) => self.number(ty, width, depth - 1),
        }
    }

    fn leaf(&mut self, ty: Ty) -> Result<Node> {
        let node = |ty, kind| Node { ty, kind };
        let cast = |ty, of: Node| node(ty, Kind::Cast(of.into()));
        Ok(match ty {
            Ty::Infinite => {
                let value = value(self.random, 100)?;
                node(
                    ty,
                    Kind::Literal(if self.random.arbitrary()? {
                        value
                    } else {
                        -value
                    }),
                )
            }
            Ty::Bool => cast(ty, self.leaf(Ty::Bit(1))?),
            Ty::Int(width) => cast(ty, self.leaf(Ty::Bit(width))?),
            Ty::Bit(width) if self.known || self.random.ratio(1, 3)? => {
                node(ty, Kind::Literal(value(self.random, width)?))
            }
            Ty::Bit(width) => {
                let field = self.random.choose_index(self.fields.len())?;
                let own = self.fields[field];
                let read = node(Ty::Bit(own), Kind::Field(field));
                match own == width {
                    true => read,
                    false => cast(ty, read),
                }
            }
        })
    }

    fn number(&mut self, ty: Ty, width: u32, depth: u32) -> Result<Node> {
        let signed = matches!(ty, Ty::Int(_));
        let node = |kind| Node { ty, kind };
        Ok(match self.random.int_in_range(0..=9)? {
            0 => self.leaf(ty)?,
            1 => node(Kind::Unary('-', self.node(ty, depth)?.into())),
            2 => node(Kind::Unary('~', self.node(ty, depth)?.into())),
            3 => {
                // Sizes change between kinds alike; kinds change between sizes alike.
                let other = crate::grow::width(self.random)?;
                let from = match (self.random.int_in_range(0..=3)?, signed) {
                    (0, true) => Ty::Bit(width),
                    (0, false) => Ty::Int(width),
                    (1, false) if width == 1 => Ty::Bool,
                    (1, _) if self.known => Ty::Infinite,
                    (_, true) => Ty::Int(other),
                    (_, false) => Ty::Bit(other),
                };
                node(Kind::Cast(self.node(from, depth)?.into()))
            }
            4 if !signed => {
                let most = MOST - width;
                let below = self.random.int_in_range(0..=most.min(200))?;
                let above = self.random.int_in_range(0..=(most - below).min(200))?;
                let of = self.sized(below + width + above)?;
                let of = self.node(of, depth)?;
                node(Kind::Slice(of.into(), below + width - 1, below))
            }
            5 if width > 1 => {
                let below = self.random.int_in_range(1..=width - 1)?;
                let above = match signed {
                    true => Ty::Int(width - below),
                    false => Ty::Bit(width - below),
                };
                let below = self.sized(below)?;
                self.binary(Op::Concat, above, below, ty, depth)?
            }
            6 => {
                let condition = self.node(Ty::Bool, depth)?;
                let (yes, no) = (self.node(ty, depth)?, self.node(ty, depth)?);
                node(Kind::Conditional(condition.into(), yes.into(), no.into()))
            }
            _ => self.arithmetic(ty, depth)?,
        })
    }

    /// An operator whose left operand has the type of the result.
    fn arithmetic(&mut self, ty: Ty, depth: u32) -> Result<Node> {
        let ops = [
            Op::Add,
            Op::Sub,
            Op::Mul,
            Op::SatAdd,
            Op::SatSub,
            Op::BitAnd,
            Op::BitOr,
            Op::BitXor,
            Op::Shl,
            Op::Shr,
            Op::Shl,
            Op::Shr,
            Op::Div,
            Op::Mod,
        ];
        let op = *self.random.choose(&ops)?;
        match op {
            Op::Shl | Op::Shr => {
                let (a, by) = (self.node(ty, depth)?, self.amount(ty, depth)?);
                Ok(Node {
                    ty,
                    kind: Kind::Binary(op, a.into(), by.into()),
                })
            }
            Op::Div | Op::Mod => match ty {
                Ty::Bit(_) if self.known => self.binary(op, ty, ty, ty, depth),
                Ty::Bit(width) => {
                    let power = BigInt::from(1) << self.random.int_in_range(0..=width - 1)?;
                    let b = Node {
                        ty,
                        kind: Kind::Literal(power),
                    };
                    let a = self.node(ty, depth)?;
                    Ok(Node {
                        ty,
                        kind: Kind::Binary(op, a.into(), b.into()),
                    })
                }
                _ => self.binary(Op::Add, ty, ty, ty, depth),
            },
            _ => self.binary(op, ty, ty, ty, depth),
        }
    }

    /// By how much a value of a type is shifted: mostly less than its width, or about that.
    fn amount(&mut self, ty: Ty, depth: u32) -> Result<Node> {
        let (Ty::Bit(width) | Ty::Int(width)) = ty else {
            return self.leaf(Ty::Bit(8));
        };
        let literal = |ty, by: u32| Node {
            ty,
            kind: Kind::Literal(by.into()),
        };
        Ok(match self.random.int_in_range(0..=4)? {
            0 => literal(Ty::Infinite, self.random.int_in_range(0..=width + 1)?),
            1 => literal(
                Ty::Bit(32),
                64 * self.random.int_in_range(0..=width.div_ceil(64))?,
            ),
            2 => {
                let digits = 32 - width.leading_zeros();
                self.node(Ty::Bit(digits), depth)?
            }
            3 => {
                let width = crate::grow::width(self.random)?;
                self.node(Ty::Bit(width), depth)?
            }
            _ => literal(Ty::Infinite, self.random.int_in_range(0..=70_000)?),
        })
    }

    fn condition(&mut self, depth: u32) -> Result<Node> {
        let node = |kind| Node { ty: Ty::Bool, kind };
        let compare = [Op::Eq, Op::Ne, Op::Lt, Op::Le, Op::Gt, Op::Ge];
        Ok(match self.random.int_in_range(0..=7)? {
            0 => self.leaf(Ty::Bool)?,
            1 => node(Kind::Unary('!', self.node(Ty::Bool, depth)?.into())),
            2 => {
                let op = *self.random.choose(&[Op::And, Op::Or, Op::Eq, Op::Ne])?;
                self.binary(op, Ty::Bool, Ty::Bool, Ty::Bool, depth)?
            }
            3 => {
                let [condition, yes, no] = [
                    self.node(Ty::Bool, depth)?,
                    self.node(Ty::Bool, depth)?,
                    self.node(Ty::Bool, depth)?,
                ];
                node(Kind::Conditional(condition.into(), yes.into(), no.into()))
            }
            _ => {
                let op = *self.random.choose(&compare)?;
                let width = crate::grow::width(self.random)?;
                let ty = match self.known && self.random.ratio(1, 4)? {
                    true => Ty::Infinite,
                    false => self.sized(width)?,
                };
                self.binary(op, ty, ty, Ty::Bool, depth)?
            }
        })
    }

    fn infinite(&mut self, depth: u32) -> Result<Node> {
        let ty = Ty::Infinite;
        let node = |kind| Node { ty, kind };
        Ok(match self.random.int_in_range(0..=6)? {
            0 => self.leaf(ty)?,
            1 => node(Kind::Unary('-', self.node(ty, depth)?.into())),
            2 => {
                let op = *self.random.choose(&[Op::Shl, Op::Shr])?;
                let by = self.random.int_in_range(0..=300u32)?;
                let by = node(Kind::Literal(by.into()));
                let of = self.node(ty, depth)?;
                node(Kind::Binary(op, of.into(), by.into()))
            }
            3 => {
                let [yes, no] = [self.node(ty, depth)?, self.node(ty, depth)?];
                let condition = self.node(Ty::Bool, depth)?;
                node(Kind::Conditional(condition.into(), yes.into(), no.into()))
            }
            _ => {
                let op = *self
                    .random
                    .choose(&[Op::Add, Op::Sub, Op::Mul, Op::Div, Op::Mod])?;
                self.binary(op, ty, ty, ty, depth)?
            }
        })
    }
}
