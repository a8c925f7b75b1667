//! Tables.

use super::{Checker, Facts, Inside, suggest, text};
use crate::ast::{self, DeclId, Direction, TablePropertyKind};
use crate::diagnostic::Diagnostic;
use crate::hir::{
    ActionCall, DefKind, Expr, Key, NamedKind, Param, Property, Table, TableAction, Ty,
};
use num_traits::Signed;
use std::rc::Rc;

/// The property of PSA with the action of an `ActionSelector`'s groups that have no members.
const EMPTY_GROUP_ACTION: &str = "psa_empty_group_action";

/// An action, its parameters, and the arguments as written.
type Referred<'a> = (DeclId, Rc<[Param<'a>]>, Option<&'a [ast::Argument]>);

impl<'a> Checker<'a> {
    pub(super) fn table(&mut self, d: &'a ast::Declaration, written: &'a ast::Table) {
        let table = self.scoped(|c| {
            // In its own properties, the table's name refers to the table, whatever it means outside.
            let itself = DefKind::Table(Rc::default());
            c.define(d.id, &d.name, &d.annotations, itself);
            c.introduce(d.id, &d.name);
            c.properties(d, written)
        });
        let kind = DefKind::Table(Rc::new(table));
        self.declare(d.id, &d.name, &d.annotations, kind);
    }

