//! Controls, and the application of blocks.

use super::body::Kind;
use super::callee::Slot;
use super::targets::Target;
use super::{Binding, Body, Env, Lowerer, Object, Scope};
use crate::ast::DeclId;
use crate::hir::{Callee, DefKind, Expr, Named, Param, Ty};
use crate::span::Span;
use p4_ir::{Declared, FunctionId, Location, StmtKind};
use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

/// An instance of a parser or control.
#[derive(Debug)]
pub(super) struct BlockInstance {
    /// Its type, without type parameters.
    pub named: Named,
    /// Control-plane name.
    pub path: String,
    /// The constructor's arguments.
    pub arguments: HashMap<DeclId, Binding>,
    /// Whether the source applies it more than once.
    pub shared: bool,
    /// The control, once lowered.
    pub lowered: RefCell<Option<LoweredControl>>,
    /// The names of a parser, once its locals have places.
    pub env: RefCell<Option<Env>>,
    /// Its declarations, once lowered.
    pub declared: RefCell<Vec<Declared>>,
}

/// A lowered control.
#[derive(Clone, Debug)]
pub(super) struct LoweredControl {
    function: FunctionId,
    slots: Vec<Option<Slot>>,
    /// Whether it may return with [`exiting`](super::Lowerer::exiting) set.
    soft: bool,
}

impl BlockInstance {
    /// Creates an instance without arguments that is applied once.
    pub fn new(named: Named, path: String) -> BlockInstance {
        BlockInstance {
            named,
            path,
            arguments: HashMap::new(),
            shared: false,
            lowered: RefCell::default(),
            env: RefCell::default(),
            declared: RefCell::default(),
        }
    }
}

impl Body<'_, '_, '_> {
    pub(super) fn apply_control(
        &mut self,
        block: &BlockInstance,
        args: &[Option<Expr>],
        span: Span,
    ) {
        let lowered = block.lowered.borrow().clone();
        let control = match lowered {
            Some(lowered) => lowered,
            None => {
                let Some(lowered) = self.lower_applied(block, args, span) else {
                    return;
                };
                block.lowered.replace(Some(lowered.clone()));
                lowered
            }
        };
        let targets = self.copy_in(&control.slots, args, span);
        self.before_call(control.soft);
        self.emit(StmtKind::Call(control.function));
        self.copy_out(&control.slots, &targets);
        self.after_call(control.soft);
    }

    fn lower_applied(
        &mut self,
        block: &BlockInstance,
        args: &[Option<Expr>],
        span: Span,
    ) -> Option<LoweredControl> {
        let hir = self.hir;
        let Some(DefKind::Control(control)) = hir.kind(block.named.id) else {
            self.unsupported(span, "applying a parser here");
            return None;
        };
        if !self.may_nest(span) {
            return None;
        }
        let mut env = self.block_env(block);
        let slots = self.bind(&control.of.params, args, &mut env, block.shared, span);
        let copied = slots.iter().flatten().any(Slot::is_written);
        let soft = (copied || self.exits_softly()) && self.may_exit(block.named.id);
        Some(LoweredControl {
            function: self.lower_control(block, env, soft),
            slots,
            soft,
        })
    }

    /// A control's tables, and its `apply`.
    fn lowered_control(mut self, id: DeclId) -> Vec<p4_ir::Stmt> {
        let hir = self.hir;
        let Some(DefKind::Control(control)) = hir.kind(id) else {
            return Vec::new();
        };
        let Some(body) = &control.of.body else {
            return Vec::new();
        };
        self.statements(&body.locals);
        let excluded = self.constants().excluded_tables(&body.apply);
        for table in &body.tables {
            if hir.applied.contains_key(table) && !excluded.contains(table) {
                self.lower_table(*table);
            }
        }
        self.lowered(&body.apply)
    }

    /// Assigns places to the parameters: those of the arguments, if no other argument can access them, otherwise new
    /// ones.
    pub(super) fn bind(
        &mut self,
        params: &[Param],
        args: &[Option<Expr>],
        env: &mut Env,
        shared: bool,
        span: Span,
    ) -> Vec<Option<Slot>> {
        let regions = self.argument_regions(params, args);
        let mut slots = Vec::new();
        for (i, param) in params.iter().enumerate() {
            let arg = args.get(i).and_then(Option::as_ref);
            if let Some(object) = self.object_argument(param, arg) {
                env.bindings.insert(param.id, Binding::Object(object));
                slots.push(None);
                continue;
            }
            let own = if shared {
                None
            } else {
                self.own_place(i, arg, &regions)
            };
            let ty = param.ty.substitute(&env.types);
            let bound = own.is_some();
            let at = own.unwrap_or_else(|| {
                let name = format!("{}.{}", env.path, param.name);
                self.allocate(name, &ty, span)
            });
            env.bindings.insert(param.id, Binding::Place(at.clone()));
            slots.push(Some(Slot {
                at,
                ty,
                direction: param.direction,
                bound,
            }));
        }
        slots
    }

    fn own_place(
        &mut self,
        i: usize,
        arg: Option<&Expr>,
        regions: &[Option<(Location, bool)>],
    ) -> Option<Location> {
        let (region, written) = regions.get(i)?.as_ref()?;
        let clash = regions.iter().enumerate().any(|(j, other)| {
            j != i
                && other
                    .as_ref()
                    .is_some_and(|(r, w)| (*written || *w) && r.overlaps(region))
        });
        let arg = arg?;
        if clash || !self.is_static(arg) {
            return None;
        }
        match self.target(arg) {
            Target::At(at, siblings) if at.is_fixed() && siblings.is_empty() => Some(at),
            _ => None,
        }
    }
}

