//! The cells of direct objects: counters, meters, registers and filters with a cell in each entry of a table.

use crate::CounterData;
use crate::cells::{Counted, MeterCell, MeterUnit, MeterWrite};
use crate::filter::{Filter, FilterKind};
use crate::pending::Writable;

/// The cells of a table's direct objects that belong to an entry, or to the default.
#[derive(Clone, Debug, Default)]
pub struct Direct {
    pub counter: CounterData,
    pub meter: MeterCell,
    /// The words of a direct register's cell.
    pub register: Box<[u64]>,
    pub filter: Filter,
}

#[cfg(feature = "native")]
impl Direct {
    /// Octets before the counter.
    pub const COUNTER: usize = std::mem::offset_of!(Direct, counter);
}

/// What a table's direct objects do.
#[derive(Clone, Debug, Default)]
pub struct DirectObjects {
    /// What its counter counts.
    pub counter: Option<Counted>,
    /// What its meter measures.
    pub meter: Option<MeterUnit>,
    /// A cell of its register in its first state.
    pub register: Box<[u64]>,
    /// The kind of its filters, if it has any.
    pub filter: Option<FilterKind>,
    /// Whether counter and meter work at each hit, called or not.
    pub on_hit: bool,
}

impl DirectObjects {
    /// Cells in their first state.
    pub fn cells(&self) -> Direct {
        Direct {
            register: self.register.clone(),
            ..Direct::default()
        }
    }

    /// Whether the table has none.
    pub fn is_empty(&self) -> bool {
        self.counter.is_none()
            && self.meter.is_none()
            && self.register.is_empty()
            && self.filter.is_none()
    }
}

/// What is written to the direct cells of an entry or of a default.
#[derive(Clone, Debug, Default)]
pub struct DirectWrite {
    /// All cells as they are at first, before the rest is written.
    pub first: Option<Box<Direct>>,
    pub counter: Option<CounterData>,
    pub meter: MeterWrite,
}

impl DirectWrite {
    /// Adds what is written later.
    pub fn then(&mut self, later: DirectWrite) {
        if later.first.is_some() {
            *self = later;
            return;
        }
        self.counter = later.counter.or(self.counter);
        self.meter.then(later.meter);
    }

    /// Whether all that it does is to take a meter's configuration away.
    pub fn only_unsets_meter(&self) -> bool {
        let unsets = matches!(self.meter.marker, Some(None)) && !self.meter.clears_colours;
        unsets && self.first.is_none() && self.counter.is_none()
    }
}

impl Writable for Direct {
    type Write = DirectWrite;

    fn write(&mut self, write: DirectWrite) {
        if let Some(first) = write.first {
            *self = *first;
        }
        if let Some(data) = write.counter {
            self.counter = data;
        }
        self.meter.write(write.meter);
    }
}
