//! The device: the running program, the saved program, and the state of both that the engine does not store.

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
    /// The program that the switch runs.
    pub running: Option<Loaded>,
    /// The program that was saved and not committed yet. Requests refer to it. The commit replays them, and replaces
    /// the running switch with this one.
    pub saved: Option<(Loaded, Switch)>,
    /// Ports whose link is down.
    pub down: BTreeSet<u16>,
    /// Whether links have changed and groups have not been updated yet.
    pub unfollowed: bool,
    /// Counters of lost messages.
    pub losses: Arc<Losses>,
    /// Applications of the packet generator.
    pub generator: GeneratorApps,
}

/// Applications of the packet generator, which are configured in each program when it is committed.
pub type GeneratorApps = Arc<[(AppId, GeneratorApp)]>;

/// A program with its forwarding state.
#[derive(Debug)]
pub struct Loaded {
    /// The P4Info, bound to the program.
    pub model: Arc<Model>,
    /// The device config as received.
    pub device_config: Arc<[u8]>,
    /// The cookie, if one was received.
    pub cookie: Option<Cookie>,
    /// The state that the engine does not store.
    pub state: State,
}

/// Forwarding state that the engine does not store.
#[derive(Debug, Default)]
pub struct State {
    /// Metadata of table entries that have any. This is not a hash table, because packets would have to wait when it
    /// grows.
    pub entries: HashMap<TableId, BTreeMap<EntryKey, Kept>>,
    /// The entries that have an idle timeout.
    pub aging: Aging,
    /// Metadata of default entries that a client wrote.
    pub defaults: HashMap<TableId, Kept>,
    /// By profile: entries that hold their own group, as written. The engine has only the actions whose port is up.
    pub one_shots: BTreeMap<u32, BTreeMap<(TableId, EntryKey), ActionProfileActionSet>>,
    /// Groups of action selectors as written, by profile and group. The engine has only the members whose port is up.
    pub groups: BTreeMap<(u32, u32), ActionProfileGroup>,
    /// Multicast groups as written.
    pub multicast_groups: BTreeMap<u32, MulticastGroupEntry>,
    /// Clone sessions as written.
    pub clone_sessions: BTreeMap<u32, CloneSessionEntry>,
    /// Digests that are enabled.
    pub digests: BTreeMap<u32, DigestConfig>,
}

/// The error for requests that arrive before any program.
pub fn no_pipeline() -> Fault {
    let message = "no forwarding pipeline config has been set yet; set one first";
    Fault::new(Code::FailedPrecondition, message)
}

/// The key of an entry in its table: its matches in the engine's form, and its priority.
pub type EntryKey = (Vec<Match>, u32);

/// The state that the server stores for an entry.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Kept {
    /// The client's metadata.
    pub metadata: Vec<u8>,
    /// The client's metadata, in the older form.
    pub controller_metadata: u64,
    /// The idle timeout. 0 means that the entry does not age.
    pub idle_timeout_ns: i64,
    /// When the entry was written or last reported as idle.
    pub reported: Instant,
    /// When it will be checked, if it ages.
    pub wake: Option<Wake>,
}

impl Kept {
    /// The idle timeout of an entry that ages.
    pub fn idle_timeout(&self) -> Option<Duration> {
        let ns = u64::try_from(self.idle_timeout_ns).ok()?;
        (ns > 0).then(|| Duration::from_nanos(ns))
    }
}

/// The objects on which a request operates.
#[derive(Debug)]
pub struct Target<'a> {
    /// The engine.
    pub switch: &'a mut Switch,
    /// What the IDs refer to.
    pub model: &'a Model,
    /// The state that the engine does not store.
    pub state: &'a mut State,
    /// Ports whose link is down.
    pub down: &'a BTreeSet<u16>,
    /// Counters of lost messages.
    pub losses: &'a Losses,
    /// The time of the switch.
    pub now: Instant,
}

impl State {
    /// Replaces the stored state of an entry. `None` removes it.
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
    /// The stored state of an entry.
    pub fn kept(&self, table: TableId, key: &EntryKey) -> Option<&Kept> {
        self.entries.get(&table)?.get(key)
    }
}

impl Device {
    /// The target of requests: the saved program if there is one, otherwise the running program.
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

    /// Handles the up or down event of a port's link: updates groups with members that watch the port.
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

    /// Updates groups after links have changed. Does nothing while a batch is prepared, because the stored groups then
    /// include those of the batch.
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

    /// The program to which requests refer.
    pub fn loaded(&self) -> Option<&Loaded> {
        let saved = self.saved.as_ref().map(|(loaded, _)| loaded);
        saved.or(self.running.as_ref())
    }
}
