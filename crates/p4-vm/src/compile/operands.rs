//! Arguments of extern calls.

use super::Compiler;
use crate::Architecture;
use crate::code::*;
use p4_ir::{Arg, Expr, ExprKind, ListItem, Location, Place, Program, Scalar, Type, TypeKind};

impl<A: Architecture> Compiler<'_, A> {
    /// The slots of a location: its first word, and an offset found at run time or [`NONE`].
    pub fn location(&mut self, at: &Location) -> (Slot, Slot) {
        self.locate(at)
    }

    /// A place that refers to the value at a slot.
    pub fn place_at(&mut self, slot: Slot, ty: Scalar) -> Place {
        Place::variable(self.storage.name(slot), ty)
    }

    /// An argument as one word: an index, a length, or the number of a session.
    pub fn input(&mut self, arg: &Arg) -> Option<Slot> {
        match arg {
            Arg::In(value) => Some(self.one_word(value)),
            _ => None,
        }
    }

    /// An argument of any width, with that width.
    pub fn input_value(&mut self, arg: &Arg) -> Option<(Slot, u32)> {
        match arg {
            Arg::In(value) => Some((self.value(value), value.ty.width())),
            _ => None,
        }
    }

    /// The first word of a location and the number of words, if it is part of the packet's own headers or metadata.
    pub fn own_words(&mut self, at: &Location) -> Option<(Slot, u32)> {
        let mut own = self.program.blocks.iter().flat_map(|block| &block.params);
        if !at.is_fixed() || !own.any(|param| param.variable == at.variable) {
            return None;
        }
        let words = self.words_of(self.storage.ty(at));
        let (first, off) = self.locate(at);
        (off == NONE).then_some((first, words))
    }

    /// The values of an argument, flattened.
    pub fn data(&mut self, arg: &Arg) -> Option<Vec<ListValue>> {
        let mut data = Vec::new();
        match arg {
            Arg::In(value) => data.push(self.list_value(value, NONE)),
            Arg::List(items) => {
                for item in items {
                    data.push(self.list_item(item));
                }
            }
            Arg::Variable(at, ty) => {
                let base = self.fixed(at, self.words_of(ty));
                self.flatten(base, ty, NONE, &mut data);
            }
            Arg::None => {}
            _ => return None,
        }
        data.retain(|value| value.width > 0);
        Some(data)
    }

    fn list_item(&mut self, item: &ListItem) -> ListValue {
        let valid = item.valid.as_ref();
        let valid = valid.map_or(NONE, |place| self.fixed(&place.at, 1));
        self.list_value(&item.value, valid)
    }

    fn list_value(&mut self, value: &Expr, valid: Slot) -> ListValue {
        let slot = self.value(value);
        Self::scalar_value(slot, value.ty, valid)
    }

    fn scalar_value(slot: Slot, ty: Scalar, valid: Slot) -> ListValue {
        let (slot, length) = match ty {
            Scalar::Varbit(_) => (slot + 1, slot),
            _ => (slot, NONE),
        };
        ListValue {
            slot,
            width: ty.width(),
            length,
            valid,
        }
    }

    fn flatten(&mut self, base: Slot, ty: &Type, valid: Slot, data: &mut Vec<ListValue>) {
        let program = self.program;
        if let Some(scalar) = ty.scalar(program) {
            return data.push(Self::scalar_value(base, scalar, valid));
        }
        match ty {
            Type::Tuple(members) => {
                let mut at = base;
                for member in members {
                    self.flatten(at, member, valid, data);
                    at += self.words_of(member);
                }
            }
            Type::Stack(element, len) => self.elements(base + 1, element, *len, valid, data),
            Type::Array(element, len) => self.elements(base, element, *len, valid, data),
            Type::Named(id) => {
                let header = matches!(program[*id].kind, TypeKind::Header(_));
                let valid = if header { base } else { valid };
                for (offset, field) in self.members(ty) {
                    self.flatten(base + offset, &field.ty, valid, data);
                }
            }
            Type::Scalar(_) => {}
        }
    }

    fn elements(
        &mut self,
        first: Slot,
        element: &Type,
        len: u32,
        valid: Slot,
        data: &mut Vec<ListValue>,
    ) {
        let stride = self.words_of(element);
        for i in 0..len {
            self.flatten(first + i * stride, element, valid, data);
        }
    }
}

/// The name of the enum member in an argument. `None` if the argument is not a constant, or there is no such enum.
pub fn enum_member<'p>(program: &'p Program, enumeration: &str, arg: &Arg) -> Option<&'p str> {
    let Arg::In(Expr {
        kind: ExprKind::Const(index),
        ..
    }) = arg
    else {
        return None;
    };
    let index = usize::try_from(index).ok()?;
    let mut types = program.types.iter();
    match &types.find(|ty| ty.name == enumeration)?.kind {
        TypeKind::Enum(members) => members.get(index).map(String::as_str),
        _ => None,
    }
}
