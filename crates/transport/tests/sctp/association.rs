//! Set-up, failure of paths, and the end of associations.

use crate::network::{Link, Network, address, addresses, data};
use bytes::Bytes;
use transport::sctp::packet::Packet;
use transport::sctp::{Config, Delivery, Event, PathState, Reason, Route, State};
use units::Duration;

fn pair(paths: usize) -> Network {
    pair_of(paths, |config| config)
}

fn pair_of(paths: usize, change: impl Fn(Config) -> Config) -> Network {
    let config = |end: usize| {
        let config = Config::dahal(addresses(paths, end), 5000, [end as u8; 32]);
        change(config)
    };
    let link = Link {
        delay_ms: 30,
        ..Link::default()
    };
    Network::new([config(0), config(1)], vec![link; paths], 1)
}

fn write(network: &mut Network, messages: usize) {
    let message = Bytes::from(vec![7; 1440]);
    for _ in 0..messages {
        network.ends[0]
            .write(Delivery::default(), &message)
            .unwrap();
    }
}

/// The first chunk of every packet: by which end, on which path, its name.
fn names(network: &Network) -> Vec<(usize, usize, String)> {
    let name = |octets: &[u8]| {
        let packet = Packet::parse(octets).unwrap();
        let chunk = format!("{:?}", packet.chunks().next().unwrap().unwrap());
        let end = chunk.find(|c: char| !c.is_alphanumeric());
        chunk[..end.unwrap_or(chunk.len())].to_string()
    };
    let log = network.log.iter();
    log.map(|(_, end, path, octets)| (*end, *path, name(octets)))
        .collect()
}

#[test]
fn four_packets_set_up_and_three_close() {
    let mut network = pair(1);
    network.run_until(2.0);
    let now = network.now;
    network.ends[0].shutdown(now);
    network.run_until(3.0);
    let expected = [
        (0, "Init"),
        (1, "InitAck"),
        (0, "CookieEcho"),
        (1, "CookieAck"),
        (0, "Shutdown"),
        (1, "ShutdownAck"),
        (0, "ShutdownComplete"),
    ];
    let expected = expected.map(|(end, name)| (end, 0, name.to_string()));
    assert_eq!(names(&network), expected);
    for events in &network.events {
        let expected = [Event::Established, Event::Closed(Reason::Shutdown)];
        assert_eq!(*events, expected);
    }
}

#[test]
fn each_lost_packet_of_the_handshake_is_repeated() {
    for drop in 0..4 {
        let mut network = pair(2);
        network.drops = vec![drop];
        network.run_until(60.0);
        write(&mut network, 3);
        network.run_until(70.0);
        assert_eq!(network.read[1].len(), 3, "packet {drop}");
    }
}

#[test]
fn a_server_that_does_not_answer_is_given_up_after_nine_inits() {
    let mut network = pair(1);
    network.links[0].loss = 1000;
    network.run_until(1000.0);
    assert_eq!(network.log.len(), 9);
    let closed = Event::Closed(Reason::Unreachable);
    assert_eq!(network.events[0], [closed]);
    // 3 + 6 + 12 + 24 + 48 + 60 + 60 + 60 + 60 s
    assert_eq!(network.ends[0].poll_timeout(), None);
    let last = network.log[8].0.as_secs_f64();
    assert!((last - 1.0 - 273.0).abs() < 1e-6, "{last}");
}

#[test]
fn a_listener_keeps_nothing_of_an_init() {
    let mut network = pair(1);
    network.service();
    let init = network.log[0].3.clone();
    let mut server =
        transport::sctp::Association::listen(Config::dahal(addresses(1, 1), 5000, [9; 32]))
            .unwrap();
    let before = format!("{server:?}");
    let route = Route {
        local: address(0, 1),
        remote: address(0, 0),
    };
    let mut answers = Vec::new();
    for _ in 0..2 {
        server.handle_packet(network.now, route, &init).unwrap();
        let mut octets = Vec::new();
        assert!(server.poll_transmit(network.now, &mut octets).is_some());
        answers.push(octets);
    }
    assert_eq!(answers[0], answers[1]);
    let counted = |text: &str| {
        let (state, _) = text.split_once("stats").unwrap();
        state.to_string()
    };
    assert_eq!(counted(&format!("{server:?}")), counted(&before));
    assert_eq!(server.poll_timeout(), None);
}

#[test]
fn both_ends_may_begin_at_once() {
    let mut network = pair(1);
    let config = Config::dahal(addresses(1, 1), 5000, [9; 32]);
    let (now, remote) = (network.now, address(0, 0));
    network.ends[1] = transport::sctp::Association::connect(config, now, remote, 5000).unwrap();
    network.run_until(5.0);
    write(&mut network, 2);
    network.run_until(9.0);
    assert_eq!(network.read[1].len(), 2);
    for end in &network.ends {
        assert_eq!(end.state(), State::Established);
    }
}

