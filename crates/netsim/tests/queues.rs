//! What the programs do to packets that wait: RED before the queue, CI in it. One switch, whose line is
//! held by hand.

#[path = "common/lab.rs"]
#[allow(dead_code, reason = "without its networks")]
mod lab;

use engine::{Match, Packet, PortConfig, Switch, SwitchConfig};
use num_bigint::BigUint;
use units::{Duration, Instant, Rate};

/// The port whose queue is looked at.
const OUT: u16 = 2;
/// Causes of drops and kinds of marks, as `p4src/include/types.p4` numbers them.
const QUEUE_FULL: u64 = 5;
const RED: u64 = 6;
const CI: u64 = 2;
/// 1, with the 16 fractional bits of RED's average.
const ONE: u64 = 1 << 16;
/// How long the line takes for a packet.
const SERVICE: Duration = Duration::from_millis(1);

/// ECN fields that CI uses.
const NOT_CAPABLE: u8 = 0b00;
const CAPABLE: u8 = 0b10;
const EXPERIENCED: u8 = 0b11;

/// A switch whose clock moves only when a test says so, so that waiting packets stay.
struct Hop {
    switch: Switch,
    now: Instant,
}

impl Hop {
    fn new(program: &str) -> Hop {
        let pipeline = lab::programs(&[program])[program].clone();
        let mut switch = Switch::with_pipeline(pipeline, SwitchConfig::default());
        let line = PortConfig {
            rate: Rate::from_bps(40 * 8 * 1000),
            ..PortConfig::default()
        };
        switch.set_port(OUT, line);
        let now = Instant::ZERO;
        let mut hop = Hop { switch, now };
        let any = ("dst_addr", Match::lpm(0u32, 0));
        hop.add("ipv4_route", &[any], "direct", &[("port", OUT.into())]);
        let neighbour = [
            ("port", Match::exact(OUT)),
            ("next_hop", Match::exact(0x0a00_0002_u32)),
        ];
        let mac = 0x0200_0000_0001_u64;
        let macs = [("src_addr", mac), ("dst_addr", mac)];
        hop.add("neighbour", &neighbour, "rewrite", &macs);
        hop
    }

    fn add(&mut self, table: &str, keys: &[(&str, Match)], action: &str, args: &[(&str, u64)]) {
        let ranged = keys.iter().any(|key| matches!(key.1, Match::Range { .. }));
        let args: Vec<_> = args
            .iter()
            .map(|&(name, value)| (name, BigUint::from(value)))
            .collect();
        self.switch
            .add(table, keys, ranged.into(), action, &args)
            .unwrap();
    }

    fn limit(&mut self, max_waiting: u64) {
        let port = [("port", Match::exact(OUT))];
        let limit = [("max_waiting", max_waiting)];
        self.add("port_queue", &port, "drop_tail", &limit);
    }

    fn weigh(&mut self, w: u64) {
        let port = [("port", Match::exact(OUT))];
        self.add("red_weight", &port, "average_occupancy", &[("w", w)]);
    }

    /// What RED does while its average is in a range, both ends included.
    fn red(&mut self, average: (u64, u64), action: &str, args: &[(&str, u64)]) {
        let range = Match::range(average.0, average.1);
        let keys = [("port", Match::exact(OUT)), ("average", range)];
        self.add("red", &keys, action, args);
    }

    fn mark_ci(&mut self) {
        let port = [("port", Match::exact(OUT))];
        let marks = [("aqt", 0), ("drai", 0), ("ci", 1), ("window_log2", 0)];
        self.add("port_feedback", &port, "set_feedback", &marks);
    }

    fn arrive(&mut self, ecn: u8) {
        self.switch.handle_packet(self.now, 1, ipv4(ecn));
    }

    /// ECN fields of what leaves while `packets` are served.
    fn serve(&mut self, packets: u32) -> Vec<u8> {
        self.now += SERVICE * u64::from(packets);
        let mut ecn = Vec::new();
        while let Some(sent) = self.switch.poll_transmit(self.now) {
            ecn.push(sent.packet.octets[15] & 0b11);
        }
        ecn
    }

    fn waiting(&self) -> u32 {
        self.switch.queue_depth(OUT, 0)
    }

    /// Packets refused for a cause, since the switch began.
    fn dropped(&self, cause: u64) -> u64 {
        let drops = self.switch.object("drops").unwrap();
        let cell = self
            .switch
            .counter_read(drops, 8 * u64::from(OUT) + cause)
            .unwrap();
        cell.packets
    }

