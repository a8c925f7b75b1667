//! Where a compiler of bytecode to machine code plugs in.
//!
//! [`install`] names the compiler; programs that are translated from then on have their code compiled. Compiled code does
//! the simple instructions itself and calls [`Vm`] for the others, so the interpreter defines what each of them does.
//! A packet that is traced is always interpreted.

use crate::Sequence;
use crate::code::Target;
use std::any::Any;
use std::fmt::Debug;
use std::sync::OnceLock;

pub use crate::code::{
    ActionCode, ApplySite, Code, ErrorCodes, ExternCode, FieldCode, HeaderCode, JumpTable, Lane,
    Next, OUT_OF_RANGE, Op, Part, SumGroup, SumLane, TableCode,
};

/// Compiles bytecode to machine code.
pub trait Compiler: Debug + Sync {
    /// The code compiled; `None`: it is interpreted.
    fn compile(&self, source: &Source<'_>) -> Option<Box<dyn Native>>;
}

/// What is compiled.
#[derive(Debug)]
pub struct Source<'a> {
    /// The bytecode.
    pub code: &'a Code,
    /// Blocks that are run one after another.
    pub sequences: &'a [Sequence],
    /// Where blocks begin that are run alone.
    pub entries: &'a [Target],
    /// What compiled code may do to each extern object.
    pub objects: &'a [Kind],
    /// The key of each table.
    pub keys: &'a [Key],
    /// What is where behind [`Found::noted`].
    pub noted: Noted,
}

/// What decides about a look-up in a table: its key, packed into words, and what an action selector hashes.
#[derive(Clone, Debug)]
pub struct Key {
    /// Its fields.
    pub fields: Vec<KeyPart>,
    /// Its words, at least one, which is 0 where the table has no key.
    pub words: usize,
    /// Whether it leads to the same action until the table changes. Then what it led to is at [`place`] of the table's
    /// [`Places::recent`], if the key behind it is this one.
    pub repeats: bool,
    /// What is done where a key is found there.
    pub note: Note,
}

/// A field of a packed key.
#[derive(Clone, Copy, Debug)]
pub struct KeyPart {
    /// Its index among the keys of a site.
    pub index: u32,
    /// The first of its words in the packed key.
    pub word: usize,
    /// Bits below it there.
    pub shift: u32,
    /// Words that it takes.
    pub limbs: u32,
}

/// What a look-up does besides leading to an action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Note {
    /// Nothing.
    Nothing,
    /// It dates what it found, and counts the packet there if the table has a direct counter. [`Found::noted`] is an
    /// address, behind which [`Source::noted`] says what is where.
    Counted(Option<crate::Counted>),
    /// What [`Vm::note`] does with [`Found::noted`].
    Called,
}

/// Octets between [`Found::noted`] and what is noted there, each a number of 64 bits.
#[derive(Clone, Copy, Debug, Default)]
pub struct Noted {
    /// Packets that were counted.
    pub packets: usize,
    /// Octets of these.
    pub octets: usize,
    /// The time of the last look-up that led here, in nanoseconds.
    pub last_hit: usize,
}

/// What an extern object is to compiled code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A register whose cells have one word.
    Register,
    /// A counter, whose cells are [`CounterData`](crate::CounterData).
    Counter(crate::Counted),
    /// An object that the interpreter works on.
    Other,
}

/// Compiled code.
pub trait Native: Debug + Send + Sync {
    /// Runs one of [`Source::sequences`] or, counted on behind them, of [`Source::entries`]; says whether it came to its
    /// end.
    fn run(&self, number: usize, context: &mut Context<'_>) -> bool;
}

/// What compiled code works with, where it finds it. One is made for each run, in place.
#[repr(C)]
pub struct Context<'a> {
    /// Where the packet, registers and counters are.
    pub places: Places,
    /// What [`Vm::find`] found last.
    pub found: Found,
    /// How many parser states each block may count.
    pub most_steps: u32,
    /// How many this one may still.
    pub steps: u32,
    /// Storage as the code describes it.
    pub words: &'a mut [u64],
    /// What must be interpreted is left to it. Its places are those above.
    pub vm: &'a mut dyn Vm,
    /// A panic of the interpreter.
    pub panic: Option<Box<dyn Any + Send>>,
}

impl<'a> Context<'a> {
    /// For a run in which each block may count so many parser states.
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

/// What compiled code leaves to the interpreter.
pub trait Vm {
    /// Executes the instruction `at`, which is neither a jump (but `InSet` and `Round`) nor a call.
    fn step(&mut self, words: &mut [u64], at: Target, places: &mut Places) -> Next;

