//! Which controller is primary (specification, "Client Arbitration and Controller Replication").
//!
//! This module knows neither streams nor a clock: a connected controller is identified by a number, and notifications
//! are returned as a list.

use crate::fault::list;
use crate::proto::rpc;
use crate::proto::v1::{MasterArbitrationUpdate, Role, Uint128};
use std::collections::BTreeMap;
use tonic::{Code, Status};

/// Identifies a connected controller.
pub type StreamId = u64;

/// Notifications and their recipients.
pub type Notices = Vec<(StreamId, MasterArbitrationUpdate)>;

/// The most controllers of one role.
const MAX_CONTROLLERS: usize = 64;

/// The name of a role. Older clients use a number instead. The default role has neither.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct RoleName {
    name: String,
    id: u64,
}

/// All roles of a device.
#[derive(Debug, Default)]
pub struct Arbitration {
    device_id: u64,
    roles: BTreeMap<RoleName, Controllers>,
    role_of: BTreeMap<StreamId, RoleName>,
}

/// The controllers of a role.
#[derive(Debug, Default)]
struct Controllers {
    /// Each connected controller with its election ID, if it sent one.
    live: BTreeMap<StreamId, Option<u128>>,
    primary: Option<StreamId>,
    /// The highest election ID that any primary ever had. Only a restart resets it.
    highest: Option<u128>,
}

impl RoleName {
    /// Creates a role name from the two fields of a request.
    pub fn new(name: &str, id: u64) -> Self {
        RoleName {
            name: name.into(),
            id: if name.is_empty() { id } else { 0 },
        }
    }

    fn of(role: Option<&Role>) -> Self {
        #[allow(deprecated, reason = "older clients use it")]
        role.map_or_else(RoleName::default, |role| RoleName::new(&role.name, role.id))
    }

    fn is_default(&self) -> bool {
        *self == RoleName::default()
    }

    fn to_message(&self) -> Option<Role> {
        #[allow(deprecated, reason = "older clients use it")]
        (!self.is_default()).then(|| Role {
            id: self.id,
            name: self.name.clone(),
            config: None,
        })
    }
}

impl std::fmt::Display for RoleName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (self.is_default(), self.name.is_empty()) {
            (true, _) => f.write_str("the default role"),
            (_, true) => write!(f, "role {}", self.id),
            _ => write!(f, "role `{}`", self.name),
        }
    }
}

/// An election ID as a number.
pub fn number(id: Option<&Uint128>) -> Option<u128> {
    id.map(|id| u128::from(id.high) << 64 | u128::from(id.low))
}

fn message(id: u128) -> Uint128 {
    Uint128 {
        high: (id >> 64) as u64,
        low: id as u64,
    }
}

impl Arbitration {
    /// Creates the roles of this device.
    pub fn new(device_id: u64) -> Self {
        Arbitration {
            device_id,
            ..Arbitration::default()
        }
    }

    /// Handles the arbitration message of a controller, which connects or changes its election ID.
    ///
    /// # Errors
    /// The status with which its stream ends.
    pub fn update(
        &mut self,
        stream: StreamId,
        update: &MasterArbitrationUpdate,
    ) -> Result<Notices, Status> {
        let known = self.role_of.get(&stream);
        if update.device_id != self.device_id {
            let code = match known {
                Some(_) => Code::FailedPrecondition,
                None => Code::NotFound,
            };
            return Err(Status::new(code, self.no_device(update.device_id)));
        }
        let role = RoleName::of(update.role.as_ref());
        if let Some(known) = known.filter(|known| **known != role) {
            return Err(Status::failed_precondition(format!(
                "this stream belongs to {known}; open another for {role}"
            )));
        }
        if update
            .role
            .as_ref()
            .is_some_and(|role| role.config.is_some())
        {
            return Err(Status::invalid_argument(
                "this target knows no role configurations: every role may do everything; leave \
                 role.config unset",
            ));
        }
        let known = known.is_some();
        let election_id = number(update.election_id.as_ref());
        let controllers = self.roles.entry(role.clone()).or_default();
        let mut others = controllers.live.iter().filter(|(id, _)| **id != stream);
        if election_id.is_some() && others.any(|(_, other)| *other == election_id) {
            let id = election_id.unwrap_or_default();
            return Err(Status::invalid_argument(format!(
                "the election ID {id} is used by another controller of {role}"
            )));
        }
        if !known && controllers.live.len() >= MAX_CONTROLLERS {
            return Err(Status::resource_exhausted(format!(
                "{role} has {MAX_CONTROLLERS} controllers already, the most there may be"
            )));
        }
        self.role_of.insert(stream, role.clone());
        controllers.live.insert(stream, election_id);
        let was_primary = controllers.primary == Some(stream);
        if election_id.is_some() && election_id >= controllers.highest {
            controllers.primary = Some(stream);
            controllers.highest = election_id;
            return Ok(self.notices(&role, None));
        }
        if was_primary {
            controllers.primary = None;
            return Ok(self.notices(&role, None));
        }
        Ok(self.notices(&role, Some(stream)))
    }

