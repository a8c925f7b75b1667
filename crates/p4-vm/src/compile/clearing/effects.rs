//! What instructions read and write.

use super::{Subject, fields};
use crate::code::*;
use crate::wide::limbs;
use std::ops::Range;

/// What an instruction does to variables.
#[derive(Debug, Default)]
pub struct Effects {
    pub reads: Vec<Range<Slot>>,
    /// Words that are read only if a header is valid: the word of its validity, and the words read.
    pub guarded: Vec<(Slot, Range<Slot>)>,
    pub writes: Vec<Range<Slot>>,
    /// Words that may or may not be written, or are written in part.
    pub touches: Vec<Range<Slot>>,
    /// Whether it sets all words in `writes` to zero.
    pub is_zero: bool,
    /// Whether the packet may leave the block at this instruction.
    pub ends: bool,
    /// Whether it makes a header valid and writes all its fields.
    pub extracts: bool,
}

impl Effects {
    fn read(mut self, slot: Slot, words: usize) -> Self {
        self.reads.push(slot..slot + words as Slot);
        self
    }

    fn write(mut self, slot: Slot, words: usize) -> Self {
        self.writes.push(slot..slot + words as Slot);
        self
    }

    fn touch(mut self, slot: Slot, words: usize) -> Self {
        self.touches.push(slot..slot + words as Slot);
        self
    }

    fn end(mut self) -> Self {
        self.ends = true;
        self
    }
}

