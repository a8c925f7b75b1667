//! The switch between two veth pairs keeps running after every fault. Needs root and `ip`; skips with a
//! message without.

mod support;

use dataplane_io::{Counters, DataplaneConfig, Outside};
use engine::{DropCause, PortConfig, PortStats, TraceEvent, Tracer};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, channel};
use support::{Lab, Live, News};
use units::{Duration, Instant, Rate};

/// Has the engine panic as the tenth packet is parsed.
#[derive(Debug)]
struct Saboteur(u32);

impl Tracer for Saboteur {
    fn event(&mut self, _: Instant, _: u64, event: TraceEvent<'_>) {
        if matches!(event, TraceEvent::State { .. }) {
            self.0 += 1;
            assert_ne!(self.0, 10, "sabotage");
        }
    }
}

#[test]
fn a_panic_of_the_engine_costs_one_packet() {
    let Some(lab) = Lab::new("a") else {
        return;
    };
    let live = lab.switch();
    live.ask(|switch| {
        let switch = switch.as_mut().expect("it was put there");
        switch.set_tracer(Some(Box::new(Saboteur(0))));
    });
    let mut sink = lab.sink(2);
    lab.send(1, 20, Duration::from_micros(200));
    // The panic's backtrace may take a second to print, and the packets around it wait.
    let panic = live.hear(|news| match news {
        News::Panicked(panic) => Some(panic),
        _ => None,
    });
    sink.run(Duration::from_millis(200));
    assert_eq!(sink.received().packets, 19);
    assert_eq!(
        (panic.message.contains("sabotage"), panic.block),
        (true, "ingress")
    );
    assert_eq!((panic.ingress_port, panic.octets.len()), (1, 114));
    let drops = live.ask(|switch| switch.as_ref().map(|switch| switch.drops()));
    assert_eq!(drops.map(|drops| drops.of(DropCause::Panic)), Some(1));
    assert!(live.dataplane.is_running());
}

#[test]
fn a_request_that_panics_does_not_end_the_switch() {
    let Some(lab) = Lab::new("b") else {
        return;
    };
    let live = lab.switch();
    live.handle.submit(Box::new(|_, _| panic!("sabotage")));
    let warning = live.hear(|news| match news {
        News::Warning(warning) => Some(warning),
        _ => None,
    });
    assert_eq!(
        warning,
        "a request from the control plane made the switch panic; it was not executed"
    );
    assert_eq!(lab.cross(10), 10);
}

#[test]
fn packets_pass_between_requests() {
    const REQUESTS: usize = 3_000;
    let Some(lab) = Lab::new("i") else {
        return;
    };
    let live = lab.switch();
    let done = Arc::new(AtomicUsize::new(0));
    for _ in 0..REQUESTS {
        let done = done.clone();
        live.handle.submit(Box::new(move |_, _| {
            std::thread::sleep(std::time::Duration::from_millis(1));
            done.fetch_add(1, Ordering::Relaxed);
        }));
    }
    assert_eq!(lab.cross(10), 10);
    let done = done.load(Ordering::Relaxed);
    assert!(
        (1..REQUESTS).contains(&done),
        "{done} were carried out before"
    );
}

/// A switch that counts, and its counts.
fn counting(lab: &Lab, config: DataplaneConfig) -> (Live, Counters) {
    let counters = Counters::new([1, 2]);
    let config = DataplaneConfig {
        counters: counters.clone(),
        ..config
    };
    (lab.switch_with(config), counters)
}

/// A switch that has this many threads which send.
fn with_senders(senders: usize) -> DataplaneConfig {
    DataplaneConfig {
        senders,
        ..DataplaneConfig::default()
    }
}

/// Has the switch do nothing until something is sent.
fn hold(live: &Live) -> Sender<()> {
    let (go_on, wait) = channel();
    live.handle.submit(Box::new(move |_, _| {
        let _ = wait.recv();
    }));
    go_on
}

/// What a port has counted.
fn stats(live: &Live, port: u16) -> PortStats {
    live.ask(move |switch| switch.as_ref().expect("it is there").port_stats(port))
}

fn warning(live: &Live) -> String {
    live.hear(|news| match news {
        News::Warning(warning) => Some(warning),
        _ => None,
    })
}

