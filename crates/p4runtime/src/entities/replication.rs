//! Multicast groups and clone sessions.

use super::Change;
use crate::bytestring::Shape;
use crate::device::Target;
use crate::fault::{Fault, Outcome};
use crate::proto::v1::packet_replication_engine_entry::Type;
use crate::proto::v1::replica::PortKind;
use crate::proto::v1::{
    CloneSessionEntry, Entity, MulticastGroupEntry, PacketReplicationEngineEntry, Replica, entity,
};
use engine::CloneSession;
use std::collections::BTreeSet;
use tonic::Code;

/// Ports have 9 bits.
const PORT: Shape = Shape::bits(9);

/// Writes a group or a session.
pub fn write(
    target: &mut Target<'_>,
    change: Change,
    given: &PacketReplicationEngineEntry,
) -> Outcome<()> {
    match &given.r#type {
        Some(Type::MulticastGroupEntry(group)) => write_group(target, change, group)
            .map_err(|fault| fault.at(format!("multicast group {}", group.multicast_group_id))),
        Some(Type::CloneSessionEntry(session)) => write_session(target, change, session)
            .map_err(|fault| fault.at(format!("clone session {}", session.session_id))),
        None => Err(unset()),
    }
}

/// Reads groups or sessions.
pub fn read(
    target: &Target<'_>,
    request: &PacketReplicationEngineEntry,
    found: &mut Vec<Entity>,
) -> Outcome<()> {
    let state = &*target.state;
    let mut push = |entry| {
        let entry = PacketReplicationEngineEntry {
            r#type: Some(entry),
        };
        found.push(Entity {
            entity: Some(entity::Entity::PacketReplicationEngineEntry(entry)),
        });
    };
    match &request.r#type {
        Some(Type::MulticastGroupEntry(asked)) => {
            let id = asked.multicast_group_id;
            let groups = state.multicast_groups.iter();
            for (_, group) in groups.filter(|(known, _)| id == 0 || id == **known) {
                push(Type::MulticastGroupEntry(group.clone()));
            }
        }
        Some(Type::CloneSessionEntry(asked)) => {
            let id = asked.session_id;
            let sessions = state.clone_sessions.iter();
            for (_, session) in sessions.filter(|(known, _)| id == 0 || id == **known) {
                push(Type::CloneSessionEntry(session.clone()));
            }
        }
        None => return Err(unset()),
    }
    Ok(())
}

fn write_group(
    target: &mut Target<'_>,
    change: Change,
    given: &MulticastGroupEntry,
) -> Outcome<()> {
    let id = number("multicast_group_id", given.multicast_group_id, u16::MAX)?;
    let groups = &mut target.state.multicast_groups;
    change.check(groups.contains_key(&given.multicast_group_id))?;
    if change == Change::Delete {
        target.switch.set_multicast_group(id, Vec::new())?;
        groups.remove(&given.multicast_group_id);
        return Ok(());
    }
    let replicas = replicas(&given.replicas, target.down)?;
    target.switch.set_multicast_group(id, replicas)?;
    let replicas = given.replicas.iter().map(canonical);
    let kept = MulticastGroupEntry {
        replicas: replicas.collect::<Outcome<_>>()?,
        ..given.clone()
    };
    groups.insert(given.multicast_group_id, kept);
    Ok(())
}

/// Updates groups after the links of some ports have changed: each replica goes to the first of its ports that is up.
pub fn link_changed(target: &mut Target<'_>) {
    let backed_up = |group: &&MulticastGroupEntry| {
        let mut replicas = group.replicas.iter();
        replicas.any(|replica| !replica.backup_replicas.is_empty())
    };
    for group in target.state.multicast_groups.values().filter(backed_up) {
        // It was accepted with all of its replicas.
        if let (Ok(replicas), Ok(id)) = (
            replicas(&group.replicas, target.down),
            u16::try_from(group.multicast_group_id),
        ) {
            let _ = target.switch.set_multicast_group(id, replicas);
        }
    }
}

