//! Matches brackets before parsing.
//!
//! A missing brace makes everything behind it appear wrong. Because it is found first, the parser reports only the
//! brace.

use std::ops::RangeInclusive;

use crate::diagnostic::{Diagnostic, MAX_ERRORS};
use crate::lexer::{Token, TokenKind};

use super::characters::opens_annotation;

/// The pairs of brackets.
pub struct Delimiters {
    /// For each opening bracket, the index of its partner.
    pub partners: Vec<Option<u32>>,
    /// Errors about unmatched brackets, each with the index of its token.
    pub diagnostics: Vec<(usize, Diagnostic)>,
    /// Ranges of tokens in which syntax errors are only consequences.
    pub shadows: Vec<RangeInclusive<usize>>,
}

/// Pairs up the brackets.
pub fn pair_up(tokens: &[Token]) -> Delimiters {
    let mut pairing = Pairing {
        tokens,
        open: Vec::new(),
        odd_pair: None,
        new_item: None,
        found: Delimiters {
            partners: vec![None; tokens.len()],
            diagnostics: Vec::new(),
            shadows: Vec::new(),
        },
    };
    for (index, token) in tokens.iter().enumerate() {
        match token.kind {
            TokenKind::LParen | TokenKind::LBracket | TokenKind::LBrace => pairing.open.push(index),
            TokenKind::RParen | TokenKind::RBracket | TokenKind::RBrace => pairing.close(index),
            TokenKind::Semicolon => pairing.end_of_element(index),
            TokenKind::Eof => pairing.end_of_file(index),
            kind if token.line_start && starts_item(kind) => {
                pairing.end_of_element(index);
                pairing.start_of_item(index);
            }
            _ => {}
        }
    }
    pairing.found
}

/// Keywords that can only start a declaration or statement.
pub fn starts_item(kind: TokenKind) -> bool {
    starts_top_level_item(kind)
        || matches!(
            kind,
            TokenKind::Action
                | TokenKind::Break
                | TokenKind::Const
                | TokenKind::Continue
                | TokenKind::Exit
                | TokenKind::For
                | TokenKind::If
                | TokenKind::Return
                | TokenKind::Switch
                | TokenKind::Table
                | TokenKind::Transition
                | TokenKind::ValueSet
        )
}

/// Keywords that can only start a top-level declaration.
fn starts_top_level_item(kind: TokenKind) -> bool {
    matches!(
        kind,
        TokenKind::Control
            | TokenKind::Enum
            | TokenKind::Extern
            | TokenKind::Header
            | TokenKind::HeaderUnion
            | TokenKind::Package
            | TokenKind::Parser
            | TokenKind::Struct
            | TokenKind::Typedef
    )
}

struct Pairing<'t> {
    tokens: &'t [Token],
    open: Vec<usize>,
    /// A pair of braces with different columns: perhaps one of them belongs to another.
    odd_pair: Option<(usize, usize)>,
    /// An open brace, and a declaration whose position suggests that the brace should be closed.
    new_item: Option<(usize, usize)>,
    found: Delimiters,
}

