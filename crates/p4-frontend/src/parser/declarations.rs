//! Declarations: which one comes next, whether it may stand there, and those that have no file of their own.

use super::{Parse, Parser, Reported, is_name};
use crate::ast::{
    Annotation, Control, ControlBody, Declaration, DeclarationKind, Direction, EnumMember, Extern,
    Field, Fields, Function, Ident, Instance, Parameter, Path, Type, TypeKind,
};
use crate::diagnostic::Diagnostic;
use crate::lexer::TokenKind;

/// Where a declaration stands, which decides on what may be declared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Outside of everything.
    TopLevel,
    /// In a control, before `apply`.
    Control,
    /// In a parser.
    Parser,
    /// Among statements.
    Block,
    /// In the braces after an instance.
    Instance,
}

impl Parser {
    /// declaration
    pub fn top_level_declaration(&mut self) -> Parse<Declaration> {
        let annotations = self.annotations()?;
        self.declaration(annotations, Place::TopLevel)
    }

    /// The declaration that comes next, if it may stand in `place`.
    pub fn declaration(
        &mut self,
        annotations: Vec<Annotation>,
        place: Place,
    ) -> Parse<Declaration> {
        let keyword = self.kind();
        if !allowed(keyword, place) {
            return Err(self.misplaced(keyword, place));
        }
        self.enter()?;
        let start = self.span();
        let id = self.decl_id();
        let (name, kind) = self.declaration_kind(keyword, place)?;
        self.depth -= 1;
        Ok(Declaration {
            id,
            span: self.since(start),
            annotations,
            name,
            kind,
        })
    }

    fn declaration_kind(
        &mut self,
        keyword: TokenKind,
        place: Place,
    ) -> Parse<(Ident, DeclarationKind)> {
        match keyword {
            TokenKind::Const => self.constant(),
            TokenKind::Action => self.action(),
            TokenKind::Table => self.table(),
            TokenKind::Parser => self.parser(),
            TokenKind::Control => self.control(),
            TokenKind::Package => self.package(),
            TokenKind::Extern => self.extern_declaration(),
            TokenKind::Header | TokenKind::HeaderUnion | TokenKind::Struct => self.fields(),
            TokenKind::Enum => self.enumeration(),
            TokenKind::Typedef => self.typedef(),
            TokenKind::Type if place == Place::TopLevel => self.new_type(),
            TokenKind::ValueSet => self.value_set(),
            TokenKind::MatchKind if self.nth(1) == TokenKind::LBrace => self.extension(),
            TokenKind::Error if self.nth(1) == TokenKind::LBrace => self.extension(),
            _ => self.typed_declaration(place),
        }
    }

    fn misplaced(&mut self, keyword: TokenKind, place: Place) -> Reported {
        let here = match place {
            Place::TopLevel => "at the top level",
            Place::Control => "in a control",
            Place::Parser => "in a parser",
            Place::Block => "among statements",
            Place::Instance => "in the braces of an instance",
        };
        let home = match keyword {
            TokenKind::Table => "a control, before its `apply`",
            TokenKind::ValueSet => "a parser, or the top level",
            TokenKind::Action => "a control before its `apply`, or the top level",
            TokenKind::Const => "the top level, a parser, a control or a block",
            _ => "the top level",
        };
        let diagnostic = Diagnostic::error("misplaced", format!("{keyword} cannot stand {here}"))
            .label(self.span(), "not here")
            .note(format!("its place is {home}"));
        self.report(diagnostic)
    }

    /// "const" type name "=" value ";"
    fn constant(&mut self) -> Parse<(Ident, DeclarationKind)> {
        self.expect(TokenKind::Const)?;
        let ty = self.type_ref()?;
        let name = self.name("the constant's name")?;
        self.expect(TokenKind::Assign)?;
        let value = self.expression()?;
        self.scopes.declare_value(&name);
        self.semicolon("the constant")?;
        Ok((name, DeclarationKind::Constant { ty, value }))
    }

    /// "action" name "(" parameters ")" block
    fn action(&mut self) -> Parse<(Ident, DeclarationKind)> {
        self.expect(TokenKind::Action)?;
        let name = self.name("the action's name")?;
        self.scopes.declare_value(&name);
        self.scoped(|parser| {
            let params = parser.parameters()?;
            let body = parser.block()?;
            Ok((name, DeclarationKind::Action { params, body }))
        })
    }

