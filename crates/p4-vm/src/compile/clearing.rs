//! Which variables a packet's storage must have cleared: those that may be read before they are written.
//!
//! A word is written for certain where each way that leads there writes it. The fields of a header count as written where the
//! header is known to be valid, if all that makes it valid writes them before.

use crate::Sequence;
use crate::code::*;
use crate::wide::limbs;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// The most that is kept of a program, in words of 64 bits. Storage of a larger one is cleared as a whole.
const MOST: usize = 1 << 22;

/// What of a program the analysis needs.
pub struct Subject<'a> {
    pub code: &'a Code,
    /// Blocks in the order in which a packet goes through them.
    pub sequences: &'a [Sequence],
    /// The first word of each variable, in rising order.
    pub variables: &'a [Slot],
    /// Words of each key of each table.
    pub keys: &'a [Vec<u32>],
}

/// Words that a packet may read before they are written; `None`: all that are written at all.
pub fn needed(subject: &Subject<'_>) -> Option<Vec<Slot>> {
    let size = subject.code.ops.len() * subject.code.words.div_ceil(64);
    if size > MOST {
        return None;
    }
    let effects: Option<Vec<_>> = (0..subject.code.ops.len())
        .map(|at| subject.effects(at))
        .collect();
    let effects = effects?;
    let mut headers = subject.headers();
    loop {
        let mut flow = Flow::new(subject, &effects, &headers);
        flow.settle();
        let sound = |(&valid, fields): (&Slot, &Vec<Slot>)| flow.is_sound(valid, fields);
        let before = headers.len();
        let kept: BTreeSet<Slot> = headers
            .iter()
            .filter(|header| sound(*header))
            .map(|(&valid, _)| valid)
            .collect();
        if kept.len() == before {
            return Some(flow.needed());
        }
        headers.retain(|valid, _| kept.contains(valid));
    }
}

/// What an instruction does to variables.
#[derive(Debug, Default)]
struct Effects {
    reads: Vec<Range<Slot>>,
    /// Words that are read if a header is valid: the word of its validity, and the words.
    guarded: Vec<(Slot, Range<Slot>)>,
    writes: Vec<Range<Slot>>,
    /// Words that may be written, or only in part.
    touches: Vec<Range<Slot>>,
    /// What it sets to zero is among `writes`.
    is_zero: bool,
    /// Whether the packet may leave the block here.
    ends: bool,
    /// Whether it makes a header valid and writes all its fields.
    extracts: bool,
}

impl Effects {
    fn read(mut self, slot: Slot, words: usize) -> Self {
        self.reads.push(slot..slot + words as Slot);
        self
    }

    fn write(mut self, slot: Slot, words: usize) -> Self {
        self.writes.push(slot..slot + words as Slot);
        self
    }

    fn touch(mut self, slot: Slot, words: usize) -> Self {
        self.touches.push(slot..slot + words as Slot);
        self
    }

    fn end(mut self) -> Self {
        self.ends = true;
        self
    }
}

