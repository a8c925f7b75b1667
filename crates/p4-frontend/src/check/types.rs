//! Types in the source.

use super::{Checker, Facts, scope, suggest};
use crate::ast::{self, DeclId, Symbol};
use crate::diagnostic::Diagnostic;
use crate::hir::{DefKind, Named, NamedKind, Ty};
use crate::span::Span;
use num_bigint::BigInt;
use num_traits::{Signed, ToPrimitive};
use std::rc::Rc;

/// The widest value, in bits.
const MAX_WIDTH: u32 = 1 << 16;
/// The longest array.
const MAX_STACK: u32 = 1 << 16;

/// Which parts of a written type may be left to inference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Open {
    Nothing,
    /// Only `_`.
    DontCare,
    /// `_` and omitted type arguments.
    Arguments,
}

impl Open {
    /// What may be left open in the arguments of such a type.
    fn within(self) -> Open {
        match self {
            Open::Nothing => Open::Nothing,
            Open::DontCare | Open::Arguments => Open::DontCare,
        }
    }
}

impl<'a> Checker<'a> {
    /// The type that is written.
    pub(super) fn ty(&mut self, ty: &'a ast::Type) -> Ty {
        self.written(ty, Open::Nothing)
    }

    /// Like [`Self::ty`], but type arguments may be omitted and are then inferred.
    pub(super) fn ty_to_infer(&mut self, ty: &'a ast::Type) -> Ty {
        self.written(ty, Open::Arguments)
    }

    /// The type of a parameter or result, in which calls and instances determine `_`.
    pub(super) fn signature_type(&mut self, ty: &'a ast::Type) -> Ty {
        self.written(ty, Open::DontCare)
    }

    /// A type argument of a call.
    pub(super) fn call_type_argument(&mut self, ty: &'a ast::Type) -> Ty {
        self.type_argument(ty, Open::DontCare)
    }

    fn type_argument(&mut self, written: &'a ast::Type, open: Open) -> Ty {
        let ty = self.written(written, open);
        let Some(kind @ (NamedKind::Parser | NamedKind::Control | NamedKind::Package)) =
            ty.named_kind()
        else {
            return ty;
        };
        self.error(
            "type-arguments",
            written.span,
            format!("a {} cannot be a type argument", kind.keyword()),
            "expected the type of a value or an extern",
        );
        Ty::Error
    }

    fn written(&mut self, written: &'a ast::Type, open: Open) -> Ty {
        let ty = self.unbounded(written, open);
        if matches!(&written.kind, ast::TypeKind::Named { args, .. } if args.is_empty()) {
            return ty;
        }
        let Some(excess) = self.hir.extent(&ty).excess() else {
            return ty;
        };
        let message = format!("this type {excess}");
        self.error("too-large", written.span, message, "too large");
        Ty::Error
    }

    fn unbounded(&mut self, ty: &'a ast::Type, open: Open) -> Ty {
        match &ty.kind {
            ast::TypeKind::Bool => Ty::Bool,
            ast::TypeKind::Error => self.error_type(ty.span),
            ast::TypeKind::MatchKind => Ty::MatchKind,
            ast::TypeKind::String => Ty::String,
            ast::TypeKind::Void => Ty::Void,
            ast::TypeKind::DontCare => self.dont_care(open, ty.span),
            ast::TypeKind::Int => Ty::Int,
            ast::TypeKind::Bit(None) => Ty::Bit(1),
            ast::TypeKind::Bit(Some(width)) => self.width(width, 0).map_or(Ty::Error, Ty::Bit),
            ast::TypeKind::Signed(width) => self.width(width, 1).map_or(Ty::Error, Ty::Signed),
            ast::TypeKind::Varbit(width) => self.width(width, 0).map_or(Ty::Error, Ty::Varbit),
            ast::TypeKind::Named { path, args } => self.named(path, args, open, ty.span),
            ast::TypeKind::Stack { element, size } => self.array(element, size),
            ast::TypeKind::Tuple(members) => {
                let types: Vec<Ty> = members
                    .iter()
                    .map(|m| self.member_type(m, open.within()))
                    .collect();
                Ty::Tuple(types.into())
            }
            ast::TypeKind::List(of) => Ty::List(Rc::new(self.written(of, open.within()))),
        }
    }

