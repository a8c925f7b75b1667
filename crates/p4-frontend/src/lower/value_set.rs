//! Value sets.

use super::{Lowerer, Scope};
use crate::ast::{self, annotation};
use crate::hir::{DefKind, Ty};
use crate::span::Span;
use p4_ir::ValueSetId;

impl Scope<'_, '_, '_> {
    pub(super) fn value_set(
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
        if let [(field, ..)] = fields.as_mut_slice()
            && field.is_empty()
        {
            *field = name.clone();
        }
        let element = self.ir_type(&element);
        let set = p4_ir::ValueSet {
            name,
            element,
            fields,
            size,
            annotations: self.annotations(annotations),
            loc: self.loc(span),
        };
        self.out.value_sets.push(set);
        ValueSetId(self.out.value_sets.len() as u32 - 1)
    }
}

impl Lowerer<'_, '_> {
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
            Ty::Named(named) => match hir.kind(named.id) {
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
