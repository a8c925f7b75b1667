//! Tables.

use super::ir::value_bits;
use super::{Binding, Body, Object, Scope};
use crate::ast::{DeclId, annotation};
use crate::diagnostic::Diagnostic;
use crate::hir::{self, DefKind, ExprKind, Ty, Value};
use crate::span::Span;
use num_bigint::BigUint;
use p4_ir::{ActionCall, FunctionId, Key, MatchKind, StmtKind, TableAction, TableId};
use std::rc::Rc;

/// The maximum priority in the signed 32 bits of P4Runtime.
const MAX_PRIORITY: i128 = i32::MAX as i128;

/// A table of an instance.
#[derive(Debug)]
pub(super) struct TableInstance {
    pub id: TableId,
    /// Whether one of its actions may return with [`exiting`](super::Lowerer::exiting) set.
    pub soft: bool,
    /// Computes the keys. Executed before each application.
    pub prepare: Vec<p4_ir::Stmt>,
}

impl Body<'_, '_, '_> {
    pub(super) fn lower_table(&mut self, id: DeclId) {
        let hir = self.hir;
        let Some(def) = hir.def(id) else { return };
        let DefKind::Table(table) = &def.kind else {
            return;
        };
        let at = self.at;
        self.at = self.loc(def.span);
        let mut keys = Vec::new();
        let prepare = self.collect(|l| keys = table.keys.iter().map(|k| l.key(k)).collect());
        let number = TableId(self.out.tables.len() as u32);
        let lowered = p4_ir::Table {
            name: self.control_plane_name(def.annotations, &def.name),
            keys,
            actions: Vec::new(),
            default_action: ActionCall {
                action: 0,
                args: Vec::new(),
            },
            const_default: table.const_default,
            entries: Vec::new(),
            const_entries: table.const_entries,
            size: None,
            largest_priority_wins: true,
            implementation: None,
            direct: Vec::new(),
            support_timeout: false,
            properties: Vec::new(),
            annotations: self.annotations(def.annotations),
            loc: self.loc(def.span),
        };
        self.out.tables.push(lowered);
        for action in &table.actions {
            if let Some(action) = self.table_action(action) {
                self.out[number].actions.push(action);
            }
        }
        self.default_action(number, table);
        for property in &table.properties {
            self.property(number, property);
        }
        let entries: Vec<_> = table.entries.iter().map(|e| self.entry(table, e)).collect();
        self.out[number].entries = entries;
        self.priorities(number, table, def.span);
        self.at = at;
        let soft = table.actions.iter().any(|a| {
            let bound = a.bound.is_empty() || self.exits_softly();
            bound && self.action(a.action).is_some_and(|a| a.soft)
        });
        let instance = TableInstance {
            id: number,
            soft,
            prepare,
        };
        let object = Object::Table(Rc::new(instance));
        self.env.bindings.insert(id, Binding::Object(object));
    }

    fn key(&mut self, key: &hir::Key) -> Key {
        let value = self.scalar(&key.value);
        let value = if key.value.has_effects() {
            self.spilled(value, key.value.span)
        } else {
            value
        };
        let name = annotation(key.annotations, "name").and_then(|a| a.string());
        let ty = self.ty(&key.value.ty);
        Key {
            name: name.unwrap_or_else(|| key.name.clone()),
            value,
            ty: self.ir_type(&ty),
            kind: match_kind(&key.kind),
            annotations: self.annotations(key.annotations),
            loc: self.loc(key.value.span),
        }
    }

    fn table_action(&mut self, listed: &hir::TableAction) -> Option<TableAction> {
        let action = self.action(listed.action)?;
        let body = if listed.bound.is_empty() {
            action.function
        } else {
            self.bound_action(&action, listed)
        };
        Some(TableAction {
            action: action.id,
            body,
            annotations: self.annotations(listed.annotations),
        })
    }

    /// A function that assigns the arguments that the table binds to an action's parameters with a direction.
    fn bound_action(
        &mut self,
        action: &super::callee::ActionInstance,
        listed: &hir::TableAction,
    ) -> FunctionId {
        let at = self.at;
        self.at = self.loc(listed.span);
        let directed = |s: &&super::callee::Slot| s.direction != crate::ast::Direction::None;
        let slots: Vec<_> = action
            .slots
            .iter()
            .filter(directed)
            .cloned()
            .map(Some)
            .collect();
        let body = self.collect(|l| {
            let targets = l.copy_in(&slots, &listed.bound, listed.span);
            l.before_call(action.soft);
            l.emit(StmtKind::Call(action.function));
            l.copy_out(&slots, &targets);
            l.after_call(action.soft);
        });
        self.at = at;
        let name = self.out[action.id].name.clone();
        self.add_function(name, body, listed.span)
    }

    fn default_action(&mut self, number: TableId, table: &hir::Table) {
        if let Some(call) = &table.default_action {
            self.out[number].default_action = self.action_call(table, call);
            return;
        }
        let is_no_action = |a: &hir::TableAction| {
            self.hir
                .def(a.action)
                .is_some_and(|d| &*d.name == "NoAction" && d.span == self.span(a.action))
        };
        if let Some(index) = table.actions.iter().position(is_no_action) {
            self.out[number].default_action.action = index as u32;
            return;
        }
        let no_action = self.no_action();
        let actions = &mut self.out[number].actions;
        actions.push(no_action);
        self.out[number].default_action.action = self.out[number].actions.len() as u32 - 1;
    }

    /// `NoAction` of core.p4, for a table without default action.
    fn no_action(&mut self) -> TableAction {
        let hir = self.hir;
        let is_no_action = |def: &Option<hir::Def>| {
            let action = |d: &hir::Def| match &d.kind {
                DefKind::Action(a) => &*d.name == "NoAction" && a.params.is_empty(),
                _ => false,
            };
            def.as_ref().is_some_and(action)
        };
        let found = hir.defs.iter().position(is_no_action);
        let declared = found.map(|i| DeclId(i as u32));
        let (action, body) = match declared.and_then(|id| self.action(id)) {
            Some(action) => (action.id, action.function),
            None => {
                let function = self.out.functions.len() as u32;
                self.out.functions.push(p4_ir::Function {
                    name: "NoAction".into(),
                    body: Vec::new(),
                    loc: p4_ir::SourceLoc::default(),
                });
                let action = self.add_action(p4_ir::Action {
                    name: "NoAction".into(),
                    params: Vec::new(),
                    annotations: Vec::new(),
                    loc: p4_ir::SourceLoc::default(),
                });
                (action, FunctionId(function))
            }
        };
        TableAction {
            action,
            body,
            annotations: vec![p4_ir::Annotation {
                name: "defaultonly".into(),
                ..p4_ir::Annotation::default()
            }],
        }
    }

    fn action_call(&mut self, table: &hir::Table, call: &hir::ActionCall) -> ActionCall {
        let listed = &table.actions[call.index];
        let scalars: Vec<Option<p4_ir::Scalar>> = match self.action(listed.action) {
            Some(action) => action
                .slots
                .iter()
                .filter(|s| s.direction == crate::ast::Direction::None)
                .map(|s| self.scalar_type(&s.ty))
                .collect(),
            None => Vec::new(),
        };
        let mut args = Vec::new();
        for (arg, scalar) in call.args.iter().zip(scalars) {
            let value = arg.as_ref().and_then(|a| self.known(a));
            args.push(match (value, scalar) {
                (Some(value), Some(scalar)) => value_bits(&value, scalar),
                _ => {
                    if let Some(arg) = arg {
                        self.error("not-constant", arg.span, "an action's data must be known");
                    }
                    BigUint::default()
                }
            });
        }
        ActionCall {
            action: call.index as u32,
            args,
        }
    }

    fn entry(&mut self, table: &hir::Table, entry: &hir::Entry) -> p4_ir::Entry {
        let mut matches = Vec::new();
        for (set, key) in entry.sets.iter().zip(&table.keys) {
            let ty = self.ty(&key.value.ty);
            self.key_match(set, &ty, &mut matches);
        }
        let priority = entry.priority.as_ref();
        p4_ir::Entry {
            matches,
            call: self.action_call(table, &entry.call),
            priority: priority.and_then(|p| self.known_u64(p, "a priority")),
            is_const: entry.is_const || table.const_entries,
            annotations: self.annotations(entry.annotations),
            loc: self.loc(entry.span),
        }
    }
}

