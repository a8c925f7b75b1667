//! Value sets of parsers.

use super::{Change, Cursor, matches, only_modify};
use crate::device::Target;
use crate::fault::{Fault, Outcome};
use crate::proto::v1::{Entity, ValueSetEntry, ValueSetMember, entity};
use tonic::Code;

/// Replaces the members of a value set.
pub fn write(target: &mut Target<'_>, change: Change, given: &ValueSetEntry) -> Outcome<()> {
    only_modify(change, "a value set")?;
    let set = target.model.value_set(given.value_set_id)?;
    let place = |fault: Fault| fault.at(format!("value set `{}`", set.name));
    if given.members.len() as u64 > set.size {
        let message = format!(
            "{} members, expected at most {}",
            given.members.len(),
            set.size
        );
        return Err(place(Fault::new(Code::ResourceExhausted, message)));
    }
    let mut members = Vec::new();
    for member in &given.members {
        let member = matches::decode(&set.fields, &member.r#match).map_err(place)?;
        if members.contains(&member) {
            return Err(place(Fault::new(
                Code::AlreadyExists,
                "a member is given twice",
            )));
        }
        members.push(member);
    }
    Ok(target.switch.value_set_write(set.set, members)?)
}

/// Reads the members of a value set. Returns which value set is next.
pub fn read(
    target: &Target<'_>,
    request: &ValueSetEntry,
    from: Cursor,
    found: &mut Vec<Entity>,
) -> Outcome<Option<Cursor>> {
    let sets = &target.model.value_sets;
    let (id, set, count) = match request.value_set_id {
        0 => match sets.iter().nth(from.table) {
            Some((&id, set)) => (id, set, sets.len()),
            None => return Ok(None),
        },
        id => (id, target.model.value_set(id)?, 1),
    };
    let members = target.switch.value_set_read(set.set)?;
    let members = members.iter().map(|member| ValueSetMember {
        r#match: matches::encode(&set.fields, member),
    });
    let entry = ValueSetEntry {
        value_set_id: id,
        members: members.collect(),
    };
    found.push(Entity {
        entity: Some(entity::Entity::ValueSetEntry(entry)),
    });
    Ok(from.next(None, count))
}
