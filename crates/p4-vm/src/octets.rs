//! A packet's octets, with room in front of them for longer headers.

use std::fmt;
use std::ops::{Deref, DerefMut};

/// Octets in front of a packet that a switch receives. Headers grow by less at a hop: options of IPv4 by up to 40, VXLAN
/// by 50 to 70, SRv6 with three segments by 96. Two lines of the cache, so that the packet begins where it would without.
const ROOM: usize = 128;

/// Octets that have room in front, so that headers can grow and shrink while the payload stays where it is.
#[derive(Clone, Default)]
pub struct Octets {
    /// The room, with anything in it, then the octets.
    buffer: Vec<u8>,
    /// Where the octets begin.
    start: usize,
}

impl Octets {
    /// Empties it, with room in front of what comes next.
    #[inline]
    pub fn reset(&mut self) {
        match self.buffer.len() < ROOM {
            true => self.buffer.resize(ROOM, 0),
            false => self.buffer.truncate(ROOM),
        }
        self.start = ROOM;
    }

    /// Empties it. The room in front stays as it is.
    #[inline]
    pub fn clear(&mut self) {
        self.buffer.truncate(self.start);
    }

    /// How many octets there are.
    #[inline]
    pub fn len(&self) -> usize {
        self.buffer.len() - self.start
    }

    /// Whether there are none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether it has memory, which another packet can use.
    #[inline]
    pub fn is_allocated(&self) -> bool {
        self.buffer.capacity() > 0
    }

    /// Keeps the first octets only.
    #[inline]
    pub fn truncate(&mut self, len: usize) {
        self.buffer.truncate(self.start.saturating_add(len));
    }

    /// Keeps the first octets only, or appends zeros.
    pub fn resize(&mut self, len: usize) {
        self.buffer.resize(self.start + len, 0);
    }

    /// Appends octets.
    #[inline]
    pub fn extend_from_slice(&mut self, octets: &[u8]) {
        self.buffer.extend_from_slice(octets);
    }

    /// Puts other octets in place of the first `count`. Those behind them move only if the room is too small.
    #[inline]
    pub fn replace_front(&mut self, count: usize, octets: &[u8]) {
        let mut end = self.start + count;
        if octets.len() > end {
            end += self.make_room(end, octets.len() - end);
        }
        self.start = end - octets.len();
        self[..octets.len()].copy_from_slice(octets);
    }

    /// Moves what is behind `end` by `least` octets or more, so that the next headers find room as well; by how many.
    #[cold]
    fn make_room(&mut self, end: usize, least: usize) -> usize {
        let more = least + ROOM;
        let len = self.buffer.len();
        self.buffer.resize(len + more, 0);
        self.buffer.copy_within(end..len, end + more);
        more
    }

    /// Its memory, with anything in it.
    #[inline]
    pub fn into_memory(self) -> Vec<u8> {
        self.buffer
    }
}

impl Deref for Octets {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        &self.buffer[self.start..]
    }
}

impl DerefMut for Octets {
    #[inline]
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut self.buffer[self.start..]
    }
}

impl AsRef<[u8]> for Octets {
    fn as_ref(&self) -> &[u8] {
        self
    }
}

impl<T: AsRef<[u8]> + ?Sized> PartialEq<T> for Octets {
    fn eq(&self, other: &T) -> bool {
        **self == *other.as_ref()
    }
}

impl Eq for Octets {}

impl fmt::Debug for Octets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl From<Vec<u8>> for Octets {
    /// Without room.
    #[inline]
    fn from(buffer: Vec<u8>) -> Self {
        Octets { buffer, start: 0 }
    }
}

impl From<Octets> for Vec<u8> {
    /// Moves the octets if there is room in front of them.
    fn from(mut octets: Octets) -> Self {
        octets.buffer.drain(..octets.start);
        octets.buffer
    }
}
