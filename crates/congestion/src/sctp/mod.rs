//! Congestion controls of SCTP, with one window in octets per path.
//!
//! | file | content |
//! | --- | --- |
//! | [`standard`] | RFC 9260, §7.2: slow start, avoidance by partial octets acknowledged, halving |
//! | [`rbca`] | RTT-based congestion avoidance (Dahal 2007, §6.1.1) |
//! | [`spc`] | switch path on congestion (Dahal 2007, §6.1.2): when to leave a path, and the window afterwards |
//!
//! [`spc`] can be combined with either window, which gives the thesis' four variants.

pub mod rbca;
pub mod spc;
pub mod standard;

use std::fmt::Debug;
use units::Duration;

pub use rbca::Rbca;
pub use spc::{Spc, resumed_window};
pub use standard::Standard;

/// The parameters of every window. Octets include the headers of DATA chunks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// The maximum octets of DATA chunks in a packet of the path's MTU.
    pub max_data: u32,
    /// Window before the first acknowledgement.
    pub initial: u32,
    /// Slow-start threshold before the first loss.
    pub ssthresh: u32,
    /// The minimum after a reduction: 2 · `max_data` (RFC 2960), 4 · `max_data` (RFC 9260).
    pub least: u32,
}

/// A selective acknowledgement, with the information for one path.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SackEvent {
    /// Whether the cumulative TSN advanced.
    pub advanced: bool,
    /// Whether the losses of a window are not yet repaired: the cumulative TSN is below the highest outstanding TSN at
    /// the time of the reduction.
    pub recovering: bool,
    /// Octets acknowledged for the first time.
    pub newly_acked: u32,
    /// The part of these that was acknowledged by gap blocks.
    pub gap_acked: u32,
    /// Octets outstanding before this acknowledgement.
    pub in_flight: u32,
    /// The round-trip time of the echoed packet.
    pub rtt: Option<Duration>,
}

impl SackEvent {
    /// The two conditions for growth: the cumulative TSN advanced, and the window was full.
    const fn may_change(&self, window: u32) -> bool {
        self.advanced && !self.recovering && self.newly_acked > 0 && self.in_flight >= window
    }
}

/// The congestion window of a path.
pub trait Window: Debug + Send {
    /// The window in octets.
    fn octets(&self) -> u32;
    /// The slow-start threshold in octets.
    fn ssthresh(&self) -> u32;
    /// An acknowledgement for the path arrived.
    fn on_sack(&mut self, event: &SackEvent);
    /// Gap reports indicated a loss, the first of its window.
    fn on_loss(&mut self);
    /// The path's retransmission timer expired.
    fn on_timeout(&mut self);
    /// Nothing was sent on the path for one RTO.
    fn on_idle(&mut self);
    /// The path becomes active again, with another window.
    fn resume(&mut self, octets: u32);
}
