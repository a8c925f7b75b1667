//! Digest lists: bundled, sent once, and stored until they are acknowledged (specification,
//! "DigestEntry").

use crate::proto::v1::digest_entry::Config;
use crate::proto::v1::{DigestList, P4Data};
use prost::Message;
use std::collections::{BTreeMap, HashSet};
use std::time::{Duration, Instant};

/// Digest messages that wait to be sent or acknowledged.
#[derive(Debug, Default)]
pub struct Digests {
    queues: BTreeMap<u32, Queue>,
    last_list: u64,
}

#[derive(Debug, Default)]
struct Queue {
    config: Config,
    waiting: Vec<P4Data>,
    /// When the first waiting message arrived.
    since: Option<Instant>,
    /// All messages that wait or are not acknowledged, encoded.
    known: HashSet<Vec<u8>>,
    /// Lists that are not acknowledged: when they were sent, and their content.
    sent: BTreeMap<u64, (Instant, Vec<Vec<u8>>)>,
}

/// The most messages per list, if the client sets no limit.
const MAX_LIST: usize = 1_000;
/// The most messages that are stored. Further ones are dropped, which the specification allows.
const MAX_KNOWN: usize = 100_000;

impl Digests {
    /// Adds a `digest` call of the program. Returns a list if it is now complete.
    pub fn add(
        &mut self,
        now: Instant,
        id: u32,
        config: Config,
        data: P4Data,
    ) -> Option<DigestList> {
        let queue = self.queues.entry(id).or_default();
        queue.config = config;
        queue.expire(now);
        let encoded = data.encode_to_vec();
        if queue.known.len() >= MAX_KNOWN || !queue.known.insert(encoded) {
            return None;
        }
        queue.waiting.push(data);
        queue.since.get_or_insert(now);
        let limit = match queue.config.max_list_size {
            0 => MAX_LIST,
            limit => limit as usize,
        };
        let complete = queue.waiting.len() >= limit || queue.config.max_timeout_ns == 0;
        complete.then(|| self.send(now, id)).flatten()
    }

    /// Returns the lists that have waited long enough.
    pub fn due(&mut self, now: Instant) -> Vec<DigestList> {
        let queues = self.queues.iter();
        let due = queues.filter(|(_, queue)| queue.due_at().is_some_and(|at| at <= now));
        let due: Vec<u32> = due.map(|(&id, _)| id).collect();
        due.into_iter()
            .filter_map(|id| self.send(now, id))
            .collect()
    }

    /// When [`due`](Self::due) will next return a list.
    pub fn next_due(&self) -> Option<Instant> {
        self.queues.values().filter_map(Queue::due_at).min()
    }

    /// Handles the acknowledgement of a list.
    pub fn acknowledge(&mut self, id: u32, list: u64) {
        if let Some(queue) = self.queues.get_mut(&id) {
            queue.forget(list);
        }
    }

    /// Removes all digests except those that are enabled.
    pub fn retain(&mut self, enabled: impl Fn(u32) -> bool) {
        self.queues.retain(|&id, _| enabled(id));
    }

    /// Removes everything, because another program runs.
    pub fn clear(&mut self) {
        self.queues.clear();
    }

    fn send(&mut self, now: Instant, id: u32) -> Option<DigestList> {
        let queue = self.queues.get_mut(&id)?;
        queue.since = None;
        let data = std::mem::take(&mut queue.waiting);
        let encoded: Vec<_> = data.iter().map(Message::encode_to_vec).collect();
        self.last_list += 1;
        queue.sent.insert(self.last_list, (now, encoded));
        queue.expire(now);
        Some(DigestList {
            digest_id: id,
            list_id: self.last_list,
            data,
            timestamp: crate::since_epoch_ns(),
        })
    }
}

impl Queue {
    fn due_at(&self) -> Option<Instant> {
        let timeout = Duration::from_nanos(self.config.max_timeout_ns.max(0) as u64);
        self.since.map(|since| since + timeout)
    }

    /// Removes lists whose acknowledgement is overdue.
    fn expire(&mut self, now: Instant) {
        let timeout = Duration::from_nanos(self.config.ack_timeout_ns.max(0) as u64);
        let overdue = |(_, (sent, _)): &(&u64, &(Instant, _))| now.duration_since(*sent) >= timeout;
        let overdue: Vec<u64> = self
            .sent
            .iter()
            .take_while(overdue)
            .map(|(&list, _)| list)
            .collect();
        overdue.into_iter().for_each(|list| self.forget(list));
    }

    fn forget(&mut self, list: u64) {
        let (_, messages) = self
            .sent
            .remove(&list)
            .unwrap_or((Instant::now(), Vec::new()));
        for message in messages {
            self.known.remove(&message);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proto::v1::p4_data::Data;

    fn data(octet: u8) -> P4Data {
        P4Data {
            data: Some(Data::Bitstring(vec![octet])),
        }
    }

    fn config(max_timeout_ns: i64, max_list_size: i32, ack_timeout_ns: i64) -> Config {
        Config {
            max_timeout_ns,
            max_list_size,
            ack_timeout_ns,
        }
    }

    // p4runtime: digest-list-size, digest-timeout, digest-distinct
    #[test]
    fn a_list_goes_when_it_is_full_or_old() {
        let (mut digests, start) = (Digests::default(), Instant::now());
        let config = config(1_000_000, 2, 0);
        assert_eq!(digests.add(start, 1, config, data(1)), None);
        assert_eq!(
            digests.add(start, 1, config, data(1)),
            None,
            "duplicates are left out"
        );
        let full = digests.add(start, 1, config, data(2)).unwrap();
        assert_eq!(full.data, [data(1), data(2)]);
        assert_eq!(digests.add(start, 1, config, data(3)), None);
        assert!(digests.due(start).is_empty());
        let later = digests.next_due().unwrap();
        assert_eq!(later, start + Duration::from_millis(1));
        assert_eq!(digests.due(later)[0].data, [data(3)]);
        assert_eq!(digests.next_due(), None);
    }

    // p4runtime: digest-ack, digest-ack-timeout
    #[test]
    fn what_is_not_acknowledged_is_not_sent_again_until_the_timeout() {
        let (mut digests, start) = (Digests::default(), Instant::now());
        let config = config(0, 1, 1_000);
        let list = digests.add(start, 1, config, data(1)).unwrap();
        assert_eq!(digests.add(start, 1, config, data(1)), None);
        digests.acknowledge(1, list.list_id);
        assert!(digests.add(start, 1, config, data(1)).is_some());
        assert_eq!(digests.add(start, 1, config, data(1)), None);
        let later = start + Duration::from_micros(1);
        assert!(digests.add(later, 1, config, data(1)).is_some());
    }

    // p4runtime: digest-no-ack-timeout, digest-each
    #[test]
    fn without_an_ack_timeout_every_message_is_sent() {
        let (mut digests, start) = (Digests::default(), Instant::now());
        for _ in 0..2 {
            assert!(digests.add(start, 1, config(0, 0, 0), data(1)).is_some());
        }
    }
}
