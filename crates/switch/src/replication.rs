//! Multicast groups and clone sessions.

use p4_vm::{ControlError, copy_some};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The greatest number of a clone session, as in BMv2.
const MAX_SESSION: u16 = 32_767;

/// A copy that a multicast group or a clone session makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Replica {
    /// Where to.
    pub port: u16,
    /// Its `egress_rid`.
    pub rid: u16,
}

/// What a clone (mirror) session does.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CloneSession {
    /// The copies made.
    pub replicas: Vec<Replica>,
    /// Octets that a copy keeps; `None`: all.
    pub truncate: Option<u32>,
}

/// What a switch copies packets to.
#[derive(Debug)]
pub struct Replication {
    copies: Copies,
    /// Those of a batch that packets do not see yet.
    draft: Option<Copies>,
    max_copies: u32,
}

#[derive(Debug, Default)]
struct Copies {
    groups: BTreeMap<u16, Arc<[Replica]>>,
    sessions: BTreeMap<u16, Arc<CloneSession>>,
}

impl Replication {
    /// No groups and no sessions; each may have `max_copies` replicas.
    pub fn new(max_copies: u32) -> Self {
        Replication {
            copies: Copies::default(),
            draft: None,
            max_copies,
        }
    }

    /// Begins a draft.
    pub fn begin_draft(&mut self) {
        self.draft = Some(Copies::default());
    }

    /// Copies at most `most` groups and sessions to the draft, if there is one; whether all are there.
    pub fn copy_to_draft(&mut self, most: usize) -> bool {
        let (from, to) = (&self.copies, &mut self.draft);
        to.as_mut().is_none_or(|to| {
            copy_some(&from.groups, &mut to.groups, most)
                && copy_some(&from.sessions, &mut to.sessions, most)
        })
    }

    /// Puts the draft, if there is one, in the place of what packets see; returns that.
    pub fn publish_draft(&mut self) -> impl Send + use<> {
        let draft = self.draft.take();
        draft.map(|draft| std::mem::replace(&mut self.copies, draft))
    }

    /// Gives up the draft, if there is one; returns it.
    pub fn discard_draft(&mut self) -> impl Send + use<> {
        self.draft.take()
    }

    /// What is changed: the draft, if that is edited and there is one, or what packets see.
    fn changed(&mut self, edits_draft: bool) -> &mut Copies {
        let draft = self.draft.as_mut().filter(|_| edits_draft);
        draft.unwrap_or(&mut self.copies)
    }

    /// Sets a multicast group (1 to 65535), in the draft or for packets; an empty list removes it.
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

    /// Sets a clone session (0 to 32767), in the draft or for packets; `None` removes it.
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

    /// One packet may have so many copies at most.
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
