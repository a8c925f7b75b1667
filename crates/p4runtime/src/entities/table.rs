//! Table entries and default entries.

use super::{Change, actions, cells, matches};
use crate::device::{EntryKey, Kept, Target};
use crate::fault::{Fault, Outcome};
use crate::model::{Model, TableModel};
use crate::proto::v1::table_entry::IdleTimeout;
use crate::proto::v1::{Entity, TableAction, TableEntry, entity, table_action};
use tonic::Code;
use v1model::{Entry, EntryAction};

/// Writes an entry.
pub fn write(target: &mut Target<'_>, change: Change, given: &TableEntry) -> Outcome<()> {
    let table = target.model.table(given.table_id)?;
    let place = || format!("table `{}`", table.name);
    // Of what is deleted only the key counts.
    if change != Change::Delete {
        check(table, given).map_err(|fault| fault.at(place()))?;
    }
    let written = match given.is_default_action {
        true => write_default(target, table, change, given),
        false => write_entry(target, table, change, given),
    };
    written.map_err(|fault| fault.at(place()))
}

/// Reads entries that fit a request.
pub fn read(target: &Target<'_>, request: &TableEntry, found: &mut Vec<Entity>) -> Outcome<()> {
    cells::no_colour_counts(request.meter_counter_data.as_ref())?;
    if request.table_id == 0 {
        for table in target.model.tables.values() {
            // What a table does not have is left out, where all tables are asked for.
            let request = TableEntry {
                table_id: table.id,
                time_since_last_hit: request.time_since_last_hit.filter(|_| table.idle_timeout),
                counter_data: request.counter_data.filter(|_| table.counter),
                meter_config: request.meter_config.filter(|_| table.meter),
                ..request.clone()
            };
            read_table(target, table, &request, found)?;
        }
        return Ok(());
    }
    let table = target.model.table(request.table_id)?;
    let place = || format!("table `{}`", table.name);
    read_table(target, table, request, found).map_err(|fault| fault.at(place()))
}

/// An entry as it is, with all of its direct resources; for undoing a change of it.
pub fn current(target: &Target<'_>, given: &TableEntry) -> Outcome<TableEntry> {
    let table = target.model.table(given.table_id)?;
    let request = TableEntry {
        counter_data: table.counter.then(Default::default),
        meter_config: table.meter.then(Default::default),
        time_since_last_hit: None,
        ..given.clone()
    };
    if given.is_default_action {
        return default_entry(target, table);
    }
    let key = key(table, given)?;
    let entry = target.switch.read(table.table, &key.0, key.1)?;
    encode(target, table, &entry, &request)
}

fn write_entry(
    target: &mut Target<'_>,
    table: &TableModel,
    change: Change,
    given: &TableEntry,
) -> Outcome<()> {
    let (matches, priority) = key(table, given)?;
    if change == Change::Delete {
        let old = target.switch.read(table.table, &matches, priority)?;
        target.switch.delete(table.table, &matches, priority)?;
        count_one_shots(target, table, &old.action, false);
        forget(target, table, &(old.matches, priority));
        return Ok(());
    }
    if change == Change::Modify
        && given.action.is_none()
        && target.switch.is_constant(table.table, &matches, priority)?
    {
        return write_direct(target, table, change, given, &(matches, priority));
    }
    let action = actions::decode_entry(target.model, table, given.action.as_ref())?;
    check_one_shots(target, table, &action)?;
    let entry = Entry {
        matches,
        priority,
        action,
    };
    // What could be wrong with direct resources shows before anything is changed.
    let _ = direct(given)?;
    let action = entry.action.clone();
    let key = (entry.matches.clone(), priority);
    if change == Change::Insert {
        target.switch.insert(table.table, entry)?;
    } else {
        let old = target.switch.read(table.table, &key.0, priority)?;
        target.switch.modify(table.table, entry)?;
        count_one_shots(target, table, &old.action, false);
    }
    count_one_shots(target, table, &action, true);
    if let Err(fault) = write_direct(target, table, change, given, &key) {
        // A meter that the engine refuses: an insertion is taken back whole.
        if change == Change::Insert {
            target.switch.delete(table.table, &key.0, priority)?;
            count_one_shots(target, table, &action, false);
        }
        return Err(fault);
    }
    let matches = target.switch.read(table.table, &key.0, priority)?.matches;
    let kept = Kept {
        metadata: given.metadata.clone(),
        #[allow(deprecated, reason = "older clients use it")]
        controller_metadata: given.controller_metadata,
        idle_timeout_ns: given.idle_timeout_ns,
        reported: target.now,
    };
    forget(target, table, &(matches.clone(), priority));
    let empty = Kept {
        reported: target.now,
        ..Kept::default()
    };
    if kept != empty {
        let entries = target.state.entries.entry(table.table).or_default();
        entries.insert((matches, priority), kept);
    }
    Ok(())
}

