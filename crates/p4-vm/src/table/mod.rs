//! The entries of a table: checked and stored as a control plane sees them, and indexed for look-ups.

mod chunks;
mod constant;
mod direct;
mod draft;
mod filter;
mod gradual;
mod index;
mod key;
mod prefixes;
#[cfg(feature = "native")]
mod recent;
mod tuples;

pub use constant::source_entries;
pub use direct::{Direct, DirectObjects, DirectWrite};
#[cfg(feature = "native")]
pub use key::KeyField;
pub use key::KeyLayout;

use crate::cells;
use crate::pending::{Writable, Writes, found_as};
use crate::wide::{limbs_of, words_of_value};
use crate::{ActionSpec, ControlError, DirectOf, Entry, EntryAction, Match};
#[cfg(feature = "native")]
use crate::{
    CounterData,
    native::{self, Found},
};
use chunks::Chunks;
use foldhash::fast::FixedState;
use gradual::Gradual;
use index::{Index, Indexed, Slab};
use num_bigint::BigUint;
use p4_ir::{ActionId, ExternId, MatchKind, Program, TableId};
#[cfg(feature = "native")]
use recent::Recent;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::hash::BuildHasher;
#[cfg(feature = "native")]
use std::mem::offset_of;
use std::sync::Arc;
use units::Instant;

/// An action with its data as words, ready to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prepared {
    /// The action in the program.
    pub id: ActionId,
    /// The index of the action in the table.
    pub index: u32,
    /// Shared by a table and its draft, like all large parts of an entry.
    pub args: Arc<[u64]>,
}

/// Converts an action's data to words. Values are cut to their width; callers have checked them.
pub fn prepare(program: &Program, table: TableId, spec: &ActionSpec) -> Prepared {
    let listed = program[table]
        .actions
        .iter()
        .position(|a| a.action == spec.action);
    let params = &program[spec.action].params;
    let args = params
        .iter()
        .zip(&spec.args)
        .flat_map(|(param, arg)| limbs_of(arg, param.ty.scalar(program).map_or(0, words_of_value)))
        .collect();
    Prepared {
        id: spec.action,
        index: listed.unwrap_or(0) as u32,
        args,
    }
}

/// The action of an entry, ready to run.
#[derive(Clone, Debug)]
pub enum Outcome {
    Run(Prepared),
    Member(u32),
    Group(u32),
    /// Actions, each repeated according to its weight.
    OneShot(Vec<Prepared>),
}

/// A reference from an entry to an action profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reference {
    Member(u32),
    Group(u32),
}

impl Reference {
    pub fn of(action: &EntryAction) -> Option<Self> {
        match action {
            EntryAction::Member(id) => Some(Reference::Member(*id)),
            EntryAction::Group(id) => Some(Reference::Group(*id)),
            EntryAction::Run(_) | EntryAction::OneShot(_) => None,
        }
    }
}

/// An entry and its origin.
#[derive(Clone, Debug)]
pub struct Row {
    pub entry: Entry,
    /// The order of insertion.
    sequence: u64,
    constant: bool,
}

/// The parts of an entry, or of the default, that packets change. A table and its draft share it.
#[derive(Debug, Default)]
struct Touched {
    direct: Direct,
    last_hit: Instant,
}

/// Offsets of the direct counter and of the time of the last hit, for compiled code.
#[cfg(feature = "native")]
pub const NOTED: native::Noted = native::Noted {
    packets: offset_of!(Touched, direct) + Direct::COUNTER + offset_of!(CounterData, packets),
    octets: offset_of!(Touched, direct) + Direct::COUNTER + offset_of!(CounterData, octets),
    last_hit: offset_of!(Touched, last_hit),
};

impl Row {
    /// Whether the source declares it as constant.
    pub fn is_constant(&self) -> bool {
        self.constant
    }
}

/// The origin of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    Control,
    /// The source; a control plane may change it.
    Source,
    /// The source, as a constant.
    Constant,
}

