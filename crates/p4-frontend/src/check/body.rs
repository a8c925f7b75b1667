//! A body: the type that its statements may return, and whether they are in a loop.

use super::Checker;
use super::scope::Scope;
use crate::hir::Ty;
use std::ops::{Deref, DerefMut};

/// The body of a function, action or method, a control's `apply` or a parser's state.
pub(super) struct Body<'c, 'a> {
    checker: &'c mut Checker<'a>,
    /// The type of `return`: `void` except in functions and methods.
    pub result: Ty,
    /// Whether the statement is in a loop.
    pub in_loop: bool,
}

impl<'a> Deref for Body<'_, 'a> {
    type Target = Checker<'a>;

    fn deref(&self) -> &Self::Target {
        self.checker
    }
}

impl DerefMut for Body<'_, '_> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        self.checker
    }
}

impl<'a> Checker<'a> {
    /// Starts a body.
    pub(super) fn body(&mut self, result: Ty) -> Body<'_, 'a> {
        Body {
            checker: self,
            result,
            in_loop: false,
        }
    }
}

impl Body<'_, '_> {
    /// Runs `check` in a new scope.
    pub(super) fn scoped<R>(&mut self, check: impl FnOnce(&mut Self) -> R) -> R {
        self.scopes.push(Scope::default());
        let result = check(self);
        self.scopes.pop();
        result
    }
}
