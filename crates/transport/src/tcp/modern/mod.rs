//! TCP as hosts of today have it: the modern profile.
//!
//! ```text
//!  octets ─► Endpoint ── by 4-tuple ──► Connection ─► octets
//!                                        │ arrival     what a segment means (RFC 9293, 5961, 7323)
//!                                        │ departure   what is sent, and told with it
//!                                        │ receiver    reassembly, window, when to acknowledge
//!                                        └ sender      what may leave now, and its timers
//!                                            acks        what an acknowledgement tells
//!                                            scoreboard  what became of each segment
//!                                            rack, prr   which are lost, how much goes instead
//!                                            rto, rate   round-trip time, delivery rate
//!                                            pacer
//!                                            ecn          marks; ecn_octets, in octets
//!                                            └─► congestion::Controller, the window
//! ```
//!
//! | rules | from |
//! | --- | --- |
//! | states, windows, probes, silly windows, Nagle | RFC 9293 |
//! | resets, SYNs and acknowledgements that were guessed | RFC 5961 |
//! | scale, timestamps, wrapped numbers | RFC 7323 |
//! | SACK, copies told | RFC 2018, RFC 2883 |
//! | loss detection, tail loss probes | RFC 8985; without SACK RFC 6582 |
//! | rate in recovery | RFC 6937 |
//! | retransmission timer | RFC 6298 |
//! | congestion marks | RFC 3168, RFC 8257, RFC 9768 |
//! | first window | RFC 6928 |
//!
//! The window is counted in segments; short ones count as long ones do. Limited transmit (RFC 3042)
//! needs no rule of its own: what was selectively acknowledged is in flight no more.

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
