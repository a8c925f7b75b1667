//! The linker: resolves labels to addresses, and removes redundant instructions.

use crate::code::*;
use std::collections::HashSet;

/// Links code whose targets, and the entry points of blocks, are labels. `labels` holds the address of each label;
/// `zero` is the slot of a constant 0.
///
/// Jumps to jumps are redirected to the final target. Jumps to the next instruction, and jumps over a jump, are
/// removed. Consecutive stores of zero are merged into one instruction, as are consecutive copies of words and
/// consecutive emissions of headers.
pub fn link<'a>(
    code: &mut Code,
    entries: impl Iterator<Item = &'a mut Target>,
    labels: &[Target],
    zero: Slot,
) {
    // A tracer is notified when a parser state is entered, so jumps to it are kept.
    let states: HashSet<Target> = code.states.iter().map(|s| labels[s.0 as usize]).collect();
    let mut labels = labels.to_vec();
    for i in 0..labels.len() {
        labels[i] = thread(code, &labels, &states, labels[i]);
    }
    let targets: HashSet<Target> = labels.iter().copied().collect();
    let mut keep = vec![true; code.ops.len()];
    merge_zeros(code, &targets, zero, &mut keep);
    merge_moves(code, &targets, &mut keep);
    code.emitted = emitted(code);
    merge_emits(code, &targets, &mut keep);
    for i in 0..code.ops.len() {
        if let Op::Jmp { to } = code.ops[i] {
            keep[i] &= labels[to as usize] as usize != i + 1;
        } else if let Some(&Op::Jmp { to }) = code.ops.get(i + 1)
            && let Some(over) = target(&mut code.ops[i])
            && labels[*over as usize] as usize == i + 2
            && !targets.contains(&(i as Target + 1))
            && let Some(inverted) = invert(code.ops[i], to)
        {
            code.ops[i] = inverted;
            keep[i + 1] = false;
        }
    }
    let mut moved = Vec::with_capacity(keep.len() + 1);
    let mut count = 0;
    for &kept in &keep {
        moved.push(count);
        count += Target::from(kept);
    }
    moved.push(count);
    let mut kept = keep.iter();
    code.ops.retain(|_| *kept.next().unwrap_or(&true));
    let mut kept = keep.iter();
    code.locs.retain(|_| *kept.next().unwrap_or(&true));
    let place = |label: Target| moved[labels[label as usize] as usize];
    resolve(code, place);
    entries.for_each(|entry| *entry = place(*entry));
    hoist_moves(code, zero);
}

/// The final target of a jump to `at`.
fn thread(code: &Code, labels: &[Target], states: &HashSet<Target>, at: Target) -> Target {
    let mut at = at;
    // Bounded, because jumps may form a cycle.
    for _ in 0..code.ops.len() {
        match code.ops.get(at as usize) {
            Some(Op::Jmp { to }) if !states.contains(&at) => at = labels[*to as usize],
            _ => break,
        }
    }
    at
}

fn merge_zeros(code: &mut Code, targets: &HashSet<Target>, zero: Slot, keep: &mut [bool]) {
    let is_zero = |op: &Op| match *op {
        Op::Mov { d, a } if a == zero => Some(d),
        _ => None,
    };
    for (start, list) in runs(code, targets, keep, is_zero) {
        keep[start + 1..start + list.len()].fill(false);
        code.clears.push(list);
        let list = code.clears.len() as u32 - 1;
        code.ops[start] = Op::Clear { list };
    }
}

fn merge_moves(code: &mut Code, targets: &HashSet<Target>, keep: &mut [bool]) {
    let is_move = |op: &Op| match *op {
        Op::Mov { d, a } => Some((d, a)),
        _ => None,
    };
    for (start, list) in runs(code, targets, keep, is_move) {
        keep[start + 1..start + list.len()].fill(false);
        code.moves.push(list);
        let list = code.moves.len() as u32 - 1;
        code.ops[start] = Op::Moves { list };
    }
}

fn merge_emits(code: &mut Code, targets: &HashSet<Target>, keep: &mut [bool]) {
    let is_emit = |op: &Op| match *op {
        Op::Emit { base, off, header } if off == NONE => Some((base, header)),
        _ => None,
    };
    for (start, list) in runs(code, targets, keep, is_emit) {
        keep[start + 1..start + list.len()].fill(false);
        code.emits.push(list);
        let list = code.emits.len() as u32 - 1;
        code.ops[start] = Op::EmitAll { list };
    }
}

/// Octets of all headers that are emitted, in groups of eight octets.
fn emitted(code: &Code) -> usize {
    let octets = |op: &Op| match *op {
        Op::Emit { header, .. } => code.headers[header as usize].eights(),
        _ => 0,
    };
    code.ops.iter().map(octets).sum()
}

