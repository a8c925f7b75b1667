//! Declarations, except parsers, controls and tables.

use super::params::Of;
use super::{Checker, Facts, Inside, constants, statements};
use crate::ast::{self, DeclId, DeclarationKind, Direction};
use crate::diagnostic::Diagnostic;
use crate::hir::{
    Action, DefKind, Expr, ExprKind, Extent, Field, Function, Generic, NamedKind, Ty,
};
use num_bigint::BigInt;
use std::collections::HashSet;

impl<'a> Checker<'a> {
    pub(super) fn top_level(&mut self, declaration: &'a ast::Declaration) {
        self.inside = Inside::TopLevel;
        match &declaration.kind {
            DeclarationKind::Instance(instance) => {
                self.instance(declaration, instance);
                self.hir.instances.push(declaration.id);
            }
            DeclarationKind::Variable { ty, .. } => {
                self.ty(ty);
                self.error(
                    "misplaced-declaration",
                    declaration.name.span,
                    "a variable is not allowed at the top level",
                    "declare it in a parser, control, action or function",
                );
            }
            DeclarationKind::Table(_) | DeclarationKind::ValueSet { .. } => self.error(
                "misplaced-declaration",
                declaration.name.span,
                "this is only allowed in a parser or control",
                "not allowed here",
            ),
            _ => self.declaration(declaration),
        }
    }

    /// A declaration whose meaning does not depend on its position.
    pub(super) fn declaration(&mut self, d: &'a ast::Declaration) {
        self.open.push(d.name.clone());
        let kind = self.meaning(d);
        self.open.pop();
        if let Some(kind) = kind {
            let kind = self.bounded(d, kind);
            self.declare(d.id, &d.name, &d.annotations, kind);
        }
    }

