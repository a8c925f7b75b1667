//! `RECONCILE_AND_COMMIT`: transfers the forwarding state to another program, while packets pass through the running
//! one.
//!
//! The state that clients have set is read in parts between batches of packets, and written to the other program
//! elsewhere. No packet sees that program yet, and the gate keeps other requests away. State that packets change in the
//! meantime (counters, registers) is transferred when the program is committed.

use crate::dataplane::run;
use crate::device::{Device, Loaded, Target};
use crate::entities::{self, Cursor};
use crate::fault::{Fault, Outcome};
use crate::pipeline::{self, Replaced};
use crate::proto::v1::{Entity, Update};
use crate::published::Published;
use crate::service::{Shared, lock};
use engine::Switch;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use tonic::Status;
use units::Instant;

/// The environment of a program with forwarding state.
struct Place {
    /// Whether there is no program yet, and so no state to keep.
    is_first: bool,
    down: BTreeSet<u16>,
    now: Instant,
}

/// Transfers the forwarding state to a program that has none, and commits it. On failure, nothing is changed.
///
/// # Errors
/// The state does not fit the program.
pub async fn reconcile(
    shared: &Arc<Shared>,
    (loaded, mut new): (Loaded, Switch),
) -> Result<(Published, Replaced), Status> {
    let of = shared.clone();
    let begun = run(&*shared.dataplane, move |_, now| {
        let mut device = lock(&of.device);
        match keeps_program(&mut device, &loaded) {
            true => Err(Published::of(&device)),
            false => Ok((loaded, place(&device, now))),
        }
    });
    let (mut loaded, place) = match begun.await? {
        Ok(begun) => begun,
        Err(published) => return Ok((published, (None, Some(new)))),
    };
    if !place.is_first {
        let updates = set_by_clients(shared).await?;
        let (losses, down, now) = (shared.losses.clone(), place.down.clone(), place.now);
        let writing = tokio::task::spawn_blocking(move || {
            let mut target = Target {
                switch: &mut new,
                model: &loaded.model,
                state: &mut loaded.state,
                down: &down,
                losses: &losses,
                now,
            };
            pipeline::clear_initial_entries(&mut target)?;
            write(&mut target, &updates)?;
            Ok::<_, Fault>((loaded, new))
        });
        let failed = |_| Status::internal("the switch did not execute the request");
        (loaded, new) = writing.await.map_err(failed)??;
    }
    let of = shared.clone();
    let committing = run(&*shared.dataplane, move |switch, now| {
        let mut device = lock(&of.device);
        if !place.is_first {
            let updates = changed_by_packets(&device.target(switch, now)?)?;
            let mut target = Target {
                switch: &mut new,
                model: &loaded.model,
                state: &mut loaded.state,
                down: &device.down,
                losses: &device.losses,
                now,
            };
            write(&mut target, &updates)?;
        }
        let replaced = pipeline::commit(&mut device, switch, now, (loaded, new))?;
        // Links may have changed since the groups were written.
        device.unfollowed |= device.down != place.down;
        device.follow_links(switch, now);
        of.ages.store(device.ages(), Ordering::Relaxed);
        Ok::<_, Fault>((Published::of(&device), replaced))
    });
    Ok(committing.await??)
}

/// Whether the same program already runs, so that only its cookie changes.
fn keeps_program(device: &mut Device, loaded: &Loaded) -> bool {
    let Some(running) = device.running.as_mut().filter(|_| device.saved.is_none()) else {
        return false;
    };
    let same = running.device_config == loaded.device_config
        && running.model.p4info == loaded.model.p4info;
    if same {
        running.cookie = loaded.cookie;
    }
    same
}

fn place(device: &Device, now: Instant) -> Place {
    Place {
        is_first: device.loaded().is_none(),
        down: device.down.clone(),
        now,
    }
}

/// The forwarding state except what packets change, as updates for a device without any.
async fn set_by_clients(shared: &Arc<Shared>) -> Result<Vec<Update>, Status> {
    let mut updates = Vec::new();
    for wildcard in pipeline::set_by_clients() {
        let (wildcard, mut from) = (Arc::new(wildcard), Some(Cursor::default()));
        while let Some(at) = from {
            let (of, wildcard) = (shared.clone(), wildcard.clone());
            let part = run(&*shared.dataplane, move |switch, now| {
                let mut device = lock(&of.device);
                let target = device.target(switch, now)?;
                let mut found = Vec::new();
                let next = entities::read_some(&target, &wildcard, at, &mut found)?;
                Ok::<_, Fault>((next, as_updates(&target, found)))
            });
            let (next, part) = part.await??;
            updates.extend(part);
            from = next;
        }
    }
    Ok(updates)
}

/// The state that packets have changed, as updates for a program that has the rest of the state.
fn changed_by_packets(target: &Target<'_>) -> Outcome<Vec<Update>> {
    let mut found = Vec::new();
    for wildcard in pipeline::changed_by_packets() {
        entities::read(target, &wildcard, &mut found)?;
    }
    Ok(as_updates(target, found))
}

fn as_updates(target: &Target<'_>, found: Vec<Entity>) -> Vec<Update> {
    let updates = found.into_iter();
    updates
        .filter_map(|entity| pipeline::update_of(target, entity))
        .collect()
}

fn write(target: &mut Target<'_>, updates: &[Update]) -> Outcome<()> {
    for update in updates {
        entities::write(target, update).map_err(|fault| {
            Fault::invalid(fault.message).at("the forwarding state does not fit the new config")
        })?;
    }
    Ok(())
}
