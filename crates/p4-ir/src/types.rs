//! The types of variables at run time, and their parts.

use crate::{Annotation, Program, SourceLoc, TypeId};
use num_bigint::BigUint;

/// The type of a value of an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scalar {
    /// `bool`: 0 or 1.
    Bool,
    /// `bit<W>`, or a serialisable enum, which is represented by its underlying type.
    Bit(u32),
    /// `int<W>`, in two's complement.
    Int(u32),
    /// `varbit<W>`: up to W bits.
    Varbit(u32),
    /// `error`, or an enum without underlying type: an index.
    Symbol,
}

impl Scalar {
    /// Width of the value in bits. For a `varbit`, its maximum width.
    pub const fn width(self) -> u32 {
        match self {
            Scalar::Bool => 1,
            Scalar::Bit(w) | Scalar::Int(w) | Scalar::Varbit(w) => w,
            Scalar::Symbol => 32,
        }
    }
}

/// The type of a variable.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    /// A single value.
    Scalar(Scalar),
    /// A struct, header, header union, enum, `error` or `type`, by name.
    Named(TypeId),
    /// A header stack (or stack of unions): element type and length. It has a `nextIndex`.
    Stack(Box<Type>, u32),
    /// An array of anything except headers and unions: element type and length.
    Array(Box<Type>, u32),
    /// A tuple.
    Tuple(Vec<Type>),
}

/// A named type.
#[derive(Clone, Debug)]
pub struct TypeDef {
    /// Its name in the source, with type arguments if it is generic: `pair<bit<8>, bool>`.
    pub name: String,
    /// Its kind.
    pub kind: TypeKind,
    /// Annotations on its declaration.
    pub annotations: Vec<Annotation>,
    /// Where it is declared.
    pub loc: SourceLoc,
}

/// The kind of a named type.
#[derive(Clone, Debug)]
pub enum TypeKind {
    /// `struct`.
    Struct(Vec<Field>),
    /// `header`. Every field is a scalar, or a struct of scalars.
    Header(Vec<Field>),
    /// `header_union`.
    Union(Vec<Field>),
    /// `enum` without underlying type: its members, whose values are their indices.
    Enum(Vec<String>),
    /// `enum bit<W>`: underlying type, members with their values.
    SerialisableEnum(Scalar, Vec<(String, BigUint)>),
    /// `error`. Its members are [`Program::errors`].
    Error,
    /// `type T Name`: a distinct type with the representation of another.
    New(Type),
}

/// A member of a struct, header or union.
#[derive(Clone, Debug)]
pub struct Field {
    /// Its name.
    pub name: String,
    /// Its type.
    pub ty: Type,
    /// Annotations on it.
    pub annotations: Vec<Annotation>,
    /// Where it is declared.
    pub loc: SourceLoc,
}

impl Type {
    /// How many scalars a variable of this type holds, including validities and `nextIndex`. Saturating.
    pub fn values(&self, program: &Program) -> u32 {
        let all = |types: &mut dyn Iterator<Item = &Type>| {
            types.fold(0u32, |sum, ty| sum.saturating_add(ty.values(program)))
        };
        match self {
            Type::Scalar(_) => 1,
            Type::Stack(element, len) => {
                let elements = element.values(program).saturating_mul(*len);
                elements.saturating_add(1)
            }
            Type::Array(element, len) => element.values(program).saturating_mul(*len),
            Type::Tuple(members) => all(&mut members.iter()),
            Type::Named(id) => match &program[*id].kind {
                TypeKind::Header(fields) => {
                    all(&mut fields.iter().map(|f| &f.ty)).saturating_add(1)
                }
                TypeKind::Struct(fields) | TypeKind::Union(fields) => {
                    all(&mut fields.iter().map(|f| &f.ty))
                }
                TypeKind::Enum(_) | TypeKind::Error | TypeKind::SerialisableEnum(..) => 1,
                TypeKind::New(of) => of.values(program),
            },
        }
    }

    /// The scalar that represents this type, if it is a single value.
    pub fn scalar(&self, program: &Program) -> Option<Scalar> {
        match self {
            Type::Scalar(s) => Some(*s),
            Type::Named(id) => match &program[*id].kind {
                TypeKind::Enum(_) | TypeKind::Error => Some(Scalar::Symbol),
                TypeKind::SerialisableEnum(under, _) => Some(*under),
                TypeKind::New(of) => of.scalar(program),
                _ => None,
            },
            _ => None,
        }
    }

    /// Members of a struct, header or union. Empty for other types.
    pub fn fields<'p>(&self, program: &'p Program) -> &'p [Field] {
        let Type::Named(id) = self else {
            return &[];
        };
        match &program[*id].kind {
            TypeKind::Header(fields) | TypeKind::Struct(fields) | TypeKind::Union(fields) => fields,
            TypeKind::New(of) => of.fields(program),
            _ => &[],
        }
    }

    /// The type of a member of a struct, header, union or tuple.
    pub fn member<'p>(&'p self, program: &'p Program, index: u32) -> Option<&'p Type> {
        match self {
            Type::Tuple(members) => members.get(index as usize),
            _ => self.fields(program).get(index as usize).map(|f| &f.ty),
        }
    }

    /// The element type and length of a stack, of an array, or of a tuple whose members have one type.
    pub fn elements(&self) -> Option<(&Type, u32)> {
        match self {
            Type::Stack(element, len) | Type::Array(element, len) => Some((element, *len)),
            Type::Tuple(members) => Some((members.first()?, members.len() as u32)),
            _ => None,
        }
    }
}