/// Runs of two or more consecutive instructions of one kind that are kept and are not jumped into. Returns where each
/// begins, and the results of `kind` for its instructions.
fn runs<T>(
    code: &Code,
    targets: &HashSet<Target>,
    keep: &[bool],
    kind: impl Fn(&Op) -> Option<T>,
) -> Vec<(usize, Vec<T>)> {
    let mut found = Vec::new();
    let mut i = 0;
    while i < code.ops.len() {
        let start = i;
        let mut run = Vec::new();
        while let Some(one) = code.ops.get(i).filter(|_| keep[i]).and_then(&kind)
            && (i == start || !targets.contains(&(i as Target)))
        {
            run.push(one);
            i += 1;
        }
        if run.len() > 1 {
            found.push((start, run));
        }
        i = i.max(start + 1);
    }
    found
}

/// Moves the copies at the start of actions out of their bodies. Many bodies become empty.
fn hoist_moves(code: &mut Code, zero: Slot) {
    for action in code.tables.iter_mut().flat_map(|table| &mut table.actions) {
        loop {
            match code.ops.get(action.entry as usize) {
                Some(&Op::Mov { d, a }) => action.moves.push((d, a)),
                Some(&Op::Moves { list }) => action.moves.extend(&code.moves[list as usize]),
                Some(&Op::Clear { list }) => {
                    let zeros = code.clears[list as usize].iter().map(|&d| (d, zero));
                    action.moves.extend(zeros);
                }
                _ => break,
            }
            action.entry += 1;
        }
        action.done = matches!(code.ops.get(action.entry as usize), Some(Op::Ret));
        if action.done {
            forward_data(action);
        }
    }
}

/// Writes the data of an action that only copies directly to the destinations of the copies. The action's parameters
/// are not read elsewhere.
fn forward_data(action: &mut ActionCode) {
    for i in 0..action.data.len() {
        let param = action.data[i];
        let mut uses = (0..).zip(&action.moves).filter(|(_, m)| m.1 == param);
        let (Some((at, &(to, _))), None) = (uses.next(), uses.next()) else {
            continue;
        };
        // The data is stored before all copies, so no other copy may read or write the destination.
        let alone = (0..)
            .zip(&action.moves)
            .all(|(other, &(d, a))| other == at || (d != to && a != to && d != param));
        if alone && !action.data.contains(&to) {
            action.data[i] = to;
            action.moves.remove(at);
        }
    }
}

/// The target of a conditional jump or a call.
fn target(op: &mut Op) -> Option<&mut Target> {
    match op {
        Op::Jmp { to }
        | Op::JmpZ { to, .. }
        | Op::JmpNz { to, .. }
        | Op::JmpEq { to, .. }
        | Op::JmpNe { to, .. }
        | Op::JmpLt { to, .. }
        | Op::JmpLe { to, .. }
        | Op::Call { to }
        | Op::Step { to }
        | Op::Round { to, .. }
        | Op::InSet { to, .. } => Some(to),
        _ => None,
    }
}

/// The inverse of the conditional jump `op`: jumps to `to` if `op` does not jump.
fn invert(op: Op, to: Target) -> Option<Op> {
    Some(match op {
        Op::JmpZ { a, .. } => Op::JmpNz { a, to },
        Op::JmpNz { a, .. } => Op::JmpZ { a, to },
        Op::JmpEq { a, b, .. } => Op::JmpNe { a, b, to },
        Op::JmpNe { a, b, .. } => Op::JmpEq { a, b, to },
        Op::JmpLt { a, b, .. } => Op::JmpLe { a: b, b: a, to },
        Op::JmpLe { a, b, .. } => Op::JmpLt { a: b, b: a, to },
        _ => return None,
    })
}

/// Replaces all labels with addresses.
fn resolve(code: &mut Code, place: impl Fn(Target) -> Target) {
    let fix = |to: &mut Target| *to = place(*to);
    code.ops.iter_mut().filter_map(target).for_each(fix);
    for jump in &mut code.jumps {
        match jump {
            JumpTable::Dense {
                targets, default, ..
            } => {
                targets.iter_mut().for_each(fix);
                fix(default);
            }
            JumpTable::Sparse { cases, default } => {
                cases.iter_mut().for_each(|(_, to)| fix(to));
                fix(default);
            }
        }
    }
    for table in &mut code.tables {
        table.actions.iter_mut().for_each(|a| fix(&mut a.entry));
    }
    code.states.iter_mut().for_each(|(at, ..)| fix(at));
}
