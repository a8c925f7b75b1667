//! Instructions on places that are found at run time: elements of arrays, cells of registers and counters.

use super::context;
use super::emitter::Emitter;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value};
use p4_vm::native::{Cells, Kind, OUT_OF_RANGE, Op};
use p4_vm::{CounterData, NONE, Slot, Target};
use std::mem::offset_of;

/// The most words that are copied one by one.
const MANY: u16 = 16;

/// A place in storage.
pub enum Place {
    /// A place with a fixed first word.
    Fixed(Slot),
    /// A place found at run time, and checked.
    Found(Value),
}

impl Emitter<'_, '_> {
    /// Compiles instruction `at` on a place found at run time. Returns `false` if it is a different instruction, or one
    /// for the interpreter.
    pub fn place_op(&mut self, op: Op, at: Target) -> bool {
        match op {
            Op::Index { d, a, index, first } => {
                let step = self.program.source.code.indices[index as usize];
                let (index, nowhere) = (self.load(a), self.number(OUT_OF_RANGE));
                let offset = self.build.ins().imul_imm(index, i64::from(step.stride));
                let len = self.number(step.len.into());
                let mut beyond =
                    self.build
                        .ins()
                        .icmp(IntCC::UnsignedGreaterThanOrEqual, index, len);
                let mut offset = offset;
                if !first {
                    let before = self.load(d);
                    let lost = self.build.ins().icmp(IntCC::Equal, before, nowhere);
                    beyond = self.build.ins().bor(beyond, lost);
                    offset = self.build.ins().iadd(offset, before);
                }
                let offset = self.select(beyond, nowhere, offset);
                self.store(d, offset);
            }
            Op::LoadX { d, base, off, n } if n <= MANY => {
                self.at_place(base, off, n.into(), at, |e, place| {
                    for i in 0..u32::from(n) {
                        let value = e.load_from(place, i);
                        e.store(d + i, value);
                    }
                });
            }
            Op::StoreX { base, off, a, n } if n <= MANY => {
                self.at_place(base, off, n.into(), at, |e, place| {
                    for i in 0..u32::from(n) {
                        let value = e.load(a + i);
                        e.store_to(place, i, value);
                    }
                });
            }
            Op::ZeroX { base, off, n } if n <= MANY => {
                self.at_place(base, off, n.into(), at, |e, place| {
                    let zero = e.number(0);
                    for i in 0..u32::from(n) {
                        e.store_to(place, i, zero);
                    }
                });
            }
            Op::RegRead {
                d, index, register, ..
            } if self.kind(register) == Kind::Register => {
                self.at_cell(register, index, size_of::<u64>(), at, |e, cell| {
                    let value = e.load_place(cell, 0);
                    e.store(d, value);
                });
            }
            Op::RegWrite {
                index, a, register, ..
            } if self.kind(register) == Kind::Register => {
                self.at_cell(register, index, size_of::<u64>(), at, |e, cell| {
                    let value = e.load(a);
                    e.store_place(cell, 0, value);
                });
            }
            Op::Count { counter, index } => {
                let Kind::Counter(counted) = self.kind(counter) else {
                    return false;
                };
                self.at_cell(counter, index, size_of::<CounterData>(), at, |e, cell| {
                    if counted.packets {
                        let one = e.number(1);
                        e.add_to_place(cell, offset_of!(CounterData, packets), one);
                    }
                    if counted.octets {
                        let length = e.fixed_field(context::LENGTH);
                        e.add_to_place(cell, offset_of!(CounterData, octets), length);
                    }
                });
            }
            _ => return false,
        }
        true
    }

    /// Compiles instruction `at` on a place of the given number of words. The interpreter executes it if not all of
    /// them are within storage.
    pub fn at_place(
        &mut self,
        base: Slot,
        off: Slot,
        words: u32,
        at: Target,
        common: impl FnOnce(&mut Self, &Place),
    ) {
        if off == NONE {
            self.inside(base, words);
            return common(self, &Place::Fixed(base));
        }
        if !self.inside(base, words) {
            return;
        }
        let offset = self.load(off);
        let room = self.program.words as u64 - base as u64 - words as u64;
        let most = self.number(room);
        let beyond = self
            .build
            .ins()
            .icmp(IntCC::UnsignedGreaterThan, offset, most);
        self.unless(&[beyond], at, |e| {
            let word = e.build.ins().iadd_imm(offset, i64::from(base));
            let place = e.word_at(word);
            common(e, &Place::Found(place));
        });
    }

    pub fn load_from(&mut self, place: &Place, word: u32) -> Value {
        match *place {
            Place::Fixed(slot) => self.load(slot + word),
            Place::Found(place) => self.load_at(place, word),
        }
    }

    pub fn store_to(&mut self, place: &Place, word: u32, value: Value) {
        match *place {
            Place::Fixed(slot) => self.store(slot + word, value),
            Place::Found(place) => self.store_at(place, word, value),
        }
    }

    fn kind(&self, object: u32) -> Kind {
        let objects = self.program.source.objects;
        objects.get(object as usize).copied().unwrap_or(Kind::Other)
    }

    /// Compiles instruction `at` on a cell of an object, of the given size in octets. The interpreter executes it if
    /// there is no such cell, or while writes are deferred.
    fn at_cell(
        &mut self,
        object: u32,
        index: Slot,
        octets: usize,
        at: Target,
        common: impl FnOnce(&mut Self, Value),
    ) {
        let index = self.load(index);
        let all = self.fixed_field(context::CELLS);
        let object = object as i32 * size_of::<Cells>() as i32;
        let len = self.load_fixed(all, object + offset_of!(Cells, len) as i32);
        let first = self.load_fixed(all, object + offset_of!(Cells, at) as i32);
        let beyond = self
            .build
            .ins()
            .icmp(IntCC::UnsignedGreaterThanOrEqual, index, len);
        self.unless(&[beyond], at, |e| {
            let offset = e.build.ins().imul_imm(index, octets as i64);
            let cell = e.build.ins().iadd(first, offset);
            common(e, cell);
        });
    }

    fn add_to_place(&mut self, place: Value, offset: usize, value: Value) {
        let before = self.load_place(place, offset as i32);
        let sum = self.build.ins().iadd(before, value);
        self.store_place(place, offset as i32, sum);
    }
}
