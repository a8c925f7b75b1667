//! Cells of registers, counters and meters.

use crate::pending::{Array, Writable};
use crate::wide::limbs_of;
use crate::{CounterData, MeterConfig};
use num_bigint::BigUint;
use units::Instant;

/// An array of values.
#[derive(Debug)]
pub struct Register {
    /// How many cells there are.
    pub size: u64,
    /// The width of a cell in bits: the sum of the widths of its fields.
    pub width: u32,
    /// Words of a cell.
    pub limbs: usize,
    /// The width of each value in a cell: one value, or the fields of a struct.
    pub fields: Vec<u32>,
    /// The cells' words.
    pub cells: Array<u64>,
    /// The cells in use, if the register is used as a queue or stack.
    pub queue: Queue,
}

/// The cells of a queue or stack that are in use.
#[derive(Clone, Copy, Debug, Default)]
pub struct Queue {
    /// The index of the first cell.
    pub first: u64,
    /// The number of cells.
    pub count: u64,
}

/// An operation on a queue or stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Selects the cell after the one of the last access, wrapping around at the end.
    Next,
    /// Enqueues at the end of a queue.
    Enqueue,
    /// Dequeues from the front of a queue.
    Dequeue,
    /// Pushes onto a stack.
    Push,
    /// Pops from a stack.
    Pop,
}

impl Register {
    /// The cell that an access refers to. `None` if the queue or stack is full or empty.
    pub fn access(&mut self, access: Access) -> Option<u64> {
        let Queue { first, count } = &mut self.queue;
        let size = self.size;
        match access {
            Access::Next => {
                let at = *first;
                *first = (at + 1).checked_rem(size)?;
                Some(at)
            }
            Access::Enqueue | Access::Push => {
                let at = (*count < size).then(|| (*first + *count) % size)?;
                *count += 1;
                Some(at)
            }
            Access::Dequeue => {
                *count = count.checked_sub(1)?;
                let at = *first;
                *first = (at + 1) % size;
                Some(at)
            }
            Access::Pop => {
                *count = count.checked_sub(1)?;
                Some((*first + *count) % size)
            }
        }
    }

    /// The words of a cell, or `None` if the index is out of range.
    #[inline]
    pub fn cell_mut(&mut self, index: u64) -> Option<&mut [u64]> {
        let at = usize::try_from(index).ok()?.checked_mul(self.limbs)?;
        self.cells.some_mut(at, self.limbs)
    }

    /// The value of a cell as a number: the concatenation of its fields, the first field most significant. The cell
    /// must exist.
    pub fn number(&self, at: usize) -> BigUint {
        let words = (at * self.limbs..).take(self.limbs);
        let words = words.filter_map(|word| self.cells.get(word));
        let words: Vec<u64> = words.map(|word| *word).collect();
        let mut cell = words.as_slice();
        let mut number = BigUint::ZERO;
        for &width in &self.fields {
            let limbs;
            (limbs, cell) = cell.split_at(width.div_ceil(64) as usize);
            let octets = limbs.iter().flat_map(|limb| limb.to_le_bytes());
            let field = BigUint::from_bytes_le(&octets.collect::<Vec<_>>());
            number = number << width | field;
        }
        number
    }

    /// The words of a cell with this value. Bits above its width are cut off.
    pub fn cell_of(&self, number: &BigUint) -> Vec<u64> {
        let mut left = self.width;
        let mut cell = Vec::with_capacity(self.limbs);
        for &width in &self.fields {
            left -= width;
            let ones = (BigUint::from(1_u8) << width) - 1_u8;
            cell.extend(limbs_of(&(number >> left & ones), width.div_ceil(64)));
        }
        cell.resize(self.limbs, 0);
        cell
    }

    /// Sets all cells to the same words.
    pub fn fill(&mut self, cell: &[u64]) {
        for target in self.cells.all_mut().chunks_mut(self.limbs) {
            target.copy_from_slice(cell);
        }
    }
}

