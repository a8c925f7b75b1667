//! The traffic of hosts: TCP transfers and open-loop sources.

use crate::trace::Keep;
use serde::de::{DeserializeSeed, Error, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use std::fmt;
use std::sync::Arc;
use tcp_settings::Settings;
use units::{Duration, Instant};

/// A TCP transfer: `from` sends, `to` acknowledges.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(try_from = "Given")]
pub struct Flow {
    /// Its name in records. Defaults to `"flow0"`, `"flow1"`, …
    pub name: Option<String>,
    /// The sending host.
    pub from: String,
    /// The receiving host.
    pub to: String,
    /// The settings of its connection. Defaults to those of the preceding flow in the scenario.
    pub connection: Arc<Settings>,
    /// When it begins, in seconds.
    pub start_s: f64,
    /// When it stops sending, in seconds. Defaults to never.
    pub stop_s: Option<f64>,
    /// Packets of data to send. Defaults to unlimited.
    pub segments: Option<u64>,
    /// Whether to record its window, threshold and round-trip times at every change.
    pub trace: bool,
    /// Which of these changes are recorded.
    pub tracing: Tracing,
}

/// A flow as it is written in a scenario. Everything except its hosts is optional.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Given {
    #[serde(default)]
    name: Option<String>,
    from: String,
    to: String,
    #[serde(default)]
    connection: Option<Arc<Settings>>,
    #[serde(default)]
    start_s: f64,
    #[serde(default)]
    stop_s: Option<f64>,
    #[serde(default)]
    segments: Option<u64>,
    #[serde(default)]
    trace: bool,
    #[serde(default)]
    tracing: Tracing,
}

impl Given {
    fn with(self, connection: Arc<Settings>) -> Flow {
        Flow {
            name: self.name,
            from: self.from,
            to: self.to,
            connection,
            start_s: self.start_s,
            stop_s: self.stop_s,
            segments: self.segments,
            trace: self.trace,
            tracing: self.tracing,
        }
    }
}

impl TryFrom<Given> for Flow {
    type Error = &'static str;

    fn try_from(mut given: Given) -> Result<Self, Self::Error> {
        let connection = given.connection.take();
        connection
            .map(|connection| given.with(connection))
            .ok_or(NO_CONNECTION)
    }
}

const NO_CONNECTION: &str = "missing field `connection`";

/// Reads the flows of a scenario. A flow without settings shares those of the preceding flow.
pub(super) fn flows<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<Flow>, D::Error> {
    from.deserialize_seq(FlowList)
}

struct FlowList;

/// The next flow, following a flow with these settings.
struct Next<'a>(Option<&'a Arc<Settings>>);

impl<'de> Visitor<'de> for FlowList {
    type Value = Vec<Flow>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a sequence")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut given: A) -> Result<Vec<Flow>, A::Error> {
        let mut flows: Vec<Flow> = Vec::new();
        while let Some(flow) =
            given.next_element_seed(Next(flows.last().map(|flow| &flow.connection)))?
        {
            flows.push(flow);
        }
        Ok(flows)
    }
}

impl<'de> DeserializeSeed<'de> for Next<'_> {
    type Value = Flow;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Flow, D::Error> {
        let mut given = Given::deserialize(from)?;
        let connection = given.connection.take();
        let connection = connection.or_else(|| self.0.cloned());
        let connection = connection.ok_or_else(|| D::Error::custom(NO_CONNECTION))?;
        Ok(given.with(connection))
    }
}

/// Which changes a trace records. Defaults to all.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Tracing {
    /// The time from which changes are recorded, in seconds.
    pub from_s: f64,
    /// The time until which changes are recorded, in seconds. Defaults to the end.
    pub to_s: Option<f64>,
    /// Minimum interval of rows, in seconds. Timeouts are always recorded.
    pub every_s: f64,
}

impl Tracing {
    pub(crate) fn keep(&self) -> Keep {
        Keep {
            from: Instant::from_secs_f64(self.from_s),
            to: self.to_s.map_or(Instant::MAX, Instant::from_secs_f64),
            apart: Duration::from_secs_f64(self.every_s),
        }
    }
}

/// Open-loop traffic: datagrams of one size, at a constant rate while on.
///
/// With `i` = size · 8 / rate, a burst consists of `max(1, ⌊X + ½⌋)` packets at intervals of `i`, where X has the mean
/// `mean_on_s / i`. It is followed by an idle time plus one `i`. The source starts with an idle time plus `i`.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// Its name in records. Defaults to `"source0"`, `"source1"`, …
    #[serde(default)]
    pub name: Option<String>,
    /// The sending host.
    pub from: String,
    /// The receiving host.
    pub to: String,
    /// The distribution of bursts and idle times.
    pub kind: SourceKind,
    /// Bits per second while on.
    pub rate_bps: f64,
    /// Mean length of a burst in seconds (exponential, Pareto).
    #[serde(default)]
    pub mean_on_s: Option<f64>,
    /// Mean idle time in seconds (exponential, Pareto).
    #[serde(default)]
    pub mean_off_s: Option<f64>,
    /// The mean rate, as an alternative to `mean_off_s`, which is then `mean_on_s · (rate_bps / mean_rate_bps − 1)`.
    #[serde(default)]
    pub mean_rate_bps: Option<f64>,
    /// Shape of the Pareto distribution, above 1 (Pareto).
    #[serde(default)]
    pub shape: Option<f64>,
    /// Octets of a packet on links: the IPv4 total length.
    #[serde(default = "thousand")]
    pub packet_octets: u32,
    /// When it begins, in seconds.
    #[serde(default)]
    pub start_s: f64,
    /// When it stops, in seconds. Defaults to never.
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

impl Flow {
    /// Its name, given or derived from its index among the flows.
    pub fn name(&self, index: usize) -> String {
        self.name.clone().unwrap_or_else(|| format!("flow{index}"))
    }
}

impl Source {
    /// Its name, given or derived from its index among the sources.
    pub fn name(&self, index: usize) -> String {
        self.name
            .clone()
            .unwrap_or_else(|| format!("source{index}"))
    }
}

fn thousand() -> u32 {
    1000
}
