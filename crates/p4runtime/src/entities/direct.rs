//! Direct counters and direct meters of table entries and default entries.

use super::table::{self, Named};
use super::{Change, cells, only_modify};
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
    let (table, named) = named(target, given.table_entry.as_ref(), has_counter)?;
    target
        .switch
        .direct_counter_read(table.table, named.direct())?;
    let Some(data) = &given.data else {
        return Ok(());
    };
    let data = cells::decode_counter(data)?;
    Ok(target
        .switch
        .direct_counter_write(table.table, named.direct(), data)?)
}

/// Configures the meter of an entry.
pub fn write_meter(
    target: &mut Target<'_>,
    change: Change,
    given: &DirectMeterEntry,
) -> Outcome<()> {
    only_modify(change, "a direct meter")?;
    cells::check_colours(given.counter_data.as_ref())?;
    let (table, named) = named(target, given.table_entry.as_ref(), has_meter)?;
    let ty = table.meter.unwrap_or_default();
    let config = given.config.as_ref();
    let config = config
        .map(|config| cells::decode_meter(ty, config))
        .transpose()?;
    let switch = &mut target.switch;
    switch.direct_meter_write(table.table, named.direct(), config)?;
    if given.counter_data.is_some() {
        switch.direct_meter_clear_colours(table.table, named.direct())?;
    }
    Ok(())
}

/// Reads the counters of the entries asked for.
pub fn read_counters(
    target: &Target<'_>,
    request: &DirectCounterEntry,
    found: &mut Vec<Entity>,
) -> Outcome<()> {
    for (table, named) in entries(target, request.table_entry.as_ref(), has_counter)? {
        let switch = &target.switch;
        let data = switch.direct_counter_read(table.table, named.direct())?;
        let entry = DirectCounterEntry {
            table_entry: Some(table::encode_named(target, table, &named)?),
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
    for (table, named) in entries(target, request.table_entry.as_ref(), has_meter)? {
        let (switch, id) = (&target.switch, table.table);
        let config = switch.direct_meter_read(id, named.direct())?;
        let colours = match request.counter_data {
            None => None,
            Some(_) => Some(switch.direct_meter_colours(id, named.direct())?),
        };
        let entry = DirectMeterEntry {
            table_entry: Some(table::encode_named(target, table, &named)?),
            config: config.map(cells::encode_meter),
            counter_data: colours.map(cells::encode_colours),
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
    asked: Option<&TableEntry>,
    has: impl Fn(&TableModel) -> bool,
) -> Outcome<Vec<(&'m TableModel, Named)>> {
    let wildcard = TableEntry::default();
    let asked = asked.unwrap_or(&wildcard);
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
        let one = asked.table_id != 0 && !asked.r#match.is_empty();
        if one || asked.is_default_action {
            let named = Named::new(table, asked)?;
            if let Named::Entry((matches, priority)) = &named {
                target.switch.read(table.table, matches, *priority)?;
            }
            found.push((table, named));
            continue;
        }
        let all = target.switch.entries(table.table)?.into_iter();
        found.extend(all.map(|entry| (table, Named::Entry((entry.matches, entry.priority)))));
    }
    Ok(found)
}

/// The table of an entry that is written to, and the entry's name.
fn named<'m>(
    target: &Target<'m>,
    entry: Option<&TableEntry>,
    has: impl Fn(&TableModel) -> bool,
) -> Outcome<(&'m TableModel, Named)> {
    let Some(entry) = entry else {
        return Err(Fault::invalid("table_entry is not set"));
    };
    let table = target.model.table(entry.table_id)?;
    match has(table) {
        true => Ok((table, Named::new(table, entry)?)),
        false => Err(none(table)),
    }
}

fn has_counter(table: &TableModel) -> bool {
    table.counter
}

fn has_meter(table: &TableModel) -> bool {
    table.meter.is_some()
}

fn none(table: &TableModel) -> Fault {
    let has = match (table.counter, table.meter.is_some()) {
        (true, _) => "only a direct counter",
        (_, true) => "only a direct meter",
        _ => "no direct counter and no direct meter",
    };
    Fault::invalid(format!("table `{}` has {has}", table.name))
}
