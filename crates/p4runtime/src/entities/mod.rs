//! Entities: their encoding, and how they are written to and read from the engine.

mod actions;
mod arrays;
mod cells;
mod digest;
mod direct;
mod matches;
mod one_shot;
mod profile;
mod replication;
mod table;
mod value_set;

#[cfg(test)]
pub use matches::encode as encode_match;
pub use table::{Named, encode_named};

use crate::device::Target;
use crate::fault::{Fault, Outcome};
use crate::losses;
use crate::model::Model;
use crate::proto::v1::update::Type;
use crate::proto::v1::{Entity, Update, entity};
use std::ops::Range;
use tonic::Code;

/// The most cells of arrays in one part of a read.
const CELLS: u64 = 256;
/// The number of cells of an array that one part of an update sets.
const CELLS_SET: u64 = 16;
/// The most table entries, members or groups in one part of a read.
const ENTRIES: usize = 32;

/// Where a part of a read begins.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cursor {
    /// Number of tables, action profiles or value sets that have been read completely.
    table: usize,
    /// The index of the cell over all arrays, or the number of the entry, member or group in its table or profile.
    place: u64,
}

impl Cursor {
    /// Where the next part begins: at a place of this table, or otherwise in the next table, if there is one.
    fn next(self, place: Option<u64>, tables: usize) -> Option<Cursor> {
        let next_table = Cursor {
            table: self.table + 1,
            place: 0,
        };
        match place {
            Some(place) => Some(Cursor { place, ..self }),
            None => Some(next_table).filter(|next| next.table < tables),
        }
    }
}

/// Updates groups after the links of some ports have changed: the engine receives what can be selected now.
pub fn link_changed(target: &mut Target<'_>) {
    profile::link_changed(target);
    one_shot::link_changed(target);
    replication::link_changed(target);
}

/// The type of an update.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// The entity must not exist yet.
    Insert,
    /// The entity must exist.
    Modify,
    /// The entity must exist.
    Delete,
}

impl Change {
    /// Checks that an entity exists or does not exist, as the type of update requires.
    fn check(self, there: bool) -> Outcome<()> {
        match (self, there) {
            (Change::Insert, true) => Err(Fault::new(
                Code::AlreadyExists,
                "it already exists; modify it instead",
            )),
            (Change::Modify | Change::Delete, false) => Err(Fault::not_found("it does not exist")),
            _ => Ok(()),
        }
    }
}

/// An update, or a part of one that sets all cells of an array, decoded as far as is possible without the switch.
#[derive(Debug)]
pub struct Prepared {
    /// The update as received.
    pub update: Update,
    decoded: Option<table::Decoded>,
    /// The cells of this part.
    cells: Option<Range<u64>>,
}

impl Prepared {
    /// Decodes an update for the program of a model.
    pub fn new(model: &Model, update: Update) -> Self {
        let entity = update.entity.as_ref().and_then(|e| e.entity.as_ref());
        let decoded = match entity {
            Some(entity::Entity::TableEntry(entry)) => table::decode(model, entry),
            _ => None,
        };
        Prepared {
            update,
            decoded,
            cells: None,
        }
    }

    /// Divides an update that sets all cells of an array into parts. Any other update is one part.
    pub fn parts(model: &Model, update: Update) -> impl Iterator<Item = Prepared> + use<> {
        let entity = update.entity.as_ref().and_then(|e| e.entity.as_ref());
        let cells = entity.and_then(|entity| arrays::all_cells(model, entity));
        let (whole, divided) = match cells {
            None => (Some(Prepared::new(model, update)), None),
            Some(cells) => (None, Some((update, cells))),
        };
        let divided = divided.into_iter().flat_map(|(update, cells)| {
            let part = move |from| Prepared {
                update: update.clone(),
                decoded: None,
                cells: Some(from..cells.min(from + CELLS_SET)),
            };
            (0..cells).step_by(CELLS_SET as usize).map(part)
        });
        whole.into_iter().chain(divided)
    }

    /// How many parts [`parts`](Self::parts) divides an update into.
    pub fn count(model: &Model, update: &Update) -> u64 {
        let entity = update.entity.as_ref().and_then(|e| e.entity.as_ref());
        let cells = entity.and_then(|entity| arrays::all_cells(model, entity));
        cells.map_or(1, |cells| cells.div_ceil(CELLS_SET))
    }

    /// Executes it, once.
    pub fn write(&mut self, target: &mut Target<'_>) -> Outcome<()> {
        let (decoded, cells) = (self.decoded.take(), self.cells.clone());
        write_decoded(target, &self.update, decoded, cells)
    }

    /// Whether it changes cells of counters, meters or registers, for which the server stores nothing.
    pub fn is_of_cells(&self) -> bool {
        use entity::Entity as E;
        let entity = self.update.entity.as_ref().and_then(|e| e.entity.as_ref());
        matches!(
            entity,
            Some(
                E::CounterEntry(_)
                    | E::DirectCounterEntry(_)
                    | E::MeterEntry(_)
                    | E::DirectMeterEntry(_)
                    | E::RegisterEntry(_)
            )
        )
    }

    /// The updates that restore the current state of what it changes.
    pub fn undo(&self, target: &Target<'_>) -> Outcome<Vec<Update>> {
        let Some(cells) = self.cells.clone() else {
            return undo(target, &self.update);
        };
        let mut updates = Vec::new();
        for at in cells {
            updates.extend(undo(target, &arrays::of_cell(&self.update, at))?);
        }
        Ok(updates)
    }
}

/// Executes an update.
pub fn write(target: &mut Target<'_>, update: &Update) -> Outcome<()> {
    write_decoded(target, update, None, None)
}

