//! Copies of packets, and what of a packet's metadata goes with them.

use super::{Arrival, Switch};
use crate::code::Preserve;
use crate::vm::Kept;
use crate::{CloneSession, DropCause, Packet, Replica};
use std::sync::Arc;

impl Switch {
    /// The clone session of this number.
    pub(super) fn session(&self, session: u64) -> Option<Arc<CloneSession>> {
        let session = u16::try_from(session & 0x7fff).ok()?;
        self.sessions.get(&session).cloned()
    }

    /// Storage of a packet that starts over: nothing in it but where it came from.
    pub(super) fn fresh(&mut self, words: &[u64], instance_type: u64, length: u32) -> Box<[u64]> {
        let meta = self.pipeline.code.metadata;
        let mut fresh = self.take_words();
        meta.ingress_port
            .set(&mut fresh, meta.ingress_port.get(words));
        meta.packet_length.set(&mut fresh, length as u64);
        meta.instance_type.set(&mut fresh, instance_type);
        fresh
    }

    /// Clears all but the headers, then sets what `fresh` sets.
    pub(super) fn keep_headers_only(
        &mut self,
        copy: &mut Box<[u64]>,
        words: &[u64],
        kind: u64,
        length: u32,
    ) {
        let mut fresh = self.fresh(words, kind, length);
        let headers = self.pipeline.code.header_words.clone();
        fresh[headers.clone()].copy_from_slice(&copy[headers]);
        let old = std::mem::replace(copy, fresh);
        self.give_words(old);
    }

    /// Copies the metadata that a packet keeps when it starts over.
    pub(super) fn keep(&self, from: &[u64], to: &mut [u64], kept: Kept) {
        use crate::code::ExternCode::{Clone, Recirculate, Resubmit};
        let code = &self.pipeline.code;
        let mut copy = |slot: u32, words: u32| {
            let range = slot as usize..(slot + words) as usize;
            to[range.clone()].copy_from_slice(&from[range]);
        };
        match &code.externs[kept.call as usize] {
            Clone { preserve, .. } | Resubmit { preserve } | Recirculate { preserve } => {
                match preserve {
                    Preserve::Nothing => {}
                    Preserve::Words(words) => {
                        words.iter().for_each(|&(slot, words)| copy(slot, words));
                    }
                    Preserve::FieldList(_) => {
                        for &(list, slot, words) in &code.field_lists {
                            if list == kept.list {
                                copy(slot, words);
                            }
                        }
                    }
                }
            }
            _ => {}
        }
    }

    /// A copy for each replica; the last takes the original. Copies beyond those that may descend from one
    /// packet are dropped.
    pub(super) fn replicate(
        &mut self,
        mut words: Box<[u64]>,
        packet: Packet,
        arrival: &mut Arrival,
        replicas: &[Replica],
        truncate: Option<u32>,
    ) {
        let meta = self.pipeline.code.metadata;
        let Some((last, others)) = replicas.split_last() else {
            self.give_words(words);
            return self.recycle(packet);
        };
        for replica in others {
            if !self.admit(arrival, replica.port, packet.tag) {
                continue;
            }
            let mut copy = self.free_words.pop().unwrap_or_else(|| words.clone());
            copy.copy_from_slice(&words);
            meta.egress_rid.set(&mut copy, replica.rid as u64);
            let twin = self.copy_packet(&packet);
            self.enqueue(copy, twin, &mut { *arrival }, replica.port, truncate);
        }
        if !self.admit(arrival, last.port, packet.tag) {
            self.give_words(words);
            return self.recycle(packet);
        }
        meta.egress_rid.set(&mut words, last.rid as u64);
        self.enqueue(words, packet, &mut { *arrival }, last.port, truncate);
    }

    /// Whether a packet may have another copy, to this port; if not, the copy is counted as dropped.
    fn admit(&mut self, arrival: &mut Arrival, port: u16, tag: u64) -> bool {
        let most = self.machine.config.max_copies;
        let admitted = self.families.admit(&mut arrival.lineage, most);
        if !admitted {
            self.note_drop(DropCause::TooManyCopies, port, arrival.now, tag);
        }
        admitted
    }

    /// The same packet in another buffer.
    pub(super) fn copy_packet(&mut self, packet: &Packet) -> Packet {
        let mut octets = self.buffer();
        octets.extend_from_slice(&packet.octets);
        Packet { octets, ..*packet }
    }
}
