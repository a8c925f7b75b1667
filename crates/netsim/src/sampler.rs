//! Samples the cells of the switches' objects at equal intervals, in bounded memory.

use crate::objects;
use crate::results::Samples;
use crate::switch::SwitchState;
use p4_ir::ExternId;
use units::{Duration, Instant};

/// The most cells that are sampled per object. Further cells are ignored.
pub const MAX_CELLS: usize = 4096;
/// The most rows that are stored for all objects, about 32 MB. At the limit, samples are thinned
/// out.
const MAX_ROWS: usize = 1 << 20;

/// Samples objects of all switches.
#[derive(Debug)]
pub(crate) struct Sampler {
    every: Duration,
    /// Number of samples taken.
    count: u64,
    next: Instant,
    rows: usize,
    objects: Vec<Sampled>,
    /// Scratch buffer for reading cells.
    cells: Vec<[u64; 2]>,
}

#[derive(Debug)]
struct Sampled {
    switch: usize,
    object: ExternId,
    /// The cells at the preceding sample.
    last: Vec<[u64; 2]>,
    rows: Vec<Row>,
}

/// A cell that has changed since the preceding sample.
#[derive(Clone, Copy, Debug)]
struct Row {
    sample: u64,
    index: u32,
    cell: [u64; 2],
}

impl Sampler {
    /// Creates a sampler for all recorded objects of the switches.
    pub fn new(every: Duration, switches: &[SwitchState]) -> Self {
        let every = every.max(Duration::from_nanos(1));
        let objects = switches.iter().enumerate().flat_map(|(i, node)| {
            let kept = objects::all(&node.switch)
                .filter(|object| objects::kind(&node.switch, *object).is_some());
            kept.map(move |object| Sampled {
                switch: i,
                object,
                last: Vec::new(),
                rows: Vec::new(),
            })
        });
        Sampler {
            every,
            count: 0,
            next: Instant::ZERO + every,
            rows: 0,
            objects: objects.collect(),
            cells: Vec::new(),
        }
    }

    /// Takes the samples that are due at or before `now`. Must be called before any other event of
    /// that time.
    pub fn advance(&mut self, now: Instant, switches: &[SwitchState]) {
        while self.next <= now {
            self.take(switches);
            self.next += self.every;
            if self.rows > MAX_ROWS && self.count.is_multiple_of(2) {
                self.thin();
            }
        }
    }

    fn take(&mut self, switches: &[SwitchState]) {
        let sample = self.count;
        self.count += 1;
        for sampled in &mut self.objects {
            let switch = &switches[sampled.switch].switch;
            objects::read_cells(switch, sampled.object, MAX_CELLS, &mut self.cells);
            sampled.last.resize(self.cells.len(), [0, 0]);
            let changed = self.cells.iter().zip(&mut sampled.last).enumerate();
            for (index, (&cell, last)) in changed.filter(|(_, (cell, last))| *cell != *last) {
                *last = cell;
                let index = index as u32;
                sampled.rows.push(Row {
                    sample,
                    index,
                    cell,
                });
                self.rows += 1;
            }
        }
    }

    /// Doubles the interval: of every two samples the second is kept, with the changes of both.
    fn thin(&mut self) {
        self.next += self.every;
        self.every += self.every;
        self.count /= 2;
        self.rows = 0;
        for sampled in &mut self.objects {
            for row in &mut sampled.rows {
                row.sample /= 2;
            }
            // The sort is stable: the latest of a cell's rows is the last one.
            sampled.rows.sort_by_key(|row| (row.sample, row.index));
            sampled.rows.dedup_by(|later, kept| {
                let same = (later.sample, later.index) == (kept.sample, kept.index);
                if same {
                    *kept = *later;
                }
                same
            });
            self.rows += sampled.rows.len();
        }
    }

    /// The samples of an object of a switch.
    pub fn of(&self, switch: usize, object: ExternId) -> Option<Samples> {
        let mut objects = self.objects.iter();
        let sampled = objects.find(|s| (s.switch, s.object) == (switch, object))?;
        let rows = || sampled.rows.iter();
        Some(Samples {
            every: self.every,
            count: self.count,
            sample: rows().map(|row| row.sample).collect(),
            index: rows().map(|row| u64::from(row.index)).collect(),
            low: rows().map(|row| row.cell[0]).collect(),
            high: rows().map(|row| row.cell[1]).collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_doubled_interval_keeps_the_last_change_of_each_cell() {
        let row = |sample, index, packets| Row {
            sample,
            index,
            cell: [packets, 0],
        };
        let mut sampler = Sampler::new(Duration::from_nanos(10), &[]);
        sampler.count = 4;
        sampler.next = Instant::from_nanos(50);
        sampler.objects.push(Sampled {
            switch: 0,
            object: ExternId(0),
            last: Vec::new(),
            rows: vec![row(0, 1, 5), row(0, 2, 7), row(1, 1, 6), row(2, 1, 8)],
        });
        sampler.thin();
        assert_eq!(sampler.next, Instant::from_nanos(60));
        let samples = sampler.of(0, ExternId(0)).unwrap();
        assert_eq!(samples.every, Duration::from_nanos(20));
        assert_eq!(samples.count, 2);
        assert_eq!(samples.sample, [0, 0, 1]);
        assert_eq!(samples.index, [1, 2, 1]);
        assert_eq!(samples.low, [6, 7, 8]);
        assert_eq!(sampler.rows, 3);
    }
}
