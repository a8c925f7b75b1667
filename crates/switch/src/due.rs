//! Which port sends next, and when.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use units::Instant;

/// When each port with waiting packets can send next. Each such port is listed once. The first is stored outside the
/// heap, because usually there is only one.
#[derive(Debug, Default)]
pub(crate) struct Due {
    first: Option<(Instant, u16)>,
    /// None of these is due before `first`.
    others: BinaryHeap<Reverse<(Instant, u16)>>,
}

impl Due {
    /// The port that sends first. Of several with the same time, the one with the lowest number.
    #[inline]
    pub fn first(&self) -> Option<(Instant, u16)> {
        self.first
    }

    #[inline]
    pub fn push(&mut self, due: (Instant, u16)) {
        let later = match self.first {
            None => {
                self.first = Some(due);
                return;
            }
            Some(first) if due < first => {
                self.first = Some(due);
                first
            }
            Some(_) => due,
        };
        self.others.push(Reverse(later));
    }

    #[inline]
    pub fn pop(&mut self) -> Option<(Instant, u16)> {
        let first = self.first.take();
        if !self.others.is_empty() {
            self.first = self.others.pop().map(|Reverse(due)| due);
        }
        first
    }

    /// Changes the time of a port that is in the set.
    pub fn change(&mut self, port: u16, at: Instant) {
        if self.first.is_some_and(|(_, first)| first == port) {
            self.pop();
        } else {
            self.others.retain(|Reverse((_, other))| *other != port);
        }
        self.push((at, port));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn ports_come_by_time_then_by_number() {
        let at = Instant::from_nanos;
        let mut due = Due::default();
        let mut expected = BTreeMap::new();
        let mut seed = 1_u64;
        for _ in 0..10_000 {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(99);
            let (port, time) = ((seed >> 40) as u16 % 8, at(seed >> 60));
            match (seed >> 33) % 3 {
                0 => {
                    let next = expected.iter().map(|(&port, &time)| (time, port)).min();
                    assert_eq!(due.first(), next);
                    assert_eq!(due.pop(), next);
                    next.map(|(_, port)| expected.remove(&port));
                }
                _ if expected.insert(port, time).is_some() => due.change(port, time),
                _ => due.push((time, port)),
            }
        }
    }
}
