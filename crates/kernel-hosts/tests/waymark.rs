//! The control `waymark` in C (`hosts/ebpf`) has the window and the pacing rate of the Rust control, on the same events.

use std::fmt::Write as _;

use congestion::waymark::Waymark;
use congestion::{
    AckEvent, Controller, Evidence, Limits, LossEvent, RateSample, TimeoutEvent, WaymarkConfig,
};
use replay::{AQT_MAX_US, Draw, MARK_AQT, MARK_DRAI, MSS, Marks, compile, octet, replay};
use units::{Duration, Instant};

mod replay;

/// The rounding that `hosts/ebpf/waymark.h` states: of the window, and of the rate or what is in flight per
/// propagation delay.
const ROUNDING: f64 = 1.0 / (1_u64 << 20) as f64;
const ACKS: u64 = 12_000;
/// Connections that only begin, up to this seed, and their acknowledgements.
const SHORT: u64 = 400;
const SHORT_ACKS: u64 = 100;
/// The first acknowledgements of long ones bring no queueing times.
const UNMARKED: u64 = 50;
const MOST: u32 = 2000;
/// β
const BACKLOG: f64 = 0.5;
const INITIAL_WINDOW: u64 = 10;

/// So few acknowledgements come that CUBIC's curve has time to rise.
const SPARSE_US: u64 = 120_000;

/// Times are multiples of this, except for the propagation delay, which is `OFF` more. So no two times that the control
/// compares are equal, which floating point would decide by what it lost.
const STEP_US: u64 = 12;
const OFF_US: u64 = 5;

#[test]
fn waymark_has_the_window_and_the_rate_of_rust() {
    let program = compile("waymark");
    let mut seen = Seen::default();
    let long = (1..=4).map(|seed| (seed, ACKS, UNMARKED));
    let short = (5..=SHORT).map(|seed| (seed, SHORT_ACKS, 0));
    for (seed, acks, unmarked) in long.chain(short) {
        let mut run = Run::new(seed, unmarked);
        while run.acks < acks {
            run.step();
        }
        let printed = replay(&program, &run.events);
        assert_eq!(printed.len(), run.expected.len(), "seed {seed}");
        let events = run.events.lines().zip(&run.expected).zip(printed);
        for (at, ((event, expected), printed)) in events.enumerate() {
            let is_near = |rust: f64, c: f64, scale: f64| (rust - c).abs() <= scale * ROUNDING;
            let (cwnd, rate, most) = *expected;
            assert!(
                is_near(cwnd, printed[0], cwnd)
                    && printed[1] == 2.0
                    && is_near(rate, printed[2], rate.max(most)),
                "seed {seed}, event {at}, {event}: Rust has {cwnd} {rate}, C has {printed:?}"
            );
        }
        seen.add(&run.seen);
    }
    seen.check();
}

/// How often the runs came by what they are to compare.
#[derive(Debug, Default)]
struct Seen {
    idle: u64,
    queued: u64,
    beside_rivals: u64,
    /// Rivals may still be there, but have left no queue for a round trip.
    after_rivals: u64,
    grown: u64,
    held_back: u64,
    random: u64,
    congestion: u64,
    timeouts: u64,
    joined: u64,
}

impl Seen {
    fn all(&mut self) -> [&mut u64; 10] {
        [
            &mut self.idle,
            &mut self.queued,
            &mut self.beside_rivals,
            &mut self.after_rivals,
            &mut self.grown,
            &mut self.held_back,
            &mut self.random,
            &mut self.congestion,
            &mut self.timeouts,
            &mut self.joined,
        ]
    }

    fn add(&mut self, other: &Seen) {
        let mut other = Seen { ..*other };
        for (sum, one) in self.all().into_iter().zip(other.all()) {
            *sum += *one;
        }
    }

    fn check(&mut self) {
        assert!(self.all().iter().all(|times| **times > 50), "{self:?}");
    }
}

