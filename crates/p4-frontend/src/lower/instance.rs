//! The package, its blocks, instances and their names.

use super::control::{BlockInstance, declared};
use super::{Binding, Lowerer, Object};
use crate::ast::{self, DeclId, annotation};
use crate::diagnostic::Diagnostic;
use crate::hir::{
    Callee, DefKind, Expr, ExprKind, Instance, Named, NamedKind, Param, Substitution, Ty, Value,
};
use crate::span::Span;
use p4_ir::{Block, BlockBody, BlockParam, CtorArg, ExternId, Location, ValueSetId};
use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

/// A block that a package's constructor takes.
struct Role<'h, 'a> {
    /// The constructor's parameter.
    param: &'h Param<'a>,
    block: Rc<BlockInstance>,
    /// Types of the run-time parameters as the package declares them, in terms of its type parameters.
    declared: Vec<Ty>,
}

impl<'h, 'a> Lowerer<'h, 'a> {
    /// Instantiates `main`.
    pub(super) fn package(&mut self) {
        let hir = self.hir;
        for id in &hir.instances {
            if hir.main != Some(*id) {
                self.instantiate(*id);
            }
        }
        self.out.declared = declared(&self.env, &HashSet::new());
        self.globals.bindings = std::mem::take(&mut self.env.bindings);
        let Some(main) = hir.main else {
            let diagnostic =
                Diagnostic::warning("no-main", "the program has no `main`: nothing runs")
                    .help("instantiate the architecture's package, as in `V1Switch(…) main;`");
            self.diagnostics.push(diagnostic);
            return;
        };
        let Some(def) = hir.def(main) else { return };
        let DefKind::Instance(instance) = &def.kind else {
            return;
        };
        self.out.annotations = self.annotations(def.annotations);
        let Ty::Named(named) = &instance.ty else {
            return;
        };
        self.out.package = named.name.to_string();
        let mut roles = Vec::new();
        self.roles(named, &instance.args, &mut roles);
        self.blocks(named, &roles);
    }

    /// The blocks among a package's arguments, those of packages in it included.
    fn roles(&mut self, package: &Named, args: &[Option<Expr>], roles: &mut Vec<Role<'h, 'a>>) {
        let hir = self.hir;
        let Some(DefKind::Package(params)) = hir.def(package.id).map(|d| &d.kind) else {
            return;
        };
        for (param, arg) in params.of.iter().zip(args) {
            let Some(arg) = arg else { continue };
            match self.block_argument(arg) {
                Some(Argument::Block(block)) => roles.push(Role {
                    declared: self.declared(&param.ty),
                    param,
                    block,
                }),
                Some(Argument::Package(named, args)) => self.roles(&named, &args, roles),
                None => {}
            }
        }
    }

