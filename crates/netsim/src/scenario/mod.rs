//! A scenario: network, traffic and what to record, as data (JSON).
//!
//! Times are in seconds, rates in bits per second, sizes in octets, queues in packets. A scenario
//! holds no program text: a switch names a program, and the compiled programs are handed in beside it.
//! Nothing is derived here that a control plane decides: routes, neighbours, queue limits and feedback
//! switches are table entries, written out.

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
    /// Seeds every random number of the run.
    pub seed: u64,
    /// When the run ends, in seconds.
    pub end_s: f64,
    /// Width of the bins that records are kept in, in seconds: bin `k` covers `[k·w, (k+1)·w)`.
    #[serde(default = "one_second")]
    pub sample_s: f64,
    /// Hosts by name.
    pub hosts: IndexMap<String, Host>,
    /// Switches by name; a name is unique among hosts and switches.
    #[serde(default)]
    pub switches: IndexMap<String, SwitchNode>,
    /// Routers without a program, of replays only.
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
    /// What to record and check beside the counts that are always kept.
    #[serde(default)]
    pub record: Record,
}

/// What to record and check.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Record {
    /// Names of the links to capture when a capture file is asked for; empty: all.
    pub pcap: Vec<String>,
    /// Flows are counted over the whole run, not per bin, and [`Simulation::take_ended`] hands over those that
    /// have ended: memory does not grow with the flows of the past.
    ///
    /// [`Simulation::take_ended`]: crate::Simulation::take_ended
    pub flows_as_they_end: bool,
    /// Compare the AQT of every packet that arrives with the queueing times the simulator knows.
    pub check_aqt: bool,
    /// Switches that add to AQT; unset: all. Only these count in `check_aqt`.
    pub aqt_switches: Option<Vec<String>>,
    /// Interval at which the switches' counters and registers are sampled, in seconds; unset: they are
    /// read at the end only.
    pub sample_objects_s: Option<f64>,
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
        let scenario: Scenario = read(text)?;
        scenario.check()?;
        Ok(scenario)
    }
}

fn one_second() -> f64 {
    1.0
}
