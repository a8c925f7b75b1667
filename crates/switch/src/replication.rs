//! Multicast groups and clone sessions.

use p4_vm::{ControlError, copy_some};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The largest number of a clone session, as in BMv2.
const MAX_SESSION: u16 = 32_767;

/// A copy that a multicast group or a clone session makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Replica {
    /// The egress port.
    pub port: u16,
    /// Its `egress_rid`.
    pub rid: u16,
}

/// The configuration of a clone (mirror) session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CloneSession {
    /// The copies made.
    pub replicas: Vec<Replica>,
    /// Octets that a copy keeps. `None` means all.
    pub truncate: Option<u32>,
}

/// The multicast groups and clone sessions of a switch.
#[derive(Debug)]
pub struct Replication {
    copies: Copies,
    /// The groups and sessions of a batch that is not published yet.
    draft: Option<Copies>,
    max_copies: u32,
}

#[derive(Debug, Default)]
struct Copies {
    groups: BTreeMap<u16, Arc<[Replica]>>,
    sessions: BTreeMap<u16, Arc<CloneSession>>,
}

impl Replication {
    /// Creates an empty set of groups and sessions. Each may have `max_copies` replicas.
    pub fn new(max_copies: u32) -> Self {
        Replication {
            copies: Copies::default(),
            draft: None,
            max_copies,
        }
    }

    /// Begins an empty draft.
    pub fn begin_draft(&mut self) {
        self.draft = Some(Copies::default());
    }

    /// Copies at most `most` groups and sessions to the draft, if there is one. Returns whether the copy is complete.
    pub fn copy_to_draft(&mut self, most: usize) -> bool {
        let (from, to) = (&self.copies, &mut self.draft);
        to.as_mut().is_none_or(|to| {
            copy_some(&from.groups, &mut to.groups, most)
                && copy_some(&from.sessions, &mut to.sessions, most)
        })
    }

    /// Replaces the groups and sessions with the draft, if there is one. Returns the replaced ones.
    pub fn publish_draft(&mut self) -> impl Send + use<> {
        let draft = self.draft.take();
        draft.map(|draft| std::mem::replace(&mut self.copies, draft))
    }

    /// Discards the draft, if there is one, and returns it.
    pub fn discard_draft(&mut self) -> impl Send + use<> {
        self.draft.take()
    }

    /// The copies to edit: the draft if `edits_draft` is set and there is one, otherwise those that packets use.
    fn changed(&mut self, edits_draft: bool) -> &mut Copies {
        let draft = self.draft.as_mut().filter(|_| edits_draft);
        draft.unwrap_or(&mut self.copies)
    }

    /// Sets a multicast group (1 to 65535) in the draft or for packets. An empty list removes the group.
    pub fn set_group(
        &mut self,
        edits_draft: bool,
        group: u16,
        replicas: Vec<Replica>,
    ) -> Result<(), ControlError> {
        if group == 0 {
            return Err(ControlError::Invalid {
                at: "multicast group".into(),
                expected: "a number from 1 to 65535".into(),
                found: "0, which means no multicast".into(),
            });
        }
        self.check("multicast group", &replicas)?;
        let groups = &mut self.changed(edits_draft).groups;
        if replicas.is_empty() {
            groups.remove(&group);
        } else {
            groups.insert(group, replicas.into());
        }
        Ok(())
    }

    /// A multicast group's replicas, if there is one.
    pub fn group(&self, group: u16) -> Option<&Arc<[Replica]>> {
        self.copies.groups.get(&group)
    }

    /// All multicast groups.
    pub fn groups(&self) -> impl Iterator<Item = (u16, &[Replica])> {
        let groups = self.copies.groups.iter();
        groups.map(|(&group, replicas)| (group, &**replicas))
    }

    /// Sets a clone session (0 to 32767) in the draft or for packets. `None` removes the session.
    pub fn set_session(
        &mut self,
        edits_draft: bool,
        session: u16,
        to: Option<CloneSession>,
    ) -> Result<(), ControlError> {
        if session > MAX_SESSION {
            return Err(ControlError::Invalid {
                at: "clone session".into(),
                expected: format!("a number from 0 to {MAX_SESSION}"),
                found: session.to_string(),
            });
        }
        if let Some(to) = &to {
            self.check("clone session", &to.replicas)?;
        }
        let sessions = &mut self.changed(edits_draft).sessions;
        match to {
            Some(to) => sessions.insert(session, to.into()),
            None => sessions.remove(&session),
        };
        Ok(())
    }

    /// A clone session, if there is one.
    pub fn session(&self, session: u16) -> Option<&Arc<CloneSession>> {
        self.copies.sessions.get(&session)
    }

    /// All clone sessions.
    pub fn sessions(&self) -> impl Iterator<Item = (u16, &CloneSession)> {
        let sessions = self.copies.sessions.iter();
        sessions.map(|(&session, to)| (session, &**to))
    }

    /// Checks the number of replicas: a packet may have at most `max_copies` copies.
    fn check(&self, at: &str, replicas: &[Replica]) -> Result<(), ControlError> {
        let most = self.max_copies;
        if replicas.len() <= most as usize {
            return Ok(());
        }
        Err(ControlError::Invalid {
            at: at.into(),
            expected: format!("at most {most} replicas"),
            found: replicas.len().to_string(),
        })
    }
}