#[test]
fn frames_that_an_interface_does_not_take_are_counted() {
    let Some(lab) = Lab::new("c") else {
        return;
    };
    let (live, counters) = counting(&lab, DataplaneConfig::default());
    assert_eq!(lab.cross(10), 10);
    assert_eq!(counters.all(), []);
    support::run(&format!("ip link set {} down", lab.near(2))).unwrap();
    live.hear(|news| (news == News::Link(2, false)).then_some(()));
    lab.send(1, 10, Duration::from_millis(1));
    // The last frame is on its way for a moment.
    std::thread::sleep(std::time::Duration::from_millis(100));
    let stats = live.ask(|switch| switch.as_ref().map(|switch| switch.port_stats(2)));
    assert_eq!(
        stats.map(|stats| (stats.tx_packets, stats.send_failed)),
        Some((20, 10))
    );
    assert_eq!(counters.all(), []);
    support::run(&format!("ip link set {} up", lab.near(2))).unwrap();
    live.hear(|news| (news == News::Link(2, true)).then_some(()));
    // None of those that failed comes late.
    assert_eq!(lab.cross(10), 10);
    let failed = live.ask(|switch| {
        switch
            .as_ref()
            .map(|switch| switch.port_stats(2).send_failed)
    });
    assert_eq!(failed, Some(10));
}

/// Frames that the kernel sent through an interface, and their octets.
fn sent_through(interface: &str) -> (u64, u64) {
    let table = std::fs::read_to_string("/proc/net/dev").unwrap();
    let row = table
        .lines()
        .find_map(|line| line.trim().strip_prefix(interface));
    let numbers = row.unwrap().trim_start_matches(':').split_whitespace();
    let numbers: Vec<u64> = numbers.map(|number| number.parse().unwrap()).collect();
    (numbers[9], numbers[8])
}

#[test]
fn every_frame_is_sent_dropped_or_queued_whatever_happens_to_the_interfaces() {
    account_for_every_frame("g", 0);
}

#[test]
fn senders_account_for_every_frame_as_well() {
    account_for_every_frame("j", 2);
}

