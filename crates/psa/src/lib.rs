//! The Portable Switch Architecture, version 1.2: its pipeline, externs and metadata.
//!
//! Section numbers in comments are those of the [specification](https://p4.org/p4-spec/docs/PSA.html).
//!
//! The map of this crate:
//! - `architecture`: [`Psa`], what the engine and the switch ask of an architecture;
//! - `blocks`: the package and its metadata; `externs`, `objects`: what PSA declares; `ports`: numbers of ports;
//! - `ingress`, `egress`, `paths`: a packet's way, and how it starts over.

mod architecture;
mod blocks;
mod egress;
mod externs;
mod ingress;
mod objects;
mod paths;
mod ports;

pub use architecture::Psa;
use switch::Registration;

/// A program translated for PSA.
pub type Pipeline = p4_vm::Pipeline<Psa>;
/// A PSA switch.
pub type Switch = switch::Switch<Psa>;

/// How programs find it.
pub const REGISTRATION: Registration = Registration {
    package: blocks::PACKAGE,
    include: "psa.p4",
    runs: |program| program.package == blocks::PACKAGE,
    compile: |program| Ok(Pipeline::compile(program)?),
};
