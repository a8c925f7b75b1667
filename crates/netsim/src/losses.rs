//! Where a flow's data is lost, beside what its sender takes the losses for (Chan 2004, table 6.1).

use congestion::Verdicts;
use std::collections::BTreeMap;

/// Where a data packet was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// On a link, at random.
    Link,
    /// A queue or a program refused it.
    Queue,
}

/// What became of the segments that a sender found lost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Truth {
    /// Lost on a link.
    pub link: u64,
    /// Refused by a queue or a program.
    pub queue: u64,
    /// Not lost: late, or overtaken.
    pub none: u64,
}

/// A sender's verdicts beside the truth.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Judged {
    /// Losses taken for random ones.
    pub random: Truth,
    /// Losses taken for congestion.
    pub congestion: Truth,
}

/// A flow's losses that its sender may still find, and its verdicts so far.
#[derive(Debug, Default)]
pub(crate) struct Losses {
    /// Where each segment was lost last.
    places: BTreeMap<u64, Place>,
    seen: Verdicts,
    pub judged: Judged,
}

impl Losses {
    /// A segment was lost. What came before `acked` has arrived and is judged no more.
    pub fn note(&mut self, segment: u64, place: Place, acked: u64) {
        self.places = self.places.split_off(&acked);
        self.places.insert(segment, place);
    }

    /// Takes in what the sender has judged since.
    pub fn judge(&mut self, verdicts: Verdicts) {
        let random = verdicts.random - self.seen.random;
        let congestion = verdicts.congestion - self.seen.congestion;
        self.seen = verdicts;
        let Some(segment) = verdicts.newest.filter(|_| random + congestion > 0) else {
            return;
        };
        let place = self.places.remove(&segment);
        self.judged.random.count(place, random);
        self.judged.congestion.count(place, congestion);
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

    fn verdicts(random: u64, congestion: u64, newest: u64) -> Verdicts {
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
        losses.judge(verdicts(1, 0, 3));
        losses.judge(verdicts(1, 0, 3));
        losses.judge(verdicts(1, 1, 5));
        losses.judge(verdicts(2, 1, 5));
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
        (0..1000).for_each(|segment| losses.note(segment, Place::Queue, segment));
        assert_eq!(losses.places.len(), 1);
    }
}
