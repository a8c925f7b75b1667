//! The parser and the deparser.

use crate::builder::Builder;
use crate::expr;
use crate::headers::{Element, Header, NEXT_INDEX, Stack};
use crate::integer;
use crate::node::{Node, Result};
use num_bigint::BigUint;
use num_traits::Zero;
use p4_ir::{
    BinaryOp, Expr, FunctionId, InValueSet, KeyMatch, MatchKind, ParserId, ParserState, Scalar,
    SelectCase, SourceLoc, StateTarget, StmtKind, Transition, Type,
};
use std::collections::HashMap;

/// Keys that a transition may look at.
const MAX_KEYS: usize = 64;

impl<'j> Builder<'j> {
    /// Reads the first parser; v1model has one.
    pub fn read_parser(&mut self) -> Result<ParserId> {
        let parsers = self.root.list("parsers")?;
        let Some(node) = parsers.first() else {
            return Err(self
                .root
                .error("`parsers` is empty; v1model has one parser"));
        };
        let init = node.get("init_state")?;
        let mut nodes = node.list("parse_states")?;
        let mut first = None;
        for (i, state) in nodes.iter().enumerate() {
            if state.text("name")? == init.str()? {
                first = Some(i);
            }
        }
        let first =
            first.ok_or_else(|| init.error("no state of this name is in `parse_states`"))?;
        nodes.swap(0, first);
        let mut numbers = HashMap::new();
        for (i, state) in nodes.iter().enumerate() {
            numbers.insert(state.text("name")?, i as u32);
        }
        let mut states = Vec::new();
        for state in &nodes {
            states.push(self.state(state, &numbers)?);
        }
        self.loc = SourceLoc::default();
        self.out.parsers.push(p4_ir::Parser {
            name: node.text("name")?.into(),
            states,
            loc: SourceLoc::default(),
        });
        Ok(ParserId(self.out.parsers.len() as u32 - 1))
    }

    fn state(&mut self, node: &Node<'j>, numbers: &HashMap<&'j str, u32>) -> Result<ParserState> {
        self.loc = SourceLoc::default();
        let loc = self.locate(node)?;
        let mut transition = Transition::Goto(StateTarget::Accept);
        let body = self.collect(|b| {
            for op in node.list("parser_ops")? {
                b.locate(&op)?;
                b.parser_op(&op)?;
            }
            b.loc = loc;
            transition = b.transition(node, numbers)?;
            Ok(())
        })?;
        Ok(ParserState {
            name: node.text("name")?.into(),
            body,
            transition,
            loc,
        })
    }

    fn parser_op(&mut self, node: &Node<'j>) -> Result<()> {
        let params = node.list("parameters")?;
        let param = |index: usize| {
            let found = params.get(index);
            found.ok_or_else(|| node.error(format!("parameter {index} is missing")))
        };
        match node.text("op")? {
            "extract" => self.extract(param(0)?, None),
            "extract_VL" => {
                let bits = self.value(param(1)?)?;
                self.extract(param(0)?, Some(expr::unsigned(bits)))
            }
            "set" => {
                let to = self.destination(param(0)?)?;
                let value = self.typed(param(1)?, to.ty)?;
                self.push(StmtKind::Assign { to, value });
                Ok(())
            }
            "verify" => {
                let condition = self.condition(param(0)?)?;
                let error = self.error(param(1)?)?;
                self.push(StmtKind::Verify(condition, error));
                Ok(())
            }
            "advance" => {
                let bits = self.value(param(0)?)?;
                self.push(StmtKind::Advance(expr::unsigned(bits)));
                Ok(())
            }
            "shift" => {
                let octets = param(0)?.get("value")?.small().or_else(|_| param(0)?.small())?;
                let bits = Expr::constant(u64::from(octets) * 8, Scalar::Bit(40));
                self.push(StmtKind::Advance(bits));
                Ok(())
            }
            "primitive" => {
                let inner = param(0)?;
                match self.primitive(inner)? {
                    crate::primitives::Primitive::Plain => Ok(()),
                    _ => Err(inner.error("a parser has no jumps")),
                }
            }
            other => Err(node.get("op")?.error(format!(
                "{other:?} is not an operation of a parser; valid: extract, extract_VL, set, verify, \
                 advance, shift, primitive"
            ))),
        }
    }