    fn block_argument(&mut self, arg: &Expr) -> Option<Argument> {
        let hir = self.hir;
        match &arg.kind {
            ExprKind::Object(id) => match hir.def(*id).map(|d| &d.kind) {
                Some(DefKind::Instance(instance)) => match &instance.ty {
                    Ty::Named(named) if named.kind == NamedKind::Package => {
                        Some(Argument::Package(named.clone(), instance.args.clone()))
                    }
                    _ => match self.binding(*id) {
                        Some(Binding::Object(Object::Block(block))) => {
                            Some(Argument::Block(block.clone()))
                        }
                        _ => None,
                    },
                },
                _ => None,
            },
            ExprKind::Call(call) if matches!(call.callee, Callee::Constructor(_)) => {
                let Ty::Named(named) = &arg.ty else {
                    return None;
                };
                match named.kind {
                    NamedKind::Package => Some(Argument::Package(named.clone(), call.args.clone())),
                    NamedKind::Parser | NamedKind::Control => {
                        // An `@name` on its type says nothing about it.
                        let path = self.qualified(&named.name);
                        let block = self.block_instance(named.clone(), &call.args, path, None);
                        Some(Argument::Block(Rc::new(block)))
                    }
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// Run-time parameters of a package's parameter of a parser or control type.
    fn declared(&self, ty: &Ty) -> Vec<Ty> {
        let Ty::Named(named) = ty else {
            return Vec::new();
        };
        let params = match self.hir.def(named.id).map(|d| &d.kind) {
            Some(DefKind::Parser(g)) => g.of.params.clone(),
            Some(DefKind::Control(g)) => g.of.params.clone(),
            _ => return Vec::new(),
        };
        let with = self.hir.substitution(named);
        params.iter().map(|p| p.ty.substitute(&with)).collect()
    }

    /// Gives the blocks' parameters places, then lowers their bodies.
    fn blocks(&mut self, package: &Named, roles: &[Role<'h, 'a>]) {
        let with: Substitution = self.hir.substitution(package);
        let mut places: HashMap<(Ty, Ty), Location> = HashMap::new();
        let mut given = Vec::new();
        for role in roles {
            given.push(self.block_params(role, &with, &mut places));
        }
        for (role, (params, env_bindings)) in roles.iter().zip(given) {
            let mut env = self.block_env(&role.block);
            env.bindings.extend(env_bindings);
            let body = if role.block.named.kind == NamedKind::Parser {
                BlockBody::Parser(self.lower_parser(&role.block, env))
            } else {
                BlockBody::Control(self.lower_control(&role.block, env))
            };
            self.out.blocks.push(Block {
                role: role.param.name.to_string(),
                type_name: role.block.named.name.to_string(),
                body,
                params,
                declared: role.block.declared.borrow().clone(),
                loc: self.loc(self.span(role.block.named.id)),
            });
        }
    }

    fn block_params(
        &mut self,
        role: &Role<'h, 'a>,
        package: &Substitution,
        places: &mut HashMap<(Ty, Ty), Location>,
    ) -> (Vec<BlockParam>, HashMap<DeclId, Binding>) {
        let hir = self.hir;
        let params = match hir.def(role.block.named.id).map(|d| &d.kind) {
            Some(DefKind::Parser(g)) => g.of.params.clone(),
            Some(DefKind::Control(g)) => g.of.params.clone(),
            _ => return Default::default(),
        };
        let own = hir.substitution(&role.block.named);
        let mut block_params = Vec::new();
        let mut bindings = HashMap::new();
        for (i, param) in params.iter().enumerate() {
            let ty = param.ty.substitute(&own).substitute(package);
            if let Ty::Named(named) = &ty {
                if named.kind == NamedKind::Extern {
                    let object = match &*named.name {
                        "packet_in" => Object::PacketIn,
                        "packet_out" => Object::PacketOut,
                        _ => {
                            let path = format!("{}.{}", role.block.path, param.name);
                            self.parameter_object(&ty, path, param.span)
                        }
                    };
                    bindings.insert(param.id, Binding::Object(object));
                    continue;
                }
            }
            let declared = role.declared.get(i).cloned().unwrap_or_else(|| ty.clone());
            let known = places.get(&(declared.clone(), ty.clone())).cloned();
            let at =
                known.unwrap_or_else(|| self.allocate(param.name.to_string(), &ty, param.span));
            places.insert((declared, ty.clone()), at.clone());
            bindings.insert(param.id, Binding::Place(at.clone()));
            block_params.push(BlockParam {
                name: param.name.to_string(),
                ty: self.ir_type(&ty),
                base: at.base,
            });
        }
        (block_params, bindings)
    }

    /// An object that the architecture hands to a block.
    fn parameter_object(&mut self, ty: &Ty, path: String, span: Span) -> Object {
        self.extern_object(ty, &[], None, path, &[], span)
            .unwrap_or(Object::Package)
    }

    /// What a declaration is called by a control plane.
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

    /// Makes an instance, or a value set.
    pub(super) fn instantiate(&mut self, id: DeclId) {
        let hir = self.hir;
        let Some(def) = hir.def(id) else { return };
        let path = self.control_plane_name(def.annotations, &def.name);
        if self.env.in_parser && self.env.bindings.contains_key(&id) {
            // A sub-parser that is put in at several places keeps its instances.
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
        self.env.bindings.insert(id, Binding::Object(object));
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
            NamedKind::Extern => {
                let constructor = instance.constructor;
                self.extern_object(&ty, &instance.args, constructor, path, annotations, span)
            }
            NamedKind::Parser | NamedKind::Control => {
                let block = self.block_instance(named.clone(), &instance.args, path, Some(id));
                Some(Object::Block(Rc::new(block)))
            }
            _ => Some(Object::Package),
        }
    }

    fn block_instance(
        &mut self,
        named: Named,
        args: &[Option<Expr>],
        path: String,
        id: Option<DeclId>,
    ) -> BlockInstance {
        let hir = self.hir;
        let params = match hir.def(named.id).map(|d| &d.kind) {
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
            named,
            path,
            arguments,
            shared,
            lowered: RefCell::new(None),
            env: RefCell::new(None),
            declared: RefCell::default(),
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
                    let constructor = match call.callee {
                        Callee::Constructor(constructor) => constructor,
                        _ => None,
                    };
                    self.extern_object(&ty, &call.args, constructor, path, &[], arg.span)?
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

    /// A known expression without the parameters of the constructor around.
    fn closed(&self, expr: &Expr) -> Expr {
        let ty = self.ty(&expr.ty);
        if let Some(value) = self.known(expr) {
            return Expr::constant(value, ty, expr.span);
        }
        let kind = match &expr.kind {
            ExprKind::List(members) => {
                ExprKind::List(members.iter().map(|m| self.closed(m)).collect())
            }
            ExprKind::ConstructorParam(_) => match self.constructor_argument(expr) {
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
        constructor: Option<DeclId>,
        path: String,
        annotations: &[ast::Annotation],
        span: Span,
    ) -> Option<Object> {
        let _ = constructor;
        let ty = self.ty(ty);
        let Ty::Named(named) = &ty else { return None };
        let type_args = named.args.iter().map(|t| self.ir_type(t)).collect();
        let args = args
            .iter()
            .flatten()
            .map(|a| self.constructor_arg(a, &path))
            .collect();
        self.out.externs.push(p4_ir::ExternObject {
            type_name: named.name.to_string(),
            type_args,
            name: path,
            args,
            table: None,
            annotations: self.annotations(annotations),
            loc: self.loc(span),
        });
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
        let object = match &arg.kind {
            ExprKind::Call(call) => {
                let path = format!("{path}.argument");
                self.extern_object(&arg.ty, &call.args, None, path, &[], arg.span)
            }
            _ => self.object(arg),
        };
        if let Some(Object::Extern(id)) = object {
            return CtorArg::Object(id);
        }
        self.unsupported(arg.span, "this constructor's argument");
        CtorArg::Int(0.into())
    }

    fn member_arg(&self, ty: &Ty, index: u32) -> CtorArg {
        let name = match ty {
            Ty::Named(named) => match self.hir.def(named.id).map(|d| &d.kind) {
                Some(DefKind::Enum { members, .. }) => members
                    .get(index as usize)
                    .map(|(name, _)| name.to_string()),
                _ => None,
            },
            _ => self.out.errors.get(index as usize).cloned(),
        };
        CtorArg::Member(ty.to_string(), name.unwrap_or_default())
    }

    fn value_set(
        &mut self,
        set: &crate::hir::ValueSet,
        name: String,
        annotations: &[ast::Annotation],
        span: Span,
    ) -> ValueSetId {
        let element = self.ty(&set.element);
        let size = self.known_u64(&set.size, "a value set's size").unwrap_or(0);
        let mut fields = Vec::new();
        self.value_set_fields(&element, "", None, &mut fields);
        if let [(field, ..)] = fields.as_mut_slice() {
            if field.is_empty() {
                *field = name.clone();
            }
        }
        let element = self.ir_type(&element);
        self.out.value_sets.push(p4_ir::ValueSet {
            name,
            element,
            fields,
            size,
            annotations: self.annotations(annotations),
            loc: self.loc(span),
        });
        ValueSetId(self.out.value_sets.len() as u32 - 1)
    }

    fn value_set_fields(
        &mut self,
        ty: &Ty,
        name: &str,
        kind: Option<p4_ir::MatchKind>,
        fields: &mut Vec<(String, p4_ir::Type, p4_ir::MatchKind)>,
    ) {
        if self.scalar_type(ty).is_some() {
            let kind = kind.unwrap_or(p4_ir::MatchKind::Exact);
            fields.push((name.to_string(), self.ir_type(ty), kind));
            return;
        }
        let hir = self.hir;
        let declared = match ty {
            Ty::Named(named) => match hir.def(named.id).map(|d| &d.kind) {
                Some(DefKind::Fields(_, fields)) => fields.of.to_vec(),
                _ => Vec::new(),
            },
            _ => Vec::new(),
        };
        for (i, member) in hir.members(ty).unwrap_or_default().iter().enumerate() {
            let own = declared.get(i);
            let label = own.map_or_else(|| i.to_string(), |f| f.name.to_string());
            let path = if name.is_empty() {
                label
            } else {
                format!("{name}.{label}")
            };
            let kind = own
                .and_then(|f| annotation(f.annotations, "match"))
                .map(|a| match &a.body {
                    ast::AnnotationBody::Unstructured(tokens) => tokens
                        .iter()
                        .map(|t| self.sources.text(t.span))
                        .collect::<String>(),
                    _ => String::new(),
                })
                .map(|k| super::table::match_kind(&k));
            self.value_set_fields(member, &path, kind, fields);
        }
    }
}

/// What a package is given.
enum Argument {
    Block(Rc<BlockInstance>),
    Package(Named, Vec<Option<Expr>>),
}
