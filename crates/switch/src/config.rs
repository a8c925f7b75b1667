//! What a switch is set up with.

use crate::Scheduling;
use p4_vm::Limits;
use std::collections::BTreeMap;
use units::{Duration, Rate};

/// Settings of a switch.
#[derive(Clone, Debug)]
pub struct SwitchConfig {
    /// Seed of every draw that the program makes (`random`, hash algorithm `random`).
    pub seed: u64,
    /// Settings that only one architecture has, by name; the others ignore them.
    pub options: BTreeMap<&'static str, u64>,
    /// The ports that the switch has.
    pub ports: BTreeMap<u16, PortConfig>,
    /// What a port is like that `ports` does not name; `None`: there is none, and a packet sent to it is
    /// dropped and counted as [`UnknownPort`](p4_vm::DropCause::UnknownPort), in v1model after egress.
    pub other_ports: Option<PortConfig>,
    /// Time that the packet generators need for each packet; those that are due meanwhile wait. On the wall clock it
    /// bounds the work that generated packets make.
    pub generator_packet_time: Duration,
    /// Whether [`poll_event`](p4_vm::Machine::poll_event) reports each drop. They are counted in any case.
    pub report_drops: bool,
    /// Whether [`poll_waiting`](crate::Target::poll_waiting) says where packets wait.
    pub report_waiting: bool,
    /// Whether it reports digests.
    pub report_digests: bool,
    /// Whether it reports what `log_msg` says, asserts that do not hold, and loops that are cut.
    pub report_logs: bool,
    /// How often a packet may be resubmitted or recirculated before it is dropped.
    pub max_passes: u32,
    /// How many copies (replicas and clones) may descend from one packet; further ones are dropped.
    pub max_copies: u32,
    /// Octets that waiting packets may take, their variables included; further ones are dropped.
    pub max_buffered_octets: u64,
    /// How many states a packet may go through that close a cycle of its parser, before
    /// `ParserTimeout`; and how many rounds a loop may take, each time it is run, before it is left.
    pub max_steps: u32,
    /// How many rounds all loops may take between two queues before the packet is dropped.
    pub max_rounds: u32,
}

impl Default for SwitchConfig {
    /// Seed 0, any port at once and without limit, nothing reported.
    fn default() -> Self {
        SwitchConfig {
            seed: 0,
            options: BTreeMap::new(),
            ports: BTreeMap::new(),
            other_ports: Some(PortConfig::default()),
            generator_packet_time: Duration::ZERO,
            report_drops: false,
            report_waiting: false,
            report_digests: false,
            report_logs: false,
            max_passes: 256,
            max_copies: 4096,
            max_buffered_octets: 1 << 30,
            max_steps: 65_536,
            max_rounds: 1 << 20,
        }
    }
}

impl SwitchConfig {
    /// The limits that concern the program alone.
    pub fn limits(&self) -> Limits {
        Limits {
            seed: self.seed,
            report_digests: self.report_digests,
            report_logs: self.report_logs,
            max_steps: self.max_steps,
            max_rounds: self.max_rounds,
        }
    }
}

/// Queues that a port can have: one for each priority. `tests/test_ports.py` compares it with the programs' number.
pub const MAX_QUEUES: u8 = 8;

/// An egress port's queues and line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PortConfig {
    /// The line's bit rate; `None`: packets leave at once.
    pub rate: Option<Rate>,
    /// Packets that may wait in each of its queues, not counting the one being sent.
    pub capacity: u32,
    /// Number of queues, 1 to [`MAX_QUEUES`]; a packet of a `priority` that has no queue is dropped.
    pub queues: u8,
    /// How they share the line.
    pub scheduling: Scheduling,
}

impl Default for PortConfig {
    /// At once, any number of packets, all priorities, the larger first.
    fn default() -> Self {
        PortConfig {
            rate: None,
            capacity: u32::MAX,
            queues: MAX_QUEUES,
            scheduling: Scheduling::Strict,
        }
    }
}