/// What the path is like for a while.
#[derive(Clone, Copy, Debug)]
struct Weather {
    /// Without marks and queues of others, in microseconds.
    propagation_us: u64,
    /// The longest queueing time on the way there, and back.
    forward_us: u64,
    backward_us: u64,
    /// The longest time between two acknowledgements.
    apart_us: u64,
    /// Indices are drawn from these.
    indices: &'static [u8],
    /// An acknowledgement in this many per thousand echoes CI, or shows a loss.
    full: u64,
    lossy: u64,
    /// The part of the pacing rate at which segments leave, in percent.
    leaves: u64,
    app_limited: u64,
}

impl Weather {
    fn draw(draw: &mut Draw) -> Weather {
        let mut one_of = |choices: &[u64]| choices[draw.within(0, choices.len() as u64) as usize];
        let apart_us = one_of(&[240, 1_200, 3_000, SPARSE_US]);
        // Readings that nothing was sent between let a rate grow without bounds.
        let rooms = if apart_us == SPARSE_US { 2 } else { 5 };
        let room: &[&[u8]] = &[&[0, 1, 2, 3], &[3], &[4, 4, 4, 5, 3], &[5, 6], &[3, 4]];
        let indices = room[one_of(&[0, 1, 2, 3, 4][..rooms]) as usize];
        Weather {
            propagation_us: one_of(&[5_004, 20_004, 40_008, 80_004]) + OFF_US,
            forward_us: one_of(&[12, 600, 6_000, 15_000, 40_000]),
            backward_us: one_of(&[12, 1_200, 15_000]),
            apart_us,
            indices,
            full: one_of(&[0, 0, 5, 30]),
            lossy: one_of(&[0, 5, 20]),
            leaves: one_of(&[100, 100, 50, 20]),
            app_limited: one_of(&[0, 0, 30]),
        }
    }
}

impl Weather {
    /// The same path after the other flows have ended: no queue, and the flow sends what it may.
    fn without_rivals(self) -> Weather {
        Weather {
            forward_us: STEP_US,
            apart_us: self.apart_us.min(3_000),
            indices: &[3],
            full: 0,
            lossy: 0,
            leaves: 100,
            app_limited: 0,
            ..self
        }
    }
}

/// A connection over a path whose delay, room and losses change.
struct Run {
    control: Waymark,
    draw: Draw,
    weather: Weather,
    events: String,
    /// Window and rate after each event, and what was in flight per propagation delay.
    expected: Vec<(f64, f64, f64)>,
    now_us: u64,
    acked: u64,
    next: u64,
    /// What pacing allowed to leave and did not leave yet.
    leaving: f64,
    /// In flight per propagation delay, as of the newest acknowledgement.
    most: f64,
    /// What left since the last acknowledgement.
    sent: u64,
    acks: u64,
    /// This many acknowledgements bring no queueing times at first.
    unmarked: u64,
    seen: Seen,
}

impl Run {
    fn new(seed: u64, unmarked: u64) -> Run {
        let mut draw = Draw(seed);
        Run {
            control: WaymarkConfig {
                fixed_point: true,
                ..WaymarkConfig::default()
            }
            .build(&Limits {
                initial_window: INITIAL_WINDOW as f64,
                initial_ssthresh: f64::INFINITY,
                max_cwnd: Some(f64::from(MOST)),
                ..Limits::default()
            }),
            weather: Weather::draw(&mut draw),
            draw,
            events: format!("start {INITIAL_WINDOW} {}\n", octet(0)),
            expected: vec![(INITIAL_WINDOW as f64, 0.0, 0.0)],
            // Later than the microseconds of 32 bits.
            now_us: 5_000_000_004,
            acked: 0,
            next: 0,
            leaving: INITIAL_WINDOW as f64,
            sent: 0,
            most: 0.0,
            acks: 0,
            unmarked,
            seen: Seen::default(),
        }
    }