    /// Keys and actions come first, because entries and the default action refer to them.
    fn properties(&mut self, d: &'a ast::Declaration, written: &'a ast::Table) -> Table<'a> {
        let mut table = Table::default();
        self.check_properties(d, written);
        for property in &written.properties {
            self.check_annotations(&property.annotations);
            match &property.kind {
                TablePropertyKind::Key(keys) => {
                    table.keys = keys.iter().map(|k| self.key(k)).collect();
                }
                TablePropertyKind::Actions(actions) => self.within(Inside::Table, |c| {
                    for action in actions {
                        c.table_action(action, &mut table);
                    }
                }),
                _ => {}
            }
        }
        self.within(Inside::Table, |c| {
            for property in &written.properties {
                match &property.kind {
                    TablePropertyKind::Entries(entries) => {
                        table.const_entries = property.is_const;
                        c.entries(d, property, entries, &mut table);
                    }
                    TablePropertyKind::Value(value) => c.property(property, value, &mut table),
                    _ => {}
                }
            }
        });
        self.check_default(d, written);
        table
    }

    /// A table without default action uses `NoAction` of core.p4.
    fn check_default(&mut self, d: &ast::Declaration, written: &ast::Table) {
        let given = |p: &ast::TableProperty| p.name.as_str() == "default_action";
        if written.properties.iter().any(given) {
            return;
        }
        let ident = ast::Ident {
            name: "NoAction".into(),
            span: d.name.span,
        };
        let path = ast::Path {
            absolute: true,
            span: ident.span,
            name: ident,
        };
        let found = self.find(&path).first().and_then(|id| self.def(*id));
        let valid = match found.map(|d| &d.kind) {
            Some(DefKind::Action(action)) => action.params.is_empty(),
            _ => false,
        };
        if valid {
            return;
        }
        let name = &d.name.name;
        let message = "a table without default_action needs core.p4's action `NoAction`";
        let mut diagnostic = Diagnostic::error("no-default-action", message);
        if let Some(found) = found.map(|d| d.span) {
            diagnostic = diagnostic.label(found, "expected an action without parameters");
        }
        diagnostic = diagnostic.label(d.name.span, format!("`{name}` has no default_action"));
        self.report(diagnostic.help("is `#include <core.p4>` missing?"));
    }

    fn key(&mut self, key: &'a ast::KeyElement) -> Key<'a> {
        self.check_annotations(&key.annotations);
        let value = self.key_value(key);
        let kind = &key.match_kind.name;
        if !self.hir.match_kinds.contains(&kind.name) {
            let valid = self.hir.match_kinds.clone();
            let names = valid.iter().map(|n| &**n);
            let mut diagnostic = Diagnostic::error(
                "unknown-match-kind",
                format!("there is no match_kind `{}`", kind.name),
            )
            .label(kind.span, "not declared");
            diagnostic = match suggest::nearest(&kind.name, names.clone()) {
                Some(near) => diagnostic.help(format!("did you mean `{near}`?")),
                None => diagnostic.note(format!("valid: {}", suggest::listed(names))),
            };
            self.report(diagnostic);
        }
        Key {
            name: self.key_name(&key.expr, &value),
            value,
            kind: kind.name.clone(),
            annotations: &key.annotations,
        }
    }

    fn key_value(&mut self, key: &'a ast::KeyElement) -> Expr {
        let value = self.value(&key.expr);
        if value.ty.is_error() {
            return value;
        }
        let scalar = matches!(
            value.ty,
            Ty::Bool | Ty::Bit(_) | Ty::Signed(_) | Ty::ErrorCode | Ty::Param(..)
        ) || matches!(
            value.ty.named_kind(),
            Some(NamedKind::Enum | NamedKind::SerialisableEnum | NamedKind::New)
        );
        if !scalar {
            self.error(
                "bad-key",
                value.span,
                format!("a key cannot be of type `{}`", value.ty),
                "expected bit<W>, int<W>, bool, error or an enum",
            );
            return Expr::error(value.span);
        }
        let named = ast::annotation(&key.annotations, "name").is_some();
        if !named && !has_name(&key.expr) {
            self.error(
                "key-without-name",
                value.span,
                "a key that is computed needs a name for the control plane",
                "expected `@name(\"…\")` behind its match_kind",
            );
        }
        value
    }

    /// The name and the arguments of an action in the source.
    fn action_reference(&mut self, expr: &'a ast::Expr) -> Option<Referred<'a>> {
        let (callee, args) = match &expr.kind {
            ast::ExprKind::Call { callee, args, .. } => (&**callee, Some(args.as_slice())),
            _ => (expr, None),
        };
        let ast::ExprKind::Name(path) = &callee.kind else {
            if !matches!(callee.kind, ast::ExprKind::Error) {
                self.error(
                    "not-an-action",
                    expr.span,
                    "expected an action",
                    "not a name",
                );
            }
            return None;
        };
        let id = self.resolve(path, "action")?;
        match self.hir.kind(id) {
            Some(DefKind::Action(action)) => Some((id, action.params.clone(), args)),
            Some(other) => {
                let what = super::scope::described(other);
                self.error(
                    "not-an-action",
                    path.span,
                    format!("`{}` is {what}, not an action", path.name.name),
                    "expected an action",
                );
                None
            }
            None => None,
        }
    }

    fn table_action(&mut self, written: &'a ast::ActionRef, table: &mut Table<'a>) {
        self.check_annotations(&written.annotations);
        let Some((action, params, args)) = self.action_reference(&written.action) else {
            return;
        };
        if table.actions.iter().any(|a| a.action == action) {
            self.error(
                "duplicate-action",
                written.span,
                "this action is listed already",
                "listed again",
            );
            return;
        }
        let directed: Rc<[Param]> = params
            .iter()
            .filter(|p| p.direction != Direction::None)
            .cloned()
            .collect();
        let what = self
            .def(action)
            .map_or_else(String::new, |d| d.name.to_string());
        let signature = action_signature(&what, directed);
        let args = args.unwrap_or(&[]);
        let Some((_, bound, _)) = self.arguments(signature, &[], args, written.span) else {
            return;
        };
        table.actions.push(TableAction {
            action,
            bound,
            written: args.iter().map(|a| text::text(&a.value)).collect(),
            annotations: &written.annotations,
            span: written.span,
        });
    }

    /// An action of the table with its data, in `default_action` or an entry.
    pub(super) fn action_call(
        &mut self,
        expr: &'a ast::Expr,
        table: &Table<'a>,
    ) -> Option<ActionCall> {
        let (action, params, args) = self.action_reference(expr)?;
        let Some(index) = table.actions.iter().position(|a| a.action == action) else {
            let names: Vec<String> = table
                .actions
                .iter()
                .filter_map(|a| Some(self.def(a.action)?.name.to_string()))
                .collect();
            let valid = suggest::listed(names.iter().map(String::as_str));
            self.report(
                Diagnostic::error("unlisted-action", "this action is not one of the table's")
                    .label(expr.span, "not in `actions`")
                    .note(format!("listed are {valid}")),
            );
            return None;
        };
        let args = args.unwrap_or(&[]);
        let bare = |p: &&Param| p.direction == Direction::None;
        let data: Rc<[Param]> = params.iter().filter(bare).cloned().collect();
        let what = self
            .def(action)
            .map_or_else(String::new, |d| d.name.to_string());
        let directed = params.len() - data.len();
        let whole = directed > 0 && args.len() > data.len();
        let signature = action_signature(&what, if whole { params.clone() } else { data });
        let written = args;
        let (_, mut args, _) = self.arguments(signature, &[], args, expr.span)?;
        if whole {
            args.drain(..directed);
            self.check_bound(written, &params, &table.actions[index]);
        }
        for arg in args.iter().flatten() {
            if !arg.is_known() {
                self.not_known(arg, "an action's data");
                return None;
            }
        }
        Some(ActionCall { index, args })
    }

    fn property(
        &mut self,
        property: &'a ast::TableProperty,
        value: &'a ast::Expr,
        table: &mut Table<'a>,
    ) {
        if property.name.as_str() == "default_action" {
            table.default_action = self.action_call(value, table);
            table.const_default = property.is_const;
            if let Some(call) = &table.default_action
                && ast::annotation(table.actions[call.index].annotations, "tableonly").is_some()
            {
                self.error(
                    "table-only",
                    value.span,
                    "the default action cannot be one that is @tableonly",
                    "only allowed in entries",
                );
            }
            return;
        }
        if property.name.as_str() == EMPTY_GROUP_ACTION {
            let message = format!("`{EMPTY_GROUP_ACTION}` is not supported");
            let diagnostic = Diagnostic::error("unsupported", message)
                .label(property.name.span, "unsupported property")
                .help("remove it: a group without members runs no action");
            self.report(diagnostic);
            return;
        }
        let checked = self.expr(value);
        if checked.ty.is_error() {
            return;
        }
        let name = property.name.as_str();
        let expected = match name {
            "size" => (!checked.ty.is_numeric()).then_some("an integer"),
            "priority_delta" => {
                let positive = checked.int_value().is_some_and(Signed::is_positive);
                (!positive).then_some("a positive integer known at compile time")
            }
            "largest_priority_wins" => (checked.ty != Ty::Bool).then_some("`true` or `false`"),
            _ => None,
        };
        if let Some(expected) = expected {
            let label = match checked.int_value() {
                Some(value) => format!("found {value}"),
                None => format!("found `{}`", checked.ty),
            };
            let message = format!("`{name}` must be {expected}");
            self.error("type-mismatch", checked.span, message, label);
            return;
        }
        if !checked.is_known() {
            let what = format!("property `{}`", property.name.name);
            self.not_known(&checked, &what);
            return;
        }
        table.properties.push(Property {
            name: property.name.name.clone(),
            value: checked,
            annotations: &property.annotations,
            span: property.name.span,
        });
    }
}

impl<'a> Facts<'a> {
    fn check_properties(&mut self, d: &ast::Declaration, written: &'a ast::Table) {
        for (i, property) in written.properties.iter().enumerate() {
            let earlier = written.properties[..i]
                .iter()
                .find(|p| p.name.name == property.name.name);
            if let Some(earlier) = earlier {
                self.report(
                    Diagnostic::error(
                        "duplicate-property",
                        format!("property `{}` occurs twice", property.name.name),
                    )
                    .label(property.name.span, "given again")
                    .label(earlier.name.span, "first given here"),
                );
            }
        }
        let at = |name: &str| {
            let named = |p: &ast::TableProperty| p.name.as_str() == name;
            written.properties.iter().position(named)
        };
        if let (Some(key), Some(entries)) = (at("key"), at("entries"))
            && entries < key
        {
            self.error(
                "entries-before-key",
                written.properties[entries].name.span,
                "the entries of a table come after its key",
                "`key` is further down",
            );
        }
        if let (Some(actions), Some(default)) = (at("actions"), at("default_action"))
            && default < actions
        {
            let message = "the default action of a table comes after its actions";
            self.report(
                Diagnostic::error("default-before-actions", message)
                    .label(d.name.span, "lists its actions too late")
                    .label(
                        written.properties[default].name.span,
                        "refers to one of them",
                    )
                    .label(written.properties[actions].name.span, "expected before it"),
            );
        }
        let has_actions = |p: &ast::TableProperty| matches!(p.kind, TablePropertyKind::Actions(_));
        if !written.properties.iter().any(has_actions) {
            self.error(
                "no-actions",
                d.name.span,
                format!("table `{}` has no property `actions`", d.name.name),
                "a table lists its actions",
            );
        }
    }

    /// Arguments for parameters with a direction must equal those in the list of actions.
    fn check_bound(&mut self, args: &[ast::Argument], params: &[Param], listed: &TableAction) {
        let directed = params.iter().filter(|p| p.direction != Direction::None);
        for (i, param) in directed.enumerate() {
            let by_name =
                |a: &&ast::Argument| a.name.as_ref().is_some_and(|n| n.name == param.name);
            let given = args.iter().find(by_name).or_else(|| args.get(i));
            let (Some(given), Some(bound)) = (given, listed.written.get(i)) else {
                continue;
            };
            let text = text::text(&given.value);
            if text != *bound {
                self.report(
                    Diagnostic::error(
                        "bound-argument",
                        format!(
                            "argument `{}` is bound to `{bound}` in `actions`",
                            param.name
                        ),
                    )
                    .label(given.span, format!("found `{text}`"))
                    .label(listed.span, "bound here"),
                );
            }
        }
    }

    pub(super) fn not_known(&mut self, expr: &Expr, what: &str) {
        self.error(
            "not-constant",
            expr.span,
            format!("{what} must be known at compile time"),
            "only known at run time",
        );
    }
}

fn action_signature<'a>(what: &str, params: Rc<[Param<'a>]>) -> super::arguments::Signature<'a> {
    super::arguments::Signature {
        what: what.to_string(),
        type_params: Vec::new(),
        params,
        result: Ty::Void,
        with: Default::default(),
        known: false,
    }
}

/// Whether a key's expression yields a control-plane name: a variable, a part of one, or a header's validity.
fn has_name(key: &ast::Expr) -> bool {
    match &key.kind {
        ast::ExprKind::Name(_) | ast::ExprKind::Int(_) | ast::ExprKind::Bool(_) => true,
        ast::ExprKind::Type(_) | ast::ExprKind::Error => true,
        ast::ExprKind::Member { base, .. }
        | ast::ExprKind::Index { base, .. }
        | ast::ExprKind::Slice { base, .. }
        | ast::ExprKind::WidthSlice { base, .. } => has_name(base),
        ast::ExprKind::Cast { operand, .. } => has_name(operand),
        ast::ExprKind::Call { callee, args, .. } => args.is_empty() && has_name(callee),
        ast::ExprKind::Binary { first, rest } => {
            let masked = |o: &ast::Operation| o.op == ast::BinaryOp::BitAnd && has_name(&o.right);
            has_name(first) && rest.iter().all(masked)
        }
        _ => false,
    }
}
