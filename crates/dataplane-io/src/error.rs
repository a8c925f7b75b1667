//! Why interfaces cannot be used.

use std::io;
use std::path::PathBuf;
use thiserror::Error;

/// Why a dataplane cannot be had.
#[derive(Debug, Error)]
pub enum IoError {
    /// Packet sockets are refused.
    #[error("packets on interfaces need root (or the capabilities CAP_NET_RAW and CAP_NET_ADMIN)")]
    NotRoot,
    /// There is no such interface.
    #[error("there is no interface `{name}`; there are: {}", .valid.join(", "))]
    NoInterface {
        /// The name given.
        name: String,
        /// Those that there are.
        valid: Vec<String>,
    },
    /// The interface is down.
    #[error("interface `{name}` is down; bring it up with `ip link set {name} up`")]
    Down {
        /// Its name.
        name: String,
    },
    /// The interface has no Ethernet frames.
    #[error("interface `{name}` is no Ethernet interface")]
    NotEthernet {
        /// Its name.
        name: String,
    },
    /// Two ports on one interface, or one port on two.
    #[error("{what} is given twice; every port needs an interface of its own")]
    Twice {
        /// What.
        what: String,
    },
    /// The system refuses something else.
    #[error("interface `{name}`: {what}: {error}")]
    Interface {
        /// Its name.
        name: String,
        /// What was tried.
        what: &'static str,
        /// What the system says.
        error: io::Error,
    },
    /// A capture cannot be written.
    #[error("{path}: {error}")]
    Capture {
        /// The file.
        path: PathBuf,
        /// What the system says.
        error: io::Error,
    },
    /// Packets that the interface does not carry.
    #[error("interface `{name}` carries packets of at most {mtu} octets, not of {octets}")]
    TooLong {
        /// Its name.
        name: String,
        /// Octets of a packet.
        octets: usize,
        /// Its MTU.
        mtu: usize,
    },
    /// A host's settings are not valid.
    #[error("TCP: {0}")]
    Tcp(#[from] transport::tcp::modern::ConfigError),
    /// A thread or an event cannot be had.
    #[error("{0}")]
    System(#[from] io::Error),
}