impl Subject<'_> {
    /// Headers by the word of their validity, with the words of their fields.
    fn headers(&self) -> BTreeMap<Slot, Vec<Slot>> {
        let mut headers = BTreeMap::new();
        let mut add = |base: Slot, off: Slot, header: u32| {
            if off == NONE {
                headers.insert(base, fields(base, &self.code.headers[header as usize]));
            }
        };
        for op in &self.code.ops {
            match *op {
                Op::Extract { base, off, header } | Op::Emit { base, off, header } => {
                    add(base, off, header);
                }
                Op::ExtractVar {
                    base, off, header, ..
                } => add(base, off, header.into()),
                Op::EmitAll { list } => {
                    for &(base, header) in &self.code.emits[list as usize] {
                        add(base, NONE, header);
                    }
                }
                _ => {}
            }
        }
        headers
    }

    /// The rest of the variable that a word belongs to.
    fn rest(&self, slot: Slot) -> usize {
        let after = self.variables.partition_point(|&first| first <= slot);
        let end = self.variables.get(after).copied();
        (end.unwrap_or(self.code.words as Slot).max(slot + 1) - slot) as usize
    }

    fn is_zero(&self, slot: Slot) -> bool {
        let at = (slot as usize).checked_sub(self.code.constants_at);
        let value = at.and_then(|at| self.code.constants.get(at));
        value == Some(&0) && !self.code.settings.contains(&slot)
    }

    /// What instruction `at` does; `None`: nobody knows.
    fn effects(&self, at: usize) -> Option<Effects> {
        let e = Effects::default();
        Some(match self.code.ops[at] {
            Op::Mov { d, a } => Effects {
                is_zero: self.is_zero(a),
                ..e.read(a, 1).write(d, 1)
            },
            Op::Add { d, a, b, .. }
            | Op::Sub { d, a, b, .. }
            | Op::Mul { d, a, b, .. }
            | Op::Div { d, a, b }
            | Op::Mod { d, a, b }
            | Op::SatAdd { d, a, b, .. }
            | Op::SatSub { d, a, b, .. }
            | Op::And { d, a, b }
            | Op::Or { d, a, b }
            | Op::Xor { d, a, b }
            | Op::Shl { d, a, b, .. }
            | Op::Shr { d, a, b }
            | Op::Sar { d, a, b, .. }
            | Op::Eq { d, a, b }
            | Op::Ne { d, a, b }
            | Op::Lt { d, a, b }
            | Op::Le { d, a, b }
            | Op::LtS { d, a, b, .. }
            | Op::LeS { d, a, b, .. }
            | Op::Concat { d, a, b, .. } => e.read(a, 1).read(b, 1).write(d, 1),
            Op::Not { d, a, .. }
            | Op::Neg { d, a, .. }
            | Op::Slice { d, a, .. }
            | Op::Sext { d, a, .. } => e.read(a, 1).write(d, 1),
            Op::Slice2 { d, a, .. } => e.read(a, 2).write(d, 1),
            Op::Insert { d, a, .. } => e.read(a, 1).read(d, 1).write(d, 1),
            Op::CMov { d, c, a } => e.read(c, 1).read(a, 1).touch(d, 1),
            Op::MovW { d, a, n } => e.read(a, n as usize).write(d, n as usize),
            Op::ZeroW { d, n } => Effects {
                is_zero: true,
                ..e.write(d, n as usize)
            },
            Op::Clear { list } => {
                let list = &self.code.clears[list as usize];
                list.iter()
                    .fold(Effects { is_zero: true, ..e }, |e, &slot| e.write(slot, 1))
            }
            // One after another: what one has written, the next may read.
            Op::Moves { list } => {
                let list = &self.code.moves[list as usize];
                list.iter().fold(e, |e, &(d, a)| {
                    let known = e.writes.iter().any(|words| words.contains(&a));
                    if known { e } else { e.read(a, 1) }.write(d, 1)
                })
            }
            Op::AddW { d, a, b, w }
            | Op::SubW { d, a, b, w }
            | Op::MulW { d, a, b, w }
            | Op::DivW { d, a, b, w }
            | Op::ModW { d, a, b, w }
            | Op::SatAddW { d, a, b, w, .. }
            | Op::SatSubW { d, a, b, w, .. }
            | Op::AndW { d, a, b, w }
            | Op::OrW { d, a, b, w }
            | Op::XorW { d, a, b, w } => {
                let n = limbs(w.into());
                e.read(a, n).read(b, n).write(d, n)
            }
            Op::NotW { d, a, w } | Op::NegW { d, a, w } => {
                let n = limbs(w.into());
                e.read(a, n).write(d, n)
            }
            Op::ShlW { d, a, b, w } | Op::ShrW { d, a, b, w, .. } => {
                let n = limbs(w.into());
                e.read(a, n).read(b, 1).write(d, n)
            }
            Op::EqW { d, a, b, w } | Op::LtW { d, a, b, w, .. } => {
                let n = limbs(w.into());
                e.read(a, n).read(b, n).write(d, 1)
            }
            Op::SliceW { d, a, lo, w } => {
                let words = limbs(lo + u32::from(w));
                e.read(a, words).write(d, limbs(w.into()))
            }
            Op::InsertW { d, a, lo, w } => {
                let words = limbs(lo + u32::from(w));
                e.read(a, limbs(w.into())).read(d, words).write(d, words)
            }
            Op::ResizeW { d, a, from, to, .. } => {
                e.read(a, limbs(from.into())).write(d, limbs(to.into()))
            }
            Op::CMovW { d, c, a, n } => e.read(c, 1).read(a, n.into()).touch(d, n.into()),
            Op::Clamp { d, a, n } => e.read(a, n as usize).write(d, 1),
            Op::Index { d, a, first, .. } => {
                let e = e.read(a, 1).write(d, 1);
                if first { e } else { e.read(d, 1) }
            }
            Op::LoadX { d, base, off, n } => {
                let e = e.read(off, 1).read(base, self.rest(base));
                e.write(d, n.into())
            }
            Op::StoreX { base, off, a, n } => {
                let e = e.read(off, 1).read(a, n.into());
                e.touch(base, self.rest(base))
            }
            Op::ZeroX { base, off, .. } => e.read(off, 1).touch(base, self.rest(base)),
            Op::CopyX { copy } => {
                let CopyStep { to, from, .. } = self.code.copies[copy as usize];
                let e = [to.1, from.1]
                    .into_iter()
                    .filter(|&off| off != NONE)
                    .fold(e, |e, off| e.read(off, 1));
                let e = e.read(from.0, self.rest(from.0));
                e.touch(to.0, self.rest(to.0))
            }
            Op::Shift { shift } => {
                let (base, off) = self.code.shifts[shift as usize].at;
                let e = if off == NONE { e } else { e.read(off, 1) };
                let words = self.rest(base);
                e.read(base, words).touch(base, words)
            }
            Op::Jmp { .. } | Op::Call { .. } | Op::Ret | Op::Halt => e,
            Op::JmpZ { a, .. } | Op::JmpNz { a, .. } | Op::Jump { a, .. } => e.read(a, 1),
            Op::JmpEq { a, b, .. }
            | Op::JmpNe { a, b, .. }
            | Op::JmpLt { a, b, .. }
            | Op::JmpLe { a, b, .. } => e.read(a, 1).read(b, 1),
            Op::Step { .. } | Op::Enter { .. } | Op::Round { .. } => e,
            Op::Extract { base, off, header } => self.extract(e, (base, off), header),
            Op::ExtractVar {
                base,
                off,
                bits,
                header,
            } => self.extract(e.read(bits, 1), (base, off), header.into()),
            Op::Need { .. } | Op::Refuse => e.end(),
            Op::Peek { d, w, .. } => e.write(d, limbs(w.into()).max(1)),
            Op::Advance { a } | Op::Reject { a } => e.read(a, 1).end(),
            Op::PacketLength { d } => e.write(d, 1),
            Op::Emit { base, off, header } => match off {
                NONE => self.emit(e, base, header),
                _ => e.read(off, 1).read(base, self.rest(base)),
            },
            Op::EmitAll { list } => {
                let list = &self.code.emits[list as usize];
                list.iter()
                    .fold(e, |e, &(base, header)| self.emit(e, base, header))
            }
            Op::InSet { test, .. } => {
                let keys = &self.code.set_tests[test as usize].keys;
                keys.iter().fold(e, |e, &key| e.read(key, self.rest(key)))
            }
            Op::Apply { site } => self.apply(e, &self.code.sites[site as usize]),
            Op::RegRead { d, index, .. } => e.read(index, 1).touch(d, self.rest(d)),
            Op::RegWrite { index, a, .. } => e.read(index, 1).read(a, self.rest(a)),
            Op::Count { index, .. } => e.read(index, 1),
            Op::Extern { call } => self.call(e, &self.code.externs[call as usize])?,
        })
    }

    fn extract(&self, e: Effects, (base, off): (Slot, Slot), header: u32) -> Effects {
        let e = Effects {
            extracts: true,
            ..e.end()
        };
        if off != NONE {
            return e.read(off, 1).touch(base, self.rest(base));
        }
        let words = fields(base, &self.code.headers[header as usize]);
        words
            .into_iter()
            .fold(e.write(base, 1), |e, word| e.write(word, 1))
    }

    /// The length of a `varbit` is read first.
    fn emit(&self, e: Effects, base: Slot, header: u32) -> Effects {
        let layout = &self.code.headers[header as usize];
        let mut e = e.read(base, 1);
        if let Some(field) = layout.varbit.and_then(|at| layout.fields.get(at)) {
            e = e.read(base + field.word, 1);
        }
        let words = fields(base, layout).into_iter();
        e.guarded.extend(words.map(|word| (base, word..word + 1)));
        e
    }

    fn apply(&self, e: Effects, site: &ApplySite) -> Effects {
        let keys = site.keys.iter().zip(&self.keys[site.table as usize]);
        let mut e = keys.fold(e, |e, (&key, &words)| e.read(key, words as usize));
        if site.hit != NONE {
            e = e.write(site.hit, 1);
        }
        // It stays as it is if no action is run.
        if site.action_run != NONE {
            e = e.touch(site.action_run, 1);
        }
        e
    }

    fn values(&self, e: Effects, data: &[ListValue]) -> Effects {
        data.iter().fold(e, |mut e, value| {
            let words = value.slot..value.slot + limbs(value.width) as Slot;
            if value.length != NONE {
                e = e.read(value.length, 1);
            }
            match value.valid {
                NONE => e.reads.push(words),
                valid => {
                    e = e.read(valid, 1);
                    e.guarded.push((valid, words));
                }
            }
            e
        })
    }

    fn call(&self, e: Effects, call: &ExternCode) -> Option<Effects> {
        let number = |e: Effects, (slot, width): (Slot, u32)| e.read(slot, limbs(width));
        Some(match call {
            ExternCode::Hash {
                d, base, max, data, ..
            } => {
                let e = number(number(self.values(e, data), *base), *max);
                e.touch(d.0, limbs(d.1))
            }
            ExternCode::Checksum {
                verify,
                condition,
                data,
                sum,
                ..
            } => {
                let e = self.values(e.read(*condition, 1), data);
                match verify {
                    true => number(e, *sum),
                    false => e.touch(sum.0, limbs(sum.1)),
                }
            }
            ExternCode::Get { data, d } => self.values(e, data).touch(*d, 1),
            &ExternCode::Random {
                d,
                low,
                high,
                width,
            } => number(number(e, (low, width)), (high, width)).touch(d, limbs(width)),
            ExternCode::Digest { receiver, data, .. } => self.values(e.read(*receiver, 1), data),
            ExternCode::Assert { condition, .. } => e.read(*condition, 1),
            ExternCode::Log { parts, .. } => parts.iter().fold(e, |e, part| match part {
                LogPart::Text(_) => e,
                &LogPart::Value { slot, width, .. } => e.read(slot, limbs(width)),
            }),
            ExternCode::MeterExecute { index, d, .. } => e.read(*index, 1).touch(d.0, limbs(d.1)),
            ExternCode::DirectMeterRead { d } => e.touch(d.0, limbs(d.1)),
            ExternCode::Own(_) => return None,
        })
    }

    /// Where an instruction goes to, and whether the next one may follow it.
    fn successors(&self, op: Op) -> (Vec<Target>, bool) {
        match op {
            Op::Jmp { to } => (vec![to], false),
            Op::JmpZ { to, .. }
            | Op::JmpNz { to, .. }
            | Op::JmpEq { to, .. }
            | Op::JmpNe { to, .. }
            | Op::JmpLt { to, .. }
            | Op::JmpLe { to, .. }
            | Op::Step { to }
            | Op::Round { to, .. }
            | Op::InSet { to, .. } => (vec![to], true),
            Op::Jump { table, .. } => match &self.code.jumps[table as usize] {
                JumpTable::Dense {
                    targets, default, ..
                } => (targets.iter().chain([default]).copied().collect(), false),
                JumpTable::Sparse { cases, default } => {
                    let targets = cases.iter().map(|(_, to)| to);
                    (targets.chain([default]).copied().collect(), false)
                }
            },
            Op::Ret | Op::Halt | Op::Refuse | Op::Reject { .. } => (Vec::new(), false),
            _ => (Vec::new(), true),
        }
    }

    /// Code that an instruction has run before the next one.
    fn called(&self, op: Op) -> Vec<Target> {
        match op {
            Op::Call { to } => vec![to],
            Op::Apply { site } => {
                let table = self.code.sites[site as usize].table;
                let actions = self.code.tables[table as usize].actions.iter();
                let run = actions.filter(|action| !action.done);
                run.map(|action| action.entry).collect()
            }
            _ => Vec::new(),
        }
    }

    /// The instructions of a block, each with whether it is of the block itself, and not only of what that calls.
    fn reached(&self, block: Target) -> BTreeMap<Target, bool> {
        let mut reached = BTreeMap::new();
        let mut left = vec![(block, true)];
        while let Some((at, own)) = left.pop() {
            let Some(&op) = self.code.ops.get(at as usize) else {
                continue;
            };
            match reached.get(&at) {
                Some(&known) if known || !own => continue,
                _ => reached.insert(at, own),
            };
            let (targets, goes_on) = self.successors(op);
            left.extend(
                targets
                    .into_iter()
                    .chain(goes_on.then_some(at + 1))
                    .map(|to| (to, own)),
            );
            left.extend(self.called(op).into_iter().map(|to| (to, false)));
        }
        reached
    }
}

