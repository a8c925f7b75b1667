//! Direct counters and direct meters of table entries and default entries.

use super::table::{self, Named};
use super::{Change, Cursor, cells, only_modify};
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

/// Reads the counters of a part of the requested entries. Returns where the next part begins.
pub fn read_counters(
    target: &Target<'_>,
    request: &DirectCounterEntry,
    from: Cursor,
    found: &mut Vec<Entity>,
) -> Outcome<Option<Cursor>> {
    let asked = request.table_entry.as_ref();
    let Some(part) = entries(target, asked, from, has_counter)? else {
        return Ok(None);
    };
    let table = part.table;
    for named in part.names {
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
    Ok(part.next)
}

/// Reads the meters of a part of the requested entries. Returns where the next part begins.
pub fn read_meters(
    target: &Target<'_>,
    request: &DirectMeterEntry,
    from: Cursor,
    found: &mut Vec<Entity>,
) -> Outcome<Option<Cursor>> {
    let asked = request.table_entry.as_ref();
    let Some(part) = entries(target, asked, from, has_meter)? else {
        return Ok(None);
    };
    let table = part.table;
    for named in part.names {
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
    Ok(part.next)
}

/// A part of the entries that a request selects.
struct Part<'m> {
    table: &'m TableModel,
    names: Vec<Named>,
    /// Where the next part begins.
    next: Option<Cursor>,
}

/// A part of the entries that a request selects: those of all tables with the resource, those of one table, or a single
/// entry. `None` if no table has the resource.
fn entries<'m>(
    target: &Target<'m>,
    asked: Option<&TableEntry>,
    from: Cursor,
    has: impl Fn(&TableModel) -> bool,
) -> Outcome<Option<Part<'m>>> {
    let wildcard = TableEntry::default();
    let asked = asked.unwrap_or(&wildcard);
    let model = target.model;
    let tables: Vec<_> = match asked.table_id {
        0 => model.tables.values().filter(|table| has(table)).collect(),
        id => vec![model.table(id)?],
    };
    let Some(&table) = tables.get(from.table) else {
        return Ok(None);
    };
    if !has(table) {
        return Err(none(table));
    }
    let one = asked.table_id != 0 && !asked.r#match.is_empty();
    let (names, next) = if one || asked.is_default_action {
        let named = Named::new(table, asked)?;
        if let Named::Entry((matches, priority)) = &named {
            target.switch.read(table.table, matches, *priority)?;
        }
        (vec![named], None)
    } else {
        table::names_from(target, table, from.place)?
    };
    let next = from.next(next, tables.len());
    Ok(Some(Part { table, names, next }))
}

/// The table of an entry that is written to, and the key of the entry.
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
