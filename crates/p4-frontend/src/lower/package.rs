//! The package and its blocks.

use super::control::{BlockInstance, declared};
use super::{Binding, Env, Lowerer, Object, Scope};
use crate::ast::{DeclId, annotation};
use crate::diagnostic::Diagnostic;
use crate::hir::{Callee, DefKind, Expr, ExprKind, Named, NamedKind, Substitution, Ty};
use crate::span::Span;
use p4_ir::{Block, BlockBody, BlockParam, Location, control_plane_name};
use std::collections::{BTreeMap, HashMap, HashSet};

/// A block that a package's constructor takes.
struct Role {
    /// The constructor's parameter. For a package that is itself an argument, preceded by that argument's parameter:
    /// `ingress.ip`.
    path: String,
    /// The name of the containing package in the source, otherwise the parameter to which this package is bound.
    package_name: String,
    /// The block's type.
    named: Named,
    /// The arguments of the block's constructor.
    args: Vec<Option<Expr>>,
    /// Types of the run-time parameters as declared by the packages, in terms of `main`'s type parameters.
    declared: Vec<Ty>,
    /// The type arguments of the package that contains the block.
    package: Substitution,
}

/// A package whose arguments are traversed.
struct Around {
    named: Named,
    /// Its name in the source, otherwise the parameter to which it is bound.
    name: String,
    /// The path of its blocks, with a trailing dot. Empty for `main`.
    prefix: String,
    /// Its type parameters in terms of `main`'s.
    declared: Substitution,
}

/// An argument of a package.
enum Argument {
    Block(Named, Vec<Option<Expr>>),
    /// Its name, if it is declared separately.
    Package(Option<String>, Named, Vec<Option<Expr>>),
}

impl Lowerer<'_, '_> {
    /// Instantiates `main`.
    pub(super) fn package(&mut self) {
        let hir = self.hir;
        let mut env = Env::default();
        for id in &hir.instances {
            if hir.main != Some(*id) {
                self.scope(&mut env).instantiate(*id);
            }
        }
        self.out.declared = declared(&env, &HashSet::new());
        self.globals.bindings = env.bindings;
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
        if let Some(package) = hir.def(named.id) {
            self.out.package_annotations = self.annotations(package.annotations);
        }
        let mut roles = Vec::new();
        let around = Around {
            named: named.clone(),
            name: def.name.to_string(),
            prefix: String::new(),
            declared: Substitution::default(),
        };
        self.roles(&around, &instance.args, &mut roles);
        self.scope(&mut Env::default()).blocks(&roles);
    }

    /// Reports two objects of one kind with the same control-plane name.
    pub(super) fn check_names(&mut self) {
        let hidden =
            |annotations: &[p4_ir::Annotation]| annotations.iter().any(|a| a.name == "hidden");
        let out = &self.out;
        let tables = out.tables.iter().filter(|t| !hidden(&t.annotations));
        let tables = tables.map(|t| (t.name.clone(), t.loc)).collect();
        let actions = confused_actions(out, hidden);
        let sets = out.value_sets.iter();
        let sets = sets.map(|s| (s.name.clone(), s.loc)).collect();
        let mut externs: BTreeMap<String, Vec<_>> = BTreeMap::new();
        for object in out.externs.iter().filter(|e| !hidden(&e.annotations)) {
            let kind = format!("objects of type `{}`", object.type_name);
            let kind = externs.entry(kind).or_default();
            kind.push((object.name.clone(), object.loc));
        }
        self.check_distinct("tables", tables);
        self.check_distinct("actions", actions);
        self.check_distinct("value sets", sets);
        for (kind, objects) in externs {
            self.check_distinct(&kind, objects);
        }
    }

