//! The trace hook: a record for every change when asked for, none otherwise.

use congestion::{Phase, QueueingTime, RenoConfig, RoVegasConfig};
use transport::tcp::{Change, Config, Connection, Recovery, Supply, Trace};
use units::{Duration, Instant};

/// Three segments over a path on which data queues for 3 ms and acknowledgements for 4 of 107 ms.
fn records(trace: bool) -> Vec<Trace> {
    let config = Config {
        aqt: true,
        trace,
        supply: Supply::Segments(3),
        ..Config::chan(Recovery::Vegas)
    };
    let mut sender = Connection::new(&config, &RoVegasConfig::default());
    let mut receiver = Connection::new(&config.peer(), &RenoConfig {});
    let mut now = Instant::ZERO;
    while !sender.is_finished() {
        let mut data = sender.poll_transmit(now).expect("the path is empty");
        data.aqt.as_mut().expect("data carries the option").time_us += 3000;
        receiver.handle_segment(now, &data);
        let mut ack = receiver
            .poll_transmit(now)
            .expect("every segment is acknowledged");
        let aqt = ack.aqt.as_mut().expect("its acknowledgement as well");
        assert_eq!((aqt.time_us, aqt.echo_us), (0, 3000));
        aqt.time_us += 4000;
        assert_eq!((data.link_octets, ack.link_octets), (1000, 48));
        now += Duration::from_millis(107);
        sender.handle_segment(now, &ack);
    }
    std::iter::from_fn(|| sender.poll_trace()).collect()
}

#[test]
fn every_change_is_recorded_with_its_marks() {
    let records = records(true);
    let changes: Vec<Change> = records.iter().map(|record| record.change).collect();
    let round = [Change::Sent, Change::Ack];
    assert_eq!(changes, round.repeat(3));
    let last = records.last().expect("six records");
    assert_eq!((last.acked, last.next, last.in_flight), (3, 3, 0));
    assert_eq!(last.now, Instant::from_micros(321_000));
    assert_eq!(last.rtt, Some(Duration::from_millis(107)));
    assert_eq!(
        last.aqt_echo,
        Some(QueueingTime::Exactly(Duration::from_millis(3)))
    );
    assert_eq!(
        last.aqt_backward,
        Some(QueueingTime::Exactly(Duration::from_millis(4)))
    );
    assert_eq!(last.controller.base_rtt, Some(Duration::from_millis(100)));
    assert_eq!(last.controller.phase, Phase::SlowStart);
}

#[test]
fn nothing_is_recorded_unless_asked_for() {
    assert_eq!(records(false), []);
}
