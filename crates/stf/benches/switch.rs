//! Packets per second on one core, from octets to octets: one packet in and out of the switch per round.
//! What is measured is the processor's time, so that what else the machine does matters little.
//!
//! It is here, and not with the switch, because the programs are P4 text.

#[path = "../tests/support/mod.rs"]
mod support;

use cpu_time::ThreadTime;
use criterion::measurement::{Measurement, ValueFormatter, WallTime};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use engine::{Match, Packet, Switch, SwitchConfig};
use std::path::Path;
use units::Instant;

/// The time that this thread has had a processor.
struct CpuTime;

impl Measurement for CpuTime {
    type Intermediate = ThreadTime;
    type Value = std::time::Duration;

    fn start(&self) -> ThreadTime {
        ThreadTime::now()
    }

    fn end(&self, start: ThreadTime) -> Self::Value {
        start.elapsed()
    }

    fn add(&self, a: &Self::Value, b: &Self::Value) -> Self::Value {
        *a + *b
    }

    fn zero(&self) -> Self::Value {
        std::time::Duration::ZERO
    }

    fn to_f64(&self, value: &Self::Value) -> f64 {
        WallTime.to_f64(value)
    }

    fn formatter(&self) -> &dyn ValueFormatter {
        WallTime.formatter()
    }
}

/// AQT of 8 octets, then AVBW-S of 4.
const MARKS: [u8; 12] = [0x5e, 8, 0, 0, 0, 0, 0, 0, 0xde, 4, 0xff, 0];

fn p4src(main: &str) -> p4_ir::Program {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../p4src/v1model")
        .join(main);
    support::compile(&path).unwrap_or_else(|why| panic!("{why}"))
}

const HOST: [u8; 4] = [10, 0, 2, 20];

/// An Ethernet frame with an IPv4 header (RFC 791) that has these options.
fn frame(to: [u8; 4], options: &[u8], payload: usize) -> Vec<u8> {
    let mut header = vec![
        0x45 + options.len() as u8 / 4,
        0,
        0,
        0,
        0x1c,
        0x46,
        0x40,
        0,
        64,
        6,
        0,
        0,
    ];
    header.extend([10, 0, 1, 10]);
    header.extend(to);
    header.extend(options);
    let total = (header.len() + payload) as u16;
    header[2..4].copy_from_slice(&total.to_be_bytes());
    let words = header
        .chunks(2)
        .map(|w| u16::from_be_bytes([w[0], w[1]]) as u32);
    let sum: u32 = words.sum();
    let sum = (sum & 0xffff) + (sum >> 16);
    header[10..12].copy_from_slice(&(!(sum as u16)).to_be_bytes());
    let mut frame = vec![2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 1, 10, 8, 0];
    frame.extend(header);
    frame
}

/// The frame's payload of zeros is held, as on an interface.
fn whole(mut frame: Vec<u8>) -> Vec<u8> {
    frame.resize(1514, 0);
    frame
}

/// Sends a frame through, again and again, of which `elided` octets are only counted; every time it must come out of
/// port 2.
fn measure(
    c: &mut Criterion<CpuTime>,
    name: &str,
    mut switch: Switch,
    (frames, elided): (&[Vec<u8>], u32),
) {
    let mut group = c.benchmark_group("switch");
    group.throughput(Throughput::Elements(1));
    let mut ns = 0;
    let mut frames = frames.iter().cycle();
    group.bench_function(name, |b| {
        b.iter(|| {
            let mut octets = switch.buffer();
            octets.extend_from_slice(frames.next().expect("a cycle has no end"));
            let packet = Packet {
                elided,
                link_octets: 1040,
                octets,
                tag: ns,
            };
            ns += 1000;
            let now = Instant::from_nanos(ns);
            switch.handle_packet(now, 1, packet);
            let sent = switch.poll_transmit(now).expect("the packet is forwarded");
            assert_eq!(sent.port, 2);
            switch.recycle(sent.packet);
        });
    });
}

