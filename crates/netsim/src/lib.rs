//! Networks in virtual time: hosts and P4 switches, joined by links with rate, delay and loss.
//!
//! ```text
//!   scenario (data) ──► Simulation::new ──► run … run ──► finish ──► Results (columns)
//! ```
//! Every packet between hosts is real octets and goes through the P4 program of every switch on its way.
//! The same scenario and programs give the same results and the same capture, octet for octet.
//!
//! The map of this crate:
//! - [`scenario`]: the description of a run, as data;
//! - `simulation`: takes events in order and moves packets; `event` the queue of what happens next, on a `heap`, with
//!   packets on lines, of which some are `in_flight` in slots;
//! - `line`, `lines_out`, `queue`, `medium`, `host`, `switch`, `router`, `flow`, `connection`, `association`, [`source`]: what a network is made of;
//! - [`shadowing`]: how often a wireless link loses a packet;
//! - `ports`: which port numbers traffic has;
//! - `random`: one stream of random numbers for each thing that draws;
//! - [`record`], [`results`]: what is kept per bin of time, and handed over at the end;
//! - [`trace`]: a sender's state after each change;
//! - [`observe`]: what can be seen during a run;
//! - [`truth`]: what the simulator knows about a packet, to judge its marks by;
//! - [`losses`]: where packets were lost, to judge by it what senders took that for;
//! - `pcap`: captures;
//! - [`replay`]: small networks of routers without programs, to be compared with another simulator's traces; `watch`
//!   notes what happens at a queue of theirs.

mod association;
mod connection;
mod event;
pub mod flow;
mod heap;
mod host;
mod in_flight;
mod line;
mod lines_out;
pub mod losses;
mod medium;
mod objects;
pub mod observe;
mod pcap;
mod ports;
mod queue;
mod random;
pub mod record;
pub mod replay;
pub mod results;
mod router;
mod sampler;
pub mod scenario;
pub mod shadowing;
mod share;
mod simulation;
mod snoop;
pub mod source;
mod switch;
pub mod trace;
pub mod truth;
mod watch;

pub use results::Results;
pub use scenario::{Scenario, ScenarioError};
pub use simulation::{Controls, Division, Limit, Programs, RunError, Simulation};
