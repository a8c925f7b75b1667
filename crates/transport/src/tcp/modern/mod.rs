//! TCP as in today's hosts: the modern profile.
//!
//! ```text
//!  octets ─► Endpoint ── by 4-tuple ──► Connection ─► octets
//!                                        │ arrival     handling of segments (RFC 9293, 5961, 7323)
//!                                        │ departure   segments to send, and their options
//!                                        │ receiver    reassembly, window, when to acknowledge
//!                                        └ sender      what may be sent now, and timers
//!                                            acks        handling of acknowledgements
//!                                            scoreboard  the state of each segment
//!                                            rack, prr   which are lost, how much to send instead
//!                                            rto, rate   round-trip time, delivery rate
//!                                            pacer
//!                                            ecn          marks; ecn_octets, in octets
//!                                            └─► congestion::Controller, the window
//! ```
//!
//! | rules | source |
//! | --- | --- |
//! | states, windows, probes, silly windows, Nagle | RFC 9293 |
//! | guessed resets, SYNs and acknowledgements | RFC 5961 |
//! | window scale, timestamps, wrapped sequence numbers | RFC 7323 |
//! | SACK, reports of duplicates | RFC 2018, RFC 2883 |
//! | loss detection, tail loss probes | RFC 8985; without SACK RFC 6582 |
//! | rate in recovery | RFC 6937 |
//! | retransmission timer | RFC 6298 |
//! | congestion marks | RFC 3168, RFC 8257, RFC 9768 |
//! | initial window | RFC 6928 |
//!
//! The window is counted in segments; short segments count like full ones. Limited transmit (RFC
//! 3042) needs no separate rule, because selectively acknowledged data is no longer in flight.

mod acks;
mod arrival;
mod config;
mod connection;
mod departure;
mod ecn;
mod ecn_octets;
mod endpoint;
mod pacer;
mod prr;
mod rack;
mod rate;
mod receiver;
mod ring;
mod rto;
mod scoreboard;
mod secret;
mod sender;
mod stream;
#[cfg(test)]
mod walk;

pub use config::{Config, ConfigError, EcnMode, RtoBounds, Stamps};
pub use connection::{Connection, Ended, State, StreamError};
pub use endpoint::{Endpoint, EndpointError, Id};
