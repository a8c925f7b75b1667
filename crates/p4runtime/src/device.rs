//! The device: the program that runs, the one that is saved, and what the engine does not keep of them.

use crate::aging::{Aging, Wake};
use crate::entities;
use crate::fault::{Fault, Outcome};
use crate::losses::Losses;
use crate::model::Model;
use crate::proto::v1::digest_entry::Config as DigestConfig;
use crate::proto::v1::forwarding_pipeline_config::Cookie;
use crate::proto::v1::{
    ActionProfileActionSet, ActionProfileGroup, CloneSessionEntry, MulticastGroupEntry,
};
use engine::{AppId, GeneratorApp, Match, Switch};
use p4_ir::TableId;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;
use tonic::Code;
use units::{Duration, Instant};

/// The programs of a device.
#[derive(Debug, Default)]
pub struct Device {
    /// What the switch runs.
    pub running: Option<Loaded>,
    /// What was saved and not committed yet. Requests refer to it, and are replayed by the commit,
    /// which puts this switch in the place of the one that runs.
    pub saved: Option<(Loaded, Switch)>,
    /// Ports whose link is down.
    pub down: BTreeSet<u16>,
    /// Whether links have changed that groups do not follow yet.
    pub unfollowed: bool,
    /// What was lost so far.
    pub losses: Arc<Losses>,
    /// Applications of the packet generator.
    pub generator: GeneratorApps,
}

/// Applications of the packet generator, which are set up in each program as it is committed.
pub type GeneratorApps = Arc<[(AppId, GeneratorApp)]>;

/// A program with its forwarding state.
#[derive(Debug)]
pub struct Loaded {
    /// The P4Info, tied to the program.
    pub model: Arc<Model>,
    /// The device config as it came.
    pub device_config: Arc<[u8]>,
    /// The cookie, if one came.
    pub cookie: Option<Cookie>,
    /// What the engine does not keep.
    pub state: State,
}

/// Forwarding state that the engine does not keep.
#[derive(Debug, Default)]
pub struct State {
    /// Of table entries, where there is anything to keep. No hash table: it would make packets wait as it grows.
    pub entries: HashMap<TableId, BTreeMap<EntryKey, Kept>>,
    /// Those of them that have an idle timeout.
    pub aging: Aging,
    /// Of default entries that a client wrote.
    pub defaults: HashMap<TableId, Kept>,
    /// By profile: entries that hold their own group, as it was written. The engine's have the actions
    /// whose port is up.
    pub one_shots: BTreeMap<u32, BTreeMap<(TableId, EntryKey), ActionProfileActionSet>>,
    /// Groups of action selectors as they were written, by profile and group. The engine's have the
    /// members whose port is up.
    pub groups: BTreeMap<(u32, u32), ActionProfileGroup>,
    /// Multicast groups as they were written.
    pub multicast_groups: BTreeMap<u32, MulticastGroupEntry>,
    /// Clone sessions as they were written.
    pub clone_sessions: BTreeMap<u32, CloneSessionEntry>,
    /// Digests that are enabled.
    pub digests: BTreeMap<u32, DigestConfig>,
}

/// The answer to requests that come before any program.
pub fn no_pipeline() -> Fault {
    let message = "no forwarding pipeline config has been set yet; set one first";
    Fault::new(Code::FailedPrecondition, message)
}

/// What names an entry in its table: its matches in the engine's form, and its priority.
pub type EntryKey = (Vec<Match>, u32);

/// What is kept of an entry.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Kept {
    /// The client's.
    pub metadata: Vec<u8>,
    /// The client's, in its older form.
    pub controller_metadata: u64,
    /// 0: it does not age.
    pub idle_timeout_ns: i64,
    /// When it was written or last reported as idle.
    pub reported: Instant,
    /// When it is looked at, if it ages.
    pub wake: Option<Wake>,
}

