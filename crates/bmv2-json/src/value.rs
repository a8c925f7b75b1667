//! Expressions: BMv2's, on integers without bound, as expressions of a width.
//!
//! [`Builder::value`] gives the value itself, in a type that holds all that it can be.
//! [`Builder::modulo`] gives its low bits only: sums, products and shifts to the left then need no more
//! bits than are asked for.

use crate::builder::Builder;
use crate::expr::{
    MAX_WIDTH, arithmetic, binary, common, mux, number, resize, signed_width, truth, truth_of,
    unary, unsigned, wider,
};
use crate::integer;
use crate::node::{Node, Result};
use num_bigint::{BigInt, Sign};
use num_traits::One;
use p4_ir::{BinaryOp, Expr, ExprKind, Place, Scalar, StmtKind, UnaryOp};

impl Builder<'_> {
    /// The value of a parameter or operand.
    pub fn value(&mut self, node: &Node<'_>) -> Result<Expr> {
        let inner = node.get("value")?;
        match node.text("type")? {
            "hexstr" => Ok(integer::constant(&integer::integer(&inner)?)),
            "bool" => Ok(truth(inner.bool()?)),
            "field" => Ok(Expr::load(self.field(&inner)?)),
            "stack_field" => Ok(Expr::load(self.destination(node)?)),
            "union_stack_field" => {
                let [stack, member, field] = inner.exactly()?;
                let of = self.stack_named(&stack)?;
                let union = self.union_element(&of, of.last_index(), &stack)?;
                let header = self.member(&union, &member)?;
                Ok(Expr::load(self.field_of(&header, &field)?))
            }
            "runtime_data" | "local" => {
                let index = inner.small()? as usize;
                let found = self.data.get(index).cloned().map(Expr::load);
                let count = self.data.len();
                found.ok_or_else(|| inner.error(format!("the action has {count} parameters")))
            }
            "lookahead" => self.lookahead(&inner),
            "expression" if !inner.has("op") => self.value(&inner),
            "expression" => self.operation(&inner),
            other => Err(node.error(format!(
                "{other:?} is not a value; valid: hexstr, bool, field, stack_field, \
                 union_stack_field, runtime_data, local, lookahead, expression"
            ))),
        }
    }

    /// The value as a number.
    fn number(&mut self, node: &Node<'_>) -> Result<Expr> {
        let value = self.value(node)?;
        match value.ty {
            Scalar::Varbit(_) => Err(node.error("a varbit is not a number")),
            _ => Ok(number(value)),
        }
    }

    /// The value as a condition.
    pub fn condition(&mut self, node: &Node<'_>) -> Result<Expr> {
        let value = self.value(node)?;
        match value.ty {
            Scalar::Varbit(_) => Err(node.error("a varbit is not a condition")),
            _ => Ok(truth_of(value)),
        }
    }

    /// The value's low bits, as a value of a type that is stored.
    pub fn typed(&mut self, node: &Node<'_>, ty: Scalar) -> Result<Expr> {
        match ty {
            Scalar::Bool => self.condition(node),
            Scalar::Varbit(_) => {
                let value = self.value(node)?;
                match value.ty == ty {
                    true => Ok(value),
                    false => Err(node.error("a varbit takes a varbit of the same length")),
                }
            }
            _ => Ok(resize(self.modulo(node, ty.width())?, ty)),
        }
    }

    fn operation(&mut self, node: &Node<'_>) -> Result<Expr> {
        let op = node.text("op")?;
        let (left, right) = (node.get("left")?, node.get("right")?);
        Ok(match op {
            "+" | "*" | "|" | "^" => {
                let (a, b) = (self.number(&left)?, self.number(&right)?);
                let more = match op {
                    "+" => 1,
                    "*" => a.ty.width().min(b.ty.width()),
                    _ => 0,
                };
                let ty = wider(common(&a, &b), more);
                binary(arithmetic(op), resize(a, ty), resize(b, ty), ty)
            }
            "-" => {
                let (a, b) = (self.minuend(&left)?, self.number(&right)?);
                let ty = Scalar::Int((signed_width(&a).max(signed_width(&b)) + 1).min(MAX_WIDTH));
                binary(BinaryOp::Sub, resize(a, ty), resize(b, ty), ty)
            }
            "/" | "%" => {
                let (a, b) = (self.number(&left)?, self.number(&right)?);
                let ty = Scalar::Bit(a.ty.width().max(b.ty.width()));
                binary(arithmetic(op), resize(a, ty), resize(b, ty), ty)
            }
            "&" => self.masked(&left, &right)?,
            "~" => {
                let a = self.number(&right)?;
                let ty = Scalar::Int((signed_width(&a)).min(MAX_WIDTH));
                unary(UnaryOp::BitNot, resize(a, ty), ty)
            }
            "<<" => {
                let (a, by) = (self.number(&left)?, unsigned(self.number(&right)?));
                let most = match integer::decode(&by) {
                    Some(by) => u32::try_from(&by).unwrap_or(MAX_WIDTH),
                    None if by.ty.width() < 12 => (1 << by.ty.width()) - 1,
                    None => MAX_WIDTH,
                };
                let ty = wider(a.ty, most.min(MAX_WIDTH));
                binary(BinaryOp::Shl, resize(a, ty), by, ty)
            }
            ">>" => {
                let (a, by) = (self.number(&left)?, unsigned(self.number(&right)?));
                let ty = a.ty;
                binary(BinaryOp::Shr, a, by, ty)
            }
            "==" | "!=" | "<" | "<=" | ">" | ">=" => self.comparison(op, &left, &right, node)?,
            "and" => {
                let (a, b) = (self.condition(&left)?, self.condition(&right)?);
                binary(BinaryOp::And, a, b, Scalar::Bool)
            }
            "or" => {
                let (a, b) = (self.condition(&left)?, self.condition(&right)?);
                binary(BinaryOp::Or, a, b, Scalar::Bool)
            }
            "not" => unary(UnaryOp::Not, self.condition(&right)?, Scalar::Bool),
            "d2b" => self.condition(&right)?,
            "b2d" => number(self.condition(&right)?),
            "?" => {
                let condition = self.condition(&node.get("cond")?)?;
                let (a, b) = (self.number(&left)?, self.number(&right)?);
                let ty = common(&a, &b);
                mux(condition, resize(a, ty), resize(b, ty))
            }
            "two_comp_mod" => {
                let width = width(&right)?;
                resize(self.modulo(&left, width)?, Scalar::Int(width))
            }
            "usat_cast" | "sat_cast" => {
                let value = self.number(&left)?;
                let width = width(&right)?;
                self.saturated(value, width, op == "sat_cast")
            }
            "valid" => {
                let header = self.header(&right)?;
                Expr::load(Place::validity(&header.at))
            }
            "valid_union" => {
                let union = self.union(&right)?;
                let headers = (0..).map_while(|i| union.header(i));
                let valid = headers.map(|h| Expr::load(Place::validity(&h.at)));
                let or = |a, b| binary(BinaryOp::Or, a, b, Scalar::Bool);
                valid.reduce(or).unwrap_or(truth(false))
            }
            "access_field" => Expr::load(self.accessed(node)?),
            "last_stack_index" => self.stack_operand(&right)?.last_index(),
            "size_stack" => Expr::load(self.stack_operand(&right)?.next_index()),
            other => {
                return Err(node.get("op")?.error(format!(
                    "{other:?} is not an operator; valid: + - * / % & | ^ ~ << >> == != < <= > >= \
                     and or not d2b b2d ? two_comp_mod usat_cast sat_cast valid valid_union \
                     access_field last_stack_index size_stack"
                )));
            }
        })
    }

    /// The left side of a difference; without one it is a negation.
    fn minuend(&mut self, node: &Node<'_>) -> Result<Expr> {
        match node.is_null() {
            true => Ok(Expr::constant(0u8, Scalar::Bit(1))),
            false => self.number(node),
        }
    }

    /// The value modulo 2^W, as `bit<W>`.
    pub fn modulo(&mut self, node: &Node<'_>, width: u32) -> Result<Expr> {
        let ty = Scalar::Bit(width);
        let inner = node.get("value")?;
        if node.text("type")? != "expression" {
            return Ok(resize(self.number(node)?, ty));
        }
        if !inner.has("op") {
            return self.modulo(&inner, width);
        }
        let (left, right) = (inner.get("left")?, inner.get("right")?);
        Ok(match inner.text("op")? {
            op @ ("+" | "*" | "|" | "^") => {
                let (a, b) = (self.modulo(&left, width)?, self.modulo(&right, width)?);
                binary(arithmetic(op), a, b, ty)
            }
            "-" if left.is_null() => unary(UnaryOp::Neg, self.modulo(&right, width)?, ty),
            "-" => {
                let (a, b) = (self.modulo(&left, width)?, self.modulo(&right, width)?);
                binary(BinaryOp::Sub, a, b, ty)
            }
            "~" => unary(UnaryOp::BitNot, self.modulo(&right, width)?, ty),
            "<<" => {
                let a = self.modulo(&left, width)?;
                let by = unsigned(self.number(&right)?);
                binary(BinaryOp::Shl, a, by, ty)
            }
            "?" => {
                let condition = self.condition(&inner.get("cond")?)?;
                let (a, b) = (self.modulo(&left, width)?, self.modulo(&right, width)?);
                mux(condition, a, b)
            }
            _ => resize(number(self.operation(&inner)?), ty),
        })
    }

    /// `a & b`: of a mask that is known only the bits that it has count.
    fn masked(&mut self, left: &Node<'_>, right: &Node<'_>) -> Result<Expr> {
        for (mask, of) in [(right, left), (left, right)] {
            if mask.text("type")? != "hexstr" {
                continue;
            }
            let mask = integer::integer(&mask.get("value")?)?;
            if mask.sign() == Sign::Minus {
                continue;
            }
            let width = (mask.bits().max(1) as u32).min(MAX_WIDTH);
            let ty = Scalar::Bit(width);
            let value = self.modulo(of, width)?;
            if mask == BigInt::from(integer::ones(width)) {
                return Ok(value);
            }
            let mask = integer::encode(&mask, ty);
            return Ok(binary(BinaryOp::BitAnd, value, mask, ty));
        }
        let (a, b) = (self.number(left)?, self.number(right)?);
        let ty = common(&a, &b);
        Ok(binary(BinaryOp::BitAnd, resize(a, ty), resize(b, ty), ty))
    }

    fn comparison(
        &mut self,
        op: &str,
        left: &Node<'_>,
        right: &Node<'_>,
        node: &Node<'_>,
    ) -> Result<Expr> {
        let ir = match op {
            "==" => BinaryOp::Eq,
            "!=" => BinaryOp::Ne,
            "<" => BinaryOp::Lt,
            "<=" => BinaryOp::Le,
            ">" => BinaryOp::Gt,
            _ => BinaryOp::Ge,
        };
        let (a, b) = (self.value(left)?, self.value(right)?);
        let varbit = |e: &Expr| matches!(e.ty, Scalar::Varbit(_));
        if varbit(&a) || varbit(&b) {
            if a.ty != b.ty || !matches!(ir, BinaryOp::Eq | BinaryOp::Ne) {
                return Err(
                    node.error("a varbit can be compared with one of its type, by == and !=")
                );
            }
            return Ok(binary(ir, a, b, Scalar::Bool));
        }
        let (a, b) = (number(a), number(b));
        let ty = common(&a, &b);
        Ok(binary(ir, resize(a, ty), resize(b, ty), Scalar::Bool))
    }

    /// The value, or the nearest that the width holds.
    fn saturated(&mut self, value: Expr, width: u32, signed: bool) -> Expr {
        let (low, high, ty) = match signed {
            true => {
                let half = BigInt::one() << width.saturating_sub(1);
                (-&half, half - 1, Scalar::Int(width))
            }
            false => {
                let high = BigInt::from(integer::ones(width));
                (BigInt::ZERO, high, Scalar::Bit(width))
            }
        };
        let wide = Scalar::Int(signed_width(&value).max(width + 1));
        let value = Expr::load(self.spilled(resize(value, wide)));
        let compare = |op, bound: &BigInt| {
            let bound = integer::encode(bound, wide);
            binary(op, value.clone(), bound, Scalar::Bool)
        };
        let within = mux(
            compare(BinaryOp::Gt, &high),
            integer::encode(&high, ty),
            resize(value.clone(), ty),
        );
        let below = compare(BinaryOp::Lt, &low);
        mux(below, integer::encode(&low, ty), within)
    }

    /// A temporary that holds a value.
    fn spilled(&mut self, value: Expr) -> Place {
        let to = self.temporary(value.ty);
        self.push(StmtKind::Assign {
            to: to.clone(),
            value,
        });
        to
    }

    /// `[offset, width]`: bits of the packet from the cursor on.
    fn lookahead(&mut self, node: &Node<'_>) -> Result<Expr> {
        let [offset, width] = node.exactly()?;
        let (offset, width) = (
            offset.number(MAX_WIDTH.into())? as u32,
            width.number(MAX_WIDTH.into())? as u32,
        );
        let mut places = Vec::new();
        if offset > 0 {
            places.push(self.temporary(Scalar::Bit(offset)));
        }
        let value = self.temporary(Scalar::Bit(width));
        places.push(value.clone());
        self.push(StmtKind::Lookahead(places));
        Ok(Expr::load(value))
    }

    /// The error that a parameter of `verify` gives by the JSON's number.
    pub fn error(&mut self, node: &Node<'_>) -> Result<Expr> {
        let value = self.value(node)?;
        if self.errors.are_ours() {
            return Ok(resize(value, Scalar::Symbol));
        }
        let ExprKind::Const(number) = &value.kind else {
            let told = "an error that is computed is supported where NoError has the number 0, and the others follow";
            return Err(node.error(told));
        };
        let known = u32::try_from(number).ok();
        let ours = known.and_then(|number| self.errors.ours(number));
        let ours = ours.ok_or_else(|| node.error(format!("no error has the number {number}")))?;
        Ok(Expr::constant(ours, Scalar::Symbol))
    }
}

/// The width that a cast goes to.
fn width(node: &Node<'_>) -> Result<u32> {
    let inner = node.get("value")?;
    let number = integer::natural(&inner)?;
    let width = u32::try_from(&number).ok();
    let valid = width.filter(|width| (1..=MAX_WIDTH).contains(width));
    valid.ok_or_else(|| inner.error(format!("a width is 1 to {MAX_WIDTH}")))
}
