//! Packet scripts (p4c's STF): packets in, packets expected, table entries between them.
//!
//! ```text
//! add ipv4_lpm hdr.ipv4.dst:0x0a000000/8 forward(port:2)
//! packet 1 ffffffffffff 000000000001 0800 45...
//! expect 2 ffffffffffff ************ 0800 $
//! ```
//! - [`Script::parse`] reads a script; errors say line, column, and what was expected there;
//! - [`run`] runs one on a [`engine::Switch`], without any I/O, with the meaning that p4c's runner for
//!   BMv2 gives it; its [`Report`] says packet by packet what differed;
//! - [`run_on`] runs one on a switch that is there already, and gives it back with the packets that came out;
//! - [`Failure::differences`] names the fields in which a packet differs;
//! - [`grade`] runs scripts as a test, and says of each failure what was tested;
//! - [`reproduce`] writes one: a switch's state, and a packet that met a panic;
//! - [`run_traced`] does the same and keeps what each packet met: states, tables, queues.

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
