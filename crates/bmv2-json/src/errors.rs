//! Errors. The JSON gives each a number, older compilers from 1 on; here they are numbered in order, `NoError` is 0.

use crate::builder::Builder;
use crate::integer;
use crate::node::{Node, Result};
use crate::value;
use num_bigint::BigInt;
use p4_ir::{Expr, ExprKind, Scalar, Stmt, StmtKind};
use std::collections::BTreeMap;

/// Numbers of errors.
#[derive(Debug, Default)]
pub struct Errors {
    /// By the JSON's number, ours.
    numbers: BTreeMap<u32, u32>,
}

impl Errors {
    /// Reads the errors: their names in our order, and the JSON's numbers.
    pub fn read(root: &Node<'_>) -> Result<(Vec<String>, Errors)> {
        let mut listed = Vec::new();
        for node in root.list("errors")? {
            let [name, number] = node.exactly()?;
            listed.push((name.str()?.to_owned(), number.small()?, number));
        }
        // The sort keeps the order of the others.
        listed.sort_by_key(|(name, ..)| name != "NoError");
        let mut names = Vec::new();
        let mut errors = Errors::default();
        for (name, number, node) in listed {
            let ours = names.len() as u32;
            if errors.numbers.insert(number, ours).is_some() {
                return Err(node.error(format!("two errors have the number {number}")));
            }
            names.push(name);
        }
        Ok((names, errors))
    }

    fn are_ours(&self) -> bool {
        self.numbers.iter().all(|(theirs, ours)| theirs == ours)
    }
}

impl<'j> Builder<'j> {
    /// The error that a parameter of `verify` gives by the JSON's number.
    pub fn error(&mut self, node: &Node<'j>) -> Result<Expr> {
        let value = self.value(node)?;
        if self.errors.are_ours() {
            return Ok(value::resize(value, Scalar::Symbol));
        }
        let ExprKind::Const(number) = &value.kind else {
            let told = "an error that is computed is supported where NoError has the number 0, and the others follow";
            return Err(node.error(told));
        };
        let known = u32::try_from(number).ok();
        let ours = known.and_then(|number| self.errors.numbers.get(&number));
        let ours = ours.ok_or_else(|| node.error(format!("no error has the number {number}")))?;
        Ok(Expr::constant(*ours, Scalar::Symbol))
    }

    /// Gives `standard_metadata.parser_error` the JSON's number, for what reads it behind the parser.
    pub fn number_parser_error(&mut self) {
        let field = self
            .headers
            .headers
            .get("standard_metadata")
            .and_then(|standard| standard.field(standard.fields.find("parser_error")?));
        let Some(field) = field.filter(|_| !self.errors.are_ours()) else {
            return;
        };
        let constant = |number: u32| integer::encode(&BigInt::from(number), field.ty);
        let case = |(theirs, ours): (&u32, &u32)| {
            let kind = StmtKind::Assign {
                to: field.clone(),
                value: constant(*theirs),
            };
            let loc = self.loc;
            (vec![constant(*ours)], vec![Stmt { kind, loc }])
        };
        self.push(StmtKind::Switch {
            on: Expr::load(field.clone()),
            cases: self.errors.numbers.iter().map(case).collect(),
            default: Vec::new(),
        });
    }
}
