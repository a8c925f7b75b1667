//! The instruction loop.

use super::apply::apply;
use super::{Job, Machine, external, packet};
use crate::cells;
use crate::code::*;
use crate::compile::Compiled;
use crate::object::Object;
use crate::trace::TraceEvent;
use crate::wide;
use crate::{Architecture, DropCause, Event, Reported, Stage};

/// Runs code from `start` to its end.
///
/// Parts of `code` that only few instructions need are looked up in separate functions, through [`opaque`]. If the
/// parser rejects the packet, `job.error` holds the reason.
pub fn run<A: Architecture>(
    compiled: &Compiled<A>,
    architecture: &mut A,
    machine: &mut Machine,
    words: &mut [u64],
    job: &mut Job,
    start: Target,
) {
    if machine.tracer.is_some() {
        execute::<A, true, false>(compiled, architecture, machine, words, job, start);
        return;
    }
    if let Some(Op::Halt) = compiled.code.ops.get(start as usize) {
        return;
    }
    #[cfg(feature = "native")]
    if super::native::run(compiled, architecture, machine, words, job, start) {
        return;
    }
    if run_one(compiled, architecture, machine, words, job, start) {
        return;
    }
    execute::<A, false, false>(compiled, architecture, machine, words, job, start);
}

/// Whether the first sequence, if it is run next, clears the variables itself.
#[inline]
pub fn clears_variables<A: Architecture>(compiled: &Compiled<A>, machine: &Machine) -> bool {
    #[cfg(feature = "native")]
    let clears = machine.tracer.is_none()
        && !machine.interpreted
        && compiled.native.is_some()
        && compiled.clears();
    #[cfg(not(feature = "native"))]
    let clears = {
        let _ = (compiled, machine);
        false
    };
    clears
}

/// Runs the blocks of a sequence. Returns whether it ran to its end.
#[inline(always)]
pub fn run_all<A: Architecture>(
    compiled: &Compiled<A>,
    architecture: &mut A,
    machine: &mut Machine,
    words: &mut [u64],
    job: &mut Job,
    number: usize,
) -> bool {
    #[cfg(feature = "native")]
    if machine.tracer.is_none()
        && let Some(whole) =
            super::native::run_all(compiled, architecture, machine, words, job, number)
    {
        return whole;
    }
    run_each(compiled, architecture, machine, words, job, number)
}

/// Like [`run_all`], block by block in the interpreter.
#[inline(never)]
fn run_each<A: Architecture>(
    compiled: &Compiled<A>,
    architecture: &mut A,
    machine: &mut Machine,
    words: &mut [u64],
    job: &mut Job,
    number: usize,
) -> bool {
    let mut stages = compiled.sequences[number].stages.iter();
    stages.all(|stage| {
        run(compiled, architecture, machine, words, job, stage.block);
        end_stage(stage, words, job)
    })
}

/// Performs the actions behind a block. Returns whether the sequence continues.
fn end_stage(stage: &Stage, words: &mut [u64], job: &Job) -> bool {
    if job.abort.is_some() {
        return false;
    }
    if let Some((reported, to)) = stage.reported {
        let value = match reported {
            Reported::ParserError => job.error,
            Reported::ChecksumError => job.checksum_error.into(),
        };
        to.set(words, value);
    }
    let equal = |(a, b): (Slot, Slot)| words[a as usize] == words[b as usize];
    !stage.last_if_equal.is_some_and(equal)
}

/// Executes the single instruction `at` for compiled code.
#[cfg(feature = "native")]
pub fn step<A: Architecture>(
    compiled: &Compiled<A>,
    architecture: &mut A,
    machine: &mut Machine,
    words: &mut [u64],
    job: &mut Job,
    at: Target,
) -> Next {
    execute::<A, false, true>(compiled, architecture, machine, words, job, at)
}

/// Returns the code through an optimisation barrier. Otherwise the compiler would load everything that functions called
/// in the loop need of it before the loop, which takes longer than most runs of the loop.
#[inline(always)]
pub fn opaque(code: &Code) -> &Code {
    std::hint::black_box(code)
}

