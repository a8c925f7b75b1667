//! The addresses of hosts on interfaces, and their start times.

use crate::errors::SwitchError;
use dataplane_io::host::{Mac, Place};
use pyo3::prelude::*;
use std::net::{IpAddr, Ipv4Addr};
use units::Duration;

/// A dictionary with these keys.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct HostPlace {
    pub interface: String,
    address: IpAddr,
    prefix: u8,
    gateway: Option<IpAddr>,
    gateway_mac: Option<Mac>,
    mac: Option<Mac>,
}

impl HostPlace {
    /// Converts it to the host's settings.
    pub fn settings(&self) -> PyResult<Place> {
        Ok(Place {
            address: v4(self.address)?,
            prefix: self.prefix,
            gateway: self.gateway.map(v4).transpose()?,
            gateway_mac: self.gateway_mac,
            mac: self.mac,
        })
    }
}

pub fn v4(address: IpAddr) -> PyResult<Ipv4Addr> {
    match address {
        IpAddr::V4(address) => Ok(address),
        IpAddr::V6(address) => {
            let message = format!("expected an IPv4 address, found {address}");
            Err(SwitchError::new_err(message))
        }
    }
}

/// The time to wait. A time in the past means no wait.
pub fn wait(seconds: f64) -> Duration {
    Duration::from_secs_f64(seconds.max(0.0))
}
