//! A line: one direction of a link, from a transmitter through propagation to the far end.

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

/// A node's port; a host's is 0.
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
    /// The rate and the delay as numbers, which each packet needs.
    rate_bps: f64,
    delay_s: f64,
    /// A packet is lost if 64 random bits are below this.
    loss: u64,
    random: Random,
    /// The queue in front of it; a switch has its own.
    pub queue: Option<DropTail>,
    /// The medium that it shares; none: it is a link of its own.
    pub station: Option<StationId>,
    /// When it has sent what it took last, in seconds; on a medium known only then.
    pub free_s: f64,
    /// It is sending: until `free`, or else until an event says otherwise.
    pub busy: bool,
    /// The turn at which it has sent what it took last, where no event comes of that. There is one once a packet waits
    /// for it.
    pub free: Option<Turn>,
    /// Its interface in a capture, if it is captured.
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

    /// Sets the probability that a packet is lost.
    pub fn set_loss(&mut self, probability: f64) {
        // 1.0 saturates: every packet but one in 2^64.
        self.loss = (probability * TWO_TO_64) as u64;
    }

    /// Whether it is sending at a turn, which may not be before those of earlier calls.
    pub fn is_busy(&mut self, now: Turn) -> bool {
        if self.free.take_if(|free| *free <= now).is_some() {
            self.busy = false;
        }
        self.busy
    }

    /// How long it sends a packet, in seconds.
    #[inline]
    pub fn busy_s(&self, link_octets: u32) -> f64 {
        // Rounded in this order, as ns-2 does.
        8.0 * f64::from(link_octets) / self.rate_bps
    }

    /// Whether the next packet is lost. Draws only on a line with loss.
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