/// Runs code that consists of a single call, as most checksum controls and deparsers do, without the loop. Returns
/// whether it did.
#[inline]
fn run_one<A: Architecture>(
    compiled: &Compiled<A>,
    architecture: &mut A,
    machine: &mut Machine,
    words: &mut [u64],
    job: &mut Job,
    start: Target,
) -> bool {
    let code = &compiled.code;
    match code.ops.get(start as usize..) {
        Some(&[Op::Extern { call }, Op::Halt, ..]) => {
            external::call(compiled, architecture, machine, words, job, call);
        }
        Some(&[Op::EmitAll { list }, Op::Halt, ..]) => emit_all(code, machine, words, list),
        _ => return false,
    }
    true
}

/// The first word of a place, or `None` if its index is out of range.
#[inline(always)]
fn address(words: &[u64], base: Slot, off: Slot) -> Option<usize> {
    if off == NONE {
        return Some(base as usize);
    }
    match words[off as usize] {
        OUT_OF_RANGE => None,
        off => Some(base as usize + off as usize),
    }
}

/// Runs code to its end or, if `ONE`, the instruction at `start`, which is not a jump (except `InSet` and `Round`), a
/// call or a table application. Returns what follows it.
fn execute<A: Architecture, const TRACED: bool, const ONE: bool>(
    compiled: &Compiled<A>,
    architecture: &mut A,
    machine: &mut Machine,
    words: &mut [u64],
    job: &mut Job,
    start: Target,
) -> Next {
    let code = &compiled.code;
    let ops = &code.ops[..];
    // The instructions that follow. An iterator rather than an index: fetching also advances.
    let mut rest = ops[start as usize..].iter();
    // By reference, so that each instruction loads only what it needs.
    let Some(mut op) = rest.next() else {
        return Next::End;
    };
    let mut steps = machine.limits.max_steps;
    machine.stack.clear();
    macro_rules! x {
        ($slot:expr) => {
            words[$slot as usize]
        };
    }
    // The instruction at the target is fetched at a separate place in the code, so that the jump becomes a branch,
    // which the processor predicts. With a conditional move, each fetch would wait for the operands of the preceding
    // jump.
    macro_rules! go {
        ($to:expr) => {{
            if ONE {
                return Next::Jump;
            }
            rest = ops[$to as usize..].iter();
            op = match rest.next() {
                Some(next) => next,
                None => return Next::End,
            };
            continue;
        }};
    }
    macro_rules! jump {
        ($when:expr, $to:expr) => {
            if $when {
                go!($to);
            }
        };
    }
    // The index of the next instruction.
    macro_rules! next {
        () => {
            ops.len() - rest.len()
        };
    }
    macro_rules! reject {
        ($error:expr) => {{
            job.rejected = true;
            job.error = $error;
            if TRACED {
                trace_reject(code, machine, job, next!() - 1);
            }
            return Next::End;
        }};
    }
    loop {
        if TRACED {
            trace_state(code, machine, job, next!() - 1);
        }
        match *op {
            Op::Mov { d, a } => x!(d) = x!(a),
            Op::Add { d, a, b, sh } => x!(d) = x!(a).wrapping_add(x!(b)) << sh >> sh,
            Op::Sub { d, a, b, sh } => x!(d) = x!(a).wrapping_sub(x!(b)) << sh >> sh,
            Op::Mul { d, a, b, sh } => x!(d) = x!(a).wrapping_mul(x!(b)) << sh >> sh,
            Op::Div { d, a, b } => x!(d) = x!(a).checked_div(x!(b)).unwrap_or(0),
            Op::Mod { d, a, b } => x!(d) = x!(a).checked_rem(x!(b)).unwrap_or(0),
            Op::SatAdd {
                d,
                a,
                b,
                sh,
                signed,
            } => {
                x!(d) = saturate(x!(a), x!(b), sh, signed, |a, b| a + b);
            }
            Op::SatSub {
                d,
                a,
                b,
                sh,
                signed,
            } => {
                x!(d) = saturate(x!(a), x!(b), sh, signed, |a, b| a - b);
            }
            Op::And { d, a, b } => x!(d) = x!(a) & x!(b),
            Op::Or { d, a, b } => x!(d) = x!(a) | x!(b),
            Op::Xor { d, a, b } => x!(d) = x!(a) ^ x!(b),
            Op::Not { d, a, sh } => x!(d) = !x!(a) << sh >> sh,
            Op::Neg { d, a, sh } => x!(d) = x!(a).wrapping_neg() << sh >> sh,
            Op::Shl { d, a, b, sh } => {
                x!(d) = if x!(b) > 63 {
                    0
                } else {
                    x!(a) << x!(b) << sh >> sh
                };
            }
            Op::Shr { d, a, b } => x!(d) = if x!(b) > 63 { 0 } else { x!(a) >> x!(b) },
            Op::Sar { d, a, b, sh } => {
                let value = (x!(a) << sh) as i64 >> sh;
                x!(d) = ((value >> x!(b).min(63)) as u64) << sh >> sh;
            }
            Op::Eq { d, a, b } => x!(d) = (x!(a) == x!(b)) as u64,
            Op::Ne { d, a, b } => x!(d) = (x!(a) != x!(b)) as u64,
            Op::Lt { d, a, b } => x!(d) = (x!(a) < x!(b)) as u64,
            Op::Le { d, a, b } => x!(d) = (x!(a) <= x!(b)) as u64,
            Op::LtS { d, a, b, sh } => {
                x!(d) = (((x!(a) << sh) as i64) < (x!(b) << sh) as i64) as u64;
            }
            Op::LeS { d, a, b, sh } => {
                x!(d) = ((x!(a) << sh) as i64 <= (x!(b) << sh) as i64) as u64;
            }
            Op::Slice { d, a, lo, sh } => x!(d) = x!(a) >> lo << sh >> sh,
            Op::Slice2 { d, a, lo, sh } => {
                x!(d) = (x!(a) >> lo | x!(a + 1) << (64 - lo)) << sh >> sh;
            }
            Op::Insert { d, a, lo, sh } => {
                let mask = u64::MAX >> sh << lo;
                x!(d) = x!(d) & !mask | x!(a) << lo;
            }
            Op::Sext { d, a, from, sh } => {
                x!(d) = (((x!(a) << from) as i64 >> from) as u64) << sh >> sh;
            }
            Op::Concat { d, a, b, by } => x!(d) = x!(a) << by | x!(b),
            Op::CMov { d, c, a } => {
                if x!(c) != 0 {
                    x!(d) = x!(a);
                }
            }

            Op::MovW { d, a, n } => copy(words, a as usize, d as usize, n as usize),
            Op::ZeroW { d, n } => words[d as usize..(d + n) as usize].fill(0),
            Op::Clear { list } => {
                clear(code, words, list);
            }
            Op::Moves { list } => {
                moves(code, words, list);
            }
            Op::AddW { d, a, b, w } => {
                wide::add(words, d as usize, a as usize, b as usize, w as u32);
            }
            Op::SubW { d, a, b, w } => {
                wide::sub(words, d as usize, a as usize, b as usize, w as u32);
            }
            Op::MulW { d, a, b, w } => {
                wide::mul(words, d as usize, a as usize, b as usize, w as u32);
            }
            Op::DivW { d, a, b, w } => {
                wide::div_mod(words, d as usize, a as usize, b as usize, w as u32, true);
            }
            Op::ModW { d, a, b, w } => {
                wide::div_mod(words, d as usize, a as usize, b as usize, w as u32, false);
            }
            Op::SatAddW { d, a, b, w, signed } => {
                wide::sat_add(words, d as usize, a as usize, b as usize, w as u32, signed);
            }
            Op::SatSubW { d, a, b, w, signed } => {
                wide::sat_sub(words, d as usize, a as usize, b as usize, w as u32, signed);
            }
            Op::AndW { d, a, b, w } => limbwise(words, d, a, b, w, |a, b| a & b),
            Op::OrW { d, a, b, w } => limbwise(words, d, a, b, w, |a, b| a | b),
            Op::XorW { d, a, b, w } => limbwise(words, d, a, b, w, |a, b| a ^ b),
            Op::NotW { d, a, w } => wide::not(words, d as usize, a as usize, w as u32),
            Op::NegW { d, a, w } => wide::neg(words, d as usize, a as usize, w as u32),
            Op::ShlW { d, a, b, w } => {
                wide::shl(words, d as usize, a as usize, x!(b), w as u32);
            }
            Op::ShrW { d, a, b, w, signed } => {
                wide::shr(words, d as usize, a as usize, x!(b), w as u32, signed);
            }
            Op::EqW { d, a, b, w } => {
                x!(d) = wide::equal(words, a as usize, b as usize, w as u32) as u64;
            }
            Op::LtW { d, a, b, w, signed } => {
                x!(d) = wide::less(words, a as usize, b as usize, w as u32, signed) as u64;
            }
            Op::SliceW { d, a, lo, w } => {
                wide::slice(words, d as usize, a as usize, lo, w as u32);
            }
            Op::InsertW { d, a, lo, w } => {
                wide::insert(words, d as usize, a as usize, lo, w as u32);
            }
            Op::ResizeW {
                d,
                a,
                from,
                to,
                signed,
            } => {
                wide::resize(
                    words,
                    d as usize,
                    a as usize,
                    from as u32,
                    to as u32,
                    signed,
                );
            }
            Op::CMovW { d, c, a, n } => {
                if x!(c) != 0 {
                    copy(words, a as usize, d as usize, n as usize);
                }
            }
            Op::Clamp { d, a, n } => {
                let fits = words[a as usize + 1..(a + n) as usize]
                    .iter()
                    .all(|&w| w == 0);
                x!(d) = if fits { x!(a) } else { u64::MAX };
            }

            Op::Index { d, a, index, first } => {
                let before = if first { 0 } else { x!(d) };
                x!(d) = element(code, index, before, x!(a));
            }
            Op::LoadX { d, base, off, n } => {
                let (d, n) = (d as usize, n as usize);
                match address(words, base, off) {
                    Some(at) => copy(words, at, d, n),
                    None => words[d..d + n].fill(0),
                }
            }
            Op::StoreX { base, off, a, n } => {
                if let Some(at) = address(words, base, off) {
                    copy(words, a as usize, at, n as usize);
                }
            }
            Op::ZeroX { base, off, n } => {
                if let Some(at) = address(words, base, off) {
                    words[at..at + n as usize].fill(0);
                }
            }
            Op::CopyX { copy } => copy_element(code, words, copy),
            Op::Shift { shift } => shift_stack(code, words, shift),

            Op::Jmp { to } => go!(to),
            Op::JmpZ { a, to } => jump!(x!(a) == 0, to),
            Op::JmpNz { a, to } => jump!(x!(a) != 0, to),
            Op::JmpEq { a, b, to } => jump!(x!(a) == x!(b), to),
            Op::JmpNe { a, b, to } => jump!(x!(a) != x!(b), to),
            Op::JmpLt { a, b, to } => jump!(x!(a) < x!(b), to),
            Op::JmpLe { a, b, to } => jump!(x!(a) <= x!(b), to),
            Op::Jump { a, table } => {
                go!(jump_target(code, table, x!(a)));
            }
            Op::Call { to } => {
                machine.stack.push(next!() as u32);
                go!(to);
            }
            Op::Ret => match machine.stack.pop() {
                Some(back) => go!(back),
                None => return Next::End,
            },
            Op::Halt => return Next::End,
            Op::Step { to } => {
                jump!(steps == 0, to);
                steps -= 1;
            }
            Op::Enter { number } => {
                machine.rounds[number as usize] = machine.limits.max_steps;
            }
            Op::Round { number, to } => {
                if !round(code, machine, job, number, next!() - 1) {
                    if job.abort.is_some() {
                        return Next::End;
                    }
                    go!(to);
                }
            }

            Op::Extract { base, off, header } => {
                let at = address(words, base, off);
                if let Err(error) = packet::extract(code, header, words, at, 0, job) {
                    reject!(error);
                }
            }
            Op::ExtractVar {
                base,
                off,
                bits,
                header,
            } => {
                let at = address(words, base, off);
                let bits = x!(bits);
                let header = header as u32;
                if let Err(error) = packet::extract(code, header, words, at, bits, job) {
                    reject!(error);
                }
            }
            Op::Need { bits } => {
                if job.cursor + bits as usize > job.bits() {
                    reject!(code.errors.packet_too_short);
                }
            }
            Op::Peek { d, at, w } => {
                let (at, d) = (job.cursor + at as usize, d as usize);
                if w <= 64 {
                    words[d] = crate::bits::read(&job.octets, at, w as u32);
                } else {
                    let limbs = wide::limbs(w as u32);
                    let words = &mut words[d..d + limbs];
                    crate::bits::read_wide(&job.octets, at, w as u32, words);
                }
            }
            Op::Advance { a } => {
                let bits = x!(a);
                if bits > (job.bits() - job.cursor) as u64 {
                    reject!(code.errors.packet_too_short);
                }
                job.cursor += bits as usize;
            }
            Op::PacketLength { d } => x!(d) = (job.bits() / 8) as u64 & u32::MAX as u64,
            Op::Refuse => {
                job.rejected = true;
                return Next::End;
            }
            Op::Reject { a } => reject!(x!(a)),
            Op::Emit { base, off, header } => {
                if let Some(at) = address(words, base, off) {
                    packet::emit(code, header, words, at, &mut machine.output);
                }
            }
            Op::EmitAll { list } => {
                emit_all(code, machine, words, list);
            }
            Op::InSet { test, to } => {
                jump!(in_set(code, machine, words, test), to);
            }

            Op::Apply { site } => {
                let next = next!();
                if let Some(body) = apply::<TRACED>(code, machine, words, job, site, next - 1) {
                    machine.stack.push(next as u32);
                    go!(body);
                }
            }
            Op::RegRead {
                d,
                index,
                register,
                n,
            } => {
                if let Object::Register(r) = &mut machine.objects[register as usize] {
                    let index = x!(index);
                    if n == 1 {
                        let at = usize::try_from(index).ok();
                        if let Some(&mut cell) = at.and_then(|at| r.cells.get_mut(at)) {
                            x!(d) = cell;
                        }
                    } else if let Some(cell) = r.cell_mut(index) {
                        words[d as usize..][..n.into()].copy_from_slice(cell);
                    }
                }
            }
            Op::RegWrite {
                index,
                a,
                register,
                n,
            } => {
                if let Object::Register(r) = &mut machine.objects[register as usize] {
                    let index = x!(index);
                    if n == 1 {
                        let at = usize::try_from(index).ok();
                        if let Some(cell) = at.and_then(|at| r.cells.get_mut(at)) {
                            *cell = x!(a);
                        }
                    } else if let Some(cell) = r.cell_mut(index) {
                        cell.copy_from_slice(&words[a as usize..][..n.into()]);
                    }
                }
            }
            Op::Count { counter, index } => {
                if let Object::Counter(c) = &mut machine.objects[counter as usize] {
                    let index = usize::try_from(x!(index)).ok();
                    if let Some(cell) = index.and_then(|index| c.cells.get_mut(index)) {
                        cells::count(cell, c.counted, job.length);
                    }
                }
            }
            Op::Extern { call } => {
                external::call(compiled, architecture, machine, words, job, call);
                if job.abort.is_some() {
                    return Next::End;
                }
            }
        }
        if ONE {
            return Next::Step;
        }
        op = match rest.next() {
            Some(next) => next,
            None => return Next::End,
        };
    }
}

