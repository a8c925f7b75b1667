//! Preparing and publishing batches, which become visible to packets as a whole.

use crate::Machine;
use crate::draft::{CellWrite, Draft, DraftScope, DraftWrites, Remains, Unsettled, copy_some};
use crate::object::{Object, Profile};
use crate::pending::Writable;
use crate::table::TableState;
use std::mem::{swap, take};

impl Machine {
    /// Begins a draft of some tables and profiles. A draft that was begun before is discarded.
    pub fn begin_draft(&mut self, scope: &DraftScope) -> Remains {
        let before = self.discard_draft();
        self.settle(usize::MAX);
        let tables = scope.tables.iter().filter_map(|id| {
            let table = self.tables.get_mut(id.0 as usize)?;
            Some((id.0, table.draft()))
        });
        let tables = tables.collect();
        let profiles = scope.profiles.iter().filter_map(|id| {
            let Object::Profile(profile) = self.objects.get(id.0 as usize)? else {
                return None;
            };
            Some((id.0, Profile::new(profile.algorithm, profile.size)))
        });
        self.draft = Some(Box::new(Draft {
            profiles: profiles.collect(),
            tables,
            writes: DraftWrites::default(),
            edited: false,
        }));
        before
    }

    /// Copies at most `most` entries, members or groups to the draft. Returns whether the copy is complete.
    pub fn copy_to_draft(&mut self, most: usize) -> bool {
        let Some(draft) = self.draft.as_deref_mut() else {
            return true;
        };
        for (&id, table) in &mut draft.tables {
            let from = &self.tables[id as usize];
            if !table.has_copied(from) {
                table.copy(from, most);
                return false;
            }
        }
        for (&id, to) in &mut draft.profiles {
            let Object::Profile(from) = &self.objects[id as usize] else {
                continue;
            };
            if !(copy_some(&from.members, &mut to.members, most)
                && copy_some(&from.groups, &mut to.groups, most)
                && copy_some(&from.choices, &mut to.choices, most))
            {
                return false;
            }
        }
        true
    }

    /// Whether there is a draft.
    pub fn has_draft(&self) -> bool {
        self.draft.is_some()
    }

    /// Selects whether a control plane edits the draft, if there is one, or the state that packets see. A draft must be
    /// completely copied before it is edited.
    pub fn edit_draft(&mut self, edited: bool) {
        if let Some(draft) = &mut self.draft {
            draft.edited = edited;
        }
    }

    /// Whether a control plane edits a draft.
    pub fn edits_draft(&self) -> bool {
        self.draft.as_ref().is_some_and(|draft| draft.edited)
    }

    /// Replaces the state that packets see with the draft, in constant time.
    pub fn publish_draft(&mut self) -> Remains {
        let Some(mut draft) = self.draft.take() else {
            return Box::new(());
        };
        for (&id, table) in &mut draft.tables {
            self.tables[id as usize].publish(table);
        }
        for (&id, profile) in &mut draft.profiles {
            if let Object::Profile(of) = &mut self.objects[id as usize] {
                swap(of, profile);
            }
            self.forget_recent(id);
        }
        let DraftWrites {
            counters,
            meters,
            registers,
            direct,
            value_sets,
        } = &mut draft.writes;
        for (&id, writes) in counters {
            if let Object::Counter(counter) = &mut self.objects[id as usize] {
                counter.cells.publish(take(writes));
            }
            self.wait_for(id);
        }
        for (&id, writes) in meters {
            if let Object::Meter(meter) = &mut self.objects[id as usize] {
                meter.cells.publish(take(writes));
            }
            self.wait_for(id);
        }
        for (&id, writes) in registers {
            if let Object::Register(register) = &mut self.objects[id as usize] {
                register.cells.publish(take(writes));
            }
            self.wait_for(id);
        }
        for (&id, writes) in direct {
            self.tables[id as usize].publish_cells(take(writes));
            self.unsettled.push(Unsettled::Table(id));
        }
        for (&id, members) in value_sets {
            self.value_sets[id as usize].swap(members);
        }
        draft
    }

    /// Invalidates the recent look-ups of the tables that an action profile implements, because the profile has
    /// changed.
    pub(super) fn forget_recent(&mut self, profile: u32) {
        let tables = self.tables.iter_mut();
        let implemented = |table: &&mut TableState| table.profile.is_some_and(|of| of.0 == profile);
        for table in tables.filter(implemented) {
            table.forget_recent();
        }
    }

