//! Congestion controls of SCTP: one window in octets for each path.
//!
//! | file | what it holds |
//! | --- | --- |
//! | [`standard`] | RFC 9260, §7.2: slow start, avoidance by partial octets acknowledged, halving |
//! | [`rbca`] | RTT-based congestion avoidance (Dahal 2007, §6.1.1) |
//! | [`spc`] | switch path on congestion (Dahal 2007, §6.1.2): when to leave a path, with what window |
//!
//! [`spc`] goes with either window: that makes the thesis' four variants.

pub mod rbca;
pub mod spc;
pub mod standard;

use std::fmt::Debug;
use units::Duration;

pub use rbca::Rbca;
pub use spc::{Spc, resumed_window};
pub use standard::Standard;

/// What every window is made with. Octets count DATA chunks with their headers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// The most octets of DATA chunks that a packet of the path's MTU holds.
    pub max_data: u32,
    /// Window before the first acknowledgement.
    pub initial: u32,
    /// Slow-start threshold before the first loss.
    pub ssthresh: u32,
    /// What a cut leaves at least: 2 · `max_data` (RFC 2960), 4 · `max_data` (RFC 9260).
    pub least: u32,
}

/// A selective acknowledgement, as one path is concerned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SackEvent {
    /// The cumulative TSN advanced.
    pub advanced: bool,
    /// The losses of a window are not yet repaired: the cumulative TSN is below what was the highest
    /// outstanding one when the window was cut.
    pub recovering: bool,
    /// Octets acknowledged for the first time.
    pub newly_acked: u32,
    /// Of these, octets acknowledged by gap blocks.
    pub gap_acked: u32,
    /// Octets outstanding before this acknowledgement.
    pub in_flight: u32,
    /// Round-trip time of the packet that is echoed.
    pub rtt: Option<Duration>,
}

impl SackEvent {
    /// The two conditions of growth: the cumulative TSN advanced, and the window was full.
    const fn may_change(&self, window: u32) -> bool {
        self.advanced && !self.recovering && self.newly_acked > 0 && self.in_flight >= window
    }
}

/// A path's congestion window.
pub trait Window: Debug + Send {
    /// The window in octets.
    fn octets(&self) -> u32;
    /// The slow-start threshold in octets.
    fn ssthresh(&self) -> u32;
    /// An acknowledgement came that concerns the path.
    fn on_sack(&mut self, event: &SackEvent);
    /// Gap reports showed a loss, the first of its window.
    fn on_loss(&mut self);
    /// The path's retransmission timer ran out.
    fn on_timeout(&mut self);
    /// Nothing was sent on the path for one RTO.
    fn on_idle(&mut self);
    /// The path is taken up again with another window.
    fn resume(&mut self, octets: u32);
}
