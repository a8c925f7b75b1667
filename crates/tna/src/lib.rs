//! The Tofino Native Architectures of Tofino 1 (TNA) and Tofino 2 (T2NA): pipelines, externs, metadata.
//!
//! A packet goes through the hardware in this order, and so do the modules of this crate:
//! - `prefix`: the metadata that precedes each packet in a parser;
//! - `ingress`: parser, match-action units, deparser; `fate`: what the traffic manager does with the packet then;
//! - `deflection`: packets that a queue refuses; `ghost`: what runs when the length of a queue changes;
//! - `egress`: parser, match-action units, deparser, line;
//! - `requests`: what a deparser asks for besides the packet; `copies`: the packets that it gets;
//! - `generator`: packets that the hardware makes itself.
//!
//! What programs declare is in `blocks` (the package and its metadata), `externs` and `objects`. `parser_errors` has
//! the bits of `parser_err`; `unsupported`, what programs may not ask for; `generation` and `ports`, what the two generations of the hardware differ in. [`architecture`](Tna) is what the engine and the switch ask of an architecture.

mod architecture;
mod blocks;
mod copies;
mod deflection;
mod egress;
mod externs;
mod fate;
mod generation;
mod generator;
mod ghost;
mod ingress;
mod objects;
mod parser_errors;
mod ports;
mod prefix;
mod requests;
mod residual;
mod unsupported;

pub use architecture::Tna;
pub use deflection::{DEFLECTION_PORT, DEFLECTION_QUEUE};
pub use fate::CPU_PORT;
use switch::Registration;

/// A program translated for Tofino.
pub type Pipeline = p4_vm::Pipeline<Tna>;
/// A Tofino switch.
pub type Switch = switch::Switch<Tna>;

/// How programs find Tofino 1.
pub const TNA: Registration = Registration {
    package: blocks::PACKAGE,
    include: "tna.p4",
    runs: |program| blocks::is_for(program, "TNA"),
    compile: |program| Ok(Pipeline::compile(program)?),
};

/// How programs find Tofino 2.
pub const T2NA: Registration = Registration {
    package: blocks::PACKAGE,
    include: "t2na.p4",
    runs: |program| blocks::is_for(program, "T2NA"),
    compile: |program| Ok(Pipeline::compile(program)?),
};
