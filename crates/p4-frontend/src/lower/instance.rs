//! The package, its blocks, instances and their names.

use super::control::BlockInstance;
use super::{Binding, Lowerer, Object, Scope};
use crate::ast::{self, DeclId, annotation};
use crate::hir::{DefKind, Expr, ExprKind, Instance, Named, NamedKind, Param, Ty, Value};
use crate::span::Span;
use p4_ir::{CtorArg, ExternId};
use std::collections::HashMap;
use std::rc::Rc;

/// The maximum number of instances in a program. Controls that contain two of another double them
/// with each level.
const MAX_INSTANCES: u32 = 1 << 14;

impl Scope<'_, '_, '_> {
    /// The control-plane name of a declaration.
    pub(super) fn control_plane_name(&self, annotations: &[ast::Annotation], name: &str) -> String {
        let given = annotation(annotations, "name").and_then(ast::Annotation::string);
        match given {
            Some(given) => match given.strip_prefix('.') {
                Some(absolute) => absolute.to_string(),
                None => self.qualified(&given),
            },
            None => self.qualified(name),
        }
    }

    /// Creates an instance or a value set.
    pub(super) fn instantiate(&mut self, id: DeclId) {
        let hir = self.hir;
        let Some(def) = hir.def(id) else { return };
        let path = self.control_plane_name(def.annotations, &def.name);
        if self.env.bindings.contains_key(&id) {
            // A sub-parser that is inlined at several positions keeps its instances.
            return;
        }
        if !self.one_more(def.span) {
            return;
        }
        let object = match &def.kind {
            DefKind::ValueSet(set) => {
                let set_id = self.value_set(set, path, def.annotations, def.span);
                Object::ValueSet(set_id)
            }
            DefKind::Instance(instance) => {
                match self.instance_object(id, instance, path, def.annotations, def.span) {
                    Some(object) => object,
                    None => return,
                }
            }
            _ => return,
        };
        self.env
            .bindings
            .insert(id, Binding::Object(object.clone()));
        if let DefKind::Instance(instance) = &def.kind {
            self.initializer(instance, &object);
        }
    }

    fn instance_object(
        &mut self,
        id: DeclId,
        instance: &Instance,
        path: String,
        annotations: &[ast::Annotation],
        span: Span,
    ) -> Option<Object> {
        let ty = self.ty(&instance.ty);
        let Ty::Named(named) = &ty else { return None };
        match named.kind {
            NamedKind::Extern => self.extern_object(&ty, &instance.args, path, annotations, span),
            NamedKind::Parser | NamedKind::Control => {
                let block = self.block_instance(named.clone(), &instance.args, path, Some(id));
                Some(Object::Block(Rc::new(block)))
            }
            _ => Some(Object::Package),
        }
    }

    pub(super) fn block_instance(
        &mut self,
        named: Named,
        args: &[Option<Expr>],
        path: String,
        id: Option<DeclId>,
    ) -> BlockInstance {
        let hir = self.hir;
        let params = match hir.kind(named.id) {
            Some(DefKind::Parser(g)) => g.of.constructor_params.clone(),
            Some(DefKind::Control(g)) => g.of.constructor_params.clone(),
            _ => Rc::from([]),
        };
        let mut arguments = HashMap::new();
        for (param, arg) in params.iter().zip(args) {
            let Some(arg) = arg else { continue };
            if let Some(binding) = self.constructor_binding(param, arg, &path) {
                arguments.insert(param.id, binding);
            }
        }
        let shared = id.is_some_and(|id| hir.applied.get(&id).is_some_and(|n| *n > 1));
        BlockInstance {
            arguments,
            shared,
            ..BlockInstance::new(named, path)
        }
    }

    fn constructor_binding(&mut self, param: &Param, arg: &Expr, path: &str) -> Option<Binding> {
        if let Some(object) = self.object(arg) {
            return Some(Binding::Object(object));
        }
        if let ExprKind::Call(call) = &arg.kind {
            let path = format!("{path}.{}", param.name);
            let ty = self.ty(&arg.ty);
            let object = match &ty {
                Ty::Named(named) if named.kind == NamedKind::Extern => {
                    self.extern_object(&ty, &call.args, path, &[], arg.span)?
                }
                Ty::Named(named) => {
                    let block = self.block_instance(named.clone(), &call.args, path, None);
                    Object::Block(Rc::new(block))
                }
                _ => return None,
            };
            return Some(Binding::Object(object));
        }
        Some(Binding::Known(self.closed(arg)))
    }

    /// A known expression with the parameters of the enclosing constructor substituted.
    fn closed(&self, expr: &Expr) -> Expr {
        let ty = self.ty(&expr.ty);
        if let Some(value) = self.known(expr) {
            return Expr::constant(value, ty, expr.span);
        }
        let kind = match &expr.kind {
            ExprKind::List(members) => {
                ExprKind::List(members.iter().map(|m| self.closed(m)).collect())
            }
            ExprKind::ConstructorParam(_) => match self.constants().constructor_argument(expr) {
                Some(argument) => return argument.clone(),
                None => expr.kind.clone(),
            },
            kind => kind.clone(),
        };
        Expr {
            kind,
            ty,
            span: expr.span,
        }
    }

    /// An instance of an extern.
    pub(super) fn extern_object(
        &mut self,
        ty: &Ty,
        args: &[Option<Expr>],
        path: String,
        annotations: &[ast::Annotation],
        span: Span,
    ) -> Option<Object> {
        let ty = self.ty(ty);
        let Ty::Named(named) = &ty else { return None };
        let type_args = named.args.iter().map(|t| self.ir_type(t)).collect();
        let args = args
            .iter()
            .flatten()
            .map(|a| self.constructor_arg(a, &path))
            .collect();
        let object = p4_ir::ExternObject {
            type_name: named.name.to_string(),
            type_args,
            name: path,
            args,
            table: None,
            annotations: self.annotations(annotations),
            loc: self.loc(span),
        };
        self.out.externs.push(object);
        let id = ExternId(self.out.externs.len() as u32 - 1);
        Some(Object::Extern(id))
    }

    fn constructor_arg(&mut self, arg: &Expr, path: &str) -> CtorArg {
        let ty = self.ty(&arg.ty);
        match self.known(arg) {
            Some(Value::Int(value)) => return CtorArg::Int(value),
            Some(Value::Bool(value)) => return CtorArg::Int(u8::from(value).into()),
            Some(Value::String(text)) => return CtorArg::String(text.to_string()),
            Some(Value::Symbol(index)) => return self.member_arg(&ty, index),
            None => {}
        }
        if let ExprKind::List(members) = &arg.kind {
            let members = members.iter().map(|m| self.constructor_arg(m, path));
            return CtorArg::List(members.collect());
        }
        let object = match &arg.kind {
            ExprKind::Call(call) => {
                let path = format!("{path}.argument");
                self.extern_object(&arg.ty, &call.args, path, &[], arg.span)
            }
            _ => self.object(arg),
        };
        if let Some(Object::Extern(id)) = object {
            return CtorArg::Object(id);
        }
        self.unsupported(arg.span, "this constructor's argument");
        CtorArg::Int(0.into())
    }
}

impl Lowerer<'_, '_> {
    /// Counts an instance. Returns `false`, and reports an error, if there are too many.
    pub(super) fn one_more(&mut self, span: Span) -> bool {
        self.instances += 1;
        let fits = self.instances <= MAX_INSTANCES;
        if !fits {
            let message = format!("the program has more than {MAX_INSTANCES} instances");
            self.too_large(span, message);
        }
        fits
    }

    fn member_arg(&self, ty: &Ty, index: u32) -> CtorArg {
        let name = match ty {
            Ty::Named(named) => match self.hir.kind(named.id) {
                Some(DefKind::Enum { members, .. }) => members
                    .get(index as usize)
                    .map(|(name, _)| name.to_string()),
                _ => None,
            },
            _ => self.out.errors.get(index as usize).cloned(),
        };
        CtorArg::Member(ty.to_string(), name.unwrap_or_default())
    }
}