    fn extract(&mut self, node: &Node<'j>, varbit_bits: Option<Expr>) -> Result<()> {
        let inner = node.get("value")?;
        let (header, stack) = match node.text("type")? {
            "regular" | "header" => (self.header_named(&inner)?, None),
            "stack" => {
                let stack = self.stack_named(&inner)?;
                (self.next(&stack, &inner)?, Some(stack))
            }
            "union_stack" => {
                let [name, member] = inner.exactly()?;
                let stack = self.stack_named(&name)?;
                self.check_room(&stack);
                let index = Expr::load(stack.next_index());
                let union = self.union_element(&stack, index, &name)?;
                (self.member(&union, &member)?, Some(stack))
            }
            "expression" => (self.header(node)?, None),
            other => {
                let told =
                    format!("{other:?} cannot be extracted; regular, stack, union_stack can");
                return Err(node.error(told));
            }
        };
        let mut fields = header.fields.list.iter();
        let has_varbit = fields.any(|(_, ty)| matches!(ty, Scalar::Varbit(_)));
        if header.metadata || has_varbit != varbit_bits.is_some() {
            let told = "a header is extracted; with extract_VL where it has a varbit";
            return Err(node.error(told));
        }
        self.push(StmtKind::Extract {
            header: header.at.clone(),
            ty: header.ty,
            varbit_bits,
        });
        self.alone(&header);
        if let Some(stack) = stack {
            let to = stack.next_index();
            let one = Expr::constant(1u8, NEXT_INDEX);
            let value = expr::binary(BinaryOp::Add, Expr::load(to.clone()), one, NEXT_INDEX);
            self.push(StmtKind::Assign { to, value });
        }
        Ok(())
    }

    /// The next element of a stack of headers.
    fn next(&mut self, stack: &Stack, node: &Node<'j>) -> Result<Header> {
        self.check_room(stack);
        self.element(stack, Expr::load(stack.next_index()), node)
    }

    fn check_room(&mut self, stack: &Stack) {
        let Some(error) = self.error_value("StackOutOfBounds") else {
            return;
        };
        let len = Expr::constant(stack.len, NEXT_INDEX);
        let next = Expr::load(stack.next_index());
        let room = expr::binary(BinaryOp::Lt, next, len, Scalar::Bool);
        self.push(StmtKind::Verify(room, error));
    }

    fn transition(
        &mut self,
        node: &Node<'j>,
        numbers: &HashMap<&'j str, u32>,
    ) -> Result<Transition> {
        let mut keys = Vec::new();
        for key in node.list("transition_key")? {
            let value = self.select_key(&key)?;
            if matches!(value.ty, Scalar::Varbit(_)) {
                return Err(key.error("a varbit cannot be a key"));
            }
            keys.push(value);
        }
        if keys.len() > MAX_KEYS {
            let told = format!("a transition has at most {MAX_KEYS} keys");
            return Err(node.get("transition_key")?.error(told));
        }
        let mut cases = Vec::new();
        for transition in node.list("transitions")? {
            let to = match transition.find("next_state")? {
                None => StateTarget::Accept,
                Some(name) => {
                    let number = numbers.get(name.str()?);
                    let told = || name.error("no parse state has this name");
                    StateTarget::State(*number.ok_or_else(told)?)
                }
            };
            let (sets, value_sets) = self.select_case(&transition, &keys)?;
            if keys.is_empty() && value_sets.is_empty() {
                return Ok(Transition::Goto(to));
            }
            cases.push(SelectCase {
                sets,
                value_sets,
                to,
                loc: self.loc,
            });
        }
        Ok(Transition::Select { keys, cases })
    }

    fn select_key(&mut self, key: &Node<'j>) -> Result<Expr> {
        match key.text("type")? {
            "lookahead" | "field" | "stack_field" | "union_stack_field" => self.value(key),
            other => Err(key.error(format!(
                "{other:?} is not a key; valid: field, stack_field, union_stack_field, lookahead"
            ))),
        }
    }