    /// Handles the end of a controller's stream.
    pub fn leave(&mut self, stream: StreamId) -> Notices {
        let Some(role) = self.role_of.remove(&stream) else {
            return Notices::new();
        };
        let controllers = self.roles.entry(role.clone()).or_default();
        controllers.live.remove(&stream);
        if controllers.primary != Some(stream) {
            return Notices::new();
        }
        controllers.primary = None;
        self.notices(&role, None)
    }

    /// Checks that a request comes from the primary controller.
    ///
    /// # Errors
    /// `NOT_FOUND` for another device or an unknown role, `PERMISSION_DENIED` for another controller.
    pub fn check_primary(
        &self,
        device_id: u64,
        role: &RoleName,
        election_id: Option<&Uint128>,
    ) -> Result<(), Status> {
        self.check_device(device_id)?;
        let controllers = self.roles.get(role);
        if controllers.is_none() && !role.is_default() {
            let known = list(self.roles.keys());
            return Err(Status::not_found(format!(
                "no controller has {role}; valid: {known}"
            )));
        }
        let primary = controllers.and_then(|c| c.live.get(&c.primary?).copied().flatten());
        let Some(primary) = primary else {
            let least = controllers.and_then(|c| c.highest).unwrap_or(0);
            return Err(Status::permission_denied(format!(
                "{role} has no primary controller; become it with an election ID of at least {least}"
            )));
        };
        match number(election_id) {
            Some(given) if given == primary => Ok(()),
            given => {
                let given = given.map_or_else(|| "none".into(), |id| id.to_string());
                Err(Status::permission_denied(format!(
                    "the primary controller of {role} has the election ID {primary}, the request {given}"
                )))
            }
        }
    }

    /// Checks that a request is for this device.
    pub fn check_device(&self, device_id: u64) -> Result<(), Status> {
        match device_id == self.device_id {
            true => Ok(()),
            false => Err(Status::not_found(self.no_device(device_id))),
        }
    }

    /// Whether a stream belongs to a primary controller.
    pub fn is_primary(&self, stream: StreamId) -> bool {
        let role = self.role_of.get(&stream);
        let controllers = role.and_then(|role| self.roles.get(role));
        controllers.is_some_and(|controllers| controllers.primary == Some(stream))
    }

    /// Whether a stream has sent an arbitration message.
    pub fn is_live(&self, stream: StreamId) -> bool {
        self.role_of.contains_key(&stream)
    }

    /// The primary controller of each role, if it has one.
    pub fn primaries(&self) -> Vec<StreamId> {
        self.roles
            .values()
            .filter_map(|controllers| controllers.primary)
            .collect()
    }

    fn no_device(&self, device_id: u64) -> String {
        format!(
            "there is no device {device_id}; this is device {}",
            self.device_id
        )
    }

