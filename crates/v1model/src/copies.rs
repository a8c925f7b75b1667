//! Copies of packets, and the metadata that goes with them.

use crate::Switch;
use crate::externs::{Call, Kept, Preserve};
use std::sync::Arc;
use switch::{CloneSession, Frame};

/// Values of `instance_type`, numbered as in BMv2.
pub mod instance {
    pub const NORMAL: u64 = 0;
    pub const INGRESS_CLONE: u64 = 1;
    pub const EGRESS_CLONE: u64 = 2;
    pub const RECIRCULATED: u64 = 4;
    pub const REPLICATED: u64 = 5;
    pub const RESUBMITTED: u64 = 6;
}

/// The clone session of this number.
pub fn session(switch: &Switch, session: u64) -> Option<Arc<CloneSession>> {
    let session = u16::try_from(session & 0x7fff).ok()?;
    switch.replication().session(session).cloned()
}

/// Storage of a packet that starts over: only its origin is set.
pub fn fresh(switch: &mut Switch, words: &[u64], instance_type: u64, length: u32) -> Frame {
    let meta = switch.layout().metadata;
    let mut fresh = switch.take_words();
    meta.ingress_port
        .set(&mut fresh, meta.ingress_port.get(words));
    meta.packet_length.set(&mut fresh, length as u64);
    meta.instance_type.set(&mut fresh, instance_type);
    fresh
}

/// Clears all words except the headers, then sets the same words as `fresh`.
pub fn keep_headers_only(
    switch: &mut Switch,
    copy: &mut Frame,
    words: &[u64],
    kind: u64,
    length: u32,
) {
    let mut fresh = fresh(switch, words, kind, length);
    let headers = switch.layout().headers.clone();
    fresh[headers.clone()].copy_from_slice(&copy[headers]);
    let old = std::mem::replace(copy, fresh);
    switch.give_words(old);
}

/// Copies the metadata that a packet keeps when it starts over.
pub fn keep(switch: &Switch, from: &[u64], to: &mut [u64], kept: Kept) {
    let mut copy = |slot: u32, words: u32| {
        let range = slot as usize..(slot + words) as usize;
        to[range.clone()].copy_from_slice(&from[range]);
    };
    let preserve = match switch.pipeline().call(kept.call) {
        Call::Clone { preserve, .. }
        | Call::Resubmit { preserve }
        | Call::Recirculate { preserve } => preserve,
        Call::Truncate { .. } => return,
    };
    match preserve {
        Preserve::Nothing => {}
        Preserve::Words(words) => words.iter().for_each(|&(slot, words)| copy(slot, words)),
        Preserve::FieldList(_) => {
            for &(list, slot, words) in &switch.layout().field_lists {
                if list == kept.list {
                    copy(slot, words);
                }
            }
        }
    }
}