impl Subject<'_> {
    /// The number of words from `slot` to the end of its variable.
    fn rest(&self, slot: Slot) -> usize {
        let after = self.variables.partition_point(|&first| first <= slot);
        let end = self.variables.get(after).copied();
        (end.unwrap_or(self.code.words as Slot).max(slot + 1) - slot) as usize
    }

    /// Whether a word is a constant 0.
    pub fn is_zero(&self, slot: Slot) -> bool {
        let at = (slot as usize).checked_sub(self.code.constants_at);
        let value = at.and_then(|at| self.code.constants.get(at));
        value == Some(&0) && !self.code.settings.contains(&slot)
    }

    /// The effects of instruction `at`. `None` if they are unknown.
    pub fn effects(&self, at: usize) -> Option<Effects> {
        let e = Effects::default();
        Some(match self.code.ops[at] {
            Op::Mov { d, a } => Effects {
                is_zero: self.is_zero(a),
                ..e.read(a, 1).write(d, 1)
            },
            Op::Add { d, a, b, .. }
            | Op::Sub { d, a, b, .. }
            | Op::Mul { d, a, b, .. }
            | Op::Div { d, a, b }
            | Op::Mod { d, a, b }
            | Op::SatAdd { d, a, b, .. }
            | Op::SatSub { d, a, b, .. }
            | Op::And { d, a, b }
            | Op::Or { d, a, b }
            | Op::Xor { d, a, b }
            | Op::Shl { d, a, b, .. }
            | Op::Shr { d, a, b }
            | Op::Sar { d, a, b, .. }
            | Op::Eq { d, a, b }
            | Op::Ne { d, a, b }
            | Op::Lt { d, a, b }
            | Op::Le { d, a, b }
            | Op::LtS { d, a, b, .. }
            | Op::LeS { d, a, b, .. }
            | Op::Concat { d, a, b, .. } => e.read(a, 1).read(b, 1).write(d, 1),
            Op::Not { d, a, .. }
            | Op::Neg { d, a, .. }
            | Op::Slice { d, a, .. }
            | Op::Sext { d, a, .. } => e.read(a, 1).write(d, 1),
            Op::Slice2 { d, a, .. } => e.read(a, 2).write(d, 1),
            Op::Insert { d, a, .. } => e.read(a, 1).read(d, 1).write(d, 1),
            Op::CMov { d, c, a } => e.read(c, 1).read(a, 1).touch(d, 1),
            Op::MovW { d, a, n } => e.read(a, n as usize).write(d, n as usize),
            Op::ZeroW { d, n } => Effects {
                is_zero: true,
                ..e.write(d, n as usize)
            },
            Op::Clear { list } => {
                let list = &self.code.clears[list as usize];
                list.iter()
                    .fold(Effects { is_zero: true, ..e }, |e, &slot| e.write(slot, 1))
            }
            // Copies run in order: a later one may read what an earlier one has written.
            Op::Moves { list } => {
                let list = &self.code.moves[list as usize];
                list.iter().fold(e, |e, &(d, a)| {
                    let known = e.writes.iter().any(|words| words.contains(&a));
                    if known { e } else { e.read(a, 1) }.write(d, 1)
                })
            }
            Op::AddW { d, a, b, w }
            | Op::SubW { d, a, b, w }
            | Op::MulW { d, a, b, w }
            | Op::DivW { d, a, b, w }
            | Op::ModW { d, a, b, w }
            | Op::SatAddW { d, a, b, w, .. }
            | Op::SatSubW { d, a, b, w, .. }
            | Op::AndW { d, a, b, w }
            | Op::OrW { d, a, b, w }
            | Op::XorW { d, a, b, w } => {
                let n = limbs(w.into());
                e.read(a, n).read(b, n).write(d, n)
            }
            Op::NotW { d, a, w } | Op::NegW { d, a, w } => {
                let n = limbs(w.into());
                e.read(a, n).write(d, n)
            }
            Op::ShlW { d, a, b, w } | Op::ShrW { d, a, b, w, .. } => {
                let n = limbs(w.into());
                e.read(a, n).read(b, 1).write(d, n)
            }
            Op::EqW { d, a, b, w } | Op::LtW { d, a, b, w, .. } => {
                let n = limbs(w.into());
                e.read(a, n).read(b, n).write(d, 1)
            }
            Op::SliceW { d, a, lo, w } => {
                let words = limbs(lo + u32::from(w));
                e.read(a, words).write(d, limbs(w.into()))
            }
            Op::InsertW { d, a, lo, w } => {
                let words = limbs(lo + u32::from(w));
                e.read(a, limbs(w.into())).read(d, words).write(d, words)
            }
            Op::ResizeW { d, a, from, to, .. } => {
                e.read(a, limbs(from.into())).write(d, limbs(to.into()))
            }
            Op::CMovW { d, c, a, n } => e.read(c, 1).read(a, n.into()).touch(d, n.into()),
            Op::Clamp { d, a, n } => e.read(a, n as usize).write(d, 1),
            Op::Index { d, a, first, .. } => {
                let e = e.read(a, 1).write(d, 1);
                if first { e } else { e.read(d, 1) }
            }
            Op::LoadX { d, base, off, n } => {
                let e = e.read(off, 1).read(base, self.rest(base));
                e.write(d, n.into())
            }
            Op::StoreX { base, off, a, n } => {
                let e = e.read(off, 1).read(a, n.into());
                e.touch(base, self.rest(base))
            }
            Op::ZeroX { base, off, .. } => e.read(off, 1).touch(base, self.rest(base)),
            Op::CopyX { copy } => {
                let CopyStep { to, from, .. } = self.code.copies[copy as usize];
                let e = [to.1, from.1]
                    .into_iter()
                    .filter(|&off| off != NONE)
                    .fold(e, |e, off| e.read(off, 1));
                let e = e.read(from.0, self.rest(from.0));
                e.touch(to.0, self.rest(to.0))
            }
            Op::Shift { shift } => {
                let (base, off) = self.code.shifts[shift as usize].at;
                let e = if off == NONE { e } else { e.read(off, 1) };
                let words = self.rest(base);
                e.read(base, words).touch(base, words)
            }
            Op::Jmp { .. } | Op::Call { .. } | Op::Ret | Op::Halt => e,
            Op::JmpZ { a, .. } | Op::JmpNz { a, .. } | Op::Jump { a, .. } => e.read(a, 1),
            Op::JmpEq { a, b, .. }
            | Op::JmpNe { a, b, .. }
            | Op::JmpLt { a, b, .. }
            | Op::JmpLe { a, b, .. } => e.read(a, 1).read(b, 1),
            Op::Step { .. } | Op::Enter { .. } | Op::Round { .. } => e,
            Op::Extract { base, off, header } => self.extract(e, (base, off), header),
            Op::ExtractVar {
                base,
                off,
                bits,
                header,
            } => self.extract(e.read(bits, 1), (base, off), header.into()),
            Op::Need { .. } | Op::Refuse => e.end(),
            Op::Peek { d, w, .. } => e.write(d, limbs(w.into()).max(1)),
            Op::Advance { a } | Op::Reject { a } => e.read(a, 1).end(),
            Op::PacketLength { d } => e.write(d, 1),
            Op::Emit { base, off, header } => match off {
                NONE => self.emit(e, base, header),
                _ => e.read(off, 1).read(base, self.rest(base)),
            },
            Op::EmitAll { list } => {
                let list = &self.code.emits[list as usize];
                list.iter()
                    .fold(e, |e, &(base, header)| self.emit(e, base, header))
            }
            Op::InSet { test, .. } => {
                let keys = &self.code.set_tests[test as usize].keys;
                keys.iter().fold(e, |e, &key| e.read(key, self.rest(key)))
            }
            Op::Apply { site } => self.apply(e, &self.code.sites[site as usize]),
            Op::RegRead { d, index, n, .. } => e.read(index, 1).touch(d, n.into()),
            Op::RegWrite { index, a, n, .. } => e.read(index, 1).read(a, n.into()),
            Op::Count { index, .. } => e.read(index, 1),
            Op::Extern { call } => self.call(e, &self.code.externs[call as usize])?,
        })
    }

    fn extract(&self, e: Effects, (base, off): (Slot, Slot), header: u32) -> Effects {
        let e = Effects {
            extracts: true,
            ..e.end()
        };
        if off != NONE {
            return e.read(off, 1).touch(base, self.rest(base));
        }
        let words = fields(base, &self.code.headers[header as usize]);
        words
            .into_iter()
            .fold(e.write(base, 1), |e, word| e.write(word, 1))
    }

    /// The length of a `varbit` is read first.
    fn emit(&self, e: Effects, base: Slot, header: u32) -> Effects {
        let layout = &self.code.headers[header as usize];
        let mut e = e.read(base, 1);
        if let Some(field) = layout.varbit.and_then(|at| layout.fields.get(at)) {
            e = e.read(base + field.word, 1);
        }
        let words = fields(base, layout).into_iter();
        e.guarded.extend(words.map(|word| (base, word..word + 1)));
        e
    }

    fn apply(&self, e: Effects, site: &ApplySite) -> Effects {
        let keys = site.keys.iter().zip(&self.keys[site.table as usize]);
        let mut e = keys.fold(e, |e, (&key, &words)| e.read(key, words as usize));
        if site.hit != NONE {
            e = e.write(site.hit, 1);
        }
        // It keeps its value if no action is run.
        if site.action_run != NONE {
            e = e.touch(site.action_run, 1);
        }
        e
    }

    /// Adds reads of values. Values of invalid headers are not read.
    fn values(&self, e: Effects, data: &[ListValue]) -> Effects {
        data.iter().fold(e, |mut e, value| {
            let words = value.slot..value.slot + limbs(value.width) as Slot;
            if value.length != NONE {
                e = e.read(value.length, 1);
            }
            match value.valid {
                NONE => e.reads.push(words),
                valid => {
                    e = e.read(valid, 1);
                    e.guarded.push((valid, words));
                }
            }
            e
        })
    }

    fn call(&self, e: Effects, call: &ExternCode) -> Option<Effects> {
        let number = |e: Effects, (slot, width): (Slot, u32)| e.read(slot, limbs(width));
        Some(match call {
            ExternCode::Hash {
                d, base, max, data, ..
            } => {
                let e = number(number(self.values(e, data), *base), *max);
                e.touch(d.0, limbs(d.1))
            }
            ExternCode::Checksum {
                verify,
                condition,
                data,
                sum,
                ..
            } => {
                let e = self.values(e.read(*condition, 1), data);
                match verify {
                    true => number(e, *sum),
                    false => e.touch(sum.0, limbs(sum.1)),
                }
            }
            ExternCode::Get { data, d } => self.values(e, data).touch(*d, 1),
            &ExternCode::Random {
                d,
                low,
                high,
                width,
            } => number(number(e, (low, width)), (high, width)).touch(d, limbs(width)),
            // A digest reads the fields of invalid headers as well.
            ExternCode::Digest { receiver, data, .. } => {
                let e = e.read(*receiver, 1);
                data.iter()
                    .fold(e, |e, value| e.read(value.slot, limbs(value.width)))
            }
            ExternCode::Assert { condition, .. } => e.read(*condition, 1),
            ExternCode::Log { parts, .. } => parts.iter().fold(e, |e, part| match part {
                LogPart::Text(_) => e,
                &LogPart::Value { slot, width, .. } => e.read(slot, limbs(width)),
            }),
            ExternCode::MeterExecute { index, d, .. } => e.read(*index, 1).touch(d.0, limbs(d.1)),
            ExternCode::DirectMeterRead { d } => e.touch(d.0, limbs(d.1)),
            ExternCode::Own(_) => return None,
        })
    }
}
