//! Reassembly of messages from fragments (RFC 9260, §6.9): the fragments of a message have consecutive TSNs.

use std::collections::BTreeMap;

/// Received fragments of incomplete messages.
#[derive(Debug, Default)]
pub(super) struct Reassembly {
    /// Runs of consecutive fragments, by the number of the first.
    runs: BTreeMap<u64, Run>,
    /// Octets stored.
    pub octets: u64,
}

/// The message to which a fragment belongs, and its position in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Fragment {
    pub stream: u16,
    pub ssn: u16,
    pub unordered: bool,
    pub begin: bool,
    pub end: bool,
    pub protocol: u32,
}

/// A fragment is inconsistent with its neighbour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Misfit;

#[derive(Debug)]
struct Run {
    /// `begin` is that of its first fragment, `end` that of its last.
    head: Fragment,
    /// The number after that of its last fragment.
    next: u64,
    payload: Vec<u8>,
}

impl Reassembly {
    /// Adds the fragment with TSN `number`, which is not a complete message. Returns the message if it is now complete.
    pub fn add(
        &mut self,
        number: u64,
        fragment: Fragment,
        payload: Vec<u8>,
    ) -> Result<Option<(Fragment, Vec<u8>)>, Misfit> {
        self.octets += payload.len() as u64;
        let mut start = number;
        let mut run = Run {
            head: fragment,
            next: number + 1,
            payload,
        };
        let left = self.runs.range(..number).next_back();
        if let Some((&at, left)) = left.filter(|(_, left)| left.next == number)
            && joins(&left.head, &run.head)?
        {
            let left = self.runs.remove(&at).ok_or(Misfit)?;
            (start, run) = (at, left.followed_by(run));
        }
        if let Some(right) = self.runs.get(&run.next)
            && joins(&run.head, &right.head)?
        {
            let right = self.runs.remove(&run.next).ok_or(Misfit)?;
            run = run.followed_by(right);
        }
        if run.head.begin && run.head.end {
            self.octets -= run.payload.len() as u64;
            return Ok(Some((run.head, run.payload)));
        }
        self.runs.insert(start, run);
        Ok(None)
    }
}

/// Whether two neighbours belong to the same message.
fn joins(left: &Fragment, right: &Fragment) -> Result<bool, Misfit> {
    if left.end && right.begin {
        return Ok(false);
    }
    let same = left.stream == right.stream
        && left.unordered == right.unordered
        && (left.ssn == right.ssn || left.unordered);
    match left.end || right.begin || !same {
        true => Err(Misfit),
        false => Ok(true),
    }
}

impl Run {
    fn followed_by(mut self, mut right: Run) -> Run {
        self.payload.append(&mut right.payload);
        self.next = right.next;
        self.head.end = right.head.end;
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fragment(begin: bool, end: bool) -> Fragment {
        Fragment {
            stream: 1,
            ssn: 2,
            unordered: false,
            begin,
            end,
            protocol: 0,
        }
    }

    #[test]
    fn every_order_of_fragments_gives_the_message() {
        let orders = [
            [0, 1, 2],
            [0, 2, 1],
            [1, 0, 2],
            [1, 2, 0],
            [2, 0, 1],
            [2, 1, 0],
        ];
        for order in orders {
            let mut reassembly = Reassembly::default();
            let mut whole = None;
            for i in order {
                assert_eq!(whole, None);
                let added = reassembly.add(7 + i, fragment(i == 0, i == 2), vec![i as u8; 2]);
                whole = added.unwrap();
            }
            let (_, payload) = whole.unwrap();
            assert_eq!(payload, [0, 0, 1, 1, 2, 2], "{order:?}");
            assert_eq!((reassembly.octets, reassembly.runs.len()), (0, 0));
        }
    }

    #[test]
    fn messages_side_by_side_stay_apart() {
        let mut reassembly = Reassembly::default();
        assert_eq!(reassembly.add(2, fragment(false, true), vec![2]), Ok(None));
        assert_eq!(reassembly.add(3, fragment(true, false), vec![3]), Ok(None));
        let (_, payload) = reassembly
            .add(1, fragment(true, false), vec![1])
            .unwrap()
            .unwrap();
        assert_eq!(payload, [1, 2]);
    }

    #[test]
    fn a_fragment_of_another_message_in_between_is_a_fault() {
        let mut reassembly = Reassembly::default();
        reassembly.add(1, fragment(true, false), vec![1]).unwrap();
        let begins_again = reassembly.add(2, fragment(true, false), vec![1]);
        assert_eq!(begins_again, Err(Misfit));
        let other = Fragment {
            stream: 9,
            ..fragment(false, true)
        };
        assert_eq!(reassembly.add(2, other, vec![1]), Err(Misfit));
    }
}