    /// Makes compiled code call the interpreter for the cells of an object, so that packets see the deferred writes.
    fn wait_for(&mut self, object: u32) {
        #[cfg(feature = "native")]
        self.hide_cells(object);
        self.unsettled.push(Unsettled::Object(object));
    }

    /// Carries out at most `most` of the deferred writes to cells. Returns whether none is left.
    pub fn settle(&mut self, mut most: usize) -> bool {
        while let Some(&place) = self.unsettled.last() {
            let settled = match place {
                Unsettled::Table(table) => self.tables[table as usize].settle_some(&mut most),
                Unsettled::Object(object) => match &mut self.objects[object as usize] {
                    Object::Counter(counter) => counter.cells.settle_some(&mut most),
                    Object::Meter(meter) => meter.cells.settle_some(&mut most),
                    Object::Register(register) => register.cells.settle_some(&mut most),
                    _ => true,
                },
            };
            if !settled {
                return false;
            }
            #[cfg(feature = "native")]
            if let Unsettled::Object(object) = place {
                self.show_cells(object);
            }
            self.unsettled.pop();
        }
        true
    }

    /// Discards the draft, if there is one.
    pub fn discard_draft(&mut self) -> Remains {
        let Some(mut draft) = self.draft.take() else {
            return Box::new(());
        };
        for (&id, table) in &mut draft.tables {
            self.tables[id as usize].discard(table);
        }
        draft
    }

    /// Writes to a cell: at once, or when the draft is published.
    pub(super) fn write_or_draft(&mut self, write: CellWrite) {
        let draft = self.draft.as_deref_mut().filter(|draft| draft.edited);
        let Some(draft) = draft.filter(|draft| !draft.is_unseen(&write)) else {
            return self.write_cell(write);
        };
        // Entries that are modified usually have no meter, before or after.
        if let CellWrite::Direct(table, of, write) = &write
            && write.only_unsets_meter()
            && !draft.writes.has_direct(*table, *of)
        {
            let cells = self.tables[*table as usize].cells(*of);
            if cells.meter.marker.is_none() {
                return;
            }
        }
        draft.writes.add(write);
    }

    fn write_cell(&mut self, write: CellWrite) {
        match write {
            CellWrite::Count(object, at, data) => {
                if let Object::Counter(counter) = &mut self.objects[object as usize] {
                    counter.cells.write(at, data);
                }
            }
            CellWrite::Meter(object, at, write) => {
                if let Object::Meter(meter) = &mut self.objects[object as usize] {
                    meter.cells.write(at, write);
                }
            }
            CellWrite::Word(object, at, word) => {
                if let Object::Register(register) = &mut self.objects[object as usize] {
                    register.cells.write(at, word);
                }
            }
            CellWrite::Direct(table, of, write) => {
                self.tables[table as usize].cells_mut(of).write(write);
            }
            CellWrite::ValueSet(set, members) => self.value_sets[set as usize].put(*members),
        }
    }

    /// A table as a control plane sees it, without its cells.
    pub(super) fn view(&self, table: u32) -> &TableState {
        let draft = self.draft.as_deref().filter(|draft| draft.edited);
        let drafted = draft.and_then(|draft| draft.tables.get(&table));
        drafted.unwrap_or(&self.tables[table as usize])
    }

    /// Like [`Self::view`], mutable.
    pub(super) fn view_mut(&mut self, table: u32) -> &mut TableState {
        let draft = self.draft.as_deref_mut().filter(|draft| draft.edited);
        let drafted = draft.and_then(|draft| draft.tables.get_mut(&table));
        drafted.unwrap_or(&mut self.tables[table as usize])
    }

    /// A profile as a control plane sees it, if the object is a profile.
    pub(super) fn profile_view(&self, object: u32) -> Option<&Profile> {
        let draft = self.draft.as_deref().filter(|draft| draft.edited);
        let drafted = draft.and_then(|draft| draft.profiles.get(&object));
        drafted.or(match self.objects.get(object as usize)? {
            Object::Profile(profile) => Some(profile),
            _ => None,
        })
    }

    /// Like [`Self::profile_view`], mutable.
    pub(super) fn profile_view_mut(&mut self, object: u32) -> Option<&mut Profile> {
        let draft = self.draft.as_deref_mut().filter(|draft| draft.edited);
        let drafted = draft.and_then(|draft| draft.profiles.get_mut(&object));
        drafted.or(match self.objects.get_mut(object as usize)? {
            Object::Profile(profile) => Some(profile),
            _ => None,
        })
    }
}
