//! What an architecture adds to the engine.

use crate::{Calculation, Compiler, Job, Machine, Object, Sequence, Target};
use p4_ir::{ExternCall, ExternObject, Program};
use std::fmt::Debug;

/// An architecture, as far as the engine runs programs for it. Its value is what its externs keep while a packet is
/// in a block: the copies that the packet asked for, where it goes next.
///
/// All calls are resolved at compile time; nothing is looked up per packet.
pub trait Architecture: Debug + Default + Send + 'static {
    /// Its name, for messages.
    const NAME: &'static str;
    /// Whether a table's direct counter and meter work at each hit, called or not. If not, they work where an action
    /// calls them: [`Machine::count_direct`], [`Machine::measure_direct`].
    const DIRECT_ON_HIT: bool = true;
    /// What the architecture knows of a program: where its blocks begin and where its metadata lies.
    type Layout: Debug + Default + Send + Sync;
    /// A call of an extern that only this architecture has. Operands are [`Slot`](crate::Slot)s.
    type Call: Debug + Send + Sync;

    /// Binds the package: fills in `compiler.layout` and translates each block. What the architecture does not
    /// support is reported with [`Compiler::error`].
    fn bind(compiler: &mut Compiler<'_, Self>);

    /// The blocks' entry points in a layout. They are labels until the code is linked.
    fn entries(layout: &mut Self::Layout) -> impl Iterator<Item = &mut Target>;

    /// The blocks that are run one after another, for [`Pipeline::run_all`](crate::Pipeline::run_all). `calls`: the
    /// program's calls of externs that only this architecture has.
    fn sequences(_layout: &Self::Layout, _calls: &[Self::Call]) -> Vec<Sequence> {
        Vec::new()
    }

    /// The program's hashes and checksums, as a control plane knows them.
    fn calculations(_program: &Program) -> Vec<Calculation> {
        Vec::new()
    }

    /// Translates a call of an extern. `None`: an argument is not what the architecture declares there.
    fn lower(compiler: &mut Compiler<'_, Self>, call: &ExternCall) -> Option<()>;

    /// An extern object in its first state. The error says what its constructor needs.
    fn object(program: &Program, object: &ExternObject) -> Result<Object, String>;

    /// Runs a call of one of its own externs.
    fn call(&mut self, call: &Self::Call, at: CallSite<'_>);
}

/// What a call of an extern works on.
#[derive(Debug)]
pub struct CallSite<'a> {
    /// The number of the call in the program, for [`Pipeline::call`](crate::Pipeline::call).
    pub number: u32,
    /// The packet's variables.
    pub words: &'a mut [u64],
    /// The packet.
    pub job: &'a mut Job,
    /// Tables, objects, the random generator.
    pub machine: &'a mut Machine,
}
