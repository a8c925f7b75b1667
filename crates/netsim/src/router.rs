//! A router without a program, as ns-2's nodes are: it forwards by destination address.

use crate::scenario::{Ipv4, Router};
use std::collections::BTreeMap;
use transport::wire;

/// Where an IPv4 packet has its destination address.
const DESTINATION: usize = 16;

/// The lines to the hosts that can be reached.
#[derive(Debug)]
pub(crate) struct RouterState {
    lines: BTreeMap<Ipv4, usize>,
}

impl RouterState {
    /// `line` is the line out at a port.
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
