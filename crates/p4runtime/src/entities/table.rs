//! Table entries and default entries.

use super::actions::{self, Place};
use super::{Change, Cursor, ENTRIES, cells, matches, one_shot};
use crate::device::{EntryKey, Kept, Target};
use crate::fault::{Fault, Outcome};
use crate::model::{Model, TableModel};
use crate::proto::v1::table_entry::IdleTimeout;
use crate::proto::v1::{
    ActionProfileActionSet, Entity, TableAction, TableEntry, entity, table_action,
};
use engine::{DirectOf, Entry, EntryAction};
use tonic::Code;

/// Identifies an entry of a table.
#[derive(Debug)]
pub enum Named {
    /// Its matches and its priority.
    Entry(EntryKey),
    /// The default entry.
    Default,
}

impl Named {
    /// Decodes which entry a client refers to.
    pub fn new(table: &TableModel, given: &TableEntry) -> Outcome<Named> {
        if given.is_default_action {
            check_default(given)?;
            return Ok(Named::Default);
        }
        Ok(Named::Entry(key(table, given)?))
    }

    /// The same, for the engine's direct counters and meters.
    pub fn direct(&self) -> DirectOf<'_> {
        match self {
            Named::Entry((matches, priority)) => DirectOf::Entry(matches, *priority),
            Named::Default => DirectOf::Default,
        }
    }
}

/// The content of an entry's message, in the engine's form.
#[derive(Debug)]
pub struct Decoded {
    key: EntryKey,
    /// `None` if it has no action, or one that depends on which ports are up.
    action: Option<EntryAction>,
}

