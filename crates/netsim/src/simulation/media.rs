//! Packets on shared media.

use super::Simulation;
use crate::event::Event;
use crate::line::Node;
use crate::medium::{Begun, Ended, Offered, StationId};
use engine::Packet;

/// Used as the time at which a line on a medium becomes free, in seconds, while that is unknown: later than the end of
/// any run.
const UNKNOWN_S: f64 = 9e9;

impl Simulation {
    /// A line passes its packet to its station.
    pub(super) fn offer_to_medium(&mut self, id: StationId, line_index: usize, packet: Packet) {
        let line = &mut self.lines[line_index];
        line.busy = true;
        line.free_s = UNKNOWN_S;
        let offered = Offered {
            line: line_index as u32,
            busy_s: line.busy_s(packet.link_octets),
            packet: self.events.in_flight.put(packet),
        };
        let medium = &mut self.media[id.medium as usize];
        if let Some(at_s) = medium.offer(id.station, offered, self.turn.seconds()) {
            self.events.schedule(at_s, Event::MediumBegin(id));
        }
    }

    pub(super) fn begin_on_medium(&mut self, id: StationId) {
        let medium = &mut self.media[id.medium as usize];
        let (at_s, next) = match medium.begin(id.station, self.turn.seconds()) {
            Begun::Sends(end_s) => (end_s, Event::MediumEnd(id)),
            Begun::Defers(again_s) => (again_s, Event::MediumBegin(id)),
        };
        self.events.schedule(at_s, next);
    }

    pub(super) fn end_on_medium(&mut self, id: StationId) {
        let now_s = self.turn.seconds();
        let medium = &mut self.media[id.medium as usize];
        let Ended {
            offered,
            collided,
            next_s,
        } = medium.end(id.station, now_s);
        if let Some(next_s) = next_s {
            self.events.schedule(next_s, Event::MediumBegin(id));
        }
        let line_index = offered.line as usize;
        let line = &mut self.lines[line_index];
        let from = line.from;
        line.free_s = now_s;
        if line.loses() || collided {
            let packet = self.events.in_flight.take(offered.packet);
            self.lose(line_index, packet);
        } else {
            let arrival_s = now_s + line.delay_s();
            let arrive = Event::Arrive {
                line: offered.line,
                packet: offered.packet,
            };
            self.events.schedule(arrival_s, arrive);
        }
        if let Node::Switch(switch) = from.node {
            let node = &mut self.switches[switch];
            node.switch.set_line_free_at(from.port, self.now);
        }
        self.line_free(line_index);
    }
}
