//! The queues in front of the lines of hosts and routers.

use super::Simulation;
use crate::losses::Place;
use crate::queue::Joined;
use crate::truth::Tag;
use crate::watch::{Row, Watch};
use engine::Packet;
use units::Instant;

impl Simulation {
    /// Attaches the watch of a replay to the queue in front of a line.
    pub(crate) fn watch(&mut self, line: usize, watch: Watch) {
        if let Some(queue) = &mut self.lines[line].queue {
            queue.watch = Some(watch);
        }
    }

    /// The events at a watched queue.
    pub(crate) fn watched(&mut self, line: usize) -> Vec<Row> {
        let watch = self.lines[line]
            .queue
            .as_mut()
            .and_then(|queue| queue.watch.take());
        watch.map_or_else(Vec::new, |watch| watch.rows)
    }

    /// A packet's last octet reaches a router.
    pub(super) fn arrive_at_router(&mut self, router: usize, packet: Packet) {
        match self.routers[router].line(&packet.octets) {
            Some(line) => self.join_queue(line, packet),
            None => {
                self.totals.stray_packets += 1;
                self.is_gone(Tag(packet.tag).owner());
                self.buffers.push(packet.octets);
            }
        }
    }

    /// Adds a packet to the queue in front of a host's or router's line.
    pub(super) fn join_queue(&mut self, line: usize, packet: Packet) {
        let is_busy = self.lines[line].is_busy(self.turn);
        let Some(queue) = &mut self.lines[line].queue else {
            return;
        };
        match queue.join(self.now, packet, is_busy) {
            Joined::Starts(packet) => self.transmit(line, packet, self.turn.seconds()),
            Joined::Waits => self.await_line(line),
            Joined::Refused(packet) => {
                let dropped = &mut self.line_records[line].dropped_packets;
                *self.bins.cell(dropped) += 1;
                let sequence = self.judged_sequence(&packet);
                self.count_lost(Tag(packet.tag), Place::Queue, sequence);
                self.buffers.push(packet.octets);
            }
        }
    }

    /// Sends the next packet, if any, because a host's or router's line is free.
    pub(super) fn transmit_from_queue(&mut self, line: usize) {
        let queue = self.lines[line].queue.as_mut();
        if let Some(left) = queue.and_then(|queue| queue.leave(self.now)) {
            let record = &mut self.line_records[line];
            record.add_wait(&self.bins, left.since, self.now, u64::from(left.waiting));
            self.transmit(line, left.packet, self.turn.seconds());
            let queue = self.lines[line].queue.as_ref();
            if queue.is_some_and(|queue| queue.waiting() > 0) {
                self.await_line(line);
            }
        }
    }

    /// Adds the waiting times of packets that still wait at the end of the run.
    pub(super) fn count_waiting(&mut self) {
        for (line, record) in self.lines.iter_mut().zip(self.line_records.iter_mut()) {
            let Some(queue) = &mut line.queue else {
                continue;
            };
            while let Some(left) = queue.leave(self.now) {
                record.add_wait(&self.bins, left.since, self.now, u64::from(left.waiting));
            }
        }
        for node in self.switches.iter_mut() {
            while let Some(left) = node.switch.poll_transmit(Instant::MAX) {
                if let Some(line) = node.lines.at(left.port) {
                    let waiting = u64::from(left.enq_qdepth) + 1;
                    let record = &mut self.line_records[line];
                    record.add_wait(&self.bins, left.enqueued, self.now, waiting);
                }
            }
        }
    }
}
