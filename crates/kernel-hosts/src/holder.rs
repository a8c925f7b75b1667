//! The process that holds the programs of one interface. They are attached as long as it lives, so that nothing
//! stays behind when it is killed. A socket in the abstract namespace, which belongs to the interface's network
//! namespace and goes with the process, is its lock and takes requests: one line each, answered by one line.

use std::fs;
use std::io::{self, BufRead, BufReader, Write};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};
use std::process::{self, Command, Stdio};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::net::netdevice::{index_to_name, name_to_index};
use serde::{Deserialize, Serialize};

use crate::attachment::{self, Attachment, PREFIX, Strip};
use crate::error::KernelError;
use crate::marks::MarkSet;
use crate::sys;

const SOCKET: &str = "waymark-kernel/";
const READY: &str = "ready";
const PATIENCE: Duration = Duration::from_secs(5);
/// How often the holder looks whether its interface is still there.
const LOOK_EVERY: Timespec = Timespec {
    tv_sec: 1,
    tv_nsec: 0,
};

/// What is attached to an interface.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Status {
    /// The interface.
    pub interface: String,
    /// The control's name in the kernel, such as `wm_rovegas`.
    pub control: Option<String>,
    /// The marks of this host's own packets.
    pub marks: Vec<String>,
    /// Where the options are taken out.
    pub strip: Strip,
    /// The process that holds the programs.
    pub pid: u32,
}

/// Starts the holder of an interface in the background, and returns when the programs are attached.
///
/// # Errors
/// As [`hold`].
pub fn attach(
    name: &str,
    control: Option<&str>,
    marks: &str,
    strip: Strip,
) -> Result<Status, KernelError> {
    // What can be said without the other process is said here.
    attachment::check()?;
    MarkSet::parse(marks)?;
    control.map(attachment::find_control).transpose()?;
    let index = find_interface(name)?;
    if ask(index, "status").is_ok() {
        return Err(KernelError::Attached { name: name.into() });
    }
    let failed = || KernelError::kernel("starting the process that holds the programs");
    let program = std::env::current_exe().map_err(failed())?;
    let mut holder = Command::new(program)
        .args(["hold", name, control.unwrap_or("-"), marks, strip.name()])
        .current_dir("/")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(failed())?;
    let mut line = String::new();
    let stdout = holder.stdout.take().expect("piped");
    BufReader::new(stdout)
        .read_line(&mut line)
        .map_err(failed())?;
    if line.trim_end() != READY {
        let output = holder.wait_with_output().map_err(failed())?;
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(KernelError::Program {
            what: name.to_owned(),
            message: said.trim_end().trim_start_matches("error: ").to_owned(),
        });
    }
    status_of(index).map_err(|error| KernelError::Holder {
        name: name.into(),
        error,
    })
}

/// Holds the programs of an interface until told to detach them, or until the interface is gone.
///
/// # Errors
/// The interface is not there or has the programs, or they cannot be attached.
pub fn hold(
    name: &str,
    control: Option<&str>,
    marks: &str,
    strip: Strip,
) -> Result<(), KernelError> {
    let index = find_interface(name)?;
    let set = MarkSet::parse(marks)?;
    // A separate session: the terminal of the caller does not end it.
    let _ = rustix::process::setsid();
    let listener =
        UnixListener::bind_addr(&address(index)).map_err(|error| match error.kind() {
            io::ErrorKind::AddrInUse => KernelError::Attached { name: name.into() },
            _ => KernelError::kernel("listening")(error),
        })?;
    let attached = Attachment::new(index, control, set, strip)?;
    println!("{READY}");
    let status = |interface: String| Status {
        interface,
        control: control.map(|name| format!("{PREFIX}{name}")),
        marks: set.names().map(str::to_owned).collect(),
        strip,
        pid: process::id(),
    };
    loop {
        let Ok(interface) = interface_of(index) else {
            return Ok(());
        };
        let mut events = [PollFd::new(&listener, PollFlags::IN)];
        if !matches!(poll(&mut events, Some(&LOOK_EVERY)), Ok(1..)) {
            continue;
        }
        let Ok((stream, _)) = listener.accept() else {
            continue;
        };
        if !is_root(&stream) {
            continue;
        }
        // A caller that went away needs no answer.
        match request(&stream).as_deref() {
            Ok("status") => {
                let text = serde_json::to_string(&status(interface)).expect("plain data");
                let _ = answer(&stream, &text);
            }
            Ok("detach") => {
                drop(attached);
                drop(listener);
                let _ = answer(&stream, "detached");
                return Ok(());
            }
            _ => {}
        }
    }
}