impl Scope<'_, '_, '_> {
    /// If some entries have a priority, the others continue from the preceding one in steps of `priority_delta`.
    fn priorities(&mut self, number: TableId, table: &hir::Table, table_span: Span) {
        if self.out[number]
            .entries
            .iter()
            .all(|e| e.priority.is_none())
        {
            return;
        }
        let delta = table
            .properties
            .iter()
            .find(|p| &*p.name == "priority_delta");
        let delta = match delta {
            Some(p) => self.known_u64(&p.value, "priority_delta").unwrap_or(1),
            None => 1,
        };
        let largest = self.out[number].largest_priority_wins;
        let (count, delta) = (table.entries.len() as i128, i128::from(delta));
        let mut last: Option<i128> = None;
        for (index, entry) in table.entries.iter().enumerate() {
            let priority = match (self.out[number].entries[index].priority, last) {
                (Some(given), _) => i128::from(given),
                (None, None) if largest => (count - 1) * delta + 1,
                (None, None) => 1,
                (None, Some(last)) if largest => last - delta,
                (None, Some(last)) => last + delta,
            };
            if !(0..=MAX_PRIORITY).contains(&priority) {
                let message =
                    format!("not all priorities of these entries are within 0 to {MAX_PRIORITY}");
                self.diagnostics.push(
                    Diagnostic::error("priority-range", message)
                        .label(table_span, "the table of the entries")
                        .label(entry.span, format!("its priority would be {priority}"))
                        .help("give it a priority, or choose another `priority_delta`"),
                );
                return;
            }
            self.out[number].entries[index].priority = Some(priority as u64);
            last = Some(priority);
        }
    }

    fn property(&mut self, number: TableId, property: &hir::Property) {
        let (name, value) = (&property.name, &property.value);
        match &**name {
            "size" => {
                let size = self.known_u64(value, "`size`");
                self.out[number].size = size;
            }
            // `idle_timeout` in TNA
            "support_timeout" | "idle_timeout" => {
                self.out[number].support_timeout = self.known(value) == Some(Value::Bool(true));
            }
            "psa_idle_timeout" | "pna_idle_timeout" => {
                // The first member is `NO_TIMEOUT`.
                let known = self.known(value);
                self.out[number].support_timeout =
                    known.is_some_and(|behaviour| behaviour != Value::Symbol(0));
            }
            "largest_priority_wins" => {
                self.out[number].largest_priority_wins =
                    self.known(value) != Some(Value::Bool(false));
            }
            "priority_delta" => {}
            _ => self.other_property(number, property),
        }
    }

    fn other_property(&mut self, number: TableId, property: &hir::Property) {
        let (value, span) = (&property.value, property.span);
        let object = match &value.kind {
            ExprKind::Call(call) => {
                let path = self.property_name(number, property);
                let arguments = call.args.clone();
                self.extern_object(&value.ty, &arguments, path, property.annotations, span)
            }
            _ => self.object(value),
        };
        if let Some(Object::Extern(id)) = object {
            // `psa_implementation`, `pna_implementation`
            if property.name.ends_with("implementation") {
                self.out[number].implementation = Some(id);
            } else {
                self.out[number].direct.push(id);
                self.out[id].table = Some(number);
            }
            return;
        }
        let ty = self.ty(&value.ty);
        if let (Some(known), Some(scalar)) = (self.known(value), self.scalar_type(&ty)) {
            let bits = value_bits(&known, scalar);
            let expr = p4_ir::Expr::constant(bits, scalar);
            let name = property.name.to_string();
            self.out[number].properties.push((name, expr));
        } else if ty != Ty::String {
            self.unsupported(span, "this property");
        }
    }

    /// The name of an object that is constructed in a property: from `@name` on the property, without any prefix,
    /// otherwise derived from table and property.
    fn property_name(&self, number: TableId, property: &hir::Property) -> String {
        match annotation(property.annotations, "name").and_then(|a| a.string()) {
            Some(given) => given.strip_prefix('.').unwrap_or(&given).to_string(),
            None => format!("{}.{}", self.out[number].name, property.name),
        }
    }
}

pub(super) fn match_kind(name: &str) -> MatchKind {
    match name {
        "exact" => MatchKind::Exact,
        "lpm" => MatchKind::Lpm,
        "ternary" => MatchKind::Ternary,
        "range" => MatchKind::Range,
        "optional" => MatchKind::Optional,
        "selector" => MatchKind::Selector,
        other => MatchKind::Other(other.to_string()),
    }
}
