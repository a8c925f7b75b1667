//! The bytecode: what a program is translated to.
//!
//! Instructions work on one array of 64-bit words: the program's storage, then temporaries, then
//! constants, so that every operand is a word offset. Values of up to 64 bits take one word and have
//! instructions of their own; wider ones name the first of their words, and their width. What an
//! instruction leaves behind is always cut to its width, so operands never need to be.

mod op;

pub use op::Op;

use crate::crc::CrcWidth;
use crate::hash::Algorithm;
use p4_ir::{ActionId, SourceLoc, Type};

/// A word of a packet's storage.
pub type Slot = u32;
/// Where code begins; a label until the program is linked.
pub type Target = u32;
/// No slot: no result wanted, or no run-time offset.
pub const NONE: Slot = u32::MAX;
/// A run-time offset that is out of range.
pub const OUT_OF_RANGE: u64 = u64::MAX;

/// What comes after an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Next {
    /// The next instruction.
    Step = 0,
    /// The target.
    Jump = 1,
    /// Nothing: the block's end.
    End = 2,
}

/// Where a run-time index may point.
#[derive(Clone, Copy, Debug)]
pub struct IndexStep {
    pub stride: u32,
    pub len: u32,
}

/// A copy of words of which an end is found at run time.
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

/// How a header lies in a packet and in storage.
#[derive(Clone, Debug)]
pub struct HeaderCode {
    pub name: String,
    /// Bits of its fixed fields.
    pub bits: u32,
    pub fields: Vec<FieldCode>,
    /// Index of the `varbit` field.
    pub varbit: Option<usize>,
    /// How to read it where it begins with an octet; empty if it cannot be read so.
    pub lanes: Vec<Lane>,
    /// How to write it where it begins with an octet; empty if it cannot be written so.
    pub parts: Vec<Part>,
}

impl HeaderCode {
    /// Octets that are written when it is emitted eight at a time.
    pub fn eights(&self) -> usize {
        self.bits.div_ceil(64) as usize * 8
    }
}

/// Most octets of a header that is read by [`Lane`]s or written by [`Part`]s.
pub const LANE_OCTETS: usize = 64;

/// A field as a part of eight octets of its header; of eight that go beyond it, if it is shorter.
#[derive(Clone, Copy, Debug)]
pub struct Lane {
    /// The first of the eight, counted from the header's first.
    pub octet: u8,
    /// Bits before the field among those of the eight.
    pub skip: u8,
    /// 64 less the field's width.
    pub sh: u8,
    /// Words before it in storage.
    pub word: u32,
}

/// The part of a field that goes into eight octets of its header. A field that goes across the end of eight has two.
#[derive(Clone, Copy, Debug)]
pub struct Part {
    /// Words before the field in storage.
    pub word: u32,
    /// By how many bits its value is moved up; what is moved out belongs to the eight octets before.
    pub up: u8,
    /// By how many bits it is moved down instead; what is moved out belongs to those after.
    pub down: u8,
    /// Whether the eight octets are complete.
    pub last: bool,
}

/// A field of a header.
#[derive(Clone, Copy, Debug)]
pub struct FieldCode {
    /// Bits before it in the packet, a `varbit` before it taken as empty.
    pub at: u32,
    /// Its width in bits; for a `varbit` the most.
    pub width: u32,
    /// Words before it in storage.
    pub word: u32,
}

/// A jump by value.
#[derive(Clone, Debug)]
pub enum JumpTable {
    /// `targets[value − first]`.
    Dense {
        first: u64,
        targets: Vec<Target>,
        default: Target,
    },
    /// By binary search.
    Sparse {
        cases: Vec<(u64, Target)>,
        default: Target,
    },
}

/// A place where a table is applied.
#[derive(Clone, Debug)]
pub struct ApplySite {
    pub table: u32,
    /// Where each key's value is.
    pub keys: Vec<Slot>,
    pub hit: Slot,
    pub action_run: Slot,
}

/// A value set looked up by a `select`.
#[derive(Clone, Debug)]
pub struct SetTest {
    pub set: u32,
    pub keys: Vec<Slot>,
}

/// A value that a hash, checksum or digest takes in.
#[derive(Clone, Debug)]
pub struct ListValue {
    /// Its first word.
    pub slot: Slot,
    /// Its width in bits; for a `varbit` the most.
    pub width: u32,
    /// Slot of a `varbit`'s length: only so many of the bits count.
    pub length: Slot,
    /// Slot of the validity of its header.
    pub valid: Slot,
}

/// Values of one header that go into an Internet checksum, a multiple of 16 bits together.
#[derive(Clone, Debug)]
pub struct SumGroup {
    /// Slot of the header's validity.
    pub valid: Slot,
    /// The values.
    pub lanes: Vec<SumLane>,
    /// Slots of the length and the value of a `varbit`, which has a group of its own.
    pub varbit: Option<(Slot, Slot)>,
}

