//! What the RFCs ask for, one rule a test.

use std::net::SocketAddrV4;
use std::sync::Arc;

use congestion::RenoConfig;
use transport::tcp::modern::{Config, Connection, EcnMode, Ended, Stamps, State, StreamError};
use transport::tcp::tcp_int::{Echo, TcpInt};
use transport::tcp::{Ecn, First, Flags, Segment, Timestamps, Trimming};
use units::{Duration, Instant};

use crate::path::{ADDRESSES, Faults, Net, PORT};

const MS: Duration = Duration::from_millis(1);

fn net(config: Config) -> Net {
    let configs = [config.clone(), config];
    Net::new(configs, Arc::new(RenoConfig {}), Faults::NONE, 7)
}

/// Two connections with nothing between them.
struct Pair {
    now: Instant,
    ends: [Connection; 2],
}

impl Pair {
    fn new(config: &Config) -> Self {
        let config = Arc::new(config.clone());
        let mut pair = Pair {
            now: Instant::from_micros(1_000_000),
            ends: [
                Connection::connect(config.clone(), &RenoConfig {}, 1000),
                Connection::listen(config, &RenoConfig {}, u32::MAX - 3),
            ],
        };
        pair.settle();
        assert_eq!(pair.states(), [State::Established; 2]);
        pair
    }

    fn states(&self) -> [State; 2] {
        [self.ends[0].state(), self.ends[1].state()]
    }

    /// What an end sends now.
    fn take(&mut self, end: usize) -> Vec<Segment> {
        std::iter::from_fn(|| self.ends[end].poll_transmit(self.now)).collect()
    }

    /// What an end sends now arrives at the other.
    fn pass(&mut self, from: usize) -> usize {
        let segments = self.take(from);
        for segment in &segments {
            self.ends[1 - from].handle_segment(
                self.now,
                segment,
                &vec![7; segment.payload as usize],
            );
        }
        segments.len()
    }

    /// Both run until neither has anything to send, a millisecond each way.
    fn settle(&mut self) {
        while self.pass(0) + self.pass(1) > 0 {
            self.now += MS;
        }
    }

    /// Hands a segment to an end; what it answers.
    fn answer(&mut self, end: usize, segment: Segment) -> Vec<Segment> {
        self.ends[end].handle_segment(self.now, &segment, &vec![7; segment.payload as usize]);
        self.take(end)
    }

    /// A segment that fits into where the connection is, from one end.
    fn fitting(&mut self, from: usize) -> Segment {
        self.ends[from].write(b"x").unwrap();
        let mut segments = self.take(from);
        self.now += MS;
        segments.pop().expect("one octet may be sent")
    }
}

#[test]
fn a_connection_is_opened_used_and_closed() {
    let mut pair = Pair::new(&Config::default());
    pair.ends[0].write(b"to").unwrap();
    pair.ends[0].close();
    assert_eq!(pair.ends[0].write(b"more"), Err(StreamError::Finished));
    pair.settle();
    assert_eq!(pair.states(), [State::FinWait2, State::CloseWait]);
    let mut buffer = [0; 10];
    assert_eq!(pair.ends[1].read(&mut buffer), Ok(2));
    assert_eq!(pair.ends[1].read(&mut buffer), Ok(0));
    // The other direction stays open.
    pair.ends[1].write(b"back").unwrap();
    pair.settle();
    assert_eq!(pair.ends[0].read(&mut buffer), Ok(4));
    pair.ends[1].close();
    pair.settle();
    assert_eq!(pair.states(), [State::TimeWait, State::Closed]);
    assert_eq!(pair.ends[1].ended(), Some(Ended::Closed));
    let end = pair.ends[0].poll_timeout().expect("TIME-WAIT ends");
    assert!(end.since(pair.now) > Duration::from_millis(59_000));
    pair.ends[0].handle_timeout(end);
    assert_eq!(pair.states(), [State::Closed; 2]);
}

