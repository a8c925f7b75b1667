//! Member access: fields, members of enums, `next` and `last` of stacks, `hit` and `action_run`.

use super::{Checker, Facts, Inside};
use crate::ast::{self, DeclId};
use crate::hir::{DefKind, Expr, ExprKind, Named, Ty, Value};
use crate::span::Span;

impl<'a> Checker<'a> {
    pub(super) fn member(&mut self, base: &'a ast::Expr, name: &'a ast::Ident, span: Span) -> Expr {
        if let Some(ty) = self.as_type(base) {
            return self.type_member(&ty, name, span);
        }
        let base = self.expr(base);
        self.member_of(base, name, span)
    }

    pub(super) fn member_of(&mut self, base: Expr, name: &ast::Ident, span: Span) -> Expr {
        match base.ty.clone() {
            Ty::Error => Expr::error(span),
            Ty::Stack(of, len) => self.stack_member(base, &of, len, name, span),
            Ty::ApplyResult(table, _) => {
                let (kind, ty) = match name.as_str() {
                    "hit" | "miss" => {
                        let miss = name.as_str() == "miss";
                        (ExprKind::TableHit { table, miss }, Ty::Bool)
                    }
                    "action_run" => {
                        self.error(
                            "misplaced-action-run",
                            name.span,
                            "`action_run` is only allowed as the expression of a switch",
                            "not allowed here",
                        );
                        return Expr::error(span);
                    }
                    _ => {
                        let valid = ["hit", "miss", "action_run"].map(String::from).to_vec();
                        self.unknown_member(name, &base.ty, valid);
                        return Expr::error(span);
                    }
                };
                Expr { kind, ty, span }
            }
            ty => self.field(base, &ty, name, span),
        }
    }

    fn stack_member(
        &mut self,
        base: Expr,
        of: &Ty,
        len: u32,
        name: &ast::Ident,
        span: Span,
    ) -> Expr {
        let member = name.as_str();
        if !of.is_header_like() && !matches!(of, Ty::Param(..)) && member != "size" {
            self.unknown_member(name, &base.ty, vec!["size".into()]);
            return Expr::error(span);
        }
        if matches!(member, "next" | "last" | "lastIndex") && !matches!(self.inside, Inside::Parser)
        {
            self.error(
                "only-in-parser",
                name.span,
                format!("`{member}` of a stack is only allowed in a parser"),
                "not in a parser",
            );
            return Expr::error(span);
        }
        let (kind, ty) = match member {
            "next" => (ExprKind::Next(Box::new(base)), of.clone()),
            "last" => (ExprKind::Last(Box::new(base)), of.clone()),
            "lastIndex" => (ExprKind::LastIndex(Box::new(base)), Ty::Bit(32)),
            "size" => (ExprKind::Const(Value::Int(len.into())), Ty::Bit(32)),
            _ => {
                let ty = base.ty.clone();
                let valid = [
                    "next",
                    "last",
                    "lastIndex",
                    "size",
                    "push_front",
                    "pop_front",
                ];
                self.unknown_member(name, &ty, valid.map(String::from).to_vec());
                return Expr::error(span);
            }
        };
        Expr { kind, ty, span }
    }

    /// The type that an expression refers to, if it is not a value.
    pub(super) fn as_type(&mut self, expr: &'a ast::Expr) -> Option<Ty> {
        match &expr.kind {
            ast::ExprKind::Type(ty) => Some(self.ty_to_infer(ty)),
            ast::ExprKind::Name(path) => {
                let id = *self.find(path).first()?;
                self.type_of_definition(id, Vec::new(), true, expr.span)
            }
            _ => None,
        }
    }
}

impl<'a> Facts<'a> {
    fn type_member(&mut self, ty: &Ty, name: &ast::Ident, span: Span) -> Expr {
        match ty {
            Ty::Error => Expr::error(span),
            Ty::ErrorCode => {
                let errors = self.hir.errors.iter().enumerate();
                let declared = errors.filter(|(_, e)| self.declared_errors.contains(*e));
                let found = declared.clone().find(|(_, e)| **e == name.name);
                match found {
                    Some((i, _)) => Expr::constant(Value::Symbol(i as u32), Ty::ErrorCode, span),
                    None => {
                        let valid = declared.map(|(_, e)| e.to_string()).collect();
                        self.unknown_member(name, ty, valid);
                        Expr::error(span)
                    }
                }
            }
            Ty::Named(named) => match self.enum_member(named, name) {
                Some(value) => Expr::constant(value, ty.clone(), span),
                None => Expr::error(span),
            },
            other => {
                self.unknown_member(name, other, Vec::new());
                Expr::error(span)
            }
        }
    }

    fn field(&mut self, base: Expr, ty: &Ty, name: &ast::Ident, span: Span) -> Expr {
        let fields = self.hir.fields(ty).unwrap_or_default();
        let Some(i) = fields.iter().position(|(n, _)| *n == name.name) else {
            let mut valid: Vec<String> = fields.iter().map(|(n, _)| n.to_string()).collect();
            valid.extend(self.methods_of(ty));
            if valid.iter().any(|v| *v == *name.name) {
                self.error(
                    "method-without-call",
                    name.span,
                    format!("`{}` is a method", name.name),
                    "expected a call: `(…)` is missing",
                );
            } else {
                self.unknown_member(name, ty, valid);
            }
            return Expr::error(span);
        };
        let ty = fields[i].1.clone();
        match base.kind {
            ExprKind::List(mut members) if members.iter().all(|m| !m.has_effects()) => Expr {
                span,
                ..members.swap_remove(i)
            },
            kind => Expr {
                kind: ExprKind::Field(Box::new(Expr { kind, ..base }), i),
                ty,
                span,
            },
        }
    }

    fn enum_member(&mut self, named: &Named, name: &ast::Ident) -> Option<Value> {
        let DefKind::Enum { members, .. } = self.hir.kind(named.id)? else {
            let ty = Ty::Named(named.clone());
            self.unknown_member(name, &ty, Vec::new());
            return None;
        };
        let found = members.iter().position(|(m, _)| *m == name.name);
        if let Some(i) = found {
            return Some(match &members[i].1 {
                Some(value) => Value::Int(value.clone()),
                None => Value::Symbol(i as u32),
            });
        }
        let valid = members.iter().map(|(m, _)| m.to_string()).collect();
        self.unknown_member(name, &Ty::Named(named.clone()), valid);
        None
    }

    /// The methods of values of the type.
    pub(super) fn methods_of(&self, ty: &Ty) -> Vec<String> {
        let names: &[&str] = match ty {
            Ty::Stack(of, _) if of.is_header_like() || matches!(**of, Ty::Param(..)) => {
                &["push_front", "pop_front"]
            }
            Ty::Table(..) => &["apply"],
            Ty::Named(named) => match named.kind {
                crate::hir::NamedKind::Header => &["isValid", "setValid", "setInvalid"],
                crate::hir::NamedKind::Union => &["isValid"],
                crate::hir::NamedKind::Parser | crate::hir::NamedKind::Control => &["apply"],
                crate::hir::NamedKind::Extern => return self.extern_methods(named.id),
                _ => &[],
            },
            _ => &[],
        };
        names.iter().map(|n| n.to_string()).collect()
    }

    fn extern_methods(&self, id: DeclId) -> Vec<String> {
        let Some(DefKind::Extern(ext)) = self.hir.kind(id) else {
            return Vec::new();
        };
        let name = |m: &DeclId| self.def(*m).map(|d| d.name.to_string());
        let mut names: Vec<String> = ext.of.methods.iter().filter_map(name).collect();
        names.dedup();
        names
    }
}
