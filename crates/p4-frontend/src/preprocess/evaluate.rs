//! The conditions of `#if` and `#elif`.

use num_traits::ToPrimitive;

use super::Preprocessor;
use super::expand::is_builtin;
use crate::diagnostic::Diagnostic;
use crate::lexer::{self, Token, TokenKind};
use crate::span::Span;

/// The maximum nesting of parentheses and signs.
const MAX_DEPTH: usize = 100;

impl Preprocessor<'_> {
    /// Whether the condition is true. An invalid one is false, and reported.
    pub fn evaluate(&mut self, span: Span, rest: &[Token]) -> bool {
        let tokens = self.replace_defined(rest);
        let tokens = self.expand_line(&tokens);
        let end = tokens.last().map_or(span.after(), |last| last.span.after());
        let mut evaluator = Evaluator {
            tokens: &tokens,
            at: 0,
            depth: 0,
            end,
        };
        let value = evaluator
            .conditional()
            .and_then(|value| match evaluator.peek() {
                TokenKind::Eof => Ok(value),
                _ => Err(evaluator.fault("expected an operator")),
            });
        match value {
            Ok(value) => value != 0,
            Err((span, label)) => {
                self.report(
                    Diagnostic::error("bad-condition", "the condition cannot be evaluated")
                        .label(span, label),
                );
                false
            }
        }
    }

    /// Replaces `defined NAME` and `defined(NAME)` with 1 or 0.
    fn replace_defined(&mut self, tokens: &[Token]) -> Vec<Token> {
        let mut result = Vec::with_capacity(tokens.len());
        let mut rest = tokens;
        while let Some(token) = rest.first() {
            let kinds: Vec<_> = rest.iter().take(4).map(|token| token.kind).collect();
            let (name, length) = match kinds.as_slice() {
                [_, name, ..] if name.is_word() => (&rest[1], 2),
                [_, TokenKind::LParen, name, TokenKind::RParen] if name.is_word() => (&rest[2], 4),
                _ => (token, 0),
            };
            if &*token.text != "defined" || length == 0 {
                result.push(token.clone());
                rest = &rest[1..];
                continue;
            }
            let defined = self.macros.contains_key(&name.text) || is_builtin(&name.text);
            result.push(Token {
                kind: TokenKind::Number,
                text: self.interner.intern(if defined { "1" } else { "0" }),
                ..token.clone()
            });
            rest = &rest[length..];
        }
        result
    }
}

/// Location and error message.
type Fault = (Span, String);

/// C's arithmetic with 64 bits.
struct Evaluator<'t> {
    tokens: &'t [Token],
    at: usize,
    depth: usize,
    end: Span,
}

