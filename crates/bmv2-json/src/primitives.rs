//! The primitives that actions, parsers and deparsers consist of.

use crate::builder::Builder;
use crate::expr;
use crate::headers::Header;
use crate::integer;
use crate::node::{Node, Result};
use p4_ir::{Arg, BinaryOp, Expr, ExternCall, ExternId, Location, Place, Scalar, StmtKind, Type};

/// What a primitive does besides the statements that it adds.
#[derive(Clone, Debug)]
pub enum Primitive {
    Plain,
    /// Continues at this primitive.
    Jump(usize),
    /// Continues at this primitive unless the condition holds.
    JumpIfNot(Expr, usize),
}

/// All primitives, for messages.
const PRIMITIVES: &str = "assign, assign_VL, assign_header, assign_union, assign_header_stack, \
     assign_union_stack, add_to_field, subtract_from_field, add, subtract, bit_and, bit_or, bit_xor, shift_left, \
     shift_right, add_header, remove_header, push, pop, count, execute_meter, register_read, \
     register_write, modify_field_with_hash_based_offset, modify_field_rng_uniform, mark_to_drop, \
     drop, generate_digest, clone_ingress_pkt_to_egress, clone_egress_pkt_to_egress, resubmit, \
     recirculate, truncate, assert, assume, log_msg, exit, _jump, _jump_if_zero";

impl<'j> Builder<'j> {
    /// Adds what a primitive does.
    pub fn primitive(&mut self, node: &Node<'j>) -> Result<Primitive> {
        let op = node.get("op")?;
        let params = Params {
            of: node.get("parameters")?,
            all: node.list("parameters")?,
        };
        match op.str()? {
            "assign" | "assign_VL" | "modify_field" => {
                let to = self.destination(params.at(0)?)?;
                let value = self.typed(params.at(1)?, to.ty)?;
                self.push(StmtKind::Assign { to, value });
            }
            // Primitives of P4_14.
            "add_to_field" => self.operate(BinaryOp::Add, &params, [0, 1])?,
            "subtract_from_field" => self.operate(BinaryOp::Sub, &params, [0, 1])?,
            "add" => self.operate(BinaryOp::Add, &params, [1, 2])?,
            "subtract" => self.operate(BinaryOp::Sub, &params, [1, 2])?,
            "bit_and" => self.operate(BinaryOp::BitAnd, &params, [1, 2])?,
            "bit_or" => self.operate(BinaryOp::BitOr, &params, [1, 2])?,
            "bit_xor" => self.operate(BinaryOp::BitXor, &params, [1, 2])?,
            "shift_left" => self.shift_bits(BinaryOp::Shl, &params)?,
            "shift_right" => self.shift_bits(BinaryOp::Shr, &params)?,
            "assign_header" | "copy_header" => {
                let to = self.header(params.at(0)?)?;
                let from = self.header(params.at(1)?)?;
                self.copy_header(&to, &from, params.at(1)?)?;
            }
            "assign_union" => {
                let (to, from) = (self.union(params.at(0)?)?, self.union(params.at(1)?)?);
                same(to.ty == from.ty, &params)?;
                let (to, from) = (to.at, from.at);
                self.push(StmtKind::Copy { to, from });
            }
            "assign_header_stack" | "assign_union_stack" => {
                let to = self.stack_operand(params.at(0)?)?;
                let from = self.stack_operand(params.at(1)?)?;
                let are_same = to.len == from.len && to.of.ty() == from.of.ty();
                same(are_same, &params)?;
                let (to, from) = (to.at, from.at);
                self.push(StmtKind::Copy { to, from });
            }
            "add_header" => {
                let header = self.header(params.at(0)?)?;
                self.set_valid(&header, params.at(0)?)?;
            }
            "remove_header" => {
                let header = self.header(params.at(0)?)?;
                self.has_validity(&header, params.at(0)?)?;
                let (header, valid) = (header.at, false);
                self.push(StmtKind::SetValidity { header, valid });
            }
            "push" => {
                let (stack, count) = self.shift(&params)?;
                self.push(StmtKind::PushFront(stack, count));
            }
            "pop" => {
                let (stack, count) = self.shift(&params)?;
                self.push(StmtKind::PopFront(stack, count));
            }
            "exit" => self.push(StmtKind::Exit),
            "_jump" => return Ok(Primitive::Jump(self.jump(params.at(0)?)?)),
            "_jump_if_zero" => {
                let condition = self.condition(params.at(0)?)?;
                let to = self.jump(params.at(1)?)?;
                return Ok(Primitive::JumpIfNot(condition, to));
            }
            name => {
                if !self.extern_primitive(name, &params)? {
                    let told = format!("{name:?} is not a primitive; valid: {PRIMITIVES}");
                    return Err(op.error(told));
                }
            }
        }
        Ok(Primitive::Plain)
    }

