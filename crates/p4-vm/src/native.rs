//! Where a compiler of bytecode to machine code plugs in.
//!
//! [`install`] names the compiler; programs that are translated from then on have their code compiled. Compiled code does
//! the simple instructions itself and calls [`Vm`] for the others, so the interpreter defines what each of them does.
//! A packet that is traced is always interpreted.

use crate::Sequence;
use crate::code::Target;
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
    /// The key of each table; `None`: it does not have exactly one word.
    pub keys: &'a [Option<Key>],
}

/// The key of a table, packed into one word.
#[derive(Clone, Debug)]
pub struct Key {
    /// For each field, its index among the keys of a site, and its shift in bits.
    pub fields: Vec<(u32, u32)>,
    /// Whether it leads to the same action until the table changes, and nothing else happens when it is looked up.
    /// Then what it led to is at [`Found::place`] of the table's [`Places::recent`], if the key there is this one.
    pub repeats: bool,
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
    /// end. `words` is storage as the code describes it, `steps` how many parser states each block may count; what must
    /// be interpreted is left to `vm`, whose places are `places`.
    fn run(
        &self,
        number: usize,
        words: &mut [u64],
        places: Places,
        steps: u32,
        vm: &mut dyn Vm,
    ) -> bool;
}

/// What compiled code leaves to the interpreter.
pub trait Vm {
    /// Executes the instruction `at`, which is neither a jump (but `InSet` and `Round`) nor a call.
    fn step(&mut self, words: &mut [u64], at: Target, places: &mut Places) -> Next;

    /// Looks up a key in the table of a site. `key`: the key packed into one word; `None`: it does not have exactly one
    /// word. Places stay as they are.
    fn find(&mut self, words: &[u64], site: u32, key: Option<u64>) -> Found;

    /// Calls an extern.
    fn call(&mut self, words: &mut [u64], call: u32, places: &mut Places) -> Next;

    /// Whether the packet is dropped whatever the program says.
    fn aborted(&self) -> bool;

    /// Rejects the packet with an error.
    fn reject(&mut self, error: u64);
}

/// What a look-up found.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(32))]
pub struct Found {
    /// The key, if it is one word.
    pub key: u64,
    /// Where the data of the action is, at least as many words as [`ActionCode::data`]: valid until the next call of
    /// [`Vm`], or, in a table's [`Places::recent`], until the table changes. An address, because a machine may go to
    /// another thread.
    pub args: usize,
    /// 1 if it found an entry, 0 if not.
    pub hit: u64,
    /// The index of the action among the table's; [`NONE`](crate::NONE): no action is run.
    pub action: u32,
}

/// How many keys of a table are kept, as a power of two.
pub const RECENT_BITS: u32 = 6;
/// How many keys of a table are kept.
pub const RECENT: usize = 1 << RECENT_BITS;
/// What spreads keys over places: 2⁶⁴ divided by the golden ratio, odd.
pub const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;

impl Found {
    /// The place of a key among [`RECENT`].
    pub fn place(key: u64) -> usize {
        (key.wrapping_mul(SPREAD) >> (64 - RECENT_BITS)) as usize
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
    /// For each table the address of [`RECENT`] times [`Found`], if its [`Key::repeats`].
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