#[test]
fn both_may_open_and_close_at_once() {
    let config = Arc::new(Config::default());
    let connect = |start| Connection::connect(config.clone(), &RenoConfig {}, start);
    let mut pair = Pair {
        now: Instant::from_micros(1_000_000),
        ends: [connect(5), connect(u32::MAX)],
    };
    let syns = [pair.take(0), pair.take(1)];
    pair.ends[1].handle_segment(pair.now, &syns[0][0], &[]);
    pair.ends[0].handle_segment(pair.now, &syns[1][0], &[]);
    assert_eq!(pair.states(), [State::SynReceived; 2]);
    pair.settle();
    assert_eq!(pair.states(), [State::Established; 2]);
    pair.ends[0].write(b"hello").unwrap();
    pair.settle();
    assert_eq!(pair.ends[1].readable(), 5);
    pair.ends[0].close();
    pair.ends[1].close();
    let fins = [pair.take(0), pair.take(1)];
    pair.ends[1].handle_segment(pair.now, &fins[0][0], &[]);
    pair.ends[0].handle_segment(pair.now, &fins[1][0], &[]);
    assert_eq!(pair.states(), [State::Closing; 2]);
    pair.settle();
    assert_eq!(pair.states(), [State::TimeWait; 2]);
}

#[test]
fn a_lost_answer_to_a_syn_comes_again_with_the_syn() {
    let mut net = net(Config::default());
    net.drop_next[1] = 1;
    let begun = net.now;
    net.established();
    // The second SYN goes after a second; the answer does not wait for its own timer.
    assert!(net.now.since(begun) < Duration::from_millis(1040));
}

#[test]
fn a_reset_has_to_fit_exactly() {
    let mut pair = Pair::new(&Config::default());
    let fitting = pair.fitting(0);
    let reset = |seq: u32| Segment {
        seq,
        flags: Flags::RST,
        payload: 0,
        ..fitting
    };
    // Beyond the window: nothing. In the window: a question (RFC 5961, §3.2).
    assert_eq!(pair.answer(1, reset(fitting.seq.wrapping_sub(1))), []);
    let asked = pair.answer(1, reset(fitting.seq.wrapping_add(100)));
    assert_eq!((asked.len(), asked[0].flags), (1, Flags::ACK));
    assert_eq!(asked[0].ack, fitting.seq);
    assert_eq!(pair.ends[1].state(), State::Established);
    assert_eq!(pair.answer(1, reset(fitting.seq)), []);
    assert_eq!(pair.ends[1].ended(), Some(Ended::Reset));
    assert_eq!(
        pair.ends[1].read(&mut [0; 4]),
        Err(StreamError::Ended(Ended::Reset))
    );
}

#[test]
fn a_syn_in_a_connection_and_a_guessed_acknowledgement_are_questioned() {
    let mut pair = Pair::new(&Config::default());
    let fitting = pair.fitting(0);
    let syn = Segment {
        flags: Flags::SYN,
        payload: 0,
        ..fitting
    };
    assert_eq!(pair.answer(1, syn).len(), 1);
    let future = Segment {
        ack: fitting.ack.wrapping_add(1),
        ..fitting
    };
    assert_eq!(pair.answer(1, future).len(), 1);
    assert_eq!(pair.ends[1].readable(), 0);
    assert_eq!(pair.answer(1, fitting).len(), 1);
    assert_eq!(pair.ends[1].readable(), 1);
}

#[test]
fn an_old_timestamp_is_refused() {
    let mut pair = Pair::new(&Config::default());
    let fitting = pair.fitting(0);
    let stamps = fitting.timestamps.expect("both have them");
    let old = Segment {
        timestamps: Some(Timestamps {
            value: stamps.value.wrapping_sub(10_000),
            ..stamps
        }),
        ..fitting
    };
    assert_eq!(pair.answer(1, old).len(), 1);
    let none = Segment {
        timestamps: None,
        ..fitting
    };
    assert_eq!(pair.answer(1, none), []);
    assert_eq!(pair.ends[1].readable(), 0);
}