    /// Assigns the result of an operation, modulo the width of the destination, to the first parameter. `operands` are
    /// the places of the operands.
    fn operate(&mut self, op: BinaryOp, params: &Params<'j>, operands: [usize; 2]) -> Result<()> {
        let to = self.destination(params.at(0)?)?;
        let [a, b] = operands;
        let a = self.typed(params.at(a)?, to.ty)?;
        let b = self.typed(params.at(b)?, to.ty)?;
        let value = expr::binary(op, a, b, to.ty);
        self.push(StmtKind::Assign { to, value });
        Ok(())
    }

    /// Assigns the second parameter, shifted by the third, to the first. The value may be wider than the destination.
    fn shift_bits(&mut self, op: BinaryOp, params: &Params<'j>) -> Result<()> {
        let to = self.destination(params.at(0)?)?;
        let value = expr::unsigned(self.value(params.at(1)?)?);
        let width = value.ty.width().max(to.ty.width());
        let value = expr::resize(value, Scalar::Bit(width));
        let by = expr::unsigned(self.value(params.at(2)?)?);
        let shifted = expr::binary(op, value, by, Scalar::Bit(width));
        let value = expr::resize(shifted, to.ty);
        self.push(StmtKind::Assign { to, value });
        Ok(())
    }

    /// Primitives that v1model has as extern functions and methods; whether this is one.
    fn extern_primitive(&mut self, name: &str, params: &Params<'j>) -> Result<bool> {
        match name {
            "mark_to_drop" | "drop" => self.call("mark_to_drop", None, Vec::new()),
            "count" => {
                let object = params.named(0, "counter", &self.objects.counters)?;
                let index = self.input(params.at(1)?)?;
                self.call("counter.count", Some(object), vec![index]);
            }
            "execute_meter" => {
                let object = params.named(0, "meter", &self.objects.meters)?;
                let index = self.input(params.at(1)?)?;
                let colour = Arg::Out(self.destination(params.at(2)?)?);
                self.call("meter.execute_meter", Some(object), vec![index, colour]);
            }
            "register_read" => {
                let (object, width) = params.named(1, "register", &self.objects.registers)?;
                let to = self.destination(params.at(0)?)?;
                let index = self.input(params.at(2)?)?;
                let cell = self.temporary(Scalar::Bit(width));
                let args = vec![Arg::Out(cell.clone()), index];
                self.call("register.read", Some(object), args);
                let value = expr::resize(Expr::load(cell), to.ty);
                self.push(StmtKind::Assign { to, value });
            }
            "register_write" => {
                let (object, width) = params.named(0, "register", &self.objects.registers)?;
                let index = self.input(params.at(1)?)?;
                let value = Arg::In(self.modulo(params.at(2)?, width)?);
                self.call("register.write", Some(object), vec![index, value]);
            }
            "modify_field_with_hash_based_offset" => {
                let to = Arg::Out(self.destination(params.at(0)?)?);
                let base = self.input(params.at(1)?)?;
                let calculation = params.at(2)?.get("value")?;
                let of = self.calculation_named(&calculation)?;
                let most = self.input(params.at(3)?)?;
                let args = vec![to, of.algorithm, base, of.values, most, of.name];
                self.call("hash", None, args);
            }
            "modify_field_rng_uniform" => {
                let to = Arg::Out(self.destination(params.at(0)?)?);
                let (low, high) = (self.input(params.at(1)?)?, self.input(params.at(2)?)?);
                self.call("random", None, vec![to, low, high]);
            }
            "generate_digest" => {
                let receiver = self.input(params.at(0)?)?;
                let list = params.at(1)?.get("value")?;
                let id = match list.str() {
                    Ok(_) => u64::try_from(&integer::natural(&list)?).unwrap_or(u64::MAX),
                    Err(_) => list.small()?.into(),
                };
                let found = self.objects.digests.get(&id).cloned();
                let (ty, items) = found.ok_or_else(|| {
                    list.error(format!("there is no learn list with the id {id}"))
                })?;
                self.push(StmtKind::Extern(ExternCall {
                    name: "digest".into(),
                    object: None,
                    type_args: vec![Type::Named(ty)],
                    args: vec![receiver, Arg::List(items)],
                    result: None,
                }));
            }
            "clone_ingress_pkt_to_egress" | "clone_egress_pkt_to_egress" => {
                let session = self.input(params.at(0)?)?;
                let list = self.field_list(params.all.get(1))?;
                let args = vec![Arg::None, session, list];
                self.call("clone_preserving_field_list", None, args);
            }
            "resubmit" | "recirculate" => {
                let list = self.field_list(params.all.first())?;
                self.call(&format!("{name}_preserving_field_list"), None, vec![list]);
            }
            "truncate" => {
                let length = self.input(params.at(0)?)?;
                self.call("truncate", None, vec![length]);
            }
            "assert" | "assume" => {
                let condition = Arg::In(self.condition(params.at(0)?)?);
                self.call(name, None, vec![condition]);
            }
            "log_msg" => {
                let text = params.at(0)?.text("value")?.to_owned();
                let mut items = Vec::new();
                if let Some(values) = params.all.get(1) {
                    let values = values.get("value")?;
                    // p4c writes `{}` for a message without values.
                    if !values.is_empty_object() {
                        for value in values.items()? {
                            items.push(self.list_item(&value)?);
                        }
                    }
                }
                let args = vec![Arg::String(text), Arg::List(items)];
                self.call("log_msg", None, args);
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Calls what the architecture has.
    pub fn call(&mut self, name: &str, object: Option<ExternId>, args: Vec<Arg>) {
        self.push(StmtKind::Extern(ExternCall {
            name: name.into(),
            object,
            type_args: Vec::new(),
            args,
            result: None,
        }));
    }

    /// A value that is handed to an extern.
    fn input(&mut self, node: &Node<'j>) -> Result<Arg> {
        let value = self.value(node)?;
        match value.ty {
            Scalar::Varbit(_) => Err(node.error("a varbit is not a number")),
            _ => Ok(Arg::In(expr::unsigned(value))),
        }
    }

    /// The field list that a packet keeps; number 0, of no field, where none is named.
    fn field_list(&mut self, node: Option<&Node<'j>>) -> Result<Arg> {
        match node {
            Some(node) => self.input(node),
            None => Ok(Arg::In(Expr::constant(0u8, Scalar::Bit(8)))),
        }
    }

    /// Makes a header valid, and the others of its union invalid.
    pub fn set_valid(&mut self, header: &Header, node: &Node<'j>) -> Result<()> {
        self.has_validity(header, node)?;
        self.push(StmtKind::SetValidity {
            header: header.at.clone(),
            valid: true,
        });
        self.alone(header);
        Ok(())
    }

    /// Makes the other headers of a header's union invalid.
    pub fn alone(&mut self, header: &Header) {
        for other in &header.siblings {
            self.push(StmtKind::SetValidity {
                header: other.clone(),
                valid: false,
            });
        }
    }

    fn copy_header(&mut self, to: &Header, from: &Header, node: &Node<'j>) -> Result<()> {
        if to.ty != from.ty {
            let (to, from) = (&to.fields.of, &from.fields.of);
            return Err(node.error(format!("expected a header of type `{to}`, found `{from}`")));
        }
        self.push(StmtKind::Copy {
            to: to.at.clone(),
            from: from.at.clone(),
        });
        if !to.siblings.is_empty() {
            let then = self.collect(|b| {
                b.alone(to);
                Ok(())
            })?;
            self.push(StmtKind::If {
                condition: Expr::load(Place::validity(&to.at)),
                then,
                otherwise: Vec::new(),
            });
        }
        Ok(())
    }

    fn has_validity(&self, header: &Header, node: &Node<'j>) -> Result<()> {
        match header.metadata {
            true => Err(node.error("metadata has no validity")),
            false => Ok(()),
        }
    }

    fn shift(&mut self, params: &Params<'j>) -> Result<(Location, u32)> {
        let stack = self.stack_operand(params.at(0)?)?;
        let count = integer::natural(&params.at(1)?.get("value")?)?;
        let count = u32::try_from(&count).unwrap_or(u32::MAX).min(stack.len);
        Ok((stack.at, count))
    }
}

fn same(are_same: bool, params: &Params<'_>) -> Result<()> {
    match are_same {
        true => Ok(()),
        false => Err(params.of.error("both must be of the same type")),
    }
}

/// A primitive's parameters.
struct Params<'j> {
    of: Node<'j>,
    all: Vec<Node<'j>>,
}

impl<'j> Params<'j> {
    fn at(&self, index: usize) -> Result<&Node<'j>> {
        let count = self.all.len();
        let found = self.all.get(index);
        found.ok_or_else(|| {
            let told = format!(
                "{count} parameters; this primitive has at least {}",
                index + 1
            );
            self.of.error(told)
        })
    }

    /// What the parameter names.
    fn named<T: Copy>(
        &self,
        index: usize,
        kind: &str,
        all: &std::collections::HashMap<String, T>,
    ) -> Result<T> {
        let name = self.at(index)?.get("value")?;
        let text = name.str()?;
        let found = all.get(text).copied();
        found.ok_or_else(|| name.error(format!("there is no {kind} `{text}`")))
    }
}
