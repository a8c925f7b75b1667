//! v1model's extern functions and objects, by hand.

mod support;

use crc::{CRC_16_ARC, CRC_16_GENIBUS, CRC_32_BZIP2, CRC_32_ISO_HDLC, Crc};
use num_bigint::BigUint;
use p4_ir::*;
use support::*;
use units::Instant;
use v1model::{
    CounterData, CrcParameters, CrcWidth, Digest, Event, Log, MeterConfig, Packet, SwitchConfig,
    Target,
};

fn bool_const(value: bool) -> Expr {
    Expr::constant(value as u8, Scalar::Bool)
}

/// A constant of `HashAlgorithm`, in v1model's order.
fn algorithm(name: &str) -> Arg {
    let names = [
        "crc32",
        "crc32_custom",
        "crc16",
        "crc16_custom",
        "random",
        "identity",
        "csum16",
        "xor16",
    ];
    let index = names.iter().position(|n| *n == name).unwrap();
    Arg::In(Expr::constant(index as u32, Scalar::Symbol))
}

fn ab() -> Arg {
    Arg::List(vec![item(bits(A, 16), None), item(bits(B, 16), None)])
}

fn reports() -> SwitchConfig {
    SwitchConfig {
        report_digests: true,
        report_logs: true,
        ..SwitchConfig::default()
    }
}

/// hash(result, algorithm, base, {a, b}, max) into a.
fn hash(name: &str, base: u64, max: u64, a: u16, b: u16) -> u16 {
    let args = vec![
        Arg::Out(bits(A, 16)),
        algorithm(name),
        Arg::In(num(base, 16)),
        ab(),
        Arg::In(num(max, 32)),
    ];
    let build = Build::default().ingress(vec![call("hash", None, args)]);
    fields(&send(&mut build.switch(), 0, packet(a, b, 0, &[]))).0
}

#[test]
fn hashes_are_taken_modulo_and_moved() {
    // "1234": CRC-16/ARC 0x14ba, CRC-32 0x9be3e0a3 (both from the CRC catalogue's algorithm).
    let (a, b) = (u16::from_be_bytes(*b"12"), u16::from_be_bytes(*b"34"));
    assert_eq!(hash("crc16", 0, 1 << 16, a, b), 0x14ba);
    assert_eq!(hash("crc32", 0, 1 << 16, a, b), 0xe0a3);
    assert_eq!(
        hash("crc32", 100, 1000, a, b),
        (100 + 0x9be3_e0a3_u64 % 1000) as u16
    );
    assert_eq!(hash("identity", 0, 1 << 16, 0x1111, 0x2222), 0x2222);
    assert_eq!(hash("xor16", 0, 1 << 16, 0x1234, 0x0ff0), 0x1234 ^ 0x0ff0);
    // 0xffff + 0x0002 = 0x10001, folded 0x0002.
    assert_eq!(hash("csum16", 0, 1 << 16, 0xffff, 0x0002), !0x0002);
    assert_eq!(hash("crc16", 7, 0, a, b), 7);
}

/// hash(result, crc16, base, {a, b}, max), all of them wide, and the result's lower and upper 64 bits.
fn wide_hash(base: u128, max: u128) -> u128 {
    let mut build = Build::default();
    let result = build.variable(128);
    let args = vec![
        Arg::Out(result.clone()),
        algorithm("crc16"),
        Arg::In(Expr::constant(base, Scalar::Bit(128))),
        ab(),
        Arg::In(Expr::constant(max, Scalar::Bit(128))),
    ];
    let part = |lo: u32| Expr {
        kind: ExprKind::Slice {
            of: Box::new(load(&result)),
            hi: lo + 15,
            lo,
        },
        ty: Scalar::Bit(16),
    };
    let mut found = 0;
    for lo in (0..128).step_by(16) {
        let build = Build {
            program: build.program.clone(),
        };
        let read = set(bits(A, 16), part(lo));
        let build = build.ingress(vec![call("hash", None, args.clone()), read]);
        let (a, b) = (u16::from_be_bytes(*b"12"), u16::from_be_bytes(*b"34"));
        let part = fields(&send(&mut build.switch(), 0, packet(a, b, 0, &[]))).0;
        found |= u128::from(part) << lo;
    }
    found
}

