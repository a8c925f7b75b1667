//! The octets of a connection that wait to be acknowledged, or to be read.
//!
//! Positions count the sequence space from the SYN, which has position 0; the first octet has
//! position 1. An elided stream only stores lengths.

use super::ring::Ring;

/// The data that the application wrote.
#[derive(Debug)]
pub(super) struct SendStream {
    ring: Option<Ring>,
    /// Everything before this position is acknowledged and removed.
    acked: u64,
    /// The end of the written octets.
    end: u64,
    capacity: u64,
    /// Whether the stream is closed: a FIN is at `end`.
    closed: bool,
}

/// Longer than any stream, and far from the end of the number range.
const ENDLESS: u64 = 1 << 62;

impl SendStream {
    pub(super) fn new(capacity: usize, elided: bool) -> Self {
        SendStream {
            ring: (!elided).then(Ring::default),
            acked: 1,
            end: 1,
            capacity: if elided { ENDLESS } else { capacity as u64 },
            closed: false,
        }
    }

    /// How many octets can be written now.
    pub(super) fn room(&self) -> u64 {
        match self.closed {
            true => 0,
            false => self.capacity.saturating_sub(self.end - self.acked),
        }
    }

    /// Writes as much of `octets` as there is room for. Returns the number of octets.
    pub(super) fn write(&mut self, octets: &[u8]) -> usize {
        let count = (octets.len() as u64).min(self.room());
        if let Some(ring) = &mut self.ring {
            ring.write(self.acked, self.end, &octets[..count as usize]);
        }
        self.end += count;
        count as usize
    }

    /// Writes `count` zeros, limited by the room. A stream that is not elided stores them.
    pub(super) fn write_zeros(&mut self, count: u64) {
        const ZEROS: [u8; 1024] = [0; 1024];
        let mut left = count.min(self.room());
        if self.ring.is_none() {
            self.end += left;
            return;
        }
        while left > 0 {
            let some = left.min(ZEROS.len() as u64);
            self.write(&ZEROS[..some as usize]);
            left -= some;
        }
    }

    /// Copies the octets from `position` on.
    pub(super) fn read(&self, position: u64, into: &mut [u8]) {
        match &self.ring {
            Some(ring) => ring.read(position, into),
            None => into.fill(0),
        }
    }

    /// Removes everything before `position`, which is acknowledged.
    pub(super) fn acknowledge(&mut self, position: u64) {
        self.acked = self.acked.max(position.min(self.end));
    }

    /// Closes the stream.
    pub(super) fn close(&mut self) {
        self.closed = true;
    }

    /// Drops everything from `position` on.
    pub(super) fn truncate(&mut self, position: u64) {
        self.end = self.end.min(position.max(self.acked));
    }

    /// The end of the written octets.
    pub(super) fn end(&self) -> u64 {
        self.end
    }

    /// Whether there is a FIN at the end.
    pub(super) fn is_closed(&self) -> bool {
        self.closed
    }

    /// The end of everything to send, including the FIN.
    pub(super) fn limit(&self) -> u64 {
        self.end + u64::from(self.closed)
    }

    /// Octets stored in memory.
    pub(super) fn heap(&self) -> usize {
        self.ring.as_ref().map_or(0, Ring::capacity)
    }
}

/// The data that the other end wrote.
#[derive(Debug)]
pub(super) struct ReceiveStream {
    ring: Option<Ring>,
    /// The next octet to be read.
    read: u64,
    capacity: u64,
}

impl ReceiveStream {
    pub(super) fn new(capacity: usize, elided: bool) -> Self {
        ReceiveStream {
            ring: (!elided).then(Ring::default),
            read: 1,
            capacity: capacity as u64,
        }
    }

    /// The end of the positions for which there is room.
    pub(super) fn limit(&self) -> u64 {
        self.read + self.capacity
    }

    /// The largest window that may be advertised.
    pub(super) fn capacity(&self) -> u64 {
        self.capacity
    }

    /// Stores octets at `position`, which must be between what was read and the limit.
    pub(super) fn store(&mut self, position: u64, octets: &[u8]) {
        if let Some(ring) = &mut self.ring {
            ring.write(self.read, position, octets);
        }
    }

    /// Number of octets up to `end`, all of which have arrived, that wait to be read.
    pub(super) fn readable(&self, end: u64) -> u64 {
        end.saturating_sub(self.read)
    }

    /// Reads octets up to `end`. Returns their number. An elided stream returns zeros.
    pub(super) fn read(&mut self, end: u64, into: &mut [u8]) -> usize {
        let count = self.readable(end).min(into.len() as u64) as usize;
        let into = &mut into[..count];
        match &self.ring {
            Some(ring) => ring.read(self.read, into),
            None => into.fill(0),
        }
        self.read += count as u64;
        count
    }

    /// Skips octets that were not stored.
    pub(super) fn skip_elided(&mut self, end: u64) {
        if self.ring.is_none() {
            self.read = self.read.max(end);
        }
    }

    /// Octets stored in memory.
    pub(super) fn heap(&self) -> usize {
        self.ring.as_ref().map_or(0, Ring::capacity)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_acknowledged_makes_room() {
        let mut stream = SendStream::new(10, false);
        assert_eq!(stream.write(b"0123456789abc"), 10);
        assert_eq!(stream.write(b"x"), 0);
        stream.acknowledge(5);
        assert_eq!(stream.write(b"abcdef"), 4);
        let mut out = [0; 10];
        stream.read(5, &mut out);
        assert_eq!(&out, b"456789abcd");
        stream.close();
        assert_eq!((stream.room(), stream.limit()), (0, 16));
    }

    #[test]
    fn an_elided_stream_keeps_lengths_only() {
        let mut stream = SendStream::new(10, true);
        stream.write_zeros(1 << 40);
        assert_eq!((stream.end(), stream.heap()), ((1 << 40) + 1, 0));
        stream.truncate(1001);
        assert_eq!(stream.limit(), 1001);
    }
}
