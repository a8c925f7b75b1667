//! Hashes of values in storage: CRC-16/ARC and CRC-32/ISO-HDLC.
//!
//! The input is taken in chunks of up to four octets. Each octet of a chunk selects an entry of the table for its
//! distance from the chunk's end, so the look-ups of a chunk do not depend on each other.

use super::emitter::Emitter;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value, types};
use p4_vm::native::{ExternCode, ListValue};
use p4_vm::{Algorithm, NONE, Slot};

/// The most octets of a hash that is compiled. An octet takes about four instructions.
const MOST: u32 = 64;

/// The octets of a chunk.
const CHUNK: u32 = 4;

/// For each octet, the remainder that it leaves if 0, 1, 2 or 3 octets of zero follow it.
type Tables = [[u32; 256]; CHUNK as usize];

static CRC16: Tables = tables(0xa001);
static CRC32: Tables = tables(0xedb8_8320);

/// A CRC whose octets are processed with the least significant bit first.
struct Reflected {
    tables: &'static Tables,
    /// The initial remainder.
    initial: u64,
    /// The value that is XORed with the result.
    final_xor: u64,
}

/// A number of at most 64 bits, in whole octets: consecutive values of one header.
struct Piece {
    /// The slot of the header's validity.
    valid: Slot,
    /// First words and widths. The first value has the most significant bits.
    values: Vec<(Slot, u32)>,
    /// Number of zero bits behind the values.
    padding: u32,
}

impl Emitter<'_, '_> {
    /// Compiles a call of an extern. Returns `false` if it is not a CRC of a short list of values, which end at octets.
    pub fn hash(&mut self, call: u32) -> bool {
        let ExternCode::Hash {
            algorithm,
            d,
            base,
            max,
            data,
        } = &self.program.source.code.externs[call as usize]
        else {
            return false;
        };
        let crc = match algorithm {
            Algorithm::Crc16 => Reflected {
                tables: &CRC16,
                initial: 0,
                final_xor: 0,
            },
            Algorithm::Crc32 => Reflected {
                tables: &CRC32,
                initial: u32::MAX.into(),
                final_xor: u32::MAX.into(),
            },
            _ => return false,
        };
        let short = [d.1, base.1].iter().all(|width| (1..=64).contains(width));
        let Some(pieces) = pieces(data).filter(|_| short && max.1 > 0) else {
            return false;
        };
        // A maximum of more than 64 bits is a constant, or the interpreter reads it.
        let above = (1..max.1.div_ceil(64)).map(|limb| self.program.constant(max.0 + limb));
        let Some(above) = above.collect::<Option<Vec<_>>>() else {
            return false;
        };
        let hash = self.crc(&crc, &pieces);
        let choice = match above.iter().any(|limb| *limb > 0) {
            true => hash,
            false => self.modulo(hash, max.0),
        };
        let base = self.load(base.0);
        let sum = self.build.ins().iadd(base, choice);
        let sum = self.cut(sum, (64 - d.1) as u8);
        self.store(d.0, sum);
        true
    }

    /// The CRC of the pieces whose headers are valid.
    fn crc(&mut self, crc: &Reflected, pieces: &[Piece]) -> Value {
        let remainder = self.build.declare_var(types::I64);
        let initial = self.number(crc.initial);
        self.build.def_var(remainder, initial);
        let tables = self.number(crc.tables.as_ptr() as u64);
        for header in pieces.chunk_by(|a, b| a.valid == b.valid) {
            let next = self.build.create_block();
            if header[0].valid != NONE {
                let valid = self.load(header[0].valid);
                let not = self.build.ins().icmp_imm(IntCC::Equal, valid, 0);
                self.leave_if(not, next);
            }
            for piece in header {
                let mut left = piece.octets();
                // The first octet is the least significant one.
                let number = self.piece(piece);
                let number = self.up(number, (64 - 8 * left).into());
                let mut number = self.build.ins().bswap(number);
                while left > 0 {
                    let count = left.min(CHUNK);
                    let before = self.build.use_var(remainder);
                    let after = self.chunk(tables, before, number, count);
                    self.build.def_var(remainder, after);
                    left -= count;
                    number = self.down(number, (8 * count).into());
                }
            }
            self.jump(next);
            self.build.switch_to_block(next);
        }
        let remainder = self.build.use_var(remainder);
        let xor = self.number(crc.final_xor);
        self.build.ins().bxor(remainder, xor)
    }