/// A table at run time.
#[derive(Debug)]
pub struct TableState {
    pub layout: KeyLayout,
    rows: Chunks<Option<Arc<Row>>>,
    touched: Chunks<Touched>,
    /// The action of each row. Most look-ups need nothing else.
    outcomes: Chunks<Outcome>,
    default: Outcome,
    /// The default as the control plane wrote it.
    default_action: EntryAction,
    /// The cells of the default, which misses update.
    default_touched: Touched,
    /// Deferred writes of a batch to the cells of entries and of the default.
    pending: Writes<Direct, Option<u32>>,
    pub profile: Option<ExternId>,
    /// The configuration of its direct objects.
    pub objects: DirectObjects,
    /// Whether a hit has no side effects.
    pub plain: bool,
    index: Index,
    slab: Slab,
    free: Vec<u32>,
    /// For a draft, the numbers of entries that were added or removed since it was begun.
    changed: Option<draft::Changed>,
    /// Entries by matches and priority.
    by_key: Gradual<u32>,
    /// Entries by `sequence`.
    by_age: BTreeMap<u64, u32>,
    /// How many entries name each member and group.
    references: BTreeMap<Reference, usize>,
    next_sequence: u64,
    size: Option<u64>,
    name: String,
    key: Vec<u64>,
    masked: Vec<u64>,
    /// Results of recent look-ups. Cleared when the table changes.
    #[cfg(feature = "native")]
    recent: Recent,
}

impl TableState {
    /// Creates an empty table. If `ternary` is set, entries are selected by priority even if all keys are exact.
    pub fn new(
        program: &Program,
        id: TableId,
        ternary: bool,
        default: ActionSpec,
        objects: DirectObjects,
    ) -> Self {
        let table = &program[id];
        let layout = KeyLayout::new(program, table);
        TableState {
            index: Index::new(&layout, ternary),
            slab: Slab::new(layout.words),
            key: vec![0; layout.words],
            masked: vec![0; layout.words],
            layout,
            rows: Chunks::default(),
            touched: Chunks::default(),
            outcomes: Chunks::default(),
            default: Outcome::Run(Prepared {
                id: default.action,
                index: 0,
                args: Arc::default(),
            }),
            default_action: EntryAction::Run(default),
            default_touched: Touched {
                direct: objects.cells(),
                ..Touched::default()
            },
            pending: BTreeMap::new(),
            profile: table.implementation.map(|id| program.action_profile(id)),
            plain: objects.is_empty() && !table.support_timeout,
            objects,
            free: Vec::new(),
            changed: None,
            by_key: Gradual::default(),
            by_age: BTreeMap::new(),
            references: BTreeMap::new(),
            next_sequence: 0,
            size: table.size,
            name: table.name.clone(),
            #[cfg(feature = "native")]
            recent: Recent::default(),
        }
    }

    /// Enables caching of recent look-ups for keys of the given number of words. Returns the address for compiled code.
    #[cfg(feature = "native")]
    pub fn keep_recent(&mut self, words: usize) -> usize {
        self.recent = Recent::new(words);
        self.recent.address()
    }

    /// Caches the result of a look-up until the table changes.
    #[cfg(feature = "native")]
    #[inline]
    pub fn keep(&mut self, key: &[u64], found: Found) {
        self.recent.keep(key, found);
    }

    /// The side effects that compiled code must perform for a cached look-up.
    #[cfg(feature = "native")]
    pub fn note_of(&self) -> native::Note {
        let DirectObjects {
            counter,
            meter,
            register,
            filter,
            on_hit,
        } = &self.objects;
        // Objects that an action calls refer to the entry that was hit last, which the interpreter records.
        let counts_alone = *on_hit && meter.is_none() && register.is_empty() && filter.is_none();
        match counter {
            _ if self.plain => native::Note::Nothing,
            None if self.objects.is_empty() => native::Note::Counted(None),
            Some(_) if counts_alone => native::Note::Counted(*counter),
            _ => native::Note::Called,
        }
    }

    /// The value of [`Found::noted`] for an entry or for the default.
    #[cfg(feature = "native")]
    #[inline]
    pub fn noted(&mut self, found: Option<u32>) -> usize {
        match self.note_of() {
            native::Note::Nothing => 0,
            native::Note::Called => found.unwrap_or(crate::code::NONE) as usize,
            native::Note::Counted(_) => (&raw mut *self.touched_mut(found)).expose_provenance(),
        }
    }

    /// Clears the recent look-ups, because keys may lead elsewhere from now on.
    #[inline]
    pub fn forget_recent(&mut self) {
        #[cfg(feature = "native")]
        self.recent.forget();
    }