impl Pairing<'_> {
    fn kind(&self, index: usize) -> TokenKind {
        self.tokens[index].kind
    }

    fn close(&mut self, index: usize) {
        if self.found.diagnostics.len() >= MAX_ERRORS {
            return;
        }
        let opener = opener_of(self.kind(index));
        let innermost = self.open.last().map(|open| self.kind(*open));
        if innermost == Some(opener) {
            self.pair(index);
        } else if opener == TokenKind::LBrace {
            self.close_brace(index);
        } else if self.has_opener_in_braces(opener) {
            while self
                .open
                .last()
                .is_some_and(|open| self.kind(*open) != opener)
            {
                self.unclosed(index);
            }
            self.pair(index);
        } else if innermost.is_some_and(|kind| kind != TokenKind::LBrace) {
            self.mismatch(index);
        } else {
            self.stray(index);
        }
    }

    /// `}` while a parenthesis is open, or nothing.
    fn close_brace(&mut self, index: usize) {
        let inside_of_brace = self
            .open
            .iter()
            .any(|open| self.kind(*open) == TokenKind::LBrace);
        if !inside_of_brace {
            self.stray(index);
            return;
        }
        while self
            .open
            .last()
            .is_some_and(|open| self.kind(*open) != TokenKind::LBrace)
        {
            self.unclosed(index);
        }
        self.pair(index);
    }

    fn pair(&mut self, close: usize) {
        let Some(open) = self.open.pop() else {
            return;
        };
        self.found.partners[open] = Some(close as u32);
        let is_brace = self.kind(open) == TokenKind::LBrace;
        if is_brace && self.odd_pair.is_none() && self.differs(open, close) {
            self.odd_pair = Some((open, close));
        }
    }

    fn has_opener_in_braces(&self, opener: TokenKind) -> bool {
        let kinds = self.open.iter().rev().map(|open| self.kind(*open));
        kinds
            .take_while(|kind| *kind != TokenKind::LBrace)
            .any(|kind| kind == opener)
    }

    /// `;`, or the start of something new. Neither occurs in parentheses, except those of `for` and of annotations.
    fn end_of_element(&mut self, index: usize) {
        while let Some(open) = self.open.last().copied() {
            let free = self.kind(open) == TokenKind::LBrace
                || opens_annotation(&self.tokens[..open])
                || open > 0 && self.kind(open - 1) == TokenKind::For;
            if free || self.found.diagnostics.len() >= MAX_ERRORS {
                return;
            }
            self.unclosed(index);
        }
    }

    /// A top-level declaration that is not further to the right than the enclosing braces.
    fn start_of_item(&mut self, index: usize) {
        let token = &self.tokens[index];
        if self.new_item.is_some() || !starts_top_level_item(token.kind) {
            return;
        }
        let brace = self.open.iter().find(|open| {
            self.kind(**open) == TokenKind::LBrace && self.column_of_line(**open) >= token.column
        });
        self.new_item = brace.map(|open| (*open, index));
    }

    /// Whether a closing brace that starts its line is not aligned with the line of its partner.
    fn differs(&self, open: usize, close: usize) -> bool {
        let (opener, closer) = (&self.tokens[open], &self.tokens[close]);
        closer.line_start
            && opener.span.file == closer.span.file
            && self.column_of_line(open) != closer.column
    }

    /// Column of the first token of the line.
    fn column_of_line(&self, index: usize) -> u32 {
        let line = self.tokens[..=index]
            .iter()
            .rposition(|token| token.line_start);
        self.tokens[line.unwrap_or(index)].column
    }

    /// A closing bracket without an open one.
    fn stray(&mut self, index: usize) {
        let token = &self.tokens[index];
        let diagnostic = Diagnostic::error(
            "unbalanced",
            format!("{} without an opening delimiter", token.kind),
        )
        .label(token.span, "nothing to close");
        let end = match token.kind {
            TokenKind::RBrace => self.tokens.len(),
            _ => self.end_of_line(index),
        };
        self.tell(index, diagnostic, end);
    }

    /// A closing bracket of a different kind than the open one.
    fn mismatch(&mut self, index: usize) {
        let Some(open) = self.open.pop() else {
            return;
        };
        let (opener, found) = (&self.tokens[open], &self.tokens[index]);
        let diagnostic = Diagnostic::error(
            "unbalanced",
            format!("{} cannot close {}", found.kind, opener.kind),
        )
        .label(found.span, format!("{} cannot close it", found.kind))
        .label(opener.span, "opened here");
        self.tell(open, diagnostic, self.end_of_line(index));
    }

    /// Removes the innermost open bracket, which is not closed before the token at `index`.
    fn unclosed(&mut self, index: usize) {
        let Some(open) = self.open.pop() else {
            return;
        };
        let (opener, found) = (&self.tokens[open], &self.tokens[index]);
        let diagnostic =
            Diagnostic::error("unbalanced", format!("{} is never closed", opener.kind))
                .label(opener.span, "opened here")
                .label(
                    found.span,
                    format!("{} comes before it is closed", found.kind),
                );
        self.tell(open, diagnostic, index);
    }

    fn end_of_file(&mut self, index: usize) {
        let outermost = self.open.first().copied();
        let Some(innermost) = self.open.last().copied() else {
            return;
        };
        let in_file = |(open, _): &(usize, usize)| self.open.contains(open);
        if let Some((open, item)) = self.new_item.filter(in_file) {
            let (opener, item) = (&self.tokens[open], &self.tokens[item]);
            let diagnostic =
                Diagnostic::error("unbalanced", format!("{} is never closed", opener.kind))
                    .label(opener.span, "opened here")
                    .label(item.span, "perhaps a `}` is missing before this");
            self.tell(open, diagnostic, index);
            return;
        }
        let (opener, end) = (&self.tokens[innermost], &self.tokens[index]);
        let mut diagnostic =
            Diagnostic::error("unbalanced", format!("{} is never closed", opener.kind))
                .label(opener.span, "opened here")
                .label(end.span, "the file ends before it is closed");
        if let Some((open, close)) = self.odd_pair
            && Some(open) > outermost
        {
            let labels = [
                (open, "perhaps this is the one that is not closed"),
                (close, "this `}` closes it, but is in another column"),
            ];
            for (index, text) in labels {
                diagnostic = diagnostic.label(self.tokens[index].span, text);
            }
        }
        self.tell(innermost, diagnostic, index);
    }

    fn tell(&mut self, from: usize, diagnostic: Diagnostic, to: usize) {
        self.found.shadows.push(from..=to);
        self.found.diagnostics.push((from, diagnostic));
    }

    /// Index of the `;` or brace that ends the construct that contains the token at `index`.
    fn end_of_line(&self, index: usize) -> usize {
        let rest = self.tokens[index..].iter();
        let length = rest.take_while(|token| {
            !matches!(
                token.kind,
                TokenKind::Semicolon | TokenKind::LBrace | TokenKind::RBrace
            )
        });
        index + length.count()
    }
}

fn opener_of(closer: TokenKind) -> TokenKind {
    match closer {
        TokenKind::RParen => TokenKind::LParen,
        TokenKind::RBracket => TokenKind::LBracket,
        _ => TokenKind::LBrace,
    }
}
