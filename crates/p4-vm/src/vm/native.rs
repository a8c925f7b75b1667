//! The environment of compiled code: the interpreter for single instructions, and addresses in a machine.

use super::apply::{find, note};
use super::run::step;
use super::{Job, Machine, external};
use crate::Architecture;
use crate::code::*;
use crate::compile::Compiled;
use crate::hash::Algorithm;
use crate::native::{self, Cells, Context, Found, Key, KeyPart, Kind, Places, Source, Vm};
use crate::object::Object;
use crate::table::{KeyField, NOTED, TableState};

/// Compiles the code of a program to machine code, if a compiler is installed.
pub fn compile<A: Architecture>(compiled: &mut Compiled<A>, machine: &Machine) {
    let Some(compiler) = native::compiler() else {
        return;
    };
    let objects: Vec<_> = machine.objects.iter().map(kind).collect();
    let keys: Vec<_> = machine
        .tables
        .iter()
        .map(|table| key(machine, table))
        .collect();
    compiled.native = compiler.compile(&Source {
        code: &compiled.code,
        entries: &compiled.entries,
        sequences: &compiled.sequences,
        objects: &objects,
        keys: &keys,
        noted: NOTED,
    });
}

/// The most words of a key whose look-ups are cached.
const MOST_WORDS: usize = 24;

fn key(machine: &Machine, table: &TableState) -> Key {
    let whole = table.layout.with_selectors();
    let part = |field: &KeyField| KeyPart {
        index: field.index as u32,
        word: field.word,
        shift: field.shift,
        limbs: field.limbs as u32,
    };
    Key {
        fields: whole.fields.iter().map(part).collect(),
        words: whole.words.max(1),
        repeats: repeats(machine, table),
        note: table.note_of(),
    }
}

/// Whether the look-ups of a table are cached: its keys lead to the same action until the table changes, and are not
/// too wide.
fn repeats(machine: &Machine, table: &TableState) -> bool {
    let drawn = table.profile.is_some_and(|profile| {
        let profile = &machine.objects[profile.0 as usize];
        matches!(profile, Object::Profile(profile) if profile.algorithm == Some(Algorithm::Random))
    });
    table.layout.with_selectors().words <= MOST_WORDS && !drawn
}

/// Enables caching of look-ups in the tables. Returns the addresses for compiled code, 0 for tables without a cache.
pub fn keep_recent(machine: &mut Machine) -> Box<[usize]> {
    let mut recent = Vec::new();
    for at in 0..machine.tables.len() {
        let repeats = repeats(machine, &machine.tables[at]);
        let table = &mut machine.tables[at];
        let words = table.layout.with_selectors().words.max(1);
        recent.push(if repeats { table.keep_recent(words) } else { 0 });
    }
    recent.into()
}

fn kind(object: &Object) -> Kind {
    match object {
        Object::Register(register) if register.limbs == 1 => Kind::Register,
        Object::Counter(counter) => Kind::Counter(counter.counted),
        _ => Kind::Other,
    }
}

/// The address of the cells of each object. It is constant: neither the objects nor the number of their cells change.
pub fn cells(objects: &mut [Object]) -> Box<[Cells]> {
    objects.iter_mut().map(cells_of).collect()
}

fn cells_of(object: &mut Object) -> Cells {
    let (at, len) = match object {
        Object::Register(register) if register.limbs == 1 => register.cells.place(),
        Object::Counter(counter) => counter.cells.place(),
        _ => (0, 0),
    };
    Cells { at, len }
}

impl Machine {
    /// Makes the interpreter execute all accesses to the cells of an object.
    pub(crate) fn hide_cells(&mut self, object: u32) {
        self.cells[object as usize].len = 0;
    }

    /// Lets compiled code access the cells of an object again.
    pub(crate) fn show_cells(&mut self, object: u32) {
        self.cells[object as usize] = cells_of(&mut self.objects[object as usize]);
    }
}

