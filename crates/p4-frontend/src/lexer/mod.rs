//! Converts text to tokens.
//!
//! The lexer supports the preprocessor as follows: newlines and `#` are tokens, and each token that follows the
//! previous one without space is marked. Errors are tokens too ([`TokenKind::Invalid`]), so that text in skipped
//! conditionals may contain anything.

mod kind;
mod literal;

use std::collections::HashSet;
use std::rc::Rc;

use logos::Logos;

pub use kind::{Fault, TokenKind};
pub use literal::{number, string};

use crate::ast::Symbol;
use crate::span::{FileId, Span};

/// A token and where it is.
#[derive(Clone, Debug)]
pub struct Token {
    /// Its kind.
    pub kind: TokenKind,
    /// Its text. Strings include their quotes.
    pub text: Symbol,
    /// Where the user wrote it, or used the macro that produced it.
    pub span: Span,
    /// Whether there is no space, comment or newline between this token and the one before.
    pub joint: bool,
    /// Whether it is the first token of its line.
    pub line_start: bool,
    /// Number of octets before it on its line.
    pub column: u32,
}

/// Shares the text of equal tokens.
#[derive(Debug, Default)]
pub struct Interner(HashSet<Symbol>);

impl Interner {
    /// The unique symbol with this text.
    pub fn intern(&mut self, text: &str) -> Symbol {
        if let Some(symbol) = self.0.get(text) {
            return symbol.clone();
        }
        let symbol: Symbol = Rc::from(text);
        self.0.insert(symbol.clone());
        symbol
    }
}

/// The tokens of a file, including newlines, terminated by [`TokenKind::Eof`].
pub fn lex(text: &str, file: FileId, interner: &mut Interner) -> Vec<Token> {
    let mut tokens = Vec::with_capacity(text.len() / 4);
    let mut lexer = TokenKind::lexer(text);
    let mut previous_end = usize::MAX;
    let mut line_start = true;
    let mut line = 0;
    while let Some(kind) = lexer.next() {
        let mut kind = kind.unwrap_or_else(TokenKind::Invalid);
        if kind.is_word() || is_foreign_letter(kind, lexer.slice()) {
            // The lexer's tables only contain ASCII: with all Unicode letters they would be ten times as large.
            let more = lexer.remainder();
            let end = more.find(|c: char| c != '_' && !c.is_alphanumeric());
            let length = end.unwrap_or(more.len());
            lexer.bump(length);
            if length > 0 || !kind.is_word() {
                kind = TokenKind::Invalid(Fault::ForeignName);
            }
        }
        let range = lexer.span();
        tokens.push(Token {
            kind,
            text: interner.intern(lexer.slice()),
            span: Span::new(file, range.start as u32, range.end as u32),
            joint: range.start == previous_end,
            line_start,
            column: (range.start - line) as u32,
        });
        line_start = kind == TokenKind::Newline;
        if line_start {
            line = range.end;
        }
        previous_end = range.end;
    }
    let end = text.len() as u32;
    tokens.push(Token {
        kind: TokenKind::Eof,
        text: interner.intern(""),
        span: Span::new(file, end, end),
        joint: false,
        line_start,
        column: end - line as u32,
    });
    tokens
}

fn is_foreign_letter(kind: TokenKind, text: &str) -> bool {
    kind == TokenKind::Invalid(Fault::UnknownCharacter) && text.starts_with(char::is_alphabetic)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str) -> Vec<TokenKind> {
        let mut tokens = lex(text, FileId(0), &mut Interner::default());
        assert_eq!(
            tokens.pop().map(|token| token.kind),
            Some(TokenKind::Eof),
            "the last token is the end"
        );
        tokens.into_iter().map(|token| token.kind).collect()
    }

    #[test]
    fn right_angles_stay_single() {
        use TokenKind::*;
        assert_eq!(kinds("a>>b"), [Ident, RAngle, RAngle, Ident]);
        assert_eq!(kinds("a>>=b >= c"), [Ident, ShrAssign, Ident, Ge, Ident]);
    }

    #[test]
    fn longest_operator_wins() {
        use TokenKind::*;
        assert_eq!(kinds("|+|= |-| | +"), [SatAddAssign, SatSub, Pipe, Plus]);
        assert_eq!(kinds("1..2...&&&"), [Number, DotDot, Number, Dots, Mask]);
        assert_eq!(kinds("{#} + : +:"), [InvalidHeader, Plus, Colon, PlusColon]);
    }

    #[test]
    fn comments_and_continuations_vanish() {
        use TokenKind::*;
        assert_eq!(
            kinds("a /* \n */ b // c\n d \\\n e"),
            [Ident, Ident, Newline, Ident, Ident]
        );
        assert_eq!(kinds("a \\ \t\r\n b"), [Ident, Ident]);
    }

    #[test]
    fn strings_span_lines_and_hide_quotes() {
        use TokenKind::*;
        assert_eq!(kinds("\"a\\\"b\nc\" x"), [String, Ident]);
        assert_eq!(
            kinds("x \"abc\ny"),
            [Ident, Invalid(Fault::UnterminatedString), Newline, Ident]
        );
        assert_eq!(kinds("x /* y\n"), [Ident, Comment]);
    }

    #[test]
    fn names_with_letters_beyond_ascii_are_one_token() {
        use TokenKind::*;
        let foreign = Invalid(Fault::ForeignName);
        assert_eq!(
            kinds("größe = éa_1;"),
            [foreign, Assign, foreign, Semicolon]
        );
        assert_eq!(kinds("ifé _é é"), [foreign, foreign, foreign]);
        assert_eq!(
            kinds("1é € a"),
            [Number, foreign, Invalid(Fault::UnknownCharacter), Ident]
        );
        assert_eq!(kinds("\u{feff}a"), [Ident]);
    }

    #[test]
    fn joint_tells_of_space() {
        let tokens = lex("f(x) (y)", FileId(0), &mut Interner::default());
        let joint: Vec<bool> = tokens.iter().map(|token| token.joint).collect();
        assert_eq!(
            joint,
            [false, true, true, true, false, true, true, false],
            "the second parenthesis is apart"
        );
    }
}
