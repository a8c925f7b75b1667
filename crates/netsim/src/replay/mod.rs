//! Runs for packet-by-packet comparison with traces of another simulator.
//!
//! ```text
//!   description (data) ──► Replay ──► network ──► Simulation ──► rows at the traced queue ──► csv
//! ```

mod csv;
mod description;
mod network;

pub use crate::watch::{Kind, Row};
pub use description::{Drops, LinkSpan, Replay, Trace};

use crate::scenario::ScenarioError;
use crate::simulation::{Programs, Simulation};
use crate::watch::Watch;

/// Runs a description (JSON). Returns the events at its traced link as CSV.
///
/// # Errors
/// The error names the place in the description, what is wrong there, and what is valid.
pub fn replay(text: &str) -> Result<String, ScenarioError> {
    let replay = Replay::from_json(text)?;
    Ok(csv::write(&replay.trace, replay.run()?))
}

impl Replay {
    /// Runs the description. Returns all events at the traced link, in order.
    ///
    /// # Errors
    /// A flow's hosts are not connected, or there are more packets at once than the memory limit allows.
    pub fn run(&self) -> Result<Vec<Row>, ScenarioError> {
        let mut simulation = Simulation::new(&self.network()?, &Programs::new())?;
        let traced = self.traced()?;
        let (mut there, mut back) = (Watch::default(), Watch::default());
        for drops in &self.drops {
            let of_flow = |&packet: &u64| (drops.flow, packet);
            there.losses.extend(drops.packets.iter().map(of_flow));
            back.losses.extend(drops.acks.iter().map(of_flow));
        }
        simulation.watch(traced, there);
        // The directions of a link have adjacent numbers.
        simulation.watch(traced ^ 1, back);
        let ran = simulation.run(u64::MAX);
        ran.map_err(|error| ScenarioError::new("links", error.to_string()))?;
        Ok(simulation.watched(traced))
    }
}