impl Scope<'_, '_, '_> {
    /// The block that a call applies. `Type.apply(…)` applies a new instance, named after its type.
    pub(super) fn applied(&mut self, callee: &Callee, span: Span) -> Option<Rc<BlockInstance>> {
        let ty = match callee {
            Callee::Instance(object) => match self.object(object) {
                Some(Object::Block(block)) => return Some(block),
                _ => {
                    self.unsupported(span, "applying this");
                    return None;
                }
            },
            Callee::Anonymous(ty) => self.ty(ty),
            _ => return None,
        };
        let Ty::Named(named) = ty else { return None };
        if !self.one_more(span) {
            return None;
        }
        let path = self.qualified(&named.name);
        let block = Rc::new(BlockInstance::new(named, path));
        self.env.anonymous.push(block.clone());
        Some(block)
    }

    /// A place that contains each argument, and whether the call writes it.
    fn argument_regions(
        &mut self,
        params: &[Param],
        args: &[Option<Expr>],
    ) -> Vec<Option<(Location, bool)>> {
        let mut regions = Vec::new();
        for (param, arg) in params.iter().zip(args) {
            let region = arg.as_ref().and_then(|a| self.region(a));
            regions.push(region.map(|r| (r, param.direction.is_written())));
        }
        regions
    }

    /// Whether the place of the expression can be determined without emitting code.
    fn is_static(&self, expr: &Expr) -> bool {
        use crate::hir::ExprKind;
        match &expr.kind {
            ExprKind::Var(_) => true,
            ExprKind::Field(of, _) | ExprKind::Element(of, _) => self.is_static(of),
            ExprKind::Index(of, index) => self.is_static(of) && self.known(index).is_some(),
            _ => false,
        }
    }

    /// The function that runs a control. The places of its parameters are in `env`.
    pub(super) fn lower_control(
        &mut self,
        block: &BlockInstance,
        mut env: Env,
        soft_exit: bool,
    ) -> FunctionId {
        let given: HashSet<DeclId> = env.bindings.keys().copied().collect();
        let inner = self.body_of(&mut env, Kind::Control { soft_exit });
        let body = inner.lowered_control(block.named.id);
        block.declared.replace(declared(&env, &given));
        let span = self.span(block.named.id);
        self.add_function(block.path.clone(), body, span)
    }
}

impl Lowerer<'_, '_> {
    /// Names of an instance before its parameters have places.
    pub(super) fn block_env(&self, block: &BlockInstance) -> Env {
        let own_actions = match self.hir.kind(block.named.id) {
            Some(DefKind::Control(control)) => control.of.body.as_ref().map(|b| b.actions.clone()),
            _ => None,
        };
        let own_actions = own_actions.unwrap_or_default();
        Env {
            path: block.path.clone(),
            types: self.hir.substitution(&block.named),
            bindings: block.arguments.clone(),
            own_actions: Rc::new(own_actions),
            ..Env::default()
        }
    }
}

/// The declarations of an instance with the names `env`, except those that were `given` to it, in the order of the
/// source. What is applied without a declaration comes last.
pub(super) fn declared(env: &Env, given: &HashSet<DeclId>) -> Vec<Declared> {
    let mut found: Vec<(DeclId, Vec<Declared>)> = Vec::new();
    for (id, binding) in &env.bindings {
        let Binding::Object(object) = binding else {
            continue;
        };
        if given.contains(id) {
            continue;
        }
        let declared = match object {
            Object::Table(table) => vec![Declared::Table(table.id)],
            Object::Extern(id) => vec![Declared::Extern(*id)],
            Object::ValueSet(id) => vec![Declared::ValueSet(*id)],
            Object::Block(block) => block.declared.borrow().clone(),
            _ => continue,
        };
        found.push((*id, declared));
    }
    let actions = env.actions.iter();
    found.extend(actions.map(|(id, action)| (*id, vec![Declared::Action(action.id)])));
    found.sort_by_key(|(id, _)| *id);
    let mut declared: Vec<Declared> = found.into_iter().flat_map(|(_, d)| d).collect();
    for block in &env.anonymous {
        declared.extend(block.declared.borrow().iter());
    }
    declared
}
