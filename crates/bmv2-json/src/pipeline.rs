//! Pipelines: a graph of tables, conditions and calls.

use crate::builder::Builder;
use crate::graph::{self, Next, Step, Target};
use crate::node::{Node, Result};
use crate::objects::Action;
use p4_ir::{Expr, FunctionId, Place, Scalar, Stmt, StmtKind};
use std::collections::HashMap;

/// Nodes by name.
type Numbers<'j> = HashMap<&'j str, usize>;

impl<'j> Builder<'j> {
    /// Reads the pipeline of this name.
    pub fn pipeline(&mut self, name: &str) -> Result<FunctionId> {
        let mut found = None;
        for pipeline in self.root.list("pipelines")? {
            if pipeline.text("name")? == name {
                found = Some(pipeline);
            }
        }
        let node = found.ok_or_else(|| {
            let told = format!("`pipelines` has no `{name}`; v1model has ingress and egress");
            self.root.error(told)
        })?;
        self.loc = Default::default();
        let loc = self.locate(&node)?;
        let tables = node.list("tables")?;
        let conditions = node.list("conditionals")?;
        let calls = node.list("action_calls")?;
        let mut numbers = Numbers::new();
        for part in tables.iter().chain(&conditions).chain(&calls) {
            let number = numbers.len();
            if numbers.insert(part.text("name")?, number).is_some() {
                return Err(part.error("two nodes of the pipeline have this name"));
            }
        }
        let hit = self.temporary(Scalar::Bool);
        let action_run = self.temporary(Scalar::Symbol);
        let mut steps = Vec::new();
        for table in &tables {
            steps.push(self.apply(table, &numbers, &hit, &action_run)?);
        }
        for condition in &conditions {
            steps.push(self.conditional(condition, &numbers)?);
        }
        for call in &calls {
            steps.push(self.direct_call(call, &numbers)?);
        }
        let start = target(&node.get("init_table")?, &numbers)?;
        let position = self.positions[0].clone();
        let body = graph::structured(&steps, start, &position);
        self.loc = loc;
        Ok(self.function(name, body))
    }

    fn apply(
        &mut self,
        node: &Node<'j>,
        numbers: &Numbers<'j>,
        hit: &Place,
        action_run: &Place,
    ) -> Result<Step> {
        let table = self.table(node)?;
        let loc = self.out[table].loc;
        let mut nexts: HashMap<&str, Target> = HashMap::new();
        for (name, to) in node.get("next_tables")?.members()? {
            nexts.insert(name, target(&to, numbers)?);
        }
        let base = target(&node.get("base_default_next")?, numbers)?;
        let on_hit = nexts.get("__HIT__").copied();
        let on_miss = nexts.get("__MISS__").copied();
        let next = if on_hit.is_some() || on_miss.is_some() {
            let condition = Expr::load(hit.clone());
            Next::If(condition, on_hit.unwrap_or(base), on_miss.unwrap_or(base))
        } else {
            let actions = node.list("actions")?;
            let mut cases = Vec::new();
            for (i, action) in actions.iter().enumerate() {
                let to = nexts.get(action.str()?).copied().unwrap_or(base);
                cases.push((Expr::constant(i as u32, Scalar::Symbol), to));
            }
            match cases.iter().all(|(_, to)| *to == cases[0].1) {
                true => Next::Always(cases.first().map_or(base, |(_, to)| *to)),
                false => Next::Cases(Expr::load(action_run.clone()), cases, base),
            }
        };
        let (asks_hit, asks_action) = match next {
            Next::Always(_) => (false, false),
            Next::If(..) => (true, false),
            Next::Cases(..) => (false, true),
        };
        let apply = StmtKind::Apply {
            table,
            hit: asks_hit.then(|| hit.clone()),
            action_run: asks_action.then(|| action_run.clone()),
        };
        Ok(Step {
            body: vec![Stmt { kind: apply, loc }],
            next,
            loc,
        })
    }

    fn conditional(&mut self, node: &Node<'j>, numbers: &Numbers<'j>) -> Result<Step> {
        let outer = self.loc;
        let loc = self.locate(node)?;
        let mut next = Next::Always(None);
        let body = self.collect(|b| {
            let condition = b.condition(&node.get("expression")?)?;
            let yes = target(&node.get("true_next")?, numbers)?;
            let no = target(&node.get("false_next")?, numbers)?;
            next = Next::If(condition, yes, no);
            Ok(())
        })?;
        self.loc = outer;
        Ok(Step { body, next, loc })
    }

    fn direct_call(&mut self, node: &Node<'j>, numbers: &Numbers<'j>) -> Result<Step> {
        let outer = self.loc;
        let loc = self.locate(node)?;
        self.loc = outer;
        let Action { id, body } = self.action(&node.get("action_id")?)?;
        if !self.out[id].params.is_empty() {
            return Err(node.error("an action that is called must have no parameters"));
        }
        let kind = StmtKind::CallAction(id, body);
        Ok(Step {
            body: vec![Stmt { kind, loc }],
            next: Next::Always(target(&node.get("next_node")?, numbers)?),
            loc,
        })
    }
}

/// The node that a name leads to; null leads to the end.
fn target(node: &Node<'_>, numbers: &Numbers<'_>) -> Result<Target> {
    if node.is_null() {
        return Ok(None);
    }
    let found = numbers.get(node.str()?).copied();
    let told = || node.error("no table or condition of the pipeline has this name");
    found.map(Some).ok_or_else(told)
}