/// Counts an iteration of a loop. `at` is the index of this instruction. Returns `false` if the limit is reached.
#[inline(never)]
fn round(code: &Code, machine: &mut Machine, job: &mut Job, number: u32, at: usize) -> bool {
    let left = &mut machine.rounds[number as usize];
    if *left > 0 && job.rounds > 0 {
        *left -= 1;
        job.rounds -= 1;
        return true;
    }
    let loc = code.locs[at];
    if job.rounds == 0 {
        job.abort = Some(DropCause::TooManyRounds);
    }
    machine.cut_loops += 1;
    let rounds = machine.limits.max_steps - machine.rounds[number as usize];
    trace(machine, job, TraceEvent::LoopCut { rounds, loc });
    if machine.limits.report_logs {
        machine.report(Event::LoopCut {
            at: job.now,
            loc,
            rounds,
            tag: job.tag,
        });
    }
    false
}

#[inline(never)]
fn clear(code: &Code, words: &mut [u64], list: u32) {
    for &slot in &opaque(code).clears[list as usize] {
        words[slot as usize] = 0;
    }
}

#[inline(never)]
fn moves(code: &Code, words: &mut [u64], list: u32) {
    for &(d, a) in &opaque(code).moves[list as usize] {
        words[d as usize] = words[a as usize];
    }
}

