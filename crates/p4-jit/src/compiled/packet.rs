//! Instructions that access the packet's octets.

use super::context;
use super::emitter::Emitter;
use super::place::Place;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{BlockArg, InstBuilder, Value, types};
use p4_vm::native::{FieldCode, HeaderCode, Op};
use p4_vm::{Slot, Target};

/// The most words of a `varbit` that are set one by one.
const MANY: u32 = 16;

impl Emitter<'_, '_> {
    /// Compiles instruction `at` on the packet. Returns `false` if it is a different instruction, or one for the
    /// interpreter.
    pub fn packet_op(&mut self, op: Op, at: Target) -> bool {
        let code = self.program.source.code;
        let too_short = code.errors.packet_too_short;
        match op {
            Op::Extract { base, off, header } => {
                let header = &code.headers[header as usize];
                if header.lanes.is_empty() || header.varbit.is_some() || !lanes_fit(header) {
                    return false;
                }
                let last = header.lanes.iter().map(|lane| lane.word).max();
                let words = last.unwrap_or(0).max(words_of(header)) + 1;
                // It begins at an octet boundary, and all octets that are read are stored, so that the packet is not
                // too short.
                let (cursor, place) = self.cursor();
                let skip = self.build.ins().band_imm(cursor, 7);
                let begin = self.build.ins().ushr_imm(cursor, 3);
                let length = header.bits / 8;
                let after = self.build.ins().iadd_imm(begin, i64::from(length));
                let held = self.fixed_field(context::HELD);
                let beyond = self
                    .build
                    .ins()
                    .icmp(IntCC::UnsignedGreaterThan, after, held);
                let mut rare = vec![beyond, skip];
                // For a header of 3, 5, 6 or 7 octets, the code reads the eight octets that end with it, because it may
                // be the last header.
                let whole = length >= 8 || length.is_power_of_two();
                let before = if whole { 0 } else { 8 - length };
                let mut octet = begin;
                if before > 0 {
                    let least = self.number(before.into());
                    rare.push(self.build.ins().icmp(IntCC::UnsignedLessThan, begin, least));
                    octet = self.build.ins().isub(begin, least);
                }
                self.unless(&rare, at, |e| {
                    e.at_place(base, off, words, at, |e, storage| {
                        let one = e.number(1);
                        e.store_to(storage, 0, one);
                        let octets = e.fixed_field(context::OCTETS);
                        let first = e.build.ins().iadd(octets, octet);
                        for lane in &header.lanes {
                            let eight = match length {
                                1 | 2 | 4 => e.high_octets(first, length),
                                _ => e.eight_octets(first, lane.octet.into()),
                            };
                            let value = e.up(eight, u64::from(lane.skip) + 8 * u64::from(before));
                            let value = e.down(value, lane.sh.into());
                            e.store_to(storage, lane.word, value);
                        }
                        let end = e.build.ins().iadd_imm(cursor, i64::from(header.bits));
                        e.store_place(place, 0, end);
                    });
                });
            }
            Op::ExtractVar {
                base,
                off,
                bits,
                header,
            } => return self.extract_varbit((base, off), bits, header.into(), at),
            Op::Need { bits } => {
                let (cursor, _) = self.cursor();
                let end = self.build.ins().iadd_imm(cursor, i64::from(bits));
                let all = self.fixed_field(context::BITS);
                let short = self.build.ins().icmp(IntCC::UnsignedGreaterThan, end, all);
                self.reject_if(short, too_short);
            }
            Op::Peek { d, at: ahead, w } if (1..=64).contains(&w) => {
                let (cursor, _) = self.cursor();
                let from = self.build.ins().iadd_imm(cursor, i64::from(ahead));
                let octet = self.build.ins().ushr_imm(from, 3);
                // The last eight stored octets contain all bits to look ahead, unless there are too few of them.
                let held = self.fixed_field(context::HELD);
                let last = self.build.ins().iadd_imm(held, -8);
                let near = self
                    .build
                    .ins()
                    .icmp(IntCC::UnsignedGreaterThan, octet, last);
                let octet = self.select(near, last, octet);
                let begin = self.build.ins().ishl_imm(octet, 3);
                let skip = self.build.ins().isub(from, begin);
                let most = self.number(64 - u64::from(w));
                let beyond = self
                    .build
                    .ins()
                    .icmp(IntCC::UnsignedGreaterThan, skip, most);
                let eight = self.number(8);
                let few = self.build.ins().icmp(IntCC::UnsignedLessThan, held, eight);
                self.unless(&[beyond, few], at, |e| {
                    let octets = e.fixed_field(context::OCTETS);
                    let place = e.build.ins().iadd(octets, octet);
                    let eight = e.eight_octets(place, 0);
                    let value = e.build.ins().ishl(eight, skip);
                    let value = e.down(value, 64 - u64::from(w));
                    e.store(d, value);
                });
            }
            Op::Peek { d, at: ahead, w } if w > 64 && w.is_multiple_of(8) => {
                let (cursor, _) = self.cursor();
                let from = self.build.ins().iadd_imm(cursor, i64::from(ahead));
                let octet = self.build.ins().ushr_imm(from, 3);
                let skip = self.build.ins().band_imm(from, 7);
                let after = self.build.ins().iadd_imm(octet, i64::from(w / 8));
                let held = self.fixed_field(context::HELD);
                let beyond = self
                    .build
                    .ins()
                    .icmp(IntCC::UnsignedGreaterThan, after, held);
                self.unless(&[beyond, skip], at, |e| {
                    let octets = e.fixed_field(context::OCTETS);
                    let place = e.build.ins().iadd(octets, octet);
                    let mut left = i32::from(w);
                    for word in 0.. {
                        // The top word may be partly used. Its octets are the first ones.
                        let eight = e.eight_octets(place, (left - 64).max(0) / 8);
                        let value = e.down(eight, (64 - left).max(0) as u64);
                        e.store(d + word, value);
                        left -= 64;
                        if left <= 0 {
                            break;
                        }
                    }
                });
            }
            Op::Advance { a } => {
                let by = self.load(a);
                let (cursor, place) = self.cursor();
                let all = self.fixed_field(context::BITS);
                let left = self.build.ins().isub(all, cursor);
                let short = self.build.ins().icmp(IntCC::UnsignedGreaterThan, by, left);
                self.reject_if(short, too_short);
                let cursor = self.build.ins().iadd(cursor, by);
                self.store_place(place, 0, cursor);
            }
            Op::PacketLength { d } => {
                let bits = self.fixed_field(context::BITS);
                let octets = self.down(bits, 3);
                let octets: Value = self.cut(octets, 32);
                self.store(d, octets);
            }
            Op::Emit { base, off, header } => return self.emit(base, off, header, at),
            Op::EmitAll { list } => return self.emit_all(&code.emits[list as usize], at),
            _ => return false,
        }
        true
    }

