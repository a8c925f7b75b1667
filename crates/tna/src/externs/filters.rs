//! Low-pass filters, and random early drops, which a control plane configures. Without configuration, a filter returns
//! its input, and nothing is dropped.

use super::{Lowering, give, own};
use p4_ir::{Arg, CtorArg, ExternCall, ExternId};
use p4_vm::{CallSite, FilterAt, Slot};

/// A call of `execute`.
#[derive(Debug)]
pub struct Step {
    at: At,
    sample: Slot,
    /// For random early drops: the results for a drop and for no drop.
    results: Option<[u64; 2]>,
    to: Slot,
}

#[derive(Clone, Copy, Debug)]
enum At {
    Cell(u32, Slot),
    Direct(p4_ir::TableId),
}

/// Applies a filter to a sample.
pub fn step(step: &Step, at: CallSite<'_>) {
    let CallSite {
        words,
        job,
        machine,
        ..
    } = at;
    let sample = words[step.sample as usize];
    let at = match step.at {
        At::Cell(object, index) => FilterAt::Cell(object, words[index as usize]),
        At::Direct(table) => FilterAt::Direct(table),
    };
    let filter = machine.filter(at, job);
    words[step.to as usize] = match (filter, step.results) {
        (Some((filter, _)), None) => filter.pass(job.now, sample),
        (None, None) => sample,
        (Some((filter, draw)), Some([drop, keep])) => {
            if filter.drops(job.now, sample, draw) {
                drop
            } else {
                keep
            }
        }
        (None, Some([_, keep])) => keep,
    };
}

/// `execute(val, index)` of a filter, `execute(val)` of a direct one.
pub fn execute(
    c: &mut Lowering<'_>,
    call: &ExternCall,
    sample: &Arg,
    index: Option<&Arg>,
) -> Option<()> {
    let object = &c.program()[call.object?];
    let ExternId(number) = call.object?;
    let results = match object.type_name.as_str() {
        "Wred" => Some(object.args.get(1..3)?),
        "DirectWred" => Some(object.args.get(0..2)?),
        _ => None,
    };
    let number_of = |arg: &CtorArg| match arg {
        CtorArg::Int(value) => u64::try_from(value).ok(),
        _ => None,
    };
    let results = match results {
        Some([drop, keep]) => Some([number_of(drop)?, number_of(keep)?]),
        _ => None,
    };
    let sample = c.input(sample)?;
    let at = match (index, object.table) {
        (Some(index), _) => At::Cell(number, c.input(index)?),
        (None, Some(table)) => At::Direct(table),
        (None, None) => {
            c.error(format!(
                "`{}` belongs to no table; set it in the table's properties",
                object.name
            ));
            return Some(());
        }
    };
    let to = c.setting();
    own(
        c,
        Step {
            at,
            sample,
            results,
            to,
        },
    );
    give(c, call, to, 1)
}
