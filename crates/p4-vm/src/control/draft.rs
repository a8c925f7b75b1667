//! Preparing batches that packets see as a whole, and publishing them.

use crate::Machine;
use crate::draft::{CellWrite, Draft, DraftScope, Remains, copy_some};
use crate::object::{Object, Profile};
use crate::table::TableState;
use std::mem::swap;

impl Machine {
    /// Begins a draft of some tables and profiles. One that was begun before is discarded.
    pub fn begin_draft(&mut self, scope: &DraftScope) -> Remains {
        let before = self.discard_draft();
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
            writes: Vec::new(),
            meters: false,
            edited: false,
        }));
        before
    }

    /// Copies at most `most` entries, members or groups to the draft; whether all are there.
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

    /// Says whether a control plane works on the draft, if there is one, or on what packets see. Only a draft to which
    /// all has been copied is edited.
    pub fn edit_draft(&mut self, edited: bool) {
        if let Some(draft) = &mut self.draft {
            draft.edited = edited;
        }
    }

    /// Whether a control plane works on a draft.
    pub fn edits_draft(&self) -> bool {
        self.draft.as_ref().is_some_and(|draft| draft.edited)
    }

    /// Puts the draft in the place of what packets see.
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
        }
        for write in draft.writes.drain(..) {
            self.write_cell(write);
        }
        draft
    }

    /// Gives the draft up, if there is one.
    pub fn discard_draft(&mut self) -> Remains {
        let Some(mut draft) = self.draft.take() else {
            return Box::new(());
        };
        for (&id, table) in &mut draft.tables {
            self.tables[id as usize].discard(table);
        }
        draft
    }

    /// Writes to a cell: now, or in a draft as it is published.
    pub(super) fn write_or_draft(&mut self, write: CellWrite) {
        let draft = self.draft.as_deref_mut().filter(|draft| draft.edited);
        let Some(draft) = draft.filter(|draft| !draft.is_unseen(&write)) else {
            return self.write_cell(write);
        };
        if let CellWrite::DirectMarker(table, of, marker) = &write {
            draft.meters |= marker.is_some();
            // Most entries that are modified have no meter, before and after.
            let cells = self.tables[*table as usize].cells(*of);
            if !draft.meters && cells.meter.marker.is_none() {
                return;
            }
        }
        draft.writes.push(write);
    }

    fn write_cell(&mut self, write: CellWrite) {
        let Machine {
            tables,
            objects,
            value_sets,
            ..
        } = self;
        match write {
            CellWrite::Count(object, at, data) => {
                if let Object::Counter(counter) = &mut objects[object as usize] {
                    counter.cells[at as usize] = data;
                }
            }
            CellWrite::Marker(object, at, marker) => {
                if let Object::Meter(meter) = &mut objects[object as usize] {
                    meter.cells[at as usize].marker = marker.map(|marker| *marker);
                }
            }
            CellWrite::Colours(object, at) => {
                if let Object::Meter(meter) = &mut objects[object as usize] {
                    meter.cells[at as usize].colours = Default::default();
                }
            }
            CellWrite::Word(object, at, word) => {
                if let Object::Register(register) = &mut objects[object as usize] {
                    register.cells[at as usize] = word;
                }
            }
            CellWrite::DirectCount(table, of, data) => {
                tables[table as usize].cells_mut(of).counter = data;
            }
            CellWrite::DirectMarker(table, of, marker) => {
                let marker = marker.map(|marker| *marker);
                tables[table as usize].cells_mut(of).meter.marker = marker;
            }
            CellWrite::DirectColours(table, of) => {
                tables[table as usize].cells_mut(of).meter.colours = Default::default();
            }
            CellWrite::Default(table) => {
                let table = &mut tables[table as usize];
                table.default_direct = table.objects.cells();
            }
            CellWrite::ValueSet(set, members) => value_sets[set as usize].put(*members),
        }
    }

    /// A table as a control plane sees it, but for its cells.
    pub(super) fn view(&self, table: u32) -> &TableState {
        let draft = self.draft.as_deref().filter(|draft| draft.edited);
        let drafted = draft.and_then(|draft| draft.tables.get(&table));
        drafted.unwrap_or(&self.tables[table as usize])
    }

    /// The same, to be changed.
    pub(super) fn view_mut(&mut self, table: u32) -> &mut TableState {
        let draft = self.draft.as_deref_mut().filter(|draft| draft.edited);
        let drafted = draft.and_then(|draft| draft.tables.get_mut(&table));
        drafted.unwrap_or(&mut self.tables[table as usize])
    }

    /// A profile as a control plane sees it, if the object is one.
    pub(super) fn profile_view(&self, object: u32) -> Option<&Profile> {
        let draft = self.draft.as_deref().filter(|draft| draft.edited);
        let drafted = draft.and_then(|draft| draft.profiles.get(&object));
        drafted.or(match self.objects.get(object as usize)? {
            Object::Profile(profile) => Some(profile),
            _ => None,
        })
    }

    /// The same, to be changed.
    pub(super) fn profile_view_mut(&mut self, object: u32) -> Option<&mut Profile> {
        let draft = self.draft.as_deref_mut().filter(|draft| draft.edited);
        let drafted = draft.and_then(|draft| draft.profiles.get_mut(&object));
        drafted.or(match self.objects.get_mut(object as usize)? {
            Object::Profile(profile) => Some(profile),
            _ => None,
        })
    }
}