    /// The entry hit by the values at `slots`.
    #[inline(always)]
    pub fn lookup(&mut self, words: &[u64], slots: &[u32]) -> Option<u32> {
        match self.layout.words {
            0 => None,
            1 => self.lookup_word(self.layout.pack_word(words, slots)),
            _ => {
                self.layout.pack(words, slots, &mut self.key);
                self.index
                    .lookup(&self.slab, &self.layout, &self.key, &mut self.masked)
            }
        }
    }

    /// The entry that a packed key hits. Further words may follow the key.
    #[cfg(feature = "native")]
    #[inline]
    pub fn lookup_packed(&mut self, key: &[u64]) -> Option<u32> {
        match self.layout.words {
            0 => None,
            1 => self.lookup_word(key[0]),
            words => self
                .index
                .lookup(&self.slab, &self.layout, &key[..words], &mut self.masked),
        }
    }

    /// The entry hit by a key that is packed into one word.
    #[inline(always)]
    pub fn lookup_word(&mut self, key: u64) -> Option<u32> {
        if let Index::Array(places) = &self.index {
            return index::at(places, key);
        }
        self.index
            .lookup(&self.slab, &self.layout, &[key], &mut self.masked)
    }

    /// The number of the entry with these matches and this priority.
    pub fn find(&self, matches: &[Match], priority: u32) -> Result<u32, ControlError> {
        let matches = self.normalise(matches)?;
        self.named(&matches, priority)
            .ok_or_else(|| ControlError::NotFound {
                at: format!("table `{}`", self.name),
                what: format!("entry with {}", self.name_of(&matches, priority)),
            })
    }

    /// What identifies an entry: its key, and its priority if the table's entries have one.
    fn name_of(&self, matches: &[Match], priority: u32) -> String {
        let key = show(matches);
        match self.by_priority() {
            true => format!("the key {key} and priority {priority}"),
            false => format!("the key {key}"),
        }
    }

    /// The entry with these normalised matches and this priority.
    fn named(&self, matches: &[Match], priority: u32) -> Option<u32> {
        let is = |&id: &u32| {
            let entry = &self.row(id).entry;
            entry.priority == priority && entry.matches == matches
        };
        self.by_key.find(hash_of(matches, priority), is).copied()
    }

    /// An entry by its number.
    pub fn row(&self, id: u32) -> &Row {
        self.rows[id as usize]
            .as_ref()
            .expect("numbers given out name entries")
    }

    /// Performs the side effects of a look-up: updates the counter, the meter and the time of the last hit. A miss
    /// updates the default. Returns the colour from the direct meter.
    #[inline(never)]
    pub fn note(&mut self, found: Option<u32>, now: Instant, octets: u32) -> Option<u64> {
        if let Some(id) = found {
            self.touched[id as usize].last_hit = now;
        }
        if !self.objects.on_hit {
            return None;
        }
        self.count(found, octets);
        self.measure(found, now, octets, 0)
    }

    /// Counts a packet in the direct counter of the entry, or of the default, that a look-up found.
    pub fn count(&mut self, found: Option<u32>, octets: u32) {
        if let Some(counted) = self.objects.counter {
            cells::count(&mut self.cells_mut(found).counter, counted, octets);
        }
    }

    /// Measures a packet with the direct meter of the entry, or of the default, that a look-up found. Returns the
    /// colour.
    pub fn measure(
        &mut self,
        found: Option<u32>,
        now: Instant,
        octets: u32,
        before: u64,
    ) -> Option<u64> {
        let unit = self.objects.meter?;
        let meter = &mut self.cells_mut(found).meter;
        Some(meter.execute(now, unit, octets, before))
    }

    /// The cells of the entry, or of the default, that a look-up found.
    #[inline]
    pub fn cells_mut(&mut self, found: Option<u32>) -> &mut Direct {
        if !self.pending.is_empty() {
            self.settle(found);
        }
        self.stored_cells_mut(found)
    }

    #[inline]
    fn stored_cells_mut(&mut self, found: Option<u32>) -> &mut Direct {
        &mut self.touched_mut(found).direct
    }

    #[inline]
    fn touched_mut(&mut self, found: Option<u32>) -> &mut Touched {
        match found {
            Some(id) => &mut self.touched[id as usize],
            None => &mut self.default_touched,
        }
    }

    /// Carries out the deferred write to the cells of an entry or of the default.
    #[cold]
    fn settle(&mut self, of: Option<u32>) {
        if let Some(write) = self.pending.remove(&of) {
            self.stored_cells_mut(of).write(write);
        }
    }