    /// Compiles the extraction of a header that consists of a `varbit` only. The interpreter extracts those that are
    /// not empty.
    fn extract_varbit(
        &mut self,
        (base, off): (Slot, Slot),
        bits: Slot,
        header: u32,
        at: Target,
    ) -> bool {
        let header = &self.program.source.code.headers[header as usize];
        let Some(field) = only_varbit(header) else {
            return false;
        };
        // Its length, then its value.
        let words = field.word..field.word + 1 + field.width.div_ceil(64);
        let bits = self.load(bits);
        self.unless(&[bits], at, |e| {
            e.at_place(base, off, words.end, at, |e, storage| {
                let [zero, one] = [0, 1].map(|number| e.number(number));
                e.store_to(storage, 0, one);
                for word in words {
                    e.store_to(storage, word, zero);
                }
            });
        });
        true
    }

    /// Compiles the emission of a header.
    fn emit(&mut self, base: Slot, off: Slot, header: u32, at: Target) -> bool {
        let header = &self.program.source.code.headers[header as usize];
        if header.parts.is_empty() {
            return false;
        }
        let never = self.number(0);
        self.at_room(header.eights(), never, at, |e, out| {
            e.at_place(base, off, words_of(header) + 1, at, |e, storage| {
                let after = e.emit_parts(storage, header, out);
                e.set_emitted(after);
            });
        });
        true
    }

