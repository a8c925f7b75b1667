//! The Rust control on the events that a control in the kernel saw: both have the same window, within the rounding
//! that `hosts/ebpf/event.h` and `waymark.h` state.

use std::net::Ipv4Addr;

use congestion::{
    AckEvent, Controller, Evidence, Limits, LossEvent, Need, QueueingTime, RateSample, Rules,
    Settings, TimeoutEvent,
};
use serde::Serialize;
use units::{Duration, Instant};

use crate::trace::{Change, Event};

/// Rounding of the window, for each segment acknowledged.
const ROUNDING: f64 = 1.0 / (1_u64 << 28) as f64;
/// That of window and rate of a control that paces (`hosts/ebpf/waymark.h`).
const PACED_ROUNDING: f64 = 1.0 / (1_u64 << 20) as f64;
/// What floating point loses.
const FLOATING: f64 = 1e-9;
const NO_THRESHOLD: f64 = 0x7FFF_FFFF as f64;
const AQT_MAX_US: u32 = 0xFF_FFFF;

/// Why events cannot be replayed.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum ReplayError {
    /// There are no events.
    #[error("no events")]
    Empty,
    /// The connection began before the recording did.
    #[error(
        "event 1: expected the start of the connection, found {found:?}: record it from its start"
    )]
    NoStart {
        /// The first event.
        found: Change,
    },
    /// Another connection's event.
    #[error("event {at}: of another connection: expected the events of one")]
    OtherConnection {
        /// Counted from 1.
        at: usize,
    },
    /// Segments became longer or shorter.
    #[error(
        "event {at}: segments of {found} octets after segments of {before}: expected one size, as controls count \
         segments"
    )]
    OtherSize {
        /// Counted from 1.
        at: usize,
        /// Octets of a segment.
        found: u32,
        /// Before that.
        before: u32,
    },
    /// There is no Rust control of this name.
    #[error("no control {name:?}")]
    NoControl {
        /// As exported.
        name: String,
    },
}

/// Windows of both, after one event.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Difference {
    /// The event, counted from 1.
    pub event: usize,
    /// What happened.
    pub change: Change,
    /// Window and threshold in the kernel, in segments, and the pacing rate in segments per second, or 0.
    pub kernel: [f64; 3],
    /// The same in Rust.
    pub rust: [f64; 3],
}

/// What a comparison found.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// The control's name.
    pub control: String,
    /// Address and port of this end and of the other.
    pub ends: [(Ipv4Addr, u32); 2],
    /// Events of each kind.
    pub acks: usize,
    /// Losses found without the timer.
    pub losses: usize,
    /// Timeouts.
    pub timeouts: usize,
    /// The largest difference between the windows, as a share of the window.
    pub largest: f64,
    /// The largest that rounding explains at the end, likewise.
    pub rounding: f64,
    /// The first event after which rounding does not explain the difference.
    pub beyond: Option<Difference>,
}

/// Replays the events of one connection, from its start on, and stops at the first window that differs by more
/// than the stated rounding.
///
/// # Errors
/// The events are not those of one connection from its start on, or its segments have several sizes.
pub fn replay(events: &[Event]) -> Result<Report, ReplayError> {
    let start = events.first().ok_or(ReplayError::Empty)?;
    if start.change != Change::Start {
        let found = start.change;
        return Err(ReplayError::NoStart { found });
    }
    let mut connection = Connection::new(start)?;
    let mut report = Report {
        control: start.control.clone(),
        ends: start.ends,
        acks: 0,
        losses: 0,
        timeouts: 0,
        largest: 0.0,
        rounding: 0.0,
        beyond: None,
    };
    for (at, event) in (2..).zip(&events[1..]) {
        if event.ends != start.ends || event.change == Change::Start {
            return Err(ReplayError::OtherConnection { at });
        }
        connection.take(at, event)?;
        match event.change {
            Change::Ack => report.acks += 1,
            Change::Loss => report.losses += 1,
            Change::Timeout => report.timeouts += 1,
            Change::Recovered => {}
            // Vegas in Rust has its initial window from the first acknowledgement on.
            Change::Start | Change::Sent => continue,
        }
        let control = &connection.control;
        let difference = Difference {
            event: at,
            change: event.change,
            kernel: [event.cwnd, event.ssthresh, event.rate],
            rust: [
                control.cwnd(),
                control.ssthresh().min(NO_THRESHOLD),
                control.pacing_rate().unwrap_or(0.0),
            ],
        };
        // The other controls only round down.
        let above;
        (report.rounding, above) = match connection.paces {
            true => (PACED_ROUNDING, PACED_ROUNDING),
            false => (connection.acked as f64 * ROUNDING, 0.0),
        };
        let share = |rust: f64, kernel: f64| (rust - kernel).abs() / rust;
        report.largest = report
            .largest
            .max(share(difference.rust[0], difference.kernel[0]));
        let pairs = difference.rust.iter().zip(difference.kernel);
        let explained = |(rust, kernel): (&f64, f64)| {
            rust - kernel <= rust * report.rounding + FLOATING
                && kernel - rust <= rust * above + FLOATING
        };
        if !pairs.into_iter().all(explained) {
            report.beyond = Some(difference);
            break;
        }
    }
    Ok(report)
}

