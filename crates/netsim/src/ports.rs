//! Port numbers of traffic. Port number and hosts identify the flow or source of a packet.

use std::collections::HashSet;

/// The smallest port number of flows and sources.
const FIRST: u16 = 1024;
/// The number of port numbers from `FIRST` on.
const COUNT: usize = 60_000;
/// Stands for no flow or source.
const NONE: u32 = u32::MAX;

/// The users of each port number. A user has the same number at both ends. Users between different
/// hosts may share a number.
#[derive(Debug)]
pub(crate) struct Ports {
    /// For each port number, its first and its last user.
    chains: Vec<[u32; 2]>,
    /// For each user, the next one with the same port number.
    next: Vec<u32>,
}

impl Ports {
    /// Assigns a port number to each user, which is given by its two hosts. No other user between
    /// these hosts has the same.
    ///
    /// Returns `None` if two hosts have more than 60,000 users between them.
    pub fn assign(pairs: impl Iterator<Item = (usize, usize)>) -> Option<(Vec<u16>, Ports)> {
        let mut ports = Ports {
            chains: vec![[NONE; 2]; COUNT],
            next: Vec::new(),
        };
        let mut taken = HashSet::new();
        let mut given = Vec::new();
        for (thing, (a, b)) in pairs.enumerate() {
            // One each, as long as there are enough for all.
            let mut free = (0..COUNT).map(|more| (thing + more) % COUNT);
            let port = free.find(|&port| taken.insert((a.min(b), a.max(b), port)))?;
            ports.add(thing as u32, port);
            given.push(FIRST + port as u16);
        }
        Some((given, ports))
    }

    fn add(&mut self, thing: u32, port: usize) {
        self.next.push(NONE);
        let [first, last] = &mut self.chains[port];
        match *last {
            NONE => *first = thing,
            last => self.next[last as usize] = thing,
        }
        *last = thing;
    }

    /// The users of a port number, in order.
    pub fn at(&self, port: u16) -> impl Iterator<Item = usize> {
        let chain = self.chains.get(usize::from(port.wrapping_sub(FIRST)));
        let first = chain.map(|[first, _]| *first);
        let used = |thing: u32| (thing != NONE).then_some(thing);
        std::iter::successors(first.and_then(used), move |&thing| {
            used(self.next[thing as usize])
        })
        .map(|thing| thing as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_has_its_own_number_as_long_as_there_are_enough() {
        let (given, ports) = Ports::assign((0..COUNT).map(|_| (1, 0))).unwrap();
        assert_eq!((given[0], given[COUNT - 1]), (1024, 61_023));
        assert_eq!(ports.at(61_023).collect::<Vec<_>>(), [COUNT - 1]);
        assert_eq!(ports.at(61_024).count() + ports.at(0).count(), 0);
    }

    #[test]
    fn numbers_serve_again_between_other_hosts_only() {
        let pairs = (0..3 * COUNT).map(|thing| (0, 1 + thing % 4));
        let (given, ports) = Ports::assign(pairs.clone()).unwrap();
        let pairs: Vec<_> = pairs.collect();
        let different: HashSet<_> = given.iter().zip(&pairs).collect();
        assert_eq!(different.len(), pairs.len());
        for (thing, port) in given.iter().enumerate().step_by(997) {
            assert!(ports.at(*port).any(|other| other == thing));
        }
    }

    #[test]
    fn two_hosts_have_so_many_and_no_more() {
        let back_and_forth = |count: usize| (0..count).map(|thing| (thing % 2, 1 - thing % 2));
        assert!(Ports::assign(back_and_forth(COUNT)).is_some());
        assert!(Ports::assign(back_and_forth(COUNT + 1)).is_none());
    }
}
