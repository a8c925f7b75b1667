//! The settings of a TCP connection as data (JSON), and the transport's configurations that they make.
//!
//! Scenarios in virtual time and hosts on interfaces have the same settings, defaults and errors.
//!
//! The map of this crate:
//! - `control`: the congestion control, with its settings;
//! - `csig`: the quantiser of CSIG's hops;
//! - `profile`: the rest of the transport, by family of rules;
//! - `mark`: IPv4 options that packets carry besides the built-in marks;
//! - `connection`: [`Settings`], all of these together, and what they make;
//! - `check`: ranges of numbers; `error`: what is wrong with data, and where; `message`: serde's messages in
//!   terms of the data.

pub mod check;
mod connection;
mod control;
mod csig;
mod error;
mod mark;
mod message;
mod profile;

pub use connection::Settings;
pub use control::{Control, Controls, Custom};
pub use csig::Csig;
pub use error::{DataError, read};
pub use mark::{AggregationName, Mark, MarkField};
pub use profile::{EcnName, ModernProfile, Ns2Profile, Profile};
