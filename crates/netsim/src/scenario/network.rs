//! Hosts, switches with their tables, links.

use super::{Ipv4, Mac, MatchValue, Value};
use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A host.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Host {
    /// Its address: `"10.0.1.1"`.
    pub ipv4: Ipv4,
    /// Its interface's address: `"02:00:00:00:01:01"`.
    pub mac: Mac,
    /// Where its frames are sent: the address of the router's port (or of the host) at the other end.
    pub gateway_mac: Mac,
    /// The clock that its timestamps show; unset: right.
    #[serde(default)]
    pub clock: HostClock,
    /// Further interfaces, ports 1, 2, …: those of a host with SCTP over several paths.
    #[serde(default)]
    pub interfaces: Vec<Interface>,
}

/// A host's clock beside the run's.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct HostClock {
    /// What it shows at time zero, in seconds.
    pub offset_s: f64,
    /// How much too fast it runs, in parts per million; below zero: too slow.
    pub skew_ppm: f64,
}

/// A further interface of a host; fields as in [`Host`].
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Interface {
    /// Its address.
    pub ipv4: Ipv4,
    /// Its Ethernet address.
    pub mac: Mac,
    /// Where its frames are sent.
    pub gateway_mac: Mac,
}

/// A switch. Its ports are the ones that links name.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SwitchNode {
    /// Name of the program that it runs.
    pub program: String,
    /// Table entries, inserted in this order before the run.
    #[serde(default)]
    pub entries: Vec<TableEntry>,
    /// Default actions, set before the run.
    #[serde(default)]
    pub default_actions: Vec<DefaultAction>,
    /// Multicast groups, set before the run.
    #[serde(default)]
    pub multicast_groups: Vec<MulticastGroup>,
    /// Clone sessions, set before the run.
    #[serde(default)]
    pub clone_sessions: Vec<CloneSession>,
    /// Packets that the traffic manager holds for a port, whatever the program admits; unset: enough
    /// for twice the longest queue among its links, at least 1024.
    #[serde(default)]
    pub capacity: Option<u32>,
    /// The same for single ports.
    #[serde(default)]
    pub port_capacity: BTreeMap<u16, u32>,
    /// How a port's queues share its line, by priority from 0: octets in proportion to the weights, at most 8. A
    /// queue of weight 0 is served when the others are empty. Unset: the largest priority first.
    #[serde(default)]
    pub port_weights: BTreeMap<u16, Vec<u8>>,
    /// Ports with wireless links on which a Snoop agent repairs losses; empty: there is none.
    #[serde(default)]
    pub snoop: Vec<u16>,
}

/// A router without a program, as ns-2's nodes are, with a drop-tail queue in front of each line. Its ports are the
/// ones that links name.
#[derive(Clone, Debug, Default)]
pub struct Router {
    /// The ports by which packets to hosts' addresses leave.
    pub routes: BTreeMap<Ipv4, u16>,
}

/// An entry of a table.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TableEntry {
    /// Control-plane name of the table, in full or any suffix at a dot that is unique: `"routes"`.
    pub table: String,
    /// A set of values for each key, by the key's control-plane name. A ternary, range or optional key
    /// that is left out matches anything.
    #[serde(rename = "match", default)]
    pub matches: IndexMap<String, MatchValue>,
    /// Control-plane name of the action, in full or a unique suffix.
    pub action: String,
    /// The action's parameters by name.
    #[serde(default)]
    pub params: IndexMap<String, Value>,
    /// Parameters of the same action again, for tables with an action selector: it chooses among `params` and
    /// these.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub alternatives: Vec<IndexMap<String, Value>>,
    /// For tables with ternary, range or optional keys: the largest wins.
    #[serde(default)]
    pub priority: Option<u32>,
}

/// What a table does when no entry matches.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DefaultAction {
    /// As in [`TableEntry`].
    pub table: String,
    /// As in [`TableEntry`].
    pub action: String,
    /// As in [`TableEntry`].
    #[serde(default)]
    pub params: IndexMap<String, Value>,
}

