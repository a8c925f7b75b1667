//! An instance: the meaning of names in it.

use super::{Binding, Env, Known, Lowerer};
use crate::ast::DeclId;
use crate::hir::{Expr, Ty, Value};
use crate::span::Span;
use std::ops::{Deref, DerefMut};

/// The maximum nesting of calls of functions and actions, and of applied blocks.
const MAX_NESTED: u32 = 64;

/// The maximum number of open bodies at a call or applied block: those of all callers, and of the enclosing branches
/// and loops. Lowering needs stack for each.
const MAX_OPEN: usize = 256;

/// The nesting depth of lowering.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Depth {
    /// Bodies being lowered, each called or applied by the preceding one.
    pub nested: u32,
    /// These bodies, and the branches and loops in them.
    pub open: usize,
    /// Levels of the IR for chains around this position.
    pub chained: usize,
}

impl Depth {
    fn within(self) -> Depth {
        Depth {
            nested: self.nested + 1,
            open: self.open + 1,
            ..self
        }
    }
}

/// An instance being lowered, or the top level.
pub(super) struct Scope<'s, 'h, 'a> {
    lowerer: &'s mut Lowerer<'h, 'a>,
    pub env: &'s mut Env,
    pub depth: Depth,
}

impl<'h, 'a> Deref for Scope<'_, 'h, 'a> {
    type Target = Lowerer<'h, 'a>;

    fn deref(&self) -> &Self::Target {
        self.lowerer
    }
}

impl DerefMut for Scope<'_, '_, '_> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        self.lowerer
    }
}

impl<'h, 'a> Lowerer<'h, 'a> {
    /// The top level, or an instance at the top level, with these names.
    pub(super) fn scope<'s>(&'s mut self, env: &'s mut Env) -> Scope<'s, 'h, 'a> {
        Scope {
            lowerer: self,
            env,
            depth: Depth::default(),
        }
    }
}

impl<'h, 'a> Scope<'_, 'h, 'a> {
    /// Another instance, at the same depth.
    pub(super) fn elsewhere<'s>(&'s mut self, env: &'s mut Env) -> Scope<'s, 'h, 'a> {
        Scope {
            lowerer: self.lowerer,
            env,
            depth: self.depth,
        }
    }

    /// The same instance, one call deeper.
    pub(super) fn within(&mut self) -> Scope<'_, 'h, 'a> {
        Scope {
            lowerer: self.lowerer,
            env: self.env,
            depth: self.depth.within(),
        }
    }

    /// Another instance, which is called or applied here.
    pub(super) fn within_of<'s>(&'s mut self, env: &'s mut Env) -> Scope<'s, 'h, 'a> {
        Scope {
            lowerer: self.lowerer,
            env,
            depth: self.depth.within(),
        }
    }

    /// Whether a callee or applied block may be lowered here. Reports an error if calls are nested too deeply.
    pub(super) fn may_nest(&mut self, span: Span) -> bool {
        let message = if self.depth.nested >= MAX_NESTED {
            format!("calls nest more than {MAX_NESTED} deep")
        } else if self.depth.open > MAX_OPEN {
            format!("calls and the statements around them nest more than {MAX_OPEN} deep")
        } else {
            return true;
        };
        self.too_large(span, message);
        false
    }

    /// The compile-time evaluator for this position.
    pub(super) fn constants(&self) -> Known<'_, 'h, 'a> {
        Known {
            hir: self.hir,
            env: self.env,
            globals: &self.globals,
        }
    }

    /// The scalar value of an expression, if it is known.
    pub(super) fn known(&self, expr: &Expr) -> Option<Value> {
        self.constants().known(expr)
    }

    /// A type with the instance's type arguments substituted.
    pub(super) fn ty(&self, ty: &Ty) -> Ty {
        ty.substitute(&self.env.types)
    }

    pub(super) fn binding(&self, id: DeclId) -> Option<&Binding> {
        self.constants().binding(id)
    }
}
