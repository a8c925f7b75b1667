//! Instructions on places found at run time: elements of arrays, cells of registers.

use super::context;
use super::emitter::Emitter;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value, types};
use p4_vm::native::{Cells, OUT_OF_RANGE, Op};
use p4_vm::{NONE, Slot, Target};
use std::mem::offset_of;

/// Most words that are copied one by one.
const MANY: u16 = 16;

/// A place in storage.
pub enum Place {
    /// Whose first word is known.
    Fixed(Slot),
    /// Found at run time, and checked.
    Found(Value),
}

impl Emitter<'_, '_> {
    /// Compiles instruction `at` on a place found at run time; `false`: it is another one, or one that the
    /// interpreter executes.
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
            Op::RegRead { d, index, register } if self.has_word_cells(register) => {
                let (cell, after) = self.cell(index, register);
                let value = self.load_place(cell, 0);
                self.store(d, value);
                self.jump(after);
                self.build.switch_to_block(after);
            }
            Op::RegWrite { index, a, register } if self.has_word_cells(register) => {
                let value = self.load(a);
                let (cell, after) = self.cell(index, register);
                self.store_place(cell, 0, value);
                self.jump(after);
                self.build.switch_to_block(after);
            }
            _ => return false,
        }
        true
    }

    /// Instruction `at` on so many words of a place. The interpreter executes it where not all of them are in
    /// storage.
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
        self.unless(beyond, at, |e| {
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

    fn has_word_cells(&self, register: u32) -> bool {
        let registers = self.program.source.registers;
        registers.get(register as usize) == Some(&true)
    }

    /// Where a cell of a register is, and where the code goes on, at once if there is no such cell.
    fn cell(&mut self, index: Slot, register: u32) -> (Value, cranelift_codegen::ir::Block) {
        let after = self.build.create_block();
        let index = self.load(index);
        let all = self.field(types::I64, context::CELLS);
        let object = register as i32 * size_of::<Cells>() as i32;
        let len = self.load_place(all, object + offset_of!(Cells, len) as i32);
        let first = self.load_place(all, object + offset_of!(Cells, at) as i32);
        let beyond = self
            .build
            .ins()
            .icmp(IntCC::UnsignedGreaterThanOrEqual, index, len);
        self.leave_if(beyond, after);
        let octets = self.build.ins().ishl_imm(index, 3);
        (self.build.ins().iadd(first, octets), after)
    }
}