fn routed(main: &str) -> Switch {
    let mut switch = Switch::new(&p4src(main), SwitchConfig::default()).expect("a v1model program");
    let add = |switch: &mut Switch,
               table: &str,
               matches: &[(&str, Match)],
               action,
               args: &[(&str, u64)]| {
        let args: Vec<_> = args
            .iter()
            .map(|&(name, value)| (name, value.into()))
            .collect();
        let priority = u32::from(table == "drai");
        switch
            .add(table, matches, priority, action, &args)
            .unwrap_or_else(|why| panic!("{why}"));
    };
    let port = ("port", Match::exact(2u8));
    let host = Match::exact(0x0a00_0214u32);
    add(
        &mut switch,
        "ipv4_route",
        &[("dst_addr", Match::lpm(0x0a00_0214u32, 32))],
        "direct",
        &[("port", 2)],
    );
    let addresses = [("src_addr", 2), ("dst_addr", 3)];
    add(
        &mut switch,
        "neighbour",
        &[port.clone(), ("next_hop", host)],
        "rewrite",
        &addresses,
    );
    add(
        &mut switch,
        "port_queue",
        std::slice::from_ref(&port),
        "drop_tail",
        &[("max_waiting", 49)],
    );
    if main == "waymark.p4" {
        let on = [("aqt", 1), ("drai", 1), ("ci", 1), ("window_log2", 18)];
        add(
            &mut switch,
            "port_feedback",
            std::slice::from_ref(&port),
            "set_feedback",
            &on,
        );
        for index in 1..=6u64 {
            let low = (6 - index) * 20_000;
            let octets = ("window_octets", Match::range(low, low + 19_999));
            add(
                &mut switch,
                "drai",
                &[port.clone(), octets],
                "set_index",
                &[("index", index)],
            );
        }
    }
    switch
}

fn benches(c: &mut Criterion<CpuTime>) {
    // As in Python's module, `WAYMARK_JIT=0` has programs interpreted.
    if std::env::var("WAYMARK_JIT").is_ok_and(|value| value == "0") {
        println!("interpreted");
    } else {
        p4_jit::install();
    }
    let plain = frame(HOST, &[], 1000);
    measure(
        c,
        "plain.p4",
        routed("plain.p4"),
        (std::slice::from_ref(&plain), 1000),
    );

    let mut switch = routed("plain.p4");
    // Prefixes of 11 to 28 bits that none of the packets sent matches better than the route to the host.
    let prefixes: std::collections::BTreeSet<_> = (0..1_000u32)
        .map(|i| {
            let length = 11 + i % 18;
            let value = i.wrapping_mul(2_654_435_761) >> (32 - length) << (32 - length);
            (value, length)
        })
        .collect();
    for (value, length) in prefixes {
        let to = [("port", 3u8.into())];
        let matches = [("dst_addr", Match::lpm(value, length))];
        switch
            .add("ipv4_route", &matches, 0, "direct", &to)
            .unwrap_or_else(|why| panic!("{why}"));
    }
    measure(
        c,
        "plain.p4, 1000 routes",
        switch,
        (std::slice::from_ref(&plain), 1000),
    );

    measure(
        c,
        "waymark.p4, no options",
        routed("waymark.p4"),
        (&[plain], 1000),
    );
    let marks = frame(HOST, &MARKS, 1000);
    measure(
        c,
        "waymark.p4, AQT and AVBW-S",
        routed("waymark.p4"),
        (std::slice::from_ref(&marks), 1000),
    );
    measure(
        c,
        "waymark.p4, AQT and AVBW-S, 1500 octets held",
        routed("waymark.p4"),
        (&[whole(frame(HOST, &MARKS, 1460))], 0),
    );

    let mut switch = routed("csig.p4");
    switch
        .add(
            "csig_insertion",
            &[("port", Match::exact(1u8))],
            0,
            "insert",
            &[("signal", 2u8.into())],
        )
        .unwrap_or_else(|why| panic!("{why}"));
    measure(
        c,
        "csig.p4, tag inserted, 1500 octets held",
        switch,
        (&[whole(frame(HOST, &[], 1480))], 0),
    );

    many_destinations(c);

    let few = [
        0xffff_ff00u32,
        0xffff_0000,
        0xff00_ffff,
        0xffff_ffff,
        0x00ff_ff0f,
    ];
    let few = few.into_iter().cycle().take(500);
    // Odd multiples of an odd number differ in their low bits.
    let each = (0..500u32).map(|i| (2 * i + 1).wrapping_mul(0x9e37_79b9));
    ternary(c, "500 ternary entries", few);
    ternary(c, "500 ternary entries, each its mask", each);

    for count in [5_000, 20_000] {
        compiling(c, "exact", count, |i| {
            i.wrapping_mul(0x9e37_79b9).to_string()
        });
        compiling(c, "ternary", count, |i| {
            let mask = (2 * i + 1).wrapping_mul(0x9e37_79b9);
            format!("{} &&& {mask}", i.wrapping_mul(2_654_435_761) & mask)
        });
    }
}