#[test]
fn options_come_off_the_payload_and_full_packets_fill_the_path() {
    let config = Config {
        aqt: true,
        avbw: true,
        timestamps: Stamps::Micros,
        ..Config::default()
    };
    let mut pair = Pair::new(&config);
    pair.ends[0].write(&[7; 20_000]).unwrap();
    let segments = pair.take(0);
    assert!(segments.iter().all(|segment| segment.link_octets <= 1500));
    assert_eq!(segments[0].link_octets, 1500);
    assert_eq!(segments[0].payload, 1500 - 40 - 12 - 12);
    assert!(segments[0].aqt.is_some() && segments[0].avbw.is_some());
}

#[test]
fn the_first_window_is_ten_segments() {
    let config = Config {
        pacing: false,
        ..Config::default()
    };
    let mut pair = Pair::new(&config);
    pair.ends[0].write(&[7; 100_000]).unwrap();
    assert_eq!(pair.take(0).len(), 10);
}

#[test]
fn a_short_segment_waits_for_the_one_before() {
    let mut pair = Pair::new(&Config::default());
    pair.ends[0].write(b"a").unwrap();
    let first = pair.take(0);
    pair.ends[0].write(b"b").unwrap();
    pair.ends[0].write(b"c").unwrap();
    assert_eq!(pair.take(0), []);
    pair.ends[1].handle_segment(pair.now, &first[0], b"a");
    pair.now += MS;
    pair.settle();
    assert_eq!(pair.ends[1].readable(), 3);
    assert_eq!(pair.ends[0].stats().sent, 2);
}

#[test]
fn a_closed_window_is_probed_ever_more_slowly_and_opens_again() {
    let config = Config {
        receive_buffer: 5000,
        ..Config::default()
    };
    let mut net = net(config);
    let [client, server] = net.established();
    let client_writes = vec![7; 20_000];
    net.hosts[0]
        .connection_mut(client)
        .unwrap()
        .write(&client_writes)
        .unwrap();
    net.transmit();
    net.run_for(Duration::from_millis(2000));
    let before = net.sent[0];
    net.run_for(Duration::from_millis(600_000));
    let probes = net.sent[0] - before;
    assert!((8..40).contains(&probes), "{probes}");
    assert_eq!(net.hosts[0].connection(client).unwrap().ended(), None);
    let connection = net.hosts[1].connection_mut(server).unwrap();
    assert_eq!(connection.readable(), 5000);
    // The news of the open window is lost; a probe brings it.
    let mut buffer = [0; 5000];
    assert_eq!(connection.read(&mut buffer), Ok(5000));
    net.drop_next[1] = 1;
    net.transmit();
    net.run_for(Duration::from_millis(70_000));
    assert_eq!(net.hosts[1].connection(server).unwrap().readable(), 5000);
}

#[test]
fn a_lost_tail_is_probed_for_before_the_timer() {
    let mut net = net(Config::default());
    let [client, server] = net.established();
    net.hosts[0]
        .connection_mut(client)
        .unwrap()
        .write(&[7; 5000])
        .unwrap();
    net.transmit();
    net.run_for(Duration::from_millis(500));
    net.hosts[0]
        .connection_mut(client)
        .unwrap()
        .write(&[7; 100])
        .unwrap();
    net.drop_next[0] = 1;
    net.transmit();
    let lost_at = net.now;
    while net.hosts[1].connection(server).unwrap().readable() < 5100 {
        assert!(net.step());
    }
    // 2 SRTT and the worst delayed acknowledgement, within the timeout.
    assert!(net.now.since(lost_at) < Duration::from_millis(260));
    net.run_for(Duration::from_millis(1000));
    let stats = net.hosts[0].connection(client).unwrap().stats();
    assert_eq!((stats.timeouts, stats.resent), (0, 1));
}