/// Takes the programs off an interface.
///
/// # Errors
/// It does not have them, or their holder does not answer.
pub fn detach(name: &str) -> Result<(), KernelError> {
    attachment::check()?;
    let index = find_interface(name)?;
    match ask(index, "detach") {
        Ok(_) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
            Err(KernelError::NotAttached {
                name: name.into(),
                valid: statuses()?.into_iter().map(|one| one.interface).collect(),
            })
        }
        Err(error) => Err(KernelError::Holder {
            name: name.into(),
            error,
        }),
    }
}

/// What is attached to the interfaces of this network namespace, in their order.
///
/// # Errors
/// The caller is not root, whom the holders would not answer.
pub fn statuses() -> Result<Vec<Status>, KernelError> {
    attachment::check()?;
    let sockets = fs::read_to_string("/proc/self/net/unix").unwrap_or_default();
    let mut indices: Vec<u32> = sockets
        .lines()
        .filter_map(|line| line.split_once('@')?.1.strip_prefix(SOCKET)?.parse().ok())
        .collect();
    indices.sort_unstable();
    // An accepted connection has its listener's name.
    indices.dedup();
    Ok(indices
        .into_iter()
        .filter_map(|index| status_of(index).ok())
        .collect())
}

fn status_of(index: u32) -> io::Result<Status> {
    Ok(serde_json::from_str(&ask(index, "status")?)?)
}

fn find_interface(name: &str) -> Result<u32, KernelError> {
    let probe =
        std::os::unix::net::UnixDatagram::unbound().map_err(KernelError::kernel("a socket"))?;
    let Ok(index) = name_to_index(&probe, name) else {
        return Err(KernelError::NoInterface {
            name: name.into(),
            valid: interfaces(),
        });
    };
    match sys::hardware(name) {
        Ok(libc::ARPHRD_ETHER) => Ok(index),
        _ => Err(KernelError::NotEthernet { name: name.into() }),
    }
}

/// The names in `/proc/net/dev`, which is of this network namespace.
fn interfaces() -> Vec<String> {
    let devices = fs::read_to_string("/proc/self/net/dev").unwrap_or_default();
    let names = devices
        .lines()
        .filter_map(|line| Some(line.split_once(':')?.0.trim().to_owned()));
    let mut names: Vec<String> = names.filter(|name| name != "lo").collect();
    names.sort();
    names
}

fn interface_of(index: u32) -> rustix::io::Result<String> {
    let probe = rustix::net::socket(
        rustix::net::AddressFamily::UNIX,
        rustix::net::SocketType::DGRAM,
        None,
    )?;
    index_to_name(&probe, index)
}

fn address(index: u32) -> SocketAddr {
    SocketAddr::from_abstract_name(format!("{SOCKET}{index}")).expect("a short name")
}

fn ask(index: u32, what: &str) -> io::Result<String> {
    let stream = UnixStream::connect_addr(&address(index))?;
    answer(&stream, what)?;
    request(&stream)
}

fn answer(mut stream: &UnixStream, text: &str) -> io::Result<()> {
    stream.set_write_timeout(Some(PATIENCE))?;
    stream.write_all(format!("{text}\n").as_bytes())
}

fn request(stream: &UnixStream) -> io::Result<String> {
    stream.set_read_timeout(Some(PATIENCE))?;
    let mut line = String::new();
    BufReader::new(stream).read_line(&mut line)?;
    match line.pop() {
        Some('\n') => Ok(line),
        _ => Err(io::ErrorKind::UnexpectedEof.into()),
    }
}

/// Sockets in the abstract namespace have no permissions.
fn is_root(stream: &UnixStream) -> bool {
    rustix::net::sockopt::socket_peercred(stream).is_ok_and(|peer| peer.uid.is_root())
}
