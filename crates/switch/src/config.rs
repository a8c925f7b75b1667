//! The configuration of a switch.

use crate::Scheduling;
use p4_vm::Limits;
use std::collections::BTreeMap;
use units::{Duration, Rate};

/// Settings of a switch.
#[derive(Clone, Debug)]
pub struct SwitchConfig {
    /// Seed of every random number that the program draws (`random`, hash algorithm `random`).
    pub seed: u64,
    /// Settings that only one architecture has, by name. Other architectures ignore them.
    pub options: BTreeMap<&'static str, u64>,
    /// The ports that the switch has.
    pub ports: BTreeMap<u16, PortConfig>,
    /// What a port is like that `ports` does not name; `None`: there is none, and a packet sent to it is
    /// dropped and counted as [`UnknownPort`](p4_vm::DropCause::UnknownPort), in v1model after egress.
    pub other_ports: Option<PortConfig>,
    /// Time that the packet generators need for each packet. Packets that become due in the meantime wait. On the wall
    /// clock, this bounds the load that generated packets cause.
    pub generator_packet_time: Duration,
    /// Whether [`poll_event`](p4_vm::Machine::poll_event) reports each drop. Drops are always counted.
    pub report_drops: bool,
    /// Whether [`poll_waiting`](crate::Target::poll_waiting) reports the ports at which packets wait.
    pub report_waiting: bool,
    /// Whether `poll_event` reports digests.
    pub report_digests: bool,
    /// Whether `poll_event` reports `log_msg` messages, failed asserts, and loops that are cut.
    pub report_logs: bool,
    /// How often a packet may be resubmitted or recirculated before it is dropped.
    pub max_passes: u32,
    /// How many copies (replicas and clones) of one packet may be made. Further copies are dropped.
    pub max_copies: u32,
    /// Octets of memory that queued packets may use, including their variables. Further packets are dropped.
    pub max_buffered_octets: u64,
    /// How many states that close a cycle of its parser a packet may enter before `ParserTimeout`. Also how many
    /// iterations a loop may take, each time it is run, before it is left.
    pub max_steps: u32,
    /// How many iterations all loops together may take between two queues before the packet is dropped.
    pub max_rounds: u32,
}

impl Default for SwitchConfig {
    /// Seed 0; every port exists, sends at once and has no limit; nothing is reported.
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
    /// The limits that apply to the program only.
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

/// The most queues that a port can have: one per priority. `tests/test_ports.py` compares it with the programs' number.
pub const MAX_QUEUES: u8 = 8;

/// The queues and the line of an egress port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PortConfig {
    /// The line's bit rate; `None`: packets leave at once.
    pub rate: Option<Rate>,
    /// Packets that may wait in each queue. The packet being sent is not counted.
    pub capacity: u32,
    /// Number of queues, 1 to [`MAX_QUEUES`]. A packet whose `priority` has no queue is dropped.
    pub queues: u8,
    /// How the queues share the line.
    pub scheduling: Scheduling,
}

impl Default for PortConfig {
    /// No rate limit, unlimited queues, all priorities, larger priorities first.
    fn default() -> Self {
        PortConfig {
            rate: None,
            capacity: u32::MAX,
            queues: MAX_QUEUES,
            scheduling: Scheduling::Strict,
        }
    }
}
