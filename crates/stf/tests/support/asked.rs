//! What machine code asks of the interpreter, counted.

use p4_ir::SourceLoc;
use p4_vm::Target;
use p4_vm::native::{Compiler, Context, Found, Native, Next, Op, Places, Source, Vm};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};

/// Compiles with Cranelift, and counts what compiled code asks of the interpreter.
#[derive(Debug)]
pub struct Counting;

/// Whether calls are counted now.
static COUNTS: AtomicBool = AtomicBool::new(false);
static LATEST: Mutex<Option<Arc<Calls>>> = Mutex::new(None);

/// How often the interpreter was called for each instruction, site of a table, note of a table's entry that was hit, and
/// extern.
#[derive(Debug)]
pub struct Calls {
    pub steps: Vec<(Op, SourceLoc, AtomicU64)>,
    pub sites: Vec<(u32, AtomicU64)>,
    pub notes: Vec<AtomicU64>,
    pub externs: Vec<(String, AtomicU64)>,
}

/// Starts to count, or stops.
pub fn count_calls(counts: bool) {
    COUNTS.store(counts, Relaxed);
}

/// What was counted in the program that was compiled last; `None`: none was.
pub fn calls() -> Option<Arc<Calls>> {
    LATEST
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .clone()
}

impl Compiler for Counting {
    fn compile(&self, source: &Source<'_>) -> Option<Box<dyn Native>> {
        let code = source.code;
        let calls = Arc::new(Calls {
            steps: code
                .ops
                .iter()
                .zip(&code.locs)
                .map(|(&op, &loc)| (op, loc, AtomicU64::new(0)))
                .collect(),
            sites: code
                .sites
                .iter()
                .map(|site| (site.table, AtomicU64::new(0)))
                .collect(),
            notes: source.keys.iter().map(|_| AtomicU64::new(0)).collect(),
            externs: code
                .externs
                .iter()
                .map(|call| (kind(call), AtomicU64::new(0)))
                .collect(),
        });
        let native = p4_jit::compiler()?.compile(source)?;
        *LATEST.lock().unwrap_or_else(PoisonError::into_inner) = Some(calls.clone());
        Some(Box::new(Counted { native, calls }))
    }
}

/// The name of an instruction, or of an extern's kind.
pub fn kind(code: &impl std::fmt::Debug) -> String {
    let text = format!("{code:?}");
    let end = text.find([' ', '(', '{']).unwrap_or(text.len());
    text[..end].to_owned()
}

#[derive(Debug)]
struct Counted {
    native: Box<dyn Native>,
    calls: Arc<Calls>,
}

impl Native for Counted {
    fn run(&self, number: usize, context: &mut Context<'_>) -> bool {
        if !COUNTS.load(Relaxed) {
            return self.native.run(number, context);
        }
        let Context {
            places,
            most_steps,
            words,
            vm,
            ..
        } = context;
        let mut asked = Asked(&mut **vm, &self.calls);
        let mut context = Context::new(*places, words, *most_steps, &mut asked);
        self.native.run(number, &mut context)
    }
}

/// The interpreter, whose calls are counted.
struct Asked<'a>(&'a mut dyn Vm, &'a Calls);

impl Vm for Asked<'_> {
    fn step(&mut self, words: &mut [u64], at: Target, places: &mut Places) -> Next {
        self.1.steps[at as usize].2.fetch_add(1, Relaxed);
        self.0.step(words, at, places)
    }

    fn find(&mut self, words: &[u64], site: u32, key: &[u64]) -> Found {
        self.1.sites[site as usize].1.fetch_add(1, Relaxed);
        self.0.find(words, site, key)
    }

    fn note(&mut self, table: u32, noted: u32) {
        self.1.notes[table as usize].fetch_add(1, Relaxed);
        self.0.note(table, noted);
    }

    fn call(&mut self, words: &mut [u64], call: u32, places: &mut Places) -> Next {
        self.1.externs[call as usize].1.fetch_add(1, Relaxed);
        self.0.call(words, call, places)
    }

    fn aborted(&self) -> bool {
        self.0.aborted()
    }

    fn reject(&mut self, error: u64) {
        self.0.reject(error);
    }
}
