//! The Portable Switch Architecture, version 1.2: its pipeline, externs and metadata.
//!
//! Section numbers in comments are those of the [specification](https://p4.org/p4-spec/docs/PSA.html).
//!
//! The map of this crate:
//! - `architecture`: [`Psa`], the interface to the engine and the switch;
//! - `blocks`: the package and its metadata; `externs`, `objects`: the declarations of PSA; `ports`: port numbers;
//! - `ingress`, `egress`, `paths`: the path of a packet, and how it starts over.

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

/// The registration for look-up by programs.
pub const REGISTRATION: Registration = Registration {
    package: blocks::PACKAGE,
    include: "psa.p4",
    runs: |program| program.package == blocks::PACKAGE,
    compile: |program| Ok(Pipeline::compile(program)?),
};