    /// The remainder after the low `count` octets of a number.
    fn chunk(&mut self, tables: Value, before: Value, number: Value, count: u32) -> Value {
        let mixed = self.build.ins().bxor(before, number);
        let mut after = self.down(before, (8 * count).into());
        for octet in 0..count {
            let index = self.down(mixed, (8 * octet).into());
            let index = self.cut(index, 56);
            let offset = self.up(index, 2);
            let place = self.build.ins().iadd(tables, offset);
            let table = (count - 1 - octet) as i32 * size_of::<[u32; 256]>() as i32;
            let entry = self.load_fixed_number(place, table);
            after = self.build.ins().bxor(after, entry);
        }
        after
    }

    fn piece(&mut self, piece: &Piece) -> Value {
        let mut number = None;
        for &(slot, width) in &piece.values {
            let value = self.load(slot);
            number = Some(match number {
                None => value,
                Some(above) => {
                    let above = self.up(above, width.into());
                    self.build.ins().bor(above, value)
                }
            });
        }
        let number = number.unwrap_or_else(|| self.number(0));
        self.up(number, piece.padding.into())
    }

    /// A number modulo a value. Modulo 0 is 0.
    fn modulo(&mut self, number: Value, max: Slot) -> Value {
        match self.program.constant(max) {
            Some(0) => self.number(0),
            Some(max) if max.is_power_of_two() => {
                let mask = self.number(max - 1);
                self.build.ins().band(number, mask)
            }
            _ => {
                let (max, one) = (self.load(max), self.number(1));
                let none = self.build.ins().icmp_imm(IntCC::Equal, max, 0);
                let divisor = self.select(none, one, max);
                self.build.ins().urem(number, divisor)
            }
        }
    }
}

impl Piece {
    /// Its number of octets.
    fn octets(&self) -> u32 {
        let bits: u32 = self.values.iter().map(|(_, width)| width).sum();
        (bits + self.padding) / 8
    }
}

/// The values of a list, in pieces. `None` if it is too long, has a `varbit`, or a piece does not end at an octet.
fn pieces(data: &[ListValue]) -> Option<Vec<Piece>> {
    let mut pieces: Vec<Piece> = Vec::new();
    let mut open = 0;
    for value in data.iter().filter(|value| value.width > 0) {
        if value.length != NONE {
            return None;
        }
        for word in (0..value.width.div_ceil(64)).rev() {
            let part = (value.slot + word, (value.width - 64 * word).min(64));
            let last = pieces.last_mut().filter(|_| open > 0);
            match last {
                Some(piece) if piece.valid != value.valid || open + part.1 > 64 => return None,
                Some(piece) => piece.values.push(part),
                None => pieces.push(Piece {
                    valid: value.valid,
                    values: vec![part],
                    padding: 0,
                }),
            }
            open = (open + part.1) * u32::from((open + part.1) % 8 > 0);
        }
    }
    if let Some(piece) = pieces.last_mut() {
        piece.padding = open.next_multiple_of(8) - open;
    }
    (pieces.iter().map(Piece::octets).sum::<u32>() <= MOST).then_some(pieces)
}

/// The tables of a CRC. The polynomial's least significant bit has the highest power.
const fn tables(polynomial: u32) -> Tables {
    let mut tables = [[0; 256]; CHUNK as usize];
    let mut octet = 0;
    while octet < 256 {
        let mut remainder = octet as u32;
        let mut distance = 0;
        while distance < CHUNK as usize {
            let mut bit = 0;
            while bit < 8 {
                remainder = (remainder >> 1) ^ (polynomial * (remainder & 1));
                bit += 1;
            }
            tables[distance][octet] = remainder;
            distance += 1;
        }
        octet += 1;
    }
    tables
}
