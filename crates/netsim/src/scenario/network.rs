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
    /// The destination address of its frames: the address of the router's port (or of the host) at the other end.
    pub gateway_mac: Mac,
    /// The clock of its timestamps. Defaults to an exact clock.
    #[serde(default)]
    pub clock: HostClock,
    /// Further interfaces, ports 1, 2, …, for SCTP over several paths.
    #[serde(default)]
    pub interfaces: Vec<Interface>,
}

/// A host's clock relative to the clock of the run.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct HostClock {
    /// Its time at time zero of the run, in seconds.
    pub offset_s: f64,
    /// How much too fast it runs, in parts per million. Negative if it is too slow.
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
    /// The destination address of its frames.
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
    /// The most packets that the traffic manager holds per port, independent of the program. Defaults to twice the
    /// longest queue among its links, but at least 1024.
    #[serde(default)]
    pub capacity: Option<u32>,
    /// The capacity of single ports.
    #[serde(default)]
    pub port_capacity: BTreeMap<u16, u32>,
    /// How the queues of a port share its line, by priority from 0: each receives octets in proportion to its weight.
    /// At most 8 weights. A queue of weight 0 is served only when the others are empty. By default, larger priorities
    /// are served first.
    #[serde(default)]
    pub port_weights: BTreeMap<u16, Vec<u8>>,
    /// Ports with wireless links on which a Snoop agent repairs losses. Empty means that there is no agent.
    #[serde(default)]
    pub snoop: Vec<u16>,
}

/// A router without a program, like the nodes of ns-2, with a drop-tail queue in front of each line. Its ports are
/// those that links name.
#[derive(Clone, Debug, Default)]
pub struct Router {
    /// The output port for each host address.
    pub routes: BTreeMap<Ipv4, u16>,
}

/// An entry of a table.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TableEntry {
    /// Control-plane name of the table: the full name or a unique suffix after a dot, such as `"routes"`.
    pub table: String,
    /// A set of values for each key, by the control-plane name of the key. An omitted ternary, range or optional key
    /// matches anything.
    #[serde(rename = "match", default)]
    pub matches: IndexMap<String, MatchValue>,
    /// Control-plane name of the action: the full name or a unique suffix.
    pub action: String,
    /// The action's parameters by name.
    #[serde(default)]
    pub params: IndexMap<String, Value>,
    /// Further parameters of the same action, for tables with an action selector, which chooses among `params` and
    /// these.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub alternatives: Vec<IndexMap<String, Value>>,
    /// The priority, for tables with ternary, range or optional keys. Larger priorities win.
    #[serde(default)]
    pub priority: Option<u32>,
}

/// The default action of a table, which runs when no entry matches.
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

/// The copies of packets with `mcast_grp` = `id`.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MulticastGroup {
    /// The number of the group, 1 to 65535.
    pub id: u16,
    /// The copies.
    pub replicas: Vec<Replica>,
}

/// The copies that `clone` makes.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CloneSession {
    /// The number of the session, 0 to 32767.
    pub id: u16,
    /// The copies.
    pub replicas: Vec<Replica>,
    /// Octets that a copy keeps. 0 means all.
    #[serde(default)]
    pub octets: u32,
}

/// One copy of a packet.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Replica {
    /// The egress port.
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
    /// The port of a switch (0 to [`engine::ports::MAX_PORT`], each used once). The first port of a host is 0 and may
    /// be omitted.
    #[serde(default)]
    pub port: u16,
}

/// A link: two directions, identical unless `ab` or `ba` differ.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Link {
    /// Its name in records and captures. Defaults to `"A-B"`, from the nodes of its ends.
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
    /// Queue limit L of ns-2's drop-tail queue: one packet in service and L − 1 waiting. It applies to the queue of a
    /// host. The program of a switch limits its queues (`max_waiting = L − 1` in its tables).
    #[serde(default = "fifty")]
    pub queue: u32,
    /// Probability that a packet is lost behind the transmitter, independently for each packet.
    #[serde(default)]
    pub loss: f64,
    /// The shared medium of the link. By default, each direction is a separate line.
    #[serde(default)]
    pub medium: Option<String>,
    /// Differences in the direction from `a` to `b`.
    #[serde(default)]
    pub ab: LinkSide,
    /// Differences in the direction from `b` to `a`.
    #[serde(default)]
    pub ba: LinkSide,
    /// Changes during the run.
    #[serde(default)]
    pub changes: Vec<LinkChange>,
}

/// The differences of one direction of a link. Fields are as in [`Link`].
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

/// A half-duplex channel that several links share. A node is one station on it, however many links it has.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Medium {
    /// The unit of a station's gaps, in seconds.
    pub slot_s: f64,
    /// Before each packet, a station waits for 0 to `slots` − 1 slots, uniformly distributed.
    pub slots: u32,
    /// Whether a station that hears another one waits until that one has sent.
    pub carrier_sense: bool,
}

/// A change of a link during the run. A packet is subject to the rate, delay and loss at the start of its transmission.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LinkChange {
    /// The time of the change, in seconds.
    pub at_s: f64,
    /// The direction. Defaults to both.
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
    /// Its name, given or derived from its ends.
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
