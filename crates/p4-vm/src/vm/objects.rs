//! What an architecture's own calls do to tables and extern objects.

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

    /// Counts a packet of the given octets in a cell of a counter; a cell that is not there counts nothing.
    pub fn count(&mut self, counter: u32, index: u64, octets: u32) {
        if let Some(Object::Counter(counter)) = self.object_mut(counter)
            && let Ok(index) = usize::try_from(index)
            && let Some(cell) = counter.cells.get_mut(index)
        {
            cells::count(cell, counter.counted, octets);
        }
    }

    /// The colour that a cell of a meter gives a packet of the given octets: 0 green, 1 yellow, 2 red. `before`: the
    /// colour that it has, green for a meter that is colour-blind. A cell that is not there leaves it.
    pub fn measure(&mut self, meter: u32, index: u64, job: &Job, octets: u32, before: u64) -> u64 {
        if let Some(Object::Meter(meter)) = self.object_mut(meter)
            && let Ok(index) = usize::try_from(index)
            && let Some(cell) = meter.cells.get_mut(index)
        {
            return cell.execute(job.now, meter.unit, octets, before);
        }
        before
    }

    /// Counts a packet in the direct counter's cell of the entry that it hit last.
    pub fn count_direct(&mut self, table: TableId, job: &Job, octets: u32) {
        if let Some(table) = self.tables.get_mut(table.0 as usize) {
            table.count(job.hit, octets);
        }
    }

    /// The colour that the direct meter's cell of the entry that a packet hit last gives it, as
    /// [`measure`](Self::measure).
    pub fn measure_direct(&mut self, table: TableId, job: &Job, octets: u32, before: u64) -> u64 {
        let table = self.tables.get_mut(table.0 as usize);
        let colour = table.and_then(|table| table.measure(job.hit, job.now, octets, before));
        colour.unwrap_or(before)
    }

    /// The words of the direct register's cell of the entry that a packet hit last.
    pub fn direct_cell(&mut self, table: TableId, job: &Job) -> Option<&mut [u64]> {
        let table = self.tables.get_mut(table.0 as usize)?;
        Some(&mut table.cells_mut(job.hit).register)
    }

    /// A filter, and a random number for it: that of a cell, or the direct one of the entry that a packet hit last.
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

    /// A number from the switch's random generator.
    pub fn draw(&mut self) -> u64 {
        self.random.next_u64()
    }
}

/// Which filter.
#[derive(Clone, Copy, Debug)]
pub enum FilterAt {
    /// A cell of an object.
    Cell(u32, u64),
    /// That of the entry of a table that was hit last.
    Direct(TableId),
}
