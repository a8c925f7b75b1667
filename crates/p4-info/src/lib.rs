//! The P4Info of a program: what a P4Runtime controller needs to know, with the names and IDs it uses.
//!
//! It equals what p4c writes for the same program, IDs included, so that clients made with p4c's file work unchanged.
//! Where the P4Runtime specification leaves a choice (order, names of match fields, hash of a name) p4c's behaviour decides.
//!
//! - [`proto`]: the messages of `p4.config.v1`;
//! - [`text`](mod@text): messages as protobuf text;
//! - `interface`: what is visible, in which order; `symbols`: IDs and aliases; `annotations`: names, documentation;
//! - `types`, `tables`, `actions`, `externs`, `packets`, `package`: one kind of object each.

mod actions;
mod annotations;
mod externs;
mod interface;
mod package;
mod packets;
pub mod proto;
mod symbols;
mod tables;
pub mod text;
mod types;

pub use externs::prefix;
pub use types::{Member, flattened, type_name};

use interface::Interface;
use p4_ir::{Program, SourceLoc, Type};
use proto::p4_ids::Prefix;
use std::collections::BTreeSet;
use symbols::Symbols;
use types::Types;

/// Something in the program that P4Runtime cannot name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Error {
    /// What is wrong, and what is valid.
    pub message: String,
    /// Where in [`Program::files`].
    pub loc: SourceLoc,
}

/// The P4Info of a program, or all that keeps it from having one: an `@id` that is used twice or has the prefix of
/// another kind of object, two objects of a kind with one name.
pub fn p4info(program: &Program) -> Result<proto::P4Info, Vec<Error>> {
    let mut builder = Builder::new(program);
    for block in &builder.interface.blocks.clone() {
        builder.actions(block);
    }
    builder.objects();
    builder.controller_headers();
    builder.package();
    builder.check_names();
    builder.info.type_info = builder.types.take();
    match builder.errors.is_empty() {
        true => Ok(builder.info),
        false => Err(builder.errors),
    }
}

/// The type of what a program passes to each of its digests, with the digest's name for a control plane: calls of
/// v1model's `digest`, and objects of type `Digest`.
pub fn digests(program: &Program) -> Vec<(String, Type)> {
    let interface = Interface::new(program);
    let objects = interface.externs().map(|id| &program[id]);
    let objects =
        objects.filter(|object| externs::prefix(&object.type_name) == Some(Prefix::Digest));
    let objects: Vec<_> = objects
        .filter_map(|object| Some((object.name.clone(), object.type_args.first()?.clone())))
        .collect();
    let blocks = interface.blocks.into_iter();
    let called = blocks.flat_map(|block| block.digests);
    called.chain(objects).collect()
}

/// A P4Info under construction.
struct Builder<'p> {
    program: &'p Program,
    interface: Interface,
    symbols: Symbols,
    types: Types<'p>,
    info: proto::P4Info,
    errors: Vec<Error>,
}

impl<'p> Builder<'p> {
    fn new(program: &'p Program) -> Self {
        let interface = Interface::new(program);
        let mut errors = Vec::new();
        let symbols = Symbols::new(program, &interface, &mut errors);
        Builder {
            program,
            interface,
            symbols,
            types: Types::new(program),
            info: proto::P4Info::default(),
            errors,
        }
    }

    fn preamble(
        &self,
        prefix: Prefix,
        name: &str,
        annotations: &[p4_ir::Annotation],
    ) -> proto::Preamble {
        let (plain, structured) = annotations::listed(annotations, &[]);
        proto::Preamble {
            id: self.symbols.id(prefix, name),
            name: name.to_string(),
            alias: self.symbols.alias(prefix, name),
            annotations: plain,
            doc: annotations::documentation(annotations),
            structured_annotations: structured,
            ..Default::default()
        }
    }

    /// Reports names that two objects of a kind share.
    fn check_names(&mut self) {
        let program = self.program;
        let tables = self.interface.tables().map(|id| &program[id]);
        let value_sets = self.interface.value_sets().map(|id| &program[id]);
        let externs = externs::all(program, &self.interface);
        let externs = externs.iter().map(|id| &program[*id]);
        let named = tables
            .map(|t| (Some(Prefix::Table), &t.name, t.loc))
            .chain(value_sets.map(|v| (Some(Prefix::ValueSet), &v.name, v.loc)))
            .chain(externs.map(|e| (externs::prefix(&e.type_name), &e.name, e.loc)));

        let mut seen = BTreeSet::new();
        for (prefix, name, loc) in named {
            if prefix.is_some() && !seen.insert((prefix, name)) {
                let message = format!(
                    "two objects of one kind have the control-plane name `{name}`: give one of them another `@name`"
                );
                self.errors.push(Error { message, loc });
            }
        }
    }
}