    fn check_distinct(&mut self, what: &str, mut names: Vec<(String, p4_ir::SourceLoc)>) {
        names.sort_by(|(a, at), (b, other)| {
            let place = |loc: &p4_ir::SourceLoc| (loc.file, loc.line, loc.column);
            (a, place(at)).cmp(&(b, place(other)))
        });
        for pair in names.windows(2) {
            let [(name, first), (again, second)] = pair else {
                continue;
            };
            if name != again {
                continue;
            }
            // Searches all declarations, so it is called only if there is an error to report.
            let (Some(at), Some(again_at)) = (self.span_of(*first), self.span_of(*second)) else {
                continue;
            };
            let message = format!("two {what} have the control-plane name `{name}`");
            let diagnostic = Diagnostic::error("duplicate-name", message);
            self.diagnostics.push(if first == second {
                diagnostic
                    .label(at, "in more than one instance of the enclosing block")
                    .help(
                        "give the instances different names; a name with a leading dot is absolute",
                    )
            } else {
                let diagnostic = diagnostic
                    .label(again_at, "the second")
                    .label(at, "the first");
                match what {
                    "actions" => diagnostic
                        .help("actions of one name have the same parameters, and different tables"),
                    _ => diagnostic,
                }
            });
        }
    }

    /// The declaration at a location.
    fn span_of(&self, loc: p4_ir::SourceLoc) -> Option<Span> {
        let at = |d: &crate::hir::Def| self.loc(d.span) == loc;
        self.hir.defs.iter().flatten().find(|d| at(d)).map(|d| {
            let given = annotation(d.annotations, "name");
            given.map_or(d.span, |a| a.span)
        })
    }

    /// The blocks among a package's arguments, including those of packages in it.
    fn roles(&mut self, around: &Around, args: &[Option<Expr>], roles: &mut Vec<Role>) {
        let hir = self.hir;
        let Some(DefKind::Package(params)) = hir.kind(around.named.id) else {
            return;
        };
        for (param, arg) in params.of.iter().zip(args) {
            let Some(arg) = arg else { continue };
            let path = format!("{}{}", around.prefix, param.name);
            let declared = param.ty.substitute(&around.declared);
            match self.block_argument(arg) {
                Some(Argument::Block(named, args)) => roles.push(Role {
                    path,
                    package_name: around.name.clone(),
                    named,
                    args,
                    declared: self.declared(&declared),
                    package: hir.substitution(&around.named),
                }),
                Some(Argument::Package(name, named, args)) => {
                    let within = Around {
                        name: name.unwrap_or_else(|| param.name.to_string()),
                        prefix: format!("{path}."),
                        declared: match &declared {
                            Ty::Named(declared) => hir.substitution(declared),
                            _ => Substitution::default(),
                        },
                        named,
                    };
                    self.roles(&within, &args, roles);
                }
                None => {}
            }
        }
    }

    fn block_argument(&self, arg: &Expr) -> Option<Argument> {
        let (name, ty, args) = match &arg.kind {
            ExprKind::Object(id) => {
                let def = self.hir.def(*id)?;
                let DefKind::Instance(instance) = &def.kind else {
                    return None;
                };
                (Some(def.name.to_string()), &instance.ty, &instance.args)
            }
            ExprKind::Call(call) if matches!(call.callee, Callee::Constructor) => {
                (None, &arg.ty, &call.args)
            }
            _ => return None,
        };
        let Ty::Named(named) = ty else { return None };
        match named.kind {
            NamedKind::Package => Some(Argument::Package(name, named.clone(), args.clone())),
            NamedKind::Parser | NamedKind::Control => {
                Some(Argument::Block(named.clone(), args.clone()))
            }
            _ => None,
        }
    }

    /// Run-time parameters of a package's parameter with a parser or control type.
    pub(super) fn declared(&self, ty: &Ty) -> Vec<Ty> {
        let Ty::Named(named) = ty else {
            return Vec::new();
        };
        let Some(params) = self.hir.block_params(named.id) else {
            return Vec::new();
        };
        let with = self.hir.substitution(named);
        params.iter().map(|p| p.ty.substitute(&with)).collect()
    }
}

