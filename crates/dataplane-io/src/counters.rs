//! Counters of frames outside of the switch, by port and cause.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The events that are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outside {
    /// A frame arrived while the receive ring was full.
    ReceiveOverflow,
    /// A frame longer than the interface's MTU arrived and was truncated.
    ReceiveTooLong,
    /// A frame had been received when the interface disappeared.
    Detached,
    /// A frame arrived before a program was loaded.
    NoProgram,
    /// A frame that a capture could not record.
    CaptureFailed,
    /// The interface was reopened, because it disappeared and returned or because its MTU grew.
    Reattached,
}

impl Outside {
    const ALL: [Outside; 6] = [
        Outside::ReceiveOverflow,
        Outside::ReceiveTooLong,
        Outside::Detached,
        Outside::NoProgram,
        Outside::CaptureFailed,
        Outside::Reattached,
    ];

    /// A short name for tables, such as `send_failed`.
    pub const fn name(self) -> &'static str {
        match self {
            Outside::ReceiveOverflow => "receive_overflow",
            Outside::ReceiveTooLong => "receive_too_long",
            Outside::Detached => "detached",
            Outside::NoProgram => "no_program",
            Outside::CaptureFailed => "capture_failed",
            Outside::Reattached => "reattached",
        }
    }
}

/// The counters of each port. Any thread may read them.
#[derive(Clone, Debug, Default)]
pub struct Counters(Arc<Vec<PortCounters>>);

#[derive(Debug)]
struct PortCounters {
    port: u16,
    counts: [AtomicU64; Outside::ALL.len()],
}

impl Counters {
    /// Creates counters for these ports, all zero.
    pub fn new(ports: impl IntoIterator<Item = u16>) -> Self {
        let port = |port| PortCounters {
            port,
            counts: Default::default(),
        };
        Counters(Arc::new(ports.into_iter().map(port).collect()))
    }

    /// A counter of a port.
    pub fn of(&self, port: u16, what: Outside) -> u64 {
        let port = self.0.iter().find(|counters| counters.port == port);
        port.map_or(0, |port| port.counts[what as usize].load(Ordering::Relaxed))
    }

    /// All counters that are not zero: port, name, count.
    pub fn all(&self) -> Vec<(u16, &'static str, u64)> {
        let each = self.0.iter().flat_map(|counters| {
            Outside::ALL.map(|what| (counters.port, what.name(), self.of(counters.port, what)))
        });
        each.filter(|(.., count)| *count > 0).collect()
    }

    /// Adds to a counter. An unknown port is ignored.
    pub(crate) fn add(&self, port: u16, what: Outside, count: u64) {
        if let Some(port) = self.0.iter().find(|counters| counters.port == port) {
            port.counts[what as usize].fetch_add(count, Ordering::Relaxed);
        }
    }
}
