//! The interface for a compiler from bytecode to machine code.
//!
//! [`install`] registers the compiler. From then on, the code of translated programs is compiled. Compiled code
//! executes simple instructions itself and calls [`Vm`] for the others, so the interpreter defines the behaviour of
//! every instruction. A packet that is traced is always interpreted.

use crate::Sequence;
use crate::code::Target;
use std::any::Any;
use std::fmt::Debug;
use std::sync::OnceLock;

pub use crate::code::{
    ActionCode, ApplySite, Code, ErrorCodes, ExternCode, FieldCode, HeaderCode, JumpTable, Lane,
    ListValue, Next, OUT_OF_RANGE, Op, Part, SumGroup, SumLane, TableCode,
};

/// Compiles bytecode to machine code.
pub trait Compiler: Debug + Sync {
    /// Compiles the code. Returns `None` if the code is to be interpreted.
    fn compile(&self, source: &Source<'_>) -> Option<Box<dyn Native>>;
}

/// The input of the compiler.
#[derive(Debug)]
pub struct Source<'a> {
    /// The bytecode.
    pub code: &'a Code,
    /// The sequences of blocks.
    pub sequences: &'a [Sequence],
    /// Entry points of the blocks that are run outside of sequences.
    pub entries: &'a [Target],
    /// How compiled code may access each extern object.
    pub objects: &'a [Kind],
    /// The key of each table.
    pub keys: &'a [Key],
    /// The layout of the data at the address [`Found::noted`].
    pub noted: Noted,
}

/// The inputs of a table look-up: its key, packed into words, and the fields that an action selector hashes.
#[derive(Clone, Debug)]
pub struct Key {
    /// Its fields.
    pub fields: Vec<KeyPart>,
    /// The number of its words, at least one. The word is 0 if the table has no key.
    pub words: usize,
    /// Whether a key leads to the same action until the table changes. If so, the result is cached at [`place`] of the
    /// table's [`Places::recent`], provided that the key stored behind it is this one.
    pub repeats: bool,
    /// The side effects of a look-up that is served from there.
    pub note: Note,
}

/// A field of a packed key.
#[derive(Clone, Copy, Debug)]
pub struct KeyPart {
    /// Its index among the keys of a site.
    pub index: u32,
    /// Its first word in the packed key.
    pub word: usize,
    /// Number of bits below it in that word.
    pub shift: u32,
    /// Number of words.
    pub limbs: u32,
}

/// The side effects of a look-up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Note {
    /// Nothing.
    Nothing,
    /// It stores the time in what it found, and counts the packet if the table has a direct counter. [`Found::noted`]
    /// is the address; [`Source::noted`] gives the offsets from it.
    Counted(Option<crate::Counted>),
    /// It calls [`Vm::note`] with [`Found::noted`].
    Called,
}

/// Offsets in octets from [`Found::noted`]. Each field is a 64-bit number.
#[derive(Clone, Copy, Debug, Default)]
pub struct Noted {
    /// The number of packets.
    pub packets: usize,
    /// The number of octets.
    pub octets: usize,
    /// The time of the last look-up that led here, in nanoseconds.
    pub last_hit: usize,
}

/// How compiled code sees an extern object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A register whose cells have one word.
    Register,
    /// A counter, whose cells are [`CounterData`](crate::CounterData).
    Counter(crate::Counted),
    /// An object that only the interpreter accesses.
    Other,
}

/// Compiled code.
pub trait Native: Debug + Send + Sync {
    /// Runs one of [`Source::sequences`] or of [`Source::entries`], which are numbered after the sequences. Returns
    /// whether it ran to its end.
    fn run(&self, number: usize, context: &mut Context<'_>) -> bool;
}

/// The state of compiled code. One is created for each run and is not moved.
#[repr(C)]
pub struct Context<'a> {
    /// The addresses of the packet, registers and counters.
    pub places: Places,
    /// The result of the last [`Vm::find`].
    pub found: Found,
    /// How many parser states each block may count.
    pub most_steps: u32,
    /// How many parser states this block may still count.
    pub steps: u32,
    /// The storage, as the code describes it.
    pub words: &'a mut [u64],
    /// The interpreter. It uses the places above.
    pub vm: &'a mut dyn Vm,
    /// The payload of a panic in the interpreter.
    pub panic: Option<Box<dyn Any + Send>>,
}

impl<'a> Context<'a> {
    /// Creates the context of a run in which each block may count `most_steps` parser states.
    #[inline(always)]
    pub fn new(places: Places, words: &'a mut [u64], most_steps: u32, vm: &'a mut dyn Vm) -> Self {
        Context {
            places,
            found: Found::default(),
            most_steps,
            steps: most_steps,
            words,
            vm,
            panic: None,
        }
    }
}

