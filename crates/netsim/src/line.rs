//! A line: one direction of a link, from the transmitter through propagation to the far end.

use crate::event::Turn;
use crate::medium::StationId;
use crate::queue::DropTail;
use crate::random::Random;
use units::{Duration, Rate};

const TWO_TO_64: f64 = (1u128 << 64) as f64;

/// A host, switch or router, by its index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Node {
    /// A host.
    Host(usize),
    /// A switch.
    Switch(usize),
    /// A router without a program.
    Router(usize),
}

/// A port of a node. The port of a host is 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Port {
    pub node: Node,
    pub port: u16,
}

/// One direction of a link.
#[derive(Debug)]
pub(crate) struct Line {
    /// `"from->to"`.
    pub name: String,
    pub from: Port,
    rate: Rate,
    /// Rate and delay as floating-point numbers, which are needed for each packet.
    rate_bps: f64,
    delay_s: f64,
    /// A packet is lost if a random 64-bit number is below this.
    loss: u64,
    random: Random,
    /// The queue in front of it. `None` at a switch, which has its own queues.
    pub queue: Option<DropTail>,
    /// Its station on a shared medium. `None` if it is a separate link.
    pub station: Option<StationId>,
    /// When it has sent its current packet, in seconds. On a medium this is known only at that time.
    pub free_s: f64,
    /// Whether it is sending: until `free`, or otherwise until an event ends it.
    pub busy: bool,
    /// The turn at which it has sent its current packet, while there is no event for that. The event is scheduled once
    /// a packet waits for the line.
    pub free: Option<Turn>,
    /// The index of its interface in the capture, if it is captured.
    pub interface: Option<u32>,
}

impl Line {
    pub fn new(name: String, from: Port, rate: Rate, random: Random) -> Self {
        Line {
            name,
            from,
            rate,
            rate_bps: rate.as_bps() as f64,
            delay_s: 0.0,
            loss: 0,
            random,
            queue: None,
            station: None,
            free_s: 0.0,
            busy: false,
            free: None,
            interface: None,
        }
    }

    pub fn rate(&self) -> Rate {
        self.rate
    }

    pub fn set_rate(&mut self, rate: Rate) {
        self.rate = rate;
        self.rate_bps = rate.as_bps() as f64;
    }

    /// The delay in seconds.
    #[inline]
    pub fn delay_s(&self) -> f64 {
        self.delay_s
    }

    pub fn set_delay(&mut self, delay: Duration) {
        self.delay_s = delay.as_secs_f64();
    }

    /// Sets the loss probability.
    pub fn set_loss(&mut self, probability: f64) {
        // 1.0 saturates, so that one in 2^64 packets is not lost.
        self.loss = (probability * TWO_TO_64) as u64;
    }

    /// Whether it is sending at a turn. The turns of successive calls must not decrease.
    pub fn is_busy(&mut self, now: Turn) -> bool {
        if self.free.take_if(|free| *free <= now).is_some() {
            self.busy = false;
        }
        self.busy
    }

    /// The serialisation delay of a packet, in seconds.
    #[inline]
    pub fn busy_s(&self, link_octets: u32) -> f64 {
        // Rounded in this order, as in ns-2.
        8.0 * f64::from(link_octets) / self.rate_bps
    }

    /// Whether the next packet is lost. Draws a random number only if there is a loss probability.
    pub fn loses(&mut self) -> bool {
        self.loss > 0 && self.random.bits() < self.loss
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Purpose;

    fn losses(probability: f64, packets: u32) -> u32 {
        let port = Port {
            node: Node::Host(0),
            port: 0,
        };
        let rate = Rate::from_bps(1).unwrap();
        let random = Random::new(1, Purpose::Loss, 0);
        let mut line = Line::new(String::new(), port, rate, random);
        line.set_loss(probability);
        (0..packets).map(|_| u32::from(line.loses())).sum()
    }

    #[test]
    fn losses_come_as_often_as_asked() {
        assert_eq!(losses(0.0, 1000), 0);
        assert_eq!(losses(1.0, 1000), 1000);
        // Binomial: 100 000 · 0.05 ± 4·69.
        let lost = losses(0.05, 100_000);
        assert!((4724..=5276).contains(&lost), "{lost}");
    }
}
