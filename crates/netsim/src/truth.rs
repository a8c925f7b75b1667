//! What the simulator knows about a packet, to check the marks in it.
//!
//! The truth travels in the packet's tag, which no program sees.

use crate::event::Turn;
use std::fmt;
use units::Instant;

/// A packet's tag: its owner and its history so far.
///
/// ```text
///   bits 0–23   queueing time in µs, as the AQT option counts it, saturating
///   bits 24–41  its number, modulo 2^18, among the packets that its current switch handled
///   bit  42     it waited in a marking switch's queue when that refused another packet
///   bit  43     it carries data, not only an acknowledgement
///   bits 44–63  the flow or source
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Tag(pub u64);

/// The value at which AQT saturates.
const AQT_MAX_US: u64 = 0xFF_FFFF;
const ORDINAL_SHIFT: u32 = 24;
const ORDINALS: u64 = 1 << 18;
const MARKED: u64 = 1 << 42;
const DATA: u64 = 1 << 43;
const OWNER_SHIFT: u32 = 44;

impl Tag {
    /// The most flows and sources that tags can distinguish.
    pub const OWNERS: usize = 1 << 20;

    /// The tag of a packet that leaves its host. `owner` must be below [`Tag::OWNERS`].
    pub fn new(owner: usize, data: bool) -> Self {
        Tag((owner as u64) << OWNER_SHIFT | if data { DATA } else { 0 })
    }

    /// The flow or source it belongs to.
    pub fn owner(self) -> usize {
        (self.0 >> OWNER_SHIFT) as usize
    }

    /// Whether it carries data.
    pub fn is_data(self) -> bool {
        self.0 & DATA != 0
    }

    /// The queueing time so far, in µs.
    pub fn aqt_us(self) -> u32 {
        (self.0 & AQT_MAX_US) as u32
    }

    /// Whether the packet must carry a congestion indication.
    pub fn is_marked(self) -> bool {
        self.0 & MARKED != 0
    }

    /// Adds a hop's queueing time: ⌊t_deq/µs⌋ − ⌊t_enq/µs⌋.
    pub fn add_wait(&mut self, enqueued: Instant, dequeued: Instant) {
        let wait_us = dequeued.as_micros() - enqueued.as_micros();
        let sum = (self.0 & AQT_MAX_US)
            .saturating_add(wait_us)
            .min(AQT_MAX_US);
        self.0 = self.0 & !AQT_MAX_US | sum;
    }

    /// Records that it is the `ordinal`th packet that a switch handles.
    pub fn enter(&mut self, ordinal: u64) {
        let mask = (ORDINALS - 1) << ORDINAL_SHIFT;
        self.0 = self.0 & !mask | ordinal << ORDINAL_SHIFT & mask;
    }

    /// Records that it leaves a queue. `last_refusal` is the number of the last packet that the queue refused, and
    /// `handled` is the number of packets that the switch has handled. The refusal concerns this packet if it occurred
    /// later than its arrival.
    pub fn leave(&mut self, last_refusal: Option<u64>, handled: u64) {
        let age = handled.wrapping_sub(self.0 >> ORDINAL_SHIFT) % ORDINALS;
        let ordinal = handled - age.min(handled);
        if last_refusal.is_some_and(|refused| refused > ordinal) {
            self.0 |= MARKED;
        }
    }
}

impl fmt::Debug for Tag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tag")
            .field("owner", &self.owner())
            .field("data", &self.is_data())
            .field("aqt_us", &self.aqt_us())
            .field("marked", &self.is_marked())
            .finish()
    }
}

/// Comparison of marks with the truth.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Comparison {
    /// Packets whose mark was compared.
    pub compared: u64,
    /// Packets whose mark was wrong.
    pub mismatches: u64,
    /// Descriptions of the first of them.
    pub first: Vec<String>,
    /// The turns of these packets.
    pub(crate) turns: Vec<Turn>,
}

impl Comparison {
    /// The most mismatches that are described.
    const TOLD: usize = 10;

    /// Counts a comparison. `tell` describes a mismatch.
    pub(crate) fn compare(&mut self, turn: Turn, equal: bool, tell: impl FnOnce() -> String) {
        self.compared += 1;
        if equal {
            return;
        }
        self.mismatches += 1;
        if self.first.len() < Self::TOLD {
            self.first.push(tell());
            self.turns.push(turn);
        }
    }

    /// Adds the comparisons of another part of the network.
    pub(crate) fn add(&mut self, other: Comparison) {
        self.compared += other.compared;
        self.mismatches += other.mismatches;
        let told = std::mem::take(&mut self.first)
            .into_iter()
            .chain(other.first);
        let turns = std::mem::take(&mut self.turns)
            .into_iter()
            .chain(other.turns);
        let mut all: Vec<(Turn, String)> = turns.zip(told).collect();
        all.sort_by_key(|(turn, _)| *turn);
        all.truncate(Self::TOLD);
        (self.turns, self.first) = all.into_iter().unzip();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_add_up_in_whole_microseconds_of_the_clock_and_saturate() {
        let at = Instant::from_nanos;
        let mut tag = Tag::new(3, true);
        // 1.999 µs to 2.001 µs: the clock's microsecond changed once.
        tag.add_wait(at(1_999), at(2_001));
        assert_eq!(tag.aqt_us(), 1);
        tag.add_wait(at(5_000), at(5_999));
        assert_eq!(tag.aqt_us(), 1);
        tag.add_wait(at(0), at(16_777_214_000));
        assert_eq!(tag.aqt_us(), 0xFF_FFFF);
        tag.add_wait(at(0), at(1_000));
        assert_eq!((tag.aqt_us(), tag.owner()), (0xFF_FFFF, 3));
        assert!(tag.is_data() && !tag.is_marked());
    }

    #[test]
    fn a_refusal_marks_what_was_admitted_before_it_and_nothing_else() {
        let marked = |ordinal: u64, refused: Option<u64>, handled: u64| {
            let mut tag = Tag::new(0, true);
            tag.enter(ordinal);
            tag.leave(refused, handled);
            tag.is_marked()
        };
        assert!(marked(5, Some(6), 7));
        assert!(!marked(7, Some(6), 8));
        assert!(!marked(5, None, 8));
        // Numbers wrap around in the tag. An old refusal remains old.
        let wrapped = ORDINALS + 5;
        assert!(marked(wrapped, Some(wrapped + 1), wrapped + 2));
        assert!(!marked(wrapped, Some(6), wrapped + 1));
    }
}
