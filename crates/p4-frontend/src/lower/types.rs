//! Types of the IR.

use super::Lowerer;
use crate::ast;
use crate::hir::{self, DefKind, Named, NamedKind, Ty};
use p4_ir::{AnnotationValue, Scalar, Type, TypeDef, TypeId, TypeKind};

impl Lowerer<'_, '_> {
    /// The scalar that a type is kept as; `None` for one of several values.
    pub(super) fn scalar_type(&self, ty: &Ty) -> Option<Scalar> {
        Some(match ty {
            Ty::Bool => Scalar::Bool,
            Ty::Bit(w) => Scalar::Bit(*w),
            Ty::Signed(w) => Scalar::Int(*w),
            Ty::Varbit(w) => Scalar::Varbit(*w),
            // What reaches the engine without a width: an index, an amount of a shift, a number to print.
            Ty::Int => Scalar::Int(64),
            Ty::ErrorCode | Ty::MatchKind | Ty::ActionEnum(..) => Scalar::Symbol,
            Ty::Named(named) => match named.kind {
                NamedKind::Enum => Scalar::Symbol,
                NamedKind::SerialisableEnum | NamedKind::New => {
                    return self.scalar_type(&self.hir.underlying(ty)?);
                }
                _ => return None,
            },
            _ => return None,
        })
    }

    /// The IR's form of a type, without type parameters.
    pub(super) fn ir_type(&mut self, ty: &Ty) -> Type {
        match ty {
            Ty::Stack(of, len) => Type::Stack(Box::new(self.ir_type(of)), *len),
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
                    (
                        name.to_string(),
                        super::constants::bits(&value, scalar.width()),
                    )
                };
                TypeKind::SerialisableEnum(scalar, members.iter().map(member).collect())
            }
            DefKind::Enum { members, .. } => {
                TypeKind::Enum(members.iter().map(|(name, _)| name.to_string()).collect())
            }
            DefKind::NewType(of) => TypeKind::New(self.ir_type(&of.clone())),
            // An extern as a type argument: it has a name and no storage.
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

    fn field(&mut self, field: &hir::Field, with: &hir::Substitution) -> p4_ir::Field {
        p4_ir::Field {
            name: field.name.to_string(),
            ty: self.ir_type(&field.ty.substitute(with)),
            annotations: self.annotations(field.annotations),
            loc: self.loc(field.span),
        }
    }

    /// Words of a variable of this type.
    pub(super) fn words(&mut self, ty: &Ty) -> u32 {
        if let Some(words) = self.words.get(ty) {
            return *words;
        }
        let words = self.ir_type(ty).words(&self.out);
        self.words.insert(ty.clone(), words);
        words
    }

    pub(super) fn annotations(&self, annotations: &[ast::Annotation]) -> Vec<p4_ir::Annotation> {
        annotations.iter().map(|a| self.annotation(a)).collect()
    }

    fn annotation(&self, annotation: &ast::Annotation) -> p4_ir::Annotation {
        let values = match &annotation.body {
            ast::AnnotationBody::Empty => Vec::new(),
            ast::AnnotationBody::Unstructured(tokens) => tokens
                .iter()
                .map(|token| match &token.kind {
                    ast::AnnotationTokenKind::String(s) => AnnotationValue::String(s.to_string()),
                    ast::AnnotationTokenKind::Int(i) => AnnotationValue::Int(i.value.clone()),
                    ast::AnnotationTokenKind::Other(s) => AnnotationValue::Token(s.to_string()),
                })
                .collect(),
            ast::AnnotationBody::Expressions(exprs) => {
                exprs.iter().map(|e| self.annotation_value(e)).collect()
            }
            ast::AnnotationBody::KeyValues(pairs) => pairs
                .iter()
                .map(|pair| {
                    let value = self.annotation_value(&pair.value);
                    AnnotationValue::Pair(pair.name.name.to_string(), Box::new(value))
                })
                .collect(),
        };
        p4_ir::Annotation {
            name: annotation.name.name.to_string(),
            values,
            text: self.annotation_text(annotation),
        }
    }

    fn annotation_value(&self, expr: &ast::Expr) -> AnnotationValue {
        match &expr.kind {
            ast::ExprKind::String(s) => AnnotationValue::String(s.to_string()),
            ast::ExprKind::Int(i) => AnnotationValue::Int(i.value.clone()),
            ast::ExprKind::Bool(b) => AnnotationValue::Bool(*b),
            _ => AnnotationValue::Token(self.sources.text(expr.span).to_string()),
        }
    }

    /// What is between the outermost parentheses or brackets.
    fn annotation_text(&self, annotation: &ast::Annotation) -> String {
        let text = self.sources.text(annotation.span);
        let open = text.find(['(', '[']);
        let close = text.rfind([')', ']']);
        match (open, close) {
            (Some(open), Some(close)) if open < close => text[open + 1..close].trim().to_string(),
            _ => String::new(),
        }
    }
}
