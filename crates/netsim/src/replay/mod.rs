//! Runs to be compared with another simulator's traces, packet by packet.
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
    /// A flow that no chain of links joins to its receiver; more packets at once than memory is for.
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
        // The directions of one link are numbered in pairs.
        simulation.watch(traced ^ 1, back);
        let ran = simulation.run(u64::MAX);
        ran.map_err(|error| ScenarioError::new("links", error.to_string()))?;
        Ok(simulation.watched(traced))
    }
}
