//! Registers and register actions: a cell is read, passed to the action's `apply`, and written back.

use super::{Lowering, give, own, put, setting, take, words_of, words_of_param};
use p4_ir::{AbstractMethod, Arg, CtorArg, ExternCall, ExternId, Program, TableId};
use p4_vm::{Access, CallSite, Job, Machine, NONE, Object, Register, Slot};

/// A step of a call.
#[derive(Debug)]
pub enum Step {
    /// The cell that a queue, stack or log accesses next.
    Find {
        register: u32,
        access: Access,
        index: Slot,
        found: Slot,
    },
    /// Loads a cell's words, and whether the cell exists.
    Load {
        cell: Cell,
        words: (Slot, u32),
        found: Slot,
    },
    /// Stores words in a cell.
    Store { cell: Cell, words: (Slot, u32) },
    /// Stores the same words in all cells.
    Fill { register: u32, words: (Slot, u32) },
    /// Sets one bit of a word. The comparisons form its number, the first as the lowest bit.
    Predicate { comparisons: [Slot; 4], to: Slot },
}

/// Selects a cell.
#[derive(Clone, Copy, Debug)]
pub enum Cell {
    /// A cell of a register; the slot holds its number.
    Of(u32, Slot),
    /// The direct cell of the entry of a table that was hit last.
    Direct(TableId),
}

impl Cell {
    fn words<'m>(
        self,
        machine: &'m mut Machine,
        job: &Job,
        words: &[u64],
    ) -> Option<&'m mut [u64]> {
        match self {
            Cell::Of(register, index) => {
                register_of(machine, register)?.cell_mut(words[index as usize])
            }
            Cell::Direct(table) => machine.direct_cell(table, job),
        }
    }
}

fn register_of(machine: &mut Machine, register: u32) -> Option<&mut Register> {
    match machine.object_mut(register)? {
        Object::Register(register) => Some(register),
        _ => None,
    }
}

/// Executes a step.
pub fn step(step: &Step, at: CallSite<'_>) {
    let CallSite {
        words,
        job,
        machine,
        ..
    } = at;
    match *step {
        Step::Find {
            register,
            access,
            index,
            found,
        } => {
            let cell = register_of(machine, register).and_then(|r| r.access(access));
            words[found as usize] = cell.is_some().into();
            words[index as usize] = cell.unwrap_or_default();
        }
        Step::Load {
            cell,
            words: (to, count),
            found,
        } => {
            let place = to as usize..(to + count) as usize;
            let cell = cell
                .words(machine, job, words)
                .filter(|cell| cell.len() == place.len());
            words[found as usize] = cell.is_some().into();
            match cell {
                Some(cell) => words[place].copy_from_slice(cell),
                None => words[place].fill(0),
            }
        }
        Step::Store {
            cell,
            words: (from, count),
        } => {
            let place = from as usize..(from + count) as usize;
            if let Some(cell) = cell.words(machine, job, words)
                && cell.len() == place.len()
            {
                cell.copy_from_slice(&words[place]);
            }
        }
        Step::Fill {
            register,
            words: (from, count),
        } => {
            let place = from as usize..(from + count) as usize;
            if let Some(register) = register_of(machine, register)
                && register.limbs == place.len()
            {
                register.fill(&words[place]);
            }
        }
        Step::Predicate { comparisons, to } => {
            let bit = |(number, &slot): (u32, &Slot)| match slot {
                NONE => 0,
                slot => (words[slot as usize] & 1) << number,
            };
            let number: u64 = (0..).zip(&comparisons).map(bit).sum();
            words[to as usize] = 1 << number;
        }
    }
}

/// `Register.read(index)`, `DirectRegister.read()` or `RegisterParam.read()`.
pub fn read(c: &mut Lowering<'_>, call: &ExternCall, index: Option<&Arg>) -> Option<()> {
    let words = cell_words(c, call.object?)?;
    let value = setting(c, words);
    let found = c.setting();
    let cell = cell(c, call.object?, index)?;
    own(
        c,
        Step::Load {
            cell,
            words: (value, words),
            found,
        },
    );
    give(c, call, value, words)
}

/// `Register.write(index, value)` or `DirectRegister.write(value)`.
pub fn write(
    c: &mut Lowering<'_>,
    call: &ExternCall,
    index: Option<&Arg>,
    value: &Arg,
) -> Option<()> {
    let words = cell_words(c, call.object?)?;
    let cell = cell(c, call.object?, index)?;
    let from = take(c, value, words)?;
    own(
        c,
        Step::Store {
            cell,
            words: (from, words),
        },
    );
    Some(())
}

/// `Register.clear(value, busy)`. All cells are cleared at once, so that none is ever busy.
pub fn clear(c: &mut Lowering<'_>, call: &ExternCall, value: &Arg) -> Option<()> {
    let ExternId(register) = call.object?;
    let words = cell_words(c, call.object?)?;
    let from = take(c, value, words)?;
    own(
        c,
        Step::Fill {
            register,
            words: (from, words),
        },
    );
    Some(())
}

/// `execute(index, …)` of a register action. If the index is out of range, nothing runs, and the results are 0.
pub fn execute(c: &mut Lowering<'_>, call: &ExternCall, index: Option<&Arg>) -> Option<()> {
    let (register, apply) = action(c, call, "apply")?;
    let cell = cell(c, register, index)?;
    run(c, call, &apply, cell, usize::from(index.is_some()))
}

