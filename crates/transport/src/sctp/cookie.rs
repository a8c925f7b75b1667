//! The State Cookie (RFC 9260, §5.1.3): the complete state of a new association, which the peer keeps and returns.

use super::packet::Init;
use super::secret::{MAC_OCTETS, Secret};
use super::{Route, Tsn};
use std::net::Ipv4Addr;
use units::{Duration, Instant};

/// The maximum number of addresses of a peer that are stored.
pub(super) const MAX_ADDRESSES: usize = 8;

/// The terms that both ends negotiated in INIT and INIT ACK.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Terms {
    pub local_tag: u32,
    pub peer_tag: u32,
    pub local_tsn: Tsn,
    pub peer_tsn: Tsn,
    /// The peer's receive window.
    pub window: u32,
    /// The numbers of streams of this end and of the peer.
    pub outbound: u16,
    pub inbound: u16,
    /// The peer's port.
    pub port: u16,
    /// The addresses between which INIT and INIT ACK were sent.
    pub route: Route,
    /// The peer's addresses.
    pub addresses: Vec<Ipv4Addr>,
}

/// A State Cookie.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Cookie {
    pub made: Instant,
    pub terms: Terms,
    /// The tags of the association that existed when INIT was received. 0 if there was none.
    pub tie_tags: (u32, u32),
}

/// Why a cookie is not accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// It was not created by this end.
    Forged,
    /// It is too old, by this duration.
    Stale(Duration),
}

impl Terms {
    /// Derives the terms from the peer's INIT or INIT ACK and this end's configuration.
    pub fn new(
        init: &Init<'_>,
        own: (u32, Tsn),
        streams: (u16, u16),
        port: u16,
        route: Route,
    ) -> Self {
        let mut addresses: Vec<Ipv4Addr> = Vec::new();
        for address in init.parameters.addresses() {
            if addresses.len() < MAX_ADDRESSES && !addresses.contains(&address) {
                addresses.push(address);
            }
        }
        if !addresses.contains(&route.remote) {
            addresses.insert(0, route.remote);
        }
        Terms {
            local_tag: own.0,
            peer_tag: init.tag,
            local_tsn: own.1,
            peer_tsn: init.initial_tsn,
            window: init.window,
            outbound: streams.0.min(init.inbound),
            inbound: streams.1.min(init.outbound),
            port,
            route,
            addresses,
        }
    }
}

impl Cookie {
    /// Encodes the cookie, with its MAC.
    pub fn seal(&self, secret: &Secret) -> Vec<u8> {
        let t = &self.terms;
        let mut out = Vec::with_capacity(128);
        out.extend_from_slice(&self.made.as_nanos().to_be_bytes());
        for word in [
            self.tie_tags.0,
            self.tie_tags.1,
            t.local_tag,
            t.peer_tag,
            t.local_tsn.0,
            t.peer_tsn.0,
            t.window,
        ] {
            out.extend_from_slice(&word.to_be_bytes());
        }
        for half in [t.outbound, t.inbound, t.port, t.addresses.len() as u16] {
            out.extend_from_slice(&half.to_be_bytes());
        }
        for address in [t.route.local, t.route.remote].iter().chain(&t.addresses) {
            out.extend_from_slice(&address.octets());
        }
        out.extend_from_slice(&secret.mac(&out));
        out
    }

    /// Decodes and verifies a returned cookie.
    pub fn open(
        octets: &[u8],
        secret: &Secret,
        now: Instant,
        life: Duration,
    ) -> Result<Self, Refusal> {
        let body_octets = octets.len().checked_sub(MAC_OCTETS);
        let (body, mac) = octets.split_at(body_octets.ok_or(Refusal::Forged)?);
        if !secret.verify(body, mac) {
            return Err(Refusal::Forged);
        }
        let cookie = Self::read(body).ok_or(Refusal::Forged)?;
        let expires = cookie.made + life;
        if now > expires {
            return Err(Refusal::Stale(now.since(expires)));
        }
        Ok(cookie)
    }

    fn read(mut body: &[u8]) -> Option<Self> {
        let made = Instant::from_nanos(u64::from_be_bytes(take(&mut body)?));
        let mut word = || take(&mut body).map(u32::from_be_bytes);
        let tie_tags = (word()?, word()?);
        let (local_tag, peer_tag) = (word()?, word()?);
        let (local_tsn, peer_tsn) = (Tsn(word()?), Tsn(word()?));
        let window = word()?;
        let mut half = || take(&mut body).map(u16::from_be_bytes);
        let (outbound, inbound, port, count) = (half()?, half()?, half()?, half()?);
        let mut address = || take::<4>(&mut body).map(Ipv4Addr::from);
        let route = Route {
            local: address()?,
            remote: address()?,
        };
        let addresses = (0..count).map(|_| address()).collect::<Option<_>>()?;
        let terms = Terms {
            local_tag,
            peer_tag,
            local_tsn,
            peer_tsn,
            window,
            outbound,
            inbound,
            port,
            route,
            addresses,
        };
        Some(Cookie {
            made,
            terms,
            tie_tags,
        })
    }
}

fn take<const N: usize>(octets: &mut &[u8]) -> Option<[u8; N]> {
    let (first, rest) = octets.split_first_chunk()?;
    *octets = rest;
    Some(*first)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cookie() -> Cookie {
        let remote = Ipv4Addr::new(10, 0, 0, 1);
        Cookie {
            made: Instant::from_nanos(1_000_000_007),
            tie_tags: (8, 9),
            terms: Terms {
                local_tag: 1,
                peer_tag: 2,
                local_tsn: Tsn(3),
                peer_tsn: Tsn(4),
                window: 5,
                outbound: 6,
                inbound: 7,
                port: 8,
                route: Route {
                    local: Ipv4Addr::new(10, 0, 0, 2),
                    remote,
                },
                addresses: vec![remote, Ipv4Addr::new(10, 0, 1, 1)],
            },
        }
    }

    #[test]
    fn a_cookie_comes_back_as_it_was() {
        let secret = Secret::new(&[7; 32]);
        let sealed = cookie().seal(&secret);
        let life = Duration::from_millis(1000);
        let open = |now| Cookie::open(&sealed, &secret, Instant::from_nanos(now), life);
        assert_eq!(open(2_000_000_007), Ok(cookie()));
        let late = Refusal::Stale(Duration::from_nanos(1));
        assert_eq!(open(2_000_000_008), Err(late));
    }

    #[test]
    fn every_changed_octet_and_another_key_is_noticed() {
        let secret = Secret::new(&[7; 32]);
        let sealed = cookie().seal(&secret);
        let life = Duration::from_millis(1000);
        for at in 0..sealed.len() {
            let mut forged = sealed.clone();
            forged[at] ^= 1;
            let opened = Cookie::open(&forged, &secret, Instant::ZERO, life);
            assert_eq!(opened, Err(Refusal::Forged), "octet {at}");
        }
        for octets in [&sealed[..0], &sealed[..31], &sealed[1..]] {
            let opened = Cookie::open(octets, &secret, Instant::ZERO, life);
            assert_eq!(opened, Err(Refusal::Forged));
        }
        let other = Secret::new(&[8; 32]);
        let opened = Cookie::open(&sealed, &other, Instant::ZERO, life);
        assert_eq!(opened, Err(Refusal::Forged));
    }
}
