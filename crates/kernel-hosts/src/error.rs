//! What can go wrong while programs are attached.

use std::io;

/// A failure, with what was expected.
#[derive(Debug, thiserror::Error)]
pub enum KernelError {
    /// The caller is not root.
    #[error("BPF programs need root: run this with sudo")]
    NotRoot,
    /// The kernel describes no types of its own.
    #[error(
        "this kernel has no BTF (/sys/kernel/btf/vmlinux is missing): expected Linux 6.6 or later, built with \
         CONFIG_DEBUG_INFO_BTF"
    )]
    NoBtf,
    /// There is no such interface in this network namespace.
    #[error("no interface {name:?} in this network namespace; interfaces: {}", valid.join(", "))]
    NoInterface {
        /// As asked for.
        name: String,
        /// Those that are there.
        valid: Vec<String>,
    },
    /// Frames of the interface have no Ethernet header.
    #[error("{name} is not an Ethernet interface (veth, a NIC, a bridge)")]
    NotEthernet {
        /// The interface.
        name: String,
    },
    /// A mark that there is not.
    #[error("--marks: no mark {name:?}; valid: aqt, drai, ci")]
    NoMark {
        /// As asked for.
        name: String,
    },
    /// A control that there is not.
    #[error("--control: no control {name:?} for the kernel; valid: {}", valid.join(", "))]
    NoControl {
        /// As asked for.
        name: String,
        /// Those that there are.
        valid: Vec<&'static str>,
    },
    /// No control is registered, so that nothing exports events.
    #[error(
        "no congestion control is registered: waymark kernel attach IF --control NAME registers one"
    )]
    NothingToTrace,
    /// The programs are attached already.
    #[error("{name} already has the programs; detach them first: waymark kernel detach {name}")]
    Attached {
        /// The interface.
        name: String,
    },
    /// The programs are not attached.
    #[error(
        "{name} does not have the programs; interfaces that do: {}",
        listed(valid)
    )]
    NotAttached {
        /// The interface.
        name: String,
        /// Those that have them.
        valid: Vec<String>,
    },
    /// Programs of another version are running.
    #[error(
        "the programs of another version are attached on this machine: detach them from all interfaces first"
    )]
    OtherVersion,
    /// The driver runs no XDP programs, or has one.
    #[error(
        "--xdp: the interface's driver does not support XDP, or already has a program ({error}); without --xdp, the options are removed above the driver"
    )]
    NoXdp {
        /// The kernel's answer.
        error: io::Error,
    },
    /// The kernel refused something.
    #[error("{what}: {error}{}", hint(error))]
    Kernel {
        /// What was tried.
        what: String,
        /// Its answer.
        error: io::Error,
    },
    /// A program was refused, or is not as it must be.
    #[error("{what}: {message}")]
    Program {
        /// What was tried.
        what: String,
        /// The last lines of the log.
        message: String,
    },
    /// The process that holds the programs did not answer.
    #[error("the process that holds the programs of {name} does not answer: {error}")]
    Holder {
        /// The interface.
        name: String,
        /// How that showed.
        error: io::Error,
    },
}

impl KernelError {
    /// From an answer of the kernel.
    pub(crate) fn kernel(what: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        let what = what.into();
        move |error| KernelError::Kernel { what, error }
    }
}

fn listed(names: &[String]) -> String {
    match names.is_empty() {
        true => "none".to_owned(),
        false => names.join(", "),
    }
}

fn hint(error: &io::Error) -> &'static str {
    match error.raw_os_error() {
        Some(libc::EINVAL) => " (expected Linux 6.6 or later)",
        Some(libc::EEXIST) => " (its name is in use)",
        _ => "",
    }
}
