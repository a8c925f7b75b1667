//! The ghost control of Tofino 2. The traffic manager runs it whenever the length of a queue changes.

use crate::blocks::Ghost;
use crate::{Switch, ports};
use p4_vm::{Job, Packet};
use std::mem::swap;
use units::Instant;

/// Number of queues per port, as numbered for the ghost control.
const QUEUES: u64 = 16;

/// Runs the ghost control of a queue's pipeline, if there is one, for both values of `ping_pong`, so that ingress finds
/// the length in whichever copy it reads.
pub fn run(switch: &mut Switch, now: Instant, port: u16, queue: u8) {
    let Some(ghost) = switch.layout().pipe(port).ghost else {
        return;
    };
    let Ghost {
        entry,
        ping_pong,
        length,
        queue: number,
        pipe,
    } = ghost;
    let cells = switch.queue_cells(port, queue).into();
    for version in 0..2 {
        let mut words = switch.take_words();
        ping_pong.set(&mut words, version);
        length.set(&mut words, cells);
        number.set(&mut words, ports::in_pipe(port) * QUEUES + u64::from(queue));
        pipe.set(&mut words, ports::pipe(port) as u64);
        // It does not process a packet. The buffer of the last packet is kept.
        let mut none = Packet::default();
        let job = Job {
            now,
            ..Job::default()
        };
        switch.begin(&mut none, job);
        switch.run(&mut words, entry);
        swap(&mut switch.job.octets, &mut none.octets);
        switch.give_words(words);
    }
}