fn write_default(
    target: &mut Target<'_>,
    table: &TableModel,
    change: Change,
    given: &TableEntry,
) -> Outcome<()> {
    if change != Change::Modify {
        return Err(Fault::invalid("the default entry can only be modified"));
    }
    if !given.r#match.is_empty() || given.priority != 0 {
        return Err(Fault::invalid(
            "the default entry has no match and no priority",
        ));
    }
    if given.counter_data.is_some() || given.meter_config.is_some() {
        let message = "the default entry has no direct counter or meter on this target";
        return Err(Fault::unimplemented(message));
    }
    if given.action.is_none() {
        return Ok(target.switch.reset_default(table.table)?);
    }
    let action = actions::decode_entry(target.model, table, given.action.as_ref())?;
    if !matches!(action, EntryAction::Run(_)) {
        return Err(Fault::invalid(
            "the default entry runs an action, no member or group",
        ));
    }
    Ok(target.switch.set_default(table.table, action)?)
}

/// Direct resources, in the engine's form.
fn direct(
    given: &TableEntry,
) -> Outcome<(Option<v1model::CounterData>, Option<v1model::MeterConfig>)> {
    let counter = given.counter_data.as_ref().map(cells::decode_counter);
    let meter = given.meter_config.as_ref().map(cells::decode_meter);
    Ok((counter.transpose()?, meter.transpose()?))
}

fn write_direct(
    target: &mut Target<'_>,
    table: &TableModel,
    change: Change,
    given: &TableEntry,
    (matches, priority): &EntryKey,
) -> Outcome<()> {
    let (counter, meter) = direct(given)?;
    if table.meter && (meter.is_some() || change == Change::Modify) {
        let switch = &mut target.switch;
        switch.direct_meter_write(table.table, matches, *priority, meter)?;
    }
    if let Some(counter) = counter {
        let switch = &mut target.switch;
        switch.direct_counter_write(table.table, matches, *priority, counter)?;
    }
    Ok(())
}

/// What every entry that is written must be.
fn check(table: &TableModel, given: &TableEntry) -> Outcome<()> {
    cells::no_colour_counts(given.meter_counter_data.as_ref())?;
    if given.time_since_last_hit.is_some() {
        return Err(Fault::invalid("time_since_last_hit can only be read"));
    }
    if given.is_const {
        return Err(Fault::invalid("is_const can only be read"));
    }
    let ages = table.idle_timeout && !given.is_default_action;
    if given.idle_timeout_ns < 0 || given.idle_timeout_ns > 0 && !ages {
        let message = match ages {
            true => "expected an idle_timeout_ns of at least 0",
            false => "its entries have no idle timeout; leave idle_timeout_ns 0",
        };
        return Err(Fault::invalid(message));
    }
    check_direct(table, given)
}

fn check_direct(table: &TableModel, given: &TableEntry) -> Outcome<()> {
    if given.counter_data.is_some() && !table.counter {
        return Err(Fault::invalid(
            "it has no direct counter; leave counter_data unset",
        ));
    }
    if given.meter_config.is_some() && !table.meter {
        return Err(Fault::invalid(
            "it has no direct meter; leave meter_config unset",
        ));
    }
    Ok(())
}

