//! The controls in C (`hosts/ebpf`) have the windows of the Rust controls, on the same events.

use std::fmt::Write as _;

use congestion::{
    AckEvent, Controller, Evidence, Limits, LossEvent, Rules, Settings, TimeoutEvent,
};
use replay::{AQT_MAX_US, Draw, MARK_AQT, MARK_DRAI, MSS, Marks, ONE, compile, octet, replay};
use units::{Duration, Instant};

mod replay;

/// The rounding that `hosts/ebpf/event.h` states: of the window, for each segment acknowledged.
const ROUNDING: f64 = 1.0 / ONE;
/// What floating point loses.
const FLOATING: f64 = 1e-9;
const NO_THRESHOLD: f64 = 0x7FFF_FFFF as f64;

const ACKS: u64 = 12_000;
const MOST: u32 = 150;
const SETTLED_US: u64 = 1_000_000;

#[test]
fn vegas_has_the_window_of_rust() {
    compare("vegas");
}

#[test]
fn rovegas_has_the_window_of_rust() {
    compare("rovegas");
}

#[test]
fn redvegas_has_the_window_of_rust() {
    compare("redvegas");
}

#[test]
fn muzha_has_the_window_of_rust() {
    compare("muzha");
}

fn compare(name: &str) {
    let program = compile(name);
    for seed in 1..=4 {
        let run = Run::new(name, seed).finish();
        let printed = replay(&program, &run.events);
        assert_eq!(printed.len(), run.expected.len(), "{name}, seed {seed}");
        let events = run.events.lines().zip(&run.expected).zip(printed);
        for (at, ((event, expected), printed)) in events.enumerate() {
            let (cwnd, ssthresh) = (printed[0], printed[1]);
            let off = |rust: f64, c: f64| {
                rust - c > rust * expected.segments * ROUNDING + FLOATING || c - rust > FLOATING
            };
            assert!(
                !off(expected.cwnd, cwnd) && !off(expected.ssthresh, ssthresh),
                "{name}, seed {seed}, event {at}, {event}: {expected:?}, C has {cwnd} {ssthresh}"
            );
        }
        run.covers(name);
    }
}

/// What the Rust control has after an event.
#[derive(Debug)]
struct Expected {
    cwnd: f64,
    ssthresh: f64,
    /// Segments acknowledged so far.
    segments: f64,
}

/// A connection over a path of changing delay. Segment 0 is the SYN, as in the kernel's sequence numbers.
struct Run {
    control: Box<dyn Controller>,
    draw: Draw,
    events: String,
    expected: Vec<Expected>,
    now_us: u64,
    acked: u64,
    next: u64,
    propagation_us: u64,
    /// The newest acknowledgement that echoed CI.
    ci: Option<u64>,
    acks: u64,
    /// The window was changed by a part of a segment since a loss.
    broken: bool,
    timeouts: u32,
    grew: bool,
    slow_starts: bool,
}

impl Run {
    fn new(name: &str, seed: u64) -> Run {
        let control = congestion::find(name).expect("a control");
        let rules = Rules {
            modern: true,
            phantom_rtt: false,
            exact_halving: false,
            fixed_point: false,
        };
        let factory = (control.factory)(&Settings::defaults(control), rules);
        let initial_window: u64 = if seed.is_multiple_of(2) { 10 } else { 2 };
        let mut run = Run {
            control: factory.build(&Limits {
                initial_window: initial_window as f64,
                initial_ssthresh: f64::INFINITY,
                max_cwnd: Some(f64::from(MOST)),
                ..Limits::default()
            }),
            draw: Draw(seed),
            events: format!("start {initial_window} {}\nsent 1000\n", octet(1)),
            expected: Vec::new(),
            now_us: 1000,
            acked: 1,
            next: 1 + initial_window,
            propagation_us: 20_000,
            ci: None,
            acks: 0,
            broken: false,
            timeouts: 0,
            grew: false,
            slow_starts: false,
        };
        run.control.on_sent(Instant::from_micros(run.now_us), 0);
        // Vegas in Rust has its initial window from the first acknowledgement on.
        let first = || Expected {
            cwnd: initial_window as f64,
            ssthresh: NO_THRESHOLD,
            segments: 0.0,
        };
        run.expected.extend([first(), first()]);
        if initial_window == 2 {
            // The first segments are lost.
            run.time_out();
        }
        run.now_us += run.propagation_us;
        run
    }

