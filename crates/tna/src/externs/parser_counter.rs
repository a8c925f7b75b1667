//! The parser counter: eight bits, which are negative from 128 on. On Tofino 2 there is a stack of four values below
//! it.

use super::{Lowering, give, own};
use p4_ir::{Arg, ExternCall, ExternId};
use p4_vm::{CallSite, NONE, Slot};

/// A step of a call. `counter` is the word of the counter. The words of the stack follow it.
#[derive(Debug)]
pub enum Step {
    /// Loads a value.
    Set { counter: Slot, value: Slot },
    /// Loads a part of a field, of `width` bits.
    Load {
        counter: Slot,
        field: Slot,
        width: u32,
        how: [Slot; 4],
        mask_is_width: bool,
    },
    /// Adds a value, or subtracts it.
    Add {
        counter: Slot,
        value: Slot,
        subtract: bool,
    },
    /// Pushes the counter onto the stack.
    Push { counter: Slot },
    /// Pops the counter from the stack.
    Pop { counter: Slot },
    /// Whether it is zero, or negative.
    Test {
        counter: Slot,
        negative: bool,
        to: Slot,
    },
}

/// Number of values below the counter.
const STACK: usize = 4;

/// Executes a step.
pub fn step(step: &Step, at: CallSite<'_>) {
    let words = at.words;
    match *step {
        Step::Set { counter, value } => words[counter as usize] = words[value as usize] & 0xff,
        Step::Load {
            counter,
            field,
            width,
            how,
            mask_is_width,
        } => {
            let [max, rotate, mask, add] = how.map(|slot| words[slot as usize]);
            let mask = match mask_is_width {
                true => (2 << mask) - 1,
                false => mask,
            };
            words[counter as usize] = load(words[field as usize], width, max, rotate, mask, add);
        }
        Step::Add {
            counter,
            value,
            subtract,
        } => {
            let value = words[value as usize];
            let counter = &mut words[counter as usize];
            *counter = 0xff
                & match subtract {
                    true => counter.wrapping_sub(value),
                    false => counter.wrapping_add(value),
                };
        }
        Step::Push { counter } => {
            let at = counter as usize;
            words.copy_within(at..at + STACK, at + 1);
        }
        Step::Pop { counter } => {
            let at = counter as usize;
            words.copy_within(at + 1..=at + STACK, at);
            words[at + STACK] = 0;
        }
        Step::Test {
            counter,
            negative,
            to,
        } => {
            let counter = words[counter as usize];
            let holds = if negative {
                counter >= 0x80
            } else {
                counter == 0
            };
            words[to as usize] = holds.into();
        }
    }
}

/// The value for a field: at most `max`, rotated right within eight bits, masked, plus `add`.
fn load(field: u64, width: u32, max: u64, rotate: u64, mask: u64, add: u64) -> u64 {
    let size = width.clamp(8, 64);
    let field = field.min(max);
    let rotate = (rotate % u64::from(size)) as u32;
    let rotated = match rotate {
        0 => field,
        by => field >> by | field << (size - by),
    };
    ((rotated & mask & 0xff) + add) & 0xff
}

/// `set(value)`.
pub fn set(c: &mut Lowering<'_>, call: &ExternCall, value: &Arg) -> Option<()> {
    let value = c.input(value)?;
    let counter = counter(c, call)?;
    own(c, Step::Set { counter, value });
    Some(())
}

/// `set(field, max, rotate, mask, add)`.
pub fn set_part(
    c: &mut Lowering<'_>,
    call: &ExternCall,
    field: &Arg,
    how: [&Arg; 4],
) -> Option<()> {
    let (_, width) = c.input_value(field)?;
    let field = c.input(field)?;
    // On Tofino 1, a mask is given by the index of its highest bit.
    let mask_is_width = match how[2] {
        Arg::In(mask) => mask.ty.width() == 3,
        _ => return None,
    };
    let mut slots = [NONE; 4];
    for (slot, arg) in slots.iter_mut().zip(how) {
        *slot = c.input(arg)?;
    }
    let counter = counter(c, call)?;
    own(
        c,
        Step::Load {
            counter,
            field,
            width,
            how: slots,
            mask_is_width,
        },
    );
    Some(())
}

/// `push(…)`: `set(…)` that keeps the old value of the counter below.
pub fn push(c: &mut Lowering<'_>, call: &ExternCall, update_with_top: &Arg) -> Option<()> {
    let constant = match update_with_top {
        Arg::None => true,
        Arg::In(value) => super::constant(value) == Some(0),
        _ => false,
    };
    if !constant {
        c.error("`push` with `update_with_top` is not supported; the values below the counter stay as they are");
    }
    let counter = counter(c, call)?;
    own(c, Step::Push { counter });
    Some(())
}

/// `pop()`.
pub fn pop(c: &mut Lowering<'_>, call: &ExternCall) -> Option<()> {
    let counter = counter(c, call)?;
    own(c, Step::Pop { counter });
    Some(())
}

/// `increment(value)` or `decrement(value)`.
pub fn change(c: &mut Lowering<'_>, call: &ExternCall, value: &Arg, subtract: bool) -> Option<()> {
    let value = c.input(value)?;
    let counter = counter(c, call)?;
    own(
        c,
        Step::Add {
            counter,
            value,
            subtract,
        },
    );
    Some(())
}

/// `is_zero()` or `is_negative()`.
pub fn test(c: &mut Lowering<'_>, call: &ExternCall, negative: bool) -> Option<()> {
    let (counter, to) = (counter(c, call)?, c.setting());
    own(
        c,
        Step::Test {
            counter,
            negative,
            to,
        },
    );
    give(c, call, to, 1)
}

/// The word of a counter. It is 0 when a packet arrives at the parser.
fn counter(c: &mut Lowering<'_>, call: &ExternCall) -> Option<Slot> {
    let ExternId(object) = call.object?;
    if let Some(counter) = super::known_word(c, object) {
        return Some(counter);
    }
    let counter = super::word_of(c, object);
    for _ in 0..STACK {
        super::packet_word(c);
    }
    Some(counter)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ipv4_header_length_in_octets_beyond_the_first_twenty() {
        // ihl × 4 − 20: the low four bits, shifted left by two, plus −20.
        let counter = |field: u64| load(field, 8, 0xff, 6, 0x3c, 0xec);
        assert_eq!(counter(0x05), 0);
        assert_eq!(counter(0x0f), 40);
    }

    #[test]
    fn a_field_is_cut_to_its_maximum_first() {
        assert_eq!(load(200, 8, 16, 0, 0xff, 1), 17);
        assert_eq!(load(0b1000_0001, 8, 0xff, 1, 0xff, 0), 0b1100_0000);
    }
}
