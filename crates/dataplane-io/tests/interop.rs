//! The user-space host talks with the Linux kernel's TCP over a veth pair, whose other end is in a
//! network namespace. Needs root, `ip` and `ethtool`; skips with a message without.

use std::fs::File;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, SocketAddrV4, TcpListener, TcpStream};
use std::process::Command;
use std::sync::Arc;
use std::thread;

use congestion::{Factory, RenoConfig, VegasConfig};
use dataplane_io::host::{Host, HostConfig, Loss, Place};
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
use sha2::{Digest, Sha256};
use std::os::fd::AsFd;
use transport::tcp::modern::{Config, EcnMode, Stamps};
use units::Duration;

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

/// Octets that no two places share by chance.
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
    let mut host = lab.host(tcp, loss, algorithm);
    let begun = host.now();
    let id = host
        .connect(SocketAddrV4::new(KERNEL, PORT))
        .expect("the kernel answers");
    let data = data();
    host.send(id, &mut &data[..]).expect("all is acknowledged");
    let mut answer = Vec::new();
    host.receive(id, &mut answer).expect("the digest comes");
    let took = host.now().since(begun);
    let stats = host.endpoint().connection(id).map(|c| c.stats());
    host.finish(id, Duration::from_millis(500));
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
    let begun = host.now();
    host.endpoint().listen(PORT, 4).expect("the port is free");
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
    let id = host.accept(PORT, LONG).expect("the kernel connects");
    let mut received = Vec::new();
    host.receive(id, &mut received).expect("the kernel closes");
    host.send(id, &mut digest(&received).as_bytes())
        .expect("the digest is acknowledged");
    let took = host.now().since(begun);
    eprintln!("from the kernel, {loss} lost: {took}");
    host.finish(id, Duration::from_millis(500));
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
    let mut host = lab.host(Config::default(), 0.0, Arc::new(RenoConfig {}));
    let error = host
        .connect(SocketAddrV4::new(KERNEL, PORT))
        .expect_err("the kernel refuses");
    assert_eq!(error.to_string(), "the connection was refused");
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
