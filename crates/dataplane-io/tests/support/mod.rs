//! Pairs of interfaces for tests, and a switch between them.

#![allow(dead_code, reason = "each test uses a part")]

use std::net::{Ipv4Addr, SocketAddrV4};
use std::process::Command;
use std::sync::mpsc::{Receiver, Sender, channel};

use dataplane_io::host::{Place, Sink, Source};
use dataplane_io::{Dataplane, DataplaneConfig, Handle, ToController};
use engine::{Event, Panic, Switch, SwitchConfig};
use p4_frontend::{NoLoader, SourceMap};
use units::{Duration, Instant};

/// Forwards what comes in at port 1 to port 2, and the other way round; ports 3 and above go to port 510.
const PROGRAM: &str = r"
#include <core.p4>
#include <v1model.p4>
struct headers_t {}
struct metadata_t {}
parser ParseAll(packet_in packet, out headers_t hdr, inout metadata_t meta,
                inout standard_metadata_t std) { state start { transition accept; } }
control Nothing(inout headers_t hdr, inout metadata_t meta) { apply {} }
control Receive(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    apply {
        if (std.ingress_port == 1) { std.egress_spec = 2; }
        else if (std.ingress_port == 2) { std.egress_spec = 1; }
        else { std.egress_spec = 510; }
    }
}
control Transmit(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) { apply {} }
control EmitAll(packet_out packet, in headers_t hdr) { apply {} }
V1Switch(ParseAll(), Nothing(), Receive(), Transmit(), Nothing(), EmitAll()) main;
";

/// Runs a command; what it says if it fails.
pub fn run(command: &str) -> Result<(), String> {
    let mut words = command.split(' ');
    let program = words.next().unwrap_or_default();
    let output = Command::new(program)
        .args(words)
        .output()
        .map_err(|error| format!("{program}: {error}"))?;
    match output.status.success() {
        true => Ok(()),
        false => Err(format!(
            "{command}: {}",
            String::from_utf8_lossy(&output.stderr).trim()
        )),
    }
}

/// Two veth pairs, whose near ends are for a switch; they go with this.
pub struct Lab {
    name: String,
}

impl Lab {
    /// `None`, and a message, if this may not be done here.
    pub fn new(suffix: &str) -> Option<Lab> {
        let lab = Lab {
            // With two more letters an interface's name, which has 15 at most.
            name: format!("wms{}{suffix}", std::process::id()),
        };
        for port in [1, 2] {
            if let Err(error) = lab.add(port) {
                eprintln!("skipped, as {error}");
                return None;
            }
        }
        Some(lab)
    }

    /// Makes the pair of a port.
    pub fn add(&self, port: u16) -> Result<(), String> {
        let (near, far) = (self.near(port), self.far(port));
        run(&format!("ip link add {near} type veth peer name {far}"))?;
        // The kernel's own frames would be counted too.
        for name in [&near, &far] {
            let _ = std::fs::write(format!("/proc/sys/net/ipv6/conf/{name}/disable_ipv6"), "1");
        }
        run(&format!("ip link set {near} up"))?;
        run(&format!("ip link set {far} up"))
    }

    /// Deletes the pair of a port.
    pub fn delete(&self, port: u16) -> Result<(), String> {
        run(&format!("ip link del {}", self.near(port)))
    }

    /// The switch's end.
    pub fn near(&self, port: u16) -> String {
        format!("{}n{port}", self.name)
    }

    /// The other end.
    pub fn far(&self, port: u16) -> String {
        format!("{}f{port}", self.name)
    }

    /// A switch on both pairs, with the program.
    pub fn switch(&self) -> Live {
        self.switch_with(DataplaneConfig::default())
    }

    /// A switch on both pairs, with the program, and these settings except its ports.
    pub fn switch_with(&self, config: DataplaneConfig) -> Live {
        let (handle, jobs) = dataplane_io::jobs().expect("an eventfd");
        let (sender, news) = channel();
        let ports = [1, 2].map(|port| (port, self.near(port))).to_vec();
        let config = DataplaneConfig { ports, ..config };
        let dataplane = Dataplane::start(&config, handle.clone(), jobs, Controller(sender));
        let dataplane = dataplane.unwrap_or_else(|error| panic!("{error}"));
        let mut sources = SourceMap::new();
        let entry = sources.add("cross.p4", PROGRAM);
        let (program, diagnostics) = p4_frontend::compile(&mut sources, entry, &mut NoLoader, &[]);
        let program = program.unwrap_or_else(|| panic!("{}", diagnostics[0].message));
        let live = Live {
            dataplane,
            handle,
            news,
        };
        live.ask(move |switch| {
            let config = SwitchConfig::default();
            *switch = Some(Switch::new(&program, config).expect("a v1model program"));
        });
        live
    }