    fn member_type(&mut self, written: &'a ast::Type, open: Open) -> Ty {
        let ty = self.written(written, open);
        if ty.is_object() || matches!(ty, Ty::Void | Ty::String) {
            self.error(
                "bad-member-type",
                written.span,
                format!("a tuple cannot have a member of type `{ty}`"),
                "not the type of a value",
            );
            return Ty::Error;
        }
        ty
    }

    fn width(&mut self, width: &'a ast::Expr, least: u32) -> Option<u32> {
        let value = self.constant_int(width, "a width")?;
        let found = value.to_u32().filter(|w| (least..=MAX_WIDTH).contains(w));
        if found.is_none() {
            self.error(
                "bad-width",
                width.span,
                format!("{value} is not a valid width"),
                format!("expected {least} to {MAX_WIDTH}"),
            );
        }
        found
    }

    fn array(&mut self, element: &'a ast::Type, size: &'a ast::Expr) -> Ty {
        let of = self.ty(element);
        let len = self.constant_int(size, "an array's size");
        if of.is_error() {
            return Ty::Error;
        }
        let no_element = of.is_object()
            || matches!(
                of,
                Ty::Void | Ty::String | Ty::MatchKind | Ty::Int | Ty::Varbit(_) | Ty::List(_)
            );
        if no_element {
            self.error(
                "bad-array",
                element.span,
                format!("an array of `{of}` is not allowed"),
                "expected the type of a value of fixed size",
            );
            return Ty::Error;
        }
        let Some(len) = len else { return Ty::Error };
        let Some(valid) = len.to_u32().filter(|n| (1..=MAX_STACK).contains(n)) else {
            self.error(
                "bad-array",
                size.span,
                format!("{len} is not a valid size of an array"),
                format!("expected 1 to {MAX_STACK}"),
            );
            return Ty::Error;
        };
        Ty::Stack(Rc::new(of), valid)
    }

    fn named(&mut self, path: &'a ast::Path, args: &'a [ast::Type], open: Open, span: Span) -> Ty {
        let args: Vec<Ty> = args
            .iter()
            .map(|a| self.type_argument(a, open.within()))
            .collect();
        let Some(id) = self.resolve(path, "type") else {
            return Ty::Error;
        };
        match self.type_of_definition(id, args, open == Open::Arguments, span) {
            Some(ty) => ty,
            None => self.not_a_type(id, path),
        }
    }

    /// An integer that must be known at compile time. `what` describes its use in messages.
    pub(super) fn constant_int(&mut self, expr: &'a ast::Expr, what: &str) -> Option<BigInt> {
        let checked = self.expr(expr);
        if checked.ty.is_error() {
            return None;
        }
        let value = checked.int_value().cloned();
        if value.is_none() {
            self.error(
                "not-constant",
                expr.span,
                format!("{what} must be an integer known at compile time"),
                format!("found a value of type `{}`", checked.ty),
            );
        }
        value
    }

    /// The same, and it must not be negative.
    pub(super) fn constant_u32(&mut self, expr: &'a ast::Expr, what: &str) -> Option<u32> {
        let value = self.constant_int(expr, what)?;
        let small = value.to_u32();
        if small.is_none() {
            let label = if value.is_negative() {
                "it is negative"
            } else {
                "it is too large"
            };
            self.error(
                "bad-number",
                expr.span,
                format!("{what} cannot be {value}"),
                label,
            );
        }
        small
    }

