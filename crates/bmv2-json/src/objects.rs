//! What is declared outside of controls and parsers, by name: counters, meters, registers, action profiles,
//! calculations, learn lists, value sets.

use p4_ir::{ActionId, Arg, Expr, ExternId, FunctionId, ListItem, Place, TypeId, ValueSetId};
use std::collections::HashMap;

/// Objects by name.
#[derive(Debug, Default)]
pub struct Objects {
    pub counters: HashMap<String, ExternId>,
    pub meters: HashMap<String, ExternId>,
    /// With the width of a cell.
    pub registers: HashMap<String, (ExternId, u32)>,
    pub profiles: HashMap<String, Profile>,
    /// Direct counters and meters of each table, and where a meter's colour goes.
    pub direct: HashMap<String, Vec<(ExternId, Option<Place>)>>,
    pub calculations: HashMap<String, Calculation>,
    /// By id: the type that represents the list, and its values.
    pub digests: HashMap<u64, (TypeId, Vec<ListItem>)>,
    pub value_sets: HashMap<String, ValueSetId>,
}

/// An action profile, and what its selector hashes.
#[derive(Clone, Debug)]
pub struct Profile {
    pub id: ExternId,
    pub selector: Vec<(String, Place)>,
}

/// A hash or checksum over values.
#[derive(Clone, Debug)]
pub struct Calculation {
    /// A member of `HashAlgorithm`.
    pub algorithm: Expr,
    pub input: Vec<ListItem>,
    /// Whether the packet's payload follows.
    pub payload: bool,
}

/// A calculation as arguments of an extern call.
pub struct CalculationArgs {
    pub values: Arg,
    pub algorithm: Arg,
    /// What a control plane calls it.
    pub name: Arg,
    /// Whether the packet's payload follows the values.
    pub payload: bool,
}

/// An action of the JSON; several may be one for a control plane.
#[derive(Clone, Copy, Debug)]
pub struct Action {
    pub id: ActionId,
    pub body: FunctionId,
}