/// Packets to 1,000 hosts behind a router, one after another: more keys than a table
/// keeps next to its index.
fn many_destinations(c: &mut Criterion<CpuTime>) {
    let host = |i: u32| (0x0b00_0000 + i.wrapping_mul(0x9e37_79b9) % 0x0100_0000).to_be_bytes();
    let mut switch = routed("waymark.p4");
    for i in 0..1_000 {
        let to = u32::from_be_bytes(host(i));
        switch
            .add(
                "ipv4_route",
                &[("dst_addr", Match::lpm(to, 32))],
                0,
                "via",
                &[("port", 2u8.into()), ("next_hop", 0x0a00_0214u32.into())],
            )
            .unwrap_or_else(|why| panic!("{why}"));
    }
    let frames: Vec<_> = (0..1_000).map(|i| frame(host(i), &MARKS, 1000)).collect();
    measure(
        c,
        "waymark.p4, AQT and AVBW-S, 1000 destinations",
        switch,
        (&frames, 1000),
    );
}

/// Entries per second, from P4 text to a switch that has them. It is the same however many there are.
fn compiling(c: &mut Criterion<CpuTime>, kind: &str, count: u32, key: impl Fn(u32) -> String) {
    let entries: String = (0..count)
        .map(|i| format!("{}: send({});\n", key(i), i % 500))
        .collect();
    let text = format!(
        "#include <core.p4>\n#include <v1model.p4>\n\
         header h_t {{ bit<32> a; }} struct H {{ h_t h; }} struct M {{ }}\n\
         parser P(packet_in p, out H h, inout M m, inout standard_metadata_t s) \
         {{ state start {{ p.extract(h.h); transition accept; }} }}\n\
         control V(inout H h, inout M m) {{ apply {{}} }}\n\
         control I(inout H h, inout M m, inout standard_metadata_t s) {{\n\
         action send(bit<9> port) {{ s.egress_spec = port; }}\n\
         table t {{ key = {{ h.h.a: {kind}; }} actions = {{ send; }}\n\
         default_action = send(0); const entries = {{ {entries} }} }}\n\
         apply {{ t.apply(); }} }}\n\
         control E(inout H h, inout M m, inout standard_metadata_t s) {{ apply {{}} }}\n\
         control D(packet_out p, in H h) {{ apply {{}} }}\n\
         V1Switch(P(), V(), I(), E(), V(), D()) main;"
    );
    let folder = std::env::temp_dir().join(format!("waymark-bench-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder for the program");
    let path = folder.join("entries.p4");
    std::fs::write(&path, text).expect("the program is written");
    let mut group = c.benchmark_group("const entries");
    group.throughput(Throughput::Elements(count.into()));
    group.sample_size(10);
    group.bench_function(format!("{count} {kind}"), |b| {
        b.iter(|| {
            let program = support::compile(&path).unwrap_or_else(|why| panic!("{why}"));
            Switch::new(&program, SwitchConfig::default()).expect("a v1model program")
        });
    });
    group.finish();
    std::fs::remove_dir_all(&folder).expect("it was there");
}

/// A table with an entry for each mask; few packets match one.
fn ternary(c: &mut Criterion<CpuTime>, name: &str, masks: impl Iterator<Item = u32>) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/ternary.p4");
    let program = support::compile(&path).unwrap_or_else(|why| panic!("{why}"));
    let mut switch = Switch::new(&program, SwitchConfig::default()).expect("a v1model program");
    for (i, mask) in (0u32..).zip(masks) {
        let value = i.wrapping_mul(2_654_435_761) & mask;
        let matches = [
            ("src", Match::ternary(value, mask)),
            ("low", Match::range(i % 100, 1000 + i)),
        ];
        // Two may be the same entry.
        let _ = switch.add("acl", &matches, 1 + i, "deny", &[]);
    }
    let frames: Vec<_> = (0..64u32)
        .map(|i| {
            let mut octets = i.wrapping_mul(0x9e37_79b9).to_be_bytes().to_vec();
            octets.extend([0, 0, 0, i as u8]);
            octets
        })
        .collect();
    measure(c, name, switch, (&frames, 1000));
}

criterion_group! {
    name = switch;
    config = Criterion::default().with_measurement(CpuTime);
    targets = benches
}
criterion_main!(switch);
