//! Members and groups of action profiles.

use super::actions::{self, Place};
use super::replication::watched;
use super::{Change, Cursor, ENTRIES};
use crate::device::Target;
use crate::fault::{Fault, Outcome};
use crate::model::ProfileModel;
use crate::proto::v1::action_profile_group::member::WatchKind;
use crate::proto::v1::{ActionProfileGroup, ActionProfileMember, Entity, entity};
use engine::{Group, Member};
use std::collections::BTreeMap;
use tonic::Code;

/// Writes a member.
pub fn write_member(
    target: &mut Target<'_>,
    change: Change,
    given: &ActionProfileMember,
) -> Outcome<()> {
    let profile = target.model.profile(given.action_profile_id)?;
    let place = |fault: Fault| fault.at(format!("action profile `{}`", profile.name));
    if given.member_id == 0 {
        return Err(place(Fault::invalid(
            "expected a member_id of at least 1, found 0",
        )));
    }
    if change == Change::Delete {
        // The engine's groups do not contain members whose port is down.
        let uses = |group: &&ActionProfileGroup| {
            let mut members = group.members.iter();
            group.action_profile_id == profile.id && members.any(|m| m.member_id == given.member_id)
        };
        if let Some(group) = target.state.groups.values().find(uses) {
            let message = format!("member {} is in group {}", given.member_id, group.group_id);
            return Err(place(Fault::new(Code::FailedPrecondition, message)));
        }
        return Ok(target
            .switch
            .member_delete(profile.object, given.member_id)?);
    }
    if change == Change::Insert && target.state.has_one_shots(profile.id) {
        return Err(mixed(profile));
    }
    let Some(action) = &given.action else {
        return Err(place(Fault::invalid("its action is not set")));
    };
    let Some(table) = profile.table else {
        let message = "the program uses it in no table, so that there is no action for a member";
        return Err(place(Fault::invalid(message)));
    };
    let table = target.model.table(table)?;
    let member = Member {
        id: given.member_id,
        action: actions::decode(target.model, table, action, Place::Entry).map_err(place)?,
    };
    match change {
        Change::Insert => target.switch.member_insert(profile.object, member)?,
        _ => target.switch.member_modify(profile.object, member)?,
    }
    Ok(())
}

/// Writes a group.
pub fn write_group(
    target: &mut Target<'_>,
    change: Change,
    given: &ActionProfileGroup,
) -> Outcome<()> {
    let profile = target.model.profile(given.action_profile_id)?;
    let key = (profile.id, given.group_id);
    if given.group_id == 0 {
        let fault = Fault::invalid("expected a group_id of at least 1, found 0");
        return Err(fault.at(format!("action profile `{}`", profile.name)));
    }
    if change == Change::Delete {
        target.switch.group_delete(profile.object, given.group_id)?;
        target.state.groups.remove(&key);
        return Ok(());
    }
    let place = |fault: Fault| {
        fault.at(format!(
            "action profile `{}`, group {}",
            profile.name, given.group_id
        ))
    };
    let before = target.state.groups.get(&key).map(|group| group.max_size);
    if let Some(before) = before
        && change == Change::Modify
        && before != given.max_size
    {
        let message = format!("max_size {before} cannot be changed to {}", given.max_size);
        return Err(place(Fault::invalid(message)));
    }
    let group = Group {
        id: given.group_id,
        members: members(profile, given).map_err(place)?,
    };
    match change {
        Change::Insert => target.switch.group_insert(profile.object, group)?,
        _ => target.switch.group_modify(profile.object, group)?,
    }
    target.state.groups.insert(key, given.clone());
    select(target, profile, given).map_err(place)
}

/// Updates groups after the links of some ports have changed: the engine receives the members that
/// can be selected now.
pub fn link_changed(target: &mut Target<'_>) {
    let groups: Vec<_> = target.state.groups.values().cloned().collect();
    for group in groups.iter().filter(|group| watches(group)) {
        if let Ok(profile) = target.model.profile(group.action_profile_id) {
            // It was accepted with all of its members.
            let _ = select(target, profile, group);
        }
    }
}

fn watches(group: &ActionProfileGroup) -> bool {
    let mut members = group.members.iter();
    members.any(|member| member.watch_kind.is_some())
}

/// Makes the engine select from the members whose port is up.
fn select(
    target: &mut Target<'_>,
    profile: &ProfileModel,
    given: &ActionProfileGroup,
) -> Outcome<()> {
    if !watches(given) {
        return Ok(());
    }
    let mut members = Vec::new();
    for member in &given.members {
        let port = port(member.watch_kind.as_ref())?;
        if port.is_none_or(|port| !target.down.contains(&port)) {
            members.push((member.member_id, profile.weight(member.weight)?));
        }
    }
    let id = given.group_id;
    Ok(target
        .switch
        .group_modify(profile.object, Group { id, members })?)
}

/// The port that a member watches.
#[allow(deprecated, reason = "older clients use watch")]
fn port(kind: Option<&WatchKind>) -> Outcome<Option<u16>> {
    match kind {
        None | Some(WatchKind::Watch(0)) => Ok(None),
        Some(WatchKind::Watch(port)) => watched(&port.to_be_bytes()),
        Some(WatchKind::WatchPort(port)) => watched(port),
    }
}