/// The words of a header's fields, and of the length of a `varbit`.
fn fields(base: Slot, header: &HeaderCode) -> Vec<Slot> {
    let words = header.fields.iter().enumerate().flat_map(|(at, field)| {
        let length = u32::from(header.varbit == Some(at));
        field.word..field.word + length + limbs(field.width) as Slot
    });
    words.map(|word| base + word).collect()
}

/// A set of variables' words.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Words(Vec<u64>);

impl Words {
    fn none(words: usize) -> Self {
        Words(vec![0; words.div_ceil(64)])
    }

    /// Whether it has a word; of those that are no variable's it has all.
    fn has(&self, slot: Slot, words: usize) -> bool {
        slot as usize >= words || self.0[slot as usize / 64] >> (slot % 64) & 1 == 1
    }

    fn add(&mut self, slot: Slot, words: usize) {
        if (slot as usize) < words {
            self.0[slot as usize / 64] |= 1 << (slot % 64);
        }
    }

    /// Keeps what both have; whether it has changed.
    fn keep(&mut self, other: &Words) -> bool {
        let mut changed = false;
        for (a, b) in self.0.iter_mut().zip(&other.0) {
            changed |= *a & !b != 0;
            *a &= b;
        }
        changed
    }
}

/// What is written for certain before each instruction.
struct Flow<'a> {
    subject: &'a Subject<'a>,
    effects: &'a [Effects],
    headers: &'a BTreeMap<Slot, Vec<Slot>>,
    words: usize,
    /// `None`: it is not known to be reached.
    before: Vec<Option<Words>>,
    /// Instructions of which this has changed.
    left: BTreeSet<Target>,
    /// The instructions of each stage of each sequence.
    stages: Vec<Vec<BTreeMap<Target, bool>>>,
}

