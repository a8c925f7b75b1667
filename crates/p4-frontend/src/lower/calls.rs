//! Calls of functions, actions and built-in operations.

use super::body::Kind;
use super::callee::{ActionInstance, FunctionInstance, Given, Slot};
use super::ir::load;
use super::targets::Target;
use super::{Binding, Body, Env, Object, Scope};
use crate::ast::{DeclId, Direction};
use crate::hir::{Call, Callee, DefKind, Expr, ExprKind, Param, Substitution, Ty};
use crate::span::Span;
use p4_ir::{Location, StmtKind};
use std::rc::Rc;

impl Body<'_, '_, '_> {
    /// Emits a call. Its result must be used before the next call.
    pub(super) fn call(&mut self, call: &Call, ty: &Ty, span: Span) -> Given {
        match &call.callee {
            Callee::Function(id) => self.call_function(*id, call, span),
            Callee::ExternFunction(id) => self.call_extern(None, *id, call, ty, span),
            Callee::Method { object, method } => {
                self.call_extern(Some(object), *method, call, ty, span)
            }
            Callee::Action(id) => {
                let Some(action) = self.action(*id) else {
                    return Given::Nothing;
                };
                let slots: Vec<_> = action.slots.iter().cloned().map(Some).collect();
                let targets = self.copy_in(&slots, &call.args, span);
                self.before_call(action.soft);
                self.emit(StmtKind::CallAction(action.id, action.function));
                self.copy_out(&slots, &targets);
                self.after_call(action.soft);
                Given::Nothing
            }
            Callee::Table(id) => {
                self.apply_table(*id, None, None, span);
                Given::Nothing
            }
            callee @ (Callee::Instance(_) | Callee::Anonymous(_)) => {
                if let Some(block) = self.applied(callee, span) {
                    self.apply_control(&block, &call.args, span);
                }
                Given::Nothing
            }
            Callee::SetValid(header, valid) => {
                if let Target::At(at, siblings) = self.target(header) {
                    self.emit(StmtKind::SetValidity {
                        header: at,
                        valid: *valid,
                    });
                    if *valid {
                        self.alone(&siblings);
                    }
                }
                Given::Nothing
            }
            Callee::IsValid(header) => Given::Scalar(self.is_valid(header)),
            Callee::PushFront(stack, count) => {
                if let Some((stack, len)) = self.stack(stack) {
                    let count = (*count).min(len);
                    self.emit(StmtKind::PushFront(stack, count));
                }
                Given::Nothing
            }
            Callee::PopFront(stack, count) => {
                if let Some((stack, len)) = self.stack(stack) {
                    let count = (*count).min(len);
                    self.emit(StmtKind::PopFront(stack, count));
                }
                Given::Nothing
            }
            Callee::Constructor => {
                self.unsupported(span, "an instance as a value");
                Given::Nothing
            }
        }
    }

    /// Evaluates the arguments from left to right, and stores them in the parameters.
    pub(super) fn copy_in(
        &mut self,
        slots: &[Option<Slot>],
        args: &[Option<Expr>],
        span: Span,
    ) -> Vec<Target> {
        let effects = args.iter().flatten().any(Expr::has_effects);
        let mut targets = Vec::new();
        let mut waiting: Vec<(Location, Slot)> = Vec::new();
        for (i, slot) in slots.iter().enumerate() {
            let (Some(slot), Some(Some(arg))) = (slot, args.get(i)) else {
                targets.push(Target::Nowhere);
                continue;
            };
            if slot.bound {
                if slot.direction == Direction::Out {
                    self.invalidate(&slot.at, &slot.ty);
                }
                targets.push(Target::Nowhere);
                continue;
            }
            let reads = slot.direction != Direction::Out;
            let target = if matches!(slot.direction, Direction::In | Direction::None) {
                Target::Nowhere
            } else {
                self.target(arg)
            };
            if !reads {
                self.invalidate(&slot.at, &slot.ty);
            } else if effects {
                let kept = self.temporary(&slot.ty, span);
                self.read_argument(&kept, &slot.ty, arg, &target);
                waiting.push((kept, slot.clone()));
            } else {
                self.read_argument(&slot.at, &slot.ty, arg, &target);
            }
            targets.push(target);
        }
        for (kept, slot) in waiting {
            self.copy(&slot.at, &kept, &slot.ty);
        }
        targets
    }

    fn read_argument(&mut self, to: &Location, ty: &Ty, arg: &Expr, target: &Target) {
        match target {
            Target::At(at, _) => self.copy(to, at, ty),
            _ => self.store(to, ty, arg),
        }
    }

    /// Copies written parameters back, from left to right.
    pub(super) fn copy_out(&mut self, slots: &[Option<Slot>], targets: &[Target]) {
        for (slot, target) in slots.iter().zip(targets) {
            if let Some(slot) = slot {
                self.write(target, &slot.at, &slot.ty);
            }
        }
    }

    fn call_function(&mut self, id: DeclId, call: &Call, span: Span) -> Given {
        let types: Vec<Ty> = call.type_args.iter().map(|t| self.ty(t)).collect();
        let Some(instance) = self.function_instance(id, types, &call.args, span) else {
            return Given::Nothing;
        };
        let targets = self.copy_in(&instance.slots, &call.args, span);
        self.emit(StmtKind::Call(instance.id));
        self.copy_out(&instance.slots, &targets);
        match &instance.result {
            None => Given::Nothing,
            Some((at, ty)) => match self.scalar_type(ty) {
                Some(scalar) => Given::Scalar(load(at, scalar)),
                None => Given::At(at.clone()),
            },
        }
    }

    /// Places for the parameters that are values.
    pub(super) fn slots(&mut self, params: &[Param]) -> Vec<Option<Slot>> {
        let mut slots = Vec::new();
        for param in params {
            if param.ty.is_object() {
                slots.push(None);
                continue;
            }
            let ty = self.ty(&param.ty);
            slots.push(Some(Slot {
                at: self.declare(param.id, &ty),
                ty,
                direction: param.direction,
                bound: false,
            }));
        }
        slots
    }

    /// An action of the control being lowered, or of the top level.
    pub(super) fn action(&mut self, id: DeclId) -> Option<Rc<ActionInstance>> {
        let known = |env: &Env| env.actions.get(&id).cloned();
        if let Some(found) = known(self.env).or_else(|| known(&self.globals)) {
            return Some(found);
        }
        if self.env.own_actions.contains(&id) {
            let soft = self.exits_softly();
            let action = Rc::new(self.lower_action(id, soft)?);
            self.env.actions.insert(id, action.clone());
            return Some(action);
        }
        let mut top_level = Env::default();
        let action = self.elsewhere(&mut top_level).lower_action(id, true)?;
        let action = Rc::new(action);
        self.globals.actions.insert(id, action.clone());
        Some(action)
    }
}

