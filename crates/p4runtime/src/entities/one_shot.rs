//! One-shot groups: entries that hold actions with weights (specification, "One Shot Action Selector Programming").

use super::actions::{self, Place};
use super::replication::watched;
use crate::device::{EntryKey, State, Target};
use crate::fault::{Fault, Outcome};
use crate::model::{Model, ProfileModel, TableModel};
use crate::proto::v1::action_profile_action::WatchKind;
use crate::proto::v1::action_profile_action_set::{ActionSelectionMode, SizeSemantics};
use crate::proto::v1::{ActionProfileAction, ActionProfileActionSet};
use engine::{Entry, EntryAction};
use std::collections::BTreeSet;

/// The form of a set that is stored and read: its values are canonical.
///
/// # Errors
/// The set is invalid; the error states what is valid.
pub fn canonical(
    model: &Model,
    table: &TableModel,
    given: &ActionProfileActionSet,
) -> Outcome<ActionProfileActionSet> {
    check(profile(model, table)?, given)?;
    let canonical = |given: &ActionProfileAction| {
        let Some(action) = &given.action else {
            return Err(Fault::invalid("an action of the action set is not set"));
        };
        port(given)?;
        let spec = actions::decode(model, table, action, Place::Entry)?;
        Ok(ActionProfileAction {
            action: Some(actions::encode(model, table, &spec)),
            ..given.clone()
        })
    };
    let actions = given.action_profile_actions.iter().map(canonical);
    Ok(ActionProfileActionSet {
        action_profile_actions: actions.collect::<Outcome<_>>()?,
        ..given.clone()
    })
}

/// The actions that the engine selects from: those whose port is up.
pub fn choices(
    model: &Model,
    table: &TableModel,
    set: &ActionProfileActionSet,
    down: &BTreeSet<u16>,
) -> Outcome<EntryAction> {
    let profile = profile(model, table)?;
    let mut choices = Vec::new();
    for choice in &set.action_profile_actions {
        if port(choice)?.is_some_and(|port| down.contains(&port)) {
            continue;
        }
        let action = choice.action.clone().unwrap_or_default();
        let spec = actions::decode(model, table, &action, Place::Entry)?;
        choices.push((spec, profile.weight(choice.weight)?));
    }
    Ok(EntryAction::OneShot(choices))
}

/// Updates entries after the links of some ports have changed: the engine receives the actions that can be selected
/// now.
pub fn link_changed(target: &mut Target<'_>) {
    let tables = target.model.tables.values();
    for table in tables.filter(|table| table.profile.is_some()) {
        let sets = target.state.one_shots.get(&table.profile.unwrap_or(0));
        let sets = sets.into_iter().flatten();
        for ((_, (matches, priority)), set) in sets.filter(|((id, _), _)| *id == table.table) {
            let watch = |action: &ActionProfileAction| action.watch_kind.is_some();
            if !set.action_profile_actions.iter().any(watch) {
                continue;
            }
            // It was accepted with all of its actions.
            if let Ok(action) = choices(target.model, table, set, target.down) {
                let entry = Entry {
                    matches: matches.clone(),
                    priority: *priority,
                    action,
                };
                let _ = target.switch.modify(table.table, entry);
            }
        }
    }
}

impl State {
    /// The set that an entry holds.
    pub fn one_shot(&self, table: &TableModel, key: &EntryKey) -> Option<&ActionProfileActionSet> {
        let sets = self.one_shots.get(&table.profile?)?;
        sets.get(&(table.table, key.clone()))
    }

    /// Stores the action set of an entry. `None` removes it.
    pub fn keep_one_shot(
        &mut self,
        table: &TableModel,
        key: EntryKey,
        set: Option<ActionProfileActionSet>,
    ) {
        let Some(profile) = table.profile else {
            return;
        };
        let sets = self.one_shots.entry(profile).or_default();
        match set {
            Some(set) => sets.insert((table.table, key), set),
            None => sets.remove(&(table.table, key)),
        };
    }

    /// Whether entries of a profile's tables hold action sets.
    pub fn has_one_shots(&self, profile: u32) -> bool {
        let sets = self.one_shots.get(&profile);
        sets.is_some_and(|sets| !sets.is_empty())
    }
}

/// Checks that the selector allows a set.
fn check(profile: &ProfileModel, given: &ActionProfileActionSet) -> Outcome<()> {
    let semantics = match profile.size_is_weights {
        true => SizeSemantics::SumOfWeights,
        false => SizeSemantics::SumOfMembers,
    };
    let default_size = SizeSemantics::DefaultSizeDeterminedByActionSelector;
    if given.action_selection_mode() == ActionSelectionMode::Random
        || ![default_size, semantics].contains(&given.size_semantics())
    {
        let message = "an action set chooses and is measured as its action selector says; leave \
                       action_selection_mode and size_semantics unset";
        return Err(Fault::unimplemented(message));
    }
    let given = &given.action_profile_actions;
    let mut weights = 0;
    for choice in given {
        weights += u64::from(profile.weight(choice.weight)?);
    }
    actions::check_weights(weights)?;
    let (size, what) = match profile.size_is_weights {
        true => (weights, "the sum of its weights"),
        false => (given.len() as u64, "the number of its actions"),
    };
    let most = profile.max_group_size;
    if most > 0 && size > most as u64 {
        let message =
            format!("the size of the action set, {what}, is {size}; expected at most {most}");
        return Err(Fault::invalid(message));
    }
    Ok(())
}

/// The profile of a table that may hold action sets.
fn profile<'m>(model: &'m Model, table: &TableModel) -> Outcome<&'m ProfileModel> {
    match table.profile {
        Some(profile) => model.profile(profile),
        None => Err(Fault::invalid(
            "expected an action, as it has no action profile, found an action set",
        )),
    }
}

/// The port that an action watches.
#[allow(deprecated, reason = "older clients use watch")]
fn port(choice: &ActionProfileAction) -> Outcome<Option<u16>> {
    match &choice.watch_kind {
        None | Some(WatchKind::Watch(0)) => Ok(None),
        Some(WatchKind::Watch(port)) => watched(&port.to_be_bytes()),
        Some(WatchKind::WatchPort(port)) => watched(port),
    }
}
