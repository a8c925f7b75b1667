//! Determines which variables must be cleared in the storage of a packet: those that may be read before they are
//! written.
//!
//! - `effects`: what each instruction reads and writes;
//! - `ways`: which instructions may follow one another;
//! - `flow`: what is certainly written before each instruction, and the consequences;
//! - `words`: sets of words.
//!
//! A word is certainly written if every path to the instruction writes it. The fields of a header count as written
//! where the header is known to be valid, provided that every instruction that makes it valid writes them first.

mod effects;
mod flow;
#[cfg(test)]
mod tests;
mod ways;
mod words;

use crate::Sequence;
use crate::code::*;
use crate::wide::limbs;
use flow::Flow;
use std::collections::{BTreeMap, BTreeSet};

/// The memory limit of the analysis, in 64-bit words. For larger programs, all variables are cleared.
const MOST: usize = 1 << 22;

/// The parts of a program that the analysis needs.
pub struct Subject<'a> {
    pub code: &'a Code,
    /// The sequences of blocks, in the order in which a packet passes through them.
    pub sequences: &'a [Sequence],
    /// The first word of each variable, in rising order.
    pub variables: &'a [Slot],
    /// The number of words of each key of each table.
    pub keys: &'a [Vec<u32>],
}

/// Words that a packet may read before they are written, in ascending order. `None` if they are unknown.
pub fn needed(subject: &Subject<'_>) -> Option<Vec<Slot>> {
    let size = subject.code.ops.len() * subject.code.words.div_ceil(64);
    if size > MOST {
        return None;
    }
    let effects: Option<Vec<_>> = (0..subject.code.ops.len())
        .map(|at| subject.effects(at))
        .collect();
    let effects = effects?;
    let mut headers = subject.headers();
    loop {
        let mut flow = Flow::new(subject, &effects, &headers);
        flow.settle();
        let sound = |(&valid, fields): (&Slot, &Vec<Slot>)| flow.is_sound(valid, fields);
        let before = headers.len();
        let kept: BTreeSet<Slot> = headers
            .iter()
            .filter(|header| sound(*header))
            .map(|(&valid, _)| valid)
            .collect();
        if kept.len() == before {
            return Some(flow.needed());
        }
        headers.retain(|valid, _| kept.contains(valid));
    }
}

impl Subject<'_> {
    /// The headers: the word of their validity, with the words of their fields.
    fn headers(&self) -> BTreeMap<Slot, Vec<Slot>> {
        let mut headers = BTreeMap::new();
        let mut add = |base: Slot, off: Slot, header: u32| {
            if off == NONE {
                headers.insert(base, fields(base, &self.code.headers[header as usize]));
            }
        };
        for op in &self.code.ops {
            match *op {
                Op::Extract { base, off, header } | Op::Emit { base, off, header } => {
                    add(base, off, header);
                }
                Op::ExtractVar {
                    base, off, header, ..
                } => add(base, off, header.into()),
                Op::EmitAll { list } => {
                    for &(base, header) in &self.code.emits[list as usize] {
                        add(base, NONE, header);
                    }
                }
                _ => {}
            }
        }
        headers
    }
}

/// The words of a header's fields, and of the length of a `varbit`.
fn fields(base: Slot, header: &HeaderCode) -> Vec<Slot> {
    let words = header.fields.iter().enumerate().flat_map(|(at, field)| {
        let length = u32::from(header.varbit == Some(at));
        field.word..field.word + length + limbs(field.width) as Slot
    });
    words.map(|word| base + word).collect()
}
