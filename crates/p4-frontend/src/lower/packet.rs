//! core.p4's `packet_in`, `packet_out` and `verify`.

use super::callee::Given;
use super::ir::{NEXT_INDEX, ir_binary, load, next_index, part};
use super::targets::Target;
use super::{Body, Lowerer};
use crate::hir::{Call, Expr, ExprKind, NamedKind, Ty};
use crate::span::Span;
use p4_ir::{BinaryOp, Location, Place, Scalar, StmtKind, TypeId};

impl Body<'_, '_, '_> {
    pub(super) fn verify(&mut self, call: &Call) -> Given {
        if let [Some(condition), Some(error)] = call.args.as_slice() {
            let condition = self.scalar(condition);
            let condition = if error.has_effects() {
                self.spilled(condition, error.span)
            } else {
                condition
            };
            let error = self.scalar(error);
            self.emit(StmtKind::Verify(condition, error));
        }
        Given::Nothing
    }

    pub(super) fn packet_in(&mut self, name: &str, call: &Call, ty: &Ty, span: Span) -> Given {
        match (name, call.args.as_slice()) {
            ("extract", [Some(header)]) => self.extract(header, None, call, span),
            ("extract", [Some(header), Some(bits)]) => {
                self.extract(header, Some(bits), call, span);
            }
            ("lookahead", _) => return self.lookahead(ty, span),
            ("advance", [Some(bits)]) => {
                let bits = self.scalar(bits);
                self.emit(StmtKind::Advance(bits));
            }
            ("length", _) => {
                return Given::Scalar(p4_ir::Expr {
                    kind: p4_ir::ExprKind::PacketLength,
                    ty: Scalar::Bit(32),
                });
            }
            _ => self.unsupported(span, &format!("`packet_in.{name}`")),
        }
        Given::Nothing
    }

    fn extract(&mut self, header: &Expr, bits: Option<&Expr>, call: &Call, span: Span) {
        let ty = match call.type_args.first() {
            Some(ty) => self.ty(ty),
            None => self.ty(&header.ty),
        };
        let Some(id) = self.header_type(&ty, header.span, "extract") else {
            return;
        };
        let has_varbit = self.hir.bits(&ty, 0) != self.hir.bits(&ty, 1);
        if has_varbit != bits.is_some() {
            let message = if has_varbit {
                format!("`{ty}` has a varbit: `extract` needs its length in bits")
            } else {
                format!("`{ty}` has no varbit: `extract` takes no length")
            };
            self.error("wrong-arguments", span, message);
            return;
        }
        let (at, siblings) = match self.target(header) {
            Target::At(at, siblings) => (at, siblings),
            _ => (self.temporary(&ty, span), Vec::new()),
        };
        let varbit_bits = bits.map(|bits| self.scalar(bits));
        self.emit(StmtKind::Extract {
            header: at,
            ty: id,
            varbit_bits,
        });
        self.alone(&siblings);
        self.advance_stack(header);
    }

    /// Called after an extraction into `stack.next`: advances to the next element.
    fn advance_stack(&mut self, header: &Expr) {
        match &header.kind {
            ExprKind::Field(of, _) | ExprKind::Index(of, _) => self.advance_stack(of),
            ExprKind::Next(stack) => {
                let Some(at) = self.location(stack) else {
                    return;
                };
                let to = next_index(&at);
                let next = p4_ir::Expr::load(to.clone());
                let one = p4_ir::Expr::constant(1u32, NEXT_INDEX);
                let value = ir_binary(BinaryOp::Add, next, one, NEXT_INDEX);
                self.set(to, value);
            }
            _ => {}
        }
    }

    fn lookahead(&mut self, ty: &Ty, span: Span) -> Given {
        let at = self.temporary(ty, span);
        let mut places = Vec::new();
        let mut headers = Vec::new();
        if !self.leaves(&at, ty, &mut places, &mut headers) {
            self.error(
                "wrong-arguments",
                span,
                format!("`lookahead` cannot read a value of type `{ty}`"),
            );
            return Given::Nothing;
        }
        self.emit(StmtKind::Lookahead(places));
        for header in headers {
            self.emit(StmtKind::SetValidity {
                header,
                valid: true,
            });
        }
        match self.scalar_type(ty) {
            Some(scalar) => Given::Scalar(load(&at, scalar)),
            None => Given::At(at),
        }
    }

    pub(super) fn packet_out(&mut self, name: &str, call: &Call, span: Span) -> Given {
        match (name, call.args.as_slice()) {
            ("emit", [Some(value)]) => self.emit_value(value),
            _ => self.unsupported(span, &format!("`packet_out.{name}`")),
        }
        Given::Nothing
    }

    fn emit_value(&mut self, value: &Expr) {
        if let ExprKind::List(members) = &value.kind {
            for member in members {
                self.emit_value(member);
            }
            return;
        }
        let ty = self.ty(&value.ty);
        let at = self.materialise(value);
        if !self.emit_at(&at, &ty) {
            self.error(
                "not-a-header",
                value.span,
                format!("`emit` takes headers, stacks, unions and structs of them, not `{ty}`"),
            );
        }
    }

    fn emit_at(&mut self, at: &Location, ty: &Ty) -> bool {
        if ty.is(NamedKind::Header) {
            if let p4_ir::Type::Named(id) = self.ir_type(ty) {
                self.emit(StmtKind::Emit {
                    header: at.clone(),
                    ty: id,
                });
            }
            return true;
        }
        let Some(members) = self.hir.members(ty) else {
            return false;
        };
        members
            .iter()
            .enumerate()
            .all(|(i, member)| self.emit_at(&part(at, ty, i), member))
    }
}

impl Lowerer<'_, '_> {
    fn header_type(&mut self, ty: &Ty, span: Span, method: &str) -> Option<TypeId> {
        let id = match self.ir_type(ty) {
            p4_ir::Type::Named(id) if ty.is(NamedKind::Header) => Some(id),
            _ => None,
        };
        if id.is_none() && !ty.is_error() {
            self.error(
                "not-a-header",
                span,
                format!("`{method}` takes a header, and this is of type `{ty}`"),
            );
        }
        id
    }

    /// The scalars of which a variable consists, in order, and the headers that contain them.
    pub(super) fn leaves(
        &mut self,
        at: &Location,
        ty: &Ty,
        places: &mut Vec<Place>,
        headers: &mut Vec<Location>,
    ) -> bool {
        match self.scalar_type(ty) {
            Some(Scalar::Varbit(_)) => return false,
            Some(scalar) => {
                places.push(Place {
                    at: at.clone(),
                    ty: scalar,
                });
                return true;
            }
            None => {}
        }
        if ty.is(NamedKind::Union) {
            return false;
        }
        let Some(members) = self.hir.members(ty) else {
            return false;
        };
        if ty.is(NamedKind::Header) {
            headers.push(at.clone());
        }
        members
            .iter()
            .enumerate()
            .all(|(i, member)| self.leaves(&part(at, ty, i), member, places, headers))
    }
}