/// Copies of packets with `mcast_grp` = `id`.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MulticastGroup {
    /// 1 to 65535.
    pub id: u16,
    /// The copies.
    pub replicas: Vec<Replica>,
}

/// Copies that `clone` makes.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CloneSession {
    /// 0 to 32767.
    pub id: u16,
    /// The copies.
    pub replicas: Vec<Replica>,
    /// Octets that a copy keeps; 0: all.
    #[serde(default)]
    pub octets: u32,
}

/// One copy of a packet.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Replica {
    /// Where to.
    pub port: u16,
    /// Its `egress_rid`.
    #[serde(default)]
    pub instance: u16,
}

/// One end of a link.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct End {
    /// A host or switch.
    pub node: String,
    /// The switch's port (0 to [`engine::ports::MAX_PORT`], each once); a host's first is 0 and may be left out.
    #[serde(default)]
    pub port: u16,
}

/// A link: two directions, alike unless `ab` or `ba` says otherwise.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Link {
    /// Its name in records and captures; unset: `"A-B"`, of its ends' nodes.
    #[serde(default)]
    pub name: Option<String>,
    /// One end.
    pub a: End,
    /// The other end.
    pub b: End,
    /// Bits per second.
    pub rate_bps: u64,
    /// Propagation delay, in seconds.
    pub delay_s: f64,
    /// Queue limit L of ns-2's drop-tail: one packet in service and L − 1 waiting. It governs a host's
    /// own queue; a switch's queue is its program's affair (`max_waiting = L − 1` in its tables).
    #[serde(default = "fifty")]
    pub queue: u32,
    /// Probability that a packet is lost behind the transmitter, each independently.
    #[serde(default)]
    pub loss: f64,
    /// The shared medium that it leads over; unset: none, each direction is a line of its own.
    #[serde(default)]
    pub medium: Option<String>,
    /// What differs from `a` to `b`.
    #[serde(default)]
    pub ab: LinkSide,
    /// What differs from `b` to `a`.
    #[serde(default)]
    pub ba: LinkSide,
    /// Changes during the run.
    #[serde(default)]
    pub changes: Vec<LinkChange>,
}

/// What differs in one direction of a link; fields as in [`Link`].
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct LinkSide {
    /// Bits per second.
    pub rate_bps: Option<u64>,
    /// Seconds.
    pub delay_s: Option<f64>,
    /// Packets.
    pub queue: Option<u32>,
    /// Probability.
    pub loss: Option<f64>,
}

/// A half-duplex channel that several links share. A node is one station on it, whatever its links.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Medium {
    /// The unit of a station's gaps, in seconds.
    pub slot_s: f64,
    /// Before each packet a station waits for 0 to `slots` − 1 slots, drawn evenly.
    pub slots: u32,
    /// Whether a station that hears another waits until it has sent.
    pub carrier_sense: bool,
}

/// A change of a link during the run. A packet meets the rate, delay and loss in force when its first
/// octet leaves.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LinkChange {
    /// When, in seconds.
    pub at_s: f64,
    /// Which direction; unset: both.
    #[serde(default)]
    pub direction: Option<Direction>,
    /// New rate in bits per second.
    #[serde(default)]
    pub rate_bps: Option<u64>,
    /// New delay in seconds.
    #[serde(default)]
    pub delay_s: Option<f64>,
    /// New loss probability.
    #[serde(default)]
    pub loss: Option<f64>,
}

/// A direction of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// From `a` to `b`.
    Ab,
    /// From `b` to `a`.
    Ba,
}

impl Link {
    /// Its name, given or made of its ends.
    pub fn name(&self) -> String {
        self.name
            .clone()
            .unwrap_or_else(|| format!("{}-{}", self.a.node, self.b.node))
    }
}

/// ns-2's default queue limit.
fn fifty() -> u32 {
    50
}