/// The operations that compiled code leaves to the interpreter.
pub trait Vm {
    /// Executes the instruction `at`, which is not a jump (except `InSet` and `Round`) and not a call.
    fn step(&mut self, words: &mut [u64], at: Target, places: &mut Places) -> Next;

    /// Looks up a key, packed as described by [`Key`], in the table of a site. The places stay valid.
    fn find(&mut self, words: &[u64], site: u32, key: &[u64]) -> Found;

    /// Performs the side effects of a look-up that found [`Found::noted`], without looking it up. The places stay
    /// valid.
    fn note(&mut self, table: u32, noted: u32);

    /// Calls an extern.
    fn call(&mut self, words: &mut [u64], call: u32, places: &mut Places) -> Next;

    /// Whether the packet will be dropped regardless of the program.
    fn aborted(&self) -> bool;

    /// Rejects the packet with an error.
    fn reject(&mut self, error: u64);
}

/// The result of a look-up.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub struct Found {
    /// The address of the action's data, at least as many words as [`ActionCode::data`]. It is valid until the next
    /// call of [`Vm`] or, in a table's [`Places::recent`], until the table changes. It is an address rather than a
    /// pointer because a machine may move to another thread.
    pub args: usize,
    /// What the side effects refer to; see [`Note`].
    pub noted: usize,
    /// 1 for a hit, 0 for a miss.
    pub hit: u32,
    /// The index of the action in the table, or [`NONE`](crate::NONE) if no action is run.
    pub action: u32,
}

/// The number of recent keys kept per table, as a power of two.
pub const PLACES_BITS: u32 = 6;
/// The number of recent keys kept per table.
pub const PLACES: usize = 1 << PLACES_BITS;
/// The multiplier that spreads keys over places: 2⁶⁴ divided by the golden ratio, odd.
pub const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;
/// By how many bits the hash state is rotated before the next word is mixed in.
pub const TURN: u32 = 23;

/// The place of a key, below [`PLACES`].
pub fn place(key: &[u64]) -> usize {
    place_of(key.iter().copied())
}

/// The place of a key of these words.
#[inline]
pub fn place_of(key: impl Iterator<Item = u64>) -> usize {
    let mixed = key.fold(0, |mixed: u64, word| mixed.rotate_left(TURN) ^ word);
    (mixed.wrapping_mul(SPREAD) >> (64 - PLACES_BITS)) as usize
}

/// Words per place: a [`Found`], then a key of the given number of words. At least half a cache line.
pub const fn place_words(key: usize) -> usize {
    (size_of::<Found>() / 8 + key).next_multiple_of(4)
}

impl Found {
    /// Its words, as compiled code reads them on a little-endian machine.
    pub fn words(&self) -> [u64; size_of::<Found>() / 8] {
        let result = u64::from(self.hit) | u64::from(self.action) << 32;
        [self.args as u64, self.noted as u64, result]
    }
}

/// Addresses of the packet, registers and counters. They are constant while code runs, except `emitted` and `room`,
/// which are valid until the next call of [`Vm`].
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Places {
    /// The stored octets of the packet.
    pub octets: *const u8,
    /// The number of stored octets.
    pub held: usize,
    /// Bits of the packet, including those that are not stored.
    pub bits: usize,
    /// The address of the number of parsed bits.
    pub cursor: *mut usize,
    /// Octets of the packet as counters see them.
    pub length: u64,
    /// The cells of each extern object.
    pub cells: *const Cells,
    /// The time in the block, in nanoseconds.
    pub now: u64,
    /// For each table, the address of [`PLACES`] places of [`place_words`] words, if its [`Key::repeats`].
    pub recent: *const usize,
    /// The address of the job's `error`.
    pub error: *const u64,
    /// The address of the job's `checksum_error`.
    pub checksum_error: *const bool,
    /// The output of the deparser, followed by room.
    pub emitted: *mut u8,
    /// Octets of output and room. 0 if the output does not end at an octet boundary.
    pub room: usize,
    /// The address of the number of emitted octets.
    pub emitted_len: *mut usize,
}

/// The cells of an object that is a [`Kind::Register`] or [`Kind::Counter`].
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Cells {
    /// The address of the first cell. It is an address rather than a pointer because a machine may move to another
    /// thread.
    pub at: usize,
    /// The number of cells that compiled code may access. The interpreter executes instructions that refer to other
    /// cells.
    pub len: usize,
}

static COMPILER: OnceLock<&'static dyn Compiler> = OnceLock::new();

/// Registers the compiler, once. Returns whether it was the first.
pub fn install(compiler: &'static dyn Compiler) -> bool {
    COMPILER.set(compiler).is_ok()
}

/// The compiler, if one is installed.
pub(crate) fn compiler() -> Option<&'static dyn Compiler> {
    COMPILER.get().copied()
}
