//! The user-space host talks with the Linux kernel's TCP over a veth pair, whose other end is in a
//! network namespace. Needs root, `ip` and `ethtool`; skips with a message without.

use std::fs::File;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, SocketAddrV4, TcpListener, TcpStream};
use std::process::Command;
use std::sync::Arc;
use std::thread;

use congestion::{Factory, RenoConfig, VegasConfig};
use dataplane_io::host::{Host, HostConfig, Loss, Place, Transfer, Zeros};
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
use sha2::{Digest, Sha256};
use std::os::fd::AsFd;
use transport::tcp::modern::{Config, EcnMode, Stamps};
use units::{Duration, Instant};

const OURS: Ipv4Addr = Ipv4Addr::new(10, 213, 0, 2);
const KERNEL: Ipv4Addr = Ipv4Addr::new(10, 213, 0, 1);
const PORT: u16 = 5001;
const OCTETS: usize = 10_000_000;
const LONG: Duration = Duration::from_millis(30_000);

fn run(command: &str) -> Result<(), String> {
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

/// A veth pair, one end of it in a namespace; both go with this.
struct Lab {
    name: String,
}

impl Lab {
    /// `None`, and a message, if this may not be done here.
    fn new(suffix: &str) -> Option<Lab> {
        let lab = Lab {
            // With one more letter an interface's name, which has 15 at most.
            name: format!("wmt{}-{suffix}", std::process::id()),
        };
        let name = &lab.name;
        let steps = [
            format!("ip netns add {name}"),
            format!("ip link add {name}a mtu 1500 type veth peer name {name}b"),
            format!("ip link set {name}b netns {name}"),
            format!("ip netns exec {name} ip addr add {KERNEL}/24 dev {name}b"),
            format!("ip netns exec {name} ip link set {name}b up"),
            format!("ip netns exec {name} ethtool -K {name}b tso off gso off gro off"),
            format!("ip link set {name}a up"),
        ];
        for step in steps {
            if let Err(error) = run(&step) {
                eprintln!("skipped, as {error}");
                return None;
            }
        }
        Some(lab)
    }

    /// Runs `work` in the namespace.
    fn in_namespace<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> thread::JoinHandle<T> {
        let path = format!("/run/netns/{}", self.name);
        thread::spawn(move || {
            let namespace = File::open(path).expect("the namespace was made");
            move_into_link_name_space(namespace.as_fd(), Some(LinkNameSpaceType::Network))
                .expect("a thread may enter it");
            work()
        })
    }

    fn host(&self, tcp: Config, loss: f64, algorithm: Arc<dyn Factory>) -> Host {
        let config = HostConfig {
            place: Place {
                address: OURS,
                prefix: 24,
                gateway: None,
                gateway_mac: None,
                mac: None,
            },
            tcp,
            loss: (loss > 0.0).then_some(Loss {
                probability: loss,
                seed: 42,
            }),
            begins_in: Duration::ZERO,
        };
        Host::open(&format!("{}a", self.name), config, algorithm)
            .unwrap_or_else(|error| panic!("{error}"))
    }
}

impl Drop for Lab {
    fn drop(&mut self) {
        let _ = run(&format!("ip link del {}a", self.name));
        let _ = run(&format!("ip netns del {}", self.name));
    }
}

/// Octets that differ between places.
fn data() -> Vec<u8> {
    (0..OCTETS as u64)
        .map(|i| (i.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 37) as u8)
        .collect()
}

fn digest(octets: &[u8]) -> String {
    format!("{:x}", Sha256::digest(octets))
}

/// The kernel's end: reads all, and answers with the digest.
fn kernel_receives(mut stream: TcpStream) -> usize {
    let mut received = Vec::new();
    stream.read_to_end(&mut received).expect("the kernel reads");
    stream
        .write_all(digest(&received).as_bytes())
        .expect("the kernel answers");
    received.len()
}

/// Sends all of `data`, and waits until it is acknowledged.
fn send_and_close(transfer: &mut Transfer, mut data: &[u8], until: Instant) {
    let written = transfer.send(&mut data, until, &mut ());
    assert!(written.expect("the connection lasts"));
    transfer.close(false);
    let acknowledged = transfer.wait_acknowledged(until, &mut ());
    assert!(acknowledged.expect("the connection lasts"));
}

/// What comes until the kernel closes.
fn receive_all(transfer: &mut Transfer, until: Instant) -> Vec<u8> {
    let mut received = Vec::new();
    let mut keep = |octets: &[u8]| received.extend_from_slice(octets);
    let ended = transfer.receive(&mut keep, until, &mut ());
    assert!(ended.expect("the connection lasts"), "the kernel closes");
    received
}

fn to_the_kernel(suffix: &str, tcp: Config, loss: f64, algorithm: Arc<dyn Factory>) {
    let Some(lab) = Lab::new(suffix) else {
        return;
    };
    let (ready, listening) = std::sync::mpsc::channel();
    let kernel = lab.in_namespace(move || {
        let listener = TcpListener::bind((KERNEL, PORT)).expect("the port is free");
        ready.send(()).expect("the test waits");
        let (stream, _) = listener.accept().expect("a connection comes");
        kernel_receives(stream)
    });
    listening.recv().expect("the kernel listens");
    let mut transfer = Transfer::new(lab.host(tcp, loss, algorithm));
    let begun = transfer.now();
    let until = begun + LONG;
    let remote = SocketAddrV4::new(KERNEL, PORT);
    transfer.connect(remote).expect("a port is free");
    let open = transfer.wait_open(until, &mut ());
    assert!(open.expect("the kernel answers"));
    let data = data();
    send_and_close(&mut transfer, &data, until);
    let answer = receive_all(&mut transfer, until);
    let took = transfer.now().since(begun);
    let stats = transfer.connection().map(|c| c.stats());
    eprintln!("to the kernel, {loss} lost: {took}, {stats:?}");
    assert_eq!(String::from_utf8(answer).as_deref(), Ok(&digest(&data)[..]));
    assert_eq!(kernel.join().expect("the kernel's end ends"), OCTETS);
    if loss > 0.0 {
        assert!(stats.is_some_and(|stats| stats.resent > 0));
    }
}

fn from_the_kernel(suffix: &str, tcp: Config, loss: f64) {
    let Some(lab) = Lab::new(suffix) else {
        return;
    };
    let mut host = lab.host(tcp, loss, Arc::new(RenoConfig {}));
    host.endpoint().listen(PORT, 1).expect("the port is free");
    let mut transfer = Transfer::new(host);
    let begun = transfer.now();
    let until = begun + LONG;
    let kernel = lab.in_namespace(|| {
        let remote = SocketAddr::from((OURS, PORT));
        let mut stream = TcpStream::connect(remote).expect("the host answers");
        let data = data();
        stream.write_all(&data).expect("the kernel writes");
        stream.shutdown(Shutdown::Write).expect("the kernel closes");
        let mut answer = String::new();
        stream
            .read_to_string(&mut answer)
            .expect("the digest comes");
        (answer, digest(&data))
    });
    let accepted = transfer.accept(PORT, until, &mut ());
    assert!(accepted.expect("the port is free"), "the kernel connects");
    let received = receive_all(&mut transfer, until);
    send_and_close(&mut transfer, digest(&received).as_bytes(), until);
    let took = transfer.now().since(begun);
    eprintln!("from the kernel, {loss} lost: {took}");
    let (answer, wanted) = kernel.join().expect("the kernel's end ends");
    assert_eq!(received.len(), OCTETS);
    assert_eq!(answer, wanted);
}

#[test]
fn ten_megabytes_to_the_kernel() {
    to_the_kernel("1", Config::default(), 0.0, Arc::new(RenoConfig {}));
}

#[test]
fn ten_megabytes_to_the_kernel_through_loss() {
    to_the_kernel("2", Config::default(), 0.01, Arc::new(RenoConfig {}));
}

#[test]
fn ten_megabytes_from_the_kernel() {
    from_the_kernel("3", Config::default(), 0.0);
}

#[test]
fn ten_megabytes_from_the_kernel_through_loss() {
    from_the_kernel("4", Config::default(), 0.01);
}

#[test]
fn without_options_and_with_vegas() {
    let bare = Config {
        sack: false,
        window_scaling: false,
        timestamps: Stamps::Off,
        ecn: EcnMode::Off,
        ..Config::default()
    };
    to_the_kernel("5", bare.clone(), 0.01, Arc::new(VegasConfig::default()));
    from_the_kernel("5", bare, 0.01);
}

#[test]
fn with_the_papers_options_in_every_packet() {
    let marked = Config {
        aqt: true,
        avbw: true,
        timestamps: Stamps::Micros,
        ..Config::default()
    };
    to_the_kernel("6", marked.clone(), 0.005, Arc::new(RenoConfig {}));
    from_the_kernel("6", marked, 0.005);
}

#[test]
fn nobody_listens() {
    let Some(lab) = Lab::new("7") else {
        return;
    };
    let mut transfer = Transfer::new(lab.host(Config::default(), 0.0, Arc::new(RenoConfig {})));
    let remote = SocketAddrV4::new(KERNEL, PORT);
    transfer.connect(remote).expect("a port is free");
    let until = transfer.now() + LONG;
    let error = transfer.wait_open(until, &mut ());
    let error = error.expect_err("the kernel refuses");
    assert_eq!(error.to_string(), "the connection was refused");
    drop(transfer);
    let mut host = lab.host(Config::default(), 0.0, Arc::new(RenoConfig {}));
    let kernel = lab.in_namespace(|| {
        let remote = SocketAddr::from((OURS, PORT));
        TcpStream::connect_timeout(&remote, std::time::Duration::from_secs(5))
            .map(|_| ())
            .map_err(|error| error.kind())
    });
    let deadline = host.now() + LONG;
    while !kernel.is_finished() && host.now() < deadline {
        host.turn(Duration::from_millis(10));
    }
    let refused = Err(std::io::ErrorKind::ConnectionRefused);
    assert_eq!(kernel.join().expect("the attempt ends"), refused);
}

#[test]
fn a_transfer_waits_no_longer_than_it_may() {
    let Some(lab) = Lab::new("8") else {
        return;
    };
    let mut transfer = Transfer::new(lab.host(Config::default(), 0.0, Arc::new(RenoConfig {})));
    let nobody = Ipv4Addr::new(10, 213, 0, 77);
    let remote = SocketAddrV4::new(nobody, PORT);
    transfer.connect(remote).expect("a port is free");
    let begun = transfer.now();
    let until = begun + Duration::from_millis(200);
    let open = transfer.wait_open(until, &mut ());
    assert!(!open.expect("nobody refuses"));
    let took = transfer.now().since(begun);
    assert!(took >= Duration::from_millis(200), "{took}");
    assert!(took < Duration::from_millis(2_000), "{took}");
}

#[test]
fn a_reset_ends_what_is_received() {
    let Some(lab) = Lab::new("9") else {
        return;
    };
    let (ready, listening) = std::sync::mpsc::channel();
    let kernel = lab.in_namespace(move || {
        let listener = TcpListener::bind((KERNEL, PORT)).expect("the port is free");
        ready.send(()).expect("the test waits");
        let (stream, _) = listener.accept().expect("a connection comes");
        let mut first = [0];
        stream.peek(&mut first).expect("an octet comes");
        // Closing with octets unread resets the connection.
        drop(stream);
    });
    listening.recv().expect("the kernel listens");
    let mut transfer = Transfer::new(lab.host(Config::default(), 0.0, Arc::new(RenoConfig {})));
    let until = transfer.now() + LONG;
    let remote = SocketAddrV4::new(KERNEL, PORT);
    transfer.connect(remote).expect("a port is free");
    assert!(matches!(transfer.wait_open(until, &mut ()), Ok(true)));
    let sent = transfer.send(&mut Zeros(1000), until, &mut ());
    assert!(matches!(sent, Ok(true)));
    let error = transfer.receive(&mut |_| {}, until, &mut ());
    let error = error.expect_err("the kernel resets the connection");
    assert_eq!(
        error.to_string(),
        "the connection was reset by the other end"
    );
    kernel.join().expect("the kernel's end ends");
}