/// A value of at most 64 bits that goes into an Internet checksum.
#[derive(Clone, Copy, Debug)]
pub struct SumLane {
    /// Where it is.
    pub slot: Slot,
    /// Its width in bits.
    #[cfg_attr(
        not(feature = "native"),
        expect(dead_code, reason = "machine code is made from it")
    )]
    pub width: u8,
    /// How many bits its last one stands above the end of a word of 16.
    pub up: u8,
}

/// A call that is made seldom enough to have its operands in a table.
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
        /// The data in groups, for an Internet checksum if they can be grouped.
        groups: Option<Vec<SumGroup>>,
        sum: (Slot, u32),
        payload: bool,
    },
    /// The deprecated `Checksum16.get`.
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
    /// The colour that the entry's meter gave.
    DirectMeterRead {
        d: (Slot, u32),
    },
    /// A call of an extern of the architecture's own, by its number.
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

/// An action that a table lists.
#[derive(Clone, Debug)]
pub struct ActionCode {
    pub id: ActionId,
    /// Where each word of its data goes.
    pub data: Vec<Slot>,
    /// Copies that its body begins with: where to, where from.
    pub moves: Vec<(Slot, Slot)>,
    /// What is left of its body.
    pub entry: Target,
    /// Whether nothing is left.
    pub done: bool,
}

/// A table as the engine sees it.
#[derive(Clone, Debug)]
pub struct TableCode {
    pub actions: Vec<ActionCode>,
}

/// A linked program.
#[derive(Clone, Debug, Default)]
pub struct Code {
    pub ops: Vec<Op>,
    /// Where each instruction comes from.
    pub locs: Vec<SourceLoc>,
    /// Words of the program's variables, cleared for each packet.
    pub words: usize,
    /// Words before the constants.
    pub constants_at: usize,
    pub constants: Vec<u64>,
    /// Words among the constants that may change.
    pub settings: Vec<Slot>,
    pub indices: Vec<IndexStep>,
    pub copies: Vec<CopyStep>,
    pub shifts: Vec<ShiftStep>,
    pub clears: Vec<Vec<Slot>>,
    /// Copies done in one go: where to, where from.
    pub moves: Vec<Vec<(Slot, Slot)>>,
    /// Headers emitted in one go: first word and layout of each.
    pub emits: Vec<Vec<(Slot, u32)>>,
    /// Octets that all headers take that are emitted; compiled code emits headers itself where there is room for them.
    pub emitted: usize,
    pub headers: Vec<HeaderCode>,
    pub jumps: Vec<JumpTable>,
    pub sites: Vec<ApplySite>,
    pub set_tests: Vec<SetTest>,
    pub externs: Vec<ExternCode>,
    /// Hashes and checksums, as a control plane knows them.
    pub calculations: Vec<Calculation>,
    pub tables: Vec<TableCode>,
    /// How many loop statements there are.
    pub loops: u32,
    pub errors: ErrorCodes,
    /// Where each parser state begins, for traces: code, parser, state.
    pub states: Vec<(Target, u32, u32)>,
}

/// A hash or checksum, as a control plane knows it.
#[derive(Clone, Debug)]
pub struct Calculation {
    /// Its name.
    pub name: String,
    /// The name of its algorithm.
    pub algorithm: String,
    /// The call, if the name is not the program's own.
    pub at: Option<SourceLoc>,
}

impl Calculation {
    /// The width of its CRC, if that is a custom one.
    pub fn custom(&self) -> Option<CrcWidth> {
        let widths = [CrcWidth::W16, CrcWidth::W32];
        widths
            .into_iter()
            .find(|width| width.algorithm() == self.algorithm)
    }
}

impl Code {
    /// Where an instruction goes to, and whether the next one may follow it.
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

    /// The widths of the custom CRCs, in the order of their numbers.
    pub fn crcs(&self) -> impl Iterator<Item = CrcWidth> {
        self.calculations.iter().filter_map(Calculation::custom)
    }
}

/// Values of core.p4's errors in this program.
#[derive(Clone, Copy, Debug, Default)]
pub struct ErrorCodes {
    pub packet_too_short: u64,
    pub header_too_short: u64,
    pub invalid_argument: u64,
}

/// A field of an architecture's metadata.
#[derive(Clone, Copy, Debug)]
pub struct MetaField {
    /// Its word; [`NONE`] if the program's metadata does not have it.
    pub slot: Slot,
    /// The bits that it has.
    pub mask: u64,
}

impl Default for MetaField {
    /// A field that is not there.
    fn default() -> Self {
        MetaField {
            slot: NONE,
            mask: 0,
        }
    }
}

impl MetaField {
    /// Its value; 0 if it is not there.
    #[inline]
    pub fn get(self, words: &[u64]) -> u64 {
        words.get(self.slot as usize).copied().unwrap_or(0)
    }

    /// Sets it, cut to its width.
    #[inline]
    pub fn set(self, words: &mut [u64], value: u64) {
        if let Some(word) = words.get_mut(self.slot as usize) {
            *word = value & self.mask;
        }
    }
}