    fn finish(mut self) -> Run {
        self.acknowledge();
        while self.acks < ACKS {
            self.now_us += self.draw.within(50, 3000);
            match self.draw.within(0, 1000) {
                _ if self.is_near(self.control.ssthresh()) => self.time_out(),
                // Vegas in Rust does not cut soon after the first segment was lost, as the simulator does not.
                0..8 if self.now_us > SETTLED_US && !self.is_near(self.control.cwnd().round()) => {
                    self.lose()
                }
                8..10 => self.time_out(),
                10..14 => self.propagation_us = self.draw.within(5_000, 80_000),
                _ => self.acknowledge(),
            }
        }
        self
    }

    /// Fails if the run did not come by what it is to compare.
    fn covers(&self, name: &str) {
        let verdicts = self.control.verdicts();
        assert!(self.timeouts > 5 && self.grew && self.slow_starts, "{name}");
        if name == "redvegas" {
            assert!(
                verdicts.random > 5 && verdicts.congestion > 5,
                "{verdicts:?}"
            );
        }
    }

    /// Whether only what floating point or fixed point lost decides if the window reaches `edge`.
    fn is_near(&self, edge: f64) -> bool {
        self.broken && (self.control.cwnd() - edge).abs() < 0.001
    }

    fn window(&self) -> u64 {
        (self.control.cwnd() as u64).max(1)
    }

    /// The window is full, or the application has no data.
    fn send(&mut self) {
        let window = self.window();
        if self.draw.percent(90) {
            self.next = self.next.max(self.acked + window);
        }
        self.next = self.next.max(self.acked + 1);
        // At the edge of growth, floating point decides by what it lost.
        let ahead = |next: u64| self.control.cwnd() - (next - self.acked) as f64;
        while ahead(self.next).fract().abs() < 0.001 && ahead(self.next) > 0.0 {
            self.next += 1;
        }
    }

    fn acknowledge(&mut self) {
        self.send();
        let most = if self.draw.percent(5) { 6 } else { 2 };
        let newly = self.draw.within(1, most + 1).min(self.next - self.acked);
        self.acked += newly;
        let (forward, backward) = (self.draw.within(0, 15_000), self.draw.within(0, 15_000));
        let jitter = self.draw.within(0, 300);
        let measured = self.propagation_us + forward + backward + jitter;
        let rtt_us = if self.draw.percent(90) { measured } else { 0 };
        let unused = self.draw.percent(10);
        let mut feedback = draw_marks(&mut self.draw, self.acked, forward, backward);
        let ci_echo = self.draw.percent(3) && feedback.acked == self.acked;
        if self.acks == 0 {
            // The start has an RTT, as the first segment was sent once.
            feedback.carried = 0;
        }
        let ack = AckEvent {
            now: Instant::from_micros(self.now_us),
            acked: self.acked,
            newly_acked: newly,
            newly_delivered: newly,
            next: self.next,
            in_flight: self.next - self.acked,
            rtt: (rtt_us > 0).then(|| Duration::from_micros(rtt_us)),
            window_unused: unused,
            ci_echo,
            ..feedback.event(self.acked)
        };
        let before = self.control.cwnd();
        self.control.on_ack(&ack);
        self.grew |= self.control.cwnd() > before;
        self.slow_starts |= self.control.cwnd() >= before + 1.0;
        self.broken |= (self.control.cwnd() - before).fract() != 0.0;
        if ci_echo {
            self.ci = Some(self.acked);
        }
        self.acks += 1;
        let now_us = self.now_us;
        self.note(format_args!(
            "ack {} {} {} {MSS} {newly} {} {MOST} {rtt_us} {} {} {} {} {} {} 0 0 0 0",
            now_us,
            octet(self.acked),
            octet(self.next),
            self.next - self.acked,
            u8::from(unused),
            octet(feedback.acked),
            feedback.carried,
            feedback.forward_us,
            feedback.backward_us,
            feedback.mrai,
        ));
    }

