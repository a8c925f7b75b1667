//! Entries of tables.

use super::{Checker, Facts};
use crate::ast;
use crate::diagnostic::Diagnostic;
use crate::hir::{Entry, Expr, Key, Table, Ty, Value};
use crate::span::Span;
use std::collections::{HashMap, hash_map};

impl<'a> Checker<'a> {
    pub(super) fn entries(
        &mut self,
        d: &ast::Declaration,
        property: &ast::TableProperty,
        entries: &'a [ast::Entry],
        table: &mut Table<'a>,
    ) {
        if table.keys.is_empty() {
            self.report(
                Diagnostic::error(
                    "entries-without-key",
                    format!("table `{}` has entries but no key", d.name.name),
                )
                .label(d.name.span, "it has nothing to match")
                .label(property.name.span, "its entries"),
            );
            return;
        }
        self.check_priorities(d, property, entries, table);
        let types: Vec<Ty> = table.keys.iter().map(|k| k.value.ty.clone()).collect();
        // The first occurrence of each key of plain values, in a table whose entries have no priorities.
        let exact = |k: &Key| matches!(&*k.kind, "exact" | "lpm");
        let mut given = table.keys.iter().all(exact).then(HashMap::new);
        for entry in entries {
            self.check_annotations(&entry.annotations);
            let sets = self.entry_sets(entry, &types, table);
            let call = self.action_call(&entry.action, table);
            let priority = entry.priority.as_ref().map(|p| self.priority(p));
            if let Some(call) = &call
                && ast::annotation(table.actions[call.index].annotations, "defaultonly").is_some()
            {
                self.error(
                    "default-only",
                    entry.action.span,
                    "an entry cannot have an action that is @defaultonly",
                    "only allowed as default_action",
                );
            }
            if let (Some(sets), Some(call)) = (sets, call) {
                if let Some(given) = &mut given {
                    self.check_same_key(&sets, entry.span, given);
                }
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
        let sets = self.keysets(None).sets(&entry.keys, types, entry.span)?;
        for (set, key) in sets.iter().zip(&table.keys) {
            self.check_set_kind(set, key);
            if !set.is_known() {
                self.not_known(set, "an entry's key");
                return None;
            }
        }
        Some(sets)
    }
}

impl<'a> Facts<'a> {
    fn check_priorities(
        &mut self,
        d: &ast::Declaration,
        property: &ast::TableProperty,
        entries: &[ast::Entry],
        table: &Table<'a>,
    ) {
        let Some(given) = entries.iter().find(|e| e.priority.is_some()) else {
            return;
        };
        let by_priority = |k: &Key| matches!(&*k.kind, "ternary" | "range" | "optional");
        if !table.keys.iter().any(by_priority) {
            self.report(
                Diagnostic::error(
                    "entry-priority",
                    "entries of this table have no priorities: no key is ternary, range or optional",
                )
                .label(key_property(d), "none of these keys")
                .label(given.span, "has a priority"),
            );
        } else if property.is_const {
            self.error(
                "entry-priority",
                given.span,
                "const entries have no priorities: they win in their order",
                "has a priority",
            );
        } else if entries[0].priority.is_none() {
            self.error(
                "entry-priority",
                entries[0].span,
                "where entries have priorities, the first must have one",
                "expected `priority = …:`",
            );
        }
    }

    /// Reports two entries with the same values: the second could never match.
    fn check_same_key(&mut self, sets: &[Expr], span: Span, given: &mut HashMap<Vec<Value>, Span>) {
        let values: Option<Vec<_>> = sets.iter().map(|set| set.value().cloned()).collect();
        let Some(values) = values else {
            return;
        };
        let first = match given.entry(values) {
            hash_map::Entry::Occupied(first) => *first.get(),
            hash_map::Entry::Vacant(place) => {
                place.insert(span);
                return;
            }
        };
        self.report(
            Diagnostic::error("duplicate-entry", "two entries have the same key")
                .label(span, "given again")
                .label(first, "first given here"),
        );
    }

    /// The mask of an lpm key must be a prefix.
    fn check_prefix(&mut self, set: &Expr, mask: &Expr, key: &Key) {
        let (Some(mask), Some(width)) = (mask.int_value(), key.value.ty.width()) else {
            return;
        };
        let ones = (0..u64::from(width)).rev().take_while(|bit| mask.bit(*bit));
        let suffix = u64::from(width) - ones.count() as u64;
        if (0..suffix).any(|bit| mask.bit(bit)) {
            self.error(
                "bad-entry",
                set.span,
                format!("{mask:#x} is not the mask of a prefix"),
                "expected ones, then zeros: this key is matched `lpm`",
            );
        }
    }

    fn check_set_kind(&mut self, set: &Expr, key: &Key) {
        use crate::hir::ExprKind;
        if let (ExprKind::Mask(_, mask), "lpm") = (&set.kind, &*key.kind) {
            return self.check_prefix(set, mask, key);
        }
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
                "{wrong} is not allowed for a key that is matched `{}`",
                key.kind
            ),
            "not a valid set for this key",
        );
    }
}

/// The location of the declaration of a table's keys.
fn key_property(table: &ast::Declaration) -> Span {
    let properties = match &table.kind {
        ast::DeclarationKind::Table(table) => table.properties.as_slice(),
        _ => &[],
    };
    let is_key = |p: &&ast::TableProperty| matches!(p.kind, ast::TablePropertyKind::Key(_));
    let key = properties.iter().find(is_key);
    key.map_or(table.name.span, |key| key.name.span)
}
