//! The octets of a packet, with headroom for longer headers.

use std::fmt;
use std::ops::{Deref, DerefMut};

/// Headroom of a packet that a switch receives, in octets. Headers grow by less per hop: IPv4 options by up to 40,
/// VXLAN by 50 to 70, SRv6 with three segments by 96. Two cache lines, so that the alignment of the packet is the same
/// as without headroom.
const ROOM: usize = 128;

/// A buffer of octets with headroom, so that headers can grow and shrink without moving the payload.
#[derive(Clone, Default)]
pub struct Octets {
    /// The headroom, whose content is undefined, then the octets.
    buffer: Vec<u8>,
    /// Where the octets begin.
    start: usize,
}

impl Octets {
    /// Removes all octets and restores the headroom.
    #[inline]
    pub fn reset(&mut self) {
        match self.buffer.len() < ROOM {
            true => self.buffer.resize(ROOM, 0),
            false => self.buffer.truncate(ROOM),
        }
        self.start = ROOM;
    }

    /// Removes all octets. The headroom does not change.
    #[inline]
    pub fn clear(&mut self) {
        self.buffer.truncate(self.start);
    }

    /// The number of octets.
    #[inline]
    pub fn len(&self) -> usize {
        self.buffer.len() - self.start
    }

    /// Whether there are none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether it has allocated memory, which another packet can reuse.
    #[inline]
    pub fn is_allocated(&self) -> bool {
        self.buffer.capacity() > 0
    }

    /// Keeps only the first `len` octets.
    #[inline]
    pub fn truncate(&mut self, len: usize) {
        self.buffer.truncate(self.start.saturating_add(len));
    }

    /// Truncates to `len` octets, or appends zeros.
    pub fn resize(&mut self, len: usize) {
        self.buffer.resize(self.start + len, 0);
    }

    /// Appends octets.
    #[inline]
    pub fn extend_from_slice(&mut self, octets: &[u8]) {
        self.buffer.extend_from_slice(octets);
    }

    /// Replaces the first `count` octets with others. The rest is moved only if the headroom is too small.
    #[inline]
    pub fn replace_front(&mut self, count: usize, octets: &[u8]) {
        let mut end = self.start + count;
        if octets.len() > end {
            end += self.make_room(end, octets.len() - end);
        }
        self.start = end - octets.len();
        self[..octets.len()].copy_from_slice(octets);
    }

    /// Moves the octets behind `end` by `least` octets or more, so that there is headroom for further headers too.
    /// Returns the distance.
    #[cold]
    fn make_room(&mut self, end: usize, least: usize) -> usize {
        let more = least + ROOM;
        let len = self.buffer.len();
        self.buffer.resize(len + more, 0);
        self.buffer.copy_within(end..len, end + more);
        more
    }

    /// Returns the memory. Its content is undefined.
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
    /// Creates octets without headroom.
    #[inline]
    fn from(buffer: Vec<u8>) -> Self {
        Octets { buffer, start: 0 }
    }
}

impl From<Octets> for Vec<u8> {
    /// Moves the octets to the front if there is headroom.
    fn from(mut octets: Octets) -> Self {
        octets.buffer.drain(..octets.start);
        octets.buffer
    }
}