    /// Declares type parameters in a scope that has just been opened.
    pub(super) fn type_params(
        &mut self,
        params: &'a [ast::TypeParameter],
    ) -> Vec<(DeclId, Symbol)> {
        for param in params {
            self.declare(param.id, &param.name, &[], DefKind::TypeParam);
        }
        let pair = |p: &ast::TypeParameter| (p.id, p.name.name.clone());
        params.iter().map(pair).collect()
    }

    /// Reports a field whose type is invalid in its struct, header or union. Returns the type to continue with.
    pub(super) fn field_type(&mut self, of: NamedKind, field: &'a ast::Field) -> Ty {
        let ty = self.ty(&field.ty);
        let Some(expected) = self.not_a_field(of, &ty) else {
            return ty;
        };
        self.error(
            "bad-field-type",
            field.ty.span,
            format!(
                "a {} cannot have the field `{}` of type `{ty}`",
                of.keyword(),
                field.name.name
            ),
            expected,
        );
        Ty::Error
    }
}

impl<'a> Facts<'a> {
    /// The type `error`, which has no values unless some are declared.
    fn error_type(&mut self, span: Span) -> Ty {
        if std::mem::take(&mut self.lacks_errors) {
            self.report(
                Diagnostic::error("no-errors", "type `error` has no values: none are declared")
                    .label(span, "expected a declaration `error { … }`")
                    .help("is `#include <core.p4>` missing?"),
            );
        }
        Ty::ErrorCode
    }

    /// `_` in the position of a type.
    fn dont_care(&mut self, open: Open, span: Span) -> Ty {
        if open != Open::Nothing {
            self.dont_care.insert(self.vars.len() as u32);
            return self.fresh();
        }
        self.error(
            "dont-care-as-type",
            span,
            "`_` is only allowed where the type can be inferred",
            "expected a type",
        );
        Ty::Error
    }

    fn not_a_type(&mut self, id: DeclId, path: &ast::Path) -> Ty {
        if let Some(def) = self.def(id) {
            let what = scope::described(&def.kind);
            let declared = def.span;
            self.report(
                Diagnostic::error(
                    "not-a-type",
                    format!("`{}` is {what}, not a type", path.name.name),
                )
                .label(path.span, "expected a type")
                .label(declared, "declared here"),
            );
        }
        Ty::Error
    }

    /// The type that a declaration defines, if it defines one.
    pub(super) fn type_of_definition(
        &mut self,
        id: DeclId,
        args: Vec<Ty>,
        infer: bool,
        span: Span,
    ) -> Option<Ty> {
        let def = self.def(id)?;
        let name = def.name.clone();
        let kind = match &def.kind {
            DefKind::Typedef(ty) => {
                let ty = ty.clone();
                return Some(self.without_args(ty, &name, &args, span));
            }
            DefKind::TypeParam => {
                let ty = Ty::Param(id, name.clone());
                return Some(self.without_args(ty, &name, &args, span));
            }
            DefKind::Fields(kind, _) => *kind,
            DefKind::Enum { underlying, .. } if underlying.is_some() => NamedKind::SerialisableEnum,
            DefKind::Enum { .. } => NamedKind::Enum,
            DefKind::NewType(_) => NamedKind::New,
            DefKind::Extern(_) => NamedKind::Extern,
            DefKind::Parser(_) => NamedKind::Parser,
            DefKind::Control(_) => NamedKind::Control,
            DefKind::Package(_) => NamedKind::Package,
            _ => return None,
        };
        let expected = self.hir.type_params(id).len();
        let args = if args.len() == expected {
            args
        } else if args.is_empty() && infer {
            (0..expected).map(|_| self.fresh()).collect()
        } else {
            self.wrong_type_arguments(&name, expected, args.len(), span);
            return Some(Ty::Error);
        };
        let ty = Ty::Named(Named {
            kind,
            id,
            name,
            args: args.into(),
        });
        Some(self.specialised(ty, span))
    }

