//! Access to tables and extern objects for calls that only an architecture has.

use super::{Job, Machine};
use crate::cells;
use crate::filter::Filter;
use crate::object::Object;
use p4_ir::TableId;
use rand_chacha::rand_core::Rng;

impl Machine {
    /// An extern object, by its number in the program.
    #[inline]
    pub fn object_mut(&mut self, object: u32) -> Option<&mut Object> {
        self.objects.get_mut(object as usize)
    }

    /// Counts a packet of the given length in a cell of a counter. Does nothing if there is no such cell.
    pub fn count(&mut self, counter: u32, index: u64, octets: u32) {
        if let Some(Object::Counter(counter)) = self.object_mut(counter)
            && let Ok(index) = usize::try_from(index)
            && let Some(cell) = counter.cells.get_mut(index)
        {
            cells::count(cell, counter.counted, octets);
        }
    }

    /// Measures a packet of the given length with a cell of a meter. Returns the colour: 0 green, 1 yellow, 2 red.
    /// `before` is the packet's previous colour; a colour-blind meter passes green. Returns `before` if there is no
    /// such cell.
    pub fn measure(&mut self, meter: u32, index: u64, job: &Job, octets: u32, before: u64) -> u64 {
        if let Some(Object::Meter(meter)) = self.object_mut(meter)
            && let Ok(index) = usize::try_from(index)
            && let Some(cell) = meter.cells.get_mut(index)
        {
            return cell.execute(job.now, meter.unit, octets, before);
        }
        before
    }

    /// Counts a packet in the direct counter of the entry that it hit last.
    pub fn count_direct(&mut self, table: TableId, job: &Job, octets: u32) {
        if let Some(table) = self.tables.get_mut(table.0 as usize) {
            table.count(job.hit, octets);
        }
    }

    /// Measures a packet with the direct meter of the entry that it hit last, like [`measure`](Self::measure).
    pub fn measure_direct(&mut self, table: TableId, job: &Job, octets: u32, before: u64) -> u64 {
        let table = self.tables.get_mut(table.0 as usize);
        let colour = table.and_then(|table| table.measure(job.hit, job.now, octets, before));
        colour.unwrap_or(before)
    }

    /// The words of the direct register of the entry that a packet hit last.
    pub fn direct_cell(&mut self, table: TableId, job: &Job) -> Option<&mut [u64]> {
        let table = self.tables.get_mut(table.0 as usize)?;
        Some(&mut table.cells_mut(job.hit).register)
    }

    /// A filter and a random number for it: the filter of a cell, or the direct filter of the entry that a packet hit
    /// last.
    pub fn filter(&mut self, at: FilterAt, job: &Job) -> Option<(&mut Filter, u64)> {
        let draw = self.draw();
        let filter = match at {
            FilterAt::Cell(object, index) => match self.object_mut(object)? {
                Object::Filters(_, filters) => filters.get_mut(usize::try_from(index).ok()?)?,
                _ => return None,
            },
            FilterAt::Direct(table) => {
                let table = self.tables.get_mut(table.0 as usize)?;
                &mut table.cells_mut(job.hit).filter
            }
        };
        Some((filter, draw))
    }

    /// Draws a number from the switch's random number generator.
    pub fn draw(&mut self) -> u64 {
        self.random.next_u64()
    }
}

/// Selects a filter.
#[derive(Clone, Copy, Debug)]
pub enum FilterAt {
    /// A cell of an object.
    Cell(u32, u64),
    /// The direct filter of the entry of a table that was hit last.
    Direct(TableId),
}