    fn step(&mut self) {
        if self.draw.within(0, 300) == 0 {
            self.weather = match self.draw.percent(25) {
                true => self.weather.without_rivals(),
                false => Weather::draw(&mut self.draw),
            };
        }
        let pause = match self.draw.within(0, 1000) {
            0 => 600_000,
            _ => self.weather.apart_us,
        };
        self.pass(pause);
        match self.draw.within(0, 2000) {
            0..4 => self.time_out(),
            4..34 => self.lose(),
            _ => self.acknowledge(),
        }
    }

    /// Some of this time passes.
    fn pass(&mut self, most_us: u64) {
        let passed_us = STEP_US * self.draw.within(1, most_us / STEP_US + 1);
        self.now_us += passed_us;
        let rate = self.control.pacing_rate().unwrap_or(0.0);
        self.leaving += rate * passed_us as f64 / 1e6 * self.weather.leaves as f64 / 100.0;
    }

    /// What pacing and the window allow leaves.
    fn send(&mut self) {
        let room = (self.control.cwnd() as u64).saturating_sub(self.next - self.acked);
        let sent = (self.leaving as u64).clamp(1, 64);
        self.leaving = (self.leaving - sent as f64).clamp(0.0, 64.0);
        for segment in self.next..self.next + sent {
            self.control.on_sent(self.now(), segment);
        }
        // Those beyond the window are sent again.
        self.next += sent.min(room).max(u64::from(self.next == self.acked));
        self.sent += sent;
    }

    fn now(&self) -> Instant {
        Instant::from_micros(self.now_us)
    }

    /// Up to a time.
    fn wait(&mut self, most_us: u64) -> u64 {
        STEP_US * self.draw.within(0, most_us / STEP_US)
    }

    fn acknowledge(&mut self) {
        let weather = self.weather;
        self.send();
        let outstanding = self.next - self.acked;
        let is_duplicate = self.draw.percent(10);
        let newly = match is_duplicate {
            true => self.draw.within(0, 2),
            false => self.draw.within(1, 4).min(outstanding),
        };
        let newly_acked = if is_duplicate { 0 } else { newly };
        let acked = self.acked + newly_acked;
        let (forward_us, backward_us) = (
            self.wait(weather.forward_us),
            self.wait(weather.backward_us),
        );
        let measured = weather.propagation_us + forward_us + backward_us;
        let rtt_us = if self.draw.percent(90) { measured } else { 0 };
        let thousandths = |run: &mut Run, times| run.draw.within(0, 1000) < times;
        let ci_echo = thousandths(self, weather.full);
        let lost = if thousandths(self, weather.lossy) {
            self.draw.within(1, 4)
        } else {
            0
        };
        let app_limited = thousandths(self, weather.app_limited);
        let in_flight = (self.next - acked).saturating_sub(self.draw.within(0, 3));
        let mut marks = draw_marks(
            &mut self.draw,
            acked,
            forward_us,
            backward_us,
            weather.indices,
        );
        if self.acks < self.unmarked {
            marks.carried &= !MARK_AQT;
        }
        let ack = AckEvent {
            now: self.now(),
            acked,
            newly_acked,
            newly_delivered: newly,
            newly_lost: lost,
            next: self.next,
            in_flight,
            rtt: (rtt_us > 0).then(|| Duration::from_micros(rtt_us)),
            ci_echo,
            rate: Some(RateSample {
                app_limited,
                ..RateSample::default()
            }),
            ..marks.event(acked)
        };
        let mut control = self.control.clone();
        match is_duplicate {
            true => control.on_duplicate_ack(&ack),
            false if self.draw.percent(5) => control.on_partial_ack(&ack),
            false => control.on_ack(&ack),
        }
        let waiting = control.snapshot().diff;
        if waiting.is_some_and(|diff| (diff - BACKLOG).abs() < 1e-6) {
            // Only what floating point lost decides if there is a queue; this one is lost on the way.
            return;
        }
        let before = self.control.pacing_rate();
        self.control = control;
        self.acked = acked;
        let sent = std::mem::take(&mut self.sent);
        self.most = in_flight as f64 * 1e6 / weather.propagation_us as f64;
        self.observe(&ack, before);
        self.acks += 1;
        let now_us = self.now_us;
        self.note(format_args!(
            "ack {} {} {} {MSS} {newly} {in_flight} {MOST} {rtt_us} 0 {} {} {} {} {} {} {} {} {lost}",
            now_us,
            octet(acked),
            octet(self.next),
            octet(marks.acked),
            marks.carried,
            marks.forward_us,
            marks.backward_us,
            marks.mrai,
            u8::from(ci_echo),
            u8::from(app_limited),
            sent,
        ));
    }

