//! Translates p4-ir to bytecode.
//!
//! Functions that are called from one place only are inlined. Others become subroutines. The program is translated
//! twice: the first pass counts the temporaries, because the constants are placed behind them.

mod blocks;
#[cfg(feature = "native")]
mod clearing;
mod expr;
mod header;
mod link;
mod operands;
mod parser;
mod primitives;
mod stmt;
mod storage;

use crate::code::*;
use crate::{Architecture, CompileError, Sequence, wide};
pub use operands::enum_member;
use p4_ir::{FunctionId, Program, Scalar, SourceLoc, Stmt, StmtKind};
use std::collections::HashMap;
use storage::Storage;

/// A translated program.
#[derive(Debug)]
pub struct Compiled<A: Architecture> {
    pub code: Code,
    pub layout: A::Layout,
    /// Calls of externs that only the architecture has.
    pub own: Vec<A::Call>,
    /// The sequences of blocks.
    pub sequences: Vec<Sequence>,
    /// Entry points of the blocks that are also run outside of sequences, in ascending order.
    #[cfg(feature = "native")]
    pub entries: Vec<Target>,
    /// The same program as machine code.
    #[cfg(feature = "native")]
    pub native: Option<Box<dyn crate::native::Native>>,
}

#[cfg(feature = "native")]
impl<A: Architecture> Compiled<A> {
    /// Whether compiled code clears the variables when it begins the first sequence.
    #[inline]
    pub fn clears(&self) -> bool {
        let first = self.sequences.first();
        first.is_some_and(|first| first.clears.is_some())
    }
}

/// Translates a program, or reports its unsupported features.
pub fn compile<A: Architecture>(program: &Program) -> Result<Compiled<A>, Vec<CompileError>> {
    let calls = blocks::check_calls(program)?;
    let storage = Storage::new(program)?;
    const MANY: u32 = 1 << 24;
    let first = Compiler::<A>::new(program, storage.clone(), calls.clone(), MANY).run()?;
    #[cfg(feature = "native")]
    let variables = storage.variables().to_vec();
    #[cfg_attr(not(feature = "native"), expect(unused_mut))]
    let (mut compiled, _) = Compiler::<A>::new(program, storage, calls, first.1).run()?;
    #[cfg(feature = "native")]
    if let Some(first) = compiled.sequences.first()
        && first.given.is_some()
    {
        let needed = clearing::needed(&clearing::Subject {
            code: &compiled.code,
            sequences: &compiled.sequences,
            variables: &variables,
            keys: &key_words(program),
        });
        compiled.sequences[0].clears = needed;
    }
    Ok(compiled)
}

/// The number of words of each key of each table.
#[cfg(feature = "native")]
fn key_words(program: &Program) -> Vec<Vec<u32>> {
    let words = |key: &p4_ir::Key| {
        let scalar = key.ty.scalar(program);
        let width = scalar.map_or(key.value.ty.width(), |scalar| scalar.width());
        width.div_ceil(64).max(1)
    };
    let tables = program.tables.iter();
    tables
        .map(|table| table.keys.iter().map(words).collect())
        .collect()
}

/// The address of code that is not placed yet.
type Label = Target;

/// Translates one program. An architecture uses it to bind blocks and to translate calls of its externs.
#[derive(Debug)]
pub struct Compiler<'p, A: Architecture> {
    program: &'p Program,
    storage: Storage<'p>,
    /// What the architecture knows about the program.
    pub layout: A::Layout,
    code: Code,
    /// Calls of externs that only the architecture has.
    own: Vec<A::Call>,
    errors: Vec<CompileError>,
    /// Source location of the statement being translated.
    loc: SourceLoc,
    /// The address of each label.
    labels: Vec<Target>,
    /// How often each function is called.
    calls: Vec<u32>,
    /// Subroutines to translate, each with its label.
    subroutines: HashMap<FunctionId, Label>,
    pending: Vec<FunctionId>,
    constants: HashMap<Vec<u64>, Slot>,
    headers: HashMap<p4_ir::TypeId, u32>,
    next_temp: Slot,
    max_temp: Slot,
    /// The target of `return`. `None` means return to the caller.
    return_to: Option<Label>,
    /// The targets of `break` and `continue`.
    loops: Vec<(Label, Label)>,
}

impl<'p, A: Architecture> Compiler<'p, A> {
    fn new(program: &'p Program, storage: Storage<'p>, calls: Vec<u32>, temporaries: u32) -> Self {
        let words = storage.words;
        Compiler {
            program,
            storage,
            layout: A::Layout::default(),
            own: Vec::new(),
            code: Code {
                words: words as usize,
                calculations: A::calculations(program),
                constants_at: (words + temporaries) as usize,
                ..Code::default()
            },
            errors: Vec::new(),
            loc: SourceLoc::default(),
            labels: Vec::new(),
            calls,
            subroutines: HashMap::new(),
            pending: Vec::new(),
            constants: HashMap::new(),
            headers: HashMap::new(),
            next_temp: words,
            max_temp: words,
            return_to: None,
            loops: Vec::new(),
        }
    }