impl Scope<'_, '_, '_> {
    fn function_instance(
        &mut self,
        id: DeclId,
        types: Vec<Ty>,
        args: &[Option<Expr>],
        span: Span,
    ) -> Option<Rc<FunctionInstance>> {
        let hir = self.hir;
        let Some(DefKind::Function(function)) = hir.kind(id) else {
            return None;
        };
        let Some(body) = &function.body else {
            self.unsupported(span, "this function");
            return None;
        };
        let with_objects = function.params.iter().any(|p| p.ty.is_object());
        let key = (id, types.clone());
        if let Some(instance) = self.functions.get(&key).filter(|_| !with_objects) {
            return Some(instance.clone());
        }
        if !self.may_nest(span) {
            return None;
        }
        if let Some(excess) = types.iter().find_map(|ty| hir.extent(ty).excess()) {
            self.too_large(span, format!("the type argument {excess}"));
            return None;
        }
        let params = function.type_params.iter().map(|(id, _)| *id);
        let with: Substitution = params.zip(types).collect();
        let mut env = Env {
            path: self.name(id),
            types: with,
            ..Env::default()
        };
        for (param, arg) in function.params.iter().zip(args) {
            if let Some(object) = self.object_argument(param, arg.as_ref()) {
                env.bindings.insert(param.id, Binding::Object(object));
            }
        }
        let name = self.name(id);
        let mut inner = self.body_of(&mut env, Kind::Function { result: None });
        let slots = inner.slots(&function.params);
        let result = inner.result_variable(&function.result, span);
        let body = inner.lowered(body);
        let span = self.span(id);
        let instance = Rc::new(FunctionInstance {
            id: self.add_function(name, body, span),
            slots,
            result,
        });
        self.functions.insert(key, instance.clone());
        Some(instance)
    }

    /// The object that is the argument for a parameter of an object type.
    pub(super) fn object_argument(&mut self, param: &Param, arg: Option<&Expr>) -> Option<Object> {
        if !param.ty.is_object() {
            return None;
        }
        self.object(arg?)
    }

    /// The object to which an expression refers.
    pub(super) fn object(&mut self, expr: &Expr) -> Option<Object> {
        match &expr.kind {
            ExprKind::Object(id) => match self.binding(*id)? {
                Binding::Object(object) => Some(object.clone()),
                _ => None,
            },
            ExprKind::ConstructorParam(id) => match self.binding(*id)? {
                Binding::Object(object) => Some(object.clone()),
                _ => None,
            },
            _ => None,
        }
    }

    /// `soft` states whether its `exit` returns to the caller even if no parameter is copied back.
    fn lower_action(&mut self, id: DeclId, soft: bool) -> Option<ActionInstance> {
        let hir = self.hir;
        let def = hir.def(id)?;
        let DefKind::Action(action) = &def.kind else {
            return None;
        };
        if !self.may_nest(def.span) {
            return None;
        }
        let name = self.control_plane_name(def.annotations, &def.name);
        let copied = action.params.iter().any(|p| p.direction.is_written());
        let soft = (soft || copied) && self.may_exit(id);
        // Locals of an action are named after the action.
        let locals = self.qualified(&def.name);
        let mut inner = self.body(locals, Kind::Control { soft_exit: soft });
        let slots: Vec<Slot> = inner.slots(&action.params).into_iter().flatten().collect();
        let mut params = Vec::new();
        for (param, slot) in action.params.iter().zip(&slots) {
            if param.direction != Direction::None {
                continue;
            }
            if inner.scalar_type(&slot.ty).is_none() {
                inner.unsupported(
                    param.span,
                    "a parameter of several values without direction",
                );
            }
            params.push(p4_ir::ActionParam {
                name: param.name.to_string(),
                ty: inner.ir_type(&slot.ty),
                variable: slot.at.variable,
                annotations: inner.annotations(param.annotations),
            });
        }
        let body = inner.lowered(&action.body);
        let function = self.add_function(name.clone(), body, def.span);
        let annotations = self.annotations(def.annotations);
        let loc = self.loc(def.span);
        let id = self.add_action(p4_ir::Action {
            name,
            params,
            annotations,
            loc,
        });
        Some(ActionInstance {
            id,
            function,
            slots,
            soft,
        })
    }
}
