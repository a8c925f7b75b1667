//! A scenario: network, traffic and what to record, as data (JSON).
//!
//! Times are in seconds, rates in bits per second, sizes in octets, queues in packets. A scenario
//! holds no program text: a switch names a program, and the compiled programs are handed in beside it.
//! Nothing is derived here that a control plane decides: routes, neighbours, queue limits and feedback
//! switches are table entries, written out.

mod check;
mod error;
mod value;

pub use error::ScenarioError;
pub use value::{Ipv4, Mac, MatchValue, Value};

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

/// A whole run.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// A name for messages and records.
    pub name: String,
    /// Seeds every random number of the run.
    pub seed: u64,
    /// When the run ends, in seconds.
    pub end_s: f64,
    /// Width of the bins that records are kept in, in seconds: bin `k` covers `[k·w, (k+1)·w)`.
    #[serde(default = "defaults::sample_s")]
    pub sample_s: f64,
    /// Hosts by name. A host has one interface.
    pub hosts: IndexMap<String, Host>,
    /// Switches by name; a name is unique among hosts and switches.
    #[serde(default)]
    pub switches: IndexMap<String, SwitchNode>,
    /// Links between two ports.
    pub links: Vec<Link>,
    /// TCP transfers.
    #[serde(default)]
    pub flows: Vec<Flow>,
    /// Open-loop traffic over UDP.
    #[serde(default)]
    pub sources: Vec<Source>,
    /// What to record and check beside the counts that are always kept.
    #[serde(default)]
    pub record: Record,
}

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
    /// Packets that the traffic manager holds for a port, whatever the program admits; unset: enough
    /// for twice the longest queue among its links, at least 1024.
    #[serde(default)]
    pub capacity: Option<u32>,
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

/// One end of a link.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct End {
    /// A host or switch.
    pub node: String,
    /// The switch's port (1…510, each once); a host's is 0 and may be left out.
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
    #[serde(default = "defaults::queue")]
    pub queue: u32,
    /// Probability that a packet is lost behind the transmitter, each independently.
    #[serde(default)]
    pub loss: f64,
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

/// A TCP transfer: `from` sends, `to` acknowledges.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Flow {
    /// Its name in records; unset: `"flow0"`, `"flow1"`, …
    #[serde(default)]
    pub name: Option<String>,
    /// The sending host.
    pub from: String,
    /// The receiving host.
    pub to: String,
    /// The congestion control.
    pub control: Control,
    /// The transport's settings.
    #[serde(default)]
    pub profile: Profile,
    /// Whether data and acknowledgements carry the AQT option; unset: as the congestion control needs.
    #[serde(default)]
    pub aqt: Option<bool>,
    /// Whether data is marked capable of congestion indication (ECN field 0b10).
    #[serde(default)]
    pub ci: bool,
    /// When it begins, in seconds.
    #[serde(default)]
    pub start_s: f64,
    /// When it stops sending, in seconds; unset: never.
    #[serde(default)]
    pub stop_s: Option<f64>,
    /// Packets of data to send; unset: without end.
    #[serde(default)]
    pub segments: Option<u64>,
    /// Whether to record its window, threshold and round-trip times at every change.
    #[serde(default)]
    pub trace: bool,
}

/// A congestion control and its parameters; what is left out is the algorithm's own default.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Control {
    /// Which.
    pub name: ControlName,
    /// α: fewest packets to keep queued (Vegas, RoVegas).
    #[serde(default)]
    pub alpha: Option<f64>,
    /// β: most packets to keep queued.
    #[serde(default)]
    pub beta: Option<f64>,
    /// γ: packets queued that end slow start.
    #[serde(default)]
    pub gamma: Option<f64>,
    /// RoVegas: whether every hop is AQT-capable, so that base RTT is each round's newest derived value;
    /// else the least one (Chan 2004, §3.5.4). Default: true.
    #[serde(default)]
    pub full_deployment: Option<bool>,
}

/// The congestion controls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ControlName {
    /// Reno.
    Reno,
    /// Vegas (Chan 2004, §2.2).
    Vegas,
    /// RoVegas (Chan 2004, ch. 3); needs AQT.
    RoVegas,
}

/// Settings of a TCP connection in the ns-2 profile. The defaults are the `stock` row of the profiles'
/// table with Vegas' packet size.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Profile {
    /// Receiver's window in packets; also the initial slow-start threshold.
    pub window: u32,
    /// Initial window in packets (1 or 2).
    pub initial_window: u32,
    /// Least retransmission timeout, in seconds.
    pub min_rto_s: f64,
    /// Retransmission timeout before the first measurement, in seconds.
    pub initial_rto_s: f64,
    /// Granularity of the coarse timer, in seconds.
    pub tick_s: f64,
    /// Phase of the coarse clock against the run's, in seconds, within `[0, tick_s)`.
    pub phase_s: f64,
    /// Whether the floor is applied before backoff (RFC 2988) or after.
    pub rfc2988: bool,
    /// Limited transmit (RFC 3042).
    pub limited_transmit: bool,
    /// Largest congestion window in packets; unset: none.
    pub max_cwnd: Option<u32>,
    /// Suppresses a fast retransmit for losses of a window that a timeout has cut already.
    pub bugfix: bool,
    /// Octets that a data packet takes on links: the IPv4 total length, AQT option included.
    pub packet_octets: u32,
    /// Octets that an acknowledgement without options takes on links; the AQT option adds 8.
    pub ack_octets: u32,
    /// As ns-2: an acknowledgement whose range wraps past the end of the ring of send counts clears
    /// none of them, so that later packets look resent to Vegas.
    pub stale_send_counts: bool,
    /// A defect of ns-2's Vegas: after a timeout it may take the time between two acknowledgements of
    /// buffered data for a round-trip time, and starve.
    pub phantom_rtt: bool,
}