    /// Checks a generic type: it must not be one of its own arguments, and those of a struct, header or union must be
    /// valid fields.
    fn specialised(&mut self, ty: Ty, span: Span) -> Ty {
        let Ty::Named(named) = &ty else { return ty };
        let id = named.id;
        let holds = |ty: &Ty| ty.any(&mut |t| matches!(t, Ty::Named(n) if n.id == id));
        if named.args.iter().any(holds) {
            let message = format!("`{}` cannot be its own type argument", named.name);
            self.error("self-reference", span, message, "holds itself");
            return Ty::Error;
        }
        let Some(DefKind::Fields(kind, generic)) = self.hir.kind(id) else {
            return ty;
        };
        if named.args.is_empty() || ty.any(&mut |t| matches!(t, Ty::Var(_) | Ty::Param(..))) {
            return ty;
        }
        let (kind, fields) = (*kind, generic.of.clone());
        let with = self.hir.substitution(named);
        for field in fields.iter() {
            let field_ty = field.ty.substitute(&with);
            if let Some(expected) = self.not_a_field(kind, &field_ty) {
                self.report(
                    Diagnostic::error(
                        "bad-field-type",
                        format!(
                            "a {} cannot have the field `{}` of type `{field_ty}`",
                            kind.keyword(),
                            field.name
                        ),
                    )
                    .label(field.span, expected)
                    .label(span, format!("in `{ty}`")),
                );
                return Ty::Error;
            }
        }
        ty
    }

    fn without_args(&mut self, ty: Ty, name: &str, args: &[Ty], span: Span) -> Ty {
        if args.is_empty() {
            return ty;
        }
        self.wrong_type_arguments(name, 0, args.len(), span);
        Ty::Error
    }

    pub(super) fn wrong_type_arguments(
        &mut self,
        name: &str,
        expected: usize,
        found: usize,
        span: Span,
    ) {
        let message = match expected {
            0 => format!("`{name}` takes no type arguments"),
            1 => format!("`{name}` takes 1 type argument"),
            n => format!("`{name}` takes {n} type arguments"),
        };
        self.error("type-arguments", span, message, format!("{found} given"));
    }

    /// The fields of a struct, header or union, formatted as "`a`, `b` and `c`".
    pub(super) fn field_names(&self, ty: &Ty) -> String {
        let fields = self.hir.fields(ty).unwrap_or_default();
        suggest::listed(fields.iter().map(|(name, _)| &**name))
    }

    /// What a field of a struct, header or union should be instead of this type. `None` if the type is valid.
    fn not_a_field(&self, of: NamedKind, ty: &Ty) -> Option<&'static str> {
        let valid = match of {
            NamedKind::Header => self.fits_header(ty),
            NamedKind::Union => matches!(ty, Ty::Param(..) | Ty::Error) || ty.is(NamedKind::Header),
            _ => !ty.is_object() && !matches!(ty, Ty::Void | Ty::MatchKind | Ty::String),
        };
        if valid {
            return None;
        }
        Some(match of {
            NamedKind::Header => {
                "expected bit<W>, int<W>, varbit<W>, bool, a serializable enum, or a struct or array of such"
            }
            NamedKind::Union => "expected a header",
            _ => "not the type of a value",
        })
    }

    fn fits_header(&self, ty: &Ty) -> bool {
        match ty {
            Ty::Bool | Ty::Bit(_) | Ty::Signed(_) | Ty::Varbit(_) => true,
            Ty::Param(..) | Ty::Error => true,
            Ty::Stack(of, _) => {
                let fixed = self.hir.bits(of, 0) == self.hir.bits(of, 1);
                fixed && self.fits_header(of)
            }
            Ty::Named(named) => match named.kind {
                NamedKind::SerialisableEnum | NamedKind::New => true,
                NamedKind::Struct => {
                    let members = self.hir.members(ty).unwrap_or_default();
                    members.iter().all(|m| self.fits_header(m))
                }
                _ => false,
            },
            _ => false,
        }
    }
}