/// What a counter counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counted {
    /// Whether it counts packets.
    pub packets: bool,
    /// Whether it counts their octets.
    pub octets: bool,
}

/// An array of counts.
#[derive(Debug)]
pub struct Counter {
    pub counted: Counted,
    pub cells: Array<CounterData>,
}

/// What a meter measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MeterUnit {
    /// Packets.
    Packets,
    /// Octets.
    Octets,
}

/// An array of meters.
#[derive(Debug)]
pub struct Meter {
    pub unit: MeterUnit,
    pub cells: Array<MeterCell>,
}

/// A cell of a meter.
#[derive(Clone, Debug, Default)]
pub struct MeterCell {
    /// Without a marker, every packet is green.
    pub marker: Option<Marker>,
    /// The number of packets of each colour.
    pub colours: [CounterData; 3],
}

impl MeterCell {
    /// The packet's colour: 0 green, 1 yellow, 2 red. `before` is its previous colour, which the meter never improves.
    /// A colour-blind meter passes green.
    pub fn execute(&mut self, now: Instant, unit: MeterUnit, octets: u32, before: u64) -> u64 {
        let marker = self.marker.as_mut();
        let colour = match marker {
            Some(marker) => marker.execute(now, amount(unit, octets), before),
            None => before.min(2),
        };
        let counter = &mut self.colours[colour as usize];
        counter.packets += 1;
        counter.octets += octets as u64;
        colour
    }
}

/// A write to a cell of a meter.
#[derive(Clone, Debug, Default)]
pub struct MeterWrite {
    /// The new marker, `Some(None)` to remove it, or `None` to keep it.
    pub marker: Option<Option<Box<Marker>>>,
    /// Whether the colour counters are reset to 0.
    pub clears_colours: bool,
}

impl MeterWrite {
    /// Merges a later write into this one.
    pub fn then(&mut self, later: MeterWrite) {
        self.marker = later.marker.or(self.marker.take());
        self.clears_colours |= later.clears_colours;
    }
}

impl Writable for MeterCell {
    type Write = MeterWrite;

    fn write(&mut self, write: MeterWrite) {
        if let Some(marker) = write.marker {
            self.marker = marker.map(|marker| *marker);
        }
        if write.clears_colours {
            self.colours = Default::default();
        }
    }
}

/// A two-rate three-colour marker (RFC 2698), or a single-rate one with an excess burst (RFC 2697).
///
/// As in BMv2, tokens are generated for whole microseconds since time 0, rounded down.
#[derive(Clone, Copy, Debug)]
pub struct Marker {
    pub config: MeterConfig,
    peak: Bucket,
    committed: Bucket,
    /// Tokens for which the committed bucket had no room.
    excess: u64,
}

#[derive(Clone, Copy, Debug)]
struct Bucket {
    tokens: u64,
    /// Tokens generated since time 0.
    made: u64,
}

impl Bucket {
    /// Fills the bucket. Returns the tokens for which there was no room.
    fn fill(&mut self, now: Instant, rate: f64, burst: u64) -> u64 {
        let made = (now.as_micros() as f64 * (rate / 1e6)) as u64;
        let new = made.saturating_sub(self.made);
        self.made = made;
        let tokens = self.tokens.saturating_add(new);
        self.tokens = tokens.min(burst);
        tokens - self.tokens
    }
}

impl Marker {
    /// Creates a marker with full buckets.
    pub fn new(config: MeterConfig) -> Self {
        let full = |tokens| Bucket { tokens, made: 0 };
        Marker {
            config,
            peak: full(config.pburst),
            committed: full(config.cburst),
            excess: config.eburst,
        }
    }

    /// The packet's colour: 0 green, 1 yellow, 2 red; at least `before`.
    pub fn execute(&mut self, now: Instant, amount: u64, before: u64) -> u64 {
        let config = self.config;
        let left = self.committed.fill(now, config.cir, config.cburst);
        if config.eburst > 0 {
            self.excess = self.excess.saturating_add(left).min(config.eburst);
            return self.of_one_rate(amount, before);
        }
        self.peak.fill(now, config.pir, config.pburst);
        if before >= 2 || self.peak.tokens < amount {
            return 2;
        }
        self.peak.tokens -= amount;
        if before == 1 || self.committed.tokens < amount {
            return 1;
        }
        self.committed.tokens -= amount;
        0
    }

