//! The whole program: its blocks in order.

use crate::builder::Builder;
use crate::graph::POSITION;
use crate::node::{Node, Result};
use p4_ir::{Block, BlockBody, Program, SourceLoc};

/// Builds the program.
pub fn build(root: Node<'_>) -> Result<Program> {
    let mut builder = Builder::new(root)?;
    builder.program()?;
    Ok(builder.out)
}

impl<'j> Builder<'j> {
    fn program(&mut self) -> Result<()> {
        if let Some(name) = self.root.find("program")? {
            self.file(name.str()?);
        }
        for name in ["pipeline", "action"] {
            let place = self.variable(&format!("{name}.position"), POSITION);
            self.positions[usize::from(name == "action")] = place;
        }
        self.read_objects()?;
        self.read_actions()?;
        let parser = BlockBody::Parser(self.read_parser()?);
        let verify = self.checksums(true)?;
        let ingress = self.pipeline("ingress")?;
        let egress = self.pipeline("egress")?;
        let update = self.checksums(false)?;
        let deparser = self.deparser()?;
        let controls = [
            ("vr", "verifyChecksum", verify),
            ("ig", "ingress", ingress),
            ("eg", "egress", egress),
            ("ck", "computeChecksum", update),
            ("dep", "deparser", deparser),
        ];
        self.block("p", "parser", parser);
        for (role, name, body) in controls {
            self.block(role, name, BlockBody::Control(body));
        }
        Ok(())
    }

    fn block(&mut self, role: &str, name: &str, body: BlockBody) {
        self.out.blocks.push(Block {
            role: role.into(),
            package: "main".into(),
            type_name: name.into(),
            body,
            params: self.headers.params.clone(),
            declared: Vec::new(),
            loc: SourceLoc::default(),
        });
    }
}
