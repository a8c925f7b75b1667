//! Extern objects: state of a program that persists between packets, besides tables.

use crate::cells::{Counted, Counter, Meter, MeterCell, MeterUnit, Queue, Register};
use crate::filter::{Filter, FilterKind};
use crate::hash::Algorithm;
use crate::pending::Array;
use crate::table::Prepared;
use crate::wide::limbs_of;
use crate::{ActionSpec, CounterData};
use num_bigint::BigInt;
use p4_ir::{CtorArg, ExternObject, Program, Scalar, Type, TypeKind};
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
    /// A direct counter. Its cells are in the entries.
    DirectCounter(Counted),
    /// A direct meter. Its cells are in the entries.
    DirectMeter(MeterUnit),
    /// A direct register, with the initial value of a cell. Its cells are in the entries.
    DirectRegister(Vec<u64>),
    /// An array of low-pass filters or random early drops.
    Filters(FilterKind, Vec<Filter>),
    /// Direct filters. Their cells are in the entries.
    DirectFilter(FilterKind),
    /// An action profile or selector.
    Profile(Profile),
    /// A stateless object, such as a checksum unit.
    Stateless,
}

/// Members and groups of an action profile or selector.
#[derive(Debug)]
pub struct Profile {
    /// The hash of the selector. `None` for a profile, which has no groups.
    pub algorithm: Option<Algorithm>,
    pub size: u64,
    pub members: BTreeMap<u32, (ActionSpec, Prepared)>,
    /// Members with their weights.
    pub groups: BTreeMap<u32, Vec<(u32, u32)>>,
    /// The members of each group in the order of their numbers, each repeated according to its weight.
    pub choices: BTreeMap<u32, Vec<u32>>,
}

/// Constructors, with the arguments of an architecture's declaration. Errors state the required argument.
impl Object {
    /// Creates a register of `size` cells of the object's first type argument. Each has the value `initial`, or zero.
    pub fn register(
        program: &Program,
        object: &ExternObject,
        size: Option<&CtorArg>,
        initial: Option<&CtorArg>,
    ) -> Result<Object, String> {
        let mut fields = Vec::new();
        let ty = object.type_args.first();
        let held = ty.and_then(|ty| cell_fields(program, ty, &mut fields));
        held.ok_or("a register holds bit<W>, int<W>, bool, an enum, or a struct of these")?;
        let words = fields.iter().map(|width| width.div_ceil(64) as usize);
        let limbs = words.sum::<usize>().max(1);
        let size = number_of(size, limbs * 8)?;
        let mut cell = Vec::with_capacity(limbs);
        let mut values = Vec::new();
        flatten(initial, &mut values);
        for (number, &width) in fields.iter().enumerate() {
            // Two's complement: the bits above a negative number are ones.
            let value = values.get(number).copied().cloned().unwrap_or_default();
            let modulus = BigInt::from(1) << width;
            let value: BigInt = ((value % &modulus) + &modulus) % &modulus;
            cell.extend(limbs_of(value.magnitude(), width.div_ceil(64)));
        }
        cell.resize(limbs, 0);
        Ok(Object::Register(Register {
            size,
            width: fields.iter().sum(),
            limbs,
            fields,
            cells: Array::new(cell.repeat(size as usize)),
            queue: Queue::default(),
        }))
    }

    /// Creates a direct register. `initial` is as for [`register`](Self::register).
    pub fn direct_register(
        program: &Program,
        object: &ExternObject,
        initial: Option<&CtorArg>,
    ) -> Result<Object, String> {
        let one = CtorArg::Int(1.into());
        match Object::register(program, object, Some(&one), initial)? {
            Object::Register(register) => {
                Ok(Object::DirectRegister(register.cells.stored().to_vec()))
            }
            other => Ok(other),
        }
    }

    /// An array of `size` low-pass filters or random early drops.
    pub fn filters(size: Option<&CtorArg>, kind: FilterKind) -> Result<Object, String> {
        let size = number_of(size, size_of::<Filter>())?;
        let cells = vec![Filter::default(); size as usize];
        Ok(Object::Filters(kind, cells))
    }

    /// A counter of `size` cells.
    pub fn counter(size: Option<&CtorArg>, counted: Counted) -> Result<Object, String> {
        let size = number_of(size, size_of::<CounterData>())?;
        let cells = vec![CounterData::default(); size as usize];
        let cells = Array::new(cells);
        Ok(Object::Counter(Counter { counted, cells }))
    }

    /// A meter of `size` cells.
    pub fn meter(size: Option<&CtorArg>, unit: MeterUnit) -> Result<Object, String> {
        let size = number_of(size, size_of::<MeterCell>())?;
        let cells = vec![MeterCell::default(); size as usize];
        let cells = Array::new(cells);
        Ok(Object::Meter(Meter { unit, cells }))
    }

    /// Creates an action profile for `size` members, or an action selector if there is an algorithm.
    pub fn profile(size: Option<&CtorArg>, algorithm: Option<Algorithm>) -> Result<Object, String> {
        let size = number_of(size, 1)?;
        Ok(Object::Profile(Profile::new(algorithm, size)))
    }
}

impl Profile {
    /// Creates a profile without members and groups.
    pub fn new(algorithm: Option<Algorithm>, size: u64) -> Self {
        Profile {
            algorithm,
            size,
            members: BTreeMap::new(),
            groups: BTreeMap::new(),
            choices: BTreeMap::new(),
        }
    }
}

/// The numbers in a constructor's argument, in order.
fn flatten<'a>(arg: Option<&'a CtorArg>, values: &mut Vec<&'a BigInt>) {
    match arg {
        Some(CtorArg::Int(value)) => values.push(value),
        Some(CtorArg::List(members)) => {
            for member in members {
                flatten(Some(member), values);
            }
        }
        _ => {}
    }
}

/// Collects the widths of the values in a register's cell. Returns `None` if a register cannot hold one of them.
fn cell_fields(program: &Program, ty: &Type, fields: &mut Vec<u32>) -> Option<()> {
    match ty.scalar(program) {
        Some(Scalar::Varbit(_)) => None,
        Some(scalar) => {
            fields.push(scalar.width());
            Some(())
        }
        None => {
            let Type::Named(id) = ty else { return None };
            let TypeKind::Struct(members) = &program[*id].kind else {
                return None;
            };
            let mut members = members.iter();
            members.try_for_each(|member| cell_fields(program, &member.ty, fields))
        }
    }
}

/// The most octets that the cells of an object may take. It prevents sizes that do not fit into memory.
const MAX_OCTETS: u64 = 1 << 28;

/// The number of cells, each of `cell_octets` octets.
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

/// The name of the enum member in a constructor's argument.
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