/// What names an entry: its matches and its priority.
pub fn key(table: &TableModel, given: &TableEntry) -> Outcome<EntryKey> {
    let priority = u32::try_from(given.priority).map_err(|_| {
        Fault::invalid(format!(
            "expected a priority of at least 0, found {}",
            given.priority
        ))
    })?;
    Ok((matches::decode(&table.fields, &given.r#match)?, priority))
}

// -- action selectors -------------------------------------------------------------------------

/// Members and groups are not mixed with one-shot groups.
fn check_one_shots(target: &Target<'_>, table: &TableModel, action: &EntryAction) -> Outcome<()> {
    let Some(id) = table.profile else {
        return Ok(());
    };
    let profile = target.model.profile(id)?;
    let mixed = match action {
        EntryAction::OneShot(_) => !target.switch.members(profile.object)?.is_empty(),
        EntryAction::Member(_) | EntryAction::Group(_) => {
            target.state.one_shots.get(&id).is_some_and(|&n| n > 0)
        }
        EntryAction::Run(_) => false,
    };
    match mixed {
        true => Err(super::profile::mixed(profile)),
        false => Ok(()),
    }
}

fn count_one_shots(target: &mut Target<'_>, table: &TableModel, action: &EntryAction, there: bool) {
    if let (Some(profile), EntryAction::OneShot(_)) = (table.profile, action) {
        let count = target.state.one_shots.entry(profile).or_default();
        *count = if there {
            *count + 1
        } else {
            count.saturating_sub(1)
        };
    }
}

fn forget(target: &mut Target<'_>, table: &TableModel, key: &EntryKey) {
    if let Some(entries) = target.state.entries.get_mut(&table.table) {
        entries.remove(key);
    }
}

// -- reading ----------------------------------------------------------------------------------

fn read_table(
    target: &Target<'_>,
    table: &TableModel,
    request: &TableEntry,
    found: &mut Vec<Entity>,
) -> Outcome<()> {
    check_direct(table, request)?;
    if request.time_since_last_hit.is_some() && !table.idle_timeout {
        return Err(Fault::invalid(
            "its entries have no idle timeout; leave time_since_last_hit unset",
        ));
    }
    if request.is_default_action {
        let entry = default_entry(target, table)?;
        found.push(wrap(entry));
        return Ok(());
    }
    let entries = if request.r#match.is_empty() {
        target.switch.entries(table.table)?
    } else {
        let (matches, priority) = key(table, request)?;
        // An entry that is not there is no fault: nothing fits.
        match target
            .switch
            .read(table.table, &matches, priority)
            .map_err(Fault::from)
        {
            Ok(entry) => vec![entry],
            Err(fault) if fault.code == Code::NotFound => Vec::new(),
            Err(fault) => return Err(fault),
        }
    };
    let action_id = asked_action(target.model, table, request.action.as_ref())?;
    for entry in entries {
        if request.priority != 0 && i64::from(entry.priority) != i64::from(request.priority) {
            continue;
        }
        let encoded = encode(target, table, &entry, request)?;
        let of_action = action_id.is_none_or(|id| action_of(encoded.action.as_ref()) == Some(id));
        #[allow(deprecated, reason = "older clients use it")]
        let of_controller = request.controller_metadata == 0
            || request.controller_metadata == encoded.controller_metadata;
        let of_metadata = request.metadata.is_empty() || request.metadata == encoded.metadata;
        if of_action && of_controller && of_metadata {
            found.push(wrap(encoded));
        }
    }
    Ok(())
}

fn wrap(entry: TableEntry) -> Entity {
    Entity {
        entity: Some(entity::Entity::TableEntry(entry)),
    }
}

fn action_of(action: Option<&TableAction>) -> Option<u32> {
    match action?.r#type.as_ref()? {
        table_action::Type::Action(action) => Some(action.action_id),
        _ => None,
    }
}

/// The action that entries are asked for by.
fn asked_action(
    model: &Model,
    table: &TableModel,
    asked: Option<&TableAction>,
) -> Outcome<Option<u32>> {
    let Some(id) = action_of(asked).filter(|&id| id != 0) else {
        return Ok(None);
    };
    table.action(model, id)?;
    Ok(Some(id))
}

/// The default entry of a table.
fn default_entry(target: &Target<'_>, table: &TableModel) -> Outcome<TableEntry> {
    let action = target.switch.default_action(table.table)?;
    Ok(TableEntry {
        table_id: table.id,
        action: Some(actions::encode_entry(target.model, table, &action)),
        is_default_action: true,
        ..TableEntry::default()
    })
}

/// An entry with what the request asks for.
pub fn encode(
    target: &Target<'_>,
    table: &TableModel,
    entry: &Entry,
    request: &TableEntry,
) -> Outcome<TableEntry> {
    let (id, matches, priority) = (table.table, &entry.matches, entry.priority);
    let switch = &*target.switch;
    let mut encoded = TableEntry {
        table_id: table.id,
        r#match: matches::encode(&table.fields, matches),
        action: Some(actions::encode_entry(target.model, table, &entry.action)),
        priority: i32::try_from(priority).unwrap_or(i32::MAX),
        is_const: switch.is_constant(id, matches, priority)?,
        ..TableEntry::default()
    };
    if request.counter_data.is_some() {
        let data = switch.direct_counter_read(id, matches, priority)?;
        encoded.counter_data = Some(cells::encode_counter(data));
    }
    if request.meter_config.is_some() {
        let config = switch.direct_meter_read(id, matches, priority)?;
        encoded.meter_config = config.map(cells::encode_meter);
    }
    if request.time_since_last_hit.is_some() {
        let since = target.now.since(switch.last_hit(id, matches, priority)?);
        encoded.time_since_last_hit = Some(IdleTimeout {
            elapsed_ns: i64::try_from(since.as_nanos()).unwrap_or(i64::MAX),
        });
    }
    let entries = target.state.entries.get(&id);
    let entries = entries.filter(|entries| !entries.is_empty());
    if let Some(kept) = entries.and_then(|entries| entries.get(&(matches.clone(), priority))) {
        encoded.metadata = kept.metadata.clone();
        encoded.idle_timeout_ns = kept.idle_timeout_ns;
        #[allow(deprecated, reason = "older clients use it")]
        {
            encoded.controller_metadata = kept.controller_metadata;
        }
    }
    Ok(encoded)
}