fn account_for_every_frame(suffix: &str, senders: usize) {
    let Some(lab) = Lab::new(suffix) else {
        return;
    };
    let (live, counters) = counting(&lab, with_senders(senders));
    // A line that takes 1 ms per frame, and few frames that wait.
    live.ask(|switch| {
        let port = PortConfig {
            rate: Rate::from_bps(800_000),
            capacity: 500,
            ..PortConfig::default()
        };
        switch.as_mut().expect("it was put there").set_port(2, port);
    });
    // Ports 1 and 2 at any moment.
    let balance = || {
        let [came, left] = live.ask(|switch| {
            let switch = switch.as_ref().expect("it is there");
            [1, 2].map(|port| switch.port_stats(port))
        });
        let lost = left.drops.of(DropCause::TmFull);
        let left_or_waits = left.tx_packets + lost + u64::from(left.waiting);
        assert_eq!(left_or_waits, came.rx_packets, "{left:?}");
        (came, left)
    };
    let mut offered = 0;
    let mut send = |count: u64, apart_us: u64, octets: u16| {
        lab.send_of(1, count, Duration::from_micros(apart_us), octets);
        offered += count;
    };
    let drain = || {
        let begin = std::time::Instant::now();
        while balance().1.waiting > 0 {
            assert!(begin.elapsed().as_secs() < 5, "the queue does not drain");
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        balance()
    };
    let go_on = hold(&live);
    send(6_000, 10, 100);
    go_on.send(()).unwrap();
    std::thread::sleep(std::time::Duration::from_millis(100));
    let (_, overloaded) = balance();
    assert!(overloaded.waiting > 0 && overloaded.drops.of(DropCause::TmFull) > 0);
    let link = |way: &str, up| {
        support::run(&format!("ip link set {} {way}", lab.near(2))).unwrap();
        live.hear(|news| (news == News::Link(2, up)).then_some(()));
    };
    link("down", false);
    send(100, 100, 300);
    let down = drain().1;
    let failed = down.send_failed;
    assert!(down.send_failed_octets > 100 * failed, "{down:?}");
    link("up", true);
    send(300, 10, 200);
    drain();
    // Packets of 100 octets do not fit any more, which the kernel would not say.
    support::run(&format!("ip link set {} mtu 90", lab.near(2))).unwrap();
    std::thread::sleep(std::time::Duration::from_millis(200));
    send(100, 500, 100);
    std::thread::sleep(std::time::Duration::from_millis(200));
    let (came, left) = drain();
    let lost = counters.of(1, Outside::ReceiveOverflow);
    assert_eq!(came.rx_packets + lost, offered);
    assert!(lost > 0 && failed >= 100, "{lost} {failed}");
    assert_eq!(left.send_failed, failed + 100);
    let sent = left.tx_packets - left.send_failed;
    // Ports are not charged the Ethernet header.
    let octets = left.tx_octets - left.send_failed_octets + 14 * sent;
    assert_eq!((sent, octets), sent_through(&lab.near(2)));
}

/// Frames that wait in the ring of each port, so that the batches are large.
const WAITING: u64 = 1_900;

#[test]
fn senders_lose_nothing_in_either_direction() {
    for senders in [1, 2] {
        let Some(lab) = Lab::new("k") else {
            return;
        };
        let (live, counters) = counting(&lab, with_senders(senders));
        let go_on = hold(&live);
        for port in [1, 2] {
            lab.send(port, WAITING, Duration::from_micros(5));
        }
        go_on.send(()).unwrap();
        // More comes as they work.
        lab.send(1, 20_000, Duration::from_micros(10));
        for (port, sent) in [(1, WAITING), (2, WAITING + 20_000)] {
            let came = || stats(&live, 3 - port).rx_packets;
            let lost = || counters.of(3 - port, Outside::ReceiveOverflow);
            until(|| came() + lost() == sent);
            until(|| sent_through(&lab.near(port)).0 == came());
            let left = stats(&live, port);
            assert_eq!((left.tx_packets, left.send_failed), (came(), 0));
        }
    }
}

#[test]
fn senders_give_back_what_an_interface_does_not_take() {
    let Some(lab) = Lab::new("l") else {
        return;
    };
    let (live, _) = counting(&lab, with_senders(2));
    let go_on = hold(&live);
    lab.send(1, WAITING, Duration::from_micros(5));
    support::run(&format!("ip link set {} down", lab.near(2))).unwrap();
    go_on.send(()).unwrap();
    until(|| stats(&live, 2).send_failed == WAITING);
    support::run(&format!("ip link set {} up", lab.near(2))).unwrap();
    live.hear(|news| (news == News::Link(2, true)).then_some(()));
    assert_eq!(lab.cross(10), 10);
    assert_eq!(sent_through(&lab.near(2)).0, 10);
    let go_on = hold(&live);
    lab.send(1, WAITING, Duration::from_micros(5));
    lab.delete(2).unwrap();
    go_on.send(()).unwrap();
    until(|| stats(&live, 2).send_failed == 2 * WAITING);
}

#[test]
fn frames_that_wait_for_a_link_never_leave_late() {
    for senders in [0, 2] {
        let Some(lab) = Lab::new("m") else {
            return;
        };
        let (live, _) = counting(&lab, with_senders(senders));
        // The near end stays up and loses its carrier. The kernel refuses frames, and leaves them in the ring.
        support::run(&format!("ip link set {} down", lab.far(2))).unwrap();
        live.hear(|news| (news == News::Link(2, false)).then_some(()));
        let go_on = hold(&live);
        lab.send(1, WAITING, Duration::from_micros(5));
        go_on.send(()).unwrap();
        until(|| stats(&live, 2).send_failed == WAITING);
        support::run(&format!("ip link set {} up", lab.far(2))).unwrap();
        live.hear(|news| (news == News::Link(2, true)).then_some(()));
        assert_eq!(lab.cross(10), 10);
        assert_eq!(sent_through(&lab.near(2)).0, 10);
        assert_eq!(stats(&live, 2).send_failed, WAITING);
    }
}

#[test]
fn a_switch_with_senders_ends_while_frames_come() {
    let Some(lab) = Lab::new("n") else {
        return;
    };
    let live = lab.switch_with(with_senders(2));
    std::thread::scope(|scope| {
        scope.spawn(|| lab.send(1, 30_000, Duration::from_micros(10)));
        until(|| stats(&live, 2).tx_packets > 5_000);
        drop(live);
    });
}

/// Waits until something is so, for 5 s at most.
fn until(is_so: impl Fn() -> bool) {
    let begin = std::time::Instant::now();
    while !is_so() {
        assert!(begin.elapsed().as_secs() < 5, "it does not come to that");
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
}

#[test]
fn frames_that_are_left_in_the_ring_of_a_deleted_interface_are_counted() {
    let Some(lab) = Lab::new("h") else {
        return;
    };
    let (live, counters) = counting(&lab, DataplaneConfig::default());
    let go_on = hold(&live);
    lab.send(1, 1_900, Duration::from_micros(10));
    lab.delete(1).unwrap();
    go_on.send(()).unwrap();
    warning(&live);
    let came = live.ask(|switch| {
        switch
            .as_ref()
            .map(|switch| switch.port_stats(1).rx_packets)
    });
    assert_eq!(
        came.map(|came| came + counters.of(1, Outside::Detached)),
        Some(1_900)
    );
}

#[test]
fn frames_that_come_while_the_ring_is_full_are_counted() {
    let Some(lab) = Lab::new("d") else {
        return;
    };
    let (live, counters) = counting(&lab, DataplaneConfig::default());
    let sent = 6_000;
    let go_on = hold(&live);
    lab.send(1, sent, Duration::from_micros(10));
    go_on.send(()).unwrap();
    std::thread::sleep(std::time::Duration::from_millis(500));
    let came = live.ask(|switch| {
        switch
            .as_ref()
            .map(|switch| switch.port_stats(1).rx_packets)
    });
    let lost = counters.of(1, Outside::ReceiveOverflow);
    assert!(lost > 0, "the ring holds fewer than {sent} frames");
    assert_eq!(came.map(|came| came + lost), Some(sent));
}

#[test]
fn an_interface_that_comes_back_is_taken_again() {
    let Some(lab) = Lab::new("e") else {
        return;
    };
    let (live, counters) = counting(&lab, DataplaneConfig::default());
    for times in 1..=2 {
        lab.delete(1).unwrap();
        let (near, far) = (lab.near(1), lab.far(1));
        assert_eq!(
            warning(&live),
            format!("`{near}` is gone; port 1 is down until it is back")
        );
        lab.add(1).unwrap();
        assert_eq!(
            warning(&live),
            format!("`{near}` is back; port 1 uses it again")
        );
        assert_eq!(counters.of(1, Outside::Reattached), times);
        live.hear(|news| (news == News::Link(1, true)).then_some(()));
        assert_eq!(lab.cross(10), 10, "through {far}");
    }
    assert_eq!(counters.of(2, Outside::Reattached), 0);
}

#[test]
fn jumbo_frames_pass_when_the_mtu_grows() {
    let Some(lab) = Lab::new("o") else {
        return;
    };
    let (live, counters) = counting(&lab, DataplaneConfig::default());
    for port in [1, 2] {
        let (near, far) = (lab.near(port), lab.far(port));
        support::run(&format!("ip link set {far} mtu 9000")).unwrap();
        support::run(&format!("ip link set {near} mtu 9000")).unwrap();
        assert_eq!(
            warning(&live),
            format!("`{near}` has an MTU of 9000 now, which port {port} uses")
        );
    }
    let mut sink = lab.sink(2);
    lab.send_of(1, 10, Duration::from_micros(200), 9000);
    sink.run(Duration::from_millis(200));
    assert_eq!(sink.received().packets, 10);
    assert_eq!(counters.of(1, Outside::ReceiveTooLong), 0);
    // A smaller MTU needs no other rings.
    support::run(&format!("ip link set {} mtu 1500", lab.near(1))).unwrap();
    assert_eq!(lab.cross(10), 10);
    assert_eq!(counters.of(1, Outside::Reattached), 1);
}

/// A file system of the given number of octets; dropping this removes it.
struct SmallDisk(PathBuf);

impl SmallDisk {
    fn new(name: &str, octets: u64) -> Option<Self> {
        let name = format!("waymark-small-{}-{name}", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir(&path).unwrap();
        let disk = SmallDisk(path);
        match disk.mount(&format!("size={octets}")) {
            Ok(()) => Some(disk),
            Err(error) => {
                eprintln!("skipped, as {error}");
                None
            }
        }
    }

    fn mount(&self, options: &str) -> Result<(), String> {
        support::run(&format!(
            "mount -t tmpfs -o {options} none {}",
            self.0.display()
        ))
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = support::run(&format!("umount {}", self.0.display()));
        let _ = std::fs::remove_dir(&self.0);
    }
}

/// Records of a capture, which has no parts of any (pcap(5), https://www.tcpdump.org).
fn records(path: &Path) -> u64 {
    let octets = std::fs::read(path).unwrap();
    let (mut rest, mut count) = (&octets[24..], 0);
    while !rest.is_empty() {
        let length = u32::from_be_bytes(rest[8..12].try_into().unwrap());
        assert_eq!(length, 114);
        rest = &rest[16 + length as usize..];
        count += 1;
    }
    count
}

#[test]
fn a_capture_on_a_full_disk_lacks_frames_that_are_counted() {
    let (Some(lab), Some(disk)) = (Lab::new("f"), SmallDisk::new("f", 64 << 10)) else {
        return;
    };
    let (live, counters) = counting(
        &lab,
        DataplaneConfig {
            captures: Some(disk.0.clone()),
            ..DataplaneConfig::default()
        },
    );
    // 195 kB in each of two captures.
    assert_eq!(lab.cross(1_500), 1_500);
    let lost = counters.of(1, Outside::CaptureFailed);
    assert!(lost > 0, "the disk holds them all");
    let said = warning(&live);
    assert!(
        said.contains("cannot be written: No space left on device") || said.contains("storage"),
        "{said}"
    );
    disk.mount("remount,size=10m").unwrap();
    assert_eq!(lab.cross(1_500), 1_500);
    let again = counters.of(1, Outside::CaptureFailed);
    drop(live);
    let incoming = records(&disk.0.join(format!("{}_in.pcap", lab.near(1))));
    assert_eq!(incoming + again, 3_000);
    assert!(
        again < 1_500 && again - lost < 10,
        "it goes on: {lost} and {again} were lost"
    );
}