impl Scope<'_, '_, '_> {
    /// The instance for a role. It is named after its type, regardless of the type's `@name`. If several packages have
    /// blocks of this type, it is also named after its package.
    fn role_instance(&mut self, role: &Role, roles: &[Role]) -> BlockInstance {
        let elsewhere =
            |r: &Role| r.named.id == role.named.id && r.package_name != role.package_name;
        let name = self.qualified(&role.named.name);
        let path = match roles.iter().any(elsewhere) {
            true => format!("{}.{name}", role.package_name),
            false => name,
        };
        self.block_instance(role.named.clone(), &role.args, path, None)
    }

    /// Assigns places to the blocks' parameters, then lowers their bodies.
    fn blocks(&mut self, roles: &[Role]) {
        let mut places: HashMap<(Ty, Ty), Location> = HashMap::new();
        let mut given = Vec::new();
        for role in roles {
            let block = self.role_instance(role, roles);
            let (params, bindings) = self.block_params(role, &block, &mut places);
            given.push((block, params, bindings));
        }
        for (role, (block, params, env_bindings)) in roles.iter().zip(given) {
            let mut env = self.block_env(&block);
            env.bindings.extend(env_bindings);
            let body = if block.named.kind == NamedKind::Parser {
                BlockBody::Parser(self.lower_parser(&block, env))
            } else {
                BlockBody::Control(self.lower_control(&block, env, false))
            };
            let block = Block {
                role: role.path.clone(),
                package: role.package_name.clone(),
                type_name: block.named.name.to_string(),
                body,
                params,
                declared: block.declared.borrow().clone(),
                loc: self.loc(self.span(block.named.id)),
            };
            self.out.blocks.push(block);
        }
    }

    fn block_params(
        &mut self,
        role: &Role,
        block: &BlockInstance,
        places: &mut HashMap<(Ty, Ty), Location>,
    ) -> (Vec<BlockParam>, HashMap<DeclId, Binding>) {
        let hir = self.hir;
        let Some(params) = hir.block_params(block.named.id) else {
            return Default::default();
        };
        let own = hir.substitution(&block.named);
        let mut block_params = Vec::new();
        let mut bindings = HashMap::new();
        for (i, param) in params.iter().enumerate() {
            let ty = param.ty.substitute(&own).substitute(&role.package);
            if let Ty::Named(named) = &ty
                && named.kind == NamedKind::Extern
            {
                let object = match &*named.name {
                    "packet_in" => Object::PacketIn,
                    "packet_out" => Object::PacketOut,
                    _ => {
                        let path = format!("{}.{}", block.path, param.name);
                        self.parameter_object(&ty, path, param.span)
                    }
                };
                bindings.insert(param.id, Binding::Object(object));
                continue;
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
                variable: at.variable,
            });
        }
        (block_params, bindings)
    }

    /// An object that the architecture passes to a block.
    fn parameter_object(&mut self, ty: &Ty, path: String, span: Span) -> Object {
        self.extern_object(ty, &[], path, &[], span)
            .unwrap_or(Object::Package)
    }
}

/// The actions that a control plane cannot tell apart: they share a name, and their parameters differ or a table lists both.
/// Other actions that share a name are one for the control plane, as p4c writes them for an action of P4_14 that ingress and
/// egress use.
fn confused_actions(
    program: &p4_ir::Program,
    hidden: impl Fn(&[p4_ir::Annotation]) -> bool,
) -> Vec<(String, p4_ir::SourceLoc)> {
    let params = |action: &p4_ir::Action| -> Vec<_> {
        let params = action.params.iter();
        let named = params.map(|p| (control_plane_name(&p.name, &p.annotations), p.ty.clone()));
        named.collect()
    };
    let mut confused = Vec::new();
    let mut confuse = |first: &p4_ir::Action, second: &p4_ir::Action| {
        confused.extend([first, second].map(|a| (a.name.clone(), a.loc)));
    };
    let mut of_name: HashMap<&str, &p4_ir::Action> = HashMap::new();
    for action in program.actions.iter().filter(|a| !hidden(&a.annotations)) {
        let first = *of_name.entry(&action.name).or_insert(action);
        if first.loc != action.loc && params(first) != params(action) {
            confuse(first, action);
        }
    }
    for table in &program.tables {
        let listed = table.actions.iter().map(|listed| &program[listed.action]);
        let mut of_name: HashMap<&str, &p4_ir::Action> = HashMap::new();
        for action in listed.filter(|a| !hidden(&a.annotations)) {
            let first = *of_name.entry(&action.name).or_insert(action);
            if first.loc != action.loc {
                confuse(first, action);
            }
        }
    }
    let mut seen = HashSet::new();
    confused.retain(|action| seen.insert(action.clone()));
    confused
}
