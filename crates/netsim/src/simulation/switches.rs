//! Switches: a packet that arrives runs through the program, one that leaves goes on its line.

use super::Simulation;
use crate::losses::Place;
use crate::results::{CounterRecord, SwitchRecord};
use crate::switch::SwitchState;
use crate::truth::Tag;
use num_traits::ToPrimitive;
use p4_ir::{CtorArg, ExternId};
use units::{Instant, Rate};
use v1model::{DropCause, Event, Packet, PortConfig};

impl Simulation {
    /// A packet's last octet reaches a switch's port.
    pub(super) fn arrive_at_switch(&mut self, switch: usize, port: u16, mut packet: Packet) {
        self.totals.switch_packets += 1;
        let node = &mut self.switches[switch];
        node.handled += 1;
        if node.refusals.is_some() {
            let mut tag = Tag(packet.tag);
            tag.enter(node.handled);
            packet.tag = tag.0;
        }
        let segment = self.judged_segment(&packet);
        let node = &mut self.switches[switch];
        node.switch.handle_packet(self.now, port, packet);
        self.count_drops(switch, segment);
        self.transmit_from_switch(switch);
    }

    /// Puts on the lines what a switch has for those that are free.
    pub(super) fn transmit_from_switch(&mut self, switch: usize) {
        loop {
            let node = &mut self.switches[switch];
            // A line that is about to be free takes what waits when it is, and not when another
            // packet comes at the same nanosecond.
            let next = node.switch.next_port();
            let line = next.and_then(|port| node.lines.get(&port));
            if line.is_some_and(|line| self.lines[*line].busy) {
                break;
            }
            let Some(mut sent) = node.switch.poll_transmit(self.now) else {
                break;
            };
            let Some(&line) = node.lines.get(&sent.port) else {
                node.switch.recycle(sent.packet);
                continue;
            };
            let mut tag = Tag(sent.packet.tag);
            if node.adds_aqt {
                tag.add_wait(sent.enqueued, sent.start);
            }
            if node.refusals.is_some() {
                tag.leave(node.last_refusal(sent.port), node.handled);
            }
            sent.packet.tag = tag.0;
            let waiting = u64::from(sent.enq_qdepth) + 1;
            let record = &mut self.line_records[line];
            record.add_wait(&self.bins, sent.enqueued, sent.start, waiting);
            let free_s = self.lines[line].free_s;
            let start_s = match sent.enqueued < sent.start {
                true => free_s,
                false => free_s.max(self.turn.seconds()),
            };
            self.transmit(line, sent.packet, start_s);
            let free_at = Instant::from_secs_f64(self.lines[line].free_s);
            let node = &mut self.switches[switch];
            node.switch.set_line_free_at(sent.port, free_at);
        }
        self.count_drops(switch, None);
    }

    /// `segment` is that of the packet which has just arrived; what is dropped later, by a program's
    /// egress, is counted and not located.
    fn count_drops(&mut self, switch: usize, segment: Option<u64>) {
        while let Some(event) = self.switches[switch].switch.poll_event() {
            let Event::Drop(drop) = event else {
                continue;
            };
            let node = &mut self.switches[switch];
            // A buffer went in and none came out: it is in the switch's pool.
            self.buffers.push(node.switch.buffer());
            *self.bins.cell(&mut node.dropped) += 1;
            match drop.cause {
                DropCause::Ingress => node.note_refusal(),
                DropCause::TmFull => {
                    if let Some(&line) = node.lines.get(&drop.port) {
                        let dropped = &mut self.line_records[line].dropped_packets;
                        *self.bins.cell(dropped) += 1;
                    }
                }
                _ => {}
            }
            let segment = segment.filter(|_| drop.cause != DropCause::Egress);
            self.count_lost(Tag(drop.tag), Place::Queue, segment);
        }
    }

    /// What the switches counted.
    pub(super) fn switch_results(&self) -> Vec<(String, SwitchRecord)> {
        self.switches
            .iter()
            .map(|node| (node.name.clone(), node.results()))
            .collect()
    }
}

impl SwitchState {
    /// Sets the rate of a port's line from now on.
    pub fn set_rate(&mut self, port: u16, rate: Rate) {
        let config = PortConfig {
            rate: Some(rate),
            ..self.port
        };
        self.switch.set_port(port, config);
    }

    fn results(&self) -> SwitchRecord {
        let drops = self.switch.drops();
        SwitchRecord {
            program: self.program.clone(),
            handled_packets: self.handled,
            drops: drops
                .by_cause()
                .map(|(cause, count)| (cause.name(), count))
                .collect(),
            dropped_packets: self.dropped.clone(),
            snoop_resent: self.snoop.as_ref().map_or(0, |agent| agent.resent),
            snoop_suppressed: self.snoop.as_ref().map_or(0, |agent| agent.suppressed),
            counters: self.counters(),
        }
    }

    fn counters(&self) -> Vec<(String, CounterRecord)> {
        let objects = self.switch.program().externs.iter().enumerate();
        objects
            .filter(|(_, object)| object.type_name == "counter")
            .map(|(i, object)| {
                let size = match object.args.first() {
                    Some(CtorArg::Int(size)) => size.to_u64().unwrap_or(0),
                    _ => 0,
                };
                let mut record = CounterRecord::default();
                for index in 0..size {
                    let Ok(cell) = self.switch.counter_read(ExternId(i as u32), index) else {
                        break;
                    };
                    if cell.packets != 0 || cell.octets != 0 {
                        record.index.push(index);
                        record.packets.push(cell.packets);
                        record.octets.push(cell.octets);
                    }
                }
                (object.name.clone(), record)
            })
            .collect()
    }
}
