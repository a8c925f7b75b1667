//! A path: a destination address, the source address used with it, and the state of both.

use super::Tsn;
use super::config::Config;
use congestion::sctp::Window;
use std::net::Ipv4Addr;
use units::{Duration, Instant};

/// The two addresses of packets on a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Route {
    /// This end's.
    pub local: Ipv4Addr,
    /// The peer's.
    pub remote: Ipv4Addr,
}

/// The state of a path (RFC 9260, §5.4 and §8.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathState {
    /// Nothing has been received over it yet: no data is sent on it.
    Unconfirmed,
    /// In use, or usable.
    Active,
    /// It had more than Path.Max.Retrans consecutive errors.
    Inactive,
}

/// A path.
#[derive(Debug)]
pub(super) struct Path {
    pub route: Route,
    pub state: PathState,
    pub rto: Rto,
    pub window: Box<dyn Window>,
    /// Number of consecutive errors.
    pub errors: u32,
    /// Octets of chunks last sent on it that are neither acknowledged nor reported in a gap block.
    pub outstanding: u32,
    /// The part of these that is marked for retransmission.
    pub marked: u32,
    /// T3-rtx.
    pub t3: Option<Instant>,
    /// Whether a chunk is outstanding whose acknowledgement measures the RTT (§6.3.1 C4).
    pub measures: bool,
    /// When data was last sent on it, for the decay of an idle path's window (§7.2.1).
    pub idle_since: Option<Instant>,
    pub heartbeat: Heartbeat,
    pub tally: Tally,
}

/// The heartbeats of a path.
#[derive(Debug, Default)]
pub(super) struct Heartbeat {
    /// When the next one is sent.
    pub due: Option<Instant>,
    /// When the outstanding one counts as lost.
    pub lost: Option<Instant>,
    /// The expected nonce.
    pub nonce: u64,
    /// When new data or a heartbeat was last sent.
    pub last: Instant,
}

/// The effect of a SACK, or of a retransmission, on a path.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tally {
    pub newly_acked: u32,
    /// The part of these that was acknowledged by gap blocks.
    pub gap_acked: u32,
    /// Whether its earliest outstanding chunk is acknowledged.
    pub restart: bool,
    /// Its earliest outstanding chunk.
    pub first: Option<Tsn>,
    pub cut: bool,
    /// The RTT measured by a chunk.
    pub rtt: Option<Duration>,
}

impl Path {
    pub fn new(config: &Config, index: usize, route: Route) -> Self {
        Path {
            route,
            state: PathState::Unconfirmed,
            rto: Rto::new(config),
            window: config.window_of(index),
            errors: 0,
            outstanding: 0,
            marked: 0,
            t3: None,
            measures: false,
            idle_since: None,
            heartbeat: Heartbeat::default(),
            tally: Tally::default(),
        }
    }

    /// Octets in flight.
    pub fn in_flight(&self) -> u32 {
        self.outstanding - self.marked
    }

    /// Whether the window allows one more packet: it may be exceeded by less than a packet (§6.1 B).
    pub fn has_room(&self) -> bool {
        self.in_flight() < self.window.octets()
    }

    /// (Re)starts T3-rtx.
    pub fn start_t3(&mut self, now: Instant) {
        self.t3 = Some(now + self.rto.value());
    }

    /// Reduces the window for the time in which no data was sent (§7.2.1).
    pub fn decay(&mut self, now: Instant) {
        let rto = self.rto.value();
        // After this many halvings any window is at its minimum.
        for _ in 0..32 {
            let Some(since) = self.idle_since.filter(|&since| now >= since + rto) else {
                return;
            };
            self.window.on_idle();
            self.idle_since = Some(since + rto);
        }
        self.idle_since = Some(now);
    }
}

/// Retransmission timeout (RFC 9260, §6.3.1).
#[derive(Clone, Debug)]
pub(super) struct Rto {
    /// Smoothed RTT and its variation, if measured.
    measured: Option<(Duration, Duration)>,
    value: Duration,
    min: Duration,
    max: Duration,
}

impl Rto {
    fn new(config: &Config) -> Self {
        Rto {
            measured: None,
            value: config.rto_initial.min(config.rto_max),
            min: config.rto_min,
            max: config.rto_max,
        }
    }

    pub fn value(&self) -> Duration {
        self.value
    }

    /// The smoothed RTT, once there is one.
    pub fn srtt(&self) -> Option<Duration> {
        self.measured.map(|(srtt, _)| srtt)
    }

    /// C2 and C3 with α = 1/8, β = 1/4; C6 and C7.
    pub fn measure(&mut self, rtt: Duration) {
        let nanos = Duration::from_nanos;
        let (srtt, var) = match self.measured {
            None => (rtt, nanos(rtt.as_nanos() / 2)),
            Some((srtt, var)) => {
                let off = srtt.as_nanos().abs_diff(rtt.as_nanos());
                (
                    nanos((7 * srtt.as_nanos() + rtt.as_nanos()) / 8),
                    nanos((3 * var.as_nanos() + off) / 4),
                )
            }
        };
        self.measured = Some((srtt, var));
        self.value = (srtt + var * 4).max(self.min).min(self.max);
    }

    /// E2: the timer expired.
    pub fn back_off(&mut self) {
        self.value = (self.value * 2).min(self.max);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path() -> Path {
        let local = Ipv4Addr::new(10, 0, 0, 1);
        let route = Route {
            local,
            remote: Ipv4Addr::new(10, 0, 0, 2),
        };
        Path::new(&Config::dahal(vec![local], 1, [0; 32]), 0, route)
    }

    /// SRTT 400, RTTVAR 200: 1200 ms. Then 800: RTTVAR = ¾·200 + ¼·400 = 250, SRTT = 450: 1450 ms.
    #[test]
    fn the_timeout_follows_rfc_9260() {
        let mut rto = path().rto;
        let ms = Duration::from_millis;
        assert_eq!(rto.value(), ms(3000));
        rto.measure(ms(400));
        assert_eq!(rto.value(), ms(1200));
        rto.measure(ms(800));
        assert_eq!((rto.value(), rto.srtt()), (ms(1450), Some(ms(450))));
        rto.back_off();
        assert_eq!(rto.value(), ms(2900));
        for _ in 0..9 {
            rto.back_off();
        }
        assert_eq!(rto.value(), ms(60_000));
        for _ in 0..100 {
            rto.measure(ms(1));
        }
        assert_eq!(rto.value(), ms(1000));
    }

    #[test]
    fn an_idle_path_loses_half_its_window_for_each_timeout() {
        let mut path = path();
        path.window.resume(40 * 1468);
        path.idle_since = Some(Instant::ZERO);
        path.decay(Instant::from_secs_f64(2.9));
        assert_eq!(path.window.octets(), 40 * 1468);
        path.decay(Instant::from_secs_f64(6.1));
        assert_eq!(path.window.octets(), 10 * 1468);
        path.decay(Instant::from_secs_f64(600.0));
        assert_eq!(path.window.octets(), 2 * 1468);
    }
}
