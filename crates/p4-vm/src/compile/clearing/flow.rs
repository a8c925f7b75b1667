//! Data-flow analysis: the words that are written before each instruction on every path.

use super::Subject;
use super::effects::Effects;
use super::words::Words;
use crate::code::*;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// The words that are certainly written before each instruction.
pub struct Flow<'a> {
    subject: &'a Subject<'a>,
    effects: &'a [Effects],
    headers: &'a BTreeMap<Slot, Vec<Slot>>,
    words: usize,
    /// `None` if the instruction is not known to be reachable.
    before: Vec<Option<Words>>,
    /// Instructions whose state has changed and must be processed (the work list).
    left: BTreeSet<Target>,
    /// The instructions of each stage of each sequence.
    stages: Vec<Vec<BTreeMap<Target, bool>>>,
}

impl<'a> Flow<'a> {
    pub fn new(
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

    /// Runs the analysis to its fixed point.
    pub fn settle(&mut self) {
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

    /// Merges the state of a path that leads to an instruction.
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

    /// The words that are written at the end of a stage that begins with `state`.
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

    /// Propagates the state before an instruction, and what the instruction writes, to its
    /// successors.
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
        let (targets, goes_on) = self.subject.code.successors(op);
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

    /// Records that the header whose validity is `word`, if any, is valid: its fields count as
    /// written.
    fn is_valid(&self, word: Slot, state: &mut Words) {
        for &field in self.headers.get(&word).into_iter().flatten() {
            state.add(field, self.words);
        }
    }

    /// Each reachable instruction, with the words written before it.
    fn known(&self) -> impl Iterator<Item = (usize, &Words)> {
        let before = self.before.iter().enumerate();
        before.filter_map(|(at, before)| Some((at, before.as_ref()?)))
    }

    /// The copies that the actions of a table make before their bodies, each with the words written
    /// before it.
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
    pub fn is_sound(&self, valid: Slot, fields: &[Slot]) -> bool {
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
            // An extraction to a place found at run time also writes the fields.
            let elsewhere = !touches || effects.extracts;
            let moves = self.moves(at, before);
            let mut moves = moves.iter().filter(|(d, ..)| *d == valid);
            own && elsewhere
                && moves
                    .all(|(_, a, state)| a != &NONE && self.subject.is_zero(*a) || has(state, &[]))
        })
    }

    /// Words that may be read before they are written.
    pub fn needed(&self) -> Vec<Slot> {
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
