//! The bytecode: what a program is translated to.
//!
//! Instructions work on one array of 64-bit words: the program's storage, then temporaries, then
//! constants, so that every operand is a word offset. Values of up to 64 bits take one word and have
//! instructions of their own; wider ones name the first of their words, and their width. What an
//! instruction leaves behind is always cut to its width, so operands never need to be.

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

/// An instruction. Results go to `d`; `sh` is 64 less the width, `w` a width in bits, `n` words.
#[derive(Clone, Copy, Debug)]
pub enum Op {
    // -- values of one word
    Mov {
        d: Slot,
        a: Slot,
    },
    Add {
        d: Slot,
        a: Slot,
        b: Slot,
        sh: u8,
    },
    Sub {
        d: Slot,
        a: Slot,
        b: Slot,
        sh: u8,
    },
    Mul {
        d: Slot,
        a: Slot,
        b: Slot,
        sh: u8,
    },
    Div {
        d: Slot,
        a: Slot,
        b: Slot,
    },
    Mod {
        d: Slot,
        a: Slot,
        b: Slot,
    },
    SatAdd {
        d: Slot,
        a: Slot,
        b: Slot,
        sh: u8,
        signed: bool,
    },
    SatSub {
        d: Slot,
        a: Slot,
        b: Slot,
        sh: u8,
        signed: bool,
    },
    And {
        d: Slot,
        a: Slot,
        b: Slot,
    },
    Or {
        d: Slot,
        a: Slot,
        b: Slot,
    },
    Xor {
        d: Slot,
        a: Slot,
        b: Slot,
    },
    Not {
        d: Slot,
        a: Slot,
        sh: u8,
    },
    Neg {
        d: Slot,
        a: Slot,
        sh: u8,
    },
    Shl {
        d: Slot,
        a: Slot,
        b: Slot,
        sh: u8,
    },
    Shr {
        d: Slot,
        a: Slot,
        b: Slot,
    },
    Sar {
        d: Slot,
        a: Slot,
        b: Slot,
        sh: u8,
    },
    Eq {
        d: Slot,
        a: Slot,
        b: Slot,
    },
    Ne {
        d: Slot,
        a: Slot,
        b: Slot,
    },
    Lt {
        d: Slot,
        a: Slot,
        b: Slot,
    },
    Le {
        d: Slot,
        a: Slot,
        b: Slot,
    },
    /// Signed: both are moved up to the sign bit first.
    LtS {
        d: Slot,
        a: Slot,
        b: Slot,
        sh: u8,
    },
    LeS {
        d: Slot,
        a: Slot,
        b: Slot,
        sh: u8,
    },
    /// `w` bits of `a` from bit `lo` up.
    Slice {
        d: Slot,
        a: Slot,
        lo: u8,
        sh: u8,
    },
    /// The same across a word's end: `lo` bits into `a`, going on in the next word.
    Slice2 {
        d: Slot,
        a: Slot,
        lo: u8,
        sh: u8,
    },
    /// Bits of `d` from `lo` up become `a`.
    Insert {
        d: Slot,
        a: Slot,
        lo: u8,
        sh: u8,
    },
    /// Sign extension from `64 − from` bits to `64 − sh` bits.
    Sext {
        d: Slot,
        a: Slot,
        from: u8,
        sh: u8,
    },
    /// `a` moved up by `by` bits, `b` below it.
    Concat {
        d: Slot,
        a: Slot,
        b: Slot,
        by: u8,
    },
    /// `d = a` if `c`.
    CMov {
        d: Slot,
        c: Slot,
        a: Slot,
    },

