//! Packet scripts (p4c's STF): packets in, packets expected, table entries between them.
//!
//! ```text
//! add ipv4_lpm hdr.ipv4.dst:0x0a000000/8 forward(port:2)
//! packet 1 ffffffffffff 000000000001 0800 45...
//! expect 2 ffffffffffff ************ 0800 $
//! ```
//! - [`Script::parse`] parses a script; errors contain line, column, and what was expected;
//! - [`run`] runs a script on a [`engine::Switch`], without any I/O, with the semantics of p4c's runner for BMv2; its
//!   [`Report`] contains the differences for each packet;
//! - [`run_on`] runs a script on an existing switch, and returns the switch with the packets that it sent;
//! - [`Failure::differences`] lists the fields in which a packet differs;
//! - [`grade`] runs scripts as a test, and reports for each failure what was tested;
//! - [`reproduce`] writes a script from a switch's state and a packet that caused a panic;
//! - [`run_traced`] is like [`run`], and also records the path of each packet: states, tables, queues.

mod fields;
mod lexer;
mod parser;
mod report;
mod reproduce;
mod runner;
mod script;
mod trace;
mod value;
mod verdict;

pub use fields::Difference;
pub use lexer::ParseError;
pub use report::{Failure, Report};
pub use reproduce::{program_name, reproduce};
pub use runner::{Outcome, Ports, run, run_on, run_traced};
pub use script::{Call, Command, Comparison, CounterCell, Expected, Quantity, Script, Verb};
pub use trace::{Hit, KeyField, Recorder, Source, Step, Trace, What};
pub use value::{Digits, Number, Tail};
pub use verdict::{Unmet, Verdict, grade};
