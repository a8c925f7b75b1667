use super::*;
use crate::sctp::Tsn;
use std::net::Ipv4Addr;

const DELAY: Duration = Duration::from_millis(200);

fn inbound(window: u32) -> Inbound {
    let config = Config {
        window,
        sack_delay: Some(DELAY),
        ..Config::rfc9260(vec![], 7, [0; 32])
    };
    Inbound::new(&config, Tsn(u32::MAX), 4)
}

fn data(tsn: u32, ssn: u16, payload: &[u8]) -> Data<'_> {
    Data {
        flags: DataFlags(DataFlags::BEGIN | DataFlags::END),
        tsn: Tsn(tsn),
        stream: 0,
        ssn,
        protocol: 0,
        payload,
    }
}

fn route() -> Route {
    let address = Ipv4Addr::LOCALHOST;
    Route {
        local: address,
        remote: address,
    }
}

fn sack(inbound: &mut Inbound) -> (Tsn, Vec<(u16, u16)>) {
    let mut gaps = Vec::new();
    inbound.take_sack(&mut gaps, 100);
    (inbound.cumulative, gaps)
}

#[test]
fn gaps_open_and_close_across_the_wrap_of_tsns() {
    let mut inbound = inbound(1 << 20);
    for (tsn, cumulative, gaps) in [
        (u32::MAX, u32::MAX, vec![]),
        (1, u32::MAX, vec![(2, 2)]),
        (3, u32::MAX, vec![(2, 2), (4, 4)]),
        (2, u32::MAX, vec![(2, 4)]),
        (0, 3, vec![]),
    ] {
        inbound.handle(&data(tsn, 0, b"x")).unwrap();
        assert_eq!(sack(&mut inbound), (Tsn(cumulative), gaps), "{tsn}");
    }
    inbound.handle(&data(2, 0, b"x")).unwrap();
    assert_eq!(inbound.duplicates, [Tsn(2)]);
}

#[test]
fn the_second_packet_or_200_ms_bring_a_sack() {
    let mut inbound = inbound(1 << 20);
    let at = Instant::from_secs_f64;
    let arrive = |inbound: &mut Inbound, tsn: u32, now| {
        inbound.handle(&data(tsn, tsn as u16, b"x")).unwrap();
        inbound.end_packet(now, route(), false);
        inbound.sack_route().is_some()
    };
    assert!(arrive(&mut inbound, u32::MAX, at(1.0)), "the first at once");
    sack(&mut inbound);
    assert!(!arrive(&mut inbound, 0, at(2.0)));
    assert_eq!(inbound.timeout(), Some(at(2.2)));
    assert!(arrive(&mut inbound, 1, at(2.1)));
    sack(&mut inbound);
    assert!(!arrive(&mut inbound, 2, at(3.0)));
    inbound.handle_timeout(at(3.2));
    assert!(inbound.sack_route().is_some());
    sack(&mut inbound);
    assert!(arrive(&mut inbound, 4, at(4.0)), "a gap");
}

#[test]
fn a_stream_waits_for_its_turn_and_others_do_not() {
    let mut inbound = inbound(1 << 20);
    let one = |tsn, stream, ssn, unordered| Data {
        stream,
        flags: DataFlags(DataFlags::BEGIN | DataFlags::END | unordered),
        ..data(tsn, ssn, b"x")
    };
    inbound.handle(&one(0, 1, 1, 0)).unwrap();
    inbound.handle(&one(1, 2, 0, 0)).unwrap();
    inbound.handle(&one(2, 1, 0, DataFlags::UNORDERED)).unwrap();
    let streams = |inbound: &mut Inbound| {
        std::iter::from_fn(|| inbound.read(1500))
            .map(|message| (message.stream, message.ordered))
            .collect::<Vec<_>>()
    };
    assert_eq!(streams(&mut inbound), [(2, true), (1, false)]);
    inbound.handle(&one(u32::MAX, 1, 0, 0)).unwrap();
    assert_eq!(streams(&mut inbound), [(1, true), (1, true)]);
    assert_eq!(inbound.handle(&one(3, 4, 0, 0)), Err(Fault::NoStream));
}

#[test]
fn a_full_buffer_takes_nothing_and_says_when_there_is_room() {
    let mut inbound = inbound(3000);
    let mut gaps = Vec::new();
    inbound.handle(&data(u32::MAX, 0, &[1; 2500])).unwrap();
    assert_eq!(inbound.take_sack(&mut gaps, 9), 500);
    inbound.handle(&data(1, 2, &[1; 1000])).unwrap();
    assert_eq!(sack(&mut inbound), (Tsn(u32::MAX), vec![]), "no room");
    inbound.handle(&data(0, 1, &[1; 1000])).unwrap();
    assert_eq!(inbound.cumulative, Tsn(0), "the next is taken");
    inbound.handle(&data(1, 2, &[1; 1000])).unwrap();
    assert_eq!(inbound.cumulative, Tsn(0), "not twice");
    assert_eq!(inbound.take_sack(&mut gaps, 9), 0);
    inbound.end_packet(Instant::ZERO, route(), false);
    inbound.take_sack(&mut gaps, 9);
    assert_eq!(inbound.sack_route(), None);
    assert!(inbound.read(1500).is_some());
    assert!(inbound.sack_route().is_some(), "the window has opened");
    inbound.handle(&data(1, 2, &[1; 1000])).unwrap();
    assert_eq!(inbound.cumulative, Tsn(1));
}
