//! Targets of assignments.

use super::ir::{load, validity};
use super::{Body, Lowerer};
use crate::hir::{Expr, ExprKind, NamedKind, Ty};
use crate::span::Span;
use p4_ir::{Location, Place, Scalar, StmtKind};

/// The target of an assignment.
#[derive(Clone, Debug)]
pub(super) enum Target {
    /// A complete value, and the headers of the same union, which become invalid if it becomes
    /// valid.
    At(Location, Vec<Location>),
    /// Some bits of a value.
    Bits { place: Place, hi: u32, lo: u32 },
    /// `_`
    Nowhere,
}

impl Body<'_, '_, '_> {
    /// The target of an assignment, an `out` argument or an extraction.
    pub(super) fn target(&mut self, expr: &Expr) -> Target {
        match &expr.kind {
            ExprKind::Any => Target::Nowhere,
            ExprKind::Slice { of, hi, lo } => match self.target(of) {
                Target::At(at, _) => {
                    let of_ty = self.ty(&of.ty);
                    let ty = self.scalar_type(&of_ty).unwrap_or(Scalar::Bit(hi + 1));
                    Target::Bits {
                        place: Place { at, ty },
                        hi: *hi,
                        lo: *lo,
                    }
                }
                Target::Bits {
                    place, lo: base, ..
                } => Target::Bits {
                    place,
                    hi: base + hi,
                    lo: base + lo,
                },
                Target::Nowhere => Target::Nowhere,
            },
            ExprKind::Cast(of) => self.target(of),
            ExprKind::Field(of, i) if self.ty(&of.ty).is(NamedKind::Union) => {
                let Some(union) = self.location(of) else {
                    return self.no_target(expr.span);
                };
                let union = self.pinned(union, expr.span);
                let ty = self.ty(&of.ty);
                let members = self.hir.members(&ty).unwrap_or_default();
                let mut siblings = Vec::new();
                for j in (0..members.len()).filter(|j| j != i) {
                    siblings.push(union.member(j as u32));
                }
                Target::At(union.member(*i as u32), siblings)
            }
            _ => match self.location(expr) {
                Some(at) => Target::At(self.pinned(at, expr.span), Vec::new()),
                None => self.no_target(expr.span),
            },
        }
    }

    fn no_target(&mut self, span: Span) -> Target {
        self.unsupported(span, "writing to this");
        Target::Nowhere
    }

    /// Writes the value at `from` to a target.
    pub(super) fn write(&mut self, target: &Target, from: &Location, ty: &Ty) {
        match target {
            Target::Nowhere => {}
            Target::Bits { place, hi, lo } => {
                let ty = Scalar::Bit(hi - lo + 1);
                let value = load(from, ty);
                self.emit(StmtKind::AssignSlice {
                    to: place.clone(),
                    hi: *hi,
                    lo: *lo,
                    value,
                });
            }
            Target::At(at, siblings) => {
                self.copy(at, from, ty);
                self.alone_if_valid(at, siblings);
            }
        }
    }

    /// Called after an assignment to a header of a union: the others become invalid if it is valid.
    fn alone_if_valid(&mut self, header: &Location, siblings: &[Location]) {
        if siblings.is_empty() {
            return;
        }
        let condition = validity(header);
        let then = self.collect(|l| l.alone(siblings));
        self.when(condition, then);
    }

    /// Makes the other headers of a union invalid.
    pub(super) fn alone(&mut self, siblings: &[Location]) {
        for header in siblings {
            self.emit(StmtKind::SetValidity {
                header: header.clone(),
                valid: false,
            });
        }
    }

    /// `target = value`
    pub(super) fn assign(&mut self, target: &Expr, value: &Expr) {
        let ty = self.ty(&target.ty);
        if target.has_effects() && self.scalar_type(&ty).is_some() {
            let to = self.target(target);
            self.target = self.held(&to, &ty);
            let value = self.scalar(value);
            return self.assign_scalar(to, value);
        }
        // The side effects of the value come after the target's place is determined, and before it
        // is written.
        let effects = value.has_effects();
        if effects && self.scalar_type(&ty).is_some() {
            let to = self.target(target);
            let value = self.scalar(value);
            return self.assign_scalar(to, value);
        }
        let to = if effects || target.has_effects() {
            self.target(target)
        } else {
            self.unpinned(target)
        };
        match to {
            Target::At(at, siblings) => {
                self.store(&at, &ty, value);
                match &value.kind {
                    ExprKind::List(_) => self.alone(&siblings),
                    ExprKind::Invalid => {}
                    _ => self.alone_if_valid(&at, &siblings),
                }
            }
            Target::Bits { .. } => {
                let value = self.scalar(value);
                self.assign_scalar(to, value);
            }
            Target::Nowhere => {}
        }
    }

    /// A target that is written immediately, so that its indices need no variables.
    fn unpinned(&mut self, target: &Expr) -> Target {
        match &target.kind {
            ExprKind::Var(_) | ExprKind::Index(..) => match self.location(target) {
                Some(at) => Target::At(at, Vec::new()),
                None => self.no_target(target.span),
            },
            ExprKind::Field(of, _) if !self.ty(&of.ty).is(NamedKind::Union) => {
                match self.location(target) {
                    Some(at) => Target::At(at, Vec::new()),
                    None => self.no_target(target.span),
                }
            }
            _ => self.target(target),
        }
    }

    fn assign_scalar(&mut self, to: Target, value: p4_ir::Expr) {
        match to {
            Target::At(at, _) => {
                let to = Place { at, ty: value.ty };
                self.set(to, value);
            }
            Target::Bits { place, hi, lo } => self.emit(StmtKind::AssignSlice {
                to: place,
                hi,
                lo,
                value,
            }),
            Target::Nowhere => {}
        }
    }
}

impl Lowerer<'_, '_> {
    /// The current scalar value of a target.
    fn held(&self, target: &Target, ty: &Ty) -> Option<p4_ir::Expr> {
        match target {
            Target::At(at, _) => Some(load(at, self.scalar_type(ty)?)),
            Target::Bits { place, hi, lo } => Some(p4_ir::Expr {
                kind: p4_ir::ExprKind::Slice {
                    of: Box::new(p4_ir::Expr::load(place.clone())),
                    hi: *hi,
                    lo: *lo,
                },
                ty: Scalar::Bit(hi - lo + 1),
            }),
            Target::Nowhere => None,
        }
    }
}
