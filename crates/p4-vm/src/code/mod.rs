//! The bytecode to which programs are translated.
//!
//! Instructions operate on one array of 64-bit words: the program's storage, then temporaries, then constants. Every
//! operand is therefore a word offset. Values of up to 64 bits take one word and have their own instructions.
//! Instructions for wider values name the first word and the width. Each result is cut to its width, so operands never
//! need to be.

mod op;

pub use op::Op;

use crate::crc::CrcWidth;
use crate::hash::Algorithm;
use p4_ir::{ActionId, SourceLoc, Type};

/// A word of a packet's storage.
pub type Slot = u32;
/// The address of code. It is a label until the program is linked.
pub type Target = u32;
/// No slot: the result is not wanted, or there is no run-time offset.
pub const NONE: Slot = u32::MAX;
/// A run-time offset that is out of range.
pub const OUT_OF_RANGE: u64 = u64::MAX;

/// What follows after an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Next {
    /// The next instruction.
    Step = 0,
    /// The target.
    Jump = 1,
    /// The end of the block.
    End = 2,
}

/// The elements that a run-time index may select.
#[derive(Clone, Copy, Debug)]
pub struct IndexStep {
    pub stride: u32,
    pub len: u32,
}

/// A copy of words whose source or destination is found at run time.
#[derive(Clone, Copy, Debug)]
pub struct CopyStep {
    pub to: (Slot, Slot),
    pub from: (Slot, Slot),
    pub words: u32,
}

/// `push_front` or `pop_front`.
#[derive(Clone, Copy, Debug)]
pub struct ShiftStep {
    pub at: (Slot, Slot),
    pub stride: u32,
    pub len: u32,
    pub count: u32,
    pub push: bool,
}

/// The layout of a header in a packet and in storage.
#[derive(Clone, Debug)]
pub struct HeaderCode {
    pub name: String,
    /// Bits of its fixed fields.
    pub bits: u32,
    pub fields: Vec<FieldCode>,
    /// Index of the `varbit` field.
    pub varbit: Option<usize>,
    /// How to read it if it begins at an octet boundary. Empty if it cannot be read this way.
    pub lanes: Vec<Lane>,
    /// How to write it if it begins at an octet boundary. Empty if it cannot be written this way.
    pub parts: Vec<Part>,
}

impl HeaderCode {
    /// Octets that are written when the header is emitted in groups of eight octets.
    pub fn eights(&self) -> usize {
        self.bits.div_ceil(64) as usize * 8
    }
}

/// The most octets of a header that is read by [`Lane`]s or written by [`Part`]s.
pub const LANE_OCTETS: usize = 64;

/// How to read a field from a group of eight octets of its header. If the header is shorter, the group extends beyond
/// it.
#[derive(Clone, Copy, Debug)]
pub struct Lane {
    /// The offset of the group in the header, in octets.
    pub octet: u8,
    /// Bits of the group before the field.
    pub skip: u8,
    /// 64 minus the width of the field.
    pub sh: u8,
    /// The offset of the field in storage, in words.
    pub word: u32,
}

/// A part of a field that is written to a group of eight octets of its header. A field that crosses the end of a group
/// has two parts.
#[derive(Clone, Copy, Debug)]
pub struct Part {
    /// The offset of the field in storage, in words.
    pub word: u32,
    /// How many bits the value is shifted left. Bits shifted out belong to the preceding group.
    pub up: u8,
    /// How many bits the value is shifted right instead. Bits shifted out belong to the following group.
    pub down: u8,
    /// Whether this part completes the group.
    pub last: bool,
}

/// A field of a header.
#[derive(Clone, Copy, Debug)]
pub struct FieldCode {
    /// Its offset in the packet in bits, counting a preceding `varbit` as empty.
    pub at: u32,
    /// Its width in bits. For a `varbit`, its maximum width.
    pub width: u32,
    /// Its offset in storage, in words.
    pub word: u32,
}

/// A jump table, indexed by value.
#[derive(Clone, Debug)]
pub enum JumpTable {
    /// `targets[value − first]`.
    Dense {
        first: u64,
        targets: Vec<Target>,
        default: Target,
    },
    /// Looked up by binary search.
    Sparse {
        cases: Vec<(u64, Target)>,
        default: Target,
    },
}

