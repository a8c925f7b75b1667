//! Calls of extern functions and methods, and of core.p4's `packet_in`, `packet_out` and `verify`.

use super::callee::Given;
use super::ir::{load, part, place_ty};
use super::targets::Target;
use super::{Body, Lowerer, Object, Scope};
use crate::ast::{DeclId, Direction};
use crate::hir::{Call, DefKind, Expr, ExprKind, Function, NamedKind, Ty, Value};
use crate::span::Span;
use p4_ir::{Arg, ExternCall, ListItem, Location, Place, StmtKind};

impl Body<'_, '_, '_> {
    pub(super) fn call_extern(
        &mut self,
        object: Option<&Expr>,
        id: DeclId,
        call: &Call,
        ty: &Ty,
        span: Span,
    ) -> Given {
        let hir = self.hir;
        let Some(DefKind::Function(function)) = hir.kind(id) else {
            return Given::Nothing;
        };
        let name = self.name(id);
        let object = match object {
            None if name == "verify" => return self.verify(call),
            None => None,
            Some(object) => match self.object(object) {
                Some(Object::PacketIn) => return self.packet_in(&name, call, ty, span),
                Some(Object::PacketOut) => return self.packet_out(&name, call, span),
                Some(Object::Extern(id)) => Some(id),
                _ => {
                    self.unsupported(span, "a method of this object");
                    return Given::Nothing;
                }
            },
        };
        let name = match function.of {
            Some(of) => format!("{}.{name}", self.name(of)),
            None => name,
        };
        let (mut args, after) = self.extern_args(function, call, span);
        let ty = self.ty(ty);
        let composite =
            (ty != Ty::Void && self.scalar_type(&ty).is_none()).then(|| self.temporary(&ty, span));
        let result = match &composite {
            Some(at) => {
                let ty = self.ir_type(&ty);
                args.push(Arg::Variable(at.clone(), ty));
                None
            }
            None => self.result_place(&ty, span),
        };
        let type_args: Vec<Ty> = call.type_args.iter().map(|t| self.ty(t)).collect();
        let type_args = type_args.iter().map(|t| self.ir_type(t)).collect();
        self.emit(StmtKind::Extern(ExternCall {
            name,
            object,
            type_args,
            args,
            result: result.clone(),
        }));
        for (target, place) in after {
            self.write(&target, &place.at, &place_ty(&place));
        }
        match (result, composite) {
            (Some(place), _) => Given::Scalar(p4_ir::Expr::load(place)),
            (None, Some(at)) => Given::At(at),
            (None, None) => Given::Nothing,
        }
    }

    /// The arguments, and the variables that must be copied back after the call.
    fn extern_args(
        &mut self,
        function: &Function,
        call: &Call,
        span: Span,
    ) -> (Vec<Arg>, Vec<(Target, Place)>) {
        let mut args = Vec::new();
        let mut after = Vec::new();
        for (i, param) in function.params.iter().enumerate() {
            let Some(arg) = call.args.get(i).and_then(Option::as_ref) else {
                args.push(Arg::None);
                continue;
            };
            let later = call.args[i + 1..].iter().flatten().any(Expr::has_effects);
            args.push(match param.direction {
                _ if matches!(arg.kind, ExprKind::Any) => Arg::None,
                Direction::In | Direction::None => self.in_arg(arg, later),
                direction => self.out_arg(arg, direction, &mut after, span),
            });
        }
        (args, after)
    }

    fn in_arg(&mut self, arg: &Expr, later_effects: bool) -> Arg {
        if let Some(Value::String(text)) = self.known(arg) {
            return Arg::String(text.to_string());
        }
        if let Some(object) = self.object(arg) {
            return match object {
                Object::Extern(id) => Arg::Object(id),
                _ => Arg::None,
            };
        }
        let ty = self.ty(&arg.ty);
        if self.scalar_type(&ty).is_some() {
            let value = self.scalar(arg);
            return Arg::In(if later_effects {
                self.spilled(value, arg.span)
            } else {
                value
            });
        }
        let mut items = Vec::new();
        self.flatten(arg, &mut items);
        if later_effects {
            for item in &mut items {
                item.value = self.spilled(item.value.clone(), arg.span);
            }
        }
        Arg::List(items)
    }

    fn out_arg(
        &mut self,
        arg: &Expr,
        direction: Direction,
        after: &mut Vec<(Target, Place)>,
        span: Span,
    ) -> Arg {
        let ty = self.ty(&arg.ty);
        let Some(scalar) = self.scalar_type(&ty) else {
            let at = self.materialise(arg);
            let at = self.pinned(at, span);
            let ty = self.ir_type(&ty);
            return Arg::Variable(at, ty);
        };
        match self.target(arg) {
            Target::At(at, _) => Arg::Out(Place { at, ty: scalar }),
            target => {
                let place = Place {
                    at: self.temporary(&ty, span),
                    ty: scalar,
                };
                if direction == Direction::InOut {
                    self.store(&place.at, &ty, arg);
                }
                after.push((target, place.clone()));
                Arg::Out(place)
            }
        }
    }

    /// All values of an argument, in order.
    fn flatten(&mut self, arg: &Expr, items: &mut Vec<ListItem>) {
        let ty = self.ty(&arg.ty);
        if let ExprKind::List(members) = &arg.kind {
            for member in members {
                self.flatten(member, items);
            }
            return;
        }
        if self.scalar_type(&ty).is_some() {
            let valid = self.header_of(arg);
            let value = self.scalar(arg);
            items.push(ListItem {
                value,
                valid,
                name: self.dotted(arg),
            });
            return;
        }
        if matches!(ty, Ty::String) {
            return;
        }
        let name = self.dotted(arg);
        let valid = self.header_of(arg);
        let at = self.materialise(arg);
        self.flatten_at(&at, &ty, valid, &name, items);
    }

    /// The validity of the header to which a value belongs.
    fn header_of(&mut self, expr: &Expr) -> Option<Place> {
        let (ExprKind::Field(of, _) | ExprKind::Slice { of, .. }) = &expr.kind else {
            return None;
        };
        if !self.ty(&of.ty).is(NamedKind::Header) {
            return self.header_of(of);
        }
        let at = self.location(of)?;
        Some(Place::validity(&at))
    }
}