#[test]
fn base_and_maximum_of_a_hash_may_be_wide() {
    // The CRC is 0x14ba.
    assert_eq!(wide_hash(0, 1 << 64), 0x14ba);
    assert_eq!(wide_hash(1 << 100, 0x1000), (1 << 100) + 0x4ba);
    assert_eq!(wide_hash(u128::MAX, u128::MAX), 0x14b9);
    assert_eq!(
        wide_hash(u64::MAX.into(), 1 << 127),
        u128::from(u64::MAX) + 0x14ba
    );
}

#[test]
fn parameters_of_custom_crcs_can_be_set() {
    let custom = |name: &str, d| {
        let args = vec![
            Arg::Out(d),
            algorithm(name),
            Arg::In(num(0, 16)),
            ab(),
            Arg::In(num(1 << 16, 32)),
            Arg::String(format!("of_{name}")),
        ];
        call("hash", None, args)
    };
    // The second takes in what the first gives.
    let ingress = vec![
        custom("crc32_custom", bits(A, 16)),
        custom("crc16_custom", bits(B, 16)),
    ];
    let mut switch = Build::default().ingress(ingress).switch();
    let run = |switch: &mut v1model::Switch| {
        let (a, b, _) = fields(&send(switch, 0, packet(0x3132, 0x3334, 0, &[])));
        (a, b)
    };
    let of = |first: u32, crc16: &dyn Fn(&[u8]) -> u16| {
        let a = first as u16;
        let [x, y] = a.to_be_bytes();
        (a, crc16(&[x, y, 0x33, 0x34]))
    };
    let (arc, genibus) = (
        Crc::<u16>::new(&CRC_16_ARC),
        Crc::<u16>::new(&CRC_16_GENIBUS),
    );
    let (usual, bzip2) = (
        Crc::<u32>::new(&CRC_32_ISO_HDLC),
        Crc::<u32>::new(&CRC_32_BZIP2),
    );
    let unset = of(usual.checksum(b"1234"), &|octets| arc.checksum(octets));
    assert_eq!(run(&mut switch), unset);

    let bzip2_parameters = CrcParameters {
        polynomial: 0x04c1_1db7,
        initial: u32::MAX,
        final_xor: u32::MAX,
        reflect_data: false,
        reflect_remainder: false,
    };
    let genibus_parameters = CrcParameters {
        polynomial: 0x1021,
        initial: 0xffff,
        final_xor: 0xffff,
        ..bzip2_parameters
    };
    let wide = switch.set_crc_parameters("of_crc32_custom", CrcWidth::W32, bzip2_parameters);
    assert_eq!(wide, Ok(()));
    let narrow = switch.set_crc_parameters("of_crc16_custom", CrcWidth::W16, genibus_parameters);
    assert_eq!(narrow, Ok(()));
    let set = of(bzip2.checksum(b"1234"), &|octets| genibus.checksum(octets));
    assert_eq!(run(&mut switch), set);
    let read = switch.crc_parameters("of_crc16_custom");
    assert_eq!(read, Ok((CrcWidth::W16, genibus_parameters)));

    for (name, width, says) in [
        (
            "of_crc16_custom",
            CrcWidth::W32,
            "expected parameters of its algorithm, crc16_custom",
        ),
        (
            "of_crc16_custom",
            CrcWidth::W16,
            "expected 16 bits, found 0x4c11db7",
        ),
        ("of_crc16", CrcWidth::W16, "did you mean `of_crc16_custom`?"),
    ] {
        let error = switch.set_crc_parameters(name, width, bzip2_parameters);
        let error = error.expect_err("it is refused").to_string();
        assert!(error.contains(says), "{error}");
    }
}