    /// Sends datagrams in packets of 100 octets into a port, so far apart.
    pub fn send(&self, port: u16, count: u64, apart: Duration) {
        self.send_of(port, count, apart, 100);
    }

    /// Sends datagrams in packets of `octets` octets into a port, `apart` from each other.
    pub fn send_of(&self, port: u16, count: u64, apart: Duration, octets: u16) {
        let (address, to) = (address(1), SocketAddrV4::new(address(2), 7));
        let mut source = Source::open(&self.far(port), place(address), to, octets, Duration::ZERO)
            .unwrap_or_else(|error| panic!("{error}"));
        let begin = source.now();
        let mut departures = (1..=count).map(|i| begin + apart * i);
        assert!(source.run(&mut departures, apart * count + Duration::from_millis(1000)));
    }

    /// Counts the datagrams that come out of a port.
    pub fn sink(&self, port: u16) -> Sink {
        Sink::open(&self.far(port), place(address(2)), 7).unwrap_or_else(|error| panic!("{error}"))
    }

    /// Datagrams that come through from port 1 to port 2 of `count` that are sent.
    pub fn cross(&self, count: u64) -> u64 {
        let mut sink = self.sink(2);
        self.send(1, count, Duration::from_micros(200));
        sink.run(Duration::from_millis(200));
        sink.received().packets
    }
}

impl Drop for Lab {
    fn drop(&mut self) {
        for port in [1, 2] {
            let _ = self.delete(port);
        }
    }
}

fn address(last: u8) -> Ipv4Addr {
    Ipv4Addr::new(10, 213, 1, last)
}

/// No address on the link is requested.
fn place(address: Ipv4Addr) -> Place {
    Place {
        address,
        prefix: 32,
        gateway: Some(Ipv4Addr::new(10, 213, 1, 254)),
        gateway_mac: Some([2, 0, 0, 0, 0, 9]),
        mac: None,
    }
}

/// What a switch told its controller.
#[derive(Debug, PartialEq)]
pub enum News {
    Packet(usize),
    Panicked(Panic),
    Link(u16, bool),
    Warning(String),
}

struct Controller(Sender<News>);

impl Controller {
    fn tell(&self, news: News) {
        let _ = self.0.send(news);
    }
}

impl ToController for Controller {
    fn packet(&mut self, octets: Vec<u8>) {
        self.tell(News::Packet(octets.len()));
    }

    fn event(&mut self, _: Event) {}

    fn panicked(&mut self, _: &Switch, panic: &Panic) {
        self.tell(News::Panicked(panic.clone()));
    }

    fn link(&mut self, port: u16, up: bool) {
        self.tell(News::Link(port, up));
    }

    fn warn(&mut self, message: String) {
        self.tell(News::Warning(message));
    }
}

/// A switch that runs.
pub struct Live {
    pub dataplane: Dataplane,
    pub handle: Handle,
    pub news: Receiver<News>,
}

impl Live {
    /// Does something to the switch and waits for the answer.
    pub fn ask<T: Send + 'static>(
        &self,
        act: impl FnOnce(&mut Option<Switch>) -> T + Send + 'static,
    ) -> T {
        let (done, answer) = channel();
        self.handle
            .submit(Box::new(move |switch: &mut Option<Switch>, _: Instant| {
                let _ = done.send(act(switch));
            }));
        answer.recv().expect("the thread runs")
    }

    /// The next news of a kind, within two seconds.
    pub fn hear<T>(&self, mut wanted: impl FnMut(News) -> Option<T>) -> T {
        let deadline = std::time::Instant::now() + std::time::Duration::from_secs(2);
        loop {
            let left = deadline.saturating_duration_since(std::time::Instant::now());
            let news = self
                .news
                .recv_timeout(left)
                .expect("the news comes in time");
            if let Some(found) = wanted(news) {
                return found;
            }
        }
    }
}
