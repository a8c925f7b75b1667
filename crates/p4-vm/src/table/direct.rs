//! Direct objects: counters, meters, registers and filters that have a cell in each entry of a table.

use crate::CounterData;
use crate::cells::{Counted, MeterCell, MeterUnit, MeterWrite};
use crate::filter::{Filter, FilterKind};
use crate::pending::Writable;

/// The cells of a table's direct objects for one entry or the default.
#[derive(Clone, Debug, Default)]
pub struct Direct {
    pub counter: CounterData,
    pub meter: MeterCell,
    /// The words of the direct register's cell.
    pub register: Box<[u64]>,
    pub filter: Filter,
}

#[cfg(feature = "native")]
impl Direct {
    /// The offset of the counter, in octets.
    pub const COUNTER: usize = std::mem::offset_of!(Direct, counter);
}

/// The configuration of a table's direct objects.
#[derive(Clone, Debug, Default)]
pub struct DirectObjects {
    /// What its counter counts.
    pub counter: Option<Counted>,
    /// What its meter measures.
    pub meter: Option<MeterUnit>,
    /// The initial words of a register cell.
    pub register: Box<[u64]>,
    /// The kind of its filters, if there are any.
    pub filter: Option<FilterKind>,
    /// Whether counter and meter are updated at each hit, even if the action does not call them.
    pub on_hit: bool,
}

impl DirectObjects {
    /// Creates cells in their initial state.
    pub fn cells(&self) -> Direct {
        Direct {
            register: self.register.clone(),
            ..Direct::default()
        }
    }

    /// Whether the table has no direct objects.
    pub fn is_empty(&self) -> bool {
        self.counter.is_none()
            && self.meter.is_none()
            && self.register.is_empty()
            && self.filter.is_none()
    }
}

/// A write to the direct cells of an entry or of a default.
#[derive(Clone, Debug, Default)]
pub struct DirectWrite {
    /// The initial values of all cells, which are written before the rest.
    pub first: Option<Box<Direct>>,
    pub counter: Option<CounterData>,
    pub meter: MeterWrite,
}

impl DirectWrite {
    /// Merges a later write into this one.
    pub fn then(&mut self, later: DirectWrite) {
        if later.first.is_some() {
            *self = later;
            return;
        }
        self.counter = later.counter.or(self.counter);
        self.meter.then(later.meter);
    }

    /// Whether its only effect is to remove a meter's configuration.
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
