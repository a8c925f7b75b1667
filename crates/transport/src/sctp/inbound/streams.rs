//! Delivers complete messages to the application, each stream in its order (RFC 9260, §6.5 and
//! §6.6).

use super::reassembly::Fragment;
use crate::sctp::message::Message;
use std::collections::{BTreeMap, VecDeque};

/// The number of buffers kept for reuse.
const POOL: usize = 64;

/// Messages that wait for preceding messages or for the application.
#[derive(Debug)]
pub(super) struct Streams {
    count: u16,
    /// Created when a stream is first used.
    orders: BTreeMap<u16, Order>,
    ready: VecDeque<Message>,
    pool: Vec<Vec<u8>>,
    /// Octets stored.
    pub octets: u64,
    /// Octets of messages that became readable.
    pub delivered_octets: u64,
}

/// The order of a stream.
#[derive(Debug, Default)]
struct Order {
    /// The next message's stream sequence number, extended beyond 16 bits.
    next: u64,
    waiting: BTreeMap<u64, (u32, Vec<u8>)>,
}

impl Streams {
    pub fn new(count: u16) -> Self {
        Streams {
            count,
            orders: BTreeMap::new(),
            ready: VecDeque::new(),
            pool: Vec::new(),
            octets: 0,
            delivered_octets: 0,
        }
    }

    pub fn has(&self, stream: u16) -> bool {
        stream < self.count
    }

    /// Handles a complete message.
    pub fn deliver(&mut self, head: &Fragment, payload: Vec<u8>) {
        self.octets += payload.len() as u64;
        if head.unordered {
            self.ready(head.stream, false, head.protocol, payload);
            return;
        }
        let order = self.orders.entry(head.stream).or_default();
        let ahead = head.ssn.wrapping_sub(order.next as u16);
        if ahead > u16::MAX / 2 {
            // A stream sequence number that was used before: an error of the peer, the message is
            // dropped.
            self.octets -= payload.len() as u64;
            return;
        }
        if ahead > 0 {
            let number = order.next + u64::from(ahead);
            if let Some((_, old)) = order.waiting.insert(number, (head.protocol, payload)) {
                self.octets -= old.len() as u64;
            }
            return;
        }
        order.next += 1;
        self.ready(head.stream, true, head.protocol, payload);
        while let Some(order) = self.orders.get_mut(&head.stream)
            && let Some((protocol, payload)) = order.waiting.remove(&order.next)
        {
            order.next += 1;
            self.ready(head.stream, true, protocol, payload);
        }
    }

    fn ready(&mut self, stream: u16, ordered: bool, protocol: u32, payload: Vec<u8>) {
        self.delivered_octets += payload.len() as u64;
        self.ready.push_back(Message {
            stream,
            ordered,
            protocol,
            payload,
        });
    }

    pub fn read(&mut self) -> Option<Message> {
        let message = self.ready.pop_front()?;
        self.octets -= message.payload.len() as u64;
        Some(message)
    }

    /// Copies these octets into a buffer from the pool.
    pub fn copy(&mut self, octets: &[u8]) -> Vec<u8> {
        let mut buffer = self.pool.pop().unwrap_or_default();
        buffer.clear();
        buffer.extend_from_slice(octets);
        buffer
    }

    pub fn recycle(&mut self, payload: Vec<u8>) {
        if self.pool.len() < POOL {
            self.pool.push(payload);
        }
    }
}
