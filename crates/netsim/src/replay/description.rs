//! A run of a few flows over drop-tail queues, as data.

use crate::scenario::{self, Flow, Profile, ScenarioError, check_settings};
use serde::Deserialize;

/// A complete run. Flows take the shortest path. Their ends are hosts with one link each; all other nodes are routers.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Replay {
    /// When the run ends, in seconds.
    pub end_s: f64,
    /// The events to write.
    pub trace: Trace,
    /// Duplex links. The nodes are their endpoints.
    pub links: Vec<LinkSpan>,
    /// TCP transfers, as in scenarios.
    pub flows: Vec<Flow>,
    /// Packets to drop just before the traced queue, or before the queue in the reverse direction.
    #[serde(default)]
    pub drops: Vec<Drops>,
}

/// Which events to write, and their format.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Trace {
    /// The link to trace, in the direction from the first node to the second.
    pub link: [String; 2],
    /// Packet numbers are written modulo this.
    pub modulus: u64,
    /// Whether a row names its flow.
    #[serde(default)]
    pub flow_column: bool,
    /// Whether a dropped packet also has a queue row.
    #[serde(default)]
    pub drop_is_queue_row: bool,
    /// How often a drop row is written.
    #[serde(default = "once")]
    pub drop_rows: u32,
}

/// A duplex link.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LinkSpan {
    /// The nodes that it joins.
    pub between: [String; 2],
    /// Bits per second in each direction.
    pub rate_bps: u64,
    /// The rate in the reverse direction. Defaults to `rate_bps`.
    #[serde(default)]
    pub rate_back_bps: Option<u64>,
    /// Propagation delay, in seconds.
    pub delay_s: f64,
    /// Queue limit in packets, including the one in service.
    #[serde(default = "fifty")]
    pub limit: u32,
    /// The limit in the reverse direction. Defaults to `limit`.
    #[serde(default)]
    pub limit_back: Option<u32>,
}

/// Losses of one flow.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Drops {
    /// The index of the flow.
    #[serde(default)]
    pub flow: usize,
    /// Which of its data packets to drop on arrival at the traced queue, counted from 0.
    #[serde(default)]
    pub packets: Vec<u64>,
    /// Which of its acknowledgements to drop on arrival at the reverse queue, counted from 0.
    #[serde(default)]
    pub acks: Vec<u64>,
}

fn once() -> u32 {
    1
}

fn fifty() -> u32 {
    50
}

impl Replay {
    /// Reads a description from JSON and checks it.
    ///
    /// # Errors
    /// The error names the place in the data, what is wrong there, and what is valid.
    pub fn from_json(text: &str) -> Result<Self, ScenarioError> {
        let replay: Replay = scenario::read(text)?;
        replay.check()?;
        Ok(replay)
    }

    fn check(&self) -> Result<(), ScenarioError> {
        let fail = |path: String, message: &str| Err(ScenarioError::new(path, message));
        if !(0.0..=1e6).contains(&self.end_s) {
            return fail("end_s".into(), "expected 0 to 1e6 seconds");
        }
        if self.trace.modulus == 0 {
            return fail("trace.modulus".into(), "expected 1 or more");
        }
        for (index, link) in self.links.iter().enumerate() {
            let path = format!("links[{index}]");
            if link.rate_bps.min(link.rate_back_bps.unwrap_or(u64::MAX)) == 0 {
                return fail(format!("{path}.rate_bps"), "expected more than 0");
            }
            if !(0.0..=1e3).contains(&link.delay_s) {
                return fail(format!("{path}.delay_s"), "expected 0 to 1000 seconds");
            }
            if link.limit.min(link.limit_back.unwrap_or(link.limit)) < 2 {
                return fail(format!("{path}.limit"), "expected 2 or more packets");
            }
        }
        for (index, flow) in self.flows.iter().enumerate() {
            let path = format!("flows[{index}]");
            check_settings(&path, flow)?;
            if flow.trace {
                return fail(path, "trace is for scenarios, not for replays");
            }
            if matches!(flow.connection.profile, Profile::Modern(_)) {
                let path = format!("{path}.connection.profile.modern");
                return fail(path, "traces are of the ns2 profile");
            }
            if flow.connection.carries_aqt() {
                return fail(path, "the routers of a replay write no AQT");
            }
        }
        for (index, drops) in self.drops.iter().enumerate() {
            if drops.flow >= self.flows.len() {
                let message = format!("no flow {} among {}", drops.flow, self.flows.len());
                return fail(format!("drops[{index}].flow"), &message);
            }
        }
        self.traced().map(drop)
    }

    /// The index of the traced line.
    pub(super) fn traced(&self) -> Result<usize, ScenarioError> {
        let [from, to] = &self.trace.link;
        self.direction(from, to).ok_or_else(|| {
            let names: Vec<String> = self.links.iter().map(|l| l.between.join("-")).collect();
            let message = format!("no link {from}-{to} (links: {})", names.join(", "));
            ScenarioError::new("trace.link", message)
        })
    }

    fn direction(&self, from: &str, to: &str) -> Option<usize> {
        self.links.iter().enumerate().find_map(|(index, link)| {
            let [a, b] = &link.between;
            match (a == from && b == to, b == from && a == to) {
                (true, _) => Some(2 * index),
                (_, true) => Some(2 * index + 1),
                _ => None,
            }
        })
    }
}
