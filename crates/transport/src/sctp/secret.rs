//! Values derived from an association's secret: tags, initial TSNs, nonces, and the State Cookie's MAC.

use hmac::{Hmac, Mac};
use sha2::Sha256;

/// Octets of a MAC.
pub(super) const MAC_OCTETS: usize = 32;

/// A secret key.
#[derive(Clone)]
pub(super) struct Secret(Hmac<Sha256>);

impl Secret {
    pub fn new(key: &[u8; 32]) -> Self {
        Secret(Hmac::new_from_slice(key).expect("HMAC takes keys of any length"))
    }

    /// HMAC-SHA256 (RFC 2104).
    pub fn mac(&self, octets: &[u8]) -> [u8; MAC_OCTETS] {
        let mut mac = self.0.clone();
        mac.update(octets);
        mac.finalize().into_bytes().into()
    }

    /// Whether `mac` is the MAC of `octets`, in constant time.
    pub fn verify(&self, octets: &[u8], mac: &[u8]) -> bool {
        let mut expected = self.0.clone();
        expected.update(octets);
        expected.verify_slice(mac).is_ok()
    }

    /// 64 bits that cannot be predicted without the key. They are the same for the same purpose and parts.
    pub fn draw(&self, purpose: &str, parts: &[u64]) -> u64 {
        let mut mac = self.0.clone();
        mac.update(purpose.as_bytes());
        for part in parts {
            mac.update(&part.to_be_bytes());
        }
        let octets = mac.finalize().into_bytes();
        u64::from_be_bytes(octets[..8].try_into().expect("a MAC has 32 octets"))
    }

    /// A tag or initial TSN. Never zero.
    pub fn draw_tag(&self, purpose: &str, parts: &[u64]) -> u32 {
        (self.draw(purpose, parts) as u32).max(1)
    }
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secret")
    }
}
