//! Switches: runs arriving packets through the program, and puts departing packets on their lines.

use super::Simulation;
use crate::losses::Place;
use crate::objects::{self, Kind};
use crate::results::{PortRecord, SwitchRecord};
use crate::switch::SwitchState;
use crate::truth::Tag;
use engine::{DropCause, Event, Packet};
use units::{Instant, Rate};

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
        let sequence = self.judged_sequence(&packet);
        if let Some(observer) = &mut self.observer {
            observer.enters(switch, &packet);
        }
        let node = &mut self.switches[switch];
        node.switch.handle_packet(self.now, port, packet);
        if let Some(observer) = &mut self.observer {
            observer.entered(switch);
        }
        self.count_drops(switch, sequence);
        self.transmit_from_switch(switch);
    }

    /// Puts packets of a switch on lines that are free.
    pub(super) fn transmit_from_switch(&mut self, switch: usize) {
        loop {
            let node = &mut self.switches[switch];
            // When a line becomes free, it takes a waiting packet at that time, rather than when another packet arrives
            // in the same nanosecond.
            let Some(port) = node.switch.next_port(self.now) else {
                break;
            };
            if let Some(line) = node.lines.at(port)
                && self.lines[line].is_busy(self.turn)
            {
                self.await_line(line);
                break;
            }
            let Some(mut sent) = node.switch.poll_transmit(self.now) else {
                break;
            };
            if let Some(observer) = &mut self.observer {
                observer.left(switch, &sent.packet);
            }
            let Some(line) = node.lines.at(sent.port) else {
                let owner = Tag(sent.packet.tag).owner();
                node.switch.recycle(sent.packet);
                self.is_gone(owner);
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
        while let Some(port) = self.switches[switch].switch.poll_waiting() {
            if let Some(line) = self.switches[switch].lines.at(port) {
                self.await_line(line);
            }
        }
        self.count_drops(switch, None);
    }

    /// `sequence` is that of the packet which has just arrived. Packets that the egress of a program drops later are
    /// counted without a place.
    #[inline]
    fn count_drops(&mut self, switch: usize, sequence: Option<u32>) {
        if self.switches[switch].switch.has_events() {
            self.count_some_drops(switch, sequence);
        }
    }

    #[inline(never)]
    fn count_some_drops(&mut self, switch: usize, sequence: Option<u32>) {
        while let Some(event) = self.switches[switch].switch.poll_event() {
            let node = &mut self.switches[switch];
            let drop = match event {
                Event::Drop(drop) => drop,
                Event::Panic(panic) => {
                    node.note_panic(&panic);
                    continue;
                }
                _ => continue,
            };
            // A buffer went in and none came out, so it is in the switch's pool.
            self.buffers.push(node.switch.buffer());
            let dropped = node.dropped.entry(drop.cause);
            *self
                .bins
                .cell(dropped.or_insert_with(|| self.bins.column())) += 1;
            match drop.cause {
                DropCause::Ingress => node.note_refusal(),
                DropCause::TmFull => {
                    if let Some(line) = node.lines.at(drop.port) {
                        let dropped = &mut self.line_records[line].dropped_packets;
                        *self.bins.cell(dropped) += 1;
                    }
                }
                _ => {}
            }
            let sequence = sequence.filter(|_| drop.cause != DropCause::Egress);
            self.count_lost(Tag(drop.tag), Place::Queue, sequence);
        }
    }

    /// The counters and the state of the switches.
    pub(super) fn switch_results(&self) -> Vec<(String, SwitchRecord)> {
        let switches = self.switches.iter().enumerate();
        switches
            .map(|(i, node)| (node.name.clone(), self.switch_record(i, node)))
            .collect()
    }

    fn switch_record(&self, index: usize, node: &SwitchState) -> SwitchRecord {
        let mut record = node.record();
        record.ports = node
            .lines
            .iter()
            .map(|(port, line)| {
                let record = PortRecord {
                    line: self.lines[line].name.clone(),
                    stats: node.switch.port_stats(port),
                };
                (port, record)
            })
            .collect();
        for object in objects::all(&node.switch) {
            let name = || node.switch.program()[object].name.clone();
            let samples = || self.sampler.as_ref()?.of(index, object);
            match objects::kind(&node.switch, object) {
                Some(Kind::Counter) => {
                    let mut counter = objects::counter(&node.switch, object);
                    counter.samples = samples();
                    record.counters.push((name(), counter));
                }
                Some(Kind::DirectCounter) => {
                    let mut counter = objects::direct_counter(&node.switch, object);
                    counter.samples = samples();
                    record.direct_counters.push((name(), counter));
                }
                Some(Kind::Register) => {
                    let mut register = objects::register(&node.switch, object);
                    register.samples = samples();
                    record.registers.push((name(), register));
                }
                None => {}
            }
        }
        record
    }
}

impl SwitchState {
    /// Sets the rate of a port's line from now on.
    pub fn set_rate(&mut self, port: u16, rate: Rate) {
        if let Some(config) = self.ports.get_mut(&port) {
            config.rate = Some(rate);
            self.switch.set_port(port, *config);
        }
    }

    fn record(&self) -> SwitchRecord {
        let drops = self.switch.drops();
        let dropped = self.dropped.iter();
        SwitchRecord {
            program: self.program.clone(),
            handled_packets: self.handled,
            drops: drops
                .by_cause()
                .map(|(cause, count)| (cause.name(), count))
                .collect(),
            dropped_packets: dropped
                .map(|(cause, column)| (cause.name(), column.clone()))
                .collect(),
            cut_loops: self.switch.cut_loops(),
            panic: self.panic.clone(),
            snoop_resent: self.snoop.as_ref().map_or(0, |agent| agent.resent),
            snoop_suppressed: self.snoop.as_ref().map_or(0, |agent| agent.suppressed),
            ..SwitchRecord::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Scenario;
    use engine::{Pipeline, TraceEvent, Tracer};
    use serde_json::json;
    use units::Instant;

    const RELAY: &str = include_str!("../../tests/common/relay.p4");

    struct NoFiles;

    impl p4_frontend::Loader for NoFiles {
        fn load(&mut self, _: Option<&str>, _: &str, _: bool) -> Option<(String, String)> {
            None
        }
    }

    /// Makes the engine panic for each packet.
    #[derive(Debug)]
    struct Saboteur;

    impl Tracer for Saboteur {
        fn event(&mut self, _: Instant, _: u64, event: TraceEvent<'_>) {
            assert!(!matches!(event, TraceEvent::State { .. }), "sabotage");
        }
    }

    #[test]
    fn a_panic_is_a_cause_of_drops_and_the_first_is_described() {
        let mut sources = p4_frontend::SourceMap::new();
        let entry = sources.add("relay.p4", RELAY.to_string());
        let (program, _) = p4_frontend::compile(&mut sources, entry, &mut NoFiles, &[]);
        let pipeline = Pipeline::compile(&program.unwrap()).unwrap();
        let host = |n: u8, gateway: u8| {
            let mac = |n: u8| format!("02:00:00:00:00:0{n}");
            json!({"ipv4": format!("10.0.0.{n}"), "mac": mac(n), "gateway_mac": mac(gateway)})
        };
        let link = |host: &str, port: u16| {
            json!({"a": {"node": host}, "b": {"node": "R", "port": port},
                   "rate_bps": 10_000_000, "delay_s": 0.001})
        };
        let data = json!({
            "name": "panic", "seed": 1, "end_s": 0.1,
            "hosts": {"S": host(1, 2), "D": host(2, 1)},
            "switches": {"R": {"program": "relay"}},
            "links": [link("S", 1), link("D", 2)],
            "sources": [{"from": "S", "to": "D", "kind": "cbr", "rate_bps": 8e5}],
        });
        let scenario = Scenario::from_json(&data.to_string()).unwrap();
        let programs = [("relay".to_string(), pipeline)].into();
        let mut simulation = Simulation::new(&scenario, &programs).unwrap();
        simulation.switches[0]
            .switch
            .set_tracer(Some(Box::new(Saboteur)));
        simulation.run(u64::MAX).unwrap();
        let (_, record) = &simulation.finish().unwrap().switches[0];
        // A packet every 10 ms, the first 1.8 ms after the start.
        assert_eq!(record.dropped_packets, [("panic", vec![10])]);
        assert_eq!(
            record.panic.as_deref(),
            Some("ingress, at 0.0018 s, of a packet from port 1: sabotage")
        );
    }
}