/// A place in the code at which a table is applied.
#[derive(Clone, Debug)]
pub struct ApplySite {
    pub table: u32,
    /// The slot of each key.
    pub keys: Vec<Slot>,
    pub hit: Slot,
    pub action_run: Slot,
}

/// A look-up of a value set by a `select`.
#[derive(Clone, Debug)]
pub struct SetTest {
    pub set: u32,
    pub keys: Vec<Slot>,
}

/// A value in the input of a hash, checksum or digest.
#[derive(Clone, Debug)]
pub struct ListValue {
    /// Its first word.
    pub slot: Slot,
    /// Its width in bits. For a `varbit`, its maximum width.
    pub width: u32,
    /// The slot of a `varbit`'s length in bits. Only that many bits count.
    pub length: Slot,
    /// The slot of the validity of its header.
    pub valid: Slot,
}

/// Values of one header that are input of an Internet checksum. Together they have a multiple of 16 bits.
#[derive(Clone, Debug)]
pub struct SumGroup {
    /// The slot of the header's validity.
    pub valid: Slot,
    /// The values.
    pub lanes: Vec<SumLane>,
    /// The slots of the length and the value of a `varbit`, which has its own group.
    pub varbit: Option<(Slot, Slot)>,
}

/// A value of at most 64 bits that is input of an Internet checksum.
#[derive(Clone, Copy, Debug)]
pub struct SumLane {
    /// Its slot.
    pub slot: Slot,
    /// Its width in bits.
    #[cfg_attr(
        not(feature = "native"),
        expect(dead_code, reason = "machine code is made from it")
    )]
    pub width: u8,
    /// Distance of its last bit from the end of a 16-bit word, in bits.
    pub up: u8,
}

/// A call that is rare enough to keep its operands in a table.
#[derive(Clone, Debug)]
pub enum ExternCode {
    Hash {
        algorithm: Algorithm,
        d: (Slot, u32),
        base: (Slot, u32),
        max: (Slot, u32),
        data: Vec<ListValue>,
    },
    Checksum {
        algorithm: Algorithm,
        verify: bool,
        condition: Slot,
        data: Vec<ListValue>,
        /// The input in groups, for an Internet checksum whose input can be grouped.
        groups: Option<Vec<SumGroup>>,
        sum: (Slot, u32),
        payload: bool,
    },
    /// The deprecated method `Checksum16.get`.
    Get {
        data: Vec<ListValue>,
        d: Slot,
    },
    Random {
        d: Slot,
        low: Slot,
        high: Slot,
        width: u32,
    },
    Digest {
        receiver: Slot,
        ty: Option<Type>,
        data: Vec<ListValue>,
    },
    Assert {
        condition: Slot,
        loc: SourceLoc,
    },
    Log {
        parts: Vec<LogPart>,
        loc: SourceLoc,
    },
    MeterExecute {
        meter: u32,
        index: Slot,
        d: (Slot, u32),
    },
    /// The colour from the direct meter of the entry.
    DirectMeterRead {
        d: (Slot, u32),
    },
    /// A call of an extern that only the architecture has, by number.
    Own(u32),
}

/// A part of a log message.
#[derive(Clone, Debug)]
pub enum LogPart {
    Text(String),
    Value {
        slot: Slot,
        width: u32,
        signed: bool,
    },
}

/// An action of a table.
#[derive(Clone, Debug)]
pub struct ActionCode {
    pub id: ActionId,
    /// The slot of each word of its data.
    pub data: Vec<Slot>,
    /// Copies at the start of its body: destination, source.
    pub moves: Vec<(Slot, Slot)>,
    /// The remainder of its body.
    pub entry: Target,
    /// Whether the remainder is empty.
    pub done: bool,
}

/// A table, as the code needs it.
#[derive(Clone, Debug)]
pub struct TableCode {
    pub actions: Vec<ActionCode>,
    /// The value of `action_run` if a group has no members: that of `NoAction`, or one of no action if the table does
    /// not list it. `None` for a table without action profile.
    pub empty_group: Option<u64>,
}

