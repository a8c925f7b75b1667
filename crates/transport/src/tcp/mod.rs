//! TCP (RFC 9293), sans-IO, in two profiles.
//!
//! [`modern`] is TCP as in today's hosts. The other modules are the profile of the papers' simulator: packets of one
//! size, connections established from the start. Both share segments, marks, traces and the congestion controls.
//!
//! ```text
//!            handle_segment            poll_transmit
//!  Segment ───────────────► Connection ─────────────► Segment
//!                              │  receiver   received data, acknowledgements and echoes
//!                              │  mark       IPv4 options that a user declares
//!                              │  int        in-band telemetry: what hops record
//!                              │  feedback   marks on a segment ⇄ marks in an event
//!                              │  flight     sequence numbers, window, timer
//!                              │    ledger     when and how often each segment was sent
//!                              │    rtt        coarse (the timer's) and fine (Vegas')
//!                              │    recovery   what to resend, when to send nothing
//!                              └─► congestion::Controller, the window
//! ```
//!
//! After every `handle_*`, call [`Connection::poll_transmit`] until it returns `None`, then
//! [`Connection::poll_timeout`].

mod assembler;
mod config;
mod connection;
pub mod csig;
mod feedback;
mod flight;
mod int;
mod ledger;
mod mark;
pub mod modern;
mod octet_counts;
pub(crate) mod options;
mod presets;
mod receiver;
mod recovery;
mod rtt;
mod segment;
pub mod tcp_int;

mod trace;

pub use config::{Clock, Config, ConfigError, Profile, Recovery, RtoConfig, Sizes, Supply};
pub use connection::{Connection, Stats};
pub use int::Int;
pub use mark::{Aggregation, Field, Mark, MarkError, Marks};
pub use octet_counts::{First, OctetCounts};
pub use options::Options;
pub use segment::{Aqt, Avbw, Ecn, Flags, SackBlocks, Segment, SynOptions, Timestamps, Trimming};
pub use trace::{Change, Trace};
