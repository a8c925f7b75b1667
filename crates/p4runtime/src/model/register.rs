//! Cells of registers: one value, or a struct of values.

use super::DataType;
use crate::fault::{Fault, Outcome};
use crate::proto::v1::P4Data;
use num_bigint::BigUint;
use p4_ir::{Program, Type, TypeKind};

/// The type of a register's cells.
#[derive(Debug)]
pub struct CellType {
    /// The client's type.
    data: DataType,
    /// The program's widths of the values in a cell. The engine concatenates them, the first most significant.
    widths: Vec<u32>,
}

impl CellType {
    /// Binds the client's type to the program's.
    ///
    /// # Errors
    /// The types differ in their number of values.
    pub fn new(data: DataType, program: &Program, ty: &Type) -> Outcome<Self> {
        let mut widths = Vec::new();
        collect_widths(program, ty, &mut widths);
        match data.values() == widths.len() {
            true => Ok(CellType { data, widths }),
            false => Err(Fault::invalid(format!(
                "it has {} values in a cell",
                widths.len()
            ))),
        }
    }

    /// Encodes a cell.
    pub fn encode(&self, cell: &BigUint) -> P4Data {
        let mut above: u64 = self.widths.iter().map(|&width| u64::from(width)).sum();
        let mut parts = self.widths.iter().map(|&width| {
            above -= u64::from(width);
            (cell >> above) & low_bits(width)
        });
        self.data.encode(&mut parts)
    }

    /// Decodes a cell.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` if the data has another form, `OUT_OF_RANGE` if a value needs more bits.
    pub fn decode(&self, data: Option<&P4Data>) -> Outcome<BigUint> {
        let parts = self.data.decode(data)?;
        let mut cell = BigUint::ZERO;
        for (part, &width) in parts.iter().zip(&self.widths) {
            if part.bits() > u64::from(width) {
                return Err(Fault::out_of_range(format!(
                    "expected a value of {width} bits, found {part:#x}"
                )));
            }
            cell = (cell << width) | part;
        }
        Ok(cell)
    }
}

fn collect_widths(program: &Program, ty: &Type, widths: &mut Vec<u32>) {
    if let Some(scalar) = ty.scalar(program) {
        widths.push(scalar.width());
        return;
    }
    if let Type::Named(id) = ty
        && let TypeKind::Struct(members) = &program[*id].kind
    {
        for member in members {
            collect_widths(program, &member.ty, widths);
        }
    }
}

fn low_bits(width: u32) -> BigUint {
    (BigUint::from(1_u8) << width) - 1_u8
}
