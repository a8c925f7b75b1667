//! Instructions on values of one word.

use super::emitter::Emitter;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value};
use p4_vm::Slot;
use p4_vm::native::Op;

impl Emitter<'_, '_> {
    /// Compiles an instruction on words. Returns `false` if it is a different instruction, or one for the interpreter.
    pub fn word_op(&mut self, op: Op) -> bool {
        match op {
            Op::Mov { d, a } => {
                let value = self.load(a);
                self.store(d, value);
            }
            Op::Add { d, a, b, sh } => self.cut_to(d, a, b, sh, |e, a, b| e.build.ins().iadd(a, b)),
            Op::Sub { d, a, b, sh } => self.cut_to(d, a, b, sh, |e, a, b| e.build.ins().isub(a, b)),
            Op::Mul { d, a, b, sh } => self.cut_to(d, a, b, sh, |e, a, b| e.build.ins().imul(a, b)),
            Op::Div { d, a, b } => {
                self.cut_to(d, a, b, 0, |e, a, b| {
                    e.divide(a, b, |e, a, b| e.build.ins().udiv(a, b))
                });
            }
            Op::Mod { d, a, b } => {
                self.cut_to(d, a, b, 0, |e, a, b| {
                    e.divide(a, b, |e, a, b| e.build.ins().urem(a, b))
                });
            }
            Op::SatAdd {
                d,
                a,
                b,
                sh,
                signed: false,
            } => self.cut_to(d, a, b, 0, |e, a, b| {
                let sum = e.build.ins().iadd(a, b);
                let most = e.number(u64::MAX >> sh);
                let carried = e.build.ins().icmp(IntCC::UnsignedLessThan, sum, a);
                let sum = e.build.ins().umin(sum, most);
                e.select(carried, most, sum)
            }),
            Op::SatSub {
                d,
                a,
                b,
                sh: _,
                signed: false,
            } => self.cut_to(d, a, b, 0, |e, a, b| {
                let difference = e.build.ins().isub(a, b);
                let borrowed = e.build.ins().icmp(IntCC::UnsignedLessThan, a, b);
                let zero = e.number(0);
                e.select(borrowed, zero, difference)
            }),
            Op::And { d, a, b } => self.cut_to(d, a, b, 0, |e, a, b| e.build.ins().band(a, b)),
            Op::Or { d, a, b } => self.cut_to(d, a, b, 0, |e, a, b| e.build.ins().bor(a, b)),
            Op::Xor { d, a, b } => self.cut_to(d, a, b, 0, |e, a, b| e.build.ins().bxor(a, b)),
            Op::Not { d, a, sh } => self.cut_to(d, a, a, sh, |e, a, _| e.build.ins().bnot(a)),
            Op::Neg { d, a, sh } => self.cut_to(d, a, a, sh, |e, a, _| e.build.ins().ineg(a)),
            Op::Shl { d, a, b, sh } => {
                self.shift(d, a, b, sh, |e, a, b| e.build.ins().ishl(a, b));
            }
            Op::Shr { d, a, b } => self.shift(d, a, b, 0, |e, a, b| e.build.ins().ushr(a, b)),
            Op::Sar { d, a, b, sh } => self.cut_to(d, a, b, sh, |e, a, b| {
                let value = e.extend(a, sh);
                let most = e.number(63);
                let by = e.build.ins().umin(b, most);
                e.build.ins().sshr(value, by)
            }),
            Op::Eq { d, a, b } => self.compare_to(d, a, b, 0, IntCC::Equal),
            Op::Ne { d, a, b } => self.compare_to(d, a, b, 0, IntCC::NotEqual),
            Op::Lt { d, a, b } => self.compare_to(d, a, b, 0, IntCC::UnsignedLessThan),
            Op::Le { d, a, b } => self.compare_to(d, a, b, 0, IntCC::UnsignedLessThanOrEqual),
            Op::LtS { d, a, b, sh } => self.compare_to(d, a, b, sh, IntCC::SignedLessThan),
            Op::LeS { d, a, b, sh } => self.compare_to(d, a, b, sh, IntCC::SignedLessThanOrEqual),
            Op::Slice { d, a, lo, sh } => {
                self.cut_to(d, a, a, sh, |e, a, _| e.down(a, lo.into()));
            }
            Op::Slice2 { d, a, lo, sh } if lo > 0 => self.cut_to(d, a, a + 1, sh, |e, a, b| {
                let (low, high) = (e.down(a, lo.into()), e.up(b, 64 - u64::from(lo)));
                e.build.ins().bor(low, high)
            }),
            Op::Insert { d, a, lo, sh } => self.cut_to(d, d, a, 0, |e, d, a| {
                let mask = e.number(!(u64::MAX >> sh << lo));
                let kept = e.build.ins().band(d, mask);
                let value = e.up(a, lo.into());
                e.build.ins().bor(kept, value)
            }),
            Op::Sext { d, a, from, sh } => self.cut_to(d, a, a, sh, |e, a, _| e.extend(a, from)),
            Op::Concat { d, a, b, by } if by < 64 => self.cut_to(d, a, b, 0, |e, a, b| {
                let high = e.up(a, by.into());
                e.build.ins().bor(high, b)
            }),
            Op::CMov { d, c, a } => {
                let c = self.load(c);
                self.cut_to(d, a, d, 0, |e, a, d| e.select(c, a, d));
            }
            _ => return false,
        }
        true
    }

    /// Sets `d` to the result of `make` for two words, cut to `64 − sh` bits.
    fn cut_to(
        &mut self,
        d: Slot,
        a: Slot,
        b: Slot,
        sh: u8,
        make: impl FnOnce(&mut Self, Value, Value) -> Value,
    ) {
        let (a, b) = (self.load(a), self.load(b));
        let value = make(self, a, b);
        let value = self.cut(value, sh);
        self.store(d, value);
    }

    /// A quotient or remainder. It is 0 if the divisor is 0.
    fn divide(
        &mut self,
        a: Value,
        b: Value,
        divide: impl FnOnce(&mut Self, Value, Value) -> Value,
    ) -> Value {
        let (zero, one) = (self.number(0), self.number(1));
        let divisor = self.select(b, b, one);
        let value = divide(self, a, divisor);
        self.select(b, value, zero)
    }

    /// A shift. The result is 0 if the distance is too large.
    fn shift(
        &mut self,
        d: Slot,
        a: Slot,
        b: Slot,
        sh: u8,
        make: impl FnOnce(&mut Self, Value, Value) -> Value,
    ) {
        let by = self.program.constant(b);
        self.cut_to(d, a, b, sh, |e, a, b| match by {
            Some(64..) => e.number(0),
            Some(_) => make(e, a, b),
            None => {
                let shifted = make(e, a, b);
                let (zero, most) = (e.number(0), e.number(63));
                let beyond = e.build.ins().icmp(IntCC::UnsignedGreaterThan, b, most);
                e.select(beyond, zero, shifted)
            }
        });
    }

    fn compare_to(&mut self, d: Slot, a: Slot, b: Slot, sh: u8, how: IntCC) {
        self.cut_to(d, a, b, 0, |e, a, b| {
            let (a, b) = (e.up(a, sh.into()), e.up(b, sh.into()));
            e.compare(how, a, b)
        });
    }
}