impl<'a> Flow<'a> {
    fn new(
        subject: &'a Subject<'a>,
        effects: &'a [Effects],
        headers: &'a BTreeMap<Slot, Vec<Slot>>,
    ) -> Self {
        let stages = subject.sequences.iter().map(|sequence| {
            let stages = sequence.stages.iter();
            stages.map(|stage| subject.reached(stage.block)).collect()
        });
        Flow {
            subject,
            effects,
            headers,
            words: subject.code.words,
            before: vec![None; effects.len()],
            left: BTreeSet::new(),
            stages: stages.collect(),
        }
    }

    /// Finds what holds however a packet goes.
    fn settle(&mut self) {
        loop {
            let mut state = Words::none(self.words);
            let mut changed = false;
            for (number, sequence) in self.subject.sequences.iter().enumerate() {
                for slot in sequence.given.iter().flatten() {
                    state.add(*slot, self.words);
                }
                for (at, stage) in sequence.stages.iter().enumerate() {
                    changed |= self.join(stage.block, &state);
                    while let Some(at) = self.left.pop_first() {
                        self.pass(at);
                    }
                    state = self.end(number, at, state);
                    if let Some((_, to)) = stage.reported {
                        state.add(to.slot, self.words);
                    }
                }
            }
            if !changed {
                return;
            }
        }
    }

