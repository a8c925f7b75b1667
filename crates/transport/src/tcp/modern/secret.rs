//! Values that a host derives from its secret: initial sequence numbers, ports, and the hash of its connection table.

use std::hash::{BuildHasher, Hash, Hasher};

use siphasher::sip::SipHasher13;
use units::Instant;

use super::endpoint::Peer;

/// The secret of a host: 128 random bits.
#[derive(Clone, Copy)]
pub(super) struct Secret([u8; 16]);

/// Separates the uses of the key.
#[derive(Clone, Copy, Hash)]
enum Purpose {
    Table,
    Sequence,
    Port,
    Clock,
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secret(..)")
    }
}

impl BuildHasher for Secret {
    type Hasher = SipHasher13;

    fn build_hasher(&self) -> SipHasher13 {
        let mut hasher = SipHasher13::new_with_key(&self.0);
        Purpose::Table.hash(&mut hasher);
        hasher
    }
}

/// Ephemeral ports (RFC 6335, §6).
pub(super) const EPHEMERAL: std::ops::RangeInclusive<u16> = 49_152..=65_535;

impl Secret {
    pub(super) fn new(seed: [u8; 16]) -> Self {
        Secret(seed)
    }

    fn hash(&self, purpose: Purpose, value: impl Hash) -> u64 {
        let mut hasher = SipHasher13::new_with_key(&self.0);
        purpose.hash(&mut hasher);
        value.hash(&mut hasher);
        hasher.finish()
    }

    /// The sequence number of a SYN: ISN = M + F(4-tuple, secret), where M is a clock of 4 µs (RFC 6528, §3).
    pub(super) fn sequence(&self, now: Instant, peer: Peer) -> u32 {
        let clock = (now.as_micros() / 4) as u32;
        clock.wrapping_add(self.hash(Purpose::Sequence, peer) as u32)
    }

    /// The start of a connection's timestamps (RFC 7323, §5.4).
    pub(super) fn clock_start(&self, peer: Peer) -> u32 {
        self.hash(Purpose::Clock, peer) as u32
    }

    /// Ports to try for a connection to `peer`, each once, starting from a secret one (RFC 6056, §3.3.3).
    pub(super) fn ports(&self, peer: Peer, count: u32) -> impl Iterator<Item = u16> {
        let span = u64::from(EPHEMERAL.end() - EPHEMERAL.start()) + 1;
        let offset = self.hash(Purpose::Port, peer) % span + u64::from(count);
        (0..span).map(move |i| EPHEMERAL.start() + ((offset + i) % span) as u16)
    }
}
