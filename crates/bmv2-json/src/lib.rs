//! p4c's device configuration for BMv2 (JSON, as `p4c-bm2-ss` writes it) to p4-ir, so that a program
//! compiled elsewhere runs unchanged.
//!
//! [`read`] is the whole interface. Its errors name the place in the JSON:
//! `pipelines[0].tables[2].key[1].match_type: "fuzzy" is not a match kind; valid: exact, lpm, …`.
//!
//! BMv2's expressions have no width: they are computed on integers without bound, and cut to a field's
//! width where they are stored. Here every expression gets the width that its values need, or, where
//! only its low bits count, that of the bits that count (`value`). A pipeline is a graph of tables and
//! conditions, an action a list with jumps: both become a loop around a `switch` where they are not a
//! tree (`graph`).
//!
//! The map of this crate: `node` walks the JSON and knows where it is; `headers` lays out storage, `errors` numbers
//! errors, `objects` keeps what is declared; `builder` is the program under construction, which all others add to.
//! `place` finds fields, headers and stacks; `value` reads expressions, of which `expr` is made; `declarations` reads
//! counters, meters and so on; `actions`, `primitives`, `parser`, `tables`, `pipeline`, `checksums` read what their
//! names say; `program` calls them in order.

mod actions;
mod builder;
mod checksums;
mod declarations;
mod errors;
mod expr;
mod graph;
mod headers;
mod integer;
mod node;
mod objects;
mod parser;
mod pipeline;
mod place;
mod primitives;
mod program;
mod tables;
mod value;

pub use node::Error;

/// The program that a device configuration describes.
///
/// # Errors
/// The text is not JSON, is nested more than 128 deep, or holds something that is not what BMv2's format
/// has there; the error names the place.
pub fn read(text: &str) -> Result<p4_ir::Program, Error> {
    let json: serde_json::Value = serde_json::from_str(text).map_err(Error::syntax)?;
    program::build(node::Node::root(&json))
}