    /// Compiles the emission of headers with fixed places.
    fn emit_all(&mut self, list: &[(Slot, u32)], at: Target) -> bool {
        let code = self.program.source.code;
        let headers = list
            .iter()
            .map(|&(base, header)| (base, &code.headers[header as usize]));
        let (whole, other): (Vec<_>, Vec<_>) =
            headers.partition(|(_, header)| !header.parts.is_empty());
        if whole.is_empty() {
            return false;
        }
        // The interpreter emits the list in the rare case that one of the others may not be empty.
        let mut rare = self.number(0);
        for &(base, header) in &other {
            let length = only_varbit(header).map_or(0, |field| field.word);
            let some = self.load(base + length);
            rare = self.build.ins().bor(rare, some);
        }
        let octets = whole.iter().map(|(_, header)| header.eights()).sum();
        self.at_room(octets, rare, at, |e, mut out| {
            for &(base, header) in &whole {
                e.inside(base, words_of(header) + 1);
                out = e.emit_parts(&Place::Fixed(base), header, out);
            }
            e.set_emitted(out);
        });
        true
    }

    /// Compiles instruction `at`, which emits at most the given number of octets. The interpreter executes it if there
    /// is not enough room or if `rare` is not 0. `common` receives the address behind the output.
    fn at_room(
        &mut self,
        octets: usize,
        rare: Value,
        at: Target,
        common: impl FnOnce(&mut Self, Value),
    ) {
        let place = self.fixed_field(context::EMITTED_LEN);
        let len = self.load_place(place, 0);
        let end = self.build.ins().iadd_imm(len, octets as i64);
        let room = self.field(types::I64, context::ROOM);
        let beyond = self.build.ins().icmp(IntCC::UnsignedGreaterThan, end, room);
        self.unless(&[beyond, rare], at, |e| {
            let first = e.field(types::I64, context::EMITTED);
            let out = e.build.ins().iadd(first, len);
            common(e, out);
        });
    }

    /// Emits a header, if it is valid, at an address. Returns the address behind it.
    fn emit_parts(&mut self, storage: &Place, header: &HeaderCode, out: Value) -> Value {
        let [valid, after] = [self.build.create_block(), self.build.create_block()];
        let place = self.build.append_block_param(after, types::I64);
        let validity = self.load_from(storage, 0);
        let none: &[BlockArg] = &[];
        self.build
            .ins()
            .brif(validity, valid, none, after, &[BlockArg::Value(out)]);
        self.build.switch_to_block(valid);
        let (mut eight, mut octet) = (None, 0);
        for part in &header.parts {
            let value = self.load_from(storage, part.word);
            let value = self.up(value, part.up.into());
            let value = self.down(value, part.down.into());
            let whole = match eight {
                Some(before) => self.build.ins().bor(before, value),
                None => value,
            };
            eight = Some(whole).filter(|_| !part.last);
            if part.last {
                self.store_eight_octets(out, octet, whole);
                octet += 8;
            }
        }
        let behind = self.build.ins().iadd_imm(out, i64::from(header.bits / 8));
        self.build.ins().jump(after, &[BlockArg::Value(behind)]);
        self.build.switch_to_block(after);
        place
    }

    /// Sets the end of the output to an address.
    fn set_emitted(&mut self, end: Value) {
        let first = self.field(types::I64, context::EMITTED);
        let len = self.build.ins().isub(end, first);
        let place = self.fixed_field(context::EMITTED_LEN);
        self.store_place(place, 0, len);
    }
}

/// The field of a header that consists of a `varbit` of few words only.
fn only_varbit(header: &HeaderCode) -> Option<&FieldCode> {
    match &header.fields[..] {
        [field] if header.varbit.is_some() && field.width <= 64 * MANY => Some(field),
        _ => None,
    }
}

/// Whether the groups of eight octets of all lanes are within the octets that are checked to be stored.
fn lanes_fit(header: &HeaderCode) -> bool {
    let read = (header.bits / 8).max(8);
    let mut lanes = header.lanes.iter();
    lanes.all(|lane| u32::from(lane.octet) + 8 <= read)
}

/// The number of words that the header takes in storage.
fn words_of(header: &HeaderCode) -> u32 {
    let last = |field: &FieldCode| field.word + field.width.div_ceil(64).max(1) - 1;
    header.fields.iter().map(last).max().unwrap_or(0)
}