    fn marks(&self, kind: u64) -> u64 {
        let marks = self.switch.object("marks").unwrap();
        let cell = self
            .switch
            .counter_read(marks, 4 * u64::from(OUT) + kind)
            .unwrap();
        cell.packets
    }

    /// RED's average, in packets.
    fn average(&self) -> f64 {
        let register = self.switch.object("red_average").unwrap();
        let average = self
            .switch
            .register_read(register, 8 * u64::from(OUT))
            .unwrap();
        u64::try_from(average).unwrap() as f64 / ONE as f64
    }
}

/// 40 octets from 10.0.0.1 to 10.0.0.2.
fn ipv4(ecn: u8) -> Packet {
    let mut octets = vec![2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0];
    octets.extend([0x45, ecn, 0, 26, 0, 0, 0, 0, 64, 253, 0, 0, 10, 0, 0, 1]);
    octets.extend([10, 0, 0, 2]);
    let sum = octets[14..]
        .chunks(2)
        .map(|pair| u32::from(pair[0]) << 8 | u32::from(pair[1]))
        .sum::<u32>();
    let sum = !((sum & 0xffff) + (sum >> 16)) as u16;
    octets[24..26].copy_from_slice(&sum.to_be_bytes());
    octets.resize(40, 0);
    Packet::new(octets)
}

/// Of `arrivals` at a queue that stays full of 10, those that RED drops, whose table has one entry, for an
/// average of 10. It sees each before the limit does, and with w = 0 the occupancy is its average.
fn early_drops(program: &str, arrivals: u64, action: &str, args: &[(&str, u64)]) -> u64 {
    let mut hop = Hop::new(program);
    hop.limit(10);
    hop.weigh(0);
    hop.red((10 * ONE, 10 * ONE), action, args);
    for _ in 0..11 + arrivals {
        hop.arrive(NOT_CAPABLE);
    }
    assert_eq!(hop.waiting(), 10);
    assert_eq!(hop.dropped(RED) + hop.dropped(QUEUE_FULL), arrivals);
    hop.dropped(RED)
}

#[test]
fn red_drops_none_at_one_end_and_all_at_the_other() {
    let never = [("probability", 0)];
    for program in ["red", "waymark"] {
        assert_eq!(early_drops(program, 1_000, "drop_some", &never), 0);
        assert_eq!(early_drops(program, 1_000, "drop_all", &[]), 1_000);
    }
}

#[test]
fn red_drops_as_often_as_the_table_says() {
    const ARRIVALS: u64 = 50_000;
    for probability in [655, 2_184, 6_554, 32_768, 58_982] {
        let dropped = early_drops(
            "red",
            ARRIVALS,
            "drop_some",
            &[("probability", probability)],
        );
        let p = probability as f64 / 65_536.0;
        let expected = p * ARRIVALS as f64;
        // Draws are independent: a binomial count, which leaves 4 deviations once in 16,000.
        let deviation = (expected * (1.0 - p)).sqrt();
        let off = (dropped as f64 - expected) / deviation;
        assert!(off.abs() < 4.0, "{dropped} of {ARRIVALS} at {p}: {off}");
    }
}

#[test]
fn spaced_drops_are_once_to_twice_the_inverse_apart() {
    // 1/20 and a little more: the 20th arrival is the first to be drawn for, and hardly any is the
    // 40th, which is dropped for certain.
    const ODDS: u64 = 3_277;
    const DROPS: u64 = 4_000;
    let mut hop = Hop::new("red");
    hop.limit(10);
    hop.weigh(0);
    hop.red(
        (10 * ONE, 10 * ONE),
        "drop_spaced",
        &[("probability", ODDS)],
    );
    for _ in 0..11 {
        hop.arrive(NOT_CAPABLE);
    }
    let mut seen = [0_u64; 41];
    let mut gap = 0;
    while hop.dropped(RED) < DROPS {
        let before = hop.dropped(RED);
        hop.arrive(NOT_CAPABLE);
        gap += 1;
        if hop.dropped(RED) > before {
            seen[std::mem::take(&mut gap)] += 1;
        }
    }
    assert_eq!(seen[..20], [0; 20]);
    assert!(seen[40] <= 10, "{}", seen[40]);
    let expected = DROPS as f64 / 20.0;
    for (gap, &count) in seen.iter().enumerate().take(40).skip(20) {
        let off = (count as f64 - expected) / expected.sqrt();
        assert!(off.abs() < 4.0, "{count} gaps of {gap}: {off}");
    }
}

