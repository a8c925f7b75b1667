//! The interface that an architecture implements for the engine.

use crate::{Calculation, Compiler, Job, Machine, Object, Sequence, Target};
use p4_ir::{ExternCall, ExternObject, Program};
use std::fmt::Debug;

/// An architecture, as far as the engine needs it to run programs. Its value holds the requests of externs while a
/// packet is in a block, such as requested copies and the next destination.
///
/// All calls are resolved at compile time. Nothing is looked up per packet.
pub trait Architecture: Debug + Default + Send + 'static {
    /// Its name, for messages.
    const NAME: &'static str;
    /// Whether a table's direct counter and meter are updated at each hit, even if the action does not call them. If
    /// not, they are updated where an action calls them: [`Machine::count_direct`], [`Machine::measure_direct`].
    const DIRECT_ON_HIT: bool = true;
    /// What the architecture knows about a program: where its blocks begin and where its metadata is stored.
    type Layout: Debug + Default + Send + Sync;
    /// A call of an extern that only this architecture has. Operands are [`Slot`](crate::Slot)s.
    type Call: Debug + Send + Sync;

    /// Binds the package: fills in `compiler.layout` and translates each block. Reports unsupported features with
    /// [`Compiler::error`].
    fn bind(compiler: &mut Compiler<'_, Self>);

    /// The entry points of the blocks in a layout. They are labels until the code is linked.
    fn entries(layout: &mut Self::Layout) -> impl Iterator<Item = &mut Target>;

    /// The sequences of blocks, for [`Pipeline::run_all`](crate::Pipeline::run_all). `calls` are the program's calls of
    /// externs that only this architecture has.
    fn sequences(_layout: &Self::Layout, _calls: &[Self::Call]) -> Vec<Sequence> {
        Vec::new()
    }

    /// The hashes and checksums of the program, as a control plane sees them.
    fn calculations(_program: &Program) -> Vec<Calculation> {
        Vec::new()
    }

    /// Translates a call of an extern. Returns `None` if an argument does not match the architecture's declaration.
    fn lower(compiler: &mut Compiler<'_, Self>, call: &ExternCall) -> Option<()>;

    /// Creates an extern object in its initial state. An error states what its constructor requires.
    fn object(program: &Program, object: &ExternObject) -> Result<Object, String>;

    /// Executes a call of an extern that only this architecture has.
    fn call(&mut self, call: &Self::Call, at: CallSite<'_>);
}

/// The context of a call of an extern.
#[derive(Debug)]
pub struct CallSite<'a> {
    /// The number of the call in the program, for [`Pipeline::call`](crate::Pipeline::call).
    pub number: u32,
    /// The packet's variables.
    pub words: &'a mut [u64],
    /// The packet.
    pub job: &'a mut Job,
    /// Tables, objects and the random number generator.
    pub machine: &'a mut Machine,
}