    /// The notifications for all controllers of a role, or only one of them.
    fn notices(&self, role: &RoleName, only: Option<StreamId>) -> Notices {
        let Some(controllers) = self.roles.get(role) else {
            return Notices::new();
        };
        let status = |stream| match controllers.primary {
            Some(primary) if primary == stream => (Code::Ok, "you are the primary controller"),
            Some(_) => (Code::AlreadyExists, "another controller is primary"),
            None => (Code::NotFound, "there is no primary controller"),
        };
        let notice = |stream| {
            let (code, message) = status(stream);
            MasterArbitrationUpdate {
                device_id: self.device_id,
                role: role.to_message(),
                election_id: controllers.highest.map(self::message),
                status: Some(rpc::Status {
                    code: code as i32,
                    message: message.into(),
                    details: Vec::new(),
                }),
            }
        };
        let live = controllers.live.keys().copied();
        let told = live.filter(|&stream| only.is_none_or(|only| only == stream));
        // The new primary is notified last.
        let (primary, others): (Vec<_>, Vec<_>) =
            told.partition(|&stream| controllers.primary == Some(stream));
        let order = others.into_iter().chain(primary);
        order.map(|stream| (stream, notice(stream))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn update(election_id: impl Into<Option<u64>>) -> MasterArbitrationUpdate {
        MasterArbitrationUpdate {
            device_id: 1,
            election_id: election_id.into().map(|low| Uint128 { high: 0, low }),
            ..Default::default()
        }
    }

    /// Stream, status code, and election ID of each notification.
    fn told(notices: Notices) -> Vec<(StreamId, i32, Option<u64>)> {
        let told = notices.into_iter();
        told.map(|(stream, notice)| {
            let code = notice.status.map_or(-1, |status| status.code);
            (stream, code, notice.election_id.map(|id| id.low))
        })
        .collect()
    }

    const OK: i32 = Code::Ok as i32;
    const BACKUP: i32 = Code::AlreadyExists as i32;
    const NO_PRIMARY: i32 = Code::NotFound as i32;

    fn new() -> Arbitration {
        Arbitration::new(1)
    }

    fn check(arbitration: &Arbitration, low: u64) -> Result<(), Code> {
        let id = Uint128 { high: 0, low };
        let checked = arbitration.check_primary(1, &RoleName::default(), Some(&id));
        checked.map_err(|status| status.code())
    }

    // p4runtime: takeover, takeover-writes, takeover-order, backup-alone
    #[test]
    fn a_higher_election_id_takes_over_and_all_are_notified() {
        let mut arbitration = new();
        assert_eq!(
            told(arbitration.update(1, &update(5)).unwrap()),
            [(1, OK, Some(5))]
        );
        assert_eq!(
            told(arbitration.update(2, &update(3)).unwrap()),
            [(2, BACKUP, Some(5))]
        );
        let all = [(1, BACKUP, Some(9)), (2, BACKUP, Some(9)), (3, OK, Some(9))];
        assert_eq!(told(arbitration.update(3, &update(9)).unwrap()), all);
        assert_eq!(check(&arbitration, 9), Ok(()));
        assert_eq!(check(&arbitration, 5), Err(Code::PermissionDenied));
    }

    // p4runtime: no-successor, election-high, notice-nobody
    #[test]
    fn no_backup_takes_over_by_itself() {
        let mut arbitration = new();
        arbitration.update(1, &update(5)).unwrap();
        arbitration.update(2, &update(3)).unwrap();
        assert_eq!(told(arbitration.leave(1)), [(2, NO_PRIMARY, Some(5))]);
        assert_eq!(
            told(arbitration.update(2, &update(4)).unwrap()),
            [(2, NO_PRIMARY, Some(5))]
        );
        assert_eq!(check(&arbitration, 4), Err(Code::PermissionDenied));
        assert_eq!(
            told(arbitration.update(2, &update(5)).unwrap()),
            [(2, OK, Some(5))]
        );
    }

    // p4runtime: step-down
    #[test]
    fn a_primary_may_step_down() {
        let mut arbitration = new();
        arbitration.update(1, &update(5)).unwrap();
        assert_eq!(
            told(arbitration.update(1, &update(4)).unwrap()),
            [(1, NO_PRIMARY, Some(5))]
        );
        assert!(arbitration.primaries().is_empty());
    }

    // p4runtime: unset-id, notice-unset
    #[test]
    fn without_an_election_id_a_controller_stays_a_backup() {
        let mut arbitration = new();
        assert_eq!(
            told(arbitration.update(1, &update(None)).unwrap()),
            [(1, NO_PRIMARY, None)]
        );
        assert_eq!(
            told(arbitration.update(2, &update(0)).unwrap()).last(),
            Some(&(2, OK, Some(0)))
        );
        arbitration.update(3, &update(None)).unwrap();
    }

    // p4runtime: new-too-many
    #[test]
    fn a_role_has_so_many_controllers() {
        let mut arbitration = new();
        for stream in 0..MAX_CONTROLLERS as u64 {
            arbitration.update(stream, &update(None)).unwrap();
        }
        let refused = arbitration.update(1_000, &update(None)).unwrap_err();
        assert_eq!(refused.code(), Code::ResourceExhausted);
        arbitration.update(0, &update(7)).unwrap();
        arbitration.leave(1);
        arbitration.update(1_000, &update(None)).unwrap();
    }

    // p4runtime: new-device, new-id-used, live-device, live-role
    #[test]
    fn what_ends_a_stream() {
        let mut arbitration = new();
        arbitration.update(1, &update(5)).unwrap();
        let code = |result: Result<Notices, Status>| result.unwrap_err().code();
        assert_eq!(
            code(arbitration.update(2, &update(5))),
            Code::InvalidArgument
        );
        let elsewhere = MasterArbitrationUpdate {
            device_id: 7,
            ..update(6)
        };
        assert_eq!(code(arbitration.update(2, &elsewhere)), Code::NotFound);
        assert_eq!(
            code(arbitration.update(1, &elsewhere)),
            Code::FailedPrecondition
        );
        let role = Role {
            name: "monitor".into(),
            ..Role::default()
        };
        let as_monitor = MasterArbitrationUpdate {
            role: Some(role),
            ..update(5)
        };
        assert_eq!(
            code(arbitration.update(1, &as_monitor)),
            Code::FailedPrecondition
        );
        assert_eq!(
            told(arbitration.update(3, &as_monitor).unwrap()),
            [(3, OK, Some(5))]
        );
        assert_eq!(arbitration.primaries(), [1, 3]);
    }
}