    /// A way leads to an instruction.
    fn join(&mut self, at: Target, state: &Words) -> bool {
        let Some(before) = self.before.get_mut(at as usize) else {
            return false;
        };
        let changed = match before {
            Some(before) => before.keep(state),
            None => {
                *before = Some(state.clone());
                true
            }
        };
        if changed {
            self.left.insert(at);
        }
        changed
    }

    /// What is written at the end of a stage that begins with `state`.
    fn end(&self, sequence: usize, stage: usize, state: Words) -> Words {
        let mut end: Option<Words> = None;
        for (&at, &own) in &self.stages[sequence][stage] {
            let op = self.subject.code.ops[at as usize];
            let last = at as usize + 1 == self.subject.code.ops.len();
            let leaves = self.effects[at as usize].ends
                || matches!(op, Op::Halt)
                || own && matches!(op, Op::Ret)
                || last;
            if let Some(before) = self.before[at as usize].as_ref().filter(|_| leaves) {
                match &mut end {
                    Some(end) => {
                        end.keep(before);
                    }
                    None => end = Some(before.clone()),
                }
            }
        }
        end.unwrap_or(state)
    }

    /// Passes on what is written before an instruction, and what it writes.
    fn pass(&mut self, at: Target) {
        let Some(before) = self.before[at as usize].clone() else {
            return;
        };
        let op = self.subject.code.ops[at as usize];
        if let Op::Apply { site } = op {
            self.pass_to_actions(site, &before);
        }
        if let Op::Call { to } = op {
            self.join(to, &before);
        }
        let mut after = before;
        for word in self.effects[at as usize].writes.iter().cloned().flatten() {
            after.add(word, self.words);
        }
        let (targets, goes_on) = self.subject.successors(op);
        let (mut taken, mut next) = (after.clone(), after);
        match op {
            Op::JmpNz { a, .. } => self.is_valid(a, &mut taken),
            Op::JmpZ { a, .. } => self.is_valid(a, &mut next),
            _ => {}
        }
        for target in targets {
            self.join(target, &taken);
        }
        if goes_on {
            self.join(at + 1, &next);
        }
    }