/// The target for a value.
#[inline(never)]
fn jump_target(code: &Code, table: u32, value: u64) -> Target {
    match &opaque(code).jumps[table as usize] {
        JumpTable::Dense {
            first,
            targets,
            default,
        } => {
            let at = usize::try_from(value.wrapping_sub(*first)).ok();
            *at.and_then(|at| targets.get(at)).unwrap_or(default)
        }
        JumpTable::Sparse { cases, default } => {
            match cases.binary_search_by_key(&value, |&(case, _)| case) {
                Ok(at) => cases[at].1,
                Err(_) => *default,
            }
        }
    }
}

/// Copies words. The ranges are equal or do not overlap. A few words are copied inline, because a call of `memmove`
/// takes longer.
#[inline]
fn copy(words: &mut [u64], from: usize, to: usize, n: usize) {
    if n > 16 {
        return words.copy_within(from..from + n, to);
    }
    for i in 0..n {
        words[to + i] = words[from + i];
    }
}

/// `|+|` and `|-|` on one word.
#[inline(never)]
fn saturate(a: u64, b: u64, sh: u8, signed: bool, op: impl Fn(i128, i128) -> i128) -> u64 {
    let mask = u64::MAX >> sh;
    if !signed {
        return op(a as i128, b as i128).clamp(0, mask as i128) as u64;
    }
    let extend = |v: u64| ((v << sh) as i64 >> sh) as i128;
    let most = (mask >> 1) as i128;
    op(extend(a), extend(b)).clamp(-most - 1, most) as u64 & mask
}

