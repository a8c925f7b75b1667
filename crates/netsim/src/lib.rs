//! Networks in virtual time: hosts and P4 switches, joined by links with rate, delay and loss.
//!
//! ```text
//!   scenario (data) ──► Simulation::new ──► run … run ──► finish ──► Results (columns)
//! ```
//! Every packet between hosts consists of real octets and passes through the P4 program of every switch on its path.
//! The same scenario and programs give the same results and the same capture, bit for bit.
//!
//! The map of this crate:
//! - [`scenario`]: the description of a run, as data;
//! - `simulation`: handles events in order and moves packets; `event`: the event queue, on a `heap`, with the packets
//!   on lines, some of which are `in_flight` in slots;
//! - `line`, `lines_out`, `queue`, `medium`, `host`, `switch`, `router`, `flow`, `connection`, `association`,
//!   [`source`]: the components of a network;
//! - [`shadowing`]: how often a wireless link loses a packet;
//! - `ports`: port numbers of traffic;
//! - `random`: a separate stream of random numbers for each user;
//! - [`record`], [`results`]: the records per time bin, and the results at the end;
//! - [`trace`]: the state of a sender after each change;
//! - [`observe`]: observing a run in progress;
//! - [`truth`]: what the simulator knows about a packet, to check its marks;
//! - [`losses`]: where packets were lost, to check how senders classified the losses;
//! - `pcap`: captures;
//! - [`replay`]: small networks of routers without programs, for comparison with traces of another simulator; `watch`
//!   records the events at one of their queues.

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
