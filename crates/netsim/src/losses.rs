//! Where a flow's data was lost, compared with how its sender classified the losses (Chan 2004,
//! table 6.1).

use congestion::Verdicts;
use std::collections::BTreeMap;

/// Losses are remembered for this many segments behind the acknowledged ones.
const REMEMBERED: u64 = 1 << 16;

/// Where a data packet was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Lost on a link, at random.
    Link,
    /// Refused by a queue or a program.
    Queue,
}

/// What actually happened to the segments that a sender considered lost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Truth {
    /// Lost on a link.
    pub link: u64,
    /// Refused by a queue or a program.
    pub queue: u64,
    /// Not lost, but late or reordered.
    pub none: u64,
}

/// A sender's classification, compared with what happened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Judged {
    /// Losses classified as random.
    pub random: Truth,
    /// Losses classified as congestion.
    pub congestion: Truth,
}

/// How a sender classified the loss of a segment, and how often.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Judgement {
    segment: u64,
    random: u64,
    congestion: u64,
}

/// The losses of a flow that its sender may still detect, and its classifications so far.
#[derive(Debug, Default)]
pub(crate) struct Losses {
    /// Where each segment was last lost.
    places: BTreeMap<u64, Place>,
    seen: Verdicts,
    pub judged: Judged,
}

impl Losses {
    /// Records the loss of a segment. Segments long before `acked` have arrived and are removed.
    pub fn note(&mut self, segment: u64, place: Place, acked: u64) {
        while let Some(first) = self.places.first_entry()
            && first.key().saturating_add(REMEMBERED) < acked
        {
            first.remove();
        }
        self.places.insert(segment, place);
    }

    /// The sender's classifications since the last call.
    pub fn news(&mut self, verdicts: Verdicts) -> Option<Judgement> {
        let random = verdicts.random - self.seen.random;
        let congestion = verdicts.congestion - self.seen.congestion;
        self.seen = verdicts;
        let segment = verdicts.newest.filter(|_| random + congestion > 0)?;
        Some(Judgement {
            segment,
            random,
            congestion,
        })
    }

    /// Compares a classification with where the segment was lost.
    pub fn judge(&mut self, judgement: Judgement) {
        let place = self.places.remove(&judgement.segment);
        self.judged.random.count(place, judgement.random);
        self.judged.congestion.count(place, judgement.congestion);
    }
}

impl Truth {
    fn count(&mut self, place: Option<Place>, losses: u64) {
        *match place {
            Some(Place::Link) => &mut self.link,
            Some(Place::Queue) => &mut self.queue,
            None => &mut self.none,
        } += losses;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdicts((random, congestion, newest): (u64, u64, u64)) -> Verdicts {
        Verdicts {
            random,
            congestion,
            newest: Some(newest),
        }
    }

    #[test]
    fn a_verdict_is_held_against_where_its_segment_was_lost_last() {
        let mut losses = Losses::default();
        losses.note(3, Place::Link, 0);
        losses.note(5, Place::Queue, 0);
        losses.note(5, Place::Link, 0);
        for verdicts in [(1, 0, 3), (1, 0, 3), (1, 1, 5), (2, 1, 5)].map(verdicts) {
            if let Some(judgement) = losses.news(verdicts) {
                losses.judge(judgement);
            }
        }
        let expected = Judged {
            random: Truth {
                link: 1,
                queue: 0,
                none: 1,
            },
            congestion: Truth {
                link: 1,
                ..Truth::default()
            },
        };
        assert_eq!(losses.judged, expected);
    }

    #[test]
    fn what_was_repaired_otherwise_is_forgotten() {
        let mut losses = Losses::default();
        let long = 3 * REMEMBERED;
        (0..long).for_each(|segment| losses.note(segment, Place::Queue, segment));
        assert_eq!(losses.places.len() as u64, REMEMBERED + 1);
    }
}