    // -- wider values
    MovW {
        d: Slot,
        a: Slot,
        n: u32,
    },
    ZeroW {
        d: Slot,
        n: u32,
    },
    /// Sets single words, found in a table, to zero.
    Clear {
        list: u32,
    },
    AddW {
        d: Slot,
        a: Slot,
        b: Slot,
        w: u16,
    },
    SubW {
        d: Slot,
        a: Slot,
        b: Slot,
        w: u16,
    },
    MulW {
        d: Slot,
        a: Slot,
        b: Slot,
        w: u16,
    },
    DivW {
        d: Slot,
        a: Slot,
        b: Slot,
        w: u16,
    },
    ModW {
        d: Slot,
        a: Slot,
        b: Slot,
        w: u16,
    },
    SatAddW {
        d: Slot,
        a: Slot,
        b: Slot,
        w: u16,
        signed: bool,
    },
    SatSubW {
        d: Slot,
        a: Slot,
        b: Slot,
        w: u16,
        signed: bool,
    },
    AndW {
        d: Slot,
        a: Slot,
        b: Slot,
        w: u16,
    },
    OrW {
        d: Slot,
        a: Slot,
        b: Slot,
        w: u16,
    },
    XorW {
        d: Slot,
        a: Slot,
        b: Slot,
        w: u16,
    },
    NotW {
        d: Slot,
        a: Slot,
        w: u16,
    },
    NegW {
        d: Slot,
        a: Slot,
        w: u16,
    },
    /// By the one word at `b`.
    ShlW {
        d: Slot,
        a: Slot,
        b: Slot,
        w: u16,
    },
    ShrW {
        d: Slot,
        a: Slot,
        b: Slot,
        w: u16,
        signed: bool,
    },
    EqW {
        d: Slot,
        a: Slot,
        b: Slot,
        w: u16,
    },
    LtW {
        d: Slot,
        a: Slot,
        b: Slot,
        w: u16,
        signed: bool,
    },
    SliceW {
        d: Slot,
        a: Slot,
        lo: u32,
        w: u16,
    },
    InsertW {
        d: Slot,
        a: Slot,
        lo: u32,
        w: u16,
    },
    ResizeW {
        d: Slot,
        a: Slot,
        from: u16,
        to: u16,
        signed: bool,
    },
    CMovW {
        d: Slot,
        c: Slot,
        a: Slot,
        n: u16,
    },
    /// One word: `a`, or the greatest number if it does not fit.
    Clamp {
        d: Slot,
        a: Slot,
        n: u32,
    },

    // -- places found at run time: `base` and the offset in slot `off`
    /// `d` (+)= index · stride, or out of range.
    Index {
        d: Slot,
        a: Slot,
        index: u32,
        first: bool,
    },
    LoadX {
        d: Slot,
        base: Slot,
        off: Slot,
        n: u16,
    },
    StoreX {
        base: Slot,
        off: Slot,
        a: Slot,
        n: u16,
    },
    ZeroX {
        base: Slot,
        off: Slot,
        n: u16,
    },
    CopyX {
        copy: u32,
    },
    Shift {
        shift: u32,
    },

    // -- control flow
    Jmp {
        to: Target,
    },
    JmpZ {
        a: Slot,
        to: Target,
    },
    JmpNz {
        a: Slot,
        to: Target,
    },
    JmpEq {
        a: Slot,
        b: Slot,
        to: Target,
    },
    JmpNe {
        a: Slot,
        b: Slot,
        to: Target,
    },
    JmpLt {
        a: Slot,
        b: Slot,
        to: Target,
    },
    JmpLe {
        a: Slot,
        b: Slot,
        to: Target,
    },
    /// To a target found by value.
    Jump {
        a: Slot,
        table: u32,
    },
    Call {
        to: Target,
    },
    Ret,
    /// The block's end: also `exit` and `accept`.
    Halt,
    /// Counts a round of a loop; leaves to `to` when there were too many.
    Step {
        to: Target,
    },

    // -- parsing and deparsing
    Extract {
        base: Slot,
        off: Slot,
        header: u32,
    },
    ExtractVar {
        base: Slot,
        off: Slot,
        header: u32,
        bits: Slot,
    },
    /// Rejects with `PacketTooShort` unless so many bits are left.
    Need {
        bits: u32,
    },
    Peek {
        d: Slot,
        at: u32,
        w: u16,
    },
    Advance {
        a: Slot,
    },
    PacketLength {
        d: Slot,
    },
    /// Rejects with the error in `a`.
    Reject {
        a: Slot,
    },
    Emit {
        base: Slot,
        off: Slot,
        header: u32,
    },
    /// A value set: jumps if the keys are in it.
    InSet {
        test: u32,
        to: Target,
    },

    // -- tables and extern objects
    Apply {
        site: u32,
    },
    RegRead {
        d: Slot,
        index: Slot,
        register: u32,
    },
    RegWrite {
        index: Slot,
        a: Slot,
        register: u32,
    },
    Count {
        counter: u32,
        index: Slot,
    },
    MarkToDrop,
    Extern {
        call: u32,
    },
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
    pub slot: Slot,
    pub width: u32,
    /// Slot of a `varbit`'s length: only so many of the bits count.
    pub length: Slot,
    /// Slot of the validity of its header.
    pub valid: Slot,
}

