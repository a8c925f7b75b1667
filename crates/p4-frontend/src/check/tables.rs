//! Tables.

use super::key_names::key_name;
use super::{Checker, suggest};
use crate::ast::{self, DeclId, Direction, TablePropertyKind};
use crate::diagnostic::Diagnostic;
use crate::hir::{
    ActionCall, DefKind, Entry, Expr, Key, NamedKind, Param, Property, Table, TableAction, Ty,
};
use crate::span::Span;
use std::rc::Rc;

impl<'a> Checker<'a> {
    pub(super) fn table(&mut self, d: &'a ast::Declaration, written: &'a ast::Table) {
        let mut table = Table {
            keys: Vec::new(),
            actions: Vec::new(),
            default_action: None,
            const_default: false,
            entries: Vec::new(),
            const_entries: false,
            properties: Vec::new(),
        };
        self.check_properties(d, written);
        for property in &written.properties {
            match &property.kind {
                TablePropertyKind::Key(keys) => {
                    table.keys = keys.iter().filter_map(|k| self.key(k)).collect();
                }
                TablePropertyKind::Actions(actions) => {
                    for action in actions {
                        self.table_action(action, &mut table);
                    }
                }
                _ => {}
            }
        }
        for property in &written.properties {
            match &property.kind {
                TablePropertyKind::Entries(entries) => {
                    table.const_entries = property.is_const;
                    self.entries(d, property, entries, &mut table);
                }
                TablePropertyKind::Value(value) => self.property(property, value, &mut table),
                _ => {}
            }
        }
        let kind = DefKind::Table(Rc::new(table));
        self.declare(d.id, &d.name, &d.annotations, kind);
    }

    fn check_properties(&mut self, d: &ast::Declaration, written: &'a ast::Table) {
        for (i, property) in written.properties.iter().enumerate() {
            let earlier = written.properties[..i]
                .iter()
                .find(|p| p.name.name == property.name.name);
            if let Some(earlier) = earlier {
                self.report(
                    Diagnostic::error(
                        "duplicate-property",
                        format!("property `{}` is given twice", property.name.name),
                    )
                    .label(property.name.span, "given again")
                    .label(earlier.name.span, "first given here"),
                );
            }
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

    fn key(&mut self, key: &'a ast::KeyElement) -> Option<Key<'a>> {
        let value = self.value(&key.expr);
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
                None => diagnostic.note(format!("there are {}", suggest::listed(names))),
            };
            self.report(diagnostic);
        }
        if value.ty.is_error() {
            return None;
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
            return None;
        }
        Some(Key {
            name: key_name(&self.hir, &key.expr, &value),
            value,
            kind: kind.name.clone(),
            annotations: &key.annotations,
        })
    }

    /// An action's name and arguments as written.
    fn action_reference(
        &mut self,
        expr: &'a ast::Expr,
    ) -> Option<(DeclId, Rc<[Param<'a>]>, Option<&'a [ast::Argument]>)> {
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
        match self.def(id).map(|d| &d.kind) {
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
            annotations: &written.annotations,
            span: written.span,
        });
    }

    /// An action of the table with its data, in `default_action` or an entry.
    fn action_call(&mut self, expr: &'a ast::Expr, table: &Table<'a>) -> Option<ActionCall> {
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
        let (_, mut args, _) = self.arguments(signature, &[], args, expr.span)?;
        if whole {
            args.drain(..directed);
        }
        for arg in args.iter().flatten() {
            if !arg.is_known() {
                self.not_known(arg, "an action's data");
                return None;
            }
        }
        Some(ActionCall { index, args })
    }

    fn not_known(&mut self, expr: &Expr, what: &str) {
        self.error(
            "not-constant",
            expr.span,
            format!("{what} must be known at compile time"),
            "only known when packets come",
        );
    }

    fn entries(
        &mut self,
        d: &ast::Declaration,
        property: &ast::TableProperty,
        entries: &'a [ast::Entry],
        table: &mut Table<'a>,
    ) {
        if table.keys.is_empty() {
            self.error(
                "entries-without-key",
                property.name.span,
                format!("table `{}` has entries but no key", d.name.name),
                "nothing to match",
            );
            return;
        }
        let types: Vec<Ty> = table.keys.iter().map(|k| k.value.ty.clone()).collect();
        for entry in entries {
            let sets = self.entry_sets(entry, &types, table);
            let call = self.action_call(&entry.action, table);
            let priority = entry.priority.as_ref().map(|p| self.priority(p));
            if let (Some(sets), Some(call)) = (sets, call) {
                table.entries.push(Entry {
                    sets,
                    call,
                    priority: priority.flatten(),
                    is_const: entry.is_const,
                    annotations: &entry.annotations,
                    span: entry.span,
                });
            }
        }
    }

    fn priority(&mut self, expr: &'a ast::Expr) -> Option<Expr> {
        let value = self.expr(expr);
        if value.ty.is_error() {
            return None;
        }
        if !value.ty.is_numeric() || !value.is_known() {
            self.error(
                "not-constant",
                value.span,
                "a priority must be an integer known at compile time",
                format!("found a value of type `{}`", value.ty),
            );
            return None;
        }
        Some(value)
    }

    fn entry_sets(
        &mut self,
        entry: &'a ast::Entry,
        types: &[Ty],
        table: &Table<'a>,
    ) -> Option<Vec<Expr>> {
        if let [only] = entry.keys.as_slice() {
            let everything = matches!(only.kind, ast::ExprKind::Default | ast::ExprKind::DontCare);
            if everything && types.len() > 1 {
                let all = types.iter().map(|ty| super::keysets::any(ty, only.span));
                return Some(all.collect());
            }
        }
        let sets = self.sets(&entry.keys, types, entry.span)?;
        for (set, key) in sets.iter().zip(&table.keys) {
            self.check_set_kind(set, key);
            if !set.is_known() {
                self.not_known(set, "an entry's key");
                return None;
            }
        }
        Some(sets)
    }

    fn check_set_kind(&mut self, set: &Expr, key: &Key) {
        use crate::hir::ExprKind;
        let wrong = match (&set.kind, &*key.kind) {
            (ExprKind::Mask(..), "exact" | "range" | "optional") => "a mask",
            (ExprKind::Range(..), "exact" | "lpm" | "ternary" | "optional") => "a range",
            (ExprKind::Any, "exact") => "`_`",
            _ => return,
        };
        self.error(
            "bad-entry",
            set.span,
            format!(
                "{wrong} is not possible for a key that is matched `{}`",
                key.kind
            ),
            "not a valid set for this key",
        );
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
            return;
        }
        let checked = self.expr(value);
        if checked.ty.is_error() {
            return;
        }
        if property.name.as_str() == "size" && !checked.ty.is_numeric() {
            self.property_type(&checked, "`size`", "an integer");
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

    fn property_type(&mut self, found: &Expr, what: &str, expected: &str) {
        let label = format!("found `{}`", found.ty);
        let span: Span = found.span;
        self.error(
            "type-mismatch",
            span,
            format!("{what} must be {expected}"),
            label,
        );
    }
}

fn action_signature<'a>(what: &str, params: Rc<[Param<'a>]>) -> super::calls::Signature<'a> {
    super::calls::Signature {
        what: what.to_string(),
        type_params: Vec::new(),
        params,
        result: Ty::Void,
        with: Default::default(),
        known: false,
    }
}
