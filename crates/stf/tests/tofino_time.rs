//! The controls of `p4src/controls/tna` that only compute, on v1model: how long a packet waited, and which window it is in.

mod support;

use engine::{Packet, Switch, SwitchConfig};
use std::path::Path;
use units::Instant;

struct Hop(Switch);

impl Hop {
    fn new() -> Hop {
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        let main = here.join("tests/programs/tofino_time.p4");
        let program = support::compile(&main).expect("a program");
        Hop(Switch::new(&program, SwitchConfig::default()).expect("a v1model program"))
    }

    /// The words of `io_h` from `waited_us` on, for a packet that arrived and left at these times.
    fn words(&mut self, arrived_ns: u64, now_ns: u64) -> [u32; 4] {
        let mut octets = Vec::new();
        for word in [arrived_ns >> 8, now_ns >> 8, 0, 0, 0, 0] {
            octets.extend((word as u32).to_be_bytes());
        }
        let packet = Packet {
            link_octets: octets.len() as u32,
            elided: 0,
            octets: octets.into(),
            tag: 0,
        };
        self.0.handle_packet(Instant::ZERO, 0, packet);
        let sent = self.0.poll_transmit(Instant::ZERO).expect("it is sent");
        std::array::from_fn(|word| {
            let at = 8 + 4 * word;
            let octets = sent.packet.octets[at..at + 4].try_into();
            u32::from_be_bytes(octets.expect("four octets"))
        })
    }
}

/// Pseudo-random numbers: the same in each run.
fn draws() -> impl Iterator<Item = u64> {
    let mut state = 1_u64;
    std::iter::repeat_with(move || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        state >> 16
    })
}

#[test]
fn waiting_time_is_within_a_microsecond_and_300_ppm() {
    let mut hop = Hop::new();
    let mut draws = draws();
    for exponent in 0..34 {
        for _ in 0..300 {
            // Up to 17 s, also on both sides of where ticks wrap.
            let waited_ns = draws.next().expect("endless") % (2 << exponent);
            let arrived_ns = draws.next().expect("endless") % (1 << 41);
            let [waited_us, ..] = hop.words(arrived_ns, arrived_ns + waited_ns);
            let true_us = waited_ns as f64 / 1e3;
            let error_us = (f64::from(waited_us) - true_us).abs();
            assert!(
                error_us <= 1.0 + 0.0003 * true_us,
                "{waited_ns} ns from {arrived_ns}: {waited_us} µs"
            );
        }
    }
}

#[test]
fn each_window_finds_its_own_and_the_one_before() {
    let mut hop = Hop::new();
    let length = 1_u64 << 25; // ns: 2^15 · 1.024 µs
    // The last windows before ticks wrap, and the first after it.
    for number in [
        0,
        1,
        2,
        7,
        (1 << 15) - 2,
        (1 << 15) - 1,
        1 << 15,
        (1 << 15) + 1,
    ] {
        let start = |number: u64| (number.wrapping_mul(length) >> 8) as u32;
        for within in [0, length / 2, length - 256] {
            let [_, even, odd, is_odd] = hop.words(0, number * length + within);
            let before = number.wrapping_sub(1);
            assert_eq!(is_odd != 0, number % 2 == 1, "window {number}");
            let (even_number, odd_number) = if is_odd == 0 {
                (number, before)
            } else {
                (before, number)
            };
            assert_eq!(even, start(even_number), "window {number}");
            assert_eq!(odd, start(odd_number.wrapping_add(1)), "window {number}");
        }
    }
}