    /// Looks up a key, which is packed as [`Key`] says, in the table of a site. Places stay as they are.
    fn find(&mut self, words: &[u64], site: u32, key: &[u64]) -> Found;

    /// Notes a look-up in a table that found what [`Found::noted`] says, without looking it up. Places stay as they are.
    fn note(&mut self, table: u32, noted: u32);

    /// Calls an extern.
    fn call(&mut self, words: &mut [u64], call: u32, places: &mut Places) -> Next;

    /// Whether the packet is dropped whatever the program says.
    fn aborted(&self) -> bool;

    /// Rejects the packet with an error.
    fn reject(&mut self, error: u64);
}

/// What a look-up found.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub struct Found {
    /// Where the data of the action is, at least as many words as [`ActionCode::data`]: valid until the next call of
    /// [`Vm`], or, in a table's [`Places::recent`], until the table changes. An address, because a machine may go to
    /// another thread.
    pub args: usize,
    /// What is noted where: see [`Note`].
    pub noted: usize,
    /// 1 if it found an entry, 0 if not.
    pub hit: u32,
    /// The index of the action among the table's; [`NONE`](crate::NONE): no action is run.
    pub action: u32,
}

/// How many keys of a table are kept, as a power of two.
pub const PLACES_BITS: u32 = 6;
/// How many keys of a table are kept.
pub const PLACES: usize = 1 << PLACES_BITS;
/// What spreads keys over places: 2⁶⁴ divided by the golden ratio, odd.
pub const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;
/// By how many bits what is known of a key's place is turned before the next word goes in.
pub const TURN: u32 = 23;

/// The place of a key among [`PLACES`].
pub fn place(key: &[u64]) -> usize {
    place_of(key.iter().copied())
}

/// The place of a key of these words.
#[inline]
pub fn place_of(key: impl Iterator<Item = u64>) -> usize {
    let mixed = key.fold(0, |mixed: u64, word| mixed.rotate_left(TURN) ^ word);
    (mixed.wrapping_mul(SPREAD) >> (64 - PLACES_BITS)) as usize
}

/// Words of a place: a [`Found`], then a key of the given number of words; a half line of the cache or more.
pub const fn place_words(key: usize) -> usize {
    (size_of::<Found>() / 8 + key).next_multiple_of(4)
}

impl Found {
    /// It as words, as compiled code reads it, on a machine whose numbers begin with the low octet.
    pub fn words(&self) -> [u64; size_of::<Found>() / 8] {
        let result = u64::from(self.hit) | u64::from(self.action) << 32;
        [self.args as u64, self.noted as u64, result]
    }
}

/// Where the packet, registers and counters are. They stay there while code runs, but for `emitted` and `room`, which
/// are valid until the next call of [`Vm`].
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Places {
    /// The packet's octets that are held.
    pub octets: *const u8,
    /// How many there are.
    pub held: usize,
    /// Bits of the packet, with those that are not held.
    pub bits: usize,
    /// Where the number of parsed bits is.
    pub cursor: *mut usize,
    /// Octets of the packet as counters see them.
    pub length: u64,
    /// The cells of each extern object.
    pub cells: *const Cells,
    /// The time in the block, in nanoseconds.
    pub now: u64,
    /// For each table the address of [`PLACES`] places of [`place_words`], if its [`Key::repeats`].
    pub recent: *const usize,
    /// Where the `error` of the job is.
    pub error: *const u64,
    /// Where the `checksum_error` of the job is.
    pub checksum_error: *const bool,
    /// What the deparser has emitted, and room behind it.
    pub emitted: *mut u8,
    /// Octets of both; 0 where what has been emitted does not end with an octet.
    pub room: usize,
    /// Where the number of octets is that have been emitted.
    pub emitted_len: *mut usize,
}

/// Where the cells of an object are that is a [`Kind::Register`] or [`Kind::Counter`].
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Cells {
    /// The first cell. An address, because a machine may go to another thread.
    pub at: usize,
    /// How many of them compiled code reaches. The interpreter executes what names another cell.
    pub len: usize,
}

static COMPILER: OnceLock<&'static dyn Compiler> = OnceLock::new();

/// Names the compiler, once; says whether it was the first.
pub fn install(compiler: &'static dyn Compiler) -> bool {
    COMPILER.set(compiler).is_ok()
}

/// The compiler, if one is installed.
pub(crate) fn compiler() -> Option<&'static dyn Compiler> {
    COMPILER.get().copied()
}
