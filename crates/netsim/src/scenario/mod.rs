//! A scenario: network, traffic and what to record, as data (JSON).
//!
//! Times are in seconds, rates in bits per second, sizes in octets, and queues in packets. A scenario contains no
//! program text: a switch names a program, and the compiled programs are passed separately. Nothing that a control
//! plane decides is derived here: routes, neighbours, queue limits and feedback settings are explicit table entries.

mod association;
mod check;
mod network;
mod traffic;
mod value;

pub use association::{Association, AssociationProfile, PathControl, PrimaryChange};
pub(crate) use check::{check_settings, check_source_settings};
pub use network::{
    CloneSession, DefaultAction, Direction, End, Host, HostClock, Interface, Link, LinkChange,
    LinkSide, Medium, MulticastGroup, Replica, Router, SwitchNode, TableEntry,
};
pub(crate) use tcp_settings::read;
pub use tcp_settings::{
    AggregationName, Control, Custom, DataError as ScenarioError, EcnName, Mark, MarkField,
    ModernProfile, Ns2Profile, Profile,
};
pub use traffic::{Flow, Source, SourceKind, Tracing};
pub use value::{Ipv4, Mac, MatchValue, Value};

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

/// A whole run.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// A name for messages and records.
    pub name: String,
    /// The seed of every random number of the run.
    pub seed: u64,
    /// When the run ends, in seconds.
    pub end_s: f64,
    /// Width of the time bins of records, in seconds: bin `k` covers `[k·w, (k+1)·w)`.
    #[serde(default = "one_second")]
    pub sample_s: f64,
    /// Hosts by name.
    pub hosts: IndexMap<String, Host>,
    /// Switches by name. A name is unique among hosts and switches.
    #[serde(default)]
    pub switches: IndexMap<String, SwitchNode>,
    /// Routers without a program. Only in replays.
    #[serde(skip)]
    pub routers: IndexMap<String, Router>,
    /// Links between two ports.
    pub links: Vec<Link>,
    /// Shared media by name.
    #[serde(default)]
    pub media: IndexMap<String, Medium>,
    /// TCP transfers.
    #[serde(default, deserialize_with = "traffic::flows")]
    pub flows: Vec<Flow>,
    /// SCTP associations.
    #[serde(default)]
    pub associations: Vec<Association>,
    /// Open-loop traffic over UDP.
    #[serde(default)]
    pub sources: Vec<Source>,
    /// What to record and check in addition to the counts that are always kept.
    #[serde(default)]
    pub record: Record,
}

/// What to record and check.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Record {
    /// Names of the links to capture if a capture file is requested. Empty means all.
    pub pcap: Vec<String>,
    /// Counts flows over the whole run rather than per bin, and makes [`Simulation::take_ended`] return flows that have
    /// ended, so that memory does not grow with the number of past flows.
    ///
    /// [`Simulation::take_ended`]: crate::Simulation::take_ended
    pub flows_as_they_end: bool,
    /// Whether to compare the AQT of every arriving packet with the queueing times that the simulator knows.
    pub check_aqt: bool,
    /// Switches that add to AQT. Defaults to all. Only these count in `check_aqt`.
    pub aqt_switches: Option<Vec<String>>,
    /// Interval at which counters and registers of the switches are sampled, in seconds. By default they are only read
    /// at the end.
    pub sample_objects_s: Option<f64>,
    /// Compares the congestion indication of every arriving packet with the history of the queues.
    pub check_ci: Option<RefusalCounter>,
}

/// Where a P4 program counts packets that it refused because a queue was full: cell `stride · port + slot` of a
/// counter.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RefusalCounter {
    /// Control-plane name of the counter: the full name or a unique suffix.
    pub counter: String,
    /// Cells per port.
    pub stride: u64,
    /// The index among the cells of a port.
    pub slot: u64,
    /// Switches that mark packets. Defaults to all.
    #[serde(default)]
    pub switches: Option<Vec<String>>,
}

impl Scenario {
    /// Reads a scenario from JSON and checks it.
    ///
    /// # Errors
    /// The error names the place in the data, what is wrong there, and what is valid.
    pub fn from_json(text: &str) -> Result<Self, ScenarioError> {
        let scenario: Scenario = read(text)?;
        scenario.check()?;
        Ok(scenario)
    }
}

fn one_second() -> f64 {
    1.0
}
