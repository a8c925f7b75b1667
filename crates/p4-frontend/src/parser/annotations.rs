//! Annotations: `@name`, `@name(...)`, `@name[...]` and `@pragma` lines.

use super::{Parse, Parser, is_name};
use crate::ast::{Annotation, AnnotationBody, AnnotationToken, AnnotationTokenKind, Ident};
use crate::lexer::{self, TokenKind};

/// The only annotation in parentheses whose arguments are expressions, because v1model's lists have
/// names.
pub const FIELD_LIST: &str = "field_list";

impl Parser {
    /// optAnnotations
    pub fn annotations(&mut self) -> Parse<Vec<Annotation>> {
        let mut annotations = Vec::new();
        while self.is_at(TokenKind::At) {
            annotations.push(self.annotation()?);
        }
        Ok(annotations)
    }

    fn annotation(&mut self) -> Parse<Annotation> {
        let start = self.expect(TokenKind::At)?;
        if self.text() == "pragma" && !self.tokens[self.at].line_start {
            self.bump();
            let name = self.annotation_name()?;
            let mut tokens = Vec::new();
            while !self.is_at(TokenKind::Eof) && !self.tokens[self.at].line_start {
                tokens.push(self.annotation_token());
            }
            return Ok(Annotation {
                span: self.since(start),
                name,
                body: AnnotationBody::Unstructured(tokens),
            });
        }
        let name = self.annotation_name()?;
        let body = match self.kind() {
            TokenKind::LParen if &*name.name == FIELD_LIST => self.expressions()?,
            TokenKind::LParen => self.unstructured()?,
            TokenKind::LBracket => self.structured()?,
            _ => AnnotationBody::Empty,
        };
        Ok(Annotation {
            span: self.since(start),
            name,
            body,
        })
    }

    /// Any word can be the name of an annotation.
    fn annotation_name(&mut self) -> Parse<Ident> {
        if !self.kind().is_word() {
            return Err(self.unexpected("the annotation's name"));
        }
        let token = self.bump();
        Ok(Ident {
            name: token.text,
            span: token.span,
        })
    }

    /// "(" tokens with balanced parentheses ")"
    fn unstructured(&mut self) -> Parse<AnnotationBody> {
        let end = self.delimiters.partners[self.at];
        self.expect(TokenKind::LParen)?;
        let mut tokens = Vec::new();
        while !self.is_at(TokenKind::Eof) && end != Some(self.at as u32) {
            tokens.push(self.annotation_token());
        }
        self.expect(TokenKind::RParen)?;
        Ok(AnnotationBody::Unstructured(tokens))
    }

    /// "(" expressions ")"
    fn expressions(&mut self) -> Parse<AnnotationBody> {
        self.expect(TokenKind::LParen)?;
        let exprs = self.separated(TokenKind::RParen, Parser::expression)?;
        self.expect(TokenKind::RParen)?;
        Ok(AnnotationBody::Expressions(exprs))
    }

    fn annotation_token(&mut self) -> AnnotationToken {
        let token = self.bump();
        let other = AnnotationTokenKind::Other(token.text.clone());
        let kind = match token.kind {
            TokenKind::String => AnnotationTokenKind::String(lexer::string(&token.text).into()),
            TokenKind::Number => lexer::number(&token.text).map_or(other, AnnotationTokenKind::Int),
            _ => other,
        };
        AnnotationToken {
            span: token.span,
            text: token.text,
            kind,
        }
    }

    /// "[" expressions or key-value pairs "]"
    fn structured(&mut self) -> Parse<AnnotationBody> {
        self.expect(TokenKind::LBracket)?;
        let pairs = is_name(self.kind()) && self.nth(1) == TokenKind::Assign;
        let body = if pairs {
            AnnotationBody::KeyValues(self.separated(TokenKind::RBracket, Parser::field_value)?)
        } else {
            AnnotationBody::Expressions(self.separated(TokenKind::RBracket, Parser::expression)?)
        };
        self.expect(TokenKind::RBracket)?;
        Ok(body)
    }
}
