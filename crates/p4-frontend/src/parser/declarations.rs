//! Declarations: which one comes next, whether it is allowed there, and those without a separate file.

use super::{Parse, Parser, Reported};
use crate::ast::{Annotation, Declaration, DeclarationKind, Ident, Instance, Type, TypeKind};
use crate::diagnostic::Diagnostic;
use crate::lexer::TokenKind;

/// The position of a declaration, which determines the valid declarations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The top level.
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

    /// The next declaration, if it is allowed in `place`.
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
        let diagnostic = Diagnostic::error("misplaced", format!("{keyword} is not allowed {here}"))
            .label(self.span(), "not here")
            .note(format!("valid place: {home}"));
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

    /// { "[" size "]" } behind a name, which makes `ty name[size]` the same as `ty[size] name`. An extension of p4c.
    pub fn sized(&mut self, mut ty: Type) -> Parse<Type> {
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
                .note("valid place: the top level");
            return Err(self.report(diagnostic));
        }
        if &*self.tokens[start].text == "state" && self.is_at(TokenKind::LBrace) {
            let diagnostic = Diagnostic::error("misplaced", "a state cannot be declared here")
                .label(name.span, "not here")
                .note("valid place: a parser");
            return Err(self.report(diagnostic));
        }
        if matches!(place, Place::TopLevel | Place::Instance) {
            let diagnostic = Diagnostic::error("misplaced", "a variable cannot be declared here")
                .label(name.span, "expected a function or an instance")
                .note("valid place: a parser, a control or a block");
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
}

/// Whether a declaration that starts with `keyword` is allowed in `place`.
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
