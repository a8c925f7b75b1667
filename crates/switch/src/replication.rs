//! Multicast groups and clone sessions.

use p4_vm::ControlError;
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
    groups: BTreeMap<u16, Arc<[Replica]>>,
    sessions: BTreeMap<u16, Arc<CloneSession>>,
    max_copies: u32,
}

impl Replication {
    /// No groups and no sessions; each may have `max_copies` replicas.
    pub fn new(max_copies: u32) -> Self {
        Replication {
            groups: BTreeMap::new(),
            sessions: BTreeMap::new(),
            max_copies,
        }
    }

    /// Sets a multicast group (1 to 65535); an empty list removes it.
    pub fn set_group(&mut self, group: u16, replicas: Vec<Replica>) -> Result<(), ControlError> {
        if group == 0 {
            return Err(ControlError::Invalid {
                at: "multicast group".into(),
                expected: "a number from 1 to 65535".into(),
                found: "0, which means no multicast".into(),
            });
        }
        self.check("multicast group", &replicas)?;
        if replicas.is_empty() {
            self.groups.remove(&group);
        } else {
            self.groups.insert(group, replicas.into());
        }
        Ok(())
    }

    /// A multicast group's replicas, if there is one.
    pub fn group(&self, group: u16) -> Option<&Arc<[Replica]>> {
        self.groups.get(&group)
    }

    /// All multicast groups.
    pub fn groups(&self) -> impl Iterator<Item = (u16, &[Replica])> {
        let groups = self.groups.iter();
        groups.map(|(&group, replicas)| (group, &**replicas))
    }

    /// Sets a clone session (0 to 32767); `None` removes it.
    pub fn set_session(
        &mut self,
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
        match to {
            Some(to) => self.sessions.insert(session, to.into()),
            None => self.sessions.remove(&session),
        };
        Ok(())
    }

    /// A clone session, if there is one.
    pub fn session(&self, session: u16) -> Option<&Arc<CloneSession>> {
        self.sessions.get(&session)
    }

    /// All clone sessions.
    pub fn sessions(&self) -> impl Iterator<Item = (u16, &CloneSession)> {
        let sessions = self.sessions.iter();
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
