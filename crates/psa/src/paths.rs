//! The origin of a packet: values of `PSA_PacketPath_t`, and the initial storage of a packet on each path.

use crate::Switch;
use crate::blocks::Layout;
use p4_vm::Target;
use std::ops::Range;
use std::sync::Arc;
use switch::{CloneSession, Frame};
use units::Instant;

pub const NORMAL: u64 = 0;
pub const NORMAL_UNICAST: u64 = 1;
pub const NORMAL_MULTICAST: u64 = 2;
pub const CLONE_I2E: u64 = 3;
pub const CLONE_E2E: u64 = 4;
pub const RESUBMIT: u64 = 5;
pub const RECIRCULATE: u64 = 6;

/// Writes the metadata of a packet that arrives at ingress (6.2). It is dropped unless ingress decides otherwise.
#[inline]
pub fn arrive(layout: &Layout, words: &mut [u64], now: Instant, port: u64, path: u64) {
    let meta = &layout.ingress;
    meta.parser_port.set(words, port);
    meta.parser_path.set(words, path);
    meta.port.set(words, port);
    meta.path.set(words, path);
    meta.timestamp.set(words, now.as_micros());
    meta.drop.set(words, 1);
}

/// Storage of a packet that arrives at ingress again, with the data that a deparser passed along.
pub fn again(
    switch: &mut Switch,
    words: &[u64],
    now: Instant,
    (port, path): (u64, u64),
    along: Range<usize>,
) -> Frame {
    let mut fresh = switch.take_words();
    arrive(switch.layout(), &mut fresh, now, port, path);
    fresh[along.clone()].copy_from_slice(&words[along]);
    fresh
}

/// Storage of a packet that goes to egress, with the data that a deparser passed along.
pub fn to_egress(switch: &mut Switch, words: &[u64], path: u64, along: Range<usize>) -> Frame {
    let mut fresh = switch.take_words();
    let layout = switch.layout();
    let (ingress, egress) = (&layout.ingress, &layout.egress);
    // The port for which the packet is counted if it is lost.
    ingress
        .parser_port
        .set(&mut fresh, ingress.parser_port.get(words));
    egress.parser_path.set(&mut fresh, path);
    egress.path.set(&mut fresh, path);
    fresh[along.clone()].copy_from_slice(&words[along]);
    fresh
}

/// The clone session of this number.
pub fn session(switch: &Switch, session: u64) -> Option<Arc<CloneSession>> {
    let session = u16::try_from(session).ok()?;
    switch.replication().session(session).cloned()
}

/// Runs a block.
pub fn run(switch: &mut Switch, words: &mut [u64], block: Target) {
    clear_sums(switch, words);
    switch.run(words, block);
}

/// Clears the checksums, because each block starts with cleared checksums for each packet.
pub fn clear_sums(switch: &Switch, words: &mut [u64]) {
    for (_, sum) in &switch.layout().sums {
        words[*sum as usize] = 0;
    }
}
