//! Instructions on values of several words. The interpreter executes the rarer ones, and those on many words.

use super::emitter::Emitter;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{BlockArg, InstBuilder, Value, types};
use p4_vm::Slot;
use p4_vm::native::Op;

/// The most words that are processed one by one.
const MANY: u32 = 16;

fn limbs(width: u16) -> u32 {
    u32::from(width).div_ceil(64)
}

impl Emitter<'_, '_> {
    /// Compiles an instruction on several words. Returns `false` if it is a different instruction, or one for the
    /// interpreter.
    pub fn wide_op(&mut self, op: Op) -> bool {
        let code = self.program.source.code;
        match op {
            Op::MovW { d, a, n } if n <= MANY => {
                let values = self.load_all(a, n);
                self.store_all(d, &values);
            }
            Op::ZeroW { d, n } if n <= MANY => {
                let zero = self.number(0);
                self.store_all(d, &vec![zero; n as usize]);
            }
            Op::Clear { list } => {
                let zero = self.number(0);
                for &d in &code.clears[list as usize] {
                    self.store(d, zero);
                }
            }
            Op::Moves { list } => {
                for &(d, a) in &code.moves[list as usize] {
                    let value = self.load(a);
                    self.store(d, value);
                }
            }
            Op::AndW { d, a, b, w } if limbs(w) <= MANY => {
                self.limbwise(d, a, b, w, |e, a, b| e.build.ins().band(a, b));
            }
            Op::OrW { d, a, b, w } if limbs(w) <= MANY => {
                self.limbwise(d, a, b, w, |e, a, b| e.build.ins().bor(a, b));
            }
            Op::XorW { d, a, b, w } if limbs(w) <= MANY => {
                self.limbwise(d, a, b, w, |e, a, b| e.build.ins().bxor(a, b));
            }
            Op::EqW { d, a, b, w } if limbs(w) <= MANY => {
                let (a, b) = (self.load_all(a, limbs(w)), self.load_all(b, limbs(w)));
                let mut differ = self.number(0);
                for (a, b) in a.into_iter().zip(b) {
                    let bits = self.build.ins().bxor(a, b);
                    differ = self.build.ins().bor(differ, bits);
                }
                let zero = self.number(0);
                let equal = self.compare(IntCC::Equal, differ, zero);
                self.store(d, equal);
            }
            Op::CMovW { d, c, a, n } if u32::from(n) <= MANY => {
                let c = self.load(c);
                let (values, before) = (self.load_all(a, n.into()), self.load_all(d, n.into()));
                for (i, (value, before)) in (0..).zip(values.into_iter().zip(before)) {
                    let value = self.select(c, value, before);
                    self.store(d + i, value);
                }
            }
            Op::Clamp { d, a, n } if n <= MANY => {
                let values = self.load_all(a, n);
                let mut above = self.number(0);
                for &value in &values[1..] {
                    above = self.build.ins().bor(above, value);
                }
                let most = self.number(u64::MAX);
                let value = self.select(above, most, values[0]);
                self.store(d, value);
            }
            Op::NotW { d, a, w } if limbs(w) <= MANY => {
                let mut values = self.load_all(a, limbs(w));
                for value in &mut values {
                    *value = self.build.ins().bnot(*value);
                }
                self.store_cut(d, &mut values, w);
            }
            Op::AddW { d, a, b, w } if limbs(w) <= MANY => {
                let (a, b) = (self.load_all(a, limbs(w)), self.load_all(b, limbs(w)));
                let mut carry = self.number(0);
                let mut values = Vec::new();
                for (a, b) in a.into_iter().zip(b) {
                    let part = self.build.ins().iadd(a, b);
                    let sum = self.build.ins().iadd(part, carry);
                    let first = self.compare(IntCC::UnsignedLessThan, part, a);
                    let second = self.compare(IntCC::UnsignedLessThan, sum, part);
                    carry = self.build.ins().bor(first, second);
                    values.push(sum);
                }
                self.store_cut(d, &mut values, w);
            }
            Op::SubW { d, a, b, w } if limbs(w) <= MANY => {
                let (mut values, _) = self.difference(a, b, w);
                self.store_cut(d, &mut values, w);
            }
            Op::LtW {
                d,
                a,
                b,
                w,
                signed: false,
            } if limbs(w) <= MANY => {
                let (_, borrow) = self.difference(a, b, w);
                self.store(d, borrow);
            }
            Op::ShlW { d, a, b, w } if limbs(w) <= MANY => {
                let from = self.load_all(a, limbs(w));
                let mut values = self.shifted(&from, b, w, true);
                self.store_cut(d, &mut values, w);
            }
            Op::ShrW {
                d,
                a,
                b,
                w,
                signed: false,
            } if limbs(w) <= MANY => {
                let mut from = self.load_all(a, limbs(w));
                from.reverse();
                let mut values = self.shifted(&from, b, w, false);
                values.reverse();
                self.store_all(d, &values);
            }
            Op::InsertW { d, a, lo, w } if limbs(w) <= MANY => self.insert_wide(d, a, lo, w),
            Op::SliceW { d, a, lo, w } if w > 0 && limbs(w) <= MANY => {
                let (first, last) = (lo / 64, (lo + u32::from(w) - 1) / 64);
                let from = self.load_all(a + first, last - first + 1);
                let slice = |i: usize| (from.get(i).copied(), from.get(i + 1).copied());
                let mut values = Vec::new();
                for i in 0..limbs(w) as usize {
                    let (low, high) = slice(i);
                    values.push(self.funnel(low, high, u64::from(lo % 64)));
                }
                self.store_cut(d, &mut values, w);
            }
            Op::ResizeW {
                d,
                a,
                from,
                to,
                signed: false,
            } if limbs(to) <= MANY => {
                let zero = self.number(0);
                let mut values = self.load_all(a, limbs(from.min(to)));
                values.resize(limbs(to) as usize, zero);
                self.store_cut(d, &mut values, to);
            }
            _ => return false,
        }
        true
    }