impl Evaluator<'_> {
    fn peek(&self) -> TokenKind {
        self.tokens
            .get(self.at)
            .map_or(TokenKind::Eof, |token| token.kind)
    }

    fn span(&self) -> Span {
        self.tokens
            .get(self.at)
            .map_or(self.end, |token| token.span)
    }

    fn fault(&self, label: &str) -> Fault {
        (self.span(), label.to_owned())
    }

    fn take(&mut self, kind: TokenKind) -> bool {
        let found = self.peek() == kind;
        self.at += usize::from(found);
        found
    }

    fn conditional(&mut self) -> Result<i64, Fault> {
        let condition = self.binary(0)?;
        if !self.take(TokenKind::Question) {
            return Ok(condition);
        }
        self.enter()?;
        let then = self.conditional()?;
        if !self.take(TokenKind::Colon) {
            return Err(self.fault("expected `:`"));
        }
        let otherwise = self.conditional()?;
        self.depth -= 1;
        Ok(if condition != 0 { then } else { otherwise })
    }

    fn enter(&mut self) -> Result<(), Fault> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(self.fault("nested too deeply"));
        }
        Ok(())
    }

    /// Operators with a higher precedence than `least`.
    fn binary(&mut self, least: u8) -> Result<i64, Fault> {
        let mut left = self.unary()?;
        while let Some((operator, strength, length)) = self.operator() {
            if strength <= least {
                break;
            }
            let at = self.span();
            self.at += length;
            let right = self.binary(strength)?;
            left = apply(operator, left, right).ok_or_else(|| (at, "division by zero".into()))?;
        }
        Ok(left)
    }

    /// The next operator, its precedence, and its number of tokens.
    fn operator(&self) -> Option<(&'static str, u8, usize)> {
        let next_joint = |kind| {
            self.tokens
                .get(self.at + 1)
                .is_some_and(|next| next.kind == kind && next.joint)
        };
        Some(match self.peek() {
            TokenKind::OrOr => ("||", 1, 1),
            TokenKind::AndAnd => ("&&", 2, 1),
            TokenKind::Pipe => ("|", 3, 1),
            TokenKind::Caret => ("^", 4, 1),
            TokenKind::Amp => ("&", 5, 1),
            TokenKind::EqEq => ("==", 6, 1),
            TokenKind::Ne => ("!=", 6, 1),
            TokenKind::RAngle if next_joint(TokenKind::RAngle) => (">>", 8, 2),
            TokenKind::Shl => ("<<", 8, 1),
            TokenKind::LAngle => ("<", 7, 1),
            TokenKind::RAngle => (">", 7, 1),
            TokenKind::Le => ("<=", 7, 1),
            TokenKind::Ge => (">=", 7, 1),
            TokenKind::Plus => ("+", 9, 1),
            TokenKind::Minus => ("-", 9, 1),
            TokenKind::Star => ("*", 10, 1),
            TokenKind::Slash => ("/", 10, 1),
            TokenKind::Percent => ("%", 10, 1),
            _ => return None,
        })
    }

    fn unary(&mut self) -> Result<i64, Fault> {
        self.enter()?;
        let value = if self.take(TokenKind::Not) {
            i64::from(self.unary()? == 0)
        } else if self.take(TokenKind::Minus) {
            self.unary()?.wrapping_neg()
        } else if self.take(TokenKind::Plus) {
            self.unary()?
        } else if self.take(TokenKind::Tilde) {
            !self.unary()?
        } else if self.take(TokenKind::LParen) {
            let value = self.conditional()?;
            if !self.take(TokenKind::RParen) {
                return Err(self.fault("expected `)`"));
            }
            value
        } else {
            self.operand()?
        };
        self.depth -= 1;
        Ok(value)
    }

    /// A number. Names that are not macros evaluate to 0.
    fn operand(&mut self) -> Result<i64, Fault> {
        let Some(token) = self.tokens.get(self.at) else {
            return Err(self.fault("expected a number or a name"));
        };
        let value = match token.kind {
            TokenKind::Number => {
                let literal =
                    lexer::number(&token.text).map_err(|message| (token.span, message))?;
                let value = literal.value.to_i64();
                value.ok_or_else(|| self.fault("does not fit in 64 bits"))?
            }
            kind if kind.is_word() => i64::from(kind == TokenKind::True),
            _ => return Err(self.fault("expected a number or a name")),
        };
        self.at += 1;
        Ok(value)
    }
}

/// `None` for division by zero.
fn apply(operator: &str, left: i64, right: i64) -> Option<i64> {
    let shift = right.clamp(0, 63) as u32;
    Some(match operator {
        "||" => i64::from(left != 0 || right != 0),
        "&&" => i64::from(left != 0 && right != 0),
        "|" => left | right,
        "^" => left ^ right,
        "&" => left & right,
        "==" => i64::from(left == right),
        "!=" => i64::from(left != right),
        "<" => i64::from(left < right),
        ">" => i64::from(left > right),
        "<=" => i64::from(left <= right),
        ">=" => i64::from(left >= right),
        "<<" => left.wrapping_shl(shift),
        ">>" => left.wrapping_shr(shift),
        "+" => left.wrapping_add(right),
        "-" => left.wrapping_sub(right),
        "*" => left.wrapping_mul(right),
        "/" if right != 0 => left.wrapping_div(right),
        "%" if right != 0 => left.wrapping_rem(right),
        _ => return None,
    })
}