    fn pass_to_actions(&mut self, site: u32, before: &Words) {
        let table = self.subject.code.sites[site as usize].table;
        for action in &self.subject.code.tables[table as usize].actions {
            if !action.done {
                let moved = action.moves.iter().map(|&(d, _)| d);
                let mut state = before.clone();
                for slot in action.data.iter().copied().chain(moved) {
                    state.add(slot, self.words);
                }
                self.join(action.entry, &state);
            }
        }
    }

    /// A header is valid if this word is the one that says so.
    fn is_valid(&self, word: Slot, state: &mut Words) {
        for &field in self.headers.get(&word).into_iter().flatten() {
            state.add(field, self.words);
        }
    }

    /// Each instruction that is reached, and what is written before it.
    fn known(&self) -> impl Iterator<Item = (usize, &Words)> {
        let before = self.before.iter().enumerate();
        before.filter_map(|(at, before)| Some((at, before.as_ref()?)))
    }

    /// What actions of a table do before their bodies: copies, each with what is written before it.
    fn moves(&self, at: usize, before: &Words) -> Vec<(Slot, Slot, Words)> {
        let Op::Apply { site } = self.subject.code.ops[at] else {
            return Vec::new();
        };
        let table = self.subject.code.sites[site as usize].table;
        let mut moves = Vec::new();
        for action in &self.subject.code.tables[table as usize].actions {
            let mut state = before.clone();
            for &slot in &action.data {
                state.add(slot, self.words);
                moves.push((slot, NONE, before.clone()));
            }
            for &(d, a) in &action.moves {
                moves.push((d, a, state.clone()));
                state.add(d, self.words);
            }
        }
        moves
    }

