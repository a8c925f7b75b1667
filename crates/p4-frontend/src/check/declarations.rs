//! Declarations, but for parsers, controls and tables.

use super::{Checker, Inside, constants, statements};
use crate::ast::{self, DeclId, DeclarationKind, Direction};
use crate::diagnostic::Diagnostic;
use crate::hir::{
    Action, DefKind, Expr, ExprKind, Extern, Field, Function, Generic, Instance, NamedKind, Param,
    Ty,
};
use num_bigint::BigInt;
use std::rc::Rc;

/// What parameters belong to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Of {
    Action,
    Function,
    Extern,
    /// A parser or control with a body.
    Block,
    /// One without.
    BlockType,
    Constructor,
    Package,
}

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
                    "a variable is not possible at the top level",
                    "declare it in a parser, control, action or function",
                );
            }
            DeclarationKind::Table(_) | DeclarationKind::ValueSet { .. } => self.error(
                "misplaced-declaration",
                declaration.name.span,
                "this is only possible in a parser or control",
                "not possible here",
            ),
            _ => self.declaration(declaration),
        }
    }

    /// A declaration that means the same wherever it stands.
    pub(super) fn declaration(&mut self, d: &'a ast::Declaration) {
        let kind = match &d.kind {
            DeclarationKind::Constant { ty, value } => return self.constant(d, ty, value),
            DeclarationKind::Extern(ext) => return self.extern_type(d, ext),
            DeclarationKind::Error { members } => return self.error_members(members),
            DeclarationKind::MatchKind { members } => return self.match_kinds(members),
            DeclarationKind::Function(function) => {
                DefKind::Function(self.scoped(|c| c.function_body(d, function, None)))
            }
            DeclarationKind::Action { params, body } => {
                DefKind::Action(self.scoped(|c| c.action(params, body)))
            }
            DeclarationKind::Parser(parser) => self.parser(d, parser),
            DeclarationKind::Control(control) => self.control(d, control),
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
            _ => return,
        };
        self.declare(d.id, &d.name, &d.annotations, kind);
    }

    fn new_type(&mut self, written: &'a ast::Type) -> DefKind<'a> {
        let of = self.ty(written);
        let valid = matches!(of, Ty::Bool | Ty::Bit(_) | Ty::Signed(_) | Ty::Error)
            || matches!(
                of.named_kind(),
                Some(NamedKind::SerialisableEnum | NamedKind::New)
            );
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
        let mut value = self.expr_as(value, &ty, &what);
        if !value.is_known() {
            self.error(
                "not-constant",
                value.span,
                format!("{what} must be known at compile time"),
                "only known when packets come",
            );
            value = Expr::error(value.span);
        }
        if matches!(value.kind, ExprKind::Error) {
            value.ty = Ty::Error;
        }
        self.declare(d.id, &d.name, &d.annotations, DefKind::Constant(value));
    }

    /// `type(args) name;`
    pub(super) fn instance(&mut self, d: &'a ast::Declaration, instance: &'a ast::Instance) {
        let ty = self.ty_to_infer(&instance.ty);
        if instance.initializer.is_some() {
            self.error(
                "unsupported",
                d.name.span,
                "instances that implement abstract methods are not supported",
                "not supported",
            );
        }
        let built = self.constructor(&ty, &instance.args, d.name.span);
        self.check_not_abstract(&built.ty, d.name.span);
        let kind = match built.kind {
            ExprKind::Call(call) => {
                let crate::hir::Callee::Constructor(constructor) = call.callee else {
                    return;
                };
                self.check_instance_place(&built.ty, d);
                Instance {
                    ty: built.ty,
                    args: call.args,
                    constructor,
                }
            }
            _ => Instance {
                ty: Ty::Error,
                args: Vec::new(),
                constructor: None,
            },
        };
        let kind = DefKind::Instance(kind);
        self.declare(d.id, &d.name, &d.annotations, kind);
    }

    /// An instance of an extern with abstract methods must implement them.
    pub(super) fn check_not_abstract(&mut self, ty: &Ty, span: crate::span::Span) {
        let Ty::Named(named) = ty else { return };
        let Some(DefKind::Extern(ext)) = self.def(named.id).map(|d| &d.kind) else {
            return;
        };
        let is_abstract = |id: &DeclId| self.function(*id).is_some_and(|f| f.is_abstract);
        if ext.of.methods.iter().any(is_abstract) {
            self.error(
                "unsupported",
                span,
                format!("`{ty}` has abstract methods, which are not supported"),
                "cannot be instantiated",
            );
        }
    }

    fn check_instance_place(&mut self, ty: &Ty, d: &ast::Declaration) {
        let wrong = match (ty.named_kind(), self.inside) {
            (Some(NamedKind::Parser), Inside::Control) => Some("a parser in a control"),
            (Some(NamedKind::Control), Inside::Parser) => Some("a control in a parser"),
            (Some(NamedKind::Package), Inside::TopLevel) => None,
            (Some(NamedKind::Parser | NamedKind::Control), Inside::TopLevel) => {
                Some("a parser or control at the top level")
            }
            (Some(NamedKind::Package), _) => Some("a package other than at the top level"),
            (_, Inside::Action | Inside::Function) => Some("anything in an action or function"),
            _ => None,
        };
        if let Some(wrong) = wrong {
            self.error(
                "misplaced-declaration",
                d.name.span,
                format!("it is not possible to instantiate {wrong}"),
                "not possible here",
            );
        }
    }

    fn error_members(&mut self, members: &'a [ast::EnumMember]) {
        for member in members {
            if self.hir.errors.contains(&member.name.name) {
                self.duplicate_member(&member.name);
                continue;
            }
            self.hir.errors.push(member.name.name.clone());
        }
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

    fn fields(&mut self, kind: NamedKind, fields: &'a ast::Fields) -> DefKind<'a> {
        self.scoped(|c| {
            let type_params = c.type_params(&fields.type_params);
            let mut of: Vec<Field> = Vec::new();
            for field in &fields.fields {
                if of.iter().any(|f| f.name == field.name.name) {
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
        for member in members {
            if of.iter().any(|(name, _)| *name == member.name.name) {
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
                    format!("member `{}` has a value, but the enum no type", name.name),
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
                let checked = self.expr_as(value, ty, &what);
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

    fn extern_type(&mut self, d: &'a ast::Declaration, ext: &'a ast::Extern) {
        let mut of = Extern {
            constructors: Vec::new(),
            methods: Vec::new(),
        };
        let type_params = self.scoped(|c| {
            let type_params = c.type_params(&ext.type_params);
            for member in &ext.members {
                let function = match &member.kind {
                    DeclarationKind::Constructor { params } => {
                        of.constructors.push(member.id);
                        Function {
                            type_params: Vec::new(),
                            params: c.scoped(|c| c.params(params, Of::Constructor)),
                            result: Ty::Void,
                            body: None,
                            of: Some(d.id),
                            is_abstract: false,
                        }
                    }
                    DeclarationKind::Function(function) => {
                        of.methods.push(member.id);
                        c.scoped(|c| c.function_body(member, function, Some(d.id)))
                    }
                    _ => continue,
                };
                c.check_member(d, member, &function, &of);
                let kind = DefKind::Function(function);
                c.define(member.id, &member.name, &member.annotations, kind);
            }
            type_params
        });
        let kind = DefKind::Extern(Generic { type_params, of });
        self.declare(d.id, &d.name, &d.annotations, kind);
    }

    fn check_member(
        &mut self,
        ext: &ast::Declaration,
        member: &ast::Declaration,
        function: &Function,
        of: &Extern,
    ) {
        let is_method = matches!(member.kind, DeclarationKind::Function(_));
        if is_method && member.name.name == ext.name.name {
            self.error(
                "constructor-result",
                member.span,
                format!("the constructor of `{}` cannot have a result", ext.name.name),
                "expected no type before the name",
            );
        }
        let names = |f: &Function| -> Vec<ast::Symbol> {
            f.params.iter().map(|p| p.name.clone()).collect()
        };
        let same = |id: &&DeclId| {
            let named_so = self.def(**id).is_some_and(|d| d.name == member.name.name);
            let same_params = |f: Function| names(&f) == names(function);
            **id != member.id && named_so && self.function(**id).is_some_and(same_params)
        };
        let others = of.constructors.iter().chain(&of.methods);
        if let Some(first) = others.clone().find(same).copied() {
            let first = self.def(first).map(|d| d.span);
            let mut diagnostic = Diagnostic::error(
                "duplicate-declaration",
                format!("`{}` is declared twice with these parameters", member.name.name),
            )
            .label(member.name.span, "declared again");
            if let Some(first) = first {
                diagnostic = diagnostic.label(first, "first declared here");
            }
            self.report(diagnostic);
        }
    }

    fn function_body(
        &mut self,
        d: &'a ast::Declaration,
        function: &'a ast::Function,
        of: Option<DeclId>,
    ) -> Function<'a> {
        let type_params = self.type_params(&function.type_params);
        let result = self.ty(&function.result);
        let of_what = if function.body.is_some() {
            Of::Function
        } else {
            Of::Extern
        };
        let params = self.params(&function.params, of_what);
        let body = function.body.as_ref().map(|block| {
            let outside = std::mem::replace(&mut self.inside, Inside::Function);
            self.result = Some(result.clone());
            let body = self.block(block);
            self.result = None;
            self.inside = outside;
            let gives = !matches!(result, Ty::Void | Ty::Error);
            if gives && !statements::always_returns(&body) {
                self.error(
                    "missing-return",
                    d.name.span,
                    format!("function `{}` does not always return a value", d.name.name),
                    format!("expected a `return` of type `{result}` on every way through"),
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

    /// An action, in the scope that has just been opened.
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
        let outside = std::mem::replace(&mut self.inside, Inside::Action);
        let loops = std::mem::take(&mut self.loops);
        let body = self.block(body).into();
        self.loops = loops;
        self.inside = outside;
        Action { params, body }
    }

    /// Declares parameters in the scope that has just been opened.
    pub(super) fn params(&mut self, params: &'a [ast::Parameter], of: Of) -> Rc<[Param<'a>]> {
        let one = |p: &'a ast::Parameter| self.param(p, of);
        params.iter().map(one).collect()
    }

    fn param(&mut self, p: &'a ast::Parameter, of: Of) -> Param<'a> {
        let constructor = matches!(of, Of::Constructor | Of::Package);
        let ty = self.ty(&p.ty);
        self.check_param(p, &ty, of);
        if constructor && p.direction != Direction::None {
            self.error(
                "parameter-direction",
                p.span,
                format!(
                    "a constructor's parameter `{}` cannot have a direction",
                    p.name.name
                ),
                "it is known at compile time",
            );
        }
        let what = format!("the default of `{}`", p.name.name);
        let default = p.default.as_ref().map(|e| {
            let value = self.expr_as(e, &ty, &what);
            if !value.is_known() {
                self.error(
                    "not-constant",
                    value.span,
                    format!("{what} must be known at compile time"),
                    "not constant",
                );
            }
            value
        });
        let kind = if constructor {
            DefKind::ConstructorParam(ty.clone())
        } else {
            DefKind::Param(ty.clone(), p.direction)
        };
        self.declare(p.id, &p.name, &p.annotations, kind);
        Param {
            id: p.id,
            name: p.name.name.clone(),
            ty,
            direction: p.direction,
            default,
            optional: ast::annotation(&p.annotations, "optional").is_some(),
            annotations: &p.annotations,
            span: p.name.span,
        }
    }

    /// Whether a parser or control is more than a type.
    fn has_body(&self, ty: &Ty) -> bool {
        let Ty::Named(named) = ty else { return false };
        match self.def(named.id).map(|d| &d.kind) {
            Some(DefKind::Parser(parser)) => parser.of.body.is_some(),
            Some(DefKind::Control(control)) => control.of.body.is_some(),
            _ => false,
        }
    }

    fn check_param(&mut self, p: &ast::Parameter, ty: &Ty, of: Of) {
        let name = &p.name.name;
        let directed = p.direction != Direction::None;
        let block = matches!(
            ty.named_kind(),
            Some(NamedKind::Parser | NamedKind::Control | NamedKind::Package)
        );
        let may_block = match of {
            Of::Package => true,
            Of::Constructor => !self.has_body(ty),
            _ => false,
        };
        if block && !may_block {
            self.error(
                "parameter-type",
                p.ty.span,
                format!("parameter `{name}` cannot be of type `{ty}`"),
                "only packages take parsers, controls and packages",
            );
        } else if directed && (ty.is_object() || matches!(ty, Ty::String | Ty::Int)) {
            self.error(
                "parameter-direction",
                p.span,
                format!("parameter `{name}` of type `{ty}` cannot have a direction"),
                "it is not a value that packets change",
            );
        }
        if of == Of::Action && *ty == Ty::Int {
            self.error(
                "parameter-type",
                p.ty.span,
                format!("an action's parameter `{name}` cannot be of type `int`"),
                "expected a width: bit<W> or int<W>",
            );
        }
        if p.direction == Direction::Out && p.default.is_some() {
            self.error(
                "parameter-default",
                p.span,
                format!("the `out` parameter `{name}` cannot have a default"),
                "nothing is passed in",
            );
        }
        let optional = ast::annotation(&p.annotations, "optional");
        let never = matches!(of, Of::Action | Of::Function | Of::Block);
        if let Some(optional) = optional.filter(|_| never) {
            self.error(
                "parameter-optional",
                optional.span,
                format!("parameter `{name}` cannot be optional"),
                "only parameters of packages and externs can be",
            );
        }
    }

    /// Finds `main`.
    pub(super) fn check_main(&mut self) {
        let is_main = |id: &&DeclId| self.def(**id).is_some_and(|d| &*d.name == "main");
        let Some(id) = self.hir.instances.iter().find(is_main).copied() else {
            if let Some(span) = self.top_level.get("main").copied() {
                let message = "`main` must be an instance of a package";
                self.error("bad-main", span, message, "this is none");
            }
            return;
        };
        let Some(def) = self.def(id) else { return };
        let DefKind::Instance(instance) = &def.kind else {
            return;
        };
        if instance.ty.is(NamedKind::Package) || instance.ty.is_error() {
            self.hir.main = Some(id);
            return;
        }
        let diagnostic = Diagnostic::error("bad-main", "`main` must be an instance of a package")
            .label(def.span, format!("this is a `{}`", instance.ty));
        self.report(diagnostic);
    }
}
