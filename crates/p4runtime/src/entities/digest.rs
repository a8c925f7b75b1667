//! Configuration of digests: which are sent, and how they are bundled.

use super::Change;
use crate::device::Target;
use crate::fault::{Fault, Outcome};
use crate::proto::v1::{DigestEntry, Entity, entity};

/// Enables, changes or disables a digest.
pub fn write(target: &mut Target<'_>, change: Change, given: &DigestEntry) -> Outcome<()> {
    let digest = target.model.digest(given.digest_id)?;
    let place = |fault: Fault| fault.at(format!("digest `{}`", digest.name));
    let digests = &mut target.state.digests;
    change
        .check(digests.contains_key(&given.digest_id))
        .map_err(place)?;
    if change == Change::Delete {
        digests.remove(&given.digest_id);
        return Ok(());
    }
    let config = given.config.unwrap_or_default();
    let numbers = [
        ("max_timeout_ns", config.max_timeout_ns),
        ("max_list_size", i64::from(config.max_list_size)),
        ("ack_timeout_ns", config.ack_timeout_ns),
    ];
    if let Some((name, n)) = numbers.into_iter().find(|(_, n)| *n < 0) {
        let message = format!("expected a {name} of at least 0, found {n}");
        return Err(place(Fault::invalid(message)));
    }
    digests.insert(given.digest_id, config);
    Ok(())
}

/// Reads the configuration of the enabled digests.
pub fn read(target: &Target<'_>, request: &DigestEntry, found: &mut Vec<Entity>) -> Outcome<()> {
    if request.digest_id != 0 {
        target.model.digest(request.digest_id)?;
    }
    let digests = target.state.digests.iter();
    for (&digest_id, config) in digests.filter(|(id, _)| [0, **id].contains(&request.digest_id)) {
        let entry = DigestEntry {
            digest_id,
            config: Some(*config),
        };
        found.push(Entity {
            entity: Some(entity::Entity::DigestEntry(entry)),
        });
    }
    Ok(())
}