#[inline(never)]
fn limbwise(words: &mut [u64], d: Slot, a: Slot, b: Slot, w: u16, op: impl Fn(u64, u64) -> u64) {
    for i in 0..wide::limbs(w as u32) {
        words[d as usize + i] = op(words[a as usize + i], words[b as usize + i]);
    }
}

/// Offset of an element in an array that has the offset `before`.
#[inline(never)]
fn element(code: &Code, index: u32, before: u64, at: u64) -> u64 {
    let step = opaque(code).indices[index as usize];
    if before == OUT_OF_RANGE || at >= step.len as u64 {
        return OUT_OF_RANGE;
    }
    before + at * step.stride as u64
}

#[inline(never)]
fn copy_element(code: &Code, words: &mut [u64], copy: u32) {
    let copy = opaque(code).copies[copy as usize];
    let n = copy.words as usize;
    let Some(to) = address(words, copy.to.0, copy.to.1) else {
        return;
    };
    match address(words, copy.from.0, copy.from.1) {
        Some(from) => words.copy_within(from..from + n, to),
        None => words[to..to + n].fill(0),
    }
}

#[inline(never)]
fn shift_stack(code: &Code, words: &mut [u64], shift: u32) {
    let shift = &opaque(code).shifts[shift as usize];
    let Some(at) = address(words, shift.at.0, shift.at.1) else {
        return;
    };
    let first = at + 1;
    let end = first + (shift.len * shift.stride) as usize;
    let moved = (shift.count * shift.stride) as usize;
    let count = shift.count as u64;
    if shift.push {
        words.copy_within(first..end - moved, first + moved);
        words[first..first + moved].fill(0);
        words[at] = (words[at] + count).min(shift.len as u64);
    } else {
        words.copy_within(first + moved..end, first);
        words[end - moved..end].fill(0);
        words[at] = words[at].saturating_sub(count);
    }
}

