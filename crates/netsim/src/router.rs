//! A router without a program, as ns-2's nodes are: it forwards by destination address.

use crate::scenario::{Ipv4, Router};
use std::collections::BTreeMap;

/// Where an Ethernet frame has the destination address of its IPv4 packet.
const DESTINATION: std::ops::Range<usize> = 30..34;

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
        let destination = octets.get(DESTINATION)?.try_into().ok()?;
        self.lines.get(&Ipv4(destination)).copied()
    }
}
