//! Events: what happens to packets, and what programs report.

use num_bigint::BigUint;
use p4_ir::{SourceLoc, Type};
use units::Instant;

/// An event, other than a transmitted packet.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// A packet was dropped.
    Drop(Drop),
    /// The program called `digest`.
    Digest(Digest),
    /// The program called `log_msg`.
    Log(Log),
    /// An `assert` or `assume` failed and the packet was dropped.
    AssertFailed {
        /// When.
        at: Instant,
        /// Where in the source.
        loc: SourceLoc,
        /// The packet's tag.
        tag: u64,
    },
    /// A loop reached its iteration limit and was left.
    LoopCut {
        /// When.
        at: Instant,
        /// Where in the source.
        loc: SourceLoc,
        /// The number of iterations.
        rounds: u32,
        /// The packet's tag.
        tag: u64,
    },
    /// The engine panicked and dropped the packet being processed. Always reported, because it is a bug in the engine.
    Panic(Box<Panic>),
}

/// A panic in the engine, and the packet being processed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Panic {
    /// When.
    pub at: Instant,
    /// The panic message.
    pub message: String,
    /// `ingress` (from parser to queue) or `egress` (from queue to line).
    pub block: &'static str,
    /// The port that the packet came in through.
    pub ingress_port: u16,
    /// How often the packet had been resubmitted or recirculated. If 0, `octets` is the packet as it arrived.
    pub passes: u32,
    /// The packet as it was before it was last parsed.
    pub octets: Vec<u8>,
    /// Number of zero octets after them that are not stored.
    pub elided: u32,
    /// Its tag.
    pub tag: u64,
}

/// A packet that was dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Drop {
    /// When.
    pub at: Instant,
    /// The cause.
    pub cause: DropCause,
    /// The egress port, or the ingress port if no egress port had been chosen.
    pub port: u16,
    /// The packet's tag.
    pub tag: u64,
}

/// Why a packet was dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DropCause {
    /// Ingress left `egress_spec` at the drop port.
    Ingress,
    /// Egress left `egress_spec` at the drop port.
    Egress,
    /// The queue was full.
    TmFull,
    /// `egress_spec` (or a replica) names a port that the switch does not have.
    UnknownPort,
    /// `priority` names a queue that the port does not have.
    UnknownQueue,
    /// `mcast_grp` names a group that is not configured, or is empty.
    NoMulticastGroup,
    /// It was resubmitted or recirculated too often.
    TooManyPasses,
    /// The packet was a replica or clone beyond the limit per packet.
    TooManyCopies,
    /// The buffer for queued packets was full.
    BufferFull,
    /// The loops of a pass exceeded their common iteration limit.
    TooManyRounds,
    /// The engine panicked.
    Panic,
    /// An `assert` or `assume` failed.
    Assert,
}

impl DropCause {
    /// All causes, in the order of [`DropCounts::by_cause`].
    pub const ALL: [DropCause; 12] = [
        DropCause::Ingress,
        DropCause::Egress,
        DropCause::TmFull,
        DropCause::UnknownPort,
        DropCause::UnknownQueue,
        DropCause::NoMulticastGroup,
        DropCause::TooManyPasses,
        DropCause::TooManyCopies,
        DropCause::BufferFull,
        DropCause::TooManyRounds,
        DropCause::Panic,
        DropCause::Assert,
    ];

    /// A short name for tables and traces, such as `tm_full`.
    pub const fn name(self) -> &'static str {
        match self {
            DropCause::Ingress => "ingress",
            DropCause::Egress => "egress",
            DropCause::TmFull => "tm_full",
            DropCause::UnknownPort => "unknown_port",
            DropCause::UnknownQueue => "unknown_queue",
            DropCause::NoMulticastGroup => "no_multicast_group",
            DropCause::TooManyPasses => "too_many_passes",
            DropCause::TooManyCopies => "too_many_copies",
            DropCause::BufferFull => "buffer_full",
            DropCause::TooManyRounds => "too_many_rounds",
            DropCause::Panic => "panic",
            DropCause::Assert => "assert",
        }
    }
}

/// Packets dropped, by cause.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DropCounts([u64; DropCause::ALL.len()]);

impl DropCounts {
    /// Packets dropped for one cause.
    pub const fn of(&self, cause: DropCause) -> u64 {
        self.0[cause as usize]
    }

    /// Packets dropped for any cause.
    pub fn total(&self) -> u64 {
        self.0.iter().sum()
    }

    /// Each cause with its count.
    pub fn by_cause(&self) -> impl Iterator<Item = (DropCause, u64)> + '_ {
        DropCause::ALL.iter().map(|&cause| (cause, self.of(cause)))
    }

    /// Counts one packet.
    #[inline]
    pub fn count(&mut self, cause: DropCause) {
        self.0[cause as usize] += 1;
    }
}

/// A `digest` call of the program.
#[derive(Clone, Debug, PartialEq)]
pub struct Digest {
    /// When.
    pub at: Instant,
    /// The receiver argument.
    pub receiver: u32,
    /// The type of the data, which names the digest for a control plane.
    pub ty: Option<Type>,
    /// The values, flattened, each with its width in bits.
    pub fields: Vec<(BigUint, u32)>,
    /// The packet's tag.
    pub tag: u64,
}

/// A `log_msg` call of the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Log {
    /// When.
    pub at: Instant,
    /// The message, with values inserted.
    pub message: String,
    /// Where in the source.
    pub loc: SourceLoc,
    /// The packet's tag.
    pub tag: u64,
}