#[test]
fn calculations_without_a_name_are_numbered_in_the_order_of_the_source() {
    let at = |line: u32, name: &str| {
        let args = vec![
            Arg::Out(bits(A, 16)),
            algorithm(name),
            Arg::In(num(0, 16)),
            ab(),
            Arg::In(num(1 << 16, 32)),
        ];
        let loc = SourceLoc {
            line,
            ..SourceLoc::default()
        };
        Stmt {
            loc,
            ..call("hash", None, args)
        }
    };
    let build = Build::default()
        .ingress(vec![
            at(30, "crc32"),
            at(10, "crc16_custom"),
            at(10, "crc16_custom"),
        ])
        .egress(vec![at(20, "xor16")]);
    let switch = build.switch();
    let names: Vec<_> = switch.calculations().collect();
    let expected = [
        ("calc", "crc16_custom"),
        ("calc_0", "xor16"),
        ("calc_1", "crc32"),
    ];
    assert_eq!(names, expected);
}

/// c is set if the checksum of {a, payload} is not b; then b is made right.
fn checksums(with_payload: bool) -> Build {
    let name = |what: &str| match with_payload {
        true => format!("{what}_checksum_with_payload"),
        false => format!("{what}_checksum"),
    };
    let data = || Arg::List(vec![item(bits(A, 16), Some(H))]);
    let always = || Arg::In(bool_const(true));
    let verify = vec![
        always(),
        data(),
        Arg::In(load(&bits(B, 16))),
        algorithm("csum16"),
    ];
    let update = vec![always(), data(), Arg::Out(bits(B, 16)), algorithm("csum16")];
    let error = Expr {
        kind: ExprKind::Cast(Box::new(load(&meta("checksum_error")))),
        ty: Scalar::Bit(8),
    };
    Build::default()
        .verify(vec![call(&name("verify"), None, verify)])
        .ingress(vec![set(bits(C, 8), error)])
        .compute(vec![call(&name("update"), None, update)])
}

#[test]
fn checksums_are_verified_and_updated() {
    let mut switch = checksums(false).switch();
    let mut run = |a, b| fields(&send(&mut switch, 0, packet(a, b, 9, b"payload")));
    assert_eq!(run(0x1234, !0x1234), (0x1234, !0x1234, 0));
    assert_eq!(run(0x1234, 0x1111), (0x1234, !0x1234, 1));
}

#[test]
fn checksums_take_the_payload_in_and_elided_zeros_change_nothing() {
    let mut switch = checksums(true).switch();
    // 0x1234 + 0x0102 + 0x0300 = 0x1636.
    let whole = packet(0x1234, !0x1636, 9, &[1, 2, 3]);
    assert_eq!(
        fields(&send(&mut switch, 0, whole.clone())),
        (0x1234, !0x1636, 0)
    );
    let elided = Packet {
        elided: 77,
        ..whole
    };
    assert_eq!(fields(&send(&mut switch, 0, elided)), (0x1234, !0x1636, 0));
}

#[test]
fn fields_of_invalid_headers_are_left_out() {
    let invalid = stmt(StmtKind::SetValidity {
        header: H.at(),
        valid: false,
    });
    let list = Arg::List(vec![item(bits(A, 16), Some(H)), item(bits(X, 32), None)]);
    let valid = stmt(StmtKind::SetValidity {
        header: H.at(),
        valid: true,
    });
    let args = vec![
        Arg::Out(bits(B, 16)),
        algorithm("xor16"),
        Arg::In(num(0, 16)),
        list,
        Arg::In(num(1 << 16, 32)),
    ];
    let x = set(bits(X, 32), num(0x0102_0300, 32));
    let build = Build::default().ingress(vec![x, invalid, call("hash", None, args), valid]);
    assert_eq!(
        fields(&send(&mut build.switch(), 0, packet(0x5555, 0, 0, &[]))).1,
        0x0102 ^ 0x0300
    );
}

