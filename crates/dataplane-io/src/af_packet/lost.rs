//! Frames that were accepted for sending but not sent.

use std::ops::AddAssign;

/// The number of lost frames, and their octets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lost {
    /// Frames.
    pub frames: u64,
    /// Their octets, including Ethernet headers.
    pub octets: u64,
}

impl Lost {
    /// No lost frames.
    pub const NONE: Lost = Lost {
        frames: 0,
        octets: 0,
    };

    /// One lost frame of `octets` octets.
    pub fn frame(octets: usize) -> Self {
        Lost {
            frames: 1,
            octets: octets as u64,
        }
    }
}

impl AddAssign for Lost {
    fn add_assign(&mut self, other: Lost) {
        self.frames += other.frames;
        self.octets += other.octets;
    }
}
