//! Calls of externs whose operands are in a table.

use super::run::opaque;
use super::{Job, Machine, checksum};
use crate::bits::Writer;
use crate::code::*;
use crate::compile::Compiled;
use crate::object::Object;
use crate::table::{KeyLayout, Outcome, Prepared};
use crate::{Architecture, CallSite, Digest, DropCause, Event, Log};
use internet_checksum::Sum;
use num_bigint::{BigInt, BigUint};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::Rng;

/// Executes a call.
pub fn call<A: Architecture>(
    compiled: &Compiled<A>,
    architecture: &mut A,
    machine: &mut Machine,
    words: &mut [u64],
    job: &mut Job,
    call: u32,
) {
    match &opaque(&compiled.code).externs[call as usize] {
        ExternCode::Hash {
            algorithm,
            d,
            base,
            max,
            data,
        } => {
            gather(&mut machine.scratch, words, data);
            let random = &mut machine.random;
            let hash = algorithm.hash(machine.scratch.octets(), 0, &machine.crcs, || {
                random.next_u64()
            });
            add_to(words, *d, *base, modulo(words, hash, *max));
        }
        ExternCode::Checksum {
            algorithm,
            verify,
            condition,
            data,
            groups,
            sum,
            payload,
        } => {
            if words[*condition as usize] == 0 {
                return;
            }
            if let Some(hash) = groups.as_ref().and_then(|g| checksum::internet(words, g)) {
                return settle(words, job, *verify, *sum, hash as u64);
            }
            gather(&mut machine.scratch, words, data);
            let mut zeros = 0;
            if *payload {
                let parsed = job.cursor / 8;
                let payload = job.octets.get(parsed..).unwrap_or_default();
                machine.scratch.push_octets(payload);
                let beyond = parsed.saturating_sub(job.octets.len()) as u32;
                zeros = job.elided.saturating_sub(beyond);
            }
            let random = &mut machine.random;
            let hash = algorithm.hash(machine.scratch.octets(), zeros, &machine.crcs, || {
                random.next_u64()
            });
            settle(words, job, *verify, *sum, hash);
        }
        ExternCode::Get { data, d } => {
            gather(&mut machine.scratch, words, data);
            words[*d as usize] = Sum::of(machine.scratch.octets()).checksum() as u64;
        }
        ExternCode::Random {
            d,
            low,
            high,
            width,
        } => {
            draw(words, *d, *low, *high, *width, &mut machine.random);
        }
        ExternCode::Digest { receiver, ty, data } => {
            if machine.limits.report_digests {
                let value =
                    |value: &ListValue| (number(words, value.slot, value.width), value.width);
                machine.report(Event::Digest(Digest {
                    at: job.now,
                    receiver: words[*receiver as usize] as u32,
                    ty: ty.clone(),
                    fields: data.iter().map(value).collect(),
                    tag: job.tag,
                }));
            }
        }
        ExternCode::Assert { condition, loc } => {
            if words[*condition as usize] == 0 {
                job.abort = Some(DropCause::Assert);
                let event = Event::AssertFailed {
                    at: job.now,
                    loc: *loc,
                    tag: job.tag,
                };
                if machine.limits.report_logs {
                    machine.report(event);
                }
            }
        }
        ExternCode::Log { parts, loc } => {
            if machine.limits.report_logs {
                let message = parts.iter().map(|part| show(words, part)).collect();
                let log = Log {
                    at: job.now,
                    message,
                    loc: *loc,
                    tag: job.tag,
                };
                machine.report(Event::Log(log));
            }
        }
        ExternCode::MeterExecute { meter, index, d } => {
            if let Object::Meter(meter) = &mut machine.objects[*meter as usize] {
                let index = usize::try_from(words[*index as usize]).ok();
                if let Some(cell) = index.and_then(|index| meter.cells.get_mut(index)) {
                    let colour = cell.execute(job.now, meter.unit, job.length, 0);
                    store(words, *d, colour as u128);
                }
            }
        }
        ExternCode::DirectMeterRead { d } => store(words, *d, job.colour as u128),
        &ExternCode::Own(number) => {
            let at = CallSite {
                number,
                words,
                job,
                machine,
            };
            architecture.call(&compiled.own[number as usize], at);
        }
    }
}

/// Updates a checksum, or compares it with the one in the packet.
#[inline]
fn settle(words: &mut [u64], job: &mut Job, verify: bool, sum: (Slot, u32), hash: u64) {
    if !verify {
        store(words, sum, hash as u128);
    } else if hash & mask(sum.1) != words[sum.0 as usize] {
        job.checksum_error = true;
    }
}

/// A number modulo a value of any width. Modulo 0 is 0.
fn modulo(words: &[u64], number: u64, (slot, width): (Slot, u32)) -> u64 {
    let limbs = &words[slot as usize..][..width.div_ceil(64) as usize];
    match limbs {
        [] => 0,
        [low, above @ ..] if above.iter().all(|&limb| limb == 0) => {
            number.checked_rem(*low).unwrap_or(0)
        }
        _ => number,
    }
}

