//! The math unit of the stateful ALU: functions of one number, computed from a table of 16 entries for its four highest
//! bits, and from its exponent.

use super::{Lowering, give, own};
use p4_ir::{Arg, CtorArg, ExternCall, ExternObject, Program};
use p4_vm::{Slot, member};

/// A call of `execute`.
#[derive(Debug)]
pub struct Step {
    unit: Unit,
    x: Slot,
    to: Slot,
    width: u32,
}

/// A math unit. A number is i/8 · 2^e, where i is an integer of at most 15 (lower bits are cut off). The result is
/// `table[i]` · 2^`scale` times 2^e, 2^2e, or the square root of 2^e, or the inverse of these.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Unit {
    /// Whether the exponent is inverted.
    invert: bool,
    /// 1: the exponent is doubled. −1: it is halved, and i is at least 4 so that e is even. 0: neither, and i is at
    /// least 8.
    shift: i32,
    scale: i32,
    table: [u8; 16],
}

impl Unit {
    /// The result for a number, rounded down, and limited to the maximum of `width` bits.
    fn execute(&self, x: u64, width: u32) -> u64 {
        let most = u64::MAX >> (64 - width.clamp(1, 64));
        if x == 0 {
            return shifted(self.table[0], self.scale).min(most);
        }
        // x = m · 2^(top − 3) with 8 ≤ m < 16.
        let top = 63 - x.leading_zeros() as i32;
        let mut exponent = top;
        let mut kept = 3;
        if self.shift < 0 && top % 2 != 0 {
            // 4 ≤ i < 8, so that the exponent is even.
            exponent = top + 1;
            kept = 2;
        }
        let index = match top - kept {
            down @ 0.. => x >> down,
            up => x << -up,
        };
        let exponent = match self.shift {
            0 => exponent,
            1 => 2 * exponent,
            _ => exponent / 2,
        };
        let exponent = if self.invert { -exponent } else { exponent };
        shifted(self.table[(index & 15) as usize], exponent + self.scale).min(most)
    }

    /// The table of a constant times a function.
    fn of(operation: &str, factor: f64) -> Option<Unit> {
        let (shift, invert): (i32, bool) = match operation {
            "MUL" => (0, false),
            "SQR" => (1, false),
            "SQRT" => (-1, false),
            "DIV" => (0, true),
            "RSQR" => (1, true),
            "RSQRT" => (-1, true),
            _ => return None,
        };
        let first = if shift < 0 { 4 } else { 8 };
        let function = |index: u32| {
            let x = f64::from(index) / 8.0;
            let power = match shift {
                0 => x,
                1 => x * x,
                _ => x.sqrt(),
            };
            if invert { 1.0 / power } else { power }
        };
        let values = (first..16).map(function);
        let greatest = values.fold(0.0, f64::max) * factor;
        // The eighth bit of the largest entry is set.
        let mut scale = 0;
        while scale < 31 && greatest / power_of_2(scale) >= 256.0 {
            scale += 1;
        }
        while scale > -32 && greatest / power_of_2(scale) < 128.0 {
            scale -= 1;
        }
        let mut table = [0; 16];
        for index in first..16 {
            let entry = function(index) * factor / power_of_2(scale);
            // Halves are rounded to even.
            table[index as usize] = entry.round_ties_even().clamp(0.0, 255.0) as u8;
        }
        Some(Unit {
            invert,
            shift,
            scale,
            table,
        })
    }
}

fn power_of_2(exponent: i32) -> f64 {
    match exponent {
        0.. => (1u64 << exponent) as f64,
        _ => 1.0 / (1u64 << -exponent) as f64,
    }
}

/// A number times a power of 2, rounded down.
fn shifted(number: u8, by: i32) -> u64 {
    let number = u64::from(number);
    match by {
        _ if number == 0 => 0,
        0..=55 => number << by,
        56.. => u64::MAX,
        _ => number.checked_shr(by.unsigned_abs()).unwrap_or(0),
    }
}

/// Computes a result.
pub fn step(step: &Step, words: &mut [u64]) {
    words[step.to as usize] = step.unit.execute(words[step.x as usize], step.width);
}

/// `MathUnit.execute(x)`.
pub fn execute(c: &mut Lowering<'_>, call: &ExternCall, x: &Arg) -> Option<()> {
    let program = c.program();
    let unit = match unit(program, &program[call.object?]) {
        Ok(unit) => unit,
        Err(message) => {
            c.error(message);
            return Some(());
        }
    };
    let (_, width) = c.input_value(x)?;
    let x = c.input(x)?;
    let to = c.setting();
    own(c, Step { unit, x, to, width });
    give(c, call, to, 1)
}