#[test]
fn losses_are_repaired_without_the_timer() {
    let faults = Faults {
        loss: 0.02,
        bottleneck: Some((1_000_000, 50)),
        ..Faults::NONE
    };
    let configs = [Config::default(), Config::default()];
    let mut net = Net::new(configs, Arc::new(RenoConfig {}), faults, 3);
    let [client, server] = net.established();
    let mut buffer = vec![0; 1 << 20];
    let mut read = 0;
    for _ in 0..100_000 {
        if let Some(connection) = net.hosts[0].connection_mut(client) {
            let _ = connection.write(&[7; 60_000]);
        }
        net.transmit();
        net.step();
        if let Ok(count) = net.hosts[1]
            .connection_mut(server)
            .unwrap()
            .read(&mut buffer)
        {
            read += count;
        }
        if read > 3_000_000 {
            break;
        }
    }
    let stats = net.hosts[0].connection(client).unwrap().stats();
    assert!(read > 3_000_000 && stats.losses > 20, "{read} {stats:?}");
    assert!(stats.timeouts * 20 < stats.losses, "{stats:?}");
    // Nearly every retransmission was needed.
    assert!(
        stats.resent < stats.losses + stats.losses / 5 + 5,
        "{stats:?}"
    );
}

#[test]
fn who_gets_no_answer_gives_up() {
    let mut net = net(Config {
        max_retries: 4,
        syn_retries: 3,
        linear_syns: 0,
        ..Config::default()
    });
    net.faults.loss = 1.0;
    let nobody = net.connect();
    net.run_for(Duration::from_millis(60_000));
    let ended = |net: &Net, id| net.hosts[0].connection(id).and_then(|c| c.ended());
    assert_eq!(ended(&net, nobody), Some(Ended::TimedOut));
    // 1 + 3 attempts.
    assert_eq!(net.sent[0], 4);
    net.faults.loss = 0.0;
    let [client, _] = net.established();
    net.faults.loss = 1.0;
    net.hosts[0]
        .connection_mut(client)
        .unwrap()
        .write(b"?")
        .unwrap();
    net.transmit();
    net.run_for(Duration::from_millis(60_000));
    assert_eq!(ended(&net, client), Some(Ended::TimedOut));
}

/// Five times by the first timeout, then by twice as much each time, as the Linux kernel does since 6.5.
#[test]
fn a_syn_goes_again_after_a_second_four_times_before_the_timeout_doubles() {
    let mut net = net(Config::default());
    net.faults.loss = 1.0;
    let nobody = net.connect();
    let mut times = Vec::new();
    for tenth in 0..1400 {
        for _ in times.len()..net.sent[0] as usize {
            times.push(tenth / 10);
        }
        net.run_for(Duration::from_millis(100));
    }
    assert_eq!(times, [0, 1, 2, 3, 4, 5, 7, 11, 19, 35, 67]);
    let ended = net.hosts[0].connection(nobody).and_then(|c| c.ended());
    assert_eq!(ended, Some(Ended::TimedOut));
}

#[test]
fn a_port_where_nobody_listens_refuses() {
    let mut net = net(Config::default());
    let remote = SocketAddrV4::new(ADDRESSES[1], PORT + 1);
    let id = net.hosts[0].connect(net.now, remote).unwrap();
    net.transmit();
    net.run_for(Duration::from_millis(25));
    let connection = net.hosts[0].connection(id).unwrap();
    assert_eq!(connection.ended(), Some(Ended::Refused));
    net.hosts[0].release(id);
    net.transmit();
    assert!(net.hosts[0].connection(id).is_none());
}

#[test]
fn an_abort_resets_the_other_end() {
    let mut net = net(Config::default());
    let [client, server] = net.established();
    net.hosts[0].connection_mut(client).unwrap().abort();
    net.transmit();
    net.run_for(Duration::from_millis(25));
    let ended = net.hosts[1].connection(server).unwrap().ended();
    assert_eq!(ended, Some(Ended::Reset));
}