/// What is to be kept of a packet's metadata when it starts over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Preserve {
    Nothing,
    /// The fields with `@field_list(index)`; the index is in a slot.
    FieldList(Slot),
    /// These words.
    Words(Vec<(Slot, u32)>),
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
    Clone {
        session: Slot,
        preserve: Preserve,
    },
    Resubmit {
        preserve: Preserve,
    },
    Recirculate {
        preserve: Preserve,
    },
    Truncate {
        length: Slot,
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
    /// Where each word of its parameters goes.
    pub params: Vec<Slot>,
    pub entry: Target,
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
    pub indices: Vec<IndexStep>,
    pub copies: Vec<CopyStep>,
    pub shifts: Vec<ShiftStep>,
    pub clears: Vec<Vec<Slot>>,
    pub headers: Vec<HeaderCode>,
    pub jumps: Vec<JumpTable>,
    pub sites: Vec<ApplySite>,
    pub set_tests: Vec<SetTest>,
    pub externs: Vec<ExternCode>,
    pub tables: Vec<TableCode>,
    /// Where each block begins.
    pub blocks: Blocks,
    pub metadata: StandardMetadata,
    /// The words of the headers.
    pub header_words: std::ops::Range<usize>,
    /// What each field list keeps of the user metadata: its index, first word and number of words.
    pub field_lists: Vec<(u64, Slot, u32)>,
    pub errors: ErrorCodes,
    /// Where each parser state begins, for traces: code, parser, state.
    pub states: Vec<(Target, u32, u32)>,
}

/// Values of core.p4's errors in this program.
#[derive(Clone, Copy, Debug, Default)]
pub struct ErrorCodes {
    pub packet_too_short: u64,
    pub header_too_short: u64,
    pub invalid_argument: u64,
}

/// Entry points of the architecture's blocks.
#[derive(Clone, Copy, Debug, Default)]
pub struct Blocks {
    pub parser: Target,
    pub verify: Target,
    pub ingress: Target,
    pub egress: Target,
    pub compute: Target,
    pub deparser: Target,
}

/// Slots of `standard_metadata_t`'s fields with their widths; `NONE` for those that are not there.
#[derive(Clone, Copy, Debug)]
pub struct StandardMetadata {
    pub ingress_port: MetaField,
    pub egress_spec: MetaField,
    pub egress_port: MetaField,
    pub instance_type: MetaField,
    pub packet_length: MetaField,
    pub enq_timestamp: MetaField,
    pub enq_qdepth: MetaField,
    pub deq_timedelta: MetaField,
    pub deq_qdepth: MetaField,
    pub ingress_global_timestamp: MetaField,
    pub egress_global_timestamp: MetaField,
    pub mcast_grp: MetaField,
    pub egress_rid: MetaField,
    pub checksum_error: MetaField,
    pub parser_error: MetaField,
    pub priority: MetaField,
}

impl Default for StandardMetadata {
    fn default() -> Self {
        let none = MetaField {
            slot: NONE,
            mask: 0,
        };
        StandardMetadata {
            ingress_port: none,
            egress_spec: none,
            egress_port: none,
            instance_type: none,
            packet_length: none,
            enq_timestamp: none,
            enq_qdepth: none,
            deq_timedelta: none,
            deq_qdepth: none,
            ingress_global_timestamp: none,
            egress_global_timestamp: none,
            mcast_grp: none,
            egress_rid: none,
            checksum_error: none,
            parser_error: none,
            priority: none,
        }
    }
}

/// A field of the standard metadata.
#[derive(Clone, Copy, Debug)]
pub struct MetaField {
    pub slot: Slot,
    pub mask: u64,
}

impl MetaField {
    #[inline]
    pub fn get(self, words: &[u64]) -> u64 {
        words.get(self.slot as usize).copied().unwrap_or(0)
    }

    #[inline]
    pub fn set(self, words: &mut [u64], value: u64) {
        if let Some(word) = words.get_mut(self.slot as usize) {
            *word = value & self.mask;
        }
    }
}
