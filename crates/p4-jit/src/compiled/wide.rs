//! Instructions on values of several words. The interpreter executes those on many words, and the rarer ones.

use super::emitter::Emitter;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value};
use p4_vm::Slot;
use p4_vm::native::Op;

/// Most words that are worked on one by one.
const MANY: u32 = 16;

fn limbs(width: u16) -> u32 {
    u32::from(width).div_ceil(64)
}

impl Emitter<'_, '_> {
    /// Compiles an instruction on several words; `false`: it is another one, or one that the interpreter executes.
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
            Op::ShlW { d, a, b, w } if limbs(w) <= MANY => {
                let Some(by) = self.program.constant(b) else {
                    return false;
                };
                let zero = self.number(0);
                let mut values = vec![zero; limbs(w) as usize];
                if by < w.into() {
                    let from = self.load_all(a, limbs(w));
                    let words = (by / 64) as usize;
                    for i in words..values.len() {
                        let low = i.checked_sub(words + 1).map(|low| from[low]);
                        values[i] = self.funnel(low, Some(from[i - words]), 64 - by % 64);
                    }
                }
                self.store_cut(d, &mut values, w);
            }
            Op::ShrW {
                d,
                a,
                b,
                w,
                signed: false,
            } if limbs(w) <= MANY => {
                let Some(by) = self.program.constant(b) else {
                    return false;
                };
                let zero = self.number(0);
                let mut values = vec![zero; limbs(w) as usize];
                if by < w.into() {
                    let from = self.load_all(a, limbs(w));
                    let words = (by / 64) as usize;
                    for i in words..from.len() {
                        let high = from.get(i + 1).copied();
                        values[i - words] = self.funnel(Some(from[i]), high, by % 64);
                    }
                }
                self.store_all(d, &values);
            }
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

    /// 64 bits of two words from bit `from` (0 to 64) of the lower one up; words that are not there are zero.
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