    /// The default action, as the control plane wrote it.
    pub fn default_action(&self) -> &EntryAction {
        &self.default_action
    }

    /// Sets the default action.
    pub fn set_default(&mut self, outcome: Outcome, action: EntryAction) {
        self.forget_recent();
        self.default = outcome;
        self.default_action = action;
    }

    /// The action of the entry, or of the default, that a look-up found.
    #[inline]
    pub fn outcome(&self, found: Option<u32>) -> &Outcome {
        match found {
            Some(id) => &self.outcomes[id as usize],
            None => &self.default,
        }
    }

    /// An entry by its number, mutable. If a draft shares it, it is copied first.
    fn row_mut(&mut self, id: u32) -> &mut Row {
        let row = self.rows[id as usize].as_mut();
        Arc::make_mut(row.expect("numbers given out name entries"))
    }

    /// The number of the given entry. `None` stands for the default.
    pub fn numbered(&self, of: DirectOf<'_>) -> Result<Option<u32>, ControlError> {
        match of {
            DirectOf::Entry(matches, priority) => self.find(matches, priority).map(Some),
            DirectOf::Default => Ok(None),
        }
    }

    /// The cells of an entry or of the default, as packets see them.
    pub fn cells(&self, of: Option<u32>) -> Cow<'_, Direct> {
        let cells = match of {
            Some(id) => &self.touched[id as usize].direct,
            None => &self.default_touched.direct,
        };
        found_as(cells, self.pending.get(&of))
    }

    /// When an entry was last hit, or inserted if it was never hit.
    pub fn last_hit(&self, id: u32) -> Instant {
        self.touched[id as usize].last_hit
    }

    /// Whether entries are selected by priority.
    pub fn by_priority(&self) -> bool {
        self.index.by_priority()
    }

    /// Entries in the order of insertion, each with its number in the table.
    pub fn in_order(&self) -> impl Iterator<Item = (u32, &Row)> {
        self.by_age.values().map(|&id| (id, self.row(id)))
    }

    /// Entries whose sequence number is at least `from`, each with that number.
    pub fn in_order_from(&self, from: u64) -> impl Iterator<Item = (u64, &Row)> {
        let entries = self.by_age.range(from..);
        entries.map(|(&number, &id)| (number, self.row(id)))
    }

    /// Adds an entry whose action has been checked. Returns its number, for [`renew`](Self::renew).
    pub fn insert(
        &mut self,
        entry: Entry,
        outcome: Outcome,
        origin: Origin,
    ) -> Result<u32, ControlError> {
        let at = || format!("table `{}`", self.name);
        let matches = self.normalise(&entry.matches)?;
        if origin == Origin::Control {
            self.check_priority(entry.priority)?;
            if let Some(size) = self.size.filter(|&size| self.by_key.len() as u64 >= size) {
                return Err(ControlError::Full { at: at(), size });
            }
        }
        if self.named(&matches, entry.priority).is_some() {
            let what = format!("an entry with {}", self.name_of(&matches, entry.priority));
            return Err(ControlError::Exists { at: at(), what });
        }
        self.forget_recent();
        let indexed = self.indexed(&matches, entry.priority);
        let id = self.take_number();
        self.outcomes[id as usize] = outcome;
        self.slab.set(id, indexed);
        self.index.insert(&self.slab, id);
        self.refer(&entry.action);
        let key = hash_of(&matches, entry.priority);
        self.rows[id as usize] = Some(Arc::new(Row {
            entry: Entry { matches, ..entry },
            sequence: self.next_sequence,
            constant: origin == Origin::Constant,
        }));
        self.by_age.insert(self.next_sequence, id);
        self.next_sequence += 1;
        self.name_by_key(key, id);
        Ok(id)
    }

    /// Registers an entry for look-up by its matches and priority, whose hash is `key`.
    fn name_by_key(&mut self, key: u64, id: u32) {
        let rows = &self.rows;
        self.by_key.insert_unique(key, id, |&other| {
            let entry = rows[other as usize].as_ref().map(|row| &row.entry);
            entry.map_or(0, |entry| hash_of(&entry.matches, entry.priority))
        });
    }

    /// Initialises the cells of an entry that has just been inserted, here or in the draft of this table.
    pub fn renew(&mut self, id: u32, now: Instant) {
        // The cells may have to move to make room.
        self.forget_recent();
        self.pending.remove(&Some(id));
        let fresh = Touched {
            direct: self.objects.cells(),
            last_hit: now,
        };
        match (id as usize) < self.touched.len() {
            true => self.touched[id as usize] = fresh,
            false => self.touched.push(fresh),
        }
    }

    /// Changes the action of an entry.
    pub fn modify(&mut self, entry: Entry, outcome: Outcome) -> Result<(), ControlError> {
        let id = self.find(&entry.matches, entry.priority)?;
        self.check_changeable(id)?;
        self.forget_recent();
        self.refer(&entry.action);
        let before = std::mem::replace(&mut self.row_mut(id).entry.action, entry.action);
        self.release(&before);
        self.outcomes[id as usize] = outcome;
        Ok(())
    }

    /// Removes an entry.
    pub fn delete(&mut self, matches: &[Match], priority: u32) -> Result<(), ControlError> {
        let id = self.find(matches, priority)?;
        self.check_changeable(id)?;
        self.forget_recent();
        self.index.remove(&self.slab, id);
        if let Some(row) = self.rows[id as usize].take() {
            self.release(&row.entry.action);
            self.by_age.remove(&row.sequence);
            let key = hash_of(&row.entry.matches, priority);
            self.by_key.remove(key, |&other| other == id);
        }
        self.give_number(id);
        Ok(())
    }

    /// Whether an entry, or the default, has this reference.
    pub fn uses(&self, reference: Reference) -> bool {
        self.references.contains_key(&reference)
            || Reference::of(&self.default_action) == Some(reference)
    }

    fn refer(&mut self, action: &EntryAction) {
        if let Some(reference) = Reference::of(action) {
            *self.references.entry(reference).or_default() += 1;
        }
    }

    fn release(&mut self, action: &EntryAction) {
        if let Some(reference) = Reference::of(action)
            && let Some(count) = self.references.get_mut(&reference)
        {
            *count -= 1;
            if *count == 0 {
                self.references.remove(&reference);
            }
        }
    }

    fn check_changeable(&self, id: u32) -> Result<(), ControlError> {
        if !self.row(id).is_constant() {
            return Ok(());
        }
        Err(ControlError::Constant {
            at: format!("table `{}`", self.name),
            what: format!(
                "the entry with the key {}",
                show(&self.row(id).entry.matches)
            ),
        })
    }

    fn check_priority(&self, priority: u32) -> Result<(), ControlError> {
        let expected = match (self.index.by_priority(), priority) {
            (true, 0) => "a priority of at least 1, as a key is ternary, range or optional",
            (false, 1..) => "priority 0, as all keys are exact or lpm",
            _ => return Ok(()),
        };
        Err(ControlError::Invalid {
            at: format!("table `{}`", self.name),
            expected: expected.into(),
            found: priority.to_string(),
        })
    }

    /// Checks matches against the keys, and converts each to its canonical form.
    fn normalise(&self, matches: &[Match]) -> Result<Vec<Match>, ControlError> {
        let fields = &self.layout.fields;
        if matches.len() != fields.len() {
            let names: Vec<_> = fields.iter().map(|field| field.name.as_str()).collect();
            return Err(ControlError::Invalid {
                at: format!("table `{}`", self.name),
                expected: format!("{} matches ({})", fields.len(), names.join(", ")),
                found: matches.len().to_string(),
            });
        }
        let by_priority = self.index.by_priority();
        fields
            .iter()
            .zip(matches)
            .map(|(field, given)| field.normalise(given, by_priority, &self.name))
            .collect()
    }

    fn indexed(&self, matches: &[Match], priority: u32) -> Indexed {
        let mut indexed = Indexed {
            value: vec![0; self.layout.words],
            mask: vec![0; self.layout.words],
            // Of entries with the same priority, the first one wins.
            rank: (priority as u64) << 32
                | (u32::MAX as u64 - self.next_sequence.min(u32::MAX as u64)),
            ..Indexed::default()
        };
        for (i, (field, set)) in self.layout.fields.iter().zip(matches).enumerate() {
            let (value, mask) = match set {
                Match::Any => continue,
                Match::Exact(value) => (value, field.ones()),
                Match::Ternary { value, mask } => (value, mask.clone()),
                Match::Lpm { value, prefix } => (value, field.prefix_mask(*prefix)),
                Match::Range { low, high } => {
                    let limbs = field.limbs as u32;
                    indexed
                        .ranges
                        .push((i, limbs_of(low, limbs), limbs_of(high, limbs)));
                    continue;
                }
            };
            if field.kind == MatchKind::Lpm {
                indexed.prefix = match set {
                    Match::Lpm { prefix, .. } => *prefix,
                    _ => field.width,
                };
            }
            self.layout.put(field, value, &mut indexed.value);
            self.layout.put(field, &mask, &mut indexed.mask);
        }
        indexed
    }
}

