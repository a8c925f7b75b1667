//! The types that variables have at run time, and their layout in words.

use crate::{Annotation, Program, SourceLoc, TypeId};
use num_bigint::BigUint;

/// The type of a value that an expression can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scalar {
    /// `bool`: 0 or 1.
    Bool,
    /// `bit<W>`; also a serialisable enum, which is its underlying type.
    Bit(u32),
    /// `int<W>`, in two's complement.
    Int(u32),
    /// `varbit<W>`: up to W bits.
    Varbit(u32),
    /// `error`, or an enum without underlying type: an index.
    Symbol,
}

impl Scalar {
    /// Width of the value in bits; for a `varbit` the most it can hold.
    pub const fn width(self) -> u32 {
        match self {
            Scalar::Bool => 1,
            Scalar::Bit(w) | Scalar::Int(w) | Scalar::Varbit(w) => w,
            Scalar::Symbol => 32,
        }
    }

    /// Words of the value alone, without a `varbit`'s length.
    pub const fn limbs(self) -> u32 {
        self.width().div_ceil(64)
    }

    /// Words that a variable of this type takes; the greatest number if they are more.
    pub const fn words(self) -> u32 {
        match self {
            Scalar::Varbit(_) => 1 + self.limbs(),
            _ => self.limbs(),
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
    /// A header stack (or stack of unions): element type and length. Its first word is `nextIndex`.
    Stack(Box<Type>, u32),
    /// An array of what is no header or union: element type and length. Its elements alone.
    Array(Box<Type>, u32),
    /// A tuple.
    Tuple(Vec<Type>),
}

/// A named type.
#[derive(Clone, Debug)]
pub struct TypeDef {
    /// Its name in the source, with type arguments where it is generic: `pair<bit<8>, bool>`.
    pub name: String,
    /// What it is.
    pub kind: TypeKind,
    /// Annotations on its declaration.
    pub annotations: Vec<Annotation>,
    /// Where it is declared.
    pub loc: SourceLoc,
}

/// What a named type is.
#[derive(Clone, Debug)]
pub enum TypeKind {
    /// `struct`.
    Struct(Vec<Field>),
    /// `header`; every field is a scalar, or a struct of such.
    Header(Vec<Field>),
    /// `header_union`.
    Union(Vec<Field>),
    /// `enum` without underlying type: its members, index = value.
    Enum(Vec<String>),
    /// `enum bit<W>`: underlying type, members with their values.
    SerialisableEnum(Scalar, Vec<(String, BigUint)>),
    /// `error`; members are [`Program::errors`].
    Error,
    /// `type T Name`: a type of its own over another.
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
    /// Words that a variable of this type takes; the greatest number if they are more.
    pub fn words(&self, program: &Program) -> u32 {
        match self {
            Type::Scalar(s) => s.words(),
            Type::Stack(element, len) => element
                .words(program)
                .saturating_mul(*len)
                .saturating_add(1),
            Type::Array(element, len) => element.words(program).saturating_mul(*len),
            Type::Tuple(members) => sum(members.iter().map(|m| m.words(program))),
            Type::Named(id) => match &program[*id].kind {
                TypeKind::Header(fields) => fields_words(fields, program).saturating_add(1),
                TypeKind::Struct(fields) | TypeKind::Union(fields) => fields_words(fields, program),
                TypeKind::Enum(_) | TypeKind::Error => 1,
                TypeKind::SerialisableEnum(under, _) => under.words(),
                TypeKind::New(of) => of.words(program),
            },
        }
    }

    /// The scalar that this type is kept as, if it is one value.
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

    /// Members of a struct, header or union, each with its offset in words from the variable's first
    /// word (a header's first word is its validity). Empty for other types.
    pub fn members<'p>(&self, program: &'p Program) -> Vec<(u32, &'p Field)> {
        let Type::Named(id) = self else {
            return Vec::new();
        };
        let (first, fields) = match &program[*id].kind {
            TypeKind::Header(fields) => (1, fields),
            TypeKind::Struct(fields) | TypeKind::Union(fields) => (0, fields),
            TypeKind::New(of) => return of.members(program),
            _ => return Vec::new(),
        };
        let mut offset = first;
        let place = |field: &'p Field| {
            let at = offset;
            offset += field.ty.words(program);
            (at, field)
        };
        fields.iter().map(place).collect()
    }
}

fn fields_words(fields: &[Field], program: &Program) -> u32 {
    sum(fields.iter().map(|f| f.ty.words(program)))
}

fn sum(mut words: impl Iterator<Item = u32>) -> u32 {
    words.try_fold(0, u32::checked_add).unwrap_or(u32::MAX)
}
