//! Keysets of select cases and table entries.

use super::{Parse, Parser};
use crate::ast::{Expr, ExprKind};
use crate::lexer::TokenKind;

impl Parser {
    /// keysetExpression: one keyset, or several in parentheses. The following `:` is not consumed.
    pub fn keyset(&mut self) -> Parse<Vec<Expr>> {
        let in_parentheses =
            self.is_at(TokenKind::LParen) && self.kind_at(self.behind(self.at)) == TokenKind::Colon;
        if !in_parentheses {
            return Ok(vec![self.simple_keyset()?]);
        }
        self.expect(TokenKind::LParen)?;
        let keys = self.separated(TokenKind::RParen, Parser::simple_keyset)?;
        if keys.is_empty() {
            return Err(self.unexpected("a keyset"));
        }
        self.expect(TokenKind::RParen)?;
        Ok(keys)
    }

    /// expression [ "&&&" expression | ".." expression ] | "default" | "_"
    fn simple_keyset(&mut self) -> Parse<Expr> {
        let special = match self.kind() {
            TokenKind::Default => Some(ExprKind::Default),
            TokenKind::Underscore => Some(ExprKind::DontCare),
            _ => None,
        };
        if let Some(kind) = special {
            let span = self.bump().span;
            return Ok(self.make(span, kind));
        }
        self.expression_or_range()
    }

    /// expression [ "&&&" expression | ".." expression ]
    pub fn expression_or_range(&mut self) -> Parse<Expr> {
        let first = self.expression()?;
        let is_mask = self.is_at(TokenKind::Mask);
        if !is_mask && !self.is_at(TokenKind::DotDot) {
            return Ok(first);
        }
        self.bump();
        let second = self.expression()?;
        let span = first.span.to(second.span);
        let (first, second) = (Box::new(first), Box::new(second));
        let kind = if is_mask {
            ExprKind::Mask {
                value: first,
                mask: second,
            }
        } else {
            ExprKind::Range {
                low: first,
                high: second,
            }
        };
        Ok(self.make(span, kind))
    }
}