#[test]
fn a_restarted_peer_restarts_the_association() {
    let mut network = pair(2);
    network.run_until(2.0);
    let config = Config::dahal(addresses(2, 0), 5000, [77; 32]);
    let (now, remote) = (network.now, address(0, 1));
    network.ends[0] = transport::sctp::Association::connect(config, now, remote, 5000).unwrap();
    network.run_until(5.0);
    assert!(network.events[1].contains(&Event::Restarted));
    write(&mut network, 2);
    network.run_until(9.0);
    assert_eq!(network.read[1].len(), 2);
}

#[test]
fn a_loss_is_sent_again_on_the_other_path_after_four_reports() {
    let mut network = pair(2);
    network.run_until(2.0);
    let begun = network.log.len();
    network.drops = vec![begun + 1];
    write(&mut network, 30);
    network.run_until(4.0);
    assert_eq!(network.read[1].len(), 30);
    let again: Vec<_> = data(&network.log)
        .into_iter()
        .filter(|&(_, path, _)| path == 1)
        .collect();
    assert_eq!(again.len(), 1);
    assert_eq!(again[0].2, 1, "the second chunk");
    assert_eq!(network.ends[0].stats().timeouts, 0);
    assert_eq!(network.ends[0].stats().fast_retransmits, 1);
}

#[test]
fn a_path_that_fails_is_left_after_six_timeouts_and_taken_up_again() {
    let mut network = pair(2);
    network.run_until(2.0);
    network.links[0].loss = 1000;
    write(&mut network, 100);
    network.run_while(200.0, |n| !n.events[0].contains(&Event::PathDown(0)));
    // RTO 1 s and doubled: 1 + 2 + 4 + 8 + 16 + 32 s, what is lost goes over the other path meanwhile.
    let down = network.now.as_secs_f64();
    assert!((63.0..66.0).contains(&(down - 2.0)), "{down}");
    network.run_until(down + 5.0);
    assert_eq!(network.read[1].len(), 100);
    let status: Vec<_> = network.ends[0].paths().collect();
    assert_eq!(status[0].state, PathState::Inactive);
    assert_eq!(status[1].state, PathState::Active);
    network.links[0].loss = 0;
    network.run_while(400.0, |n| n.events[0].last() != Some(&Event::Switched(0)));
    assert!(network.events[0].contains(&Event::PathUp(0)));
    let sent = network.log.len();
    write(&mut network, 1);
    network.service();
    assert_eq!(network.log[sent].2, 0, "back to the primary path");
}

#[test]
fn a_peer_that_vanishes_is_given_up() {
    let mut network = pair(2);
    network.run_until(2.0);
    for link in &mut network.links {
        link.loss = 1000;
    }
    write(&mut network, 10);
    network.run_until(2000.0);
    let closed = Event::Closed(Reason::Unreachable);
    assert_eq!(network.events[0].last(), Some(&closed));
    // Of the eleven errors two are heartbeats: retransmissions leave a path idle.
    assert_eq!(network.ends[0].stats().timeouts, 9);
}

#[test]
fn an_idle_association_probes_its_paths() {
    let mut network = pair(3);
    network.run_until(2.0);
    let begun = network.log.len();
    network.run_until(202.0);
    for path in 0..3 {
        let probes = names(&network)[begun..]
            .iter()
            .filter(|name| **name == (0, path, "Heartbeat".to_string()))
            .count();
        // Every 30 s + RTO (1 s) ± half of it.
        assert!((6..=6).contains(&probes), "path {path}: {probes}");
    }
}

#[test]
fn a_reader_that_sleeps_closes_the_window_and_opens_it() {
    let mut network = pair_of(1, |config| Config {
        window: 20_000,
        ..config
    });
    network.reads = false;
    network.run_until(2.0);
    write(&mut network, 60);
    network.run_until(300.0);
    assert_eq!(network.ends[0].state(), State::Established);
    let held = network.ends[1].stats().delivered_octets;
    assert!((20_000 - 1440..20_000 + 1440).contains(&held), "{held}");
    network.reads = true;
    network.run_until(400.0);
    assert_eq!(network.read[1].len(), 60);
}

#[test]
fn an_abort_ends_both() {
    let mut network = pair(1);
    network.run_until(2.0);
    network.ends[1].abort();
    network.run_until(3.0);
    let reasons = [Reason::PeerAborted, Reason::Aborted];
    for (events, reason) in network.events.iter().zip(reasons) {
        assert_eq!(events.last(), Some(&Event::Closed(reason)));
    }
}

#[test]
fn a_cookie_that_is_too_old_begins_again() {
    let mut network = pair_of(1, |config| Config {
        cookie_life: Duration::from_millis(2000),
        ..config
    });
    // COOKIE ECHO is repeated after 3 s.
    network.drops = vec![2];
    network.run_until(30.0);
    assert!(
        network.events[0].contains(&Event::Established),
        "{:?}",
        names(&network)
    );
}
