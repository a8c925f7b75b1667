//! Checksums that are verified before ingress or computed after egress.

use crate::builder::Builder;
use crate::expr;
use crate::integer;
use crate::node::{Node, Result};
use num_bigint::BigInt;
use p4_ir::{Arg, Expr, FunctionId, Stmt, StmtKind};

impl<'j> Builder<'j> {
    /// Reads the checksums to verify, or those to compute.
    pub fn checksums(&mut self, verify: bool) -> Result<FunctionId> {
        let (name, flag) = match verify {
            true => ("verifyChecksum", "verify"),
            false => ("computeChecksum", "update"),
        };
        self.loc = Default::default();
        let root = self.root.clone();
        let body = self.collect(|b| {
            if verify {
                b.number_parser_error();
            }
            for node in root.list("checksums")? {
                // Older compilers wrote neither flag and meant both.
                if b.has_flags(&node)? && !node.flag(flag)? {
                    continue;
                }
                b.checksum(&node, flag)?;
            }
            Ok(())
        })?;
        self.loc = Default::default();
        Ok(self.function(name, body))
    }

    fn has_flags(&self, node: &Node<'j>) -> Result<bool> {
        Ok(node.find("verify")?.is_some() || node.find("update")?.is_some())
    }

    fn checksum(&mut self, node: &Node<'j>, verb: &str) -> Result<()> {
        self.locate(node)?;
        let of = self.calculation_named(&node.get("calculation")?)?;
        let condition = match node.find("if_cond")? {
            Some(condition) => self.condition(&condition)?,
            None => expr::truth(true),
        };
        let target = self.field(&node.get("target")?)?;
        let sum = match verb {
            "verify" => Arg::In(Expr::load(target)),
            _ => Arg::Out(target),
        };
        let tail = if of.payload { "_with_payload" } else { "" };
        let name = format!("{verb}_checksum{tail}");
        self.call(
            &name,
            None,
            vec![Arg::In(condition), of.values, sum, of.algorithm, of.name],
        );
        Ok(())
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
        let case = |(theirs, ours): (u32, u32)| {
            let kind = StmtKind::Assign {
                to: field.clone(),
                value: constant(theirs),
            };
            let loc = self.loc;
            (vec![constant(ours)], vec![Stmt { kind, loc }])
        };
        self.push(StmtKind::Switch {
            on: Expr::load(field.clone()),
            cases: self.errors.numbers().map(case).collect(),
            default: Vec::new(),
        });
    }
}