#[test]
fn spaced_drops_are_certain_at_a_probability_of_one_and_none_of_a_short_queue() {
    let certain = [("probability", 1 << 16)];
    let first = early_drops("red", 1_000, "drop_spaced", &certain);
    assert_eq!(first, 999, "the first to be drawn for is spared");
    let mut hop = Hop::new("red");
    hop.weigh(0);
    hop.red((0, (1 << 48) - 1), "drop_spaced", &certain);
    for _ in 0..5 {
        hop.arrive(NOT_CAPABLE);
    }
    // One in service, two wait: the second of them was the first to find a queue of one.
    assert_eq!((hop.waiting(), hop.dropped(RED)), (3, 1));
}

#[test]
fn red_looks_its_probability_up_by_the_average() {
    // thmin 2, thmax 4: below, in between at ¾, above. The queue grows by what it admits.
    let mut hop = Hop::new("red");
    hop.weigh(0);
    hop.red((2 * ONE, 3 * ONE - 1), "drop_some", &[("probability", 0)]);
    hop.red((3 * ONE, 4 * ONE), "drop_some", &[("probability", 3 << 14)]);
    hop.red((4 * ONE + 1, (1 << 48) - 1), "drop_all", &[]);
    for _ in 0..1_000 {
        hop.arrive(NOT_CAPABLE);
    }
    // At an occupancy of 4 one more is admitted in the end, at 5 none.
    assert_eq!(hop.waiting(), 5);
    assert_eq!(hop.dropped(RED), 1_000 - 6);
    assert_eq!(hop.dropped(QUEUE_FULL), 0);
}

#[test]
fn red_averages_the_occupancy_at_each_arrival() {
    const W: u32 = 9;
    let mut hop = Hop::new("red");
    hop.limit(20);
    hop.weigh(u64::from(W));
    let mut expected = 0.0;
    let mut arrive = |hop: &mut Hop, arrivals: u32| {
        for _ in 0..arrivals {
            expected += (f64::from(hop.waiting()) - expected) / f64::from(1u32 << W);
            hop.arrive(NOT_CAPABLE);
            // 16 bits behind the point: a shift loses less than 2^-16 each time, 2^(w-16) in the end.
            let off = hop.average() - expected;
            assert!(
                off.abs() < 1.0 / f64::from(1u32 << (16 - W)),
                "{} {off}",
                hop.average()
            );
        }
    };
    arrive(&mut hop, 1_500);
    assert_eq!(hop.waiting(), 20);
    // Nothing arrives while it empties, so the average stays.
    let before = hop.average();
    assert!(before > 18.0, "{before}");
    hop.serve(30);
    assert_eq!((hop.waiting(), hop.average()), (0, before));
    for _ in 0..500 {
        arrive(&mut hop, 1);
        hop.serve(2);
    }
    assert!(hop.average() < 8.0, "{}", hop.average());
}

#[test]
fn red_is_the_same_for_the_same_seed() {
    let draw = || early_drops("red", 2_000, "drop_some", &[("probability", 20_000)]);
    assert_eq!(draw(), draw());
}

#[test]
fn congestion_indication_marks_exactly_the_queued() {
    for program in ["ci", "waymark"] {
        let mut hop = Hop::new(program);
        hop.mark_ci();
        hop.limit(4);
        // One is in service, four wait, two are refused.
        for ecn in [
            CAPABLE,
            CAPABLE,
            NOT_CAPABLE,
            CAPABLE,
            0b01,
            CAPABLE,
            CAPABLE,
        ] {
            hop.arrive(ecn);
        }
        assert_eq!((hop.waiting(), hop.dropped(QUEUE_FULL)), (4, 2));
        // Two leave, then two come that were not there, and nothing is refused any more.
        let mut left = hop.serve(2);
        hop.arrive(CAPABLE);
        hop.arrive(EXPERIENCED);
        left.extend(hop.serve(10));
        let was_waiting = [EXPERIENCED, NOT_CAPABLE, EXPERIENCED, 0b01];
        assert_eq!(left[0], CAPABLE, "in service when the queue was full");
        assert_eq!(left[1..5], was_waiting);
        assert_eq!(left[5..], [CAPABLE, EXPERIENCED]);
        assert_eq!(hop.marks(CI), 2);
    }
}

#[test]
fn an_early_drop_marks_nothing() {
    let mut hop = Hop::new("waymark");
    hop.mark_ci();
    hop.limit(4);
    hop.weigh(0);
    hop.red((3 * ONE, (1 << 48) - 1), "drop_all", &[]);
    for _ in 0..10 {
        hop.arrive(CAPABLE);
    }
    assert_eq!((hop.dropped(RED), hop.dropped(QUEUE_FULL)), (6, 0));
    assert_eq!(hop.serve(10), [CAPABLE; 4]);
    assert_eq!(hop.marks(CI), 0);
}
