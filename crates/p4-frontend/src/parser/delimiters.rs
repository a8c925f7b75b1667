//! Brackets and their partners, found before parsing.
//!
//! A missing brace makes everything behind it look wrong. Finding it first lets the parser tell of it alone.

use crate::diagnostic::{Diagnostic, MAX_ERRORS};
use crate::lexer::{Token, TokenKind};

/// Brackets without partners.
pub struct Unbalanced {
    /// Index of the first token from which on errors are but consequences.
    pub from: usize,
    /// What to tell.
    pub diagnostics: Vec<Diagnostic>,
}

/// For each token the index of the bracket that closes it, and the brackets that have no partner.
pub fn pair_up(tokens: &[Token]) -> (Vec<Option<u32>>, Option<Unbalanced>) {
    let mut pairing = Pairing {
        tokens,
        partners: vec![None; tokens.len()],
        open: Vec::new(),
        suspect: None,
        from: usize::MAX,
        diagnostics: Vec::new(),
    };
    for (index, token) in tokens.iter().enumerate() {
        match token.kind {
            TokenKind::LParen | TokenKind::LBracket | TokenKind::LBrace => pairing.open.push(index),
            TokenKind::RParen => pairing.close(index, TokenKind::LParen),
            TokenKind::RBracket => pairing.close(index, TokenKind::LBracket),
            TokenKind::RBrace => pairing.close(index, TokenKind::LBrace),
            TokenKind::Eof => pairing.end(index),
            _ => {}
        }
    }
    let unbalanced = (!pairing.diagnostics.is_empty()).then_some(Unbalanced {
        from: pairing.from,
        diagnostics: pairing.diagnostics,
    });
    (pairing.partners, unbalanced)
}

struct Pairing<'t> {
    tokens: &'t [Token],
    partners: Vec<Option<u32>>,
    open: Vec<usize>,
    /// A pair of braces whose columns differ: perhaps one of them belongs to another.
    suspect: Option<(usize, usize)>,
    from: usize,
    diagnostics: Vec<Diagnostic>,
}

impl Pairing<'_> {
    fn close(&mut self, index: usize, opener: TokenKind) {
        if self.diagnostics.len() >= MAX_ERRORS {
            return;
        }
        let partner = self
            .open
            .iter()
            .rposition(|open| self.tokens[*open].kind == opener);
        let Some(partner) = partner else {
            self.stray(index);
            return;
        };
        // A parenthesis does not reach out of braces: `{ a); }` has a stray one.
        let braces_between = self.open[partner + 1..]
            .iter()
            .any(|open| self.tokens[*open].kind == TokenKind::LBrace);
        if braces_between && self.later_partner(index) {
            self.stray(index);
            return;
        }
        for unclosed in self.open.split_off(partner + 1) {
            self.unclosed(unclosed, index);
        }
        if let Some(open) = self.open.pop() {
            self.partners[open] = Some(index as u32);
            if opener == TokenKind::LBrace && self.suspect.is_none() && self.differs(open, index) {
                self.suspect = Some((open, index));
            }
        }
    }

    /// Whether the innermost open brace is closed before the next bracket of the kind of `index`.
    fn later_partner(&self, index: usize) -> bool {
        let mut depth = 0_u32;
        for token in &self.tokens[index + 1..] {
            match token.kind {
                TokenKind::LBrace => depth += 1,
                TokenKind::RBrace if depth == 0 => return true,
                TokenKind::RBrace => depth -= 1,
                kind if kind == self.tokens[index].kind && depth == 0 => return false,
                _ => {}
            }
        }
        false
    }

    /// Whether a closing brace that starts its line is not below the line of its partner.
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

    fn stray(&mut self, index: usize) {
        let token = &self.tokens[index];
        self.from = self.from.min(index);
        self.diagnostics.push(
            Diagnostic::error("unbalanced", format!("{} closes nothing", token.kind))
                .label(token.span, "nothing is open that this could close"),
        );
    }

    fn unclosed(&mut self, open: usize, at: usize) {
        let (opener, found) = (&self.tokens[open], &self.tokens[at]);
        self.from = self.from.min(open);
        let mut diagnostic =
            Diagnostic::error("unbalanced", format!("{} is never closed", opener.kind))
                .label(opener.span, "opened here")
                .label(found.span, format!("{} comes before its end", found.kind));
        if opener.kind == TokenKind::LBrace
            && let Some((open, close)) = self.suspect.filter(|(inner, _)| *inner > open)
        {
            diagnostic = diagnostic
                .label(
                    self.tokens[open].span,
                    "perhaps it is this one that is not closed",
                )
                .label(
                    self.tokens[close].span,
                    "for this `}`, which closes it now, is indented otherwise",
                );
        }
        self.diagnostics.push(diagnostic);
    }

    fn end(&mut self, index: usize) {
        // The outermost tells all; those inside of it follow from it.
        let open = std::mem::take(&mut self.open);
        if let Some(last) = open.last() {
            self.unclosed(*last, index);
        }
    }
}
