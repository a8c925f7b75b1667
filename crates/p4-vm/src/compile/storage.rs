//! The layout of variables and their parts in the words of a packet.
//!
//! Each value begins at a new word, with the least significant bits first. The bits above its width are zero. A
//! `varbit` has a word for its length before its value, a header a word for its validity before its fields, and a stack
//! a word for `nextIndex` before its elements. Variables are stored consecutively.

use crate::CompileError;
use crate::code::Slot;
use crate::wide::words_of_value;
use p4_ir::{Field, Location, Program, Scalar, Step, Type, TypeKind, VariableId};

/// The most words that all variables may take.
const MAX_WORDS: u64 = 1 << 24;

static VALID: Type = Type::Scalar(Scalar::Bool);
static NEXT_INDEX: Type = Type::Scalar(Scalar::Bit(32));

/// The place of every variable.
#[derive(Clone, Debug)]
pub(super) struct Storage<'p> {
    program: &'p Program,
    /// The first word of each variable, then the slots for which [`name`](Self::name) created a variable.
    first: Vec<Slot>,
    types: Vec<Words>,
    /// Words of all variables.
    pub words: u32,
}

/// The layout of a named type.
#[derive(Clone, Debug, Default)]
struct Words {
    all: u64,
    /// Offset of each member, in words.
    members: Vec<u32>,
}

/// The result of a step of a location.
pub(super) struct Part<'p> {
    /// Offset in words from the start of the whole. For an element, the offset of element 0.
    pub offset: u32,
    pub ty: &'p Type,
    /// Words per element and number of elements, if it is an element.
    pub elements: Option<(u32, u32)>,
}

impl<'p> Storage<'p> {
    /// Lays out the variables of a program. Rejects programs that need too much memory.
    pub fn new(program: &'p Program) -> Result<Self, Vec<CompileError>> {
        let mut storage = Storage {
            program,
            first: Vec::with_capacity(program.variables.len()),
            types: vec![Words::default(); program.types.len()],
            words: 0,
        };
        let mut known = vec![false; program.types.len()];
        for id in 0..program.types.len() {
            storage.lay_out(id, &mut known);
        }
        let mut next = 0u64;
        for variable in &program.variables {
            storage.first.push(next as Slot);
            next = storage.count(&variable.ty).saturating_add(next);
            if next > MAX_WORDS {
                return Err(vec![CompileError {
                    loc: variable.loc,
                    message: "the program needs more than 2^24 words of storage".into(),
                }]);
            }
        }
        storage.words = next as u32;
        Ok(storage)
    }

    /// Lays out a named type after the types within it.
    fn lay_out(&mut self, id: usize, known: &mut [bool]) {
        if std::mem::replace(&mut known[id], true) {
            return;
        }
        let program = self.program;
        let mut words = Words::default();
        match &program.types[id].kind {
            TypeKind::Header(fields) => self.lay_out_fields(1, fields, &mut words, known),
            TypeKind::Struct(fields) | TypeKind::Union(fields) => {
                self.lay_out_fields(0, fields, &mut words, known);
            }
            TypeKind::Enum(_) | TypeKind::Error => words.all = 1,
            TypeKind::SerialisableEnum(under, _) => words.all = words_of_value(*under).into(),
            TypeKind::New(of) => {
                self.lay_out_within(of, known);
                words.all = self.count(of);
                if let Type::Named(of) = of {
                    words.members.clone_from(&self.types[of.0 as usize].members);
                }
            }
        }
        self.types[id] = words;
    }

    fn lay_out_fields(
        &mut self,
        first: u64,
        fields: &[Field],
        words: &mut Words,
        known: &mut [bool],
    ) {
        words.all = first;
        for field in fields {
            self.lay_out_within(&field.ty, known);
            words.members.push(words.all as u32);
            words.all = words.all.saturating_add(self.count(&field.ty));
        }
    }

    fn lay_out_within(&mut self, ty: &Type, known: &mut [bool]) {
        match ty {
            Type::Scalar(_) => {}
            Type::Named(id) => self.lay_out(id.0 as usize, known),
            Type::Stack(element, _) | Type::Array(element, _) => {
                self.lay_out_within(element, known);
            }
            Type::Tuple(members) => members.iter().for_each(|m| self.lay_out_within(m, known)),
        }
    }

    fn count(&self, ty: &Type) -> u64 {
        let elements = |element: &Type, len: u32| self.count(element).saturating_mul(len.into());
        match ty {
            Type::Scalar(scalar) => words_of_value(*scalar).into(),
            Type::Named(id) => self.types[id.0 as usize].all,
            Type::Stack(element, len) => elements(element, *len).saturating_add(1),
            Type::Array(element, len) => elements(element, *len),
            Type::Tuple(members) => {
                let words = members.iter().map(|member| self.count(member));
                words.fold(0, u64::saturating_add)
            }
        }
    }

    /// Words of a variable of this type, saturating.
    pub fn words(&self, ty: &Type) -> u32 {
        u32::try_from(self.count(ty)).unwrap_or(u32::MAX)
    }

    /// The first word of a variable.
    pub fn slot(&self, variable: VariableId) -> Slot {
        self.first[variable.0 as usize]
    }