impl Kept {
    /// How long an entry that ages may stay without a hit.
    pub fn idle_timeout(&self) -> Option<Duration> {
        let ns = u64::try_from(self.idle_timeout_ns).ok()?;
        (ns > 0).then(|| Duration::from_nanos(ns))
    }
}

/// What a request works on.
#[derive(Debug)]
pub struct Target<'a> {
    /// The engine.
    pub switch: &'a mut Switch,
    /// What IDs stand for.
    pub model: &'a Model,
    /// What the engine does not keep.
    pub state: &'a mut State,
    /// Ports whose link is down.
    pub down: &'a BTreeSet<u16>,
    /// What was lost so far.
    pub losses: &'a Losses,
    /// The switch's time.
    pub now: Instant,
}

impl State {
    /// Keeps what belongs to an entry, instead of what was kept of it; nothing where `kept` is `None`.
    pub fn keep(&mut self, table: TableId, key: EntryKey, kept: Option<Kept>) {
        let entries = self.entries.entry(table).or_default();
        let before = entries.remove(&key);
        if let Some(wake) = before.and_then(|before| before.wake) {
            self.aging.cancel(wake);
        }
        if let Some(mut kept) = kept {
            kept.wake = kept.idle_timeout().map(|timeout| {
                let at = kept.reported + timeout;
                self.aging.schedule(at, table, key.clone())
            });
            entries.insert(key, kept);
        }
    }
}

impl State {
    /// What is kept of an entry.
    pub fn kept(&self, table: TableId, key: &EntryKey) -> Option<&Kept> {
        self.entries.get(&table)?.get(key)
    }
}

impl Device {
    /// What requests refer to: the saved program, else the running one.
    ///
    /// # Errors
    /// `FAILED_PRECONDITION` if there is neither.
    pub fn target<'a>(
        &'a mut self,
        switch: &'a mut Option<Switch>,
        now: Instant,
    ) -> Outcome<Target<'a>> {
        let (loaded, switch) = match (&mut self.saved, &mut self.running, switch) {
            (Some((loaded, switch)), ..) => (loaded, switch),
            (None, Some(loaded), Some(switch)) => (loaded, switch),
            _ => {
                return Err(no_pipeline());
            }
        };
        Ok(Target {
            switch,
            model: &loaded.model,
            state: &mut loaded.state,
            down: &self.down,
            losses: &self.losses,
            now,
        })
    }

    /// A port's link has come up, or gone down: groups with members that watch it change.
    pub fn set_link(&mut self, switch: &mut Option<Switch>, now: Instant, port: u16, up: bool) {
        let changed = match up {
            true => self.down.remove(&port),
            false => self.down.insert(port),
        };
        if changed {
            self.unfollowed = true;
            self.follow_links(switch, now);
        }
    }

    /// Has groups follow links that have changed: not while a batch is prepared, as they are partly those of the batch.
    pub fn follow_links(&mut self, switch: &mut Option<Switch>, now: Instant) {
        let saved = self.saved.as_ref().map(|(_, switch)| switch);
        let mut switches = switch.iter().chain(saved);
        if !self.unfollowed || switches.any(|switch| switch.has_draft()) {
            return;
        }
        self.unfollowed = false;
        let running = self.running.iter_mut().zip(switch);
        let saved = self
            .saved
            .iter_mut()
            .map(|(loaded, switch)| (loaded, switch));
        for (loaded, switch) in running.chain(saved) {
            entities::link_changed(&mut Target {
                switch,
                model: &loaded.model,
                state: &mut loaded.state,
                down: &self.down,
                losses: &self.losses,
                now,
            });
        }
    }

    /// Whether entries of the running program have an idle timeout.
    pub fn ages(&self) -> bool {
        let running = self.running.as_ref();
        running.is_some_and(|running| !running.state.aging.is_empty())
    }

    /// The program that requests refer to.
    pub fn loaded(&self) -> Option<&Loaded> {
        let saved = self.saved.as_ref().map(|(loaded, _)| loaded);
        saved.or(self.running.as_ref())
    }
}