    /// "control" name [ "<" types ">" ] "(" parameters ")" ( ";" | [ "(" parameters ")" ] body )
    fn control(&mut self) -> Parse<(Ident, DeclarationKind)> {
        self.expect(TokenKind::Control)?;
        let name = self.name("the control's name")?;
        self.scopes.declare_type(&name);
        self.scoped(|parser| {
            let type_params = parser.type_params()?;
            let params = parser.parameters()?;
            let mut control = Control {
                type_params,
                params,
                constructor_params: Vec::new(),
                body: None,
            };
            if parser.take(TokenKind::Semicolon) {
                return Ok((name, DeclarationKind::Control(control)));
            }
            control.constructor_params = parser.constructor_params()?;
            control.body = Some(parser.control_body(&name)?);
            Ok((name, DeclarationKind::Control(control)))
        })
    }

    /// "{" { local } "apply" block "}"
    fn control_body(&mut self, name: &Ident) -> Parse<ControlBody> {
        let errors = self.diagnostics.len();
        let open = self.expect(TokenKind::LBrace)?;
        let mut locals = Vec::new();
        let mut apply = None;
        while !self.is_at_end_of_braces() {
            let follows = self.nth(1);
            if self.is_at(TokenKind::Apply) && matches!(follows, TokenKind::LBrace | TokenKind::At)
            {
                self.bump();
                if apply.is_some() {
                    let again = self.previous_span();
                    let diagnostic = Diagnostic::error("misplaced", "a control has one `apply`")
                        .label(again, "the second one")
                        .label(name.span, "in this control");
                    self.report(diagnostic);
                }
                apply = self.block().ok();
                continue;
            }
            let start = self.at;
            if apply.is_some() {
                let diagnostic =
                    Diagnostic::error("misplaced", "`apply` is the last part of a control")
                        .label(self.span(), "nothing may follow it")
                        .help("declare this before `apply`");
                self.report(diagnostic);
                self.recover(start);
                continue;
            }
            self.item(&mut locals, |parser| {
                let annotations = parser.annotations()?;
                parser.declaration(annotations, Place::Control)
            });
        }
        let close = self.expect(TokenKind::RBrace)?;
        if let Some(apply) = apply {
            return Ok(ControlBody { locals, apply });
        }
        if self.diagnostics.len() > errors {
            return Err(Reported);
        }
        let diagnostic = Diagnostic::error(
            "missing-apply",
            format!("control `{}` has no `apply` block", name.as_str()),
        )
        .label(close, "expected `apply { ... }` before this")
        .label(open, "in this body");
        Err(self.report(diagnostic))
    }

    /// "package" name [ "<" types ">" ] "(" parameters ")" ";"
    fn package(&mut self) -> Parse<(Ident, DeclarationKind)> {
        self.expect(TokenKind::Package)?;
        let name = self.name("the package's name")?;
        self.scopes.declare_type(&name);
        self.scoped(|parser| {
            let type_params = parser.type_params()?;
            let params = parser.parameters()?;
            parser.semicolon("the package")?;
            let kind = DeclarationKind::Package {
                type_params,
                params,
            };
            Ok((name, kind))
        })
    }

    /// "extern" name [ "<" types ">" ] "{" { method } "}", "extern" function prototype ";"
    fn extern_declaration(&mut self) -> Parse<(Ident, DeclarationKind)> {
        self.expect(TokenKind::Extern)?;
        if !self.is_at_extern_object() {
            let (name, mut function) = self.prototype()?;
            self.scopes.declare_value(&name);
            function.body = None;
            self.semicolon("the extern function")?;
            return Ok((name, DeclarationKind::Function(function)));
        }
        let name = self.name("the extern's name")?;
        self.scopes.declare_type(&name);
        self.scoped(|parser| {
            let type_params = parser.type_params()?;
            let members = parser.braced(|parser| parser.method(&name))?;
            let kind = DeclarationKind::Extern(Extern {
                type_params,
                members,
            });
            Ok((name.clone(), kind))
        })
    }

