//! Which names are types. Determines whether `(a) - b` is a cast, and whether `f(a < b, c > (d))` contains a generic
//! call.

use std::collections::HashMap;

use crate::ast::{Ident, Symbol};

/// Names declared so far, innermost scope last.
pub struct Scopes(Vec<HashMap<Symbol, bool>>);

impl Default for Scopes {
    fn default() -> Self {
        Scopes(vec![HashMap::new()])
    }
}

impl Scopes {
    pub fn open(&mut self) {
        self.0.push(HashMap::new());
    }

    pub fn close(&mut self) {
        self.0.pop();
    }

    pub fn declare_type(&mut self, name: &Ident) {
        self.declare(name, true);
    }

    pub fn declare_value(&mut self, name: &Ident) {
        self.declare(name, false);
    }

    fn declare(&mut self, name: &Ident, is_type: bool) {
        if let Some(scope) = self.0.last_mut() {
            scope.insert(name.name.clone(), is_type);
        }
    }

    /// Whether the nearest declaration of `name` declares a type.
    pub fn is_type(&self, name: &str) -> bool {
        self.nearest(name).unwrap_or(false)
    }

    /// Whether `name` is declared at all.
    pub fn is_known(&self, name: &str) -> bool {
        self.nearest(name).is_some()
    }

    fn nearest(&self, name: &str) -> Option<bool> {
        let mut scopes = self.0.iter().rev();
        scopes.find_map(|scope| scope.get(name)).copied()
    }
}
