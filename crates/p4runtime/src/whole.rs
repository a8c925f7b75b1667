//! Batches that packets see as a whole or not at all (specification, 12.2, `DATAPLANE_ATOMIC`).
//!
//! The new state is built while packets see the old one, in parts between batches of packets, and swapped in at
//! once. In the meantime the gate keeps other writes and reads away.

use crate::batch::{self, Undo};
use crate::device::Target;
use crate::fault::{Fault, Outcome};
use crate::model::Model;
use crate::proto::v1::{Update, entity};
use crate::service::{Shared, UPDATES, numbered, write};
use engine::DraftScope;
use std::sync::Arc;
use tonic::Status;

/// The number of entries, members and groups that are copied between two batches of packets.
const COPIES: usize = 64;
/// The number of deferred writes to cells that are carried out between two batches of packets, after all have been
/// published.
const SETTLED: usize = 512;

/// Executes updates. Returns the result of each.
pub async fn write_as_a_whole(
    shared: &Arc<Shared>,
    model: &Model,
    updates: Vec<Update>,
    of_digests: bool,
) -> Result<Vec<Outcome<()>>, Status> {
    let count = updates.len();
    let prepared = prepare(shared, model, updates).await;
    let publish = matches!(prepared, Ok(Ok(())));
    let ended = write(shared, of_digests, move |target| {
        let remains = match publish {
            true => target.switch.publish_batch(),
            false => target.switch.discard_batch(),
        };
        (remains, target.switch.settle_batch(SETTLED))
    });
    let (remains, mut settled) = ended.await?;
    while !settled {
        settled = write(shared, false, |target| target.switch.settle_batch(SETTLED)).await?;
    }
    // Freeing a large table takes longer than an async task should.
    tokio::task::spawn_blocking(move || drop(remains));
    Ok(match prepared? {
        Ok(()) => vec![Ok(()); count],
        Err((at, fault)) => batch::none_carried_out(count, at, fault),
    })
}

/// Builds the new state. If an update fails, changes to the server's stored state are undone.
///
/// # Errors
/// The index of the first update that fails, and the reason.
async fn prepare(
    shared: &Arc<Shared>,
    model: &Model,
    updates: Vec<Update>,
) -> Result<Result<(), (usize, Fault)>, Status> {
    let scope = scope(model, &updates);
    write(shared, false, move |target| {
        target.switch.begin_batch(&scope)
    })
    .await?;
    while !write(shared, false, |target| target.switch.copy_to_batch(COPIES)).await? {}
    let mut undo = Vec::new();
    let mut parts = numbered(model, updates);
    loop {
        let (numbers, mut slice): (Vec<_>, Vec<_>) = parts.by_ref().take(UPDATES).unzip();
        if slice.is_empty() {
            return Ok(Ok(()));
        }
        let part = edit(shared, move |target| {
            // Writes to cells are discarded with the draft.
            let undo = batch::write_all(target, &mut slice, |update| !update.is_of_cells());
            // The slice is freed on another thread, because the allocator may take long to free memory.
            (undo.map(|undo| Undo::new(&undo)), slice)
        });
        let failed = match part.await.map(|(part, _)| part) {
            Ok(Ok(more)) => {
                undo.push(more);
                continue;
            }
            Ok(Err((at, fault))) => Ok(Err((numbers[at], fault))),
            Err(status) => Err(status),
        };
        while let Some(last) = undo.pop() {
            edit(shared, move |target| last.carry_out(target)).await?;
        }
        return failed;
    }
}

/// Runs a function that edits the draft on the thread that owns the switch.
async fn edit<T: Send + 'static>(
    shared: &Arc<Shared>,
    change: impl FnOnce(&mut Target<'_>) -> T + Send + 'static,
) -> Result<T, Status> {
    write(shared, false, |target| {
        target.switch.edit_draft(true);
        let result = change(target);
        target.switch.edit_draft(false);
        result
    })
    .await
}

/// The scope of some updates: the objects that must be copied. Cells of counters, meters and registers are not copied;
/// writes to them are published with the batch.
pub fn scope(model: &Model, updates: &[Update]) -> DraftScope {
    use entity::Entity as E;
    let mut scope = DraftScope::default();
    let entities = updates.iter().filter_map(|update| update.entity.as_ref());
    for entity in entities.filter_map(|entity| entity.entity.as_ref()) {
        let profile = match entity {
            E::TableEntry(entry) => {
                scope
                    .tables
                    .extend(model.table(entry.table_id).map(|table| table.table));
                continue;
            }
            E::PacketReplicationEngineEntry(_) => {
                scope.replication = true;
                continue;
            }
            E::ActionProfileMember(member) => member.action_profile_id,
            E::ActionProfileGroup(group) => group.action_profile_id,
            _ => continue,
        };
        scope
            .profiles
            .extend(model.profile(profile).map(|profile| profile.object));
    }
    scope
}
