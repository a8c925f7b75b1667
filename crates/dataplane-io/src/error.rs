//! Errors of interfaces and dataplanes.

use std::io;
use std::path::PathBuf;
use thiserror::Error;

/// Why a dataplane could not be created.
#[derive(Debug, Error)]
pub enum IoError {
    /// The process has no permission for packet sockets.
    #[error("packets on interfaces need root (or the capabilities CAP_NET_RAW and CAP_NET_ADMIN)")]
    NotRoot,
    /// There is no such interface.
    #[error("there is no interface `{name}`; valid: {}", .valid.join(", "))]
    NoInterface {
        /// The name given.
        name: String,
        /// The existing interfaces.
        valid: Vec<String>,
    },
    /// The interface is down.
    #[error("interface `{name}` is down; bring it up with `ip link set {name} up`")]
    Down {
        /// Its name.
        name: String,
    },
    /// The interface does not carry Ethernet frames.
    #[error("interface `{name}` is not an Ethernet interface")]
    NotEthernet {
        /// Its name.
        name: String,
    },
    /// Two ports on one interface, or one port on two.
    #[error("{what} is given twice; every port needs a separate interface")]
    Twice {
        /// The port or interface.
        what: String,
    },
    /// A system call for an interface failed.
    #[error("interface `{name}`: {what}: {error}")]
    Interface {
        /// Its name.
        name: String,
        /// The operation that failed.
        what: &'static str,
        /// The error of the system.
        error: io::Error,
    },
    /// A capture cannot be written.
    #[error("{path}: {error}")]
    Capture {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        error: io::Error,
    },
    /// A packet is too long for the interface.
    #[error("interface `{name}` carries packets of at most {mtu} octets, not of {octets}")]
    TooLong {
        /// Its name.
        name: String,
        /// Octets of a packet.
        octets: usize,
        /// Its MTU.
        mtu: usize,
    },
    /// The settings of a host are invalid.
    #[error("TCP: {0}")]
    Tcp(#[from] transport::tcp::modern::ConfigError),
    /// A thread or an event could not be created.
    #[error("{0}")]
    System(#[from] io::Error),
}
