//! Frames that were taken for sending and did not leave.

use std::ops::AddAssign;

/// How many frames were lost, and their octets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lost {
    /// Frames.
    pub frames: u64,
    /// Their octets, those of Ethernet's headers among them.
    pub octets: u64,
}

impl Lost {
    /// None.
    pub const NONE: Lost = Lost {
        frames: 0,
        octets: 0,
    };

    /// A frame of `octets` octets.
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
