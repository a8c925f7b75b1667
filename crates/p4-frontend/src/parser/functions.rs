//! Externs, their methods, and parameters.

use super::{Parse, Parser, is_name};
use crate::ast::{
    Declaration, DeclarationKind, Direction, Extern, Function, Ident, Parameter, Type,
};
use crate::diagnostic::Diagnostic;
use crate::lexer::TokenKind;

impl Parser {
    /// "extern" name [ "<" types ">" ] "{" { method } "}", "extern" function prototype ";"
    pub fn extern_declaration(&mut self) -> Parse<(Ident, DeclarationKind)> {
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
    /// The result type may be one of the type parameters that follow it.
    fn prototype(&mut self) -> Parse<(Ident, Function)> {
        let result = self.type_ref()?;
        let name = self.name("the function's name")?;
        let function = self.scoped(|parser| parser.signature(result))?;
        Ok((name, function))
    }

    /// [ "<" types ">" ] "(" parameters ")"
    pub fn signature(&mut self, result: Type) -> Parse<Function> {
        Ok(Function {
            is_abstract: false,
            result,
            type_params: self.type_params()?,
            params: self.parameters()?,
            body: None,
        })
    }

    /// "(" parameters ")"
    pub fn parameters(&mut self) -> Parse<Vec<Parameter>> {
        self.expect(TokenKind::LParen)?;
        let params = self.separated(TokenKind::RParen, Parser::parameter)?;
        self.expect(TokenKind::RParen)?;
        Ok(params)
    }

    /// [ annotations ] [ direction ] type name [ "=" expression ]
    pub fn parameter(&mut self) -> Parse<Parameter> {
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