#[test]
fn many_connections_are_told_apart() {
    let mut net = net(Config::default());
    let clients: Vec<_> = (0..50).map(|_| net.connect()).collect();
    net.run_for(Duration::from_millis(100));
    let ports: std::collections::BTreeSet<u16> = clients
        .iter()
        .filter_map(|id| net.hosts[0].addresses(*id))
        .map(|(_, port)| port)
        .collect();
    assert_eq!(ports.len(), 50);
    for (i, id) in clients.iter().enumerate() {
        let connection = net.hosts[0].connection_mut(*id).unwrap();
        connection.write(&vec![i as u8; 10 + i]).unwrap();
    }
    net.transmit();
    net.run_for(Duration::from_millis(200));
    let mut seen = 0;
    while let Some(id) = net.hosts[1].accept(PORT) {
        let (remote, _) = net.hosts[1].addresses(id).unwrap();
        let mut buffer = [0; 100];
        let connection = net.hosts[1].connection_mut(id).unwrap();
        let count = connection.read(&mut buffer).unwrap();
        let number = usize::from(buffer[0]);
        assert_eq!(count, 10 + number);
        assert_eq!(
            net.hosts[0].addresses(clients[number]).unwrap().1,
            remote.port()
        );
        seen += 1;
    }
    assert_eq!(seen, 50);
}

#[test]
fn a_mark_cuts_the_window_once_a_round_and_nothing_is_resent() {
    let faults = Faults {
        marking: 1.0,
        bottleneck: Some((1_000_000, 1000)),
        ..Faults::NONE
    };
    let config = Config {
        ecn: EcnMode::Classic,
        initial_window: 40,
        ..Config::default()
    };
    let mut net = Net::new([config.clone(), config], Arc::new(RenoConfig {}), faults, 3);
    let [client, _] = net.established();
    net.hosts[0]
        .connection_mut(client)
        .unwrap()
        .write(&[7; 600_000])
        .unwrap();
    net.transmit();
    let window = |net: &Net| net.hosts[0].connection(client).unwrap().snapshot().cwnd;
    assert_eq!(window(&net), 40.0);
    net.run_for(Duration::from_millis(60));
    let first = window(&net);
    assert!((15.0..30.0).contains(&first), "{first}");
    net.run_for(Duration::from_millis(600));
    assert!(window(&net) < 6.0);
    let stats = net.hosts[0].connection(client).unwrap().stats();
    assert_eq!((stats.resent, stats.losses), (0, 0));
}

#[test]
fn accurate_marks_are_reported_one_by_one() {
    let mut pair = Pair::new(&Config {
        ecn: EcnMode::Accurate,
        delayed_ack: Some(Duration::from_millis(100)),
        ..Config::default()
    });
    pair.ends[0].write(&vec![7; 100_000]).unwrap();
    // Past the segments that are acknowledged at once.
    pair.settle();
    while pair.ends[1].read(&mut [0; 1000]).is_ok() {}
    pair.settle();
    pair.ends[0].write(&vec![7; 6000]).unwrap();
    let data = pair.take(0);
    assert!(data.len() >= 4 && data[0].ecn == Ecn::Ect0);
    let mark = |segment: Segment| Segment {
        ecn: Ecn::Experienced,
        ..segment
    };
    assert_eq!(pair.answer(1, data[0]), []);
    // The change makes what came before be acknowledged first, without the echo.
    let told = pair.answer(1, mark(data[1]));
    assert_eq!(told[0].ack, data[1].seq);
    assert!(!told[0].flags.contains(Flags::ECE));
    let told = pair.answer(1, mark(data[2]));
    assert!(told.iter().all(|ack| ack.flags.contains(Flags::ECE)));
    assert_eq!(told.last().unwrap().ack, data[3].seq);
}

/// What arrives of a segment that a switch trimmed.
fn cut(segment: &Segment) -> Segment {
    Segment {
        seq: segment.seq,
        payload: segment.payload,
        trimming: Trimming::Cut,
        ..Segment::default()
    }
}

