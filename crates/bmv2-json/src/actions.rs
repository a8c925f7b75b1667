//! Actions: parameters, primitives, jumps between them.

use crate::builder::Builder;
use crate::graph::{self, Next, Step, Target};
use crate::integer;
use crate::node::{Node, Result};
use crate::objects::Action;
use crate::primitives::Primitive;
use p4_ir::{ActionId, ActionParam, Place, Scalar, Stmt, Type};
use std::collections::{BTreeSet, HashMap};

/// The widest parameter.
const MAX_WIDTH: u64 = 4096;

impl<'j> Builder<'j> {
    /// Reads all actions.
    ///
    /// p4c makes a copy of an action for every table that lists it, all under one name: these are one
    /// action with several bodies, and share the places of its parameters.
    pub fn read_actions(&mut self) -> Result<()> {
        let mut known: HashMap<(&str, Vec<u32>), ActionId> = HashMap::new();
        for node in self.root.clone().list("actions")? {
            let name = node.text("name")?;
            let mut widths = Vec::new();
            for param in node.list("runtime_data")? {
                widths.push(param.get("bitwidth")?.number(MAX_WIDTH)? as u32);
            }
            let key = (name, widths);
            let id = match known.get(&key) {
                Some(id) => *id,
                None => {
                    let id = self.declare(&node, name)?;
                    known.insert(key, id);
                    id
                }
            };
            let params = self.out[id].params.iter();
            let place = |p: &ActionParam| {
                let ty = p.ty.scalar(&self.out).unwrap_or(Scalar::Bit(0));
                Place::variable(p.variable, ty)
            };
            self.data = params.map(place).collect();
            let position = self.positions[1].clone();
            let body = self.primitives(&node.get("primitives")?, &position)?;
            self.data.clear();
            let body = self.function(name, body);
            let number = node.get("id")?.small()?.into();
            self.actions.insert(number, Action { id, body });
        }
        Ok(())
    }

    fn declare(&mut self, node: &Node<'j>, name: &str) -> Result<ActionId> {
        let mut params = Vec::new();
        for param in node.list("runtime_data")? {
            let ty = Scalar::Bit(param.get("bitwidth")?.number(MAX_WIDTH)? as u32);
            let param = param.text("name")?;
            let place = self.variable(&format!("{name}.{param}"), ty);
            params.push(ActionParam {
                name: param.into(),
                ty: Type::Scalar(ty),
                variable: place.at.variable,
                annotations: Vec::new(),
            });
        }
        let outer = self.loc;
        let loc = match node.list("primitives")?.first() {
            Some(first) => self.locate(first)?,
            None => self.locate(node)?,
        };
        self.loc = outer;
        self.out.actions.push(p4_ir::Action {
            name: name.into(),
            params,
            annotations: Vec::new(),
            loc,
        });
        Ok(ActionId(self.out.actions.len() as u32 - 1))
    }

    /// A list of primitives as statements.
    pub fn primitives(&mut self, list: &Node<'j>, position: &Place) -> Result<Vec<Stmt>> {
        let nodes = list.items()?;
        let mut read = Vec::new();
        let outer = self.loc;
        for node in &nodes {
            let loc = self.locate(node)?;
            let mut kind = Primitive::Plain;
            let body = self.collect(|b| {
                kind = b.primitive(node)?;
                Ok(())
            })?;
            read.push((kind, body, loc, node));
        }
        self.loc = outer;
        // A step begins where a jump leads to, and after each jump.
        let mut starts = BTreeSet::from([0]);
        for (i, (kind, _, _, node)) in read.iter().enumerate() {
            let (Primitive::Jump(to) | Primitive::JumpIfNot(_, to)) = kind else {
                continue;
            };
            if *to > read.len() {
                let told = format!("a jump to {to}; there are {} primitives", read.len());
                return Err(node.error(told));
            }
            starts.extend([*to, i + 1]);
        }
        starts.remove(&read.len());
        let numbers: HashMap<usize, usize> = starts.iter().copied().zip(0..).collect();
        let target = |at: usize| -> Target { numbers.get(&at).copied() };
        let mut steps: Vec<Step> = Vec::new();
        for (i, (kind, body, loc, _)) in read.into_iter().enumerate() {
            if starts.contains(&i) {
                steps.push(Step {
                    body: Vec::new(),
                    next: Next::Always(None),
                    loc,
                });
            }
            let Some(step) = steps.last_mut() else {
                continue;
            };
            step.body.extend(body);
            step.loc = loc;
            step.next = match kind {
                Primitive::Plain => Next::Always(target(i + 1)),
                Primitive::Jump(to) => Next::Always(target(to)),
                Primitive::JumpIfNot(condition, to) => {
                    Next::If(condition, target(i + 1), target(to))
                }
            };
        }
        let start = (!steps.is_empty()).then_some(0);
        Ok(graph::structured(&steps, start, position))
    }

    /// Where a jump leads.
    pub fn jump(&self, node: &Node<'j>) -> Result<usize> {
        let inner = node.get("value")?;
        let number = integer::natural(&inner)?;
        let index = usize::try_from(&number).ok();
        index.ok_or_else(|| inner.error("there are fewer primitives"))
    }
}