    fn of_one_rate(&mut self, amount: u64, before: u64) -> u64 {
        let buckets = [&mut self.committed.tokens, &mut self.excess];
        for (tokens, colour) in buckets.into_iter().zip(0..) {
            if before <= colour && *tokens >= amount {
                *tokens -= amount;
                return colour;
            }
        }
        2
    }
}

/// Counts a packet.
#[inline]
pub fn count(cell: &mut CounterData, counted: Counted, octets: u32) {
    cell.packets += counted.packets as u64;
    cell.octets += if counted.octets { octets as u64 } else { 0 };
}

/// The number of tokens that a packet takes from a meter.
fn amount(unit: MeterUnit, octets: u32) -> u64 {
    match unit {
        MeterUnit::Packets => 1,
        MeterUnit::Octets => octets as u64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 2698 by hand: CIR 1000/s with a burst of 1000, PIR 2000/s with a burst of 2000, packets of
    /// 600 octets. At 0: P 2000 → 1400, C 1000 → 400 green; P 1400 → 800, C 400 < 600 yellow;
    /// P 800 → 200 yellow; P 200 < 600 red. At 0.2 s: P 200 + 400 → 0, C 400 + 200 → 0 green.
    #[test]
    fn three_colours_of_rfc_2698() {
        let config = MeterConfig {
            cir: 1000.0,
            cburst: 1000,
            pir: 2000.0,
            pburst: 2000,
            eburst: 0,
        };
        let mut marker = Marker::new(config);
        let colours: Vec<_> = (0..4)
            .map(|_| marker.execute(Instant::ZERO, 600, 0))
            .collect();
        assert_eq!(colours, [0, 1, 1, 2]);
        assert_eq!(marker.execute(Instant::from_micros(200_000), 600, 0), 0);
        assert_eq!(marker.execute(Instant::from_micros(200_000), 600, 0), 2);
    }

    /// RFC 2697 by hand: CIR 1000/s, CBS 1000, EBS 700, packets of 600 octets. At 0: C 1000 → 400 green;
    /// E 700 → 100 yellow; C 400, E 100 red. At 0.8 s: C 400 + 800 → 1000, E 100 + 200; C → 400 green,
    /// then red, as E has 300. At 1.7 s: C 400 + 900 → 1000, E 300 + 300 → 600; C → 400 green, E → 0
    /// yellow.
    #[test]
    fn three_colours_of_rfc_2697() {
        let config = MeterConfig {
            cir: 1000.0,
            cburst: 1000,
            pir: 1000.0,
            pburst: 1000,
            eburst: 700,
        };
        let mut marker = Marker::new(config);
        let mut at = |us| marker.execute(Instant::from_micros(us), 600, 0);
        assert_eq!([at(0), at(0), at(0)], [0, 1, 2]);
        assert_eq!([at(800_000), at(800_000)], [0, 2]);
        assert_eq!([at(1_700_000), at(1_700_000), at(1_700_000)], [0, 1, 2]);
    }

    /// Colour-aware (RFC 2698): a yellow packet takes no committed tokens, a red one takes none at all.
    #[test]
    fn a_colour_aware_meter_does_not_improve_a_colour() {
        let config = MeterConfig {
            cir: 1000.0,
            cburst: 1000,
            pir: 2000.0,
            pburst: 2000,
            eburst: 0,
        };
        let mut marker = Marker::new(config);
        let mut at = |before| marker.execute(Instant::ZERO, 600, before);
        assert_eq!([at(2), at(1), at(0), at(0), at(0)], [2, 1, 0, 1, 2]);
        let mut cell = MeterCell::default();
        assert_eq!(cell.execute(Instant::ZERO, MeterUnit::Packets, 1, 1), 1);
    }
}