/// A linked program.
#[derive(Clone, Debug, Default)]
pub struct Code {
    pub ops: Vec<Op>,
    /// The source location of each instruction.
    pub locs: Vec<SourceLoc>,
    /// Words of the program's variables. They are cleared for each packet.
    pub words: usize,
    /// The number of words before the constants.
    pub constants_at: usize,
    pub constants: Vec<u64>,
    /// Words among the constants that a switch may set.
    pub settings: Vec<Slot>,
    pub indices: Vec<IndexStep>,
    pub copies: Vec<CopyStep>,
    pub shifts: Vec<ShiftStep>,
    pub clears: Vec<Vec<Slot>>,
    /// Groups of copies that one instruction executes: destination, source.
    pub moves: Vec<Vec<(Slot, Slot)>>,
    /// Groups of headers that one instruction emits: first word and layout of each.
    pub emits: Vec<Vec<(Slot, u32)>>,
    /// Octets of all headers that are emitted. Compiled code emits headers itself if this much room is available.
    pub emitted: usize,
    pub headers: Vec<HeaderCode>,
    pub jumps: Vec<JumpTable>,
    pub sites: Vec<ApplySite>,
    pub set_tests: Vec<SetTest>,
    pub externs: Vec<ExternCode>,
    /// Hashes and checksums, as a control plane sees them.
    pub calculations: Vec<Calculation>,
    pub tables: Vec<TableCode>,
    /// The number of loop statements.
    pub loops: u32,
    pub errors: ErrorCodes,
    /// Where each parser state begins, for traces: address, parser, state.
    pub states: Vec<(Target, u32, u32)>,
}

/// A hash or checksum, as a control plane sees it.
#[derive(Clone, Debug)]
pub struct Calculation {
    /// Its name.
    pub name: String,
    /// The name of its algorithm.
    pub algorithm: String,
    /// The location of the call, if the program does not name the calculation.
    pub at: Option<SourceLoc>,
}

impl Calculation {
    /// The width of its CRC, if it is a custom one.
    pub fn custom(&self) -> Option<CrcWidth> {
        let widths = [CrcWidth::W16, CrcWidth::W32];
        widths
            .into_iter()
            .find(|width| width.algorithm() == self.algorithm)
    }
}

impl Code {
    /// The targets of an instruction, and whether the next instruction may follow it.
    #[cfg(feature = "native")]
    pub fn successors(&self, op: Op) -> (Vec<Target>, bool) {
        match op {
            Op::Jmp { to } => (vec![to], false),
            Op::JmpZ { to, .. }
            | Op::JmpNz { to, .. }
            | Op::JmpEq { to, .. }
            | Op::JmpNe { to, .. }
            | Op::JmpLt { to, .. }
            | Op::JmpLe { to, .. }
            | Op::Step { to }
            | Op::Round { to, .. }
            | Op::InSet { to, .. } => (vec![to], true),
            Op::Jump { table, .. } => match &self.jumps[table as usize] {
                JumpTable::Dense {
                    targets, default, ..
                } => (targets.iter().chain([default]).copied().collect(), false),
                JumpTable::Sparse { cases, default } => {
                    let targets = cases.iter().map(|(_, to)| to);
                    (targets.chain([default]).copied().collect(), false)
                }
            },
            Op::Ret | Op::Halt | Op::Refuse | Op::Reject { .. } => (Vec::new(), false),
            _ => (Vec::new(), true),
        }
    }

    /// The widths of the custom CRCs, by number.
    pub fn crcs(&self) -> impl Iterator<Item = CrcWidth> {
        self.calculations.iter().filter_map(Calculation::custom)
    }
}

/// The values of core.p4's errors in this program.
#[derive(Clone, Copy, Debug, Default)]
pub struct ErrorCodes {
    pub packet_too_short: u64,
    pub header_too_short: u64,
    pub invalid_argument: u64,
}

/// A field of an architecture's metadata.
#[derive(Clone, Copy, Debug)]
pub struct MetaField {
    /// Its word, or [`NONE`] if the program's metadata does not have it.
    pub slot: Slot,
    /// A mask of its bits.
    pub mask: u64,
}

impl Default for MetaField {
    /// A field that does not exist.
    fn default() -> Self {
        MetaField {
            slot: NONE,
            mask: 0,
        }
    }
}

impl MetaField {
    /// The value of the field, or 0 if it does not exist.
    #[inline]
    pub fn get(self, words: &[u64]) -> u64 {
        words.get(self.slot as usize).copied().unwrap_or(0)
    }

    /// Sets the field to the value, cut to its width.
    #[inline]
    pub fn set(self, words: &mut [u64], value: u64) {
        if let Some(word) = words.get_mut(self.slot as usize) {
            *word = value & self.mask;
        }
    }
}
