//! The octets of a connection: what waits to be acknowledged, and what waits to be read.
//!
//! Positions count the sequence space from the SYN, which is 0; the first octet is 1. An elided
//! stream keeps lengths only.

use super::ring::Ring;

/// What the application wrote.
#[derive(Debug)]
pub(super) struct SendStream {
    ring: Option<Ring>,
    /// Everything before is acknowledged and gone.
    acked: u64,
    /// Behind the last octet written.
    end: u64,
    capacity: u64,
    /// There will be no more: a FIN lies at `end`.
    closed: bool,
}

/// Longer than any stream, and far from where numbers end.
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

    /// Takes as much of `octets` as there is room for; how many that is.
    pub(super) fn write(&mut self, octets: &[u8]) -> usize {
        let count = (octets.len() as u64).min(self.room());
        if let Some(ring) = &mut self.ring {
            ring.write(self.acked, self.end, &octets[..count as usize]);
        }
        self.end += count;
        count as usize
    }

    /// Takes `count` zeros, as far as there is room; only an elided stream has none of its own to
    /// write.
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

    /// Everything before `position` is acknowledged.
    pub(super) fn acknowledge(&mut self, position: u64) {
        self.acked = self.acked.max(position.min(self.end));
    }

    /// There will be no more.
    pub(super) fn close(&mut self) {
        self.closed = true;
    }

    /// Drops what lies behind `position`.
    pub(super) fn truncate(&mut self, position: u64) {
        self.end = self.end.min(position.max(self.acked));
    }

    /// Behind the last octet.
    pub(super) fn end(&self) -> u64 {
        self.end
    }

    /// Whether a FIN lies at the end.
    pub(super) fn is_closed(&self) -> bool {
        self.closed
    }

    /// Behind all that there is to send, the FIN included.
    pub(super) fn limit(&self) -> u64 {
        self.end + u64::from(self.closed)
    }

    /// Octets kept in memory.
    pub(super) fn heap(&self) -> usize {
        self.ring.as_ref().map_or(0, Ring::capacity)
    }
}

/// What the other end wrote.
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

    /// Behind the last position that there is room for.
    pub(super) fn limit(&self) -> u64 {
        self.read + self.capacity
    }

    /// The largest window that may be advertised.
    pub(super) fn capacity(&self) -> u64 {
        self.capacity
    }

    /// Keeps octets at `position`, which lie between what was read and the limit.
    pub(super) fn store(&mut self, position: u64, octets: &[u8]) {
        if let Some(ring) = &mut self.ring {
            ring.write(self.read, position, octets);
        }
    }

    /// Octets up to `end`, all of which have arrived, that wait to be read.
    pub(super) fn readable(&self, end: u64) -> u64 {
        end.saturating_sub(self.read)
    }

    /// Hands out octets up to `end`; how many. An elided stream has zeros.
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

    /// Lets go of what was not kept.
    pub(super) fn skip_elided(&mut self, end: u64) {
        if self.ring.is_none() {
            self.read = self.read.max(end);
        }
    }

    /// Octets kept in memory.
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
