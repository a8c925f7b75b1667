//! Actions and their parameters.

use crate::Builder;
use crate::annotations::{documentation, has, listed, member_ids};
use crate::interface::Visible;
use crate::proto::p4_ids::Prefix;
use crate::proto::{Action, P4NamedType, action};
use crate::types::type_name;
use p4_ir::{ActionParam, Type, TypeKind, control_plane_name};

impl Builder<'_> {
    /// The actions and digests of a block.
    pub(crate) fn actions(&mut self, block: &Visible) {
        for id in &block.actions {
            let action = &self.program[*id];
            let number = self.symbols.id(Prefix::Action, &action.name);
            let known = |a: &Action| a.preamble.as_ref().is_some_and(|p| p.id == number);
            if has(&action.annotations, "hidden") || self.info.actions.iter().any(known) {
                continue;
            }
            let preamble = self.preamble(Prefix::Action, &action.name, &action.annotations);
            if !self.is_listed(&action.name) {
                // Only called directly: its arguments are in the program.
                self.info.actions.push(Action {
                    preamble: Some(preamble),
                    params: Vec::new(),
                });
                continue;
            }
            let annotations = action.params.iter().map(|p| p.annotations.as_slice());
            let ids = member_ids(annotations, &action.name, action.loc, &mut self.errors);
            let params = action.params.iter().zip(ids);
            let params = params.map(|(param, id)| self.param(param, id)).collect();
            self.info.actions.push(Action {
                preamble: Some(preamble),
                params,
            });
        }
        if block.calls_architecture {
            self.types.touch();
        }
        for (name, ty) in &block.digests {
            self.digest(name, ty);
        }
    }

    /// Whether a table lists an action of this name.
    fn is_listed(&self, name: &str) -> bool {
        let tables = self.interface.tables().map(|t| &self.program[t]);
        let mut listed = tables.flat_map(|t| &t.actions);
        listed.any(|a| self.program[a.action].name == name)
    }

    fn param(&mut self, param: &ActionParam, id: u32) -> action::Param {
        let (annotations, structured_annotations) = listed(&param.annotations, &[]);
        let type_name = self.types.mention(&param.ty);
        action::Param {
            id,
            name: control_plane_name(&param.name, &param.annotations),
            annotations,
            bitwidth: self.types.width(&param.ty),
            doc: documentation(&param.annotations),
            type_name: type_name.or_else(|| self.enum_name(&param.ty)),
            structured_annotations,
            ..Default::default()
        }
    }

    fn enum_name(&self, ty: &Type) -> Option<P4NamedType> {
        let Type::Named(id) = ty else { return None };
        let def = &self.program[*id];
        matches!(def.kind, TypeKind::Enum(_)).then(|| P4NamedType {
            name: type_name(def),
        })
    }
}