#[test]
fn registers_keep_and_ignore_what_is_out_of_range() {
    let mut build = Build::default();
    let cells = CtorArg::Int(4.into());
    let register = build.object(
        "register",
        vec![Type::Scalar(Scalar::Bit(100))],
        vec![cells],
    );
    let wide = build.variable(100);
    let index = || {
        Arg::In(Expr {
            kind: ExprKind::Cast(Box::new(load(&bits(C, 8)))),
            ty: Scalar::Bit(32),
        })
    };
    let shifted = binary(
        BinaryOp::BitOr,
        binary(BinaryOp::Shl, load(&wide), num(16, 8)),
        Expr {
            kind: ExprKind::Cast(Box::new(load(&bits(A, 16)))),
            ty: Scalar::Bit(100),
        },
    );
    let low = Expr {
        kind: ExprKind::Slice {
            of: Box::new(load(&wide)),
            hi: 31,
            lo: 16,
        },
        ty: Scalar::Bit(16),
    };
    let build = build.ingress(vec![
        call(
            "register.read",
            Some(register),
            vec![Arg::Out(wide.clone()), index()],
        ),
        set(wide.clone(), shifted),
        set(bits(B, 16), low),
        call(
            "register.write",
            Some(register),
            vec![index(), Arg::In(load(&wide))],
        ),
    ]);
    let mut switch = build.switch();
    for (a, before) in [(0x1111, 0), (0x2222, 0x1111), (0x3333, 0x2222)] {
        assert_eq!(
            fields(&send(&mut switch, 0, packet(a, 0, 2, &[]))).1,
            before
        );
    }
    assert_eq!(
        switch.register_read(register, 2),
        Ok(BigUint::from(0x1111_2222_3333u64))
    );
    assert_eq!(fields(&send(&mut switch, 0, packet(7, 0, 4, &[]))).1, 0);
    assert_eq!(switch.register_read(register, 3), Ok(BigUint::ZERO));
    let error = switch.register_read(register, 4).unwrap_err().to_string();
    assert_eq!(
        error,
        "register `ingress.register`: expected an index below 4, found 4"
    );
    let big = BigUint::from(1u8) << 100;
    let error = switch
        .register_write(register, 0, &big)
        .unwrap_err()
        .to_string();
    assert!(error.contains("expected a value of 100 bits"), "{error}");
    switch.register_write(register, 2, &(&big - 1u8)).unwrap();
    assert_eq!(
        fields(&send(&mut switch, 0, packet(0, 0, 2, &[]))).1,
        0xffff
    );
}

#[test]
fn counters_count_packets_and_octets() {
    let mut build = Build::default();
    let kind = CtorArg::Member("CounterType".into(), "packets_and_bytes".into());
    let counter = build.object("counter", Vec::new(), vec![CtorArg::Int(2.into()), kind]);
    let index = Expr {
        kind: ExprKind::Cast(Box::new(load(&bits(C, 8)))),
        ty: Scalar::Bit(32),
    };
    let build = build.ingress(vec![call(
        "counter.count",
        Some(counter),
        vec![Arg::In(index)],
    )]);
    let mut switch = build.switch();
    for c in [1, 1, 2] {
        let packet = Packet {
            elided: 100,
            ..packet(0, 0, c, b"abc")
        };
        send(&mut switch, 0, packet);
    }
    let cell = switch.counter_read(counter, 1).unwrap();
    assert_eq!((cell.packets, cell.octets), (2, 216));
    assert_eq!(switch.counter_read(counter, 0).unwrap().packets, 0);
}

/// One packet per second with a burst of one, two per second at most with a burst of two.
#[test]
fn meters_colour_packets() {
    let mut build = Build::default();
    let kind = CtorArg::Member("MeterType".into(), "packets".into());
    let meter = build.object("meter", Vec::new(), vec![CtorArg::Int(1.into()), kind]);
    let args = vec![Arg::In(num(0, 32)), Arg::Out(bits(C, 8))];
    let build = build.ingress(vec![call("meter.execute_meter", Some(meter), args)]);
    let mut switch = build.switch();
    let colour =
        |switch: &mut v1model::Switch, us| fields(&send(switch, us, packet(0, 0, 9, &[]))).2;
    assert_eq!(colour(&mut switch, 0), 0, "unset: green");
    let config = MeterConfig {
        cir: 1.0,
        cburst: 1,
        pir: 2.0,
        pburst: 2,
        eburst: 0,
    };
    switch.meter_write(meter, 0, Some(config)).unwrap();
    let colours = [1, 2, 3].map(|us| colour(&mut switch, us));
    assert_eq!(colours, [0, 1, 2]);
    // After half a second there is one token of the peak rate, none of the committed.
    assert_eq!(colour(&mut switch, 500_000), 1);
    assert_eq!(colour(&mut switch, 1_000_000), 0);
    let counted = switch.meter_colours(meter, 0).unwrap();
    assert_eq!(counted.map(|colour| colour.packets), [3, 2, 1]);
    switch.meter_clear_colours(meter, 0).unwrap();
    let cleared = switch.meter_colours(meter, 0).unwrap();
    assert_eq!(cleared, [CounterData::default(); 3]);
    let wrong = MeterConfig { cir: 3.0, ..config };
    let error = switch
        .meter_write(meter, 0, Some(wrong))
        .unwrap_err()
        .to_string();
    assert_eq!(
        error,
        "meter `ingress.meter`: expected rates with 0 ≤ cir ≤ pir, found cir 3, pir 2"
    );
}

