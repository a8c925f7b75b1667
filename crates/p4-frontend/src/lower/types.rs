//! Types of the IR.

use super::Lowerer;
use super::ir::{bits, scalar_type};
use crate::ast;
use crate::hir::{self, DefKind, Named, NamedKind, Ty};
use p4_ir::{Scalar, Type, TypeDef, TypeId, TypeKind};
use std::rc::Rc;

impl Lowerer<'_, '_> {
    pub(super) fn scalar_type(&self, ty: &Ty) -> Option<Scalar> {
        scalar_type(self.hir, ty)
    }

    /// The IR's form of a type, without type parameters.
    pub(super) fn ir_type(&mut self, ty: &Ty) -> Type {
        match ty {
            Ty::Stack(of, len) => {
                let element = Box::new(self.ir_type(of));
                match of.is_header_like() {
                    true => Type::Stack(element, *len),
                    false => Type::Array(element, *len),
                }
            }
            Ty::Tuple(members) | Ty::ListExpr(members) => {
                Type::Tuple(members.iter().map(|m| self.ir_type(m)).collect())
            }
            Ty::Named(named) => Type::Named(self.type_id(ty, named)),
            Ty::ErrorCode => Type::Named(self.error_type()),
            other => match self.scalar_type(other) {
                Some(scalar) => Type::Scalar(scalar),
                None => Type::Tuple(Vec::new()),
            },
        }
    }

    fn error_type(&mut self) -> TypeId {
        if let Some(id) = self.types.get(&Ty::ErrorCode) {
            return *id;
        }
        let def = TypeDef {
            name: "error".into(),
            kind: TypeKind::Error,
            annotations: Vec::new(),
            loc: p4_ir::SourceLoc::default(),
        };
        self.add_type(Ty::ErrorCode, def)
    }

    fn add_type(&mut self, ty: Ty, def: TypeDef) -> TypeId {
        let id = TypeId(self.out.types.len() as u32);
        self.out.types.push(def);
        self.types.insert(ty, id);
        id
    }

    fn type_id(&mut self, ty: &Ty, named: &Named) -> TypeId {
        if let Some(id) = self.types.get(ty) {
            return *id;
        }
        let Some(def) = self.hir.def(named.id) else {
            return self.error_type();
        };
        let kind = match &def.kind {
            DefKind::Fields(kind, fields) => {
                let with = self.hir.substitution(named);
                let fields = fields.of.iter().map(|f| self.field(f, &with)).collect();
                match kind {
                    NamedKind::Header => TypeKind::Header(fields),
                    NamedKind::Union => TypeKind::Union(fields),
                    _ => TypeKind::Struct(fields),
                }
            }
            DefKind::Enum {
                underlying: Some(under),
                members,
            } => {
                let scalar = self.scalar_type(under).unwrap_or(Scalar::Symbol);
                let member = |(name, value): &(ast::Symbol, Option<num_bigint::BigInt>)| {
                    let value = value.clone().unwrap_or_default();
                    (name.to_string(), bits(&value, scalar.width()))
                };
                TypeKind::SerialisableEnum(scalar, members.iter().map(member).collect())
            }
            DefKind::Enum { members, .. } => {
                TypeKind::Enum(members.iter().map(|(name, _)| name.to_string()).collect())
            }
            DefKind::NewType(of) => TypeKind::New(self.ir_type(&of.clone())),
            // An extern as a type argument, which has a name and no storage.
            _ => TypeKind::Struct(Vec::new()),
        };
        let def = TypeDef {
            name: ty.to_string(),
            kind,
            annotations: self.annotations(def.annotations),
            loc: self.loc(def.span),
        };
        self.add_type(ty.clone(), def)
    }

    /// The headers of packets to and from a controller.
    pub(super) fn controller_headers(&mut self) {
        let hir = self.hir;
        for (index, def) in hir.defs.iter().enumerate() {
            let Some(def) = def else { continue };
            let DefKind::Fields(NamedKind::Header, fields) = &def.kind else {
                continue;
            };
            let for_controller = ast::annotation(def.annotations, "controller_header").is_some();
            if !for_controller || !fields.type_params.is_empty() {
                continue;
            }
            let named = Named {
                id: ast::DeclId(index as u32),
                name: def.name.clone(),
                kind: NamedKind::Header,
                args: Rc::from([]),
            };
            let ty = Ty::Named(named.clone());
            let id = self.type_id(&ty, &named);
            self.out.controller_headers.push(id);
        }
    }

    fn field(&mut self, field: &hir::Field, with: &hir::Substitution) -> p4_ir::Field {
        p4_ir::Field {
            name: field.name.to_string(),
            ty: self.ir_type(&field.ty.substitute(with)),
            annotations: self.annotations(field.annotations),
            loc: self.loc(field.span),
        }
    }

    /// The number of values in a variable of this type.
    pub(super) fn values_of(&mut self, ty: &Ty) -> u32 {
        self.ir_type(ty).values(&self.out)
    }
}
