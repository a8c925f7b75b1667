//! Extern objects: what a program keeps from packet to packet besides its tables.

use crate::cells::{Counted, Counter, Meter, MeterCell, MeterUnit, Register};
use crate::hash::Algorithm;
use crate::table::Prepared;
use crate::{ActionSpec, CounterData, wide};
use num_bigint::BigInt;
use p4_ir::{CtorArg, ExternObject, Program, TypeKind};
use std::collections::BTreeMap;

/// An extern object at run time.
#[derive(Debug)]
pub enum Object {
    /// An array of values.
    Register(Register),
    /// An array of counts.
    Counter(Counter),
    /// An array of meters.
    Meter(Meter),
    /// A direct counter: its cells are in the entries.
    DirectCounter(Counted),
    /// A direct meter, likewise.
    DirectMeter(MeterUnit),
    /// An action profile or selector.
    Profile(Profile),
    /// An object without state: a checksum unit.
    Stateless,
}

/// Members and groups of an action profile or selector.
#[derive(Debug)]
pub struct Profile {
    /// The selector's hash; `None`: no groups.
    pub algorithm: Option<Algorithm>,
    pub size: u64,
    pub members: BTreeMap<u32, (ActionSpec, Prepared)>,
    /// Members with their weights.
    pub groups: BTreeMap<u32, Vec<(u32, u32)>>,
    /// Each group's members in the order of their numbers, each as often as its weight says.
    pub choices: BTreeMap<u32, Vec<u32>>,
}

/// Objects by what an architecture's constructor says. Errors say what it needs.
impl Object {
    /// A register of `size` cells of the object's first type argument.
    pub fn register(
        program: &Program,
        object: &ExternObject,
        size: Option<&CtorArg>,
    ) -> Result<Object, String> {
        let ty = object.type_args.first().and_then(|ty| ty.scalar(program));
        let ty = ty.ok_or("a register holds bit<W>, int<W>, bool or an enum")?;
        let limbs = wide::limbs(ty.width()).max(1);
        let size = number_of(size, limbs * 8)?;
        let cells = vec![0; limbs * size as usize];
        Ok(Object::Register(Register {
            size,
            width: ty.width(),
            limbs,
            cells,
        }))
    }

    /// A counter of `size` cells.
    pub fn counter(size: Option<&CtorArg>, counted: Counted) -> Result<Object, String> {
        let size = number_of(size, size_of::<CounterData>())?;
        let cells = vec![CounterData::default(); size as usize];
        Ok(Object::Counter(Counter { counted, cells }))
    }

    /// A meter of `size` cells.
    pub fn meter(size: Option<&CtorArg>, unit: MeterUnit) -> Result<Object, String> {
        let size = number_of(size, size_of::<MeterCell>())?;
        let cells = vec![MeterCell::default(); size as usize];
        Ok(Object::Meter(Meter { unit, cells }))
    }

    /// An action profile that holds `size` members, or with an algorithm an action selector.
    pub fn profile(size: Option<&CtorArg>, algorithm: Option<Algorithm>) -> Result<Object, String> {
        let size = number_of(size, 1)?;
        Ok(Object::Profile(Profile::new(algorithm, size)))
    }
}

impl Profile {
    fn new(algorithm: Option<Algorithm>, size: u64) -> Self {
        Profile {
            algorithm,
            size,
            members: BTreeMap::new(),
            groups: BTreeMap::new(),
            choices: BTreeMap::new(),
        }
    }
}

/// Octets that the cells of an object may take; a guard against sizes that no memory holds.
const MAX_OCTETS: u64 = 1 << 28;

/// The number of cells of `cell_octets` octets.
fn number_of(arg: Option<&CtorArg>, cell_octets: usize) -> Result<u64, String> {
    let most = MAX_OCTETS / cell_octets as u64;
    match arg {
        Some(CtorArg::Int(n)) => match u64::try_from(n) {
            Ok(n) if n <= most => Ok(n),
            _ => Err(format!(
                "a size of {n} is not supported; it may be 0 to {most}"
            )),
        },
        _ => Err("its size must be a number".into()),
    }
}

/// The name of the enum's member that a constructor's argument is.
pub fn member(program: &Program, enumeration: &str, arg: Option<&CtorArg>) -> Option<String> {
    match arg? {
        CtorArg::Member(_, name) => Some(name.clone()),
        CtorArg::Int(index) => {
            let declared = program.types.iter().find(|ty| ty.name == enumeration)?;
            let index = usize::try_from(BigInt::clone(index)).ok()?;
            match &declared.kind {
                TypeKind::Enum(members) => members.get(index).cloned(),
                _ => None,
            }
        }
        _ => None,
    }
}
