//! Sans-IO host transports: `handle_*` in, `poll_*` out.
//!
//! | module | what it holds |
//! | --- | --- |
//! | [`tcp`] | connections: sender and receiver, loss recovery, timers, feedback |
//! | [`sctp`] | associations: chunks, several paths, failover; messages in streams |
//! | [`wire`] | Ethernet, IPv4 with options, TCP and UDP headers, to and from octets |
//!
//! No clock, no socket, no random source: the caller says what time it is, hands segments in, and
//! takes segments out until there are none. The same code runs in virtual time and on real
//! interfaces.

pub mod sctp;
pub mod tcp;
pub mod wire;
