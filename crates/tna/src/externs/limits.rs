//! The minimum and maximum of a value's octets or pairs of octets, in register actions of Tofino 2.

use super::{Lowering, give, own, put, setting};
use p4_ir::{Arg, ExternCall};
use p4_vm::Slot;

/// A call of `min8`, `max8`, `min16` or `max16`.
#[derive(Debug)]
pub struct Step {
    /// The value, of 128 bits.
    value: [Slot; 2],
    /// Which parts count: one bit per part, lowest part first.
    mask: Slot,
    /// Bits per part.
    bits: u32,
    greatest: bool,
    to: Slot,
    /// The destination of the part's index.
    index: Slot,
}

/// Finds the part. Of equal ones, the lowest wins. If no part counts, both results are 0.
pub fn step(step: &Step, words: &mut [u64]) {
    let [low, high] = step.value.map(|slot| u128::from(words[slot as usize]));
    let value = high << 64 | low;
    let mask = words[step.mask as usize];
    let part = |number: u32| (value >> (number * step.bits)) as u64 & ((1 << step.bits) - 1);
    let numbers = (0..128 / step.bits).filter(|number| mask >> number & 1 == 1);
    let found = match step.greatest {
        // Of equal ones, `max_by_key` returns the last.
        true => numbers.rev().max_by_key(|number| part(*number)),
        false => numbers.min_by_key(|number| part(*number)),
    };
    words[step.to as usize] = found.map_or(0, part);
    words[step.index as usize] = found.unwrap_or(0).into();
}

/// Translates a call. `more` are the destination of the part's index, and the number to be added.
pub fn limit(
    c: &mut Lowering<'_>,
    call: &ExternCall,
    method: &str,
    [value, mask]: [&Arg; 2],
    more: &[Arg],
) -> Option<()> {
    if let [_, Arg::In(_)] = more {
        c.error(format!(
            "`{method}` with `postmod` is not supported; add to its result"
        ));
        return Some(());
    }
    let (slot, width) = c.input_value(value)?;
    if width > 128 {
        c.error(format!(
            "`{method}` is of at most 128 bits, this value has {width}"
        ));
        return Some(());
    }
    let zero = c.number(0);
    let value = [slot, if width > 64 { slot + 1 } else { zero }];
    let mask = c.input(mask)?;
    let bits = if method.ends_with("16") { 16 } else { 8 };
    let greatest = method.starts_with("max");
    let (to, index) = (setting(c, 1), setting(c, 1));
    own(
        c,
        Step {
            value,
            mask,
            bits,
            greatest,
            to,
            index,
        },
    );
    if let Some(arg) = more.first() {
        put(c, arg, index, 1)?;
    }
    give(c, call, to, 1)
}
