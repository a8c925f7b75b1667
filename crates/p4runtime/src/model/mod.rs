//! The client's view of a program: the P4Info with which it was loaded, bound by name to the program that the engine
//! runs.
//!
//! IDs are those of the client's P4Info. The engine uses names and indices.

mod bmv2;
mod build;
mod data;
mod header;
mod register;
mod translation;

pub use bmv2::complete;
pub use data::DataType;
pub use header::PacketHeader;
pub use p4_info::proto::meter_spec::Type as MeterType;
pub use register::CellType;
pub use translation::Translations;

use crate::bytestring::Shape;
use crate::fault::{Fault, Outcome, list};
use p4_info::proto::P4Info;
use p4_ir::{ActionId, ExternId, TableId, Type, ValueSetId};
use std::collections::BTreeMap;

/// What the IDs of a P4Info refer to.
#[derive(Debug)]
pub struct Model {
    /// As received from the client.
    pub p4info: P4Info,
    /// Tables.
    pub tables: BTreeMap<u32, TableModel>,
    /// Actions.
    pub actions: BTreeMap<u32, ActionModel>,
    /// Action profiles and selectors.
    pub profiles: BTreeMap<u32, ProfileModel>,
    /// Indirect counters.
    pub counters: BTreeMap<u32, ArrayModel>,
    /// Indirect meters, each with its type.
    pub meters: BTreeMap<u32, (ArrayModel, MeterType)>,
    /// Registers, each with the type of its cells.
    pub registers: BTreeMap<u32, (ArrayModel, CellType)>,
    /// Value sets.
    pub value_sets: BTreeMap<u32, ValueSetModel>,
    /// Digests.
    pub digests: BTreeMap<u32, DigestModel>,
    /// The header of packets to the controller.
    pub packet_in: Option<PacketHeader>,
    /// The header of packets from the controller.
    pub packet_out: Option<PacketHeader>,
}

/// A table.
#[derive(Debug)]
pub struct TableModel {
    /// Its ID.
    pub id: u32,
    /// Its name.
    pub name: String,
    /// The ID in the engine.
    pub table: TableId,
    /// The match fields, in the engine's order.
    pub fields: Vec<FieldModel>,
    /// The actions of the table.
    pub actions: Vec<ActionUse>,
    /// Its action profile or selector.
    pub profile: Option<u32>,
    /// Whether entries may have an idle timeout.
    pub idle_timeout: bool,
    /// Whether it has a direct counter.
    pub counter: bool,
    /// Its direct meter, if it has one.
    pub meter: Option<MeterType>,
}

/// A match field.
#[derive(Clone, Debug)]
pub struct FieldModel {
    /// Its ID.
    pub id: u32,
    /// Its name.
    pub name: String,
    /// The encoding of its values.
    pub shape: Shape,
    /// The encoding of a mask that selects all bits. It is wider than a value if the client's type is wider.
    pub whole: Shape,
    /// Its match kind.
    pub kind: Kind,
}

/// The match kind of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Equal.
    Exact,
    /// The longest prefix.
    Lpm,
    /// Under a mask.
    Ternary,
    /// Within bounds.
    Range,
    /// Equal, or anything.
    Optional,
}

/// An action of a table.
#[derive(Clone, Copy, Debug)]
pub struct ActionUse {
    /// Its ID.
    pub id: u32,
    /// The ID in the engine.
    pub action: ActionId,
    /// Where it may be used.
    pub scope: Scope,
}

/// Where an action of a table may be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// In entries and as the default.
    Anywhere,
    /// Only in entries (`@tableonly`).
    Entries,
    /// Only as the default (`@defaultonly`).
    Default,
}

/// An action.
#[derive(Debug)]
pub struct ActionModel {
    /// Its name.
    pub name: String,
    /// Its parameters, in the engine's order.
    pub params: Vec<ParamModel>,
}

/// A parameter of an action.
#[derive(Clone, Debug)]
pub struct ParamModel {
    /// Its ID.
    pub id: u32,
    /// Its name.
    pub name: String,
    /// The encoding of its values.
    pub shape: Shape,
}

/// An action profile or selector.
#[derive(Debug)]
pub struct ProfileModel {
    /// Its ID.
    pub id: u32,
    /// Its name.
    pub name: String,
    /// The ID in the engine.
    pub object: ExternId,
    /// The maximum size of a group. 0 means unknown.
    pub max_group_size: i32,
    /// Whether the size of a group is the sum of its weights rather than the number of its members.
    pub size_is_weights: bool,
    /// The maximum weight of a member, if the size of a group is the number of members. 0 means any.
    pub max_member_weight: i32,
    /// Whether clients must not set weights.
    pub weights_disallowed: bool,
    /// A table that it implements. Members may use its actions. `None` if the program does not use the profile.
    pub table: Option<u32>,
}