fn trimming_pair() -> Pair {
    Pair::new(&Config {
        trimming: true,
        pacing: false,
        nagle: false,
        ..Config::default()
    })
}

#[test]
fn a_trimmed_segment_is_reported_and_sent_again_at_once() {
    let mut pair = trimming_pair();
    pair.ends[0].write(&[7; 4000]).unwrap();
    let sent = pair.take(0);
    assert!(sent.iter().all(|one| one.trimming == Trimming::Trimmable));
    let [first, second, third] = sent[..] else {
        panic!("{} segments", sent.len())
    };
    pair.answer(1, first);
    let [notice] = pair.answer(1, cut(&second))[..] else {
        panic!("one notice")
    };
    assert_eq!(
        (notice.trim_notice, notice.ack),
        (Some(second.seq), second.seq)
    );
    assert_eq!(notice.trimming, Trimming::None);
    let [again] = pair.answer(0, notice)[..] else {
        panic!("it goes again")
    };
    assert_eq!((again.seq, again.payload), (second.seq, second.payload));
    // The same notice again, and one of a segment that arrived.
    assert_eq!(pair.answer(0, notice).len(), 1, "which was trimmed again");
    pair.answer(1, third);
    for acknowledgement in pair.answer(1, again) {
        pair.answer(0, acknowledgement);
    }
    assert_eq!(pair.ends[1].readable(), 4000);
    assert!(pair.answer(0, notice).is_empty());
    let stats = pair.ends[0].stats();
    assert_eq!((stats.losses, stats.timeouts, stats.resent), (0, 0, 2));
}

#[test]
fn a_trimmed_segment_says_nothing_but_which_it_was() {
    let mut pair = trimming_pair();
    let sent = pair.fitting(0);
    let told = |flags, ack| Segment {
        flags,
        ack,
        ..cut(&sent)
    };
    // Neither reset, FIN nor acknowledgement count.
    for flags in [Flags::RST, Flags::SYN, Flags::FIN | Flags::ACK] {
        let answers = pair.answer(1, told(flags, 12_345));
        assert_eq!(answers.len(), 1);
        assert_eq!(answers[0].trim_notice, Some(sent.seq));
    }
    assert_eq!(pair.states(), [State::Established; 2]);
    // What has arrived, and what lies outside the window, is not asked for.
    pair.answer(1, sent);
    assert!(pair.answer(1, cut(&sent)).is_empty());
    let far = Segment {
        seq: sent.seq.wrapping_add(1 << 30),
        ..cut(&sent)
    };
    assert!(pair.answer(1, far).is_empty());
}

#[test]
fn a_notice_means_nothing_to_who_did_not_ask_for_trimming() {
    let mut pair = Pair::new(&Config::default());
    let sent = pair.fitting(0);
    let answers = pair.answer(1, cut(&sent));
    assert!(pair.answer(0, answers[0]).is_empty());
}

#[test]
fn a_trimmed_segment_may_overtake_what_opens_the_connection() {
    let config = Arc::new(Config {
        trimming: true,
        ..Config::default()
    });
    let mut pair = Pair {
        now: Instant::from_micros(1_000_000),
        ends: [
            Connection::connect(config.clone(), &RenoConfig {}, 1000),
            Connection::listen(config, &RenoConfig {}, 5000),
        ],
    };
    pair.pass(0);
    pair.pass(1);
    pair.ends[0].write(&[7; 3000]).unwrap();
    let sent = pair.take(0);
    assert_eq!(pair.ends[1].state(), State::SynReceived);
    let [notice] = pair.answer(1, cut(&sent[1]))[..] else {
        panic!("one notice")
    };
    assert_eq!(notice.trim_notice, Some(sent[1].seq));
    assert_eq!(pair.answer(0, notice).len(), 1);
}

fn counting(config: Config) -> Config {
    Config {
        ecn: EcnMode::L4s,
        pacing: false,
        nagle: false,
        ..config
    }
}