    fn is_at_extern_object(&self) -> bool {
        if !is_name(self.kind()) {
            return false;
        }
        let mut index = self.at + 1;
        if self.kind_at(index) == TokenKind::LAngle {
            while !matches!(
                self.kind_at(index),
                TokenKind::RAngle | TokenKind::LBrace | TokenKind::Semicolon | TokenKind::Eof
            ) {
                index += 1;
            }
            index += 1;
        }
        self.kind_at(index) == TokenKind::LBrace
    }

    /// methodPrototype: [ "abstract" ] prototype ";" | name "(" parameters ")" ";"
    fn method(&mut self, of: &Ident) -> Parse<Declaration> {
        let annotations = self.annotations()?;
        let start = self.span();
        let id = self.decl_id();
        let is_constructor = is_name(self.kind()) && self.nth(1) == TokenKind::LParen;
        let (name, kind) = if is_constructor {
            let name = self.name("the constructor's name")?;
            if name.name != of.name {
                let diagnostic = Diagnostic::error(
                    "syntax",
                    format!("method `{}` has no result type", name.as_str()),
                )
                .label(name.span, "expected a type before the name")
                .help(format!(
                    "`void` for none; only the constructor `{}` has no type",
                    of.as_str()
                ));
                return Err(self.report(diagnostic));
            }
            let params = self.scoped(Parser::parameters)?;
            (name, DeclarationKind::Constructor { params })
        } else {
            let is_abstract = self.take(TokenKind::Abstract);
            let (name, mut function) = self.prototype()?;
            function.is_abstract = is_abstract;
            (name, DeclarationKind::Function(function))
        };
        self.semicolon("the method")?;
        Ok(Declaration {
            id,
            span: self.since(start),
            annotations,
            name,
            kind,
        })
    }

    /// functionPrototype: type name [ "<" types ">" ] "(" parameters ")"
    ///
    /// The result's type may be one of the type parameters behind it.
    fn prototype(&mut self) -> Parse<(Ident, Function)> {
        let result = self.type_ref()?;
        let name = self.name("the function's name")?;
        let function = self.scoped(|parser| parser.signature(result))?;
        Ok((name, function))
    }

    /// [ "<" types ">" ] "(" parameters ")"
    fn signature(&mut self, result: Type) -> Parse<Function> {
        Ok(Function {
            is_abstract: false,
            result,
            type_params: self.type_params()?,
            params: self.parameters()?,
            body: None,
        })
    }

    /// ( "header" | "header_union" | "struct" ) name [ "<" types ">" ] "{" { type name ";" } "}"
    fn fields(&mut self) -> Parse<(Ident, DeclarationKind)> {
        let keyword = self.bump().kind;
        let name = self.name("the type's name")?;
        self.scopes.declare_type(&name);
        let fields = self.scoped(|parser| {
            Ok(Fields {
                type_params: parser.type_params()?,
                fields: parser.braced(Parser::field)?,
            })
        })?;
        let kind = match keyword {
            TokenKind::Header => DeclarationKind::Header(fields),
            TokenKind::HeaderUnion => DeclarationKind::HeaderUnion(fields),
            _ => DeclarationKind::Struct(fields),
        };
        Ok((name, kind))
    }

    fn field(&mut self) -> Parse<Field> {
        let annotations = self.annotations()?;
        let start = self.span();
        let ty = self.type_ref()?;
        let name = self.name("the field's name")?;
        let ty = self.sized(ty)?;
        self.semicolon("the field")?;
        Ok(Field {
            id: self.decl_id(),
            span: self.since(start),
            annotations,
            ty,
            name,
        })
    }

    /// "enum" [ type ] name "{" members "}"
    fn enumeration(&mut self) -> Parse<(Ident, DeclarationKind)> {
        self.expect(TokenKind::Enum)?;
        let untyped = is_name(self.kind()) && self.nth(1) == TokenKind::LBrace;
        let underlying = match untyped {
            true => None,
            false => Some(self.type_ref()?),
        };
        let name = self.name("the enum's name")?;
        self.scopes.declare_type(&name);
        let members = self.members()?;
        let kind = DeclarationKind::Enum {
            underlying,
            members,
        };
        Ok((name, kind))
    }

    /// "error" "{" names "}", "match_kind" "{" names "}"
    fn extension(&mut self) -> Parse<(Ident, DeclarationKind)> {
        let keyword = self.bump();
        let name = Ident {
            name: keyword.text,
            span: keyword.span,
        };
        let members = self.members()?;
        let kind = match keyword.kind {
            TokenKind::Error => DeclarationKind::Error { members },
            _ => DeclarationKind::MatchKind { members },
        };
        Ok((name, kind))
    }

