//! Checksums that are verified before ingress or computed after egress.

use crate::builder::Builder;
use crate::node::{Node, Result};
use crate::value;
use p4_ir::{Arg, Expr, FunctionId};

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
            None => value::truth(true),
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
}