    fn select_case(
        &mut self,
        node: &Node<'j>,
        keys: &[Expr],
    ) -> Result<(Vec<KeyMatch>, Vec<InValueSet>)> {
        match transition_type(node)? {
            "default" => Ok((vec![KeyMatch::Any; keys.len()], Vec::new())),
            "hexstr" => {
                let width = keys.iter().map(padded).sum();
                let value = integer::bits(&node.get("value")?, width)?;
                let mask = match node.find("mask")? {
                    Some(mask) => Some(integer::bits(&mask, width)?),
                    None => None,
                };
                Ok((split(&value, mask.as_ref(), keys), Vec::new()))
            }
            "parse_vset" => {
                let name = node.get("value")?;
                let id = self.objects.value_sets.get(name.str()?).copied();
                let id = id.ok_or_else(|| name.error("no value set has this name"))?;
                let set = &mut self.out[id];
                if set.fields.is_empty() {
                    let field = |(i, key): (usize, &Expr)| {
                        (format!("key{i}"), Type::Scalar(key.ty), MatchKind::Exact)
                    };
                    set.fields = keys.iter().enumerate().map(field).collect();
                    let types = keys.iter().map(|key| Type::Scalar(key.ty));
                    set.element = Type::Tuple(types.collect());
                } else if set.fields.len() != keys.len() {
                    return Err(name.error("a value set has keys of one kind wherever it is used"));
                }
                let all = InValueSet {
                    set: id,
                    keys: 0..keys.len(),
                };
                Ok((vec![KeyMatch::Any; keys.len()], vec![all]))
            }
            other => Err(node.get("type")?.error(format!(
                "{other:?} is not a transition; valid: default, hexstr, parse_vset"
            ))),
        }
    }

    /// The deparser: its primitives, then its headers in order.
    pub fn deparser(&mut self) -> Result<FunctionId> {
        let deparsers = self.root.list("deparsers")?;
        let Some(node) = deparsers.first() else {
            return Err(self
                .root
                .error("`deparsers` is empty; v1model has one deparser"));
        };
        self.loc = SourceLoc::default();
        self.locate(node)?;
        let position = self.positions[1].clone();
        let primitives = self.primitives(&node.get("primitives")?, &position)?;
        let mut body = primitives;
        let order = self.collect(|b| {
            for name in node.list("order")? {
                b.emit(&name)?;
            }
            Ok(())
        })?;
        body.extend(order);
        Ok(self.function("deparser", body))
    }

    fn emit(&mut self, name: &Node<'j>) -> Result<()> {
        let text = name.str()?;
        let mut headers = Vec::new();
        if let Some(stack) = self.headers.stacks.get(text).cloned() {
            for i in 0..stack.len {
                let index = Expr::constant(i, NEXT_INDEX);
                match stack.of {
                    Element::Header(..) => headers.push(self.element(&stack, index, name)?),
                    Element::Union(..) => {
                        let union = self.union_element(&stack, index, name)?;
                        headers.extend((0..).map_while(|i| union.header(i)));
                    }
                }
            }
        } else if let Some(union) = self.headers.unions.get(text) {
            headers.extend((0..).map_while(|i| union.header(i)));
        } else {
            headers.push(self.header_named(name)?);
        }
        for header in headers {
            if header.metadata {
                return Err(name.error("metadata is not part of a packet"));
            }
            self.push(StmtKind::Emit {
                header: header.at,
                ty: header.ty,
            });
        }
        Ok(())
    }
}

/// Older compilers wrote no type: `default` or a number then, as it is with `hexstr`.
fn transition_type<'j>(node: &Node<'j>) -> Result<&'j str> {
    let given = match node.find("type")? {
        Some(given) => given.str()?,
        None => "hexstr",
    };
    let is_default = given == "hexstr" && node.get("value")?.str() == Ok("default");
    Ok(if is_default { "default" } else { given })
}

/// Bits that a key takes in a case's value: whole octets.
fn padded(key: &Expr) -> u32 {
    key.ty.width().div_ceil(8) * 8
}

/// A case's value, which holds all keys, each in whole octets, as a set for each.
fn split(value: &BigUint, mask: Option<&BigUint>, keys: &[Expr]) -> Vec<KeyMatch> {
    let mut low = 0;
    let mut sets = Vec::new();
    for key in keys.iter().rev() {
        let width = key.ty.width();
        let ones = integer::ones(width);
        let part = |of: &BigUint| (of >> low) & &ones;
        let constant = |value: BigUint| Expr::constant(value, key.ty);
        let value = part(value);
        sets.push(match mask.map(part) {
            None => KeyMatch::Value(constant(value)),
            Some(mask) if mask == ones => KeyMatch::Value(constant(value)),
            Some(mask) if mask.is_zero() => KeyMatch::Any,
            Some(mask) => KeyMatch::Mask(constant(value & &mask), constant(mask)),
        });
        low += padded(key);
    }
    sets.reverse();
    sets
}