    fn members(&mut self) -> Parse<Vec<EnumMember>> {
        self.expect(TokenKind::LBrace)?;
        let members = self.separated(TokenKind::RBrace, |parser| {
            let annotations = parser.annotations()?;
            let name = parser.name("a member's name")?;
            let value = match parser.take(TokenKind::Assign) {
                true => Some(parser.expression()?),
                false => None,
            };
            Ok(EnumMember {
                id: parser.decl_id(),
                annotations,
                name,
                value,
            })
        })?;
        self.expect(TokenKind::RBrace)?;
        Ok(members)
    }

    /// "typedef" type name ";", "typedef" struct-like-or-enum name ";"
    ///
    /// `typedef struct A { ... } B;` is `struct A { ... } typedef A B;`.
    fn typedef(&mut self) -> Parse<(Ident, DeclarationKind)> {
        self.expect(TokenKind::Typedef)?;
        if matches!(
            self.kind(),
            TokenKind::Struct | TokenKind::Header | TokenKind::HeaderUnion | TokenKind::Enum
        ) {
            let declaration = self.declaration(Vec::new(), Place::TopLevel)?;
            let named = TypeKind::Named {
                path: Path {
                    absolute: false,
                    name: declaration.name.clone(),
                    span: declaration.name.span,
                },
                args: Vec::new(),
            };
            let ty = self.make_type(declaration.span, named);
            self.ahead.push(declaration);
            let name = self.type_name()?;
            return Ok((name, DeclarationKind::Typedef(ty)));
        }
        let (name, ty) = self.renamed_type()?;
        Ok((name, DeclarationKind::Typedef(ty)))
    }

    /// "type" type name ";"
    fn new_type(&mut self) -> Parse<(Ident, DeclarationKind)> {
        self.expect(TokenKind::Type)?;
        let (name, ty) = self.renamed_type()?;
        Ok((name, DeclarationKind::NewType(ty)))
    }

    fn renamed_type(&mut self) -> Parse<(Ident, Type)> {
        let ty = self.type_ref()?;
        let name = self.type_name()?;
        Ok((name, ty))
    }

    /// name ";"
    fn type_name(&mut self) -> Parse<Ident> {
        let name = self.name("the new type's name")?;
        self.scopes.declare_type(&name);
        self.semicolon("the type")?;
        Ok(name)
    }

    /// { "[" size "]" } behind a name, which makes `ty name[size]` the same as `ty[size] name`. Not in the
    /// specification, but in p4c.
    fn sized(&mut self, mut ty: Type) -> Parse<Type> {
        while self.take(TokenKind::LBracket) {
            let size = Box::new(self.expression()?);
            self.expect(TokenKind::RBracket)?;
            let start = ty.span;
            let kind = TypeKind::Stack {
                element: Box::new(ty),
                size,
            };
            ty = self.make_type(start, kind);
        }
        Ok(ty)
    }

    /// "value_set" "<" type ">" "(" size ")" name ";"
    fn value_set(&mut self) -> Parse<(Ident, DeclarationKind)> {
        self.expect(TokenKind::ValueSet)?;
        self.expect(TokenKind::LAngle)?;
        let element = self.type_ref()?;
        self.expect(TokenKind::RAngle)?;
        self.expect(TokenKind::LParen)?;
        let size = self.expression()?;
        self.expect(TokenKind::RParen)?;
        let name = self.name("the value set's name")?;
        self.scopes.declare_value(&name);
        self.semicolon("the value set")?;
        Ok((name, DeclarationKind::ValueSet { element, size }))
    }

