//! Tables, and all objects in source order.

use crate::Builder;
use crate::annotations::{documentation, has, id, listed, member_ids};
use crate::package::is_tofino;
use crate::proto::p4_ids::Prefix;
use crate::proto::table::IdleTimeoutBehavior;
use crate::proto::{
    ActionRef, MatchField, Table, TableActionCall, action_ref, match_field, table_action_call,
};
use crate::types::octets;
use p4_ir::{Declared, Key, MatchKind, TableAction};

/// Entries of a table that says nothing, or 0.
const DEFAULT_SIZE: i64 = 1024;
/// The same for Tofino.
const DEFAULT_SIZE_TOFINO: i64 = 512;

impl Builder<'_> {
    /// Tables, extern objects and value sets, each in its list.
    pub(crate) fn objects(&mut self) {
        for declared in self.interface.objects.clone() {
            match declared {
                Declared::Table(id) => self.table(&self.program[id]),
                Declared::Extern(id) => self.extern_object(id),
                Declared::ValueSet(id) => self.value_set(&self.program[id]),
                Declared::Action(_) => {}
            }
        }
    }

    fn table(&mut self, table: &p4_ir::Table) {
        if has(&table.annotations, "hidden") {
            return;
        }
        self.types.touch();
        let annotations = table.keys.iter().map(|k| k.annotations.as_slice());
        let ids = member_ids(annotations, &table.name, table.loc, &mut self.errors);
        let fields = table.keys.iter().zip(ids);
        let fields = fields.filter_map(|(key, id)| self.match_field(key, id));
        let match_fields = fields.collect();
        let default = self.default_action(table);
        let size = table.size.and_then(|s| i64::try_from(s).ok());
        let default_size = match is_tofino(self.program) {
            true => DEFAULT_SIZE_TOFINO,
            false => DEFAULT_SIZE,
        };
        let lowered = Table {
            preamble: Some(self.preamble(Prefix::Table, &table.name, &table.annotations)),
            match_fields,
            action_refs: table.actions.iter().map(|a| self.action_ref(a)).collect(),
            const_default_action_id: match table.const_default {
                true => default.action_id,
                false => 0,
            },
            initial_default_action: Some(default),
            implementation_id: self.implementation(table),
            direct_resource_ids: self.direct_resources(table),
            size: size.filter(|s| *s != 0).unwrap_or(default_size),
            idle_timeout_behavior: match table.support_timeout {
                true => IdleTimeoutBehavior::NotifyControl as i32,
                false => IdleTimeoutBehavior::NoTimeout as i32,
            },
            is_const_table: table.const_entries,
            has_initial_entries: !table.entries.is_empty(),
            other_properties: None,
        };
        self.info.tables.push(lowered);
    }

    /// `None` for a `selector` key: it is not part of an entry.
    pub(crate) fn match_field(&mut self, key: &Key, id: u32) -> Option<MatchField> {
        let matched = match_type(&key.kind)?;
        let type_name = self.types.mention(&key.ty);
        let (annotations, structured_annotations) = listed(&key.annotations, &[]);
        Some(MatchField {
            id,
            name: key.name.clone(),
            annotations,
            bitwidth: self.types.width(&key.ty),
            doc: documentation(&key.annotations),
            type_name,
            structured_annotations,
            r#match: Some(matched),
            ..Default::default()
        })
    }

    fn action_ref(&self, listed_action: &TableAction) -> ActionRef {
        let (annotations, structured_annotations) = listed(&listed_action.annotations, &[]);
        let scope = if has(&listed_action.annotations, "tableonly") {
            action_ref::Scope::TableOnly
        } else if has(&listed_action.annotations, "defaultonly") {
            action_ref::Scope::DefaultOnly
        } else {
            action_ref::Scope::TableAndDefault
        };
        let name = &self.program[listed_action.action].name;
        ActionRef {
            id: self.symbols.id(Prefix::Action, name),
            annotations,
            scope: scope as i32,
            structured_annotations,
            ..Default::default()
        }
    }

    fn default_action(&self, table: &p4_ir::Table) -> TableActionCall {
        let call = &table.default_action;
        let Some(listed) = table.actions.get(call.action as usize) else {
            return TableActionCall::default();
        };
        let action = &self.program[listed.action];
        let params = action.params.iter().zip(&call.args).enumerate();
        let arguments = params.filter_map(|(index, (param, value))| {
            let width = param.ty.scalar(self.program)?.width();
            Some(table_action_call::Argument {
                param_id: id(&param.annotations).unwrap_or(index as u32 + 1),
                value: octets(value, width),
            })
        });
        TableActionCall {
            action_id: self.symbols.id(Prefix::Action, &action.name),
            arguments: arguments.collect(),
        }
    }
}

/// `None` for `selector`.
pub(crate) fn match_type(kind: &MatchKind) -> Option<match_field::Match> {
    use match_field::{Match, MatchType};
    let of = match kind {
        MatchKind::Exact => MatchType::Exact,
        MatchKind::Lpm => MatchType::Lpm,
        MatchKind::Ternary => MatchType::Ternary,
        MatchKind::Range => MatchType::Range,
        MatchKind::Optional => MatchType::Optional,
        MatchKind::Selector => return None,
        MatchKind::Other(name) => return Some(Match::OtherMatchType(name.clone())),
    };
    Some(Match::MatchType(of as i32))
}
