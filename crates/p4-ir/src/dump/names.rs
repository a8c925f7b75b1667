//! Names of places.

use crate::{Location, Program, Type, TypeKind, Variable};

/// Variables by the words that they take.
pub(super) struct Names<'p> {
    program: &'p Program,
    /// In the order of their first words.
    variables: Vec<&'p Variable>,
}

impl<'p> Names<'p> {
    pub(super) fn new(program: &'p Program) -> Self {
        let mut variables: Vec<&Variable> = program
            .variables
            .iter()
            .filter(|v| v.ty.words(program) > 0)
            .collect();
        variables.sort_by_key(|v| v.base);
        Names { program, variables }
    }

    /// The dotted name of a location. `whole` is how many words are meant, so that a header is told from its
    /// validity; `None` for a single value.
    pub(super) fn location(
        &self,
        at: &Location,
        whole: Option<u32>,
        index: &dyn Fn(&crate::Expr) -> String,
    ) -> String {
        let next = self.variables.partition_point(|v| v.base <= at.base);
        let Some(variable) = next.checked_sub(1).map(|i| self.variables[i]) else {
            return format!("@{}", at.base);
        };
        let mut walk = Walk {
            program: self.program,
            name: variable.name.clone(),
            rest: at.base - variable.base,
            indices: at.indices.iter().map(|i| index(&i.value)).collect(),
            used: 0,
            whole,
        };
        walk.descend(&variable.ty);
        for unused in &walk.indices[walk.used..] {
            walk.name.push_str(&format!("[{unused}]"));
        }
        walk.name
    }
}

/// The way from a variable down to the place in it.
struct Walk<'p> {
    program: &'p Program,
    name: String,
    /// Words from the start of what has been named so far.
    rest: u32,
    indices: Vec<String>,
    used: usize,
    whole: Option<u32>,
}

impl Walk<'_> {
    fn descend(&mut self, ty: &Type) {
        let words = ty.words(self.program);
        if self.rest == 0 && self.whole == Some(words) && self.used == self.indices.len() {
            return;
        }
        match ty {
            Type::Stack(..) if self.rest == 0 => self.name.push_str(".$next"),
            Type::Stack(element, len) => {
                self.rest -= 1;
                self.element(element, *len);
            }
            Type::Array(element, len) => self.element(element, *len),
            Type::Tuple(members) => {
                let mut first = 0;
                for (i, member) in members.iter().enumerate() {
                    let size = member.words(self.program);
                    if self.rest < first + size {
                        self.rest -= first;
                        self.name.push_str(&format!("[{i}]"));
                        return self.descend(member);
                    }
                    first += size;
                }
            }
            _ => self.member(ty),
        }
    }

    fn element(&mut self, element: &Type, len: u32) {
        let size = element.words(self.program).max(1);
        let i = self.rest / size;
        if i == 0 && self.used < self.indices.len() {
            self.name
                .push_str(&format!("[{}]", self.indices[self.used]));
            self.used += 1;
        } else if i < len {
            self.name.push_str(&format!("[{i}]"));
        }
        self.rest %= size;
        self.descend(element);
    }

    fn member(&mut self, ty: &Type) {
        let members = ty.members(self.program);
        let found = members.iter().rev().find(|(at, field)| {
            *at <= self.rest && self.rest < *at + field.ty.words(self.program).max(1)
        });
        match found {
            Some((at, field)) => {
                self.rest -= at;
                self.name.push_str(&format!(".{}", field.name));
                self.descend(&field.ty);
            }
            None if self.is_header(ty) => self.name.push_str(".$valid"),
            None => {}
        }
    }

    fn is_header(&self, ty: &Type) -> bool {
        let Type::Named(id) = ty else { return false };
        matches!(self.program[*id].kind, TypeKind::Header(_)) && self.rest == 0
    }
}
