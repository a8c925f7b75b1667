//! Instructions.

use super::{Slot, Target};

/// An instruction. `d` is the destination; `sh` is 64 minus the width; `w` is a width in bits; `n`
/// counts words.
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
    /// Signed comparison: both operands are shifted left so that the sign bit is the highest bit.
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
    /// Like `Slice` across the end of a word: from bit `lo` of `a`, continuing in the next word.
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
    /// `a` shifted left by `by` bits, with `b` below it.
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
    /// Sets single words, listed in a table, to zero.
    Clear {
        list: u32,
    },
    /// Copies single words, listed in a table, one after another.
    Moves {
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
    /// Shift by the word at `b`.
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
    /// One word: `a`, or the largest number if `a` does not fit.
    Clamp {
        d: Slot,
        a: Slot,
        n: u32,
    },

    // -- places found at run time: `base` plus the offset in slot `off`
    /// `d` (+)= index · stride, or `OUT_OF_RANGE`.
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
    /// Jumps to a target that is looked up by value.
    Jump {
        a: Slot,
        table: u32,
    },
    Call {
        to: Target,
    },
    Ret,
    /// Ends the block, also for `exit` and `accept`.
    Halt,
    /// Counts a parser state. Jumps to `to` if there were too many.
    Step {
        to: Target,
    },
    /// Starts a loop: resets its iteration count.
    Enter {
        number: u32,
    },
    /// Counts an iteration of a loop. Jumps to `to` if there were too many.
    Round {
        number: u32,
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
        bits: Slot,
        header: u16,
    },
    /// Rejects with `PacketTooShort` unless this many bits are left.
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
    /// Rejects without an error: a transition to `reject`.
    Refuse,
    /// Rejects with the error in `a`.
    Reject {
        a: Slot,
    },
    Emit {
        base: Slot,
        off: Slot,
        header: u32,
    },
    /// Emits headers with fixed places, listed in a table.
    EmitAll {
        list: u32,
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
    /// A cell of `n` words.
    RegRead {
        d: Slot,
        index: Slot,
        register: u32,
        n: u16,
    },
    RegWrite {
        index: Slot,
        a: Slot,
        register: u32,
        n: u16,
    },
    Count {
        counter: u32,
        index: Slot,
    },
    Extern {
        call: u32,
    },
}

// The loop that fetches instructions is faster the smaller they are.
const _: () = assert!(size_of::<Op>() == 16);