    /// What the control did, seen from outside.
    fn observe(&mut self, ack: &AckEvent, before: Option<f64>) {
        let after = self.control.pacing_rate();
        let snapshot = self.control.snapshot();
        let is_idle = snapshot.diff.is_some_and(|diff| diff <= BACKLOG);
        self.seen.idle += u64::from(is_idle);
        let initial = INITIAL_WINDOW as f64 * 1e6 / self.weather.propagation_us as f64;
        let joins = before.is_none() && after.is_some_and(|rate| rate > 1.01 * initial);
        self.seen.joined += u64::from(joins);
        self.seen.queued += u64::from(snapshot.diff.is_some() && !is_idle);
        self.seen.grown += u64::from(is_idle && after > before);
        self.seen.held_back += u64::from(is_idle && after == before && !ack.ci_echo);
        if self.acks.is_multiple_of(4) {
            let debug = format!("{:?}", self.control);
            let has_rivals = debug.contains("window: Some(");
            self.seen.beside_rivals += u64::from(has_rivals);
            let found_queue = debug.contains(" speed: 1.0,");
            self.seen.after_rivals += u64::from(has_rivals && is_idle && !found_queue);
        }
    }

    fn lose(&mut self) {
        self.control.on_loss(&LossEvent {
            now: self.now(),
            evidence: Evidence::Time,
            lost: self.acked,
            sent_at: Some(Instant::from_micros(self.now_us - 1)),
            transmissions: 1,
            duplicates: 0,
            window: 1,
        });
        let verdicts = self.control.verdicts();
        (self.seen.random, self.seen.congestion) = (verdicts.random, verdicts.congestion);
        let now_us = self.now_us;
        self.note(format_args!(
            "loss {} {} {MSS} 1 0 0",
            now_us,
            octet(self.acked)
        ));
    }

    fn time_out(&mut self) {
        self.pass(200_004);
        self.seen.timeouts += 1;
        self.control.on_timeout(&TimeoutEvent {
            now: self.now(),
            window: 1,
        });
        self.note(format_args!("timeout 1"));
    }

    fn note(&mut self, event: std::fmt::Arguments<'_>) {
        writeln!(self.events, "{event}").expect("a string");
        let rate = self.control.pacing_rate().unwrap_or(0.0);
        self.expected.push((self.control.cwnd(), rate, self.most));
    }
}

/// The newest packet's marks: of this acknowledgement, or of one before or after.
fn draw_marks(
    draw: &mut Draw,
    acked: u64,
    forward_us: u64,
    backward_us: u64,
    indices: &[u8],
) -> Marks {
    let mut mark = |time_us| match draw.within(0, 200) {
        0..3 => AQT_MAX_US,
        // More than the round-trip time.
        3..6 => 1_200_000,
        _ => time_us,
    };
    let (forward_us, backward_us) = (mark(forward_us), mark(backward_us));
    Marks {
        acked: match draw.within(0, 100) {
            0..3 => acked.saturating_sub(1),
            3..6 => acked + 1,
            _ => acked,
        },
        carried: match draw.within(0, 100) {
            0..94 => MARK_AQT | MARK_DRAI,
            94..97 => MARK_AQT,
            _ => MARK_DRAI,
        },
        forward_us,
        backward_us,
        mrai: indices[draw.within(0, indices.len() as u64) as usize],
    }
}