impl Scope<'_, '_, '_> {
    /// The expression's dotted name, for traces.
    fn dotted(&self, expr: &Expr) -> String {
        match &expr.kind {
            ExprKind::Var(id) => self.name(*id),
            ExprKind::Field(of, i) => {
                let fields = self.hir.fields(&self.ty(&of.ty)).unwrap_or_default();
                let name = fields.get(*i).map_or_else(String::new, |f| f.0.to_string());
                format!("{}.{name}", self.dotted(of))
            }
            ExprKind::Element(of, i) => format!("{}[{i}]", self.dotted(of)),
            _ => self.sources.text(expr.span).to_string(),
        }
    }
}

impl Lowerer<'_, '_> {
    fn result_place(&mut self, ty: &Ty, span: Span) -> Option<Place> {
        let scalar = self.scalar_type(ty)?;
        Some(Place {
            at: self.temporary(ty, span),
            ty: scalar,
        })
    }

    fn flatten_at(
        &mut self,
        at: &Location,
        ty: &Ty,
        valid: Option<Place>,
        name: &str,
        items: &mut Vec<ListItem>,
    ) {
        if let Some(scalar) = self.scalar_type(ty) {
            items.push(ListItem {
                value: load(at, scalar),
                valid,
                name: name.to_string(),
            });
            return;
        }
        let valid = if ty.is(NamedKind::Header) {
            Some(Place::validity(at))
        } else {
            valid
        };
        let members = self.hir.members(ty).unwrap_or_default();
        let names = self.hir.fields(ty);
        for (i, member) in members.iter().enumerate() {
            let name = match &names {
                Some(names) => format!("{name}.{}", names[i].0),
                None => format!("{name}[{i}]"),
            };
            self.flatten_at(&part(at, ty, i), member, valid.clone(), &name, items);
        }
    }
}