impl ProfileModel {
    /// The weight of a member. All weights are equal if clients must not set them.
    pub fn weight(&self, given: i32) -> Outcome<u32> {
        let most = match self.max_member_weight {
            0 => i32::MAX,
            most => most,
        };
        let expected = match self.weights_disallowed {
            true if given == 0 => return Ok(1),
            true => "no weight, as the profile disallows them".into(),
            false if (1..=most).contains(&given) => return Ok(given as u32),
            false if most < i32::MAX => format!("a weight of 1 to {most}"),
            false => "a weight of at least 1".into(),
        };
        Err(Fault::invalid(format!(
            "expected {expected}, found {given}"
        )))
    }
}

/// Members with their weights. Checks the size of the group.
fn members(profile: &ProfileModel, given: &ActionProfileGroup) -> Outcome<Vec<(u32, u32)>> {
    let most = profile.max_group_size;
    let valid = match most {
        0 => given.max_size >= 0,
        _ => (1..=most).contains(&given.max_size),
    };
    if !valid {
        let range = match most {
            0 => "at least 0".to_string(),
            _ => format!("1 to {most}"),
        };
        let message = format!("expected a max_size of {range}, found {}", given.max_size);
        return Err(Fault::invalid(message));
    }
    if given.max_size as u64 > actions::MAX_WEIGHTS {
        let message = format!(
            "groups are no larger than {} on this target, and max_size is {}",
            actions::MAX_WEIGHTS,
            given.max_size
        );
        return Err(Fault::new(Code::ResourceExhausted, message));
    }
    let mut members = BTreeMap::new();
    let mut size = 0;
    let mut weights = 0;
    for member in &given.members {
        port(member.watch_kind.as_ref())?;
        let weight = profile.weight(member.weight)?;
        if members.insert(member.member_id, weight).is_some() {
            let message = format!(
                "member {} is given twice; give it a weight",
                member.member_id
            );
            return Err(Fault::invalid(message));
        }
        weights += u64::from(weight);
        size += if profile.size_is_weights {
            u64::from(weight)
        } else {
            1
        };
    }
    if given.max_size > 0 && size > given.max_size as u64 {
        let message = format!(
            "its size is {size}, more than its max_size {}",
            given.max_size
        );
        return Err(Fault::new(Code::ResourceExhausted, message));
    }
    actions::check_weights(weights)?;
    Ok(members.into_iter().collect())
}

/// Reads a part of the members. Returns where the next part begins.
pub fn read_members(
    target: &Target<'_>,
    request: &ActionProfileMember,
    from: Cursor,
    found: &mut Vec<Entity>,
) -> Outcome<Option<Cursor>> {
    let profiles = profiles(target, request.action_profile_id)?;
    let Some(profile) = profiles.get(from.table) else {
        return Ok(None);
    };
    // A profile without a table has no members.
    let Some(table) = profile.table else {
        return Ok(from.next(None, profiles.len()));
    };
    let table = target.model.table(table)?;
    let (first, most) = match request.member_id {
        0 => (u32::try_from(from.place).unwrap_or(u32::MAX), ENTRIES),
        id => (id, 1),
    };
    let members = target.switch.members_from(profile.object, first, most)?;
    let next = members.get(ENTRIES - 1).map(|last| u64::from(last.id) + 1);
    let next = next.filter(|&next| u32::try_from(next).is_ok());
    let wanted = |id| [0, id].contains(&request.member_id);
    for member in members.into_iter().filter(|member| wanted(member.id)) {
        let member = ActionProfileMember {
            action_profile_id: profile.id,
            member_id: member.id,
            action: Some(actions::encode(target.model, table, &member.action)),
        };
        found.push(Entity {
            entity: Some(entity::Entity::ActionProfileMember(member)),
        });
    }
    Ok(from.next(next, profiles.len()))
}

/// Reads a part of the groups. Returns where the next part begins.
pub fn read_groups(
    target: &Target<'_>,
    request: &ActionProfileGroup,
    from: Cursor,
    found: &mut Vec<Entity>,
) -> Outcome<Option<Cursor>> {
    let profiles = profiles(target, request.action_profile_id)?;
    let Some(profile) = profiles.get(from.table) else {
        return Ok(None);
    };
    let (first, last) = match request.group_id {
        0 => (u32::try_from(from.place).unwrap_or(u32::MAX), u32::MAX),
        id => (id, id),
    };
    let mut groups = target
        .state
        .groups
        .range((profile.id, first)..=(profile.id, last));
    for (_, group) in groups.by_ref().take(ENTRIES) {
        found.push(Entity {
            entity: Some(entity::Entity::ActionProfileGroup(group.clone())),
        });
    }
    let next = groups.next().map(|(&(_, id), _)| u64::from(id));
    Ok(from.next(next, profiles.len()))
}

/// The profile with this ID, or all profiles for ID 0.
fn profiles<'m>(target: &Target<'m>, id: u32) -> Outcome<Vec<&'m ProfileModel>> {
    let model = target.model;
    match id {
        0 => Ok(model.profiles.values().collect()),
        _ => Ok(vec![model.profile(id)?]),
    }
}

/// The error for one-shot groups in the same profile as members and groups.
pub fn mixed(profile: &ProfileModel) -> Fault {
    Fault::invalid(format!(
        "the tables of action profile `{}` are programmed either by action sets or by members and \
         groups, not by both; remove the one before writing the other",
        profile.name
    ))
}