/// Stores the sum of a value and a number in a value of another width.
fn add_to(words: &mut [u64], d: (Slot, u32), value: (Slot, u32), number: u64) {
    let mut carry = number;
    for limb in 0..d.1.div_ceil(64) {
        let above = match limb < value.1.div_ceil(64) {
            true => words[(value.0 + limb) as usize],
            false => 0,
        };
        let (sum, over) = above.overflowing_add(carry);
        let width = (d.1 - 64 * limb).min(64);
        words[(d.0 + limb) as usize] = sum & mask(width);
        carry = over.into();
    }
}

fn mask(width: u32) -> u64 {
    u64::MAX >> (64 - width.clamp(1, 64))
}

/// Stores a number in a value of the given width.
#[inline]
fn store(words: &mut [u64], (d, width): (Slot, u32), value: u128) {
    let at = d as usize;
    if width <= 64 {
        words[at] = value as u64 & mask(width);
        return;
    }
    words[at..at + width.div_ceil(64) as usize].fill(0);
    words[at] = value as u64;
    words[at + 1] = (value >> 64) as u64 & mask(width - 64);
}

impl Machine {
    /// The concatenated bits of the values. The last octet is filled up with zeros. Fields of invalid headers are
    /// omitted.
    pub fn gather(&mut self, words: &[u64], data: &[ListValue]) -> &[u8] {
        gather(&mut self.scratch, words, data);
        self.scratch.octets()
    }
}

/// The concatenated bits of the values. The last octet is filled up with zeros. Fields of invalid headers are omitted.
#[inline]
fn gather(scratch: &mut Writer, words: &[u64], data: &[ListValue]) {
    scratch.clear();
    for value in data {
        if value.valid != NONE && words[value.valid as usize] == 0 {
            continue;
        }
        let mut width = value.width;
        if value.length != NONE {
            width = words[value.length as usize].min(width as u64) as u32;
        }
        match width {
            0 => {}
            1..=64 => scratch.push(words[value.slot as usize], width),
            _ => scratch.push_wide(&words[value.slot as usize..], width),
        }
    }
    scratch.pad();
}

fn number(words: &[u64], slot: Slot, width: u32) -> BigUint {
    let limbs = &words[slot as usize..][..width.div_ceil(64) as usize];
    BigUint::from_bytes_le(
        &limbs
            .iter()
            .flat_map(|l| l.to_le_bytes())
            .collect::<Vec<_>>(),
    )
}

/// Draws a number from `low` to `high`, both included. Stores nothing if the range is empty.
fn draw(words: &mut [u64], d: Slot, low: Slot, high: Slot, width: u32, random: &mut ChaCha8Rng) {
    if width <= 64 {
        let (low, high) = (words[low as usize], words[high as usize]);
        if low <= high {
            let count = (high - low) as u128 + 1;
            words[d as usize] = low + ((random.next_u64() as u128 * count) >> 64) as u64;
        }
        return;
    }
    let (low, high) = (number(words, low, width), number(words, high, width));
    if low <= high {
        // 64 bits more than needed, so that the remainder is nearly uniform.
        let bits: Vec<u32> = (0..width.div_ceil(32) + 2)
            .map(|_| random.next_u32())
            .collect();
        let value = &low + BigUint::new(bits) % (high - &low + 1u8);
        let limbs = crate::wide::limbs_of(&value, width.div_ceil(64));
        words[d as usize..d as usize + limbs.len()].copy_from_slice(&limbs);
    }
}

fn show(words: &[u64], part: &LogPart) -> String {
    match part {
        LogPart::Text(text) => text.clone(),
        LogPart::Value {
            slot,
            width,
            signed,
        } => {
            let value = number(words, *slot, *width);
            match *signed && value.bit(*width as u64 - 1) {
                true => (BigInt::from(value) - (BigInt::from(1) << *width)).to_string(),
                false => value.to_string(),
            }
        }
    }
}

/// The slots of the values that a selector hashes.
pub struct SelectorKey<'a> {
    pub words: &'a [u64],
    pub slots: &'a [Slot],
    pub layout: &'a KeyLayout,
}

/// The action that a member, a group or a one-shot group runs.
pub fn select<'a>(
    outcome: &'a Outcome,
    profile: Option<&'a Object>,
    key: SelectorKey<'_>,
    random: &mut ChaCha8Rng,
    scratch: &mut Writer,
) -> Option<&'a Prepared> {
    let Some(Object::Profile(profile)) = profile else {
        return None;
    };
    let mut choose = |count: usize| {
        let algorithm = profile.algorithm?;
        scratch.clear();
        for &(index, width) in &key.layout.selectors {
            scratch.push_wide(&key.words[key.slots[index] as usize..], width);
        }
        scratch.pad();
        let hash = algorithm.hash(scratch.octets(), 0, &[], || random.next_u64());
        hash.checked_rem(count as u64).map(|choice| choice as usize)
    };
    let member = |id: &u32| profile.members.get(id).map(|(_, prepared)| prepared);
    match outcome {
        Outcome::Run(prepared) => Some(prepared),
        Outcome::Member(id) => member(id),
        Outcome::Group(id) => {
            let choices = profile.choices.get(id)?;
            member(&choices[choose(choices.len())?])
        }
        Outcome::OneShot(choices) => Some(&choices[choose(choices.len())?]),
    }
}