    /// a − b, and 1 if a < b.
    fn difference(&mut self, a: Slot, b: Slot, w: u16) -> (Vec<Value>, Value) {
        let (a, b) = (self.load_all(a, limbs(w)), self.load_all(b, limbs(w)));
        let mut borrow = self.number(0);
        let mut values = Vec::new();
        for (a, b) in a.into_iter().zip(b) {
            let part = self.build.ins().isub(a, b);
            values.push(self.build.ins().isub(part, borrow));
            let first = self.compare(IntCC::UnsignedLessThan, a, b);
            let second = self.compare(IntCC::UnsignedLessThan, part, borrow);
            borrow = self.build.ins().bor(first, second);
        }
        (values, borrow)
    }

    /// Shifts words by the distance in bits at `b`: left if `up`, otherwise right. Zeros are shifted in.
    fn shifted(&mut self, from: &[Value], b: Slot, w: u16, up: bool) -> Vec<Value> {
        let zero = self.number(0);
        let before = |values: &[Value], i: usize, by: usize| {
            i.checked_sub(by).map_or(zero, |before| values[before])
        };
        if let Some(by) = self.program.constant(b) {
            let (words, bits) = ((by / 64) as usize, by % 64);
            let mut values = Vec::new();
            for i in 0..from.len() {
                let beyond = by >= w.into() || i < words;
                let (near, far) = match (beyond, bits) {
                    (true, _) => (None, None),
                    (false, 0) => (Some(from[i - words]), None),
                    (false, _) => (
                        Some(from[i - words]),
                        i.checked_sub(words + 1).map(|far| from[far]),
                    ),
                };
                values.push(match up {
                    true => self.funnel(far, near, 64 - bits),
                    false => self.funnel(near, far, bits),
                });
            }
            return values;
        }
        let by = self.load(b);
        let bits = self.build.ins().band_imm(by, 63);
        // In two steps, because a shift by 64 has the effect of a shift by 0.
        let rest = self.build.ins().bxor_imm(bits, 63);
        let mut values = Vec::new();
        for i in 0..from.len() {
            let far = before(from, i, 1);
            let (near, far) = match up {
                true => {
                    let far = self.build.ins().ushr_imm(far, 1);
                    let far = self.build.ins().ushr(far, rest);
                    (self.build.ins().ishl(from[i], bits), far)
                }
                false => {
                    let far = self.build.ins().ishl_imm(far, 1);
                    let far = self.build.ins().ishl(far, rest);
                    (self.build.ins().ushr(from[i], bits), far)
                }
            };
            values.push(self.build.ins().bor(near, far));
        }
        // Usually by less than a word.
        let [farther, done] = [self.build.create_block(), self.build.create_block()];
        let params: Vec<_> = values
            .iter()
            .map(|_| self.build.append_block_param(done, types::I64))
            .collect();
        let near = self.build.ins().icmp_imm(IntCC::UnsignedLessThan, by, 64);
        let args =
            |values: &[Value]| -> Vec<_> { values.iter().map(|&v| BlockArg::Value(v)).collect() };
        let none: &[BlockArg] = &[];
        self.build
            .ins()
            .brif(near, done, &args(&values), farther, none);
        self.build.switch_to_block(farther);
        // Shifts by whole words: by 1, 2, 4 and so on, each if that bit of the distance is set.
        let mut words = 1;
        while words < values.len() {
            let bit = self.build.ins().band_imm(by, 64 * words as i64);
            let moved: Vec<_> = (0..values.len())
                .map(|i| before(&values, i, words))
                .collect();
            for (value, moved) in values.iter_mut().zip(moved) {
                *value = self.select(bit, moved, *value);
            }
            words *= 2;
        }
        let width = self.number(w.into());
        let beyond = self.compare(IntCC::UnsignedGreaterThanOrEqual, by, width);
        for value in &mut values {
            *value = self.select(beyond, zero, *value);
        }
        self.build.ins().jump(done, &args(&values));
        self.build.switch_to_block(done);
        params
    }