    /// type name ..., type "(" arguments ")" name ...: variable, function or instance
    fn typed_declaration(&mut self, place: Place) -> Parse<(Ident, DeclarationKind)> {
        self.check_first_word()?;
        let start = self.at;
        if self.scan_type(start).is_none() {
            return Err(self.unexpected(match place {
                Place::Control => "a declaration or `apply`",
                Place::Parser => "a declaration or `state`",
                _ => "a declaration",
            }));
        }
        let ty = self.type_ref()?;
        if self.is_at(TokenKind::LParen) {
            return self.instance(ty);
        }
        let name = self.name("a name")?;
        let is_function = matches!(self.kind(), TokenKind::LParen | TokenKind::LAngle);
        if is_function && matches!(place, Place::TopLevel | Place::Instance) {
            self.scopes.declare_value(&name);
            return self.scoped(|parser| {
                let mut function = parser.signature(ty)?;
                function.body = Some(parser.block()?);
                Ok((name, DeclarationKind::Function(function)))
            });
        }
        if is_function {
            let diagnostic = Diagnostic::error("misplaced", "a function cannot be declared here")
                .label(name.span, "not here")
                .note("its place is the top level");
            return Err(self.report(diagnostic));
        }
        if matches!(place, Place::TopLevel | Place::Instance) {
            let diagnostic = Diagnostic::error("misplaced", "a variable cannot be declared here")
                .label(name.span, "expected a function or an instance")
                .note("its place is a parser, a control or a block");
            return Err(self.report(diagnostic));
        }
        let ty = self.sized(ty)?;
        let init = match self.take(TokenKind::Assign) {
            true => Some(self.expression()?),
            false => None,
        };
        self.scopes.declare_value(&name);
        self.semicolon("the variable")?;
        Ok((name, DeclarationKind::Variable { ty, init }))
    }

    /// type "(" arguments ")" name [ "=" "{" { function | instance } "}" ] ";"
    fn instance(&mut self, ty: Type) -> Parse<(Ident, DeclarationKind)> {
        let args = self.arguments()?;
        let name = self.name("the instance's name")?;
        let ty = self.sized(ty)?;
        self.scopes.declare_value(&name);
        let initializer = match self.take(TokenKind::Assign) {
            true => Some(self.scoped(|parser| {
                parser.braced(|parser| {
                    let annotations = parser.annotations()?;
                    parser.declaration(annotations, Place::Instance)
                })
            })?),
            false => None,
        };
        self.semicolon("the instance")?;
        let kind = DeclarationKind::Instance(Instance {
            ty,
            args,
            initializer,
        });
        Ok((name, kind))
    }

    /// [ "(" parameters ")" ]
    pub fn constructor_params(&mut self) -> Parse<Vec<Parameter>> {
        match self.kind() {
            TokenKind::LParen => self.parameters(),
            _ => Ok(Vec::new()),
        }
    }

    /// "(" parameters ")"
    pub fn parameters(&mut self) -> Parse<Vec<Parameter>> {
        self.expect(TokenKind::LParen)?;
        let params = self.separated(TokenKind::RParen, Parser::parameter)?;
        self.expect(TokenKind::RParen)?;
        Ok(params)
    }

    /// [ annotations ] [ direction ] type name [ "=" expression ]
    fn parameter(&mut self) -> Parse<Parameter> {
        let annotations = self.annotations()?;
        let start = self.span();
        let direction = match self.kind() {
            TokenKind::In => Direction::In,
            TokenKind::Out => Direction::Out,
            TokenKind::InOut => Direction::InOut,
            _ => Direction::None,
        };
        if direction != Direction::None {
            self.bump();
        }
        let ty = self.type_ref()?;
        let name = self.name("the parameter's name")?;
        let default = match self.take(TokenKind::Assign) {
            true => Some(self.expression()?),
            false => None,
        };
        self.scopes.declare_value(&name);
        Ok(Parameter {
            id: self.decl_id(),
            span: self.since(start),
            annotations,
            direction,
            ty,
            name,
            default,
        })
    }
}

/// Whether a declaration that starts with `keyword` may stand in `place`.
fn allowed(keyword: TokenKind, place: Place) -> bool {
    match keyword {
        TokenKind::Const => place != Place::Instance,
        TokenKind::Table => place == Place::Control,
        TokenKind::Action => matches!(place, Place::TopLevel | Place::Control),
        TokenKind::ValueSet => matches!(place, Place::TopLevel | Place::Parser),
        TokenKind::Control
        | TokenKind::Parser
        | TokenKind::Header
        | TokenKind::HeaderUnion
        | TokenKind::Struct
        | TokenKind::Enum
        | TokenKind::Extern
        | TokenKind::Package
        | TokenKind::Typedef => place == Place::TopLevel,
        _ => true,
    }
}
