//! Blocks that an architecture runs one after another.

use crate::code::{MetaField, Slot, Target};
use crate::vm::Job;

/// Blocks that a packet goes through with nothing between them but what the stages say, so that compiled code runs
/// them in one go.
#[derive(Clone, Debug, Default)]
pub struct Sequence {
    /// The blocks in their order.
    pub stages: Vec<Stage>,
}

/// A block of a sequence, and what is done behind it. The sequence ends early if the packet is to be dropped whatever
/// the program says ([`Job::abort`]).
#[derive(Clone, Copy, Debug)]
pub struct Stage {
    /// Where the block begins.
    pub block: Target,
    /// What is told of the block, and the metadata that is set to it.
    pub told: Option<(Told, MetaField)>,
    /// Two words of storage: the sequence ends early if they are equal.
    pub last_if_equal: Option<(Slot, Slot)>,
}

/// What an architecture tells a program of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Told {
    /// [`Job::error`].
    ParserError,
    /// [`Job::checksum_error`].
    ChecksumError,
}

impl Stage {
    /// A block, and nothing behind it.
    pub fn new(block: Target) -> Self {
        Stage {
            block,
            told: None,
            last_if_equal: None,
        }
    }

    /// Does what is done behind the block; says whether the sequence goes on.
    pub(crate) fn end(&self, words: &mut [u64], job: &Job) -> bool {
        if job.abort.is_some() {
            return false;
        }
        if let Some((told, to)) = self.told {
            let value = match told {
                Told::ParserError => job.error,
                Told::ChecksumError => job.checksum_error.into(),
            };
            to.set(words, value);
        }
        let equal = |(a, b): (Slot, Slot)| words[a as usize] == words[b as usize];
        !self.last_if_equal.is_some_and(equal)
    }
}
