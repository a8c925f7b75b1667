//! Checksum units: ones' complement sums of 16-bit words (RFC 1071), of fields that parsers add and subtract, and of
//! lists in deparsers.

use super::{Lowering, give, own, put};
use crate::blocks::Layout;
use crate::residual::Residual;
use internet_checksum::Sum;
use p4_ir::{Arg, ExternCall, ExternId};
use p4_vm::{CallSite, Job, ListValue, NONE, Slot};

/// A step of a call.
#[derive(Debug)]
pub enum Step {
    /// Adds the sum of values to a sum, or subtracts it.
    Add {
        data: Vec<ListValue>,
        sum: Slot,
        subtract: bool,
    },
    /// Whether the sum differs from that of data with a correct checksum.
    Verify { sum: Slot, to: Slot },
    /// Records how far the packet has been parsed: everything parsed from here on is also subtracted.
    Mark { cursor: Slot },
    /// The checksum of values. With `zeros_as_ones`, a checksum of 0 becomes all ones (RFC 768).
    Update {
        data: Vec<ListValue>,
        zeros_as_ones: Slot,
        to: Slot,
    },
}

/// Executes a step.
pub fn step(step: &Step, at: CallSite<'_>) {
    let CallSite {
        words,
        job,
        machine,
        ..
    } = at;
    match step {
        Step::Add {
            data,
            sum,
            subtract,
        } => {
            let term = Sum::of(machine.gather(words, data));
            let sum = &mut words[*sum as usize];
            let total = match subtract {
                true => Sum::from(*sum) - term,
                false => Sum::from(*sum) + term,
            };
            *sum = total.value().into();
        }
        Step::Verify { sum, to } => {
            words[*to as usize] = u64::from(words[*sum as usize] != 0xffff);
        }
        Step::Mark { cursor } => words[*cursor as usize] = job.cursor as u64 + 1,
        Step::Update {
            data,
            zeros_as_ones,
            to,
        } => {
            let checksum = Sum::of(machine.gather(words, data)).checksum();
            let as_ones = *zeros_as_ones != NONE && words[*zeros_as_ones as usize] != 0;
            words[*to as usize] = match checksum {
                0 if as_ones => 0xffff,
                checksum => checksum.into(),
            };
        }
    }
}

/// Subtracts the octets that a parser has parsed since it requested residuals.
#[inline]
pub fn deposit(layout: &Layout, words: &mut [u64], job: &Job) {
    for &Residual { cursor, to } in &layout.residuals {
        let Some(from) = words[cursor as usize].checked_sub(1) else {
            continue;
        };
        let parsed = from as usize / 8..job.cursor / 8;
        let octets = job.octets.get(parsed).unwrap_or_default();
        let residual = &mut words[to as usize];
        *residual = (Sum::from(*residual) - Sum::of(octets)).value().into();
    }
}

/// `add(data)` or `subtract(data)`.
pub fn change(c: &mut Lowering<'_>, call: &ExternCall, data: &Arg, subtract: bool) -> Option<()> {
    let data = c.data(data)?;
    let sum = sum(c, call)?;
    own(
        c,
        Step::Add {
            data,
            sum,
            subtract,
        },
    );
    Some(())
}

/// `verify()`: true if the checksum is wrong, because the hardware writes an error bit.
pub fn verify(c: &mut Lowering<'_>, call: &ExternCall) -> Option<()> {
    let (sum, to) = (sum(c, call)?, c.setting());
    own(c, Step::Verify { sum, to });
    give(c, call, to, 1)
}

/// `get()`: the sum itself. `update` of the same fields and the payload converts it to a checksum again.
pub fn get(c: &mut Lowering<'_>, call: &ExternCall) -> Option<()> {
    let sum = sum(c, call)?;
    give(c, call, sum, 1)
}

/// `subtract_all_and_deposit(residual)`: the sum, minus everything that the parser extracts afterwards.
pub fn residual(c: &mut Lowering<'_>, call: &ExternCall, residual: &Arg) -> Option<()> {
    let Arg::Out(place) = residual else {
        return None;
    };
    let (to, NONE) = c.location(&place.at) else {
        c.error("a residual checksum goes to a field, not to an element of a stack");
        return Some(());
    };
    let sum = sum(c, call)?;
    put(c, residual, sum, 1)?;
    let cursor = super::packet_word(c);
    c.layout.residuals.push(Residual { cursor, to });
    own(c, Step::Mark { cursor });
    Some(())
}

/// `update(data, zeros_as_ones)`.
pub fn update(
    c: &mut Lowering<'_>,
    call: &ExternCall,
    data: &Arg,
    zeros_as_ones: &Arg,
) -> Option<()> {
    let data = c.data(data)?;
    let zeros_as_ones = match zeros_as_ones {
        Arg::None => NONE,
        arg => c.input(arg)?,
    };
    let to = c.setting();
    own(
        c,
        Step::Update {
            data,
            zeros_as_ones,
            to,
        },
    );
    give(c, call, to, 1)
}

/// The word of a unit's sum. It is 0 when a packet arrives at the parser.
fn sum(c: &mut Lowering<'_>, call: &ExternCall) -> Option<Slot> {
    let ExternId(object) = call.object?;
    Some(super::word_of(c, object))
}