    /// The definition of a declaration. `None` if it declares itself, or nothing.
    fn meaning(&mut self, d: &'a ast::Declaration) -> Option<DefKind<'a>> {
        Some(match &d.kind {
            DeclarationKind::Constant { ty, value } => {
                self.constant(d, ty, value);
                return None;
            }
            DeclarationKind::Extern(ext) => {
                self.extern_type(d, ext);
                return None;
            }
            DeclarationKind::Error { members } => {
                self.error_members(members);
                return None;
            }
            DeclarationKind::MatchKind { members } => {
                self.match_kinds(members);
                return None;
            }
            DeclarationKind::Function(function) => {
                DefKind::Function(self.scoped(|c| c.function_body(d, function, None)))
            }
            DeclarationKind::Action { params, body } => {
                DefKind::Action(self.scoped(|c| c.action(params, body)))
            }
            DeclarationKind::Parser(parser) => self.parser(d, parser),
            DeclarationKind::Control(control) => self.control(control),
            DeclarationKind::Package {
                type_params,
                params,
            } => self.scoped(|c| {
                let type_params = c.type_params(type_params);
                let of = c.params(params, Of::Package);
                DefKind::Package(Generic { type_params, of })
            }),
            DeclarationKind::Struct(fields) => self.fields(NamedKind::Struct, fields),
            DeclarationKind::Header(fields) => self.fields(NamedKind::Header, fields),
            DeclarationKind::HeaderUnion(fields) => self.fields(NamedKind::Union, fields),
            DeclarationKind::Enum {
                underlying,
                members,
            } => self.enum_type(underlying.as_ref(), members),
            DeclarationKind::Typedef(ty) => DefKind::Typedef(self.ty(ty)),
            DeclarationKind::NewType(written) => self.new_type(written),
            _ => return None,
        })
    }

    fn new_type(&mut self, written: &'a ast::Type) -> DefKind<'a> {
        let of = self.ty(written);
        let valid = matches!(of, Ty::Bool | Ty::Bit(_) | Ty::Signed(_) | Ty::Error)
            || of.is(NamedKind::New);
        if valid {
            return DefKind::NewType(of);
        }
        self.error(
            "bad-new-type",
            written.span,
            format!("`type` cannot be over `{of}`"),
            "expected bit<W>, int<W>, bool or another `type`",
        );
        DefKind::Typedef(Ty::Error)
    }

    /// `const type name = value;`
    pub(super) fn constant(
        &mut self,
        d: &'a ast::Declaration,
        ty: &'a ast::Type,
        value: &'a ast::Expr,
    ) {
        let written = ty.span;
        let mut ty = self.ty(ty);
        if ty.is_object() || ty == Ty::Void {
            self.error(
                "bad-constant-type",
                written,
                format!("a constant cannot be of type `{ty}`"),
                "not the type of a value",
            );
            ty = Ty::Error;
        }
        let what = format!("constant `{}`", d.name.name);
        let radix = self.radix(value);
        self.radices.insert(d.id, radix);
        let mut value = self.expr(value);
        if ty.is_error() {
            value = Expr::error(value.span);
        }
        let mut value = self.coerce_stored(value, &ty, &what);
        if !value.is_known() {
            self.error(
                "not-constant",
                value.span,
                format!("{what} must be known at compile time"),
                "only known at run time",
            );
            value = Expr::error(value.span);
        }
        if matches!(value.kind, ExprKind::Error) {
            value.ty = Ty::Error;
        }
        self.declare(d.id, &d.name, &d.annotations, DefKind::Constant(value));
    }

    fn fields(&mut self, kind: NamedKind, fields: &'a ast::Fields) -> DefKind<'a> {
        self.scoped(|c| {
            let type_params = c.type_params(&fields.type_params);
            let mut of: Vec<Field> = Vec::new();
            let mut names = HashSet::new();
            for field in &fields.fields {
                c.check_annotations(&field.annotations);
                if !names.insert(&field.name.name) {
                    c.duplicate_member(&field.name);
                    continue;
                }
                of.push(Field {
                    name: field.name.name.clone(),
                    ty: c.field_type(kind, field),
                    annotations: &field.annotations,
                    span: field.name.span,
                });
            }
            c.check_varbits(kind, &of);
            let of = of.into();
            DefKind::Fields(kind, Generic { type_params, of })
        })
    }

    fn enum_type(
        &mut self,
        underlying: Option<&'a ast::Type>,
        members: &'a [ast::EnumMember],
    ) -> DefKind<'a> {
        let underlying = underlying.map(|written| {
            let ty = self.ty(written);
            if ty.width().is_some() || ty.is_error() {
                return ty;
            }
            self.error(
                "type-mismatch",
                written.span,
                format!("an enum cannot be over `{ty}`"),
                "expected bit<W> or int<W>",
            );
            Ty::Error
        });
        let mut of: Vec<(ast::Symbol, Option<BigInt>)> = Vec::new();
        let mut names = HashSet::new();
        for member in members {
            if !names.insert(&member.name.name) {
                self.duplicate_member(&member.name);
                continue;
            }
            let value = self.enum_value(underlying.as_ref(), member);
            of.push((member.name.name.clone(), value));
        }
        DefKind::Enum {
            underlying,
            members: of,
        }
    }

    fn enum_value(
        &mut self,
        underlying: Option<&Ty>,
        member: &'a ast::EnumMember,
    ) -> Option<BigInt> {
        let name = &member.name;
        match (underlying, &member.value) {
            (None, None) => None,
            (None, Some(value)) => {
                self.error(
                    "enum-value",
                    value.span,
                    format!(
                        "member `{}` has a value, but the enum has no type",
                        name.name
                    ),
                    "write the type before the enum's name: `enum bit<8> …`",
                );
                None
            }
            (Some(_), None) => {
                self.error(
                    "enum-value",
                    name.span,
                    format!(
                        "member `{}` needs a value, as the enum has a type",
                        name.name
                    ),
                    "expected `= …`",
                );
                Some(BigInt::default())
            }
            (Some(ty), Some(value)) => {
                let what = format!("the value of `{}`", name.name);
                let found = self.expr(value);
                if let (Ty::Int, Some(number), Some((least, most))) =
                    (&found.ty, found.int_value(), constants::bounds(ty))
                    && !(&least..=&most).contains(&number)
                {
                    self.error(
                        "enum-value",
                        value.span,
                        format!("{what} does not fit in `{ty}`"),
                        format!("expected {least} to {most}"),
                    );
                    return Some(BigInt::default());
                }
                let checked = self.coerce(found, ty, &what);
                if checked.int_value().is_none() && !checked.ty.is_error() {
                    self.error(
                        "not-constant",
                        value.span,
                        format!("{what} must be known at compile time"),
                        "not constant",
                    );
                }
                let value = checked.int_value().cloned().unwrap_or_default();
                Some(constants::wrap(&value, ty))
            }
        }
    }

    /// The result type of a function or method.
    pub(super) fn result_type(&mut self, written: &'a ast::Type) -> Ty {
        let ty = self.signature_type(written);
        if ty != Ty::Int {
            return ty;
        }
        self.error(
            "bad-result-type",
            written.span,
            "a function cannot return a value of type `int`",
            "expected a width: bit<W> or int<W>",
        );
        Ty::Error
    }

    pub(super) fn function_body(
        &mut self,
        d: &'a ast::Declaration,
        function: &'a ast::Function,
        of: Option<DeclId>,
    ) -> Function<'a> {
        let type_params = self.type_params(&function.type_params);
        let result = self.result_type(&function.result);
        let of_what = if function.body.is_some() {
            Of::Function
        } else {
            Of::Extern
        };
        let params = self.params(&function.params, of_what);
        let body = function.body.as_ref().map(|block| {
            let body = self.within(Inside::Function, |c| c.body(result.clone()).block(block));
            let gives = !matches!(result, Ty::Void | Ty::Error);
            if gives && !statements::always_returns(&body) {
                self.error(
                    "missing-return",
                    d.name.span,
                    format!("function `{}` does not always return a value", d.name.name),
                    format!("expected a `return` of type `{result}` on every path"),
                );
            }
            body.into()
        });
        Function {
            type_params,
            params,
            result,
            body,
            of,
            is_abstract: function.is_abstract,
        }
    }

    /// Checks an action, in a scope that has just been opened.
    pub(super) fn action(
        &mut self,
        params: &'a [ast::Parameter],
        body: &'a ast::Block,
    ) -> Action<'a> {
        let params = self.params(params, Of::Action);
        let mut bare = None;
        for param in params.iter() {
            match param.direction {
                Direction::None => bare = Some(param.span),
                _ if bare.is_some() => {
                    self.error(
                        "parameter-order",
                        param.span,
                        format!("`{}` has a direction but follows one without", param.name),
                        "parameters without direction come last",
                    );
                }
                _ => {}
            }
        }
        let body = self.within(Inside::Action, |c| c.body(Ty::Void).block(body));
        let body = body.into();
        Action { params, body }
    }
}