/// Runs the compiled code of a block. Returns whether there is any.
#[inline]
pub fn run<A: Architecture>(
    compiled: &Compiled<A>,
    architecture: &mut A,
    machine: &mut Machine,
    words: &mut [u64],
    job: &mut Job,
    start: Target,
) -> bool {
    let found = compiled.entries.binary_search(&start);
    let Some(number) = found.ok() else {
        return false;
    };
    let number = compiled.sequences.len() + number;
    run_function(compiled, architecture, machine, words, job, number).is_some()
}

/// Runs the compiled code of a sequence, if there is any. Returns whether it ran to its end.
#[inline]
pub fn run_all<A: Architecture>(
    compiled: &Compiled<A>,
    architecture: &mut A,
    machine: &mut Machine,
    words: &mut [u64],
    job: &mut Job,
    sequence: usize,
) -> Option<bool> {
    run_function(compiled, architecture, machine, words, job, sequence)
}

#[inline(always)]
fn run_function<A: Architecture>(
    compiled: &Compiled<A>,
    architecture: &mut A,
    machine: &mut Machine,
    words: &mut [u64],
    job: &mut Job,
    number: usize,
) -> Option<bool> {
    if machine.interpreted {
        return None;
    }
    let native = compiled.native.as_deref()?;
    let mut vm = Interpreter {
        compiled,
        architecture,
        machine,
        job,
    };
    let places = vm.places();
    let steps = vm.machine.limits.max_steps;
    Some(native.run(number, &mut Context::new(places, words, steps, &mut vm)))
}

struct Interpreter<'a, A: Architecture> {
    compiled: &'a Compiled<A>,
    architecture: &'a mut A,
    machine: &'a mut Machine,
    job: &'a mut Job,
}

impl<A: Architecture> Interpreter<'_, A> {
    /// The addresses of the packet, registers and counters.
    #[inline(always)]
    fn places(&mut self) -> Places {
        let emitted = self.machine.output.room();
        Places {
            emitted: emitted.octets.as_mut_ptr(),
            room: emitted.octets.len(),
            emitted_len: emitted.len,
            octets: self.job.octets.as_ptr(),
            held: self.job.octets.len(),
            bits: self.job.bits(),
            cursor: &raw mut self.job.cursor,
            length: self.job.length.into(),
            cells: self.machine.cells.as_ptr(),
            now: self.job.now.as_nanos(),
            recent: self.machine.recent.as_ptr(),
            error: &raw const self.job.error,
            checksum_error: &raw const self.job.checksum_error,
        }
    }

    /// Updates where compiled code may emit headers. All other places are unchanged.
    fn renew(&mut self, places: &mut Places) {
        let octets = &self.job.octets;
        let stays = (octets.as_ptr(), octets.len()) == (places.octets, places.held);
        assert!(stays, "a packet's octets stay as they are in a block");
        let emitted = self.machine.output.room();
        (places.emitted, places.room) = (emitted.octets.as_mut_ptr(), emitted.octets.len());
    }
}

impl<A: Architecture> Vm for Interpreter<'_, A> {
    fn step(&mut self, words: &mut [u64], at: Target, places: &mut Places) -> Next {
        let next = step(
            self.compiled,
            self.architecture,
            self.machine,
            words,
            self.job,
            at,
        );
        self.renew(places);
        next
    }

    #[inline]
    fn find(&mut self, words: &[u64], site: u32, key: &[u64]) -> Found {
        let code = &self.compiled.code;
        find(code, self.machine, words, self.job, site, key)
    }

    fn note(&mut self, table: u32, noted: u32) {
        let found = (noted != NONE).then_some(noted);
        note(&mut self.machine.tables[table as usize], found, self.job);
    }

    fn call(&mut self, words: &mut [u64], call: u32, places: &mut Places) -> Next {
        external::call(
            self.compiled,
            self.architecture,
            self.machine,
            words,
            self.job,
            call,
        );
        self.renew(places);
        match self.job.abort {
            Some(_) => Next::End,
            None => Next::Step,
        }
    }

    fn aborted(&self) -> bool {
        self.job.abort.is_some()
    }

    fn reject(&mut self, error: u64) {
        self.job.rejected = true;
        self.job.error = error;
    }
}
