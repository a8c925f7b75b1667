//! Applying tables.

use super::{Job, Machine, external};
use crate::bits::Writer;
use crate::code::*;
#[cfg(feature = "native")]
use crate::native::Found;
use crate::object::Object;
use crate::table::{Outcome, Prepared, TableState};
use crate::trace::TraceEvent;
use p4_ir::TableId;
use rand_chacha::ChaCha8Rng;

/// Applies a table: stores the data of the action and executes the copies at its start. Returns the address of the rest
/// of the action, if there is any. `at` is the index of the instruction.
#[inline(never)]
pub fn apply<const TRACED: bool>(
    code: &Code,
    machine: &mut Machine,
    words: &mut [u64],
    job: &mut Job,
    site: u32,
    at: usize,
) -> Option<Target> {
    let site = &code.sites[site as usize];
    let table = &mut machine.tables[site.table as usize];
    let found = table.lookup(words, &site.keys);
    note(table, found, job);
    if !TRACED && let Outcome::Run(prepared) = table.outcome(found) {
        return begin_action(code, words, site, found, prepared);
    }
    apply_any::<TRACED>(code, machine, words, job, site, found, at)
}

/// Looks up a packed key in the table of a site, for compiled code, which starts the action itself.
#[cfg(feature = "native")]
#[inline]
pub fn find(
    code: &Code,
    machine: &mut Machine,
    words: &[u64],
    job: &mut Job,
    site: u32,
    key: &[u64],
) -> Found {
    let site = &code.sites[site as usize];
    let table = &mut machine.tables[site.table as usize];
    let entry = table.lookup_packed(key);
    note(table, entry, job);
    let Machine {
        tables,
        objects,
        random,
        scratch,
        ..
    } = machine;
    let table = &mut tables[site.table as usize];
    let prepared = match table.outcome(entry) {
        Outcome::Run(prepared) => Some(prepared),
        _ => select(table, objects, (random, scratch), (words, site), entry),
    };
    let mut found = Found {
        hit: entry.is_some().into(),
        action: NONE,
        ..Found::default()
    };
    if let Some(prepared) = prepared {
        let actions = &code.tables[site.table as usize].actions;
        let index = index_of(actions, prepared);
        // Compiled code reads as many words as the action has data.
        let complete = prepared.args.len() >= actions[index].data.len();
        debug_assert!(complete, "data of action {index}");
        if complete {
            found.args = prepared.args.as_ptr().expose_provenance();
            found.action = index as u32;
        }
    }
    found.noted = table.noted(entry);
    table.keep(key, found);
    found
}

/// Performs the side effects of a look-up: updates the direct objects of the table.
#[inline(always)]
pub fn note(table: &mut TableState, found: Option<u32>, job: &mut Job) {
    if table.plain {
        return;
    }
    job.hit = found;
    if let Some(colour) = table.note(found, job.now, job.length) {
        job.colour = colour;
    }
}

/// The action of a look-up, through an action profile if the table has one. `None` if the group has no members.
#[inline(never)]
fn select<'a>(
    table: &'a TableState,
    objects: &'a [Object],
    (random, scratch): (&mut ChaCha8Rng, &mut Writer),
    (words, site): (&[u64], &ApplySite),
    found: Option<u32>,
) -> Option<&'a Prepared> {
    let key = external::SelectorKey {
        words,
        slots: &site.keys,
        layout: &table.layout,
    };
    let profile = table.profile.map(|id| &objects[id.0 as usize]);
    match table.outcome(found) {
        Outcome::Run(prepared) => Some(prepared),
        outcome => external::select(outcome, profile, key, random, scratch),
    }
}

/// Stores the results of a look-up, and starts the action.
#[inline(always)]
fn begin_action(
    code: &Code,
    words: &mut [u64],
    site: &ApplySite,
    found: Option<u32>,
    prepared: &Prepared,
) -> Option<Target> {
    if site.hit != NONE {
        words[site.hit as usize] = found.is_some() as u64;
    }
    let actions = &code.tables[site.table as usize].actions;
    let index = index_of(actions, prepared);
    let action = &actions[index];
    if site.action_run != NONE {
        words[site.action_run as usize] = index as u64;
    }
    for (&slot, &value) in action.data.iter().zip(&*prepared.args) {
        words[slot as usize] = value;
    }
    for &(d, a) in &action.moves {
        words[d as usize] = words[a as usize];
    }
    (!action.done).then_some(action.entry)
}

/// Continues after a look-up that refers to an action profile or is traced. A group without members runs no action.
#[inline(never)]
fn apply_any<const TRACED: bool>(
    code: &Code,
    machine: &mut Machine,
    words: &mut [u64],
    job: &Job,
    site: &ApplySite,
    found: Option<u32>,
    at: usize,
) -> Option<Target> {
    let Machine {
        tables,
        objects,
        random,
        scratch,
        tracer,
        ..
    } = machine;
    let table = &tables[site.table as usize];
    let prepared = select(table, objects, (random, scratch), (words, site), found);
    let Some(prepared) = prepared else {
        if site.hit != NONE {
            words[site.hit as usize] = found.is_some() as u64;
        }
        if let Some(empty_group) = code.tables[site.table as usize].empty_group
            && site.action_run != NONE
        {
            words[site.action_run as usize] = empty_group;
        }
        return None;
    };
    if TRACED && let Some(tracer) = tracer {
        let key: Vec<&[u64]> = table
            .layout
            .fields
            .iter()
            .map(|field| &words[site.keys[field.index] as usize..][..field.limbs])
            .collect();
        let event = TraceEvent::Table {
            table: TableId(site.table),
            key: &key,
            entry: found.map(|id| &table.row(id).entry),
            action: prepared.id,
            loc: code.locs[at],
        };
        tracer.event(job.now, job.tag, event);
    }
    begin_action(code, words, site, found, prepared)
}

/// The index of an action in the table. A member of a profile that tables share may have been prepared for another
/// table.
#[inline]
fn index_of(actions: &[ActionCode], prepared: &Prepared) -> usize {
    let index = prepared.index as usize;
    match actions.get(index) {
        Some(action) if action.id == prepared.id => index,
        _ => actions
            .iter()
            .position(|action| action.id == prepared.id)
            .unwrap_or(0),
    }
}