/// An access to a register that is a log, a queue or a stack. If it is full or empty, `otherwise` runs with a value of
/// zero, if the action implements it.
pub fn access(
    c: &mut Lowering<'_>,
    call: &ExternCall,
    access: Access,
    otherwise: &str,
) -> Option<()> {
    let (register, apply) = action(c, call, "apply")?;
    let (index, found) = (c.setting(), c.setting());
    let ExternId(number) = register;
    own(
        c,
        Step::Find {
            register: number,
            access,
            index,
            found,
        },
    );
    let missing = c.setting();
    let one = c.number(1);
    c.set_word((missing, NONE), one);
    let zero = c.number(0);
    let mut done = Some(());
    c.if_set(found, |c| {
        c.set_word((missing, NONE), zero);
        done = run(c, call, &apply, Cell::Of(number, index), 0);
    });
    done?;
    let otherwise = method(c.program(), call.object?, otherwise).cloned();
    c.if_set(missing, |c| match &otherwise {
        Some(method) => {
            clear_params(c, method, 0);
            c.call(method.body);
            done = results(c, call, method, 0);
        }
        None => done = nothing(c, call, &apply, 0),
    });
    done
}

/// `predicate(…)`, called in `apply`.
pub fn predicate(c: &mut Lowering<'_>, call: &ExternCall) -> Option<()> {
    let mut comparisons = [NONE; 4];
    for (slot, arg) in comparisons.iter_mut().zip(&call.args) {
        if let Arg::In(_) = arg {
            *slot = c.input(arg)?;
        }
    }
    let to = c.setting();
    own(c, Step::Predicate { comparisons, to });
    give(c, call, to, 1)
}

/// Runs `apply` on a cell. The results are stored in the call's result, and in its arguments from `first` on.
fn run(
    c: &mut Lowering<'_>,
    call: &ExternCall,
    apply: &AbstractMethod,
    cell: Cell,
    first: usize,
) -> Option<()> {
    let words = words_of_param(c, apply.params.first()?);
    let found = c.setting();
    own(c, Step::Load { cell, words, found });
    clear_params(c, apply, 1);
    c.if_set(found, |c| {
        c.call(apply.body);
        own(c, Step::Store { cell, words });
    });
    results(c, call, apply, first)
}

/// Sets a method's parameters from index `from` on to 0.
fn clear_params(c: &mut Lowering<'_>, method: &AbstractMethod, from: usize) {
    for param in method.params.iter().skip(from) {
        let (at, words) = words_of_param(c, param);
        c.clear_words(at, words);
    }
}

/// Passes a method's results on: the second parameter is the call's result, and further parameters are stored in
/// arguments.
fn results(
    c: &mut Lowering<'_>,
    call: &ExternCall,
    method: &AbstractMethod,
    first: usize,
) -> Option<()> {
    let outs = method.params.get(1..).unwrap_or_default();
    let Some(result) = outs.first() else {
        return nothing(c, call, method, first);
    };
    let (from, words) = words_of_param(c, result);
    give(c, call, from, words)?;
    for (arg, out) in call.args.iter().skip(first).zip(&outs[1..]) {
        let (from, words) = words_of_param(c, out);
        put(c, arg, from, words)?;
    }
    Some(())
}

/// Sets the results to 0.
fn nothing(
    c: &mut Lowering<'_>,
    call: &ExternCall,
    method: &AbstractMethod,
    first: usize,
) -> Option<()> {
    let outs = method.params.get(1..).unwrap_or_default();
    let words =
        |c: &Lowering<'_>, number: usize| outs.get(number).map_or(1, |out| words_of(c, &out.ty));
    let zeros = (0..outs.len().max(1))
        .map(|number| words(c, number))
        .max()?;
    let zero = setting(c, zeros);
    let count = words(c, 0);
    give(c, call, zero, count)?;
    for (number, arg) in call.args.iter().skip(first).enumerate() {
        if let Some(count) = (number + 1 < outs.len()).then(|| words(c, number + 1)) {
            put(c, arg, zero, count)?;
        }
    }
    Some(())
}

/// The register of a register action, and the method of this name that implements the action.
fn action(
    c: &mut Lowering<'_>,
    call: &ExternCall,
    name: &str,
) -> Option<(ExternId, AbstractMethod)> {
    let program = c.program();
    let object = call.object?;
    let register = match program[object].args.first() {
        Some(CtorArg::Object(register)) => *register,
        _ => return None,
    };
    let method = method(program, object, name)?.clone();
    let value = words_of(c, &method.params.first()?.ty);
    if cell_words(c, register) != Some(value) {
        c.error(format!(
            "`{}` is on `{}`, whose cells are of another type",
            program[object].name, program[register].name
        ));
    }
    Some((register, method))
}

fn method<'p>(program: &'p Program, object: ExternId, name: &str) -> Option<&'p AbstractMethod> {
    let mut methods = program.methods.iter();
    methods.find(|method| method.object == object && method.name == name)
}

/// Words per cell of a register.
fn cell_words(c: &Lowering<'_>, register: ExternId) -> Option<u32> {
    let ty = c.program()[register].type_args.first()?;
    Some(words_of(c, ty).max(1))
}

fn cell(c: &mut Lowering<'_>, register: ExternId, index: Option<&Arg>) -> Option<Cell> {
    let ExternId(number) = register;
    let index = match (index, c.program()[register].table) {
        (Some(index), _) => c.input(index)?,
        (None, Some(table)) => return Some(Cell::Direct(table)),
        (None, None) => c.number(0),
    };
    // The index is read again after the action, which may overwrite the word in between.
    let kept = c.setting();
    c.set_word((kept, NONE), index);
    Some(Cell::Of(number, kept))
}
