//! The Tofino Native Architectures of Tofino 1 (TNA) and Tofino 2 (T2NA): pipelines, externs, metadata.
//!
//! A packet passes through the hardware in this order, which is also the order of the modules:
//! - `prefix`: the metadata that precedes each packet in a parser;
//! - `ingress`: parser, match-action units, deparser; `fate`: the decision of the traffic manager about the packet;
//! - `deflection`: packets that a queue refuses; `ghost`: the control that runs when the length of a queue changes;
//! - `egress`: parser, match-action units, deparser, line;
//! - `requests`: requests of a deparser for other packets; `copies`: the resulting packets;
//! - `generator`: packets that the hardware generates.
//!
//! The declarations for programs are in `blocks` (the package and its metadata), `externs` and `objects`.
//! `parser_errors` contains the bits of `parser_err`, `unsupported` the requests that programs may not make, and
//! `generation` and `ports` the differences between the two hardware generations. [`architecture`](Tna) is the
//! interface to the engine and the switch.

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
mod length;
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

/// The registration of Tofino 1 for look-up by programs.
pub const TNA: Registration = Registration {
    package: blocks::PACKAGE,
    include: "tna.p4",
    runs: |program| blocks::is_for(program, "TNA"),
    compile: |program| Ok(Pipeline::compile(program)?),
};

/// The registration of Tofino 2 for look-up by programs.
pub const T2NA: Registration = Registration {
    package: blocks::PACKAGE,
    include: "t2na.p4",
    runs: |program| blocks::is_for(program, "T2NA"),
    compile: |program| Ok(Pipeline::compile(program)?),
};
