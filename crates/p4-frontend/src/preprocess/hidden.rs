//! The macros from which a token was expanded, and which it must not expand again.

use std::rc::Rc;

use crate::ast::Symbol;

/// A set of names of macros. It nearly always has at most one element.
#[derive(Clone, Default)]
pub struct Hidden(Option<Rc<[Symbol]>>);

impl Hidden {
    fn names(&self) -> &[Symbol] {
        self.0.as_deref().unwrap_or_default()
    }

    pub fn len(&self) -> usize {
        self.names().len()
    }

    /// Symbols are interned, so equal names have equal pointers.
    pub fn contains(&self, name: &Symbol) -> bool {
        self.names().iter().any(|hidden| Rc::ptr_eq(hidden, name))
    }

    /// This set with an additional name.
    pub fn with(&self, name: &Symbol) -> Hidden {
        if self.contains(name) {
            return self.clone();
        }
        let names = self.names().iter().chain([name]).cloned();
        Hidden(Some(names.collect()))
    }

    /// The intersection of two sets.
    pub fn intersection(&self, other: &Hidden) -> Hidden {
        let names = self.names().iter().filter(|name| other.contains(name));
        let names: Rc<[Symbol]> = names.cloned().collect();
        Hidden((!names.is_empty()).then_some(names))
    }

    /// The union of two sets.
    pub fn union(&self, other: &Hidden) -> Hidden {
        let more = other.names().iter().filter(|name| !self.contains(name));
        if more.clone().next().is_none() {
            return self.clone();
        }
        Hidden(Some(self.names().iter().chain(more).cloned().collect()))
    }
}