impl<'a> Facts<'a> {
    fn error_members(&mut self, members: &'a [ast::EnumMember]) {
        for member in members {
            if !self.declared_errors.insert(member.name.name.clone()) {
                self.duplicate_member(&member.name);
            }
        }
    }

    /// Rejects a type that is too large, and records the size of others.
    fn bounded(&mut self, d: &ast::Declaration, kind: DefKind<'a>) -> DefKind<'a> {
        let extent = match &kind {
            DefKind::Fields(_, fields) => {
                Extent::of(fields.of.iter().map(|field| self.hir.extent(&field.ty)))
            }
            DefKind::NewType(of) => Extent::of([self.hir.extent(of)]),
            _ => return kind,
        };
        let Some(excess) = extent.excess() else {
            self.hir.extents.insert(d.id, extent);
            return kind;
        };
        let message = format!("`{}` {excess}", d.name.name);
        self.error("too-large", d.name.span, message, "too large");
        DefKind::Typedef(Ty::Error)
    }

    fn match_kinds(&mut self, members: &'a [ast::EnumMember]) {
        for member in members {
            if self.hir.match_kinds.contains(&member.name.name) {
                self.duplicate_member(&member.name);
                continue;
            }
            self.hir.match_kinds.push(member.name.name.clone());
        }
    }

    fn duplicate_member(&mut self, name: &ast::Ident) {
        self.error(
            "duplicate-declaration",
            name.span,
            format!("member `{}` is declared twice", name.name),
            "declared again",
        );
    }

    fn check_varbits(&mut self, kind: NamedKind, fields: &[Field]) {
        let mut varbits = fields.iter().filter(|f| matches!(f.ty, Ty::Varbit(_)));
        let (first, second) = (varbits.next(), varbits.next());
        if let (NamedKind::Header, Some(first), Some(second)) = (kind, first, second) {
            self.report(
                Diagnostic::error("two-varbits", "a header can have only one varbit field")
                    .label(first.span, "this is one")
                    .label(second.span, "this is another"),
            );
        }
    }
}