    /// Returns the code, and how many temporaries it uses.
    fn run(mut self) -> Result<(Compiled<A>, u32), Vec<CompileError>> {
        self.program_parts();
        A::bind(&mut self);
        while let Some(function) = self.pending.pop() {
            let label = self.subroutines[&function];
            self.place(label);
            self.return_to = None;
            let body: &'p Vec<Stmt> = &self.program[function].body;
            self.stmts(body);
            self.emit(Op::Ret);
        }
        if !self.errors.is_empty() {
            return Err(self.errors);
        }
        let zero = self.number(0);
        let entries = A::entries(&mut self.layout);
        link::link(&mut self.code, entries, &self.labels, zero);
        let sequences = A::sequences(&self.layout, &self.own);
        #[cfg(feature = "native")]
        let entries: std::collections::BTreeSet<_> = {
            // Calls of externs that only the architecture has may cause blocks to run again.
            let stages = sequences.iter().flat_map(|sequence| &sequence.stages);
            let within: Vec<_> = stages.map(|stage| stage.block).collect();
            let entries = A::entries(&mut self.layout).map(|entry| *entry);
            entries
                .filter(|entry| !self.own.is_empty() || !within.contains(entry))
                .collect()
        };
        let compiled = Compiled {
            sequences,
            #[cfg(feature = "native")]
            entries: entries.into_iter().collect(),
            #[cfg(feature = "native")]
            native: None,
            code: self.code,
            layout: self.layout,
            own: self.own,
        };
        Ok((compiled, self.max_temp - self.storage.words))
    }

    /// The program.
    pub fn program(&self) -> &'p Program {
        self.program
    }

    /// The program's hashes and checksums.
    pub fn calculations(&self) -> &[Calculation] {
        &self.code.calculations
    }

    /// The source location of the statement being translated.
    pub fn loc(&self) -> SourceLoc {
        self.loc
    }

    /// Sets the source location for errors.
    pub fn set_loc(&mut self, loc: SourceLoc) {
        self.loc = loc;
    }

    /// Reports an error at the current location.
    pub fn error(&mut self, message: impl Into<String>) {
        let error = CompileError {
            loc: self.loc,
            message: message.into(),
        };
        if !self.errors.contains(&error) {
            self.errors.push(error);
        }
    }

    fn emit(&mut self, op: Op) {
        self.code.ops.push(op);
        self.code.locs.push(self.loc);
    }

    fn label(&mut self) -> Label {
        self.labels.push(Target::MAX);
        self.labels.len() as Label - 1
    }

    /// Places the label at the next instruction.
    fn place(&mut self, label: Label) {
        self.labels[label as usize] = self.code.ops.len() as Target;
    }

    fn here(&mut self) -> Label {
        let label = self.label();
        self.place(label);
        label
    }

    /// Allocates words for a temporary. They are freed at the end of the statement.
    fn temp(&mut self, words: u32) -> Slot {
        let slot = self.next_temp;
        self.next_temp += words;
        self.max_temp = self.max_temp.max(self.next_temp);
        slot
    }

    /// Allocates a word among the constants that nothing else uses, initially 0. A switch may set it for all its
    /// packets.
    pub fn setting(&mut self) -> Slot {
        let slot = (self.code.constants_at + self.code.constants.len()) as Slot;
        self.code.constants.push(0);
        self.code.settings.push(slot);
        slot
    }

    fn constant(&mut self, limbs: Vec<u64>) -> Slot {
        if let Some(&slot) = self.constants.get(&limbs) {
            return slot;
        }
        let slot = (self.code.constants_at + self.code.constants.len()) as Slot;
        self.code.constants.extend(&limbs);
        self.constants.insert(limbs, slot);
        slot
    }

    /// The slot of a constant.
    pub fn number(&mut self, value: u64) -> Slot {
        self.constant(vec![value])
    }

    /// The label of a function that is called as a subroutine.
    fn subroutine(&mut self, function: FunctionId) -> Label {
        if let Some(&label) = self.subroutines.get(&function) {
            return label;
        }
        let label = self.label();
        self.subroutines.insert(function, label);
        self.pending.push(function);
        label
    }

    /// Inlines the body of a function: of a block or of an abstract method.
    pub fn call(&mut self, function: FunctionId) {
        if self.calls[function.0 as usize] > 1 {
            let to = self.subroutine(function);
            self.emit(Op::Call { to });
            return;
        }
        let end = self.label();
        let outer = self.return_to.replace(end);
        let loops = std::mem::take(&mut self.loops);
        let body: &'p Vec<Stmt> = &self.program[function].body;
        self.stmts(body);
        self.loops = loops;
        self.return_to = outer;
        self.place(end);
    }

    /// Checks that the engine supports the width.
    fn check_width(&mut self, ty: Scalar) {
        let (what, most) = match ty {
            Scalar::Varbit(_) => ("varbit", wide::MAX_VARBIT),
            _ => ("value", wide::MAX_WIDTH),
        };
        let width = ty.width();
        if width > most {
            self.error(format!(
                "a {what} of {width} bits is wider than this target has; the widest is {most} bits"
            ));
        }
    }
}

/// Visits all statements in a body, including nested ones.
pub fn walk<'a>(stmts: &'a [Stmt], visit: &mut impl FnMut(&'a Stmt)) {
    for stmt in stmts {
        visit(stmt);
        match &stmt.kind {
            StmtKind::If {
                then, otherwise, ..
            } => {
                walk(then, visit);
                walk(otherwise, visit);
            }
            StmtKind::Switch { cases, default, .. } => {
                cases.iter().for_each(|(_, body)| walk(body, visit));
                walk(default, visit);
            }
            StmtKind::Loop {
                prepare,
                body,
                update,
                ..
            } => {
                walk(prepare, visit);
                walk(body, visit);
                walk(update, visit);
            }
            _ => {}
        }
    }
}