fn write_session(
    target: &mut Target<'_>,
    change: Change,
    given: &CloneSessionEntry,
) -> Outcome<()> {
    let id = number("session_id", given.session_id, i16::MAX as u16)?;
    let sessions = &mut target.state.clone_sessions;
    change.check(sessions.contains_key(&given.session_id))?;
    if change == Change::Delete {
        target.switch.set_clone_session(id, None)?;
        sessions.remove(&given.session_id);
        return Ok(());
    }
    if given.class_of_service != 0 {
        let message = "copies have the class of service 0 on this target; leave it 0";
        return Err(Fault::invalid(message));
    }
    let length = u32::try_from(given.packet_length_bytes).map_err(|_| {
        let found = given.packet_length_bytes;
        Fault::invalid(format!(
            "expected a packet_length_bytes of at least 0, found {found}"
        ))
    })?;
    if given
        .replicas
        .iter()
        .any(|replica| !replica.backup_replicas.is_empty())
    {
        let message = "only replicas of multicast groups have backup_replicas on this target";
        return Err(Fault::unimplemented(message));
    }
    let session = CloneSession {
        replicas: replicas(&given.replicas, target.down)?,
        truncate: Some(length).filter(|&length| length > 0),
    };
    target.switch.set_clone_session(id, Some(session))?;
    let replicas = given.replicas.iter().map(canonical);
    let kept = CloneSessionEntry {
        replicas: replicas.collect::<Outcome<_>>()?,
        ..given.clone()
    };
    sessions.insert(given.session_id, kept);
    Ok(())
}

/// The copies to make: each replica goes to the first of its ports that is up, or to its primary port if none is.
fn replicas(given: &[Replica], down: &BTreeSet<u16>) -> Outcome<Vec<engine::Replica>> {
    let mut chosen = Vec::new();
    let mut known = BTreeSet::new();
    for replica in given {
        let first = copy(port(replica.port_kind.as_ref())?, replica.instance)?;
        let mut all = vec![first];
        for backup in &replica.backup_replicas {
            all.push(copy(decode(&backup.port)?, backup.instance)?);
        }
        for (i, one) in all.iter().enumerate() {
            let engine::Replica { port, rid } = one;
            if !known.insert(*one) {
                let message =
                    format!("the replica of port {port} and instance {rid} is given twice");
                return Err(Fault::invalid(message));
            }
            if i > 0 && *port == first.port {
                let message = format!("port {port} cannot be its own backup");
                return Err(Fault::invalid(message));
            }
        }
        let up = all.iter().find(|one| !down.contains(&one.port));
        chosen.push(*up.unwrap_or(&first));
    }
    Ok(chosen)
}

fn copy(port: u16, instance: u32) -> Outcome<engine::Replica> {
    let rid = u16::try_from(instance).map_err(|_| {
        Fault::invalid(format!(
            "expected an instance of 0 to 65535, found {instance}"
        ))
    })?;
    Ok(engine::Replica { port, rid })
}

/// The form of a replica that is stored and read: its ports are canonical.
fn canonical(given: &Replica) -> Outcome<Replica> {
    let mut replica = given.clone();
    if let Some(PortKind::Port(octets)) = &mut replica.port_kind {
        *octets = PORT.encode(&decode(octets)?.into());
    }
    for backup in &mut replica.backup_replicas {
        backup.port = PORT.encode(&decode(&backup.port)?.into());
    }
    Ok(replica)
}

#[allow(deprecated, reason = "older clients use egress_port")]
fn port(given: Option<&PortKind>) -> Outcome<u16> {
    match given {
        Some(PortKind::Port(octets)) => decode(octets),
        Some(PortKind::EgressPort(port)) => decode(&port.to_be_bytes()),
        None => Err(Fault::invalid("a replica's port is not set")),
    }
}

fn decode(octets: &[u8]) -> Outcome<u16> {
    let number = PORT.decode(octets);
    let number = number.map_err(|fault| fault.at("a replica's port"))?;
    Ok(u16::try_from(&number).unwrap_or(u16::MAX))
}

/// The port that a member of a group watches. The member is selected only while the port's link is up.
pub fn watched(octets: &[u8]) -> Outcome<Option<u16>> {
    if octets.is_empty() {
        return Ok(None);
    }
    let port = PORT.decode(octets);
    // The device cannot have a port with an invalid number.
    let port = port.map_err(|fault| fault.into_invalid().at("watch_port"))?;
    Ok(u16::try_from(&port).ok())
}

fn number(what: &str, id: u32, most: u16) -> Outcome<u16> {
    let valid = u16::try_from(id).ok().filter(|id| (1..=most).contains(id));
    valid.ok_or_else(|| Fault::invalid(format!("expected a {what} of 1 to {most}, found {id}")))
}

fn unset() -> Fault {
    Fault::new(
        Code::InvalidArgument,
        "its type is not set; valid: multicast_group_entry, clone_session_entry",
    )
}