#[inline(never)]
fn emit_all(code: &Code, machine: &mut Machine, words: &[u64], list: u32) {
    let code = opaque(code);
    for &(base, header) in &code.emits[list as usize] {
        if words[base as usize] != 0 {
            packet::emit(code, header, words, base as usize, &mut machine.output);
        }
    }
}

#[inline(never)]
fn in_set(code: &Code, machine: &Machine, words: &[u64], test: u32) -> bool {
    let test = &opaque(code).set_tests[test as usize];
    machine.value_sets[test.set as usize].contains(words, &test.keys)
}

fn trace(machine: &mut Machine, job: &Job, event: TraceEvent<'_>) {
    machine.trace(job.now, job.tag, || event);
}

/// Reports the error with which instruction `at` rejects the packet.
fn trace_reject(code: &Code, machine: &mut Machine, job: &Job, at: usize) {
    let program = machine.program.clone();
    let error = program.errors.get(job.error as usize);
    let error = error.map_or("?", String::as_str);
    let loc = code.locs[at];
    trace(machine, job, TraceEvent::Reject { error, loc });
}

/// Reports a parser state if one begins here.
fn trace_state(code: &Code, machine: &mut Machine, job: &Job, pc: usize) {
    for &(_, parser, state) in code.states.iter().filter(|(at, ..)| *at as usize == pc) {
        let program = machine.program.clone();
        let state = &program.parsers[parser as usize].states[state as usize];
        let (name, loc) = (&state.name[..], state.loc);
        trace(machine, job, TraceEvent::State { name, loc });
    }
}
