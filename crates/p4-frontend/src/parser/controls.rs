//! Controls, actions and packages.

use super::declarations::Place;
use super::{Parse, Parser, Reported};
use crate::ast::{Control, ControlBody, DeclarationKind, Ident, Parameter};
use crate::diagnostic::Diagnostic;
use crate::lexer::TokenKind;

impl Parser {
    /// "control" name [ "<" types ">" ] "(" parameters ")" ( ";" | [ "(" parameters ")" ] body )
    pub fn control(&mut self) -> Parse<(Ident, DeclarationKind)> {
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

    /// "action" name "(" parameters ")" block
    pub fn action(&mut self) -> Parse<(Ident, DeclarationKind)> {
        self.expect(TokenKind::Action)?;
        let name = self.name("the action's name")?;
        self.scopes.declare_value(&name);
        self.scoped(|parser| {
            let params = parser.parameters()?;
            let body = parser.block()?;
            Ok((name, DeclarationKind::Action { params, body }))
        })
    }

    /// "package" name [ "<" types ">" ] "(" parameters ")" ";"
    pub fn package(&mut self) -> Parse<(Ident, DeclarationKind)> {
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

    /// [ "(" parameters ")" ]
    pub fn constructor_params(&mut self) -> Parse<Vec<Parameter>> {
        match self.kind() {
            TokenKind::LParen => self.parameters(),
            _ => Ok(Vec::new()),
        }
    }
}