    /// Sets bits of `d` from `lo` up to `a`, piece by piece.
    fn insert_wide(&mut self, d: Slot, a: Slot, lo: u32, w: u16) {
        let mut done = 0;
        while done < u32::from(w) {
            let at = lo + done;
            let count = (64 - at % 64).min(64 - done % 64).min(u32::from(w) - done);
            let mask = u64::MAX >> (64 - count);
            let value = self.load(a + done / 64);
            let value = self.down(value, u64::from(done % 64));
            let value = self.cut(value, (64 - count) as u8);
            let value = self.up(value, u64::from(at % 64));
            let before = self.load(d + at / 64);
            let kept = self.number(!(mask << (at % 64)));
            let kept = self.build.ins().band(before, kept);
            let word = self.build.ins().bor(kept, value);
            self.store(d + at / 64, word);
            done += count;
        }
    }

    fn load_all(&mut self, a: Slot, n: u32) -> Vec<Value> {
        (a..a + n).map(|slot| self.load(slot)).collect()
    }

    fn store_all(&mut self, d: Slot, values: &[Value]) {
        for (slot, &value) in (d..).zip(values) {
            self.store(slot, value);
        }
    }

    /// Stores a value cut to its width.
    fn store_cut(&mut self, d: Slot, values: &mut [Value], w: u16) {
        if let Some(top) = values.last_mut() {
            *top = self.cut(*top, ((64 - w % 64) % 64) as u8);
        }
        self.store_all(d, values);
    }

    /// 64 bits of two words from bit `from` (0 to 64) of the lower one up. Missing words are zero.
    fn funnel(&mut self, low: Option<Value>, high: Option<Value>, from: u64) -> Value {
        let low = low
            .filter(|_| from < 64)
            .map(|value| self.down(value, from));
        let high = high
            .filter(|_| from > 0)
            .map(|value| self.up(value, 64 - from));
        match (low, high) {
            (Some(low), Some(high)) => self.build.ins().bor(low, high),
            (Some(value), None) | (None, Some(value)) => value,
            (None, None) => self.number(0),
        }
    }

    fn limbwise(
        &mut self,
        d: Slot,
        a: Slot,
        b: Slot,
        w: u16,
        make: impl Fn(&mut Self, Value, Value) -> Value,
    ) {
        let (a, b) = (self.load_all(a, limbs(w)), self.load_all(b, limbs(w)));
        let values: Vec<_> = a
            .into_iter()
            .zip(b)
            .map(|(a, b)| make(self, a, b))
            .collect();
        self.store_all(d, &values);
    }
}
