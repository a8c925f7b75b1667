//! A router without a program, like the nodes of ns-2. It forwards by destination address.

use crate::scenario::{Ipv4, Router};
use std::collections::BTreeMap;
use transport::wire;

/// The offset of the destination address in an IPv4 packet.
const DESTINATION: usize = 16;

/// The line to each reachable host.
#[derive(Debug)]
pub(crate) struct RouterState {
    lines: BTreeMap<Ipv4, usize>,
}

impl RouterState {
    /// Creates a router. `line` returns the line at a port.
    pub fn new(router: &Router, line: impl Fn(u16) -> Option<usize>) -> Self {
        let routes = router.routes.iter();
        let lines = routes.filter_map(|(&to, &port)| Some((to, line(port)?)));
        RouterState {
            lines: lines.collect(),
        }
    }

    /// The line that a frame takes.
    pub fn line(&self, octets: &[u8]) -> Option<usize> {
        let at = wire::ipv4_offset(octets)? + DESTINATION;
        let destination = octets.get(at..)?.first_chunk()?;
        self.lines.get(&Ipv4(*destination)).copied()
    }
}
