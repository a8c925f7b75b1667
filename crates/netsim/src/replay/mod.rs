//! Runs to be compared with another simulator's traces, packet by packet.
//!
//! ```text
//!   description (data) ──► Replay ──► run ──► rows at the traced link ──► csv
//! ```
//! [`network`] moves packets in floating-point seconds, as in that simulator; events at
//! one instant happen in the order in which they were scheduled.

mod csv;
mod description;
mod network;

pub use description::{Drops, LinkSpan, Replay, Trace};
pub use network::{FlowSpec, Kind, LinkSpec, Loss, Network, Row};

use crate::connection::Connection;
use crate::flow;
use crate::scenario::{HostClock, ScenarioError};
use crate::simulation::Controls;
use units::{Duration, Instant};

/// Runs what a description (JSON) says; the events at its traced link as CSV.
///
/// # Errors
/// Names the place in the description, what is wrong there, and what is valid.
pub fn replay(text: &str) -> Result<String, ScenarioError> {
    let replay = Replay::from_json(text)?;
    Ok(csv::write(&replay.trace, replay.run()?))
}

impl Replay {
    /// Everything that happened at the traced link, in order.
    ///
    /// # Errors
    /// A flow that no chain of links joins to its receiver.
    pub fn run(&self) -> Result<Vec<Row>, ScenarioError> {
        let specs: Vec<LinkSpec> = self.links.iter().flat_map(directions).collect();
        let flows = self.flows.iter().enumerate().map(|(index, flow)| {
            let path = format!("flows[{index}]");
            let clocks = [HostClock::default(); 2];
            let ends = flow::connections(flow, clocks, &Controls::new(), &path, [0; 2])?;
            let (Connection::Ns2(sender), Connection::Ns2(receiver)) = ends else {
                let message = "traces are of the ns2 profile";
                return Err(ScenarioError::new(
                    format!("{path}.profile.modern"),
                    message,
                ));
            };
            Ok(FlowSpec {
                start: Instant::from_secs_f64(flow.start_s),
                sender: *sender,
                receiver: *receiver,
                forward: self.route(&path, &flow.from, &flow.to)?,
                backward: self.route(&path, &flow.to, &flow.from)?,
            })
        });
        let flows = flows.collect::<Result<Vec<_>, ScenarioError>>()?;
        let losses: Vec<Loss> = self
            .drops
            .iter()
            .flat_map(|drops| {
                let loss = |backward| {
                    move |&packet: &u64| Loss {
                        flow: drops.flow,
                        packet,
                        backward,
                    }
                };
                let data = drops.packets.iter().map(loss(false));
                data.chain(drops.acks.iter().map(loss(true)))
            })
            .collect();
        let network = Network::new(&specs, flows, self.traced()?, &losses);
        Ok(network.run(Instant::from_secs_f64(self.end_s)))
    }
}

/// Both directions of a link: numbers 2·i and 2·i + 1.
fn directions(link: &LinkSpan) -> [LinkSpec; 2] {
    let there = LinkSpec {
        rate_bps: link.rate_bps,
        delay: Duration::from_secs_f64(link.delay_s),
        limit: link.limit,
    };
    let back = LinkSpec {
        rate_bps: link.rate_back_bps.unwrap_or(link.rate_bps),
        limit: link.limit_back.unwrap_or(link.limit),
        ..there
    };
    [there, back]
}