    /// A loss, a recovery with acknowledgements, and its end.
    fn lose(&mut self) {
        if self.draw.percent(40) {
            // A refused packet marks the queue.
            self.ci = Some(self.acked);
            self.control.on_duplicate_ack(&AckEvent {
                now: Instant::from_micros(self.now_us),
                acked: self.acked,
                ci_echo: true,
                ..AckEvent::default()
            });
        }
        let window = self.window();
        self.broken = false;
        self.control.on_loss(&LossEvent {
            now: Instant::from_micros(self.now_us),
            evidence: Evidence::Time,
            lost: self.acked,
            sent_at: Some(Instant::from_micros(self.now_us - 1)),
            transmissions: 1,
            duplicates: 0,
            window,
        });
        let now_us = self.now_us;
        self.note(format_args!(
            "loss {} {} {MSS} {window} {} {}",
            now_us,
            octet(self.acked),
            self.ci.map_or(0, octet),
            u8::from(self.ci.is_some()),
        ));
        self.next = self.next.max(self.acked + 1);
        let until = self.next;
        while self.acked < until {
            self.acked += self.draw.within(1, until - self.acked + 1);
            self.now_us += self.draw.within(50, 3000);
            self.control.on_partial_ack(&AckEvent {
                now: Instant::from_micros(self.now_us),
                acked: self.acked,
                newly_acked: 1,
                next: self.next,
                ..AckEvent::default()
            });
            self.next += self.draw.within(0, 2);
        }
        self.control.on_recovered(Instant::from_micros(self.now_us));
        self.note(format_args!("recovered"));
        self.acknowledge();
    }

    fn time_out(&mut self) {
        let window = self.window();
        self.timeouts += 1;
        self.broken = false;
        self.now_us += 200_000;
        self.control.on_timeout(&TimeoutEvent {
            now: Instant::from_micros(self.now_us),
            window,
        });
        self.note(format_args!("timeout {window}"));
        let segment = if self.acks == 0 { 0 } else { self.acked };
        self.control
            .on_sent(Instant::from_micros(self.now_us), segment);
        self.note(format_args!("sent {}", self.now_us as u32));
    }

    fn note(&mut self, event: std::fmt::Arguments<'_>) {
        writeln!(self.events, "{event}").expect("a string");
        self.expected.push(Expected {
            cwnd: self.control.cwnd(),
            ssthresh: self.control.ssthresh().min(NO_THRESHOLD),
            segments: self.acked as f64,
        });
    }
}

/// The newest packet's marks: of this acknowledgement, or of one before or after.
fn draw_marks(draw: &mut Draw, acked: u64, forward_us: u64, backward_us: u64) -> Marks {
    let mut mark = |time_us| match draw.within(0, 100) {
        0..3 => AQT_MAX_US,
        3..6 => 1_000_000,
        _ => time_us,
    };
    let (forward_us, backward_us) = (mark(forward_us), mark(backward_us));
    let carried = match draw.within(0, 100) {
        0..80 => MARK_AQT | MARK_DRAI,
        80..90 => MARK_AQT,
        _ => MARK_DRAI,
    };
    Marks {
        acked: match draw.within(0, 100) {
            0..10 => acked - 1,
            10..20 => acked + 1,
            _ => acked,
        },
        carried,
        forward_us,
        backward_us,
        // Low indices more often, as the window would else stay at its limit.
        mrai: [0, 1, 1, 2, 2, 2, 3, 3, 4, 5, 6][draw.within(0, 11) as usize],
    }
}
