//! Applications of the packet generator, from Python.

use crate::errors::SwitchError;
use engine::{AppId, GeneratorApp, Trigger};
use pyo3::prelude::*;
use units::Duration;

/// A `waymark.generator.GeneratorApp`, which documents the fields.
#[derive(Debug, FromPyObject)]
pub struct App {
    pipe: u8,
    number: u8,
    trigger: String,
    time_ns: u64,
    pattern: Vec<u8>,
    mask: Vec<u8>,
    packet: Vec<u8>,
    batches: u32,
    packets: u32,
    packet_gap_ns: u64,
    batch_gap_ns: u64,
}

impl App {
    /// Converts it to the engine's form.
    pub fn read(&self) -> PyResult<(AppId, GeneratorApp)> {
        let time = Duration::from_nanos(self.time_ns);
        let (value, mask) = (first_octets(&self.pattern), first_octets(&self.mask));
        let trigger = match &*self.trigger {
            "once" => Trigger::Once { after: time },
            "periodic" => Trigger::Periodic { period: time },
            "port_down" => Trigger::PortDown,
            "recirculated" => Trigger::Recirculated { value, mask },
            "deparser" => Trigger::Deparser { value, mask },
            other => return Err(SwitchError::new_err(format!("no trigger {other:?}"))),
        };
        let id = AppId {
            pipe: self.pipe,
            number: self.number,
        };
        let app = GeneratorApp {
            trigger,
            packet: self.packet.clone(),
            batches: self.batches,
            packets: self.packets,
            packet_gap: Duration::from_nanos(self.packet_gap_ns),
            batch_gap: Duration::from_nanos(self.batch_gap_ns),
        };
        Ok((id, app))
    }
}

/// Up to 16 octets as a number, the first octet most significant.
fn first_octets(octets: &[u8]) -> u128 {
    let mut all = [0; 16];
    let length = octets.len().min(16);
    all[..length].copy_from_slice(&octets[..length]);
    u128::from_be_bytes(all)
}
