//! Counters and meters. They are updated where an action calls them.

use super::{Lowering, give, own};
use p4_ir::{Arg, CtorArg, ExternCall, ExternId, TableId};
use p4_vm::{CallSite, NONE, Slot};

/// A step of a call.
#[derive(Debug)]
pub enum Step {
    /// Counts the packet, minus the octets in `less`.
    Count { cell: Cell, less: Slot },
    /// Measures the packet, minus the octets in `less`.
    Measure {
        cell: Cell,
        less: Slot,
        before: Slot,
        colours: [u8; 3],
        to: Slot,
    },
}

/// Selects a cell.
#[derive(Clone, Copy, Debug)]
pub enum Cell {
    /// A cell of an object; the slot holds its number.
    Of(u32, Slot),
    /// The direct cell of the entry of a table that was hit last.
    Direct(TableId),
}

/// `MeterColor_t`: the default results of a meter for green, yellow and red.
const COLOURS: [u8; 3] = [0, 1, 3];

/// Executes a step.
pub fn step(step: &Step, at: CallSite<'_>) {
    let CallSite {
        words,
        job,
        machine,
        ..
    } = at;
    let octets = |less: Slot| match less {
        NONE => job.length,
        // The result is cut to 32 bits, so that a negative number adds.
        less => job.length.wrapping_sub(words[less as usize] as u32),
    };
    match *step {
        Step::Count {
            cell: Cell::Of(object, index),
            less,
        } => {
            machine.count(object, words[index as usize], octets(less));
        }
        Step::Count {
            cell: Cell::Direct(table),
            less,
        } => {
            machine.count_direct(table, job, octets(less));
        }
        Step::Measure {
            cell,
            less,
            before,
            colours,
            to,
        } => {
            let octets = octets(less);
            let before = match before {
                NONE => 0,
                // 2 also means red.
                before => words[before as usize].min(2),
            };
            let colour = match cell {
                Cell::Of(object, index) => {
                    machine.measure(object, words[index as usize], job, octets, before)
                }
                Cell::Direct(table) => machine.measure_direct(table, job, octets, before),
            };
            words[to as usize] = colours[colour.min(2) as usize].into();
        }
    }
}

/// `Counter.count(index, adjust_byte_count)` or `DirectCounter.count(adjust_byte_count)`.
pub fn count(
    c: &mut Lowering<'_>,
    call: &ExternCall,
    index: Option<&Arg>,
    less: &Arg,
) -> Option<()> {
    let cell = cell(c, call.object?, index)?;
    let less = optional(c, less)?;
    own(c, Step::Count { cell, less });
    Some(())
}

/// `execute` of a meter.
pub fn measure(
    c: &mut Lowering<'_>,
    call: &ExternCall,
    index: Option<&Arg>,
    before: &Arg,
    less: &Arg,
) -> Option<()> {
    let object = call.object?;
    let args = &c.program()[object].args;
    // (size, type, red, yellow, green), a direct meter without the size.
    let from = if index.is_some() { 2 } else { 1 };
    let colours = match args.get(from..from + 3) {
        Some([red, yellow, green]) => match [green, yellow, red].map(octet) {
            [Some(green), Some(yellow), Some(red)] => [green, yellow, red],
            _ => COLOURS,
        },
        _ => COLOURS,
    };
    let cell = cell(c, object, index)?;
    let before = optional(c, before)?;
    let less = optional(c, less)?;
    let to = c.setting();
    own(
        c,
        Step::Measure {
            cell,
            less,
            before,
            colours,
            to,
        },
    );
    give(c, call, to, 1)
}

fn octet(arg: &CtorArg) -> Option<u8> {
    match arg {
        CtorArg::Int(value) => value.try_into().ok(),
        _ => None,
    }
}

/// An argument that may be omitted.
fn optional(c: &mut Lowering<'_>, arg: &Arg) -> Option<Slot> {
    match arg {
        Arg::None => Some(NONE),
        arg => c.input(arg),
    }
}

fn cell(c: &mut Lowering<'_>, object: ExternId, index: Option<&Arg>) -> Option<Cell> {
    let ExternId(number) = object;
    match index {
        Some(index) => Some(Cell::Of(number, c.input(index)?)),
        None => match c.program()[object].table {
            Some(table) => Some(Cell::Direct(table)),
            None => {
                let name = &c.program()[object].name;
                c.error(format!(
                    "`{name}` belongs to no table; set it in the table's properties"
                ));
                Some(Cell::Of(number, NONE))
            }
        },
    }
}