fn write_decoded(
    target: &mut Target<'_>,
    update: &Update,
    decoded: Option<table::Decoded>,
    cells: Option<Range<u64>>,
) -> Outcome<()> {
    let change = match update.r#type() {
        Type::Insert => Change::Insert,
        Type::Modify => Change::Modify,
        Type::Delete => Change::Delete,
        Type::Unspecified => {
            return Err(Fault::invalid(
                "the update's type is not set; valid: INSERT, MODIFY, DELETE",
            ));
        }
    };
    let entity = update.entity.as_ref().and_then(|e| e.entity.as_ref());
    use entity::Entity as E;
    match entity.ok_or_else(unset)? {
        E::TableEntry(entry) => table::write(target, change, entry, decoded),
        E::ActionProfileMember(member) => profile::write_member(target, change, member),
        E::ActionProfileGroup(group) => profile::write_group(target, change, group),
        E::MeterEntry(entry) => arrays::write_meter(target, change, entry, cells),
        E::DirectMeterEntry(entry) => direct::write_meter(target, change, entry),
        E::CounterEntry(entry) => arrays::write_counter(target, change, entry, cells),
        E::DirectCounterEntry(entry) => direct::write_counter(target, change, entry),
        E::PacketReplicationEngineEntry(entry) => replication::write(target, change, entry),
        E::ValueSetEntry(entry) => value_set::write(target, change, entry),
        E::RegisterEntry(entry) => arrays::write_register(target, change, entry, cells),
        E::DigestEntry(entry) => digest::write(target, change, entry),
        E::ExternEntry(_) => Err(no_externs()),
    }
}

/// Reads the entities that a request selects.
pub fn read(target: &Target<'_>, request: &Entity, found: &mut Vec<Entity>) -> Outcome<()> {
    let mut at = Some(Cursor::default());
    while let Some(from) = at {
        at = read_some(target, request, from, found)?;
    }
    Ok(())
}

/// Reads a part of the entities that a request selects: some cells of arrays, table entries, members or groups, one
/// value set, or all of anything else. Returns where the next part begins. No entity may be inserted or deleted between
/// two parts.
pub fn read_some(
    target: &Target<'_>,
    request: &Entity,
    from: Cursor,
    found: &mut Vec<Entity>,
) -> Outcome<Option<Cursor>> {
    use entity::Entity as E;
    let end = from.place.saturating_add(CELLS);
    let cells = from.place..end;
    let behind = |more: bool| more.then_some(Cursor { place: end, ..from });
    let whole = match request.entity.as_ref().ok_or_else(unset)? {
        E::MeterEntry(entry) => {
            return arrays::read_meters(target, entry, cells, found).map(behind);
        }
        E::CounterEntry(entry) => {
            return arrays::read_counters(target, entry, cells, found).map(behind);
        }
        E::RegisterEntry(entry) => {
            return arrays::read_registers(target, entry, cells, found).map(behind);
        }
        E::TableEntry(entry) => return table::read(target, entry, from, found),
        E::DirectMeterEntry(entry) => return direct::read_meters(target, entry, from, found),
        E::DirectCounterEntry(entry) => return direct::read_counters(target, entry, from, found),
        E::ActionProfileMember(member) => {
            return profile::read_members(target, member, from, found);
        }
        E::ActionProfileGroup(group) => return profile::read_groups(target, group, from, found),
        E::PacketReplicationEngineEntry(entry) => replication::read(target, entry, found),
        E::ValueSetEntry(entry) => return value_set::read(target, entry, from, found),
        E::DigestEntry(entry) => digest::read(target, entry, found),
        E::ExternEntry(entry) if entry.extern_type_id == losses::TYPE_ID => {
            found.push(target.losses.entity(target.switch));
            Ok(())
        }
        // A wildcard read: there are no extern entries.
        E::ExternEntry(entry) if entry.extern_type_id == 0 => Ok(()),
        E::ExternEntry(_) => Err(no_externs()),
    };
    whole.map(|()| None)
}

/// The updates that restore the current state of an update's entity.
fn undo(target: &Target<'_>, update: &Update) -> Outcome<Vec<Update>> {
    let as_update = |r#type: Type, entity| Update {
        r#type: r#type as i32,
        entity: Some(entity),
    };
    let Some(entity) = &update.entity else {
        return Err(unset());
    };
    if update.r#type() == Type::Insert {
        return Ok(vec![as_update(Type::Delete, entity.clone())]);
    }
    let mut now = Vec::new();
    match &entity.entity {
        Some(entity::Entity::TableEntry(entry)) => now.push(Entity {
            entity: Some(entity::Entity::TableEntry(writable(table::current(
                target, entry,
            )?))),
        }),
        _ => read(target, entity, &mut now)?,
    }
    let again = match update.r#type() {
        Type::Delete => Type::Insert,
        _ => Type::Modify,
    };
    Ok(now
        .into_iter()
        .map(|entity| as_update(again, entity))
        .collect())
}

/// Converts an entry that was read to one that can be written. For a constant entry, only direct resources remain.
pub fn writable(entry: crate::proto::v1::TableEntry) -> crate::proto::v1::TableEntry {
    crate::proto::v1::TableEntry {
        action: entry.action.filter(|_| !entry.is_const),
        is_const: false,
        ..entry
    }
}

/// The error for `INSERT` and `DELETE` of an entity that always exists.
fn only_modify(change: Change, what: &str) -> Outcome<()> {
    match change {
        Change::Modify => Ok(()),
        _ => Err(Fault::invalid(format!("{what} can only be modified"))),
    }
}

fn unset() -> Fault {
    Fault::invalid("the entity is not set")
}

fn no_externs() -> Fault {
    Fault::unimplemented("this target has no externs beyond v1model's; it has no extern entries")
}