/// A counter, meter or register with cells.
#[derive(Debug)]
pub struct ArrayModel {
    /// Its ID.
    pub id: u32,
    /// Its name.
    pub name: String,
    /// The ID in the engine.
    pub object: ExternId,
    /// Number of cells.
    pub size: u64,
}

/// A value set.
#[derive(Debug)]
pub struct ValueSetModel {
    /// Its name.
    pub name: String,
    /// The ID in the engine.
    pub set: ValueSetId,
    /// The maximum number of members.
    pub size: u64,
    /// The match fields, in the engine's order.
    pub fields: Vec<FieldModel>,
}

/// A digest.
#[derive(Debug)]
pub struct DigestModel {
    /// Its name.
    pub name: String,
    /// The engine's type of the argument of `digest`. `None` if the program uses another name.
    pub ty: Option<Type>,
    /// Its encoding.
    pub data: DataType,
}

impl Model {
    /// The table with this ID.
    pub fn table(&self, id: u32) -> Outcome<&TableModel> {
        find("table", &self.tables, id, |table| &table.name)
    }

    /// The action profile with this ID.
    pub fn profile(&self, id: u32) -> Outcome<&ProfileModel> {
        find("action profile", &self.profiles, id, |profile| {
            &profile.name
        })
    }

    /// The counter with this ID.
    pub fn counter(&self, id: u32) -> Outcome<&ArrayModel> {
        find("counter", &self.counters, id, |array| &array.name)
    }

    /// The meter with this ID, and its type.
    pub fn meter(&self, id: u32) -> Outcome<&(ArrayModel, MeterType)> {
        find("meter", &self.meters, id, |(array, _)| &array.name)
    }

    /// The register with this ID, and the type of its cells.
    pub fn register(&self, id: u32) -> Outcome<&(ArrayModel, CellType)> {
        find("register", &self.registers, id, |(array, _)| &array.name)
    }

    /// The value set with this ID.
    pub fn value_set(&self, id: u32) -> Outcome<&ValueSetModel> {
        find("value set", &self.value_sets, id, |set| &set.name)
    }

    /// The digest with this ID.
    pub fn digest(&self, id: u32) -> Outcome<&DigestModel> {
        find("digest", &self.digests, id, |digest| &digest.name)
    }

    /// The digest of this engine type, with its ID.
    pub fn digest_of(&self, ty: Option<&Type>) -> Option<(u32, &DigestModel)> {
        let mut named = self.digests.iter();
        let found = named.find(|(_, digest)| ty.is_some() && digest.ty.as_ref() == ty);
        // It must be the only digest; its name does not matter.
        let only = || (self.digests.len() == 1).then(|| self.digests.iter().next())?;
        found.or_else(only).map(|(&id, digest)| (id, digest))
    }
}

impl TableModel {
    /// The action of this table with this ID.
    pub fn action(&self, model: &Model, id: u32) -> Outcome<&ActionUse> {
        let found = self.actions.iter().find(|listed| listed.id == id);
        found.ok_or_else(|| {
            let name = |id| model.actions.get(&id).map_or("?", |action| &action.name);
            let valid = self
                .actions
                .iter()
                .map(|a| format!("{} ({})", name(a.id), a.id));
            Fault::invalid(format!(
                "table `{}` has no action with the ID {id}; it has {}",
                self.name,
                list(valid)
            ))
        })
    }

    /// The ID of an engine's action in this table.
    pub fn action_id(&self, action: ActionId) -> Option<u32> {
        let mut listed = self.actions.iter();
        listed.find(|a| a.action == action).map(|a| a.id)
    }
}

/// The item with this ID, or `NOT_FOUND` with the valid IDs.
fn find<'m, T>(
    kind: &str,
    all: &'m BTreeMap<u32, T>,
    id: u32,
    name: impl Fn(&T) -> &String,
) -> Outcome<&'m T> {
    all.get(&id).ok_or_else(|| {
        let valid = all
            .iter()
            .map(|(id, item)| format!("{} ({id})", name(item)));
        let message = format!(
            "there is no {kind} with the ID {id}; valid: {}",
            list(valid)
        );
        match id {
            0 => Fault::invalid(message),
            _ => Fault::not_found(message),
        }
    })
}