/// Decodes what depends only on the program. `None` if there is no such part or it is invalid; [`write`] reports the
/// error.
pub fn decode(model: &Model, given: &TableEntry) -> Option<Decoded> {
    let table = model.table(given.table_id).ok()?;
    if given.is_default_action || table.fields.is_empty() {
        return None;
    }
    let action = given
        .action
        .as_ref()
        .and_then(|action| action.r#type.as_ref());
    let action = match action {
        Some(table_action::Type::Action(action)) => {
            let spec = actions::decode(model, table, action, Place::Entry).ok()?;
            Some(EntryAction::Run(spec))
        }
        _ => None,
    };
    let key = key(table, given).ok()?;
    Some(Decoded { key, action })
}

/// Writes an entry. A part of it may be decoded already.
pub fn write(
    target: &mut Target<'_>,
    change: Change,
    given: &TableEntry,
    decoded: Option<Decoded>,
) -> Outcome<()> {
    let table = target.model.table(given.table_id)?;
    let place = || format!("table `{}`", table.name);
    if given.is_const {
        return Err(Fault::invalid("is_const can only be read").at(place()));
    }
    // Only the key of a deleted entry matters.
    if change != Change::Delete {
        check(table, given).map_err(|fault| fault.at(place()))?;
    }
    let written = match given.is_default_action {
        true => write_default(target, table, change, given),
        false => write_entry(target, table, change, given, decoded),
    };
    written.map_err(|fault| fault.at(place()))
}

/// Reads a part of the entries that match a request. Returns where the next part begins.
pub fn read(
    target: &Target<'_>,
    request: &TableEntry,
    from: Cursor,
    found: &mut Vec<Entity>,
) -> Outcome<Option<Cursor>> {
    let tables = &target.model.tables;
    if request.table_id != 0 {
        let table = target.model.table(request.table_id)?;
        let place = || format!("table `{}`", table.name);
        let next = read_table(target, table, request, from.place, found);
        return Ok(from.next(next.map_err(|fault| fault.at(place()))?, 1));
    }
    let Some(table) = tables.values().nth(from.table) else {
        return Ok(None);
    };
    // If all tables are requested, resources that a table does not have are omitted.
    let request = TableEntry {
        table_id: table.id,
        time_since_last_hit: request.time_since_last_hit.filter(|_| table.idle_timeout),
        counter_data: request.counter_data.filter(|_| table.counter),
        meter_config: request.meter_config.filter(|_| table.meter.is_some()),
        meter_counter_data: request.meter_counter_data.filter(|_| table.meter.is_some()),
        ..request.clone()
    };
    let next = read_table(target, table, &request, from.place, found)?;
    Ok(from.next(next, tables.len()))
}

/// The keys of a table's entries from a number on, at most [`ENTRIES`]. Also returns the number of the next one.
pub fn names_from(
    target: &Target<'_>,
    table: &TableModel,
    from: u64,
) -> Outcome<(Vec<Named>, Option<u64>)> {
    let entries = target.switch.entries_from(table.table, from, ENTRIES)?;
    let next = entries.last().map(|(number, _)| number + 1);
    let next = next.filter(|_| entries.len() == ENTRIES);
    let name = |(_, entry): (u64, Entry)| Named::Entry((entry.matches, entry.priority));
    Ok((entries.into_iter().map(name).collect(), next))
}

/// The current state of an entry with all of its direct resources, for undoing a change.
pub fn current(target: &Target<'_>, given: &TableEntry) -> Outcome<TableEntry> {
    let table = target.model.table(given.table_id)?;
    let request = TableEntry {
        counter_data: table.counter.then(Default::default),
        meter_config: table.meter.map(|_| Default::default()),
        time_since_last_hit: None,
        ..given.clone()
    };
    encode(target, table, &Named::new(table, given)?, &request)
}

fn write_entry(
    target: &mut Target<'_>,
    table: &TableModel,
    change: Change,
    given: &TableEntry,
    decoded: Option<Decoded>,
) -> Outcome<()> {
    if table.fields.is_empty() {
        let message = "it has no match fields, and therefore only its default entry: MODIFY it, with \
                       is_default_action";
        return Err(Fault::invalid(message));
    }
    let ((matches, priority), action) = match decoded {
        Some(decoded) => (decoded.key, decoded.action),
        None => (key(table, given)?, None),
    };
    if change == Change::Delete {
        let old = target.switch.read(table.table, &matches, priority)?;
        target.switch.delete(table.table, &matches, priority)?;
        let key = (old.matches, priority);
        target.state.keep_one_shot(table, key.clone(), None);
        target.state.keep(table.table, key, None);
        return Ok(());
    }
    if change == Change::Modify && given.action.is_none() {
        // It keeps its action and its other properties.
        target.switch.read(table.table, &matches, priority)?;
        let of = DirectOf::Entry(&matches, priority);
        return write_direct(target, table, change, given, of);
    }
    let set = action_set(target, table, given)?;
    let action = match (action, &set) {
        (Some(action), _) => action,
        (None, Some(set)) => one_shot::choices(target.model, table, set, target.down)?,
        (None, None) => decode_action(target, table, given, Place::Entry)?,
    };
    check_one_shots(target, table, &action)?;
    let entry = Entry {
        matches,
        priority,
        action,
    };
    // Detects errors in direct resources before anything is changed.
    let _ = direct(table, given)?;
    let matches = entry.matches.clone();
    let of = DirectOf::Entry(&matches, priority);
    match change {
        Change::Insert => target.switch.insert(table.table, entry)?,
        _ => target.switch.modify(table.table, entry)?,
    }
    write_direct(target, table, change, given, of)?;
    let kept = kept(target, given);
    if change == Change::Insert && set.is_none() && kept.is_none() {
        // Nothing is stored for an entry that did not exist.
        return Ok(());
    }
    let matches = target.switch.read(table.table, &matches, priority)?.matches;
    let key = (matches, priority);
    target.state.keep_one_shot(table, key.clone(), set);
    target.state.keep(table.table, key, kept);
    Ok(())
}

/// The state to store for an entry, if there is any.
fn kept(target: &Target<'_>, given: &TableEntry) -> Option<Kept> {
    let empty = Kept {
        reported: target.now,
        ..Kept::default()
    };
    let kept = Kept {
        metadata: given.metadata.clone(),
        #[allow(deprecated, reason = "older clients use it")]
        controller_metadata: given.controller_metadata,
        idle_timeout_ns: given.idle_timeout_ns,
        ..empty.clone()
    };
    (kept != empty).then_some(kept)
}

/// The action set to store for an entry, if it holds one.
fn action_set(
    target: &Target<'_>,
    table: &TableModel,
    given: &TableEntry,
) -> Outcome<Option<ActionProfileActionSet>> {
    let action = given.action.as_ref();
    match action.and_then(|action| action.r#type.as_ref()) {
        Some(table_action::Type::ActionProfileActionSet(set)) => {
            one_shot::canonical(target.model, table, set).map(Some)
        }
        _ => Ok(None),
    }
}

fn decode_action(
    target: &Target<'_>,
    table: &TableModel,
    given: &TableEntry,
    stands: Place,
) -> Outcome<EntryAction> {
    let action = given.action.as_ref();
    actions::decode_entry(target.model, table, action, stands, target.down)
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
    check_default(given)?;
    if target.switch.program()[table.table].const_default {
        let message = "its default action cannot be changed: it is const";
        return Err(Fault::new(Code::PermissionDenied, message));
    }
    // Detects errors in direct resources before anything is changed.
    let _ = direct(table, given)?;
    let Some(action) = &given.action else {
        target.switch.reset_default(table.table)?;
        target.state.defaults.remove(&table.table);
        return write_direct(target, table, change, given, DirectOf::Default);
    };
    if !matches!(action.r#type, None | Some(table_action::Type::Action(_))) {
        return Err(Fault::invalid(
            "the default entry runs an action, no member or group",
        ));
    }
    let action = decode_action(target, table, given, Place::Default)?;
    target.switch.set_default(table.table, action)?;
    write_direct(target, table, change, given, DirectOf::Default)?;
    match kept(target, given) {
        Some(kept) => target.state.defaults.insert(table.table, kept),
        None => target.state.defaults.remove(&table.table),
    };
    Ok(())
}

/// Checks that the message of a default entry has no invalid field.
fn check_default(given: &TableEntry) -> Outcome<()> {
    if !given.r#match.is_empty() || given.priority != 0 {
        let message = "the default entry has no match and no priority";
        return Err(Fault::invalid(message));
    }
    if given.idle_timeout_ns != 0 || given.time_since_last_hit.is_some() {
        let message = "the default entry has no idle timeout; leave idle_timeout_ns 0 and \
                       time_since_last_hit unset";
        return Err(Fault::invalid(message));
    }
    Ok(())
}

