//! The interface for tracing a packet.

use crate::{DropCause, Entry};
use p4_ir::{ActionId, SourceLoc, TableId};
use units::Instant;

/// Receives trace events. Without a tracer, no event is constructed.
pub trait Tracer: std::fmt::Debug + Send {
    /// Something happened to the packet with this tag.
    fn event(&mut self, now: Instant, tag: u64, event: TraceEvent<'_>);
}

/// A step on the path of a packet.
#[derive(Clone, Copy, Debug)]
pub enum TraceEvent<'a> {
    /// It was passed to the switch.
    Arrive {
        /// Ingress port.
        port: u16,
    },
    /// A parser state was entered.
    State {
        /// The state's name.
        name: &'a str,
        /// Where it is declared.
        loc: SourceLoc,
    },
    /// The parser rejected it.
    Reject {
        /// The error's name.
        error: &'a str,
        /// Where.
        loc: SourceLoc,
    },
    /// A table was applied.
    Table {
        /// Which.
        table: TableId,
        /// The value of each key as words, least significant first.
        key: &'a [&'a [u64]],
        /// The entry that it hit.
        entry: Option<&'a Entry>,
        /// The action that runs.
        action: ActionId,
        /// Where it is applied.
        loc: SourceLoc,
    },
    /// A loop reached its iteration limit and was left.
    LoopCut {
        /// The number of iterations.
        rounds: u32,
        /// Where the loop is.
        loc: SourceLoc,
    },
    /// It joined a queue.
    Enqueue {
        /// The egress port.
        port: u16,
        /// The queue.
        priority: u8,
        /// Packets that wait there already.
        depth: u32,
    },
    /// It left a queue.
    Dequeue {
        /// The egress port.
        port: u16,
        /// The queue.
        priority: u8,
        /// Packets that still wait there.
        depth: u32,
        /// When it joined.
        enqueued: Instant,
    },
    /// It was dropped.
    Drop {
        /// Why.
        cause: DropCause,
        /// The port.
        port: u16,
    },
}
