//! Direct counters and direct meters of table entries.

use super::{Change, cells, only_modify, table};
use crate::device::Target;
use crate::fault::{Fault, Outcome};
use crate::model::TableModel;
use crate::proto::v1::{DirectCounterEntry, DirectMeterEntry, Entity, TableEntry, entity};

/// Sets the counter of an entry.
pub fn write_counter(
    target: &mut Target<'_>,
    change: Change,
    given: &DirectCounterEntry,
) -> Outcome<()> {
    only_modify(change, "a direct counter")?;
    let table = with_counter(target, given.table_entry.as_ref())?;
    let (matches, priority) = key(table, given.table_entry.as_ref())?;
    target
        .switch
        .direct_counter_read(table.table, &matches, priority)?;
    let Some(data) = &given.data else {
        return Ok(());
    };
    let data = cells::decode_counter(data)?;
    Ok(target
        .switch
        .direct_counter_write(table.table, &matches, priority, data)?)
}

/// Configures the meter of an entry.
pub fn write_meter(
    target: &mut Target<'_>,
    change: Change,
    given: &DirectMeterEntry,
) -> Outcome<()> {
    only_modify(change, "a direct meter")?;
    cells::no_colour_counts(given.counter_data.as_ref())?;
    let table = with_meter(target, given.table_entry.as_ref())?;
    let (matches, priority) = key(table, given.table_entry.as_ref())?;
    let config = given.config.as_ref().map(cells::decode_meter).transpose()?;
    Ok(target
        .switch
        .direct_meter_write(table.table, &matches, priority, config)?)
}

/// Reads the counters of the entries asked for.
pub fn read_counters(
    target: &Target<'_>,
    request: &DirectCounterEntry,
    found: &mut Vec<Entity>,
) -> Outcome<()> {
    let wildcard = TableEntry::default();
    let asked = request.table_entry.as_ref().unwrap_or(&wildcard);
    for (table, entry) in entries(target, asked, |table| table.counter)? {
        let data =
            target
                .switch
                .direct_counter_read(table.table, &entry.matches, entry.priority)?;
        let entry = DirectCounterEntry {
            table_entry: Some(table::encode(target, table, &entry, &wildcard)?),
            data: Some(cells::encode_counter(data)),
        };
        found.push(Entity {
            entity: Some(entity::Entity::DirectCounterEntry(entry)),
        });
    }
    Ok(())
}

/// Reads the meters of the entries asked for.
pub fn read_meters(
    target: &Target<'_>,
    request: &DirectMeterEntry,
    found: &mut Vec<Entity>,
) -> Outcome<()> {
    cells::no_colour_counts(request.counter_data.as_ref())?;
    let wildcard = TableEntry::default();
    let asked = request.table_entry.as_ref().unwrap_or(&wildcard);
    for (table, entry) in entries(target, asked, |table| table.meter)? {
        let config =
            target
                .switch
                .direct_meter_read(table.table, &entry.matches, entry.priority)?;
        let entry = DirectMeterEntry {
            table_entry: Some(table::encode(target, table, &entry, &wildcard)?),
            config: config.map(cells::encode_meter),
            counter_data: None,
        };
        found.push(Entity {
            entity: Some(entity::Entity::DirectMeterEntry(entry)),
        });
    }
    Ok(())
}

/// The entries that a request names: of all tables with the resource, of one table, or one entry.
fn entries<'m>(
    target: &Target<'m>,
    asked: &TableEntry,
    has: impl Fn(&TableModel) -> bool,
) -> Outcome<Vec<(&'m TableModel, v1model::Entry)>> {
    let model = target.model;
    let tables = match asked.table_id {
        0 => model.tables.values().filter(|table| has(table)).collect(),
        id => vec![model.table(id)?],
    };
    let mut found = Vec::new();
    for table in tables {
        if !has(table) {
            return Err(none(table));
        }
        if asked.table_id != 0 && !asked.r#match.is_empty() {
            let (matches, priority) = key(table, Some(asked))?;
            found.push((table, target.switch.read(table.table, &matches, priority)?));
            continue;
        }
        let all = target.switch.entries(table.table)?;
        found.extend(all.into_iter().map(|entry| (table, entry)));
    }
    Ok(found)
}

fn with_counter<'m>(target: &Target<'m>, entry: Option<&TableEntry>) -> Outcome<&'m TableModel> {
    let model = target.model;
    let table = model.table(entry.map_or(0, |entry| entry.table_id))?;
    if table.counter {
        Ok(table)
    } else {
        Err(none(table))
    }
}

fn with_meter<'m>(target: &Target<'m>, entry: Option<&TableEntry>) -> Outcome<&'m TableModel> {
    let model = target.model;
    let table = model.table(entry.map_or(0, |entry| entry.table_id))?;
    if table.meter {
        Ok(table)
    } else {
        Err(none(table))
    }
}

fn key(table: &TableModel, entry: Option<&TableEntry>) -> Outcome<crate::device::EntryKey> {
    match entry {
        Some(entry) if entry.is_default_action => Err(Fault::unimplemented(
            "the default entry has no direct counter or meter on this target",
        )),
        Some(entry) => table::key(table, entry),
        None => Err(Fault::invalid("table_entry is not set")),
    }
}

fn none(table: &TableModel) -> Fault {
    let has = match (table.counter, table.meter) {
        (true, _) => "only a direct counter",
        (_, true) => "only a direct meter",
        _ => "no direct counter and no direct meter",
    };
    Fault::invalid(format!("table `{}` has {has}", table.name))
}
