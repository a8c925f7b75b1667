//! Base stations: packets for a switch with a Snoop agent pass through the agent first.

use super::Simulation;
use crate::event::Event;
use crate::snoop::Verdict;
use engine::Packet;

impl Simulation {
    /// A packet's last octet reaches a switch's port; the switch may have an agent.
    pub(super) fn arrive_at_station(&mut self, switch: usize, port: u16, packet: Packet) {
        let Some(agent) = &mut self.switches[switch].snoop else {
            return self.arrive_at_switch(switch, port, packet);
        };
        match agent.handle_packet(self.now, port, &packet) {
            Verdict::Forward => self.arrive_at_switch(switch, port, packet),
            Verdict::Suppress => self.buffers.push(packet.octets),
            Verdict::Resend(from, again) => {
                self.buffers.push(packet.octets);
                self.arrive_at_switch(switch, from, again);
            }
        }
        self.schedule_snoop(switch);
    }

    pub(super) fn snoop_timer(&mut self, switch: usize) {
        let agent = self.switches[switch].snoop.as_mut();
        let Some(agent) = agent.filter(|agent| agent.wake.is_some_and(|wake| wake <= self.now))
        else {
            return; // an earlier event has been scheduled and has come since
        };
        agent.wake = None;
        while let Some(agent) = &mut self.switches[switch].snoop
            && let Some((port, packet)) = agent.handle_timeout(self.now)
        {
            self.arrive_at_switch(switch, port, packet);
        }
        self.schedule_snoop(switch);
    }

    fn schedule_snoop(&mut self, switch: usize) {
        let Some(agent) = &mut self.switches[switch].snoop else {
            return;
        };
        // A later timeout is detected when the earlier event occurs.
        if let Some(timeout) = agent.poll_timeout()
            && agent.wake.is_none_or(|wake| timeout < wake)
        {
            agent.wake = Some(timeout);
            self.schedule_at(timeout, Event::Snoop(switch as u32));
        }
    }
}