    /// The first word of each variable, in ascending order.
    #[cfg(feature = "native")]
    pub fn variables(&self) -> &[Slot] {
        &self.first[..self.program.variables.len()]
    }

    /// Creates a variable that refers to the value at this slot.
    pub fn name(&mut self, slot: Slot) -> VariableId {
        self.first.push(slot);
        VariableId(self.first.len() as u32 - 1)
    }

    /// The members of a struct, header or union, each with its offset in words.
    pub fn members(&self, ty: &Type) -> impl Iterator<Item = (u32, &'p Field)> {
        let offsets = match ty {
            Type::Named(id) => &self.types[id.0 as usize].members[..],
            _ => &[],
        };
        offsets.iter().copied().zip(ty.fields(self.program))
    }

    /// The type of the value at a location.
    pub fn ty(&self, at: &Location) -> &'p Type {
        let mut ty = &self.program[at.variable].ty;
        for step in &at.path {
            ty = self.step(ty, step).ty;
        }
        ty
    }

    /// The result of a step from a value of type `ty`.
    pub fn step(&self, ty: &'p Type, step: &Step) -> Part<'p> {
        let part = match step {
            Step::Member(index) => self.member(ty, *index),
            Step::Element(_) => ty.elements().map(|(element, len)| Part {
                offset: u32::from(matches!(ty, Type::Stack(..))),
                ty: element,
                elements: Some((self.words(element), len)),
            }),
            Step::Valid => Some(first_word(&VALID)),
            Step::NextIndex => Some(first_word(&NEXT_INDEX)),
        };
        part.expect("a path follows the type of its variable")
    }

    fn member(&self, ty: &'p Type, index: u32) -> Option<Part<'p>> {
        let member = ty.member(self.program, index)?;
        let offset = match ty {
            Type::Named(id) => self.types[id.0 as usize].members[index as usize],
            Type::Tuple(members) => {
                let before = &members[..index as usize];
                before.iter().map(|member| self.words(member)).sum()
            }
            _ => return None,
        };
        Some(Part {
            offset,
            ty: member,
            elements: None,
        })
    }
}

fn first_word(ty: &'static Type) -> Part<'static> {
    Part {
        offset: 0,
        ty,
        elements: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use p4_ir::{Expr, SourceLoc, TypeDef, TypeId, Variable};

    fn field(ty: Type) -> Field {
        Field {
            name: "f".into(),
            ty,
            annotations: Vec::new(),
            loc: SourceLoc::default(),
        }
    }

    fn bits(width: u32) -> Type {
        Type::Scalar(Scalar::Bit(width))
    }

    /// A program with a variable of three words, then one of each type. The first type is a header with fields of these
    /// types.
    fn program(fields: Vec<Type>, variables: Vec<Type>) -> Program {
        let variables = std::iter::once(bits(129)).chain(variables);
        Program {
            types: vec![TypeDef {
                name: "h".into(),
                kind: TypeKind::Header(fields.into_iter().map(field).collect()),
                annotations: Vec::new(),
                loc: SourceLoc::default(),
            }],
            variables: variables
                .map(|ty| Variable {
                    name: "v".into(),
                    ty,
                    loc: SourceLoc::default(),
                })
                .collect(),
            ..Program::default()
        }
    }

    fn offset(storage: &Storage<'_>, ty: &Type, step: &Step) -> u32 {
        storage.step(ty, step).offset
    }

    #[test]
    fn members_follow_the_validity_of_their_header() {
        let varbit = Type::Scalar(Scalar::Varbit(65));
        let header = Type::Named(TypeId(0));
        let program = program(vec![bits(9), varbit, bits(1)], vec![header, bits(8)]);
        let storage = Storage::new(&program).expect("it is small");
        let header = &program.variables[1].ty;
        assert_eq!(storage.slot(VariableId(1)), 3);
        assert_eq!(offset(&storage, header, &Step::Valid), 0);
        assert_eq!(offset(&storage, header, &Step::Member(0)), 1);
        assert_eq!(offset(&storage, header, &Step::Member(2)), 5);
        assert_eq!(storage.slot(VariableId(2)), 9);
        assert_eq!(storage.words, 10);
    }

    #[test]
    fn elements_of_a_stack_follow_its_next_index() {
        let stack = Type::Stack(Box::new(Type::Named(TypeId(0))), 4);
        let program = program(vec![bits(64)], vec![stack]);
        let storage = Storage::new(&program).expect("it is small");
        let step = Step::Element(Expr::constant(0u8, Scalar::Bit(8)));
        let element = storage.step(&program.variables[1].ty, &step);
        assert_eq!((element.offset, element.elements), (1, Some((2, 4))));
        assert_eq!(storage.words, 3 + 1 + 4 * 2);
    }

    #[test]
    fn variables_larger_than_memory_should_hold_are_refused() {
        let array = |of, len| Type::Array(Box::new(of), len);
        let wide = |len| program(Vec::new(), vec![array(bits(2048), len)]);
        assert!(Storage::new(&wide((1 << 19) - 1)).is_ok());
        assert!(Storage::new(&wide(1 << 19)).is_err());
        let many = array(array(bits(2048), u32::MAX), u32::MAX);
        assert!(Storage::new(&program(Vec::new(), vec![many])).is_err());
    }
}