/// The Rust control, and how segments are counted: segment 0 is the SYN.
struct Connection {
    control: Box<dyn Controller>,
    /// It has a pacing rate, and counts what leaves.
    paces: bool,
    /// Floating point has seconds since the boot less precisely.
    begin_us: u64,
    mss: u32,
    /// The newest octet that was acknowledged, and how many were before it since the SYN.
    una: u32,
    octets: u64,
    acked: u64,
}

impl Connection {
    fn new(start: &Event) -> Result<Connection, ReplayError> {
        let name = &start.control;
        let control =
            congestion::find(name).ok_or_else(|| ReplayError::NoControl { name: name.clone() })?;
        let rules = Rules {
            modern: true,
            phantom_rtt: false,
            exact_halving: false,
            fixed_point: true,
        };
        let factory = (control.factory)(&Settings::defaults(control), rules);
        Ok(Connection {
            control: factory.build(&Limits {
                initial_window: f64::from(start.window),
                initial_ssthresh: f64::INFINITY,
                max_cwnd: Some(f64::from(start.most)),
                ..Limits::default()
            }),
            paces: control.needs.contains(&Need::Pacing),
            begin_us: start.time_us,
            mss: 0,
            una: start.next,
            octets: 0,
            acked: 1,
        })
    }

    /// The number of the segment that begins with an octet. A segment of less than the full size counts as one.
    fn segment(&self, octet: u32) -> u64 {
        let ahead = i64::from(octet.wrapping_sub(self.una) as i32);
        let octets = (self.octets as i64 + ahead).max(0) as u64;
        1 + octets.div_ceil(u64::from(self.mss))
    }

    fn take(&mut self, at: usize, event: &Event) -> Result<(), ReplayError> {
        if self.mss == 0 {
            self.mss = event.mss.max(1);
        }
        if event.mss != self.mss {
            let (found, before) = (event.mss, self.mss);
            return Err(ReplayError::OtherSize { at, found, before });
        }
        let now = Instant::from_micros(event.time_us.saturating_sub(self.begin_us) + 1);
        match event.change {
            Change::Start => {}
            Change::Sent => {
                let segment = self.segment(event.next).saturating_sub(1);
                self.control.on_sent(now, segment);
            }
            Change::Ack => self.acknowledge(now, event),
            Change::Loss => self.lose(now, event),
            Change::Recovered => self.control.on_recovered(now),
            Change::Timeout => self.control.on_timeout(&TimeoutEvent {
                now,
                window: u64::from(event.window),
            }),
        }
        Ok(())
    }

    fn acknowledge(&mut self, now: Instant, event: &Event) {
        self.octets += u64::from(event.una.wrapping_sub(self.una));
        self.una = event.una;
        self.acked = self.segment(event.una);
        let queueing = |way: usize| {
            let time_us = event.aqt_us?[way];
            let time = Duration::from_micros(u64::from(time_us));
            Some(match time_us < AQT_MAX_US {
                true => QueueingTime::Exactly(time),
                false => QueueingTime::AtLeast(time),
            })
        };
        for _ in 0..event.sent {
            self.control.on_sent(now, 0);
        }
        self.control.on_ack(&AckEvent {
            now,
            acked: self.acked,
            newly_acked: u64::from(event.newly),
            newly_delivered: u64::from(event.newly),
            next: self.segment(event.next),
            in_flight: u64::from(event.in_flight),
            rtt: event.rtt_us.map(|time| Duration::from_micros(time.into())),
            window_unused: event.window_unused,
            aqt_echo: queueing(0),
            aqt_backward: queueing(1),
            mrai: event.mrai.map(|index| index as u8),
            ci_echo: event.ci_echo,
            newly_lost: u64::from(event.lost),
            rate: Some(RateSample {
                app_limited: event.app_limited,
                ..RateSample::default()
            }),
            ..AckEvent::default()
        });
    }

    fn lose(&mut self, now: Instant, event: &Event) {
        if let Some(octet) = event.ci_ack_seq {
            self.control.on_duplicate_ack(&AckEvent {
                now,
                acked: self.segment(octet),
                ci_echo: true,
                ..AckEvent::default()
            });
        }
        self.control.on_loss(&LossEvent {
            now,
            evidence: Evidence::Time,
            lost: self.segment(event.una),
            sent_at: Some(now),
            transmissions: 1,
            duplicates: 0,
            window: u64::from(event.window),
        });
    }
}