fn hash_of(matches: &[Match], priority: u32) -> u64 {
    FixedState::with_seed(0).hash_one((matches, priority))
}

impl key::KeyField {
    fn prefix_mask(&self, prefix: u32) -> BigUint {
        self.ones() >> (self.width - prefix) << (self.width - prefix)
    }

    fn normalise(
        &self,
        given: &Match,
        by_priority: bool,
        table: &str,
    ) -> Result<Match, ControlError> {
        let at = || format!("table `{table}`, key `{}`", self.name);
        let invalid = |expected: String, found: String| {
            Err(ControlError::Invalid {
                at: at(),
                expected,
                found,
            })
        };
        let fits = |value: &BigUint| match value.bits() <= self.width as u64 {
            true => Ok(()),
            false => Err(ControlError::Invalid {
                at: at(),
                expected: format!("a value of {} bits", self.width),
                found: format!("{value:#x}"),
            }),
        };
        let within = |value: &BigUint, mask: &BigUint| {
            fits(value)?;
            fits(mask)?;
            let kept = value & mask;
            if kept != *value {
                return invalid(
                    format!("zero where the mask is: {kept:#x}"),
                    format!("{value:#x}"),
                );
            }
            Ok(match mask {
                _ if *mask == BigUint::ZERO => Match::Any,
                _ if *mask == self.ones() => Match::Exact(kept),
                _ => Match::Ternary {
                    value: kept,
                    mask: mask.clone(),
                },
            })
        };
        let kind = match &self.kind {
            // Entries of the source may omit an exact key. The table is then looked up by priority.
            MatchKind::Exact if by_priority => &MatchKind::Ternary,
            kind => kind,
        };
        match (kind, given) {
            (MatchKind::Exact, Match::Exact(value)) | (_, Match::Exact(value)) => {
                fits(value)?;
                Ok(Match::Exact(value.clone()))
            }
            (MatchKind::Exact, _) => {
                invalid("an exact value".into(), show(std::slice::from_ref(given)))
            }
            (_, Match::Any) => Ok(Match::Any),
            (MatchKind::Lpm | MatchKind::Ternary, Match::Lpm { value, prefix }) => {
                if *prefix > self.width {
                    return invalid(
                        format!("a prefix of at most {} bits", self.width),
                        prefix.to_string(),
                    );
                }
                let set = within(value, &self.prefix_mask(*prefix))?;
                Ok(match set {
                    Match::Ternary { value, .. } if self.kind == MatchKind::Lpm => Match::Lpm {
                        value,
                        prefix: *prefix,
                    },
                    other => other,
                })
            }
            (MatchKind::Ternary, Match::Ternary { value, mask }) => within(value, mask),
            (MatchKind::Range, Match::Range { low, high }) => {
                fits(low)?;
                fits(high)?;
                if low > high {
                    return invalid("low ≤ high".into(), format!("{low:#x}..{high:#x}"));
                }
                Ok(match low == high {
                    true => Match::Exact(low.clone()),
                    false if *low == BigUint::ZERO && *high == self.ones() => Match::Any,
                    false => given.clone(),
                })
            }
            (kind, _) => invalid(
                match kind {
                    MatchKind::Lpm => "a prefix (lpm), a value, or any",
                    MatchKind::Range => "a range, a value, or any",
                    MatchKind::Optional => "a value, or any (optional)",
                    _ => "a value and a mask (ternary), a value, or any",
                }
                .into(),
                show(std::slice::from_ref(given)),
            ),
        }
    }
}

/// Formats matches for a message.
fn show(matches: &[Match]) -> String {
    let texts: Vec<_> = matches
        .iter()
        .map(|set| match set {
            Match::Any => "*".to_string(),
            Match::Exact(value) => format!("{value:#x}"),
            Match::Lpm { value, prefix } => format!("{value:#x}/{prefix}"),
            Match::Ternary { value, mask } => format!("{value:#x} &&& {mask:#x}"),
            Match::Range { low, high } => format!("{low:#x}..{high:#x}"),
        })
        .collect();
    format!("({})", texts.join(", "))
}
