//! Instructions on the packet's octets.

use super::context;
use super::emitter::Emitter;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value, types};
use p4_vm::Target;
use p4_vm::native::{HeaderCode, Op};

impl Emitter<'_, '_> {
    /// Compiles instruction `at` on the packet; `false`: it is another one, or one that the interpreter executes.
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
                let (cursor, place) = self.cursor();
                let end = self.build.ins().iadd_imm(cursor, i64::from(header.bits));
                let bits = self.field(types::I64, context::BITS);
                let short = self.build.ins().icmp(IntCC::UnsignedGreaterThan, end, bits);
                self.reject_if(short, too_short);
                // It begins with an octet, and all octets that are read are held.
                let octet = self.build.ins().ushr_imm(cursor, 3);
                let read = i64::from(header.bits / 8).max(8);
                let after = self.build.ins().iadd_imm(octet, read);
                let held = self.field(types::I64, context::HELD);
                let beyond = self.compare(IntCC::UnsignedGreaterThan, after, held);
                let skip = self.build.ins().band_imm(cursor, 7);
                let rare = self.build.ins().bor(skip, beyond);
                self.unless(rare, at, |e| {
                    e.at_place(base, off, words, at, |e, storage| {
                        let one = e.number(1);
                        e.store_to(storage, 0, one);
                        let octets = e.field(types::I64, context::OCTETS);
                        let first = e.build.ins().iadd(octets, octet);
                        for lane in &header.lanes {
                            let eight = e.eight_octets(first, lane.octet.into());
                            let value = match lane.skip {
                                0 => eight,
                                skip => e.build.ins().ishl_imm(eight, i64::from(skip)),
                            };
                            let value = e.down(value, lane.sh.into());
                            e.store_to(storage, lane.word, value);
                        }
                        e.store_place(place, 0, end);
                    });
                });
            }
            Op::Need { bits } => {
                let (cursor, _) = self.cursor();
                let end = self.build.ins().iadd_imm(cursor, i64::from(bits));
                let all = self.field(types::I64, context::BITS);
                let short = self.build.ins().icmp(IntCC::UnsignedGreaterThan, end, all);
                self.reject_if(short, too_short);
            }
            Op::Peek { d, at: ahead, w } if (1..=64).contains(&w) => {
                let (cursor, _) = self.cursor();
                let from = self.build.ins().iadd_imm(cursor, i64::from(ahead));
                let octet = self.build.ins().ushr_imm(from, 3);
                let skip = self.build.ins().band_imm(from, 7);
                let after = self.build.ins().iadd_imm(octet, 8);
                let held = self.field(types::I64, context::HELD);
                let mut rare = self
                    .build
                    .ins()
                    .icmp(IntCC::UnsignedGreaterThan, after, held);
                if w > 57 {
                    let most = self.number(64 - u64::from(w));
                    let nine = self
                        .build
                        .ins()
                        .icmp(IntCC::UnsignedGreaterThan, skip, most);
                    rare = self.build.ins().bor(rare, nine);
                }
                self.unless(rare, at, |e| {
                    let octets = e.field(types::I64, context::OCTETS);
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
                let held = self.field(types::I64, context::HELD);
                let beyond = self.compare(IntCC::UnsignedGreaterThan, after, held);
                let rare = self.build.ins().bor(skip, beyond);
                self.unless(rare, at, |e| {
                    let octets = e.field(types::I64, context::OCTETS);
                    let place = e.build.ins().iadd(octets, octet);
                    let mut left = i32::from(w);
                    for word in 0.. {
                        // The top word may be used in part: its octets are the first.
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
                let all = self.field(types::I64, context::BITS);
                let left = self.build.ins().isub(all, cursor);
                let short = self.build.ins().icmp(IntCC::UnsignedGreaterThan, by, left);
                self.reject_if(short, too_short);
                let cursor = self.build.ins().iadd(cursor, by);
                self.store_place(place, 0, cursor);
            }
            Op::PacketLength { d } => {
                let bits = self.field(types::I64, context::BITS);
                let octets = self.down(bits, 3);
                let octets: Value = self.cut(octets, 32);
                self.store(d, octets);
            }
            _ => return false,
        }
        true
    }
}

/// Whether each lane's eight octets are among those that are checked to be held.
fn lanes_fit(header: &HeaderCode) -> bool {
    let read = (header.bits / 8).max(8);
    let mut lanes = header.lanes.iter();
    lanes.all(|lane| u32::from(lane.octet) + 8 <= read)
}

fn words_of(header: &HeaderCode) -> u32 {
    let fields = header.fields.iter().map(|field| field.word);
    fields.max().unwrap_or(0)
}