    /// Whether all fields of a header are written before it becomes valid.
    fn is_sound(&self, valid: Slot, fields: &[Slot]) -> bool {
        let has = |state: &Words, more: &[Range<Slot>]| {
            fields.iter().all(|field| {
                state.has(*field, self.words) || more.iter().any(|words| words.contains(field))
            })
        };
        self.known().all(|(at, before)| {
            let effects = &self.effects[at];
            let writes = effects.writes.iter().any(|words| words.contains(&valid));
            let touches = effects.touches.iter().any(|words| words.contains(&valid));
            let own = !writes || effects.is_zero || has(before, &effects.writes);
            // An extraction to a place found at run time writes the fields as well.
            let elsewhere = !touches || effects.extracts;
            let moves = self.moves(at, before);
            let mut moves = moves.iter().filter(|(d, ..)| *d == valid);
            own && elsewhere
                && moves
                    .all(|(_, a, state)| a != &NONE && self.subject.is_zero(*a) || has(state, &[]))
        })
    }

    /// Words that may be read before they are written.
    fn needed(&self) -> Vec<Slot> {
        let mut needed = BTreeSet::new();
        let mut written = BTreeSet::new();
        for (at, before) in self.known() {
            let effects = &self.effects[at];
            let reads = effects.reads.iter().cloned().flatten();
            needed.extend(reads.filter(|&word| !before.has(word, self.words)));
            for (valid, words) in &effects.guarded {
                let known = self.headers.get(valid);
                let words = words.clone().filter(|word| {
                    !before.has(*word, self.words)
                        && !known.is_some_and(|fields| fields.contains(word))
                });
                needed.extend(words);
            }
            let all = effects.writes.iter().chain(&effects.touches);
            written.extend(all.cloned().flatten());
            for (d, a, state) in self.moves(at, before) {
                written.insert(d);
                if a != NONE && !state.has(a, self.words) {
                    needed.insert(a);
                }
            }
        }
        let first = self.subject.sequences.first();
        let given = first.and_then(|sequence| sequence.given.as_ref());
        for sequence in self.subject.sequences {
            needed.extend(&sequence.read);
            written.extend(sequence.read.iter().chain(sequence.given.iter().flatten()));
            let ends = sequence
                .stages
                .iter()
                .filter_map(|stage| stage.last_if_equal);
            needed.extend(ends.flat_map(|(a, b)| [a, b]));
            let reported = sequence.stages.iter().filter_map(|stage| stage.reported);
            written.extend(reported.map(|(_, to)| to.slot));
        }
        let is_given = |word: &Slot| given.is_some_and(|given| given.contains(word));
        needed
            .into_iter()
            .filter(|word| {
                (*word as usize) < self.words && written.contains(word) && !is_given(word)
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Stage;

    const WORDS: usize = 8;
    const ZERO: Slot = WORDS as Slot;
    const ONE: Slot = ZERO + 1;

    /// Words that are needed of code that begins with its first instruction and has a header of one field at 4, which is
    /// extracted by the last but one and emitted by the last.
    fn needed_of(ops: &[Op]) -> Vec<Slot> {
        let field = FieldCode {
            at: 0,
            width: 8,
            word: 1,
        };
        let header = HeaderCode {
            name: "h".into(),
            bits: 8,
            fields: vec![field],
            varbit: None,
            lanes: Vec::new(),
            parts: Vec::new(),
        };
        let code = Code {
            ops: ops.to_vec(),
            words: WORDS,
            constants_at: WORDS,
            constants: vec![0, 1],
            headers: vec![header],
            ..Code::default()
        };
        let sequence = Sequence {
            stages: vec![Stage::new(0)],
            given: Some(vec![7]),
            ..Sequence::default()
        };
        let subject = Subject {
            code: &code,
            sequences: &[sequence],
            variables: &[0, 4],
            keys: &[],
        };
        needed(&subject).expect("all instructions are known")
    }

    fn emit() -> Op {
        Op::Emit {
            base: 4,
            off: NONE,
            header: 0,
        }
    }

    fn extract() -> Op {
        Op::Extract {
            base: 4,
            off: NONE,
            header: 0,
        }
    }

    #[test]
    fn what_one_way_leaves_unwritten_is_needed() {
        let ops = [
            Op::JmpZ { a: 7, to: 2 },
            Op::Mov { d: 1, a: ONE },
            Op::Mov { d: 2, a: 1 },
            Op::Mov { d: 3, a: 2 },
            Op::Halt,
        ];
        assert_eq!(needed_of(&ops), [1]);
        assert_eq!(needed_of(&ops[1..]), []);
    }

    #[test]
    fn fields_of_a_header_are_not_needed_where_it_is_valid() {
        let ops = [
            Op::JmpZ { a: 7, to: 2 },
            extract(),
            emit(),
            Op::JmpZ { a: 4, to: 5 },
            Op::Mov { d: 1, a: 5 },
            Op::Halt,
        ];
        assert_eq!(needed_of(&ops), [4]);
        // Read whether it is valid or not.
        let mut unguarded = ops;
        unguarded[3] = Op::Mov { d: 2, a: ONE };
        assert_eq!(needed_of(&unguarded), [4, 5]);
    }

    #[test]
    fn a_header_that_becomes_valid_without_its_fields_needs_them() {
        let mut ops = [
            Op::JmpZ { a: 7, to: 2 },
            extract(),
            Op::Mov { d: 4, a: ONE },
            emit(),
            Op::Halt,
        ];
        assert_eq!(needed_of(&ops), [5]);
        ops[2] = Op::Mov { d: 4, a: ZERO };
        assert_eq!(needed_of(&ops), []);
        ops[2] = Op::Mov { d: 5, a: ONE };
        assert_eq!(needed_of(&ops), [4]);
    }

    #[test]
    fn what_may_be_left_as_it_is_is_needed() {
        let ops = [
            Op::CMov { d: 1, c: 7, a: ONE },
            Op::StoreX {
                base: 2,
                off: 7,
                a: ONE,
                n: 1,
            },
            Op::LoadX {
                d: ZERO - 1,
                base: 2,
                off: 7,
                n: 1,
            },
            Op::Mov { d: 0, a: 1 },
            Op::Halt,
        ];
        assert_eq!(needed_of(&ops), [1, 2, 3]);
    }
}
