//! Networks in virtual time: hosts and P4 switches, joined by links with rate, delay and loss.
//!
//! The map of this crate:
//! - [`scenario`]: the description of a run, as data.

pub mod scenario;
