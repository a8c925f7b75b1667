//! Multicast groups and clone sessions.

use crate::{CloneSession, ControlError, Replica, Switch};

/// The greatest number of a clone session, as in BMv2.
const MAX_SESSION: u16 = 32_767;

impl Switch {
    /// Sets a multicast group (1 to 65535); an empty list removes it.
    pub fn set_multicast_group(
        &mut self,
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
        self.check_replicas("multicast group", &replicas)?;
        if replicas.is_empty() {
            self.multicast.remove(&group);
        } else {
            self.multicast.insert(group, replicas.into());
        }
        Ok(())
    }

    /// A multicast group's replicas; empty if there is none.
    pub fn multicast_group(&self, group: u16) -> &[Replica] {
        self.multicast.get(&group).map_or(&[], |replicas| replicas)
    }

    /// All multicast groups.
    pub fn multicast_groups(&self) -> impl Iterator<Item = (u16, &[Replica])> {
        let groups = self.multicast.iter();
        groups.map(|(&group, replicas)| (group, &**replicas))
    }

    /// All clone sessions.
    pub fn clone_sessions(&self) -> impl Iterator<Item = (u16, &CloneSession)> {
        let sessions = self.sessions.iter();
        sessions.map(|(&session, to)| (session, &**to))
    }

    /// Sets a clone session (0 to 32767); `None` removes it.
    pub fn set_clone_session(
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
            self.check_replicas("clone session", &to.replicas)?;
        }
        match to {
            Some(to) => self.sessions.insert(session, to.into()),
            None => self.sessions.remove(&session),
        };
        Ok(())
    }

    /// One packet may have so many copies at most.
    fn check_replicas(&self, at: &str, replicas: &[Replica]) -> Result<(), ControlError> {
        let most = self.machine.config.max_copies;
        if replicas.len() <= most as usize {
            return Ok(());
        }
        Err(ControlError::Invalid {
            at: at.into(),
            expected: format!("at most {most} replicas"),
            found: replicas.len().to_string(),
        })
    }

    /// A clone session.
    pub fn clone_session(&self, session: u16) -> Option<&CloneSession> {
        self.sessions.get(&session).map(|session| &**session)
    }
}
