//! What the switch sends to controllers unasked: packets, digests, entries that went idle.

use crate::controllers::Undelivered;
use crate::dataplane;
use crate::device::Device;
use crate::entities::{self, Named};
use crate::losses::Lost;
use crate::proto::v1::stream_message_response::Update;
use crate::proto::v1::{IdleTimeoutNotification, PacketIn, TableEntry};
use crate::service::{Shared, lock};
use engine::{Digest, Switch};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until};
use units::Instant as SwitchTime;

/// How often entries are looked at that have an idle timeout.
const SCAN: Duration = Duration::from_millis(20);

/// What comes from the switch.
#[derive(Debug)]
pub enum Upcall {
    /// A packet that left through the CPU port.
    Packet(Vec<u8>),
    /// The program called `digest`.
    Digest(Digest),
}

/// Passes on what comes from the switch, until it ends.
pub async fn pass_on(shared: Arc<Shared>, mut upcalls: mpsc::Receiver<Upcall>) {
    loop {
        let due = lock(&shared.digests).next_due();
        // Without anything due, only an upcall can change that.
        let wait = due.unwrap_or_else(|| std::time::Instant::now() + Duration::from_secs(3600));
        tokio::select! {
            upcall = upcalls.recv() => match upcall {
                Some(Upcall::Packet(octets)) => packet_in(&shared, &octets),
                Some(Upcall::Digest(digest)) => learn(&shared, digest),
                None => return,
            },
            () = sleep_until(Instant::from_std(wait)) => {
                let lists = lock(&shared.digests).due(std::time::Instant::now());
                for list in lists {
                    send(&shared, &Update::Digest(list));
                }
            }
        }
    }
}

fn packet_in(shared: &Shared, octets: &[u8]) {
    let packet = {
        let device = lock(&shared.device);
        let header = device
            .running
            .as_ref()
            .and_then(|running| running.model.packet_in.as_ref());
        let (metadata, payload) = match header {
            None => (Vec::new(), octets.to_vec()),
            // A packet without its header does not come from this program.
            Some(header) => match header.unpack(octets) {
                Some(parts) => parts,
                None => return shared.losses.count(Lost::PacketInHeader),
            },
        };
        PacketIn { payload, metadata }
    };
    send(shared, &Update::Packet(packet));
}

/// Sends to the primary controllers, and counts what does not reach them. Such digests are sent again when the program
/// passes the same once more.
fn send(shared: &Shared, update: &Update) {
    let sent = lock(&shared.controllers).send_to_primaries(update);
    let Err(undelivered) = sent else { return };
    if let Update::Digest(list) = update {
        lock(&shared.digests).acknowledge(list.digest_id, list.list_id);
    }
    let is_packet = matches!(update, Update::Packet(_));
    shared.losses.count(match (undelivered, is_packet) {
        (Undelivered::NoController, true) => Lost::PacketInController,
        (Undelivered::NoController, false) => Lost::DigestController,
        (Undelivered::Backlog, true) => Lost::PacketInBacklog,
        (Undelivered::Backlog, false) => Lost::DigestBacklog,
    });
}

fn learn(shared: &Shared, digest: Digest) {
    let found = {
        let device = lock(&shared.device);
        let Some(running) = &device.running else {
            return;
        };
        let found = running.model.digest_of(digest.ty.as_ref());
        found.and_then(|(id, model)| {
            let config = *running.state.digests.get(&id)?;
            let mut parts = digest.fields.into_iter().map(|(value, _)| value);
            Some((id, config, model.data.encode(&mut parts)))
        })
    };
    let Some((id, config, data)) = found else {
        return;
    };
    let list = lock(&shared.digests).add(std::time::Instant::now(), id, config, data);
    if let Some(list) = list {
        send(shared, &Update::Digest(list));
    }
}

/// Looks for entries that went idle, for ever.
pub async fn watch_idle_entries(shared: Arc<Shared>) {
    loop {
        tokio::time::sleep(SCAN).await;
        let running = |device: &Device| device.running.as_ref().is_some_and(|r| r.state.aging > 0);
        let ages = running(&lock(&shared.device));
        if !ages {
            continue;
        }
        let device = shared.device.clone();
        let scan = dataplane::run(&*shared.dataplane, move |switch, now| {
            switch
                .as_mut()
                .map(|switch| idle_entries(&mut lock(&device), switch, now))
        });
        let Ok(Some(table_entry)) = scan.await else {
            continue;
        };
        if table_entry.is_empty() {
            continue;
        }
        let notification = IdleTimeoutNotification {
            table_entry,
            timestamp: crate::since_epoch_ns(),
        };
        let update = Update::IdleTimeoutNotification(notification);
        // Entries that stay idle are reported again.
        let _ = lock(&shared.controllers).send_to_primaries(&update);
    }
}

/// Entries that were not hit for as long as their timeout; each is reported again after another.
fn idle_entries(device: &mut Device, switch: &mut Switch, now: SwitchTime) -> Vec<TableEntry> {
    let Some(running) = &mut device.running else {
        return Vec::new();
    };
    let mut idle = Vec::new();
    for (&table, entries) in &mut running.state.entries {
        let aging = entries
            .iter_mut()
            .filter(|(_, kept)| kept.idle_timeout_ns > 0);
        for ((matches, priority), kept) in aging {
            let Ok(hit) = switch.last_hit(table, matches, *priority) else {
                continue;
            };
            let since = now.since(hit.max(kept.reported));
            if since.as_nanos() >= kept.idle_timeout_ns as u64 {
                kept.reported = now;
                idle.push((table, matches.clone(), *priority));
            }
        }
    }
    let target = crate::device::Target {
        switch,
        model: &running.model,
        state: &mut running.state,
        down: &device.down,
        losses: &device.losses,
        now,
    };
    let mut encoded = Vec::new();
    for (id, matches, priority) in idle {
        let table = target.model.tables.values().find(|table| table.table == id);
        let named = Named::Entry((matches, priority));
        if let Some(table) = table
            && let Ok(entry) = entities::encode_named(&target, table, &named)
        {
            encoded.push(entry);
        }
    }
    encoded
}
