//! Scheduling: which queue of a port is served next.

use crate::MAX_QUEUES;

/// How the queues of a port share its line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scheduling {
    /// Strict priority: the largest priority that has a packet.
    #[default]
    Strict,
    /// Deficit round robin (Shreedhar and Varghese 1996, §3): while all queues have packets, each receives octets in
    /// proportion to its weight. A queue of weight 0 is served only when all others are empty.
    Weighted([u8; MAX_QUEUES as usize]),
}

impl Scheduling {
    /// Weighted scheduling with these weights, from priority 0 on. Missing weights are 0; weights beyond [`MAX_QUEUES`]
    /// are ignored.
    pub fn weighted(weights: &[u8]) -> Self {
        let mut all = [0; MAX_QUEUES as usize];
        for (to, weight) in all.iter_mut().zip(weights) {
            *to = *weight;
        }
        Scheduling::Weighted(all)
    }
}

/// Octets that a queue of weight 1 may send per round: a full Ethernet frame, so that a round serves every queue.
const QUANTUM: u64 = 1518;

/// The state of deficit round robin.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Round {
    /// Octets that each queue may still send (its deficit counter).
    deficits: [u64; MAX_QUEUES as usize],
    /// The queue whose turn it is, and whether it has received its octets of this round.
    turn: usize,
    granted: bool,
}

impl Round {
    /// The queue to serve: the next one in the round whose first packet fits into its deficit. `first` returns the
    /// length in octets of the first packet of a queue, or `None` if the queue is empty.
    pub fn next(
        &mut self,
        weights: &[u8; MAX_QUEUES as usize],
        first: impl Fn(usize) -> Option<u64>,
    ) -> Option<usize> {
        let waits = |queue: usize| weights[queue] > 0 && first(queue).is_some();
        if !(0..weights.len()).any(waits) {
            return (0..weights.len())
                .rev()
                .find(|&queue| first(queue).is_some());
        }
        loop {
            let queue = self.turn;
            match first(queue).filter(|_| weights[queue] > 0) {
                None => self.deficits[queue] = 0,
                Some(octets) => {
                    if !self.granted {
                        self.deficits[queue] += u64::from(weights[queue]) * QUANTUM;
                        self.granted = true;
                    }
                    if octets <= self.deficits[queue] {
                        self.deficits[queue] -= octets;
                        return Some(queue);
                    }
                }
            }
            self.turn = (self.turn + 1) % weights.len();
            self.granted = false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WEIGHTS: [u8; 8] = [1, 9, 0, 0, 0, 0, 0, 0];

    /// Octets sent from each queue after `count` packets of these lengths. All queues always have packets.
    fn serve(round: &mut Round, lengths: [u64; 8], count: usize) -> [u64; 8] {
        let mut served = [0; 8];
        for _ in 0..count {
            let queue = round.next(&WEIGHTS, |queue| Some(lengths[queue])).unwrap();
            served[queue] += lengths[queue];
        }
        served
    }

    #[test]
    fn octets_follow_the_weights_whatever_the_lengths() {
        for lengths in [
            [1518; 8],
            [64, 1518, 1, 1, 1, 1, 1, 1],
            [9000, 100, 1, 1, 1, 1, 1, 1],
        ] {
            let served = serve(&mut Round::default(), lengths, 100_000);
            let ratio = served[1] as f64 / served[0] as f64;
            assert!((ratio / 9.0 - 1.0).abs() < 0.01, "{lengths:?}: {ratio}");
            assert_eq!(served[2..], [0; 6]);
        }
    }

    #[test]
    fn a_queue_that_was_empty_has_saved_nothing() {
        let mut round = Round::default();
        for _ in 0..1000 {
            let alone = |queue| (queue == 1).then_some(1518);
            assert_eq!(round.next(&WEIGHTS, alone), Some(1));
        }
        let served = serve(&mut round, [1518; 8], 20);
        assert_eq!(served[0], 2 * 1518);
    }

    #[test]
    fn weight_0_goes_last() {
        let mut round = Round::default();
        assert_eq!(
            round.next(&WEIGHTS, |queue| (queue != 0).then_some(64)),
            Some(1)
        );
        assert_eq!(
            round.next(&WEIGHTS, |queue| (queue > 1).then_some(64)),
            Some(7)
        );
        assert_eq!(round.next(&WEIGHTS, |_| None), None);
    }
}