/// The option of accurate ECN that a segment has.
fn counts(segment: &Segment) -> Option<(First, &[u32])> {
    let counts = segment.octet_counts.as_ref()?;
    Some((counts.first(), counts.fields()))
}

/// Two ends that send the option, before the handshake.
fn unopened() -> Pair {
    let config = Arc::new(counting(Config::default()));
    Pair {
        now: Instant::from_micros(1_000_000),
        ends: [
            Connection::connect(config.clone(), &RenoConfig {}, 1000),
            Connection::listen(config, &RenoConfig {}, 7),
        ],
    }
}

/// RFC 9768, §3.2.3.2.1: all counters in the handshake and in the first data, from ECT(0), CE and ECT(1) = 1, 0 and 1.
#[test]
fn octet_counters_are_told_from_the_handshake_on() {
    let mut pair = unopened();
    let whole = Some((First::Ect0, &[1, 0, 1][..]));
    let syn = pair.take(0);
    assert_eq!(counts(&syn[0]), None);
    let answer = pair.answer(1, syn[0]);
    assert_eq!(counts(&answer[0]), whole);
    pair.ends[0].write(&[7; 100]).unwrap();
    let first = pair.answer(0, answer[0]);
    let payloads: Vec<u32> = first.iter().map(|segment| segment.payload).collect();
    assert_eq!(payloads, [0, 100]);
    assert!(first.iter().all(|segment| counts(segment) == whole));
    pair.answer(1, first[0]);
    let ack = pair.answer(1, first[1]);
    assert_eq!(counts(&ack[0]), Some((First::Ect1, &[101][..])));
    // The other direction has no room in full segments: the counters go before them.
    pair.answer(0, ack[0]);
    pair.ends[1].write(&[7; 4000]).unwrap();
    for segment in pair.take(1) {
        assert!(segment.link_octets <= 1500, "{segment:?}");
        pair.answer(0, segment);
    }
    // A retransmission has none, because it may be the reason for the loss.
    pair.ends[0].write(&[7; 10]).unwrap();
    let marked = Segment {
        ecn: Ecn::Experienced,
        ..pair.take(0).pop().unwrap()
    };
    let ack = pair.answer(1, marked);
    assert_eq!(counts(&ack[0]), Some((First::Ect1, &[101, 10][..])));
}

/// The counter ACE alone would not say how often it wrapped.
#[test]
fn octet_counters_are_told_again_when_data_comes_again() {
    let mut pair = Pair::new(&counting(Config::default()));
    pair.ends[0].write(&[7; 100]).unwrap();
    let data = pair.take(0)[0];
    let told = Some((First::Ect1, &[101][..]));
    let lost = pair.answer(1, data);
    assert_eq!(counts(&lost[0]), told);
    let ack = pair.answer(1, data);
    assert_eq!((ack.len(), counts(&ack[0])), (1, told));
}

/// RFC 9768, §3.2.3.3: the option leaves room for two SACK blocks, and gives way to them.
#[test]
fn octet_counters_leave_room_for_two_sack_blocks() {
    let mut pair = Pair::new(&counting(Config::default()));
    pair.ends[0].write(&[7; 15_000]).unwrap();
    let data = pair.take(0);
    let mut arrives = |at: usize, ecn: Ecn| {
        let ack = pair.answer(1, Segment { ecn, ..data[at] });
        let [ack] = ack[..] else { panic!("{ack:?}") };
        assert!(ack.link_octets <= 80, "{ack:?}");
        let fields = ack.octet_counts.map(|counts| counts.fields().len());
        (fields, ack.sack.as_slice().len())
    };
    assert_eq!(arrives(2, Ecn::Ect1), (Some(1), 1));
    assert_eq!(arrives(4, Ecn::Experienced), (Some(2), 2));
    assert_eq!(arrives(6, Ecn::Ect1), (Some(2), 2));
    // Three counters need 12 octets: only the one that moved is reported.
    assert_eq!(arrives(8, Ecn::Ect0), (Some(1), 2));
}

