//! The controls in C (`hosts/ebpf`) behind a program that reads events, and what its judges draw them from.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use congestion::{AckEvent, QueueingTime};
use units::Duration;

pub const MSS: u32 = 1448;
/// A fixed-point 1 (`hosts/ebpf/event.h`).
pub const ONE: f64 = (1_u64 << 28) as f64;
pub const AQT_MAX_US: u64 = 0xFF_FFFF;
pub const MARK_AQT: u8 = 1;
pub const MARK_DRAI: u8 = 2;
/// So that octets wrap.
const FIRST_OCTET: u32 = u32::MAX - 2_000_000;

/// The control behind a program that reads events and prints windows.
pub fn compile(name: &str) -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("replay-{name}"));
    let compiler = env::var("CC").unwrap_or_else(|_| "cc".to_owned());
    let status = Command::new(&compiler)
        .args([
            "-O2",
            "-Wall",
            "-Wextra",
            "-Wno-unused-parameter",
            "-Werror",
        ])
        .arg(format!("-DCONTROL=\"{name}.h\""))
        .arg("-I")
        .arg(here.join("../../hosts/ebpf"))
        .arg(here.join("tests/replay/replay.c"))
        .arg("-o")
        .arg(&program)
        .status()
        .unwrap_or_else(|error| panic!("{compiler}: {error}"));
    assert!(status.success(), "{compiler} refused {name}.h");
    program
}

/// The window, the threshold and, of a control that paces, the rate after each event.
pub fn replay(program: &Path, events: &str) -> Vec<Vec<f64>> {
    let input = program.with_extension("events");
    fs::write(&input, events).expect("a file for events");
    let output = Command::new(program)
        .stdin(Stdio::from(fs::File::open(&input).expect("the events")))
        .output()
        .expect("the program runs");
    assert!(output.status.success(), "an event is not understood");
    let fixed = |word: &str| word.parse::<u64>().expect("a number") as f64 / ONE;
    String::from_utf8_lossy(&output.stdout)
        .lines()
        .map(|line| line.split(' ').map(fixed).collect())
        .collect()
}

/// The first octet of a segment.
pub fn octet(segment: u64) -> u32 {
    FIRST_OCTET.wrapping_add((segment as u32).wrapping_mul(MSS))
}

/// What a packet's marks say, and which acknowledgement they belong to.
pub struct Marks {
    pub acked: u64,
    /// `MARK_AQT`, `MARK_DRAI`.
    pub carried: u8,
    pub forward_us: u64,
    pub backward_us: u64,
    pub mrai: u8,
}

impl Marks {
    /// The marks of an acknowledgement of `acked` segments.
    pub fn event(&self, acked: u64) -> AckEvent {
        let known = |time_us: u64| match self.acked == acked && time_us < AQT_MAX_US {
            true => QueueingTime::Exactly(Duration::from_micros(time_us)),
            false => QueueingTime::AtLeast(Duration::from_micros(AQT_MAX_US)),
        };
        let carries = |mark| self.acked >= acked && self.carried & mark != 0;
        AckEvent {
            aqt_echo: carries(MARK_AQT).then(|| known(self.forward_us)),
            aqt_backward: carries(MARK_AQT).then(|| known(self.backward_us)),
            mrai: Some(self.mrai).filter(|index| carries(MARK_DRAI) && *index > 0),
            ..AckEvent::default()
        }
    }
}

/// SplitMix64.
pub struct Draw(pub u64);

impl Draw {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// From `low` to less than `high`.
    pub fn within(&mut self, low: u64, high: u64) -> u64 {
        low + self.next() % (high - low)
    }

    pub fn percent(&mut self, chance: u64) -> bool {
        self.within(0, 100) < chance
    }
}
