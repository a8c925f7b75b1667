//! Sans-IO host transports: `handle_*` in, `poll_*` out.
//!
//! | module | content |
//! | --- | --- |
//! | [`tcp`] | connections: sender and receiver, loss recovery, timers, feedback |
//! | [`sctp`] | associations: chunks, several paths, failover; messages in streams |
//! | [`wire`] | encoding and decoding of Ethernet, IPv4 with options, TCP and UDP headers |
//!
//! There is no clock, socket or random source: the caller passes the time and segments, and polls
//! for segments until there are none. The same code runs in virtual time and on real interfaces.

pub mod sctp;
pub mod tcp;
pub mod wire;
