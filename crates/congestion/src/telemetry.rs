//! What the hops of a path say about themselves, in HPCC's terms (Li et al., SIGCOMM 2019, §4.1, figure 7).

/// The records of a path's hops, as one packet collected them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PathRecord {
    hops: [HopRecord; Self::MAX],
    len: u8,
    /// What the hops made of their identities: another value is another path.
    pub path: u16,
}

/// What a hop recorded of the queue and the link that a packet left by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HopRecord {
    /// When the packet left the queue, in nanoseconds of the hop's clock.
    pub left_ns: u64,
    /// Octets that the link has carried so far, this packet's included; wraps.
    pub sent_octets: u32,
    /// Octets that the packet left behind in the queue.
    pub queue_octets: u32,
    /// The link's rate, in kb/s; not 0.
    pub rate_kbps: u32,
}

impl PathRecord {
    /// Hops at most.
    pub const MAX: usize = 8;

    /// Appends the next hop on the way; `false`, and nothing changed, if there is no room.
    pub fn push(&mut self, hop: HopRecord) -> bool {
        let Some(slot) = self.hops.get_mut(usize::from(self.len)) else {
            return false;
        };
        *slot = hop;
        self.len += 1;
        true
    }

    /// The hops, in the order of the way.
    pub fn hops(&self) -> &[HopRecord] {
        &self.hops[..usize::from(self.len)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_has_room_for_eight_hops() {
        let mut path = PathRecord::default();
        let hop = |left_ns| HopRecord {
            left_ns,
            ..HopRecord::default()
        };
        assert!((0..8).all(|at| path.push(hop(at))));
        assert!(!path.push(hop(8)));
        assert_eq!(path.hops().len(), 8);
        assert_eq!(path.hops()[7], hop(7));
    }
}