/// The unit of an object. An error states what its constructor requires.
fn unit(program: &Program, object: &ExternObject) -> Result<Unit, String> {
    let number = |arg: &CtorArg| match arg {
        CtorArg::Int(value) => i64::try_from(value).ok(),
        _ => None,
    };
    let numbers: Vec<Option<i64>> = object.args.iter().map(number).collect();
    match (&object.args[..], &numbers[..]) {
        ([.., CtorArg::List(data)], &[Some(invert), Some(shift), Some(scale), _]) => {
            let mut table = [0; 16];
            // The first element is entry 15.
            for (entry, value) in table.iter_mut().rev().zip(data) {
                let value = number(value).and_then(|value| u8::try_from(value).ok());
                *entry = value.ok_or("the entries of a MathUnit are numbers from 0 to 255")?;
            }
            if !(-1..=1).contains(&shift) {
                return Err("the shift of a MathUnit is -1, 0 or 1".into());
            }
            Ok(Unit {
                invert: invert != 0,
                shift: shift as i32,
                scale: scale as i32,
                table,
            })
        }
        ([operation, ..], &[_, Some(factor)] | &[_, Some(factor), Some(_)]) => {
            let operation = member(program, "MathOp_t", Some(operation));
            let divisor = numbers.get(2).copied().flatten().unwrap_or(1);
            if factor <= 0 || divisor <= 0 {
                return Err("the factor of a MathUnit is greater than 0".into());
            }
            let unit = operation.and_then(|name| Unit::of(&name, factor as f64 / divisor as f64));
            unit.ok_or_else(|| "a MathUnit needs a constant member of MathOp_t".into())
        }
        _ => {
            Err("a MathUnit takes (invert, shift, scale, data), (op, factor) or (op, A, B)".into())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn exact(operation: &str, factor: f64, x: f64) -> f64 {
        factor
            * match operation {
                "MUL" => x,
                "SQR" => x * x,
                "SQRT" => x.sqrt(),
                "DIV" => 1.0 / x,
                "RSQR" => 1.0 / (x * x),
                _ => 1.0 / x.sqrt(),
            }
    }

    proptest! {
        /// Four bits of the number and eight of the result: the error is the rounding error plus the effect of a change
        /// of x by an eighth, which is squared if x is.
        #[test]
        fn results_are_near_the_exact_ones(x in 1u64..1 << 20, factor in 1u32..1000) {
            for operation in ["MUL", "SQR", "SQRT", "DIV", "RSQR", "RSQRT"] {
                let unit = Unit::of(operation, factor.into()).expect("an operation");
                let found = unit.execute(x, 64) as f64;
                let wanted = exact(operation, factor.into(), x as f64);
                let error = (found - wanted).abs();
                prop_assert!(error <= 0.28 * wanted + 1.0, "{operation} {x}: {found}, not {wanted}");
            }
        }

        /// Numbers of at most four bits are exact except for the rounding of the table.
        #[test]
        fn a_product_of_a_short_number_is_exact_within_a_rounding(
            x in 1u64..16, up in 0u32..16, factor in 1u32..100,
        ) {
            let unit = Unit::of("MUL", factor.into()).expect("an operation");
            let found = unit.execute(x << up, 64) as f64;
            let wanted = f64::from(factor) * (x << up) as f64;
            prop_assert!((found - wanted).abs() <= wanted / 128.0 + 1.0);
        }
    }

    #[test]
    fn a_root_of_an_even_power_is_exact() {
        let unit = Unit::of("SQRT", 1.0).expect("an operation");
        let roots = [1, 4, 16, 64, 1 << 20].map(|x| unit.execute(x, 32));
        assert_eq!(roots, [1, 2, 4, 8, 1 << 10]);
    }

    #[test]
    fn a_table_is_given_from_15_down_and_results_saturate() {
        let table = std::array::from_fn(|i| i as u8);
        let unit = Unit {
            invert: false,
            shift: 0,
            scale: -3,
            table,
        };
        // The identity, without the bits below the four highest ones.
        assert_eq!([0, 5, 0x1234].map(|x| unit.execute(x, 32)), [0, 5, 0x1200]);
        let unit = Unit { scale: 5, ..unit };
        assert_eq!(unit.execute(1 << 27, 32), u64::from(u32::MAX));
    }
}