#[test]
fn random_stays_within_its_bounds_and_repeats_with_its_seed() {
    let args = vec![
        Arg::Out(bits(A, 16)),
        Arg::In(num(10, 16)),
        Arg::In(num(13, 16)),
    ];
    let empty = vec![
        Arg::Out(bits(B, 16)),
        Arg::In(num(2, 16)),
        Arg::In(num(1, 16)),
    ];
    let build = Build::default().ingress(vec![
        call("random", None, args),
        call("random", None, empty),
    ]);
    let draws = |seed| -> Vec<u16> {
        let mut switch = build.switch_with(SwitchConfig {
            seed,
            ..SwitchConfig::default()
        });
        (0..200)
            .map(|_| {
                let (a, b, _) = fields(&send(&mut switch, 0, packet(0, 77, 0, &[])));
                assert_eq!(b, 77, "no number is in 2..1");
                a
            })
            .collect()
    };
    let first = draws(1);
    for value in 10..=13 {
        let count = first.iter().filter(|&&draw| draw == value).count();
        assert!((25..75).contains(&count), "{value}: {count} of 200");
    }
    assert!(first.iter().all(|draw| (10..=13).contains(draw)));
    assert_eq!(first, draws(1));
    assert_ne!(first, draws(2));
}

#[test]
fn digests_and_logs_are_reported() {
    let build = Build::default().ingress(vec![
        call("digest", None, vec![Arg::In(num(1, 32)), ab()]),
        set(bits(A, 16), num(0, 16)),
        call(
            "log_msg",
            None,
            vec![Arg::String("a {} and b {}!".into()), ab()],
        ),
    ]);
    let mut switch = build.switch_with(reports());
    send(
        &mut switch,
        3,
        Packet {
            tag: 42,
            ..packet(500, 600, 0, &[])
        },
    );
    let at = Instant::from_micros(3);
    let fields = vec![(500u32.into(), 16), (600u32.into(), 16)];
    let digest = Digest {
        at,
        receiver: 1,
        ty: None,
        fields,
        tag: 42,
    };
    assert_eq!(switch.poll_event(), Some(Event::Digest(digest)));
    let message = "a 0 and b 600!".into();
    let log = Log {
        at,
        message,
        loc: SourceLoc::default(),
        tag: 42,
    };
    assert_eq!(switch.poll_event(), Some(Event::Log(log)));
    assert_eq!(switch.poll_event(), None);
}

#[test]
fn timestamps_are_whole_microseconds() {
    let low = |name: &str| Expr {
        kind: ExprKind::Cast(Box::new(load(&meta(name)))),
        ty: Scalar::Bit(16),
    };
    let build = Build::default()
        .ingress(vec![set(bits(A, 16), low("ingress_global_timestamp"))])
        .egress(vec![set(bits(B, 16), low("egress_global_timestamp"))]);
    let mut switch = build.switch();
    let now = Instant::from_nanos(41_999);
    switch.handle_packet(now, 1, packet(0, 0, 0, &[]));
    let sent: Vec<_> = switch.poll_transmit(now).into_iter().collect();
    assert_eq!(fields(&sent), (41, 41, 0));
}
