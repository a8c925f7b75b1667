//! A ring buffer for the octets of a stream, indexed by position. It grows to the size of the live
//! data.

/// The size is a power of two. Position `p` is stored at `p` modulo the size.
#[derive(Debug, Default)]
pub(super) struct Ring {
    octets: Vec<u8>,
}

const SMALLEST: u64 = 4096;

impl Ring {
    /// Octets of memory.
    pub(super) fn capacity(&self) -> usize {
        self.octets.capacity()
    }

    /// Writes `source` at `at`. Octets from `oldest` on are kept; `oldest` must not be after `at`.
    pub(super) fn write(&mut self, oldest: u64, at: u64, source: &[u8]) {
        self.reserve(oldest, at + source.len() as u64);
        let (start, first) = self.split(at, source.len());
        let (head, tail) = source.split_at(first);
        self.octets[start..start + first].copy_from_slice(head);
        self.octets[..tail.len()].copy_from_slice(tail);
    }

    /// Reads what was written at `at`.
    pub(super) fn read(&self, at: u64, into: &mut [u8]) {
        let (start, first) = self.split(at, into.len());
        let (head, tail) = into.split_at_mut(first);
        head.copy_from_slice(&self.octets[start..start + first]);
        let rest = tail.len();
        tail.copy_from_slice(&self.octets[..rest]);
    }

    /// The index of `at`, and how many of `count` octets fit between it and the ring's end.
    fn split(&self, at: u64, count: usize) -> (usize, usize) {
        if count == 0 {
            return (0, 0);
        }
        let start = (at % self.octets.len() as u64) as usize;
        (start, count.min(self.octets.len() - start))
    }

    fn reserve(&mut self, oldest: u64, end: u64) {
        let old = self.octets.len() as u64;
        if end - oldest <= old {
            return;
        }
        let size = (end - oldest).next_power_of_two().max(SMALLEST);
        let mut grown = vec![0; size as usize];
        // It does not matter which octets were written: positions determine them.
        let mut position = oldest;
        while position < oldest + old {
            let from = (position % old) as usize;
            let to = (position % size) as usize;
            let left = (oldest + old - position) as usize;
            let run = left.min(self.octets.len() - from).min(grown.len() - to);
            grown[to..to + run].copy_from_slice(&self.octets[from..from + run]);
            position += run as u64;
        }
        self.octets = grown;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_keep_their_octets_as_the_ring_turns_and_grows() {
        let octet = |position: u64| (position * 31 % 251) as u8;
        let octets = |from: u64, to: u64| (from..to).map(octet).collect::<Vec<_>>();
        let mut ring = Ring::default();
        let (mut read, mut written) = (1_u64, 1_u64);
        for step in 0..400_u64 {
            let more = step * 37 % 3000;
            ring.write(read, written, &octets(written, written + more));
            written += more;
            // At the end less is read than written.
            let take = match step {
                0..300 => (written - read) * 9 / 10,
                _ => more / 2,
            };
            let mut out = vec![0; take as usize];
            ring.read(read, &mut out);
            assert_eq!(out, octets(read, read + take));
            read += take;
        }
        assert!(written - read > 10 * SMALLEST);
        assert!(ring.capacity() as u64 >= written - read);
        let mut out = vec![0; (written - read) as usize];
        ring.read(read, &mut out);
        assert_eq!(out, octets(read, written));
    }
}
