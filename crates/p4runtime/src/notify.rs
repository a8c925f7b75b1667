//! Unsolicited messages of the switch to controllers: packets, digests, idle entries.

use crate::controllers::Undelivered;
use crate::dataplane;
use crate::device::{Device, State};
use crate::entities::{self, Named};
use crate::losses::Lost;
use crate::proto::v1::stream_message_response::Update;
use crate::proto::v1::{IdleTimeoutNotification, PacketIn, TableEntry};
use crate::service::{Shared, lock};
use engine::{Digest, Switch};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until};
use units::Instant as SwitchTime;

/// Interval of the checks for idle entries.
const SCAN: Duration = Duration::from_millis(20);
/// The number of entries that are checked between two batches of packets.
const SLICE: usize = 64;

/// A message from the switch.
#[derive(Debug)]
pub enum Upcall {
    /// A packet that left through the CPU port.
    Packet(Vec<u8>),
    /// The program called `digest`.
    Digest(Digest),
}

/// Passes messages from the switch on, until it ends.
pub async fn pass_on(shared: Arc<Shared>, mut upcalls: mpsc::Receiver<Upcall>) {
    loop {
        let due = lock(&shared.digests).next_due();
        // If nothing is due, only an upcall can change that.
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
        let running = lock(&shared.published).running.clone();
        let header = running
            .as_ref()
            .and_then(|running| running.model.packet_in.as_ref());
        let (metadata, payload) = match header {
            None => (Vec::new(), octets.to_vec()),
            // A packet without the header does not come from this program.
            Some(header) => match header.unpack(octets) {
                Some(parts) => parts,
                None => return shared.losses.count(Lost::PacketInHeader),
            },
        };
        PacketIn { payload, metadata }
    };
    send(shared, &Update::Packet(packet));
}

/// Sends to the primary controllers, and counts messages that do not reach them. Digests that were not delivered are
/// sent again when the program passes the same data again.
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
        let published = lock(&shared.published);
        let Some(running) = &published.running else {
            return;
        };
        let found = running.model.digest_of(digest.ty.as_ref());
        found.and_then(|(id, model)| {
            let config = *published.digests.get(&id)?;
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

/// Checks for idle entries, forever.
pub async fn watch_idle_entries(shared: Arc<Shared>) {
    let mut more = false;
    loop {
        if !more {
            tokio::time::sleep(SCAN).await;
        }
        more = false;
        if !shared.ages.load(Ordering::Relaxed) {
            continue;
        }
        let device = shared.device.clone();
        let scan = dataplane::run(&*shared.dataplane, move |switch, now| {
            switch
                .as_mut()
                .map(|switch| idle_entries(&mut lock(&device), switch, now))
        });
        let Ok(Some((table_entry, all))) = scan.await else {
            continue;
        };
        more = !all;
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

/// Entries that were not hit during their timeout. Each is reported again after another timeout. Checks at most
/// [`SLICE`] entries; also returns whether these were all that are due.
fn idle_entries(
    device: &mut Device,
    switch: &mut Switch,
    now: SwitchTime,
) -> (Vec<TableEntry>, bool) {
    let Some(running) = &mut device.running else {
        return (Vec::new(), true);
    };
    // The stored state then includes that of a batch which packets do not see yet.
    if switch.has_draft() {
        return (Vec::new(), true);
    }
    let mut idle = Vec::new();
    let mut looked_at = 0;
    let State { entries, aging, .. } = &mut running.state;
    while looked_at < SLICE
        && let Some((table, key)) = aging.take_due(now)
    {
        looked_at += 1;
        let kept = entries.get_mut(&table).and_then(|kept| kept.get_mut(&key));
        let Some((kept, timeout)) = kept.and_then(|kept| kept.idle_timeout().map(|t| (kept, t)))
        else {
            continue;
        };
        let Ok(hit) = switch.last_hit(table, &key.0, key.1) else {
            continue;
        };
        let mut at = hit.max(kept.reported) + timeout;
        if at <= now {
            kept.reported = now;
            at = now + timeout;
            idle.push((table, key.0.clone(), key.1));
        }
        kept.wake = Some(aging.schedule(at, table, key));
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
    (encoded, looked_at < SLICE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proto::v1::update::Type;
    use crate::proto::v1::{Update, entity};
    use crate::robustness::{large, route};

    const SECOND: i64 = 1_000_000_000;

    /// Writes an entry of the given number and idle timeout at time 0.
    fn write(of: &mut (Device, Option<Switch>), kind: Type, number: u32, idle_timeout_ns: i64) {
        let entry = route(&of.0, number, idle_timeout_ns);
        let update = Update {
            r#type: kind as i32,
            entity: Some(entity::Entity::TableEntry(entry).into()),
        };
        let mut target = of.0.target(&mut of.1, SwitchTime::ZERO).unwrap();
        entities::write(&mut target, &update).unwrap();
    }

    /// The entries that are idle at that time, and the number of slices in which they were found.
    fn idle((device, switch): &mut (Device, Option<Switch>), ms: u64) -> (Vec<TableEntry>, usize) {
        let (mut found, now) = (Vec::new(), SwitchTime::from_micros(ms * 1000));
        for slices in 1.. {
            let (some, all) = idle_entries(device, switch.as_mut().unwrap(), now);
            assert!(some.len() <= SLICE);
            found.extend(some);
            if all {
                return (found, slices);
            }
        }
        unreachable!("slices are counted without end");
    }

    #[test]
    fn idle_entries_are_reported_once_per_timeout_and_in_slices() {
        let mut of = large();
        (0..500).for_each(|number| write(&mut of, Type::Insert, number, SECOND));
        write(&mut of, Type::Insert, 500, 0);
        assert_eq!(idle(&mut of, 999).0, []);
        let (found, slices) = idle(&mut of, 1000);
        assert_eq!((found.len(), slices), (500, 500 / SLICE + 1));
        assert_eq!(idle(&mut of, 1999), (Vec::new(), 1));
        (0..498).for_each(|number| write(&mut of, Type::Delete, number, 0));
        // The new timeout starts at the time of the write.
        write(&mut of, Type::Modify, 498, SECOND / 10);
        assert_eq!(idle(&mut of, 1999).0.len(), 1);
        let (found, _) = idle(&mut of, 2000);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].r#match, route(&of.0, 499, 0).r#match);
        assert_eq!(idle(&mut of, 2098).0, []);
        assert_eq!(idle(&mut of, 2099).0.len(), 1);
    }
}