/// The flags of a SYN and of those that follow while no answer comes.
fn flags_of_syns(ecn: EcnMode) -> [Flags; 3] {
    let config = Config {
        ecn,
        ..Config::default()
    };
    let mut client = Connection::connect(Arc::new(config), &RenoConfig {}, 1000);
    let mut now = Instant::from_micros(1_000_000);
    std::array::from_fn(|_| {
        let syn = client.poll_transmit(now).expect("a SYN is due");
        now = client.poll_timeout().expect("a SYN waits for its answer");
        client.handle_timeout(now);
        syn.flags
    })
}

/// RFC 9768, §3.1.4.1, and RFC 3168, §6.1.1.1.
#[test]
fn a_syn_without_answer_asks_for_ecn_once_more() {
    let echoed = Flags::SYN | Flags::CWR | Flags::ECE;
    let counted = echoed | Flags::AE;
    assert_eq!(flags_of_syns(EcnMode::L4s), [counted, counted, Flags::SYN]);
    for mode in [EcnMode::Classic, EcnMode::Accurate] {
        assert_eq!(flags_of_syns(mode), [echoed, echoed, Flags::SYN]);
    }
}

/// RFC 9768, §3.1.5: the two ends could take the connection for different ones.
#[test]
fn syns_that_ask_for_two_kinds_of_feedback_reset_the_connection() {
    let mut pair = unopened();
    let syn = pair.take(0)[0];
    assert_eq!(pair.answer(1, syn).len(), 1);
    let other = Segment {
        flags: Flags::SYN | Flags::CWR | Flags::ECE,
        ..syn
    };
    let reset = pair.answer(1, other);
    assert!(reset[0].flags.contains(Flags::RST), "{reset:?}");
    assert_eq!(pair.ends[1].ended(), Some(Ended::Aborted));
}

#[test]
fn octet_counters_can_be_left_out() {
    let mut pair = Pair::new(&counting(Config {
        ecn_option: false,
        ..Config::default()
    }));
    pair.ends[0].write(&[7; 1000]).unwrap();
    let data = pair.take(0);
    assert_eq!(data[0].ecn, Ecn::Ect1);
    let ack = pair.answer(1, data[0]);
    assert_eq!((counts(&data[0]), counts(&ack[0])), (None, None));
}

/// p4app-TCP-INT: an end echoes what the newest data brought, once, and only if a hop has written.
#[test]
fn a_tcp_int_option_is_echoed_once_and_gives_way_to_sack_blocks() {
    let mut pair = Pair::new(&Config {
        tcp_int: true,
        pacing: false,
        nagle: false,
        ..Config::default()
    });
    pair.ends[0].write(&[7; 12_000]).unwrap();
    let data = pair.take(0);
    assert!(
        data[0]
            .tcp_int
            .is_some_and(|option| option.echo == Echo::default())
    );
    assert_eq!(data[0].link_octets, 1500);
    let mut arrives = |at: usize, hop: u8| {
        let option = data[at].tcp_int.map(|option| TcpInt {
            value: 9,
            hop,
            latency: 1000,
            ..option
        });
        let segment = Segment {
            tcp_int: option,
            ..data[at]
        };
        let ack = pair.answer(1, segment);
        let [ack] = ack[..] else { panic!("{ack:?}") };
        assert!(ack.link_octets <= 80, "{ack:?}");
        ack.tcp_int
            .map(|option| (option.echo.hop, option.echo.hop_latency()))
    };
    let latency = Some(Duration::from_micros(256));
    assert_eq!(arrives(0, 0), None);
    assert_eq!(arrives(1, 62), Some((2, latency)));
    assert_eq!(arrives(2, 0), None);
    // One SACK block leaves room for the echo, two do not.
    assert_eq!(arrives(4, 63), Some((1, latency)));
    assert_eq!(arrives(6, 63), None);
    assert_eq!(arrives(3, 61), Some((3, latency)));
}