/// Decodes direct resources into the engine's form.
fn direct(
    table: &TableModel,
    given: &TableEntry,
) -> Outcome<(Option<engine::CounterData>, Option<engine::MeterConfig>)> {
    let counter = given.counter_data.as_ref().map(cells::decode_counter);
    let ty = table.meter.unwrap_or_default();
    let meter = given.meter_config.as_ref();
    let meter = meter.map(|config| cells::decode_meter(ty, config));
    Ok((counter.transpose()?, meter.transpose()?))
}

fn write_direct(
    target: &mut Target<'_>,
    table: &TableModel,
    change: Change,
    given: &TableEntry,
    of: DirectOf<'_>,
) -> Outcome<()> {
    let (counter, meter) = direct(table, given)?;
    let switch = &mut target.switch;
    if table.meter.is_some() && (meter.is_some() || change == Change::Modify) {
        switch.direct_meter_write(table.table, of, meter)?;
    }
    if given.meter_counter_data.is_some() {
        switch.direct_meter_clear_colours(table.table, of)?;
    }
    if let Some(counter) = counter {
        switch.direct_counter_write(table.table, of, counter)?;
    }
    Ok(())
}

/// Checks the requirements for every entry that is written.
fn check(table: &TableModel, given: &TableEntry) -> Outcome<()> {
    cells::check_colours(given.meter_counter_data.as_ref())?;
    if given.time_since_last_hit.is_some() {
        return Err(Fault::invalid("time_since_last_hit can only be read"));
    }
    if given.idle_timeout_ns < 0 || given.idle_timeout_ns > 0 && !table.idle_timeout {
        let (expected, why) = match table.idle_timeout {
            true => ("at least 0", ""),
            false => ("0", ": the table does not support idle timeouts"),
        };
        let found = given.idle_timeout_ns;
        let message = format!("expected an idle_timeout_ns of {expected}, found {found}{why}");
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
    if (given.meter_config.is_some() || given.meter_counter_data.is_some()) && table.meter.is_none()
    {
        return Err(Fault::invalid(
            "it has no direct meter; leave meter_config and meter_counter_data unset",
        ));
    }
    Ok(())
}

/// The key of an entry: its matches and its priority.
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

/// Members and groups must not be mixed with one-shot groups.
fn check_one_shots(target: &Target<'_>, table: &TableModel, action: &EntryAction) -> Outcome<()> {
    let Some(id) = table.profile else {
        return Ok(());
    };
    let profile = target.model.profile(id)?;
    let mixed = match action {
        EntryAction::OneShot(_) => !target.switch.members_from(profile.object, 0, 1)?.is_empty(),
        EntryAction::Member(_) | EntryAction::Group(_) => target.state.has_one_shots(id),
        EntryAction::Run(_) => false,
    };
    match mixed {
        true => Err(super::profile::mixed(profile)),
        false => Ok(()),
    }
}

// -- reading ----------------------------------------------------------------------------------

/// Reads entries of a table from a number on. Returns the number of the next one.
fn read_table(
    target: &Target<'_>,
    table: &TableModel,
    request: &TableEntry,
    from: u64,
    found: &mut Vec<Entity>,
) -> Outcome<Option<u64>> {
    check_direct(table, request)?;
    if request.time_since_last_hit.is_some() && !table.idle_timeout {
        return Err(Fault::invalid(
            "the table does not support idle timeouts; leave time_since_last_hit unset",
        ));
    }
    let (names, next) = match (request.is_default_action, request.r#match.is_empty()) {
        (true, _) => {
            check_default(request)?;
            (vec![Named::Default], None)
        }
        (false, true) => names_from(target, table, from)?,
        (false, false) => (vec![Named::new(table, request)?], None),
    };
    let action_id = asked_action(target.model, table, request.action.as_ref())?;
    for named in names {
        let encoded = match encode(target, table, &named, request) {
            // An entry that does not exist is not an error: nothing matches.
            Err(fault) if fault.code == Code::NotFound => continue,
            encoded => encoded?,
        };
        let of_priority = request.priority == 0 || request.priority == encoded.priority;
        let of_action = action_id.is_none_or(|id| action_of(encoded.action.as_ref()) == Some(id));
        #[allow(deprecated, reason = "older clients use it")]
        let of_controller = request.controller_metadata == 0
            || request.controller_metadata == encoded.controller_metadata;
        let of_metadata = request.metadata.is_empty() || request.metadata == encoded.metadata;
        if of_priority && of_action && of_controller && of_metadata {
            found.push(wrap(encoded));
        }
    }
    Ok(next)
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

/// The action by which a request selects entries.
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

/// Encodes an entry without its direct resources.
pub fn encode_named(target: &Target<'_>, table: &TableModel, named: &Named) -> Outcome<TableEntry> {
    encode(target, table, named, &TableEntry::default())
}

/// Encodes an entry with the resources that the request selects.
fn encode(
    target: &Target<'_>,
    table: &TableModel,
    named: &Named,
    request: &TableEntry,
) -> Outcome<TableEntry> {
    let (id, switch) = (table.table, &*target.switch);
    let mut encoded = match named {
        Named::Entry(key) => encode_entry(target, table, key, request)?,
        Named::Default => {
            let action = switch.default_action(id)?;
            let encoded = TableEntry {
                table_id: table.id,
                action: Some(actions::encode_entry(target.model, table, &action, None)),
                is_default_action: true,
                ..TableEntry::default()
            };
            with_kept(encoded, target.state.defaults.get(&id))
        }
    };
    if request.counter_data.is_some() {
        let data = switch.direct_counter_read(id, named.direct())?;
        encoded.counter_data = Some(cells::encode_counter(data));
    }
    if request.meter_config.is_some() {
        let config = switch.direct_meter_read(id, named.direct())?;
        encoded.meter_config = config.map(cells::encode_meter);
    }
    if request.meter_counter_data.is_some() {
        let colours = switch.direct_meter_colours(id, named.direct())?;
        encoded.meter_counter_data = Some(cells::encode_colours(colours));
    }
    Ok(encoded)
}

/// Adds the properties that a client set besides key and action.
fn with_kept(encoded: TableEntry, kept: Option<&Kept>) -> TableEntry {
    let Some(kept) = kept else {
        return encoded;
    };
    TableEntry {
        metadata: kept.metadata.clone(),
        idle_timeout_ns: kept.idle_timeout_ns,
        #[allow(deprecated, reason = "older clients use it")]
        controller_metadata: kept.controller_metadata,
        ..encoded
    }
}

/// Encodes an entry other than the default: its key, its action, and the time since it was last hit.
fn encode_entry(
    target: &Target<'_>,
    table: &TableModel,
    key: &EntryKey,
    request: &TableEntry,
) -> Outcome<TableEntry> {
    let (id, switch) = (table.table, &*target.switch);
    let (matches, priority) = key;
    let entry = switch.read(id, matches, *priority)?;
    // The engine's form may differ from the client's.
    let key = (entry.matches, *priority);
    let set = target.state.one_shot(table, &key);
    let since = match request.time_since_last_hit {
        None => None,
        Some(_) => Some(target.now.since(switch.last_hit(id, matches, *priority)?)),
    };
    let action = actions::encode_entry(target.model, table, &entry.action, set);
    let encoded = TableEntry {
        table_id: table.id,
        r#match: matches::encode(&table.fields, &key.0),
        action: Some(action),
        priority: i32::try_from(*priority).unwrap_or(i32::MAX),
        is_const: switch.is_constant(id, matches, *priority)?,
        time_since_last_hit: since.map(|since| IdleTimeout {
            elapsed_ns: i64::try_from(since.as_nanos()).unwrap_or(i64::MAX),
        }),
        ..TableEntry::default()
    };
    Ok(with_kept(encoded, target.state.kept(id, &key)))
}
