//! Where a compiler of bytecode to machine code plugs in.
//!
//! [`install`] names the compiler; programs that are translated from then on have their code compiled. Compiled code does
//! the simple instructions itself and calls [`Vm`] for the others, so the interpreter defines what each of them does.
//! A packet that is traced is always interpreted.

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
    /// Where blocks begin, in rising order.
    pub entries: &'a [Target],
    /// What compiled code may do to each extern object.
    pub objects: &'a [Kind],
    /// How the key of each table is packed; `None`: it does not have exactly one word.
    pub keys: &'a [Option<Key>],
}

/// How a key is packed into one word: for each field, its index among the keys of a site, and its shift in bits.
pub type Key = Vec<(u32, u32)>;

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
    /// Runs code from `start`, which is one of [`Source::entries`], to its end. `words` is storage as the code
    /// describes it, `steps` how many parser states may be counted; what must be interpreted is left to `vm`, whose
    /// places are `places`.
    fn run(&self, start: Target, words: &mut [u64], places: Places, steps: u32, vm: &mut dyn Vm);
}

/// What compiled code leaves to the interpreter.
pub trait Vm {
    /// Executes the instruction `at`, which is neither a jump (but `InSet` and `Round`) nor a call.
    fn step(&mut self, words: &mut [u64], at: Target, places: &mut Places) -> Next;

    /// Looks up a key in the table of a site. `key`: the key packed into one word; `None`: it does not have exactly one
    /// word. Returns the index of the action among the table's; [`NONE`](crate::NONE): no action is run. Places stay as
    /// they are.
    fn find(&mut self, words: &[u64], site: u32, key: Option<u64>, found: &mut Found) -> u32;

    /// Calls an extern.
    fn call(&mut self, words: &mut [u64], call: u32, places: &mut Places) -> Next;

    /// Rejects the packet with an error.
    fn reject(&mut self, error: u64);
}

/// What a look-up found, besides its action.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Found {
    /// 1 if it found an entry, 0 if not.
    pub hit: u64,
    /// The data of its action, at least as many words as [`ActionCode::data`]. They are valid until the next call of
    /// [`Vm`].
    pub args: *const u64,
}

/// Where the packet, registers and counters are. The places are valid until the next call of [`Vm`].
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
    /// How many there are; 0 for other objects.
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