/// Open-loop traffic: datagrams of one size, at a constant rate while on.
///
/// With `i` = size · 8 / rate, a burst is `max(1, ⌊X + ½⌋)` packets, `i` apart, X of mean
/// `mean_on_s / i`; then comes an idle time plus one `i`. The source starts with an idle time plus `i`.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// Its name in records; unset: `"source0"`, `"source1"`, …
    #[serde(default)]
    pub name: Option<String>,
    /// The sending host.
    pub from: String,
    /// The receiving host.
    pub to: String,
    /// How bursts and idle times are drawn.
    pub kind: SourceKind,
    /// Bits per second while on.
    pub rate_bps: f64,
    /// Mean length of a burst in seconds (exponential, Pareto).
    #[serde(default)]
    pub mean_on_s: Option<f64>,
    /// Mean idle time in seconds (exponential, Pareto).
    #[serde(default)]
    pub mean_off_s: Option<f64>,
    /// Instead of `mean_off_s`: the mean rate, from which it follows as
    /// `mean_on_s · (rate_bps / mean_rate_bps − 1)`.
    #[serde(default)]
    pub mean_rate_bps: Option<f64>,
    /// Pareto's shape, above 1 (Pareto).
    #[serde(default)]
    pub shape: Option<f64>,
    /// Octets of a packet on links: the IPv4 total length.
    #[serde(default = "defaults::packet_octets")]
    pub packet_octets: u32,
    /// When it begins, in seconds.
    #[serde(default)]
    pub start_s: f64,
    /// When it stops, in seconds; unset: never.
    #[serde(default)]
    pub stop_s: Option<f64>,
}

/// The kinds of open-loop traffic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SourceKind {
    /// Always on: the first packet at `start_s`.
    Cbr,
    /// Exponential bursts and idle times.
    Exponential,
    /// Pareto bursts and idle times.
    Pareto,
}

/// What to record and check.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Record {
    /// Names of the links to capture when a capture file is asked for; empty: all.
    pub pcap: Vec<String>,
    /// Compare the AQT of every packet that arrives with the queueing times the simulator knows.
    pub check_aqt: bool,
    /// Switches that add to AQT; unset: all. Only these count in `check_aqt`.
    pub aqt_switches: Option<Vec<String>>,
    /// Compare the congestion indication of every packet that arrives with the queues' history.
    pub check_ci: Option<RefusalCounter>,
}

/// Where a P4 program counts the packets that it refused because a queue was full: cell
/// `stride · port + slot` of a counter.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RefusalCounter {
    /// Control-plane name of the counter, in full or a unique suffix.
    pub counter: String,
    /// Cells per port.
    pub stride: u64,
    /// The cell among a port's.
    pub slot: u64,
    /// Switches that mark; unset: all.
    #[serde(default)]
    pub switches: Option<Vec<String>>,
}

impl Scenario {
    /// Reads a scenario from JSON and checks it.
    ///
    /// # Errors
    /// Names the place in the data, what is wrong there, and what is valid.
    pub fn from_json(text: &str) -> Result<Self, ScenarioError> {
        let mut reader = serde_json::Deserializer::from_str(text);
        let scenario: Scenario = serde_path_to_error::deserialize(&mut reader)
            .map_err(|e| ScenarioError::new(e.path().to_string(), e.inner().to_string()))?;
        reader
            .end()
            .map_err(|e| ScenarioError::new(".", e.to_string()))?;
        scenario.check()?;
        Ok(scenario)
    }
}

impl Link {
    /// Its name, given or made of its ends.
    pub fn name(&self) -> String {
        self.name
            .clone()
            .unwrap_or_else(|| format!("{}-{}", self.a.node, self.b.node))
    }
}

impl Flow {
    /// Its name, given or made of its place `index` among the flows.
    pub fn name(&self, index: usize) -> String {
        self.name.clone().unwrap_or_else(|| format!("flow{index}"))
    }
}

impl Source {
    /// Its name, given or made of its place `index` among the sources.
    pub fn name(&self, index: usize) -> String {
        self.name
            .clone()
            .unwrap_or_else(|| format!("source{index}"))
    }
}

impl Default for Profile {
    fn default() -> Self {
        Profile {
            window: 1000,
            initial_window: 2,
            min_rto_s: 0.2,
            initial_rto_s: 3.0,
            tick_s: 0.01,
            phase_s: 0.0,
            rfc2988: true,
            limited_transmit: true,
            max_cwnd: None,
            bugfix: false,
            packet_octets: 1000,
            ack_octets: 40,
            stale_send_counts: true,
            phantom_rtt: false,
        }
    }
}

mod defaults {
    pub(super) fn sample_s() -> f64 {
        1.0
    }

    pub(super) fn queue() -> u32 {
        50
    }

    pub(super) fn packet_octets() -> u32 {
        1000
    }
}
