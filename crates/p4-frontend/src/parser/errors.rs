//! Syntax errors, and error recovery.

use std::collections::HashSet;

use super::delimiters::starts_item;
use super::{MAX_DEPTH, Parse, Parser, Reported, is_name};
use crate::diagnostic::{Diagnostic, MAX_ERRORS};
use crate::lexer::{Token, TokenKind};
use crate::suggest::did_you_mean;

impl Parser {
    /// Reports that the next token is not `wanted`.
    pub fn unexpected(&mut self, wanted: &str) -> Reported {
        let token = &self.tokens[self.at];
        let message = format!("expected {wanted}, found {}", describe(token));
        let place = match token.kind {
            TokenKind::Eof => self.previous_span().after(),
            _ => token.span,
        };
        let mut diagnostic =
            Diagnostic::error("syntax", message).label(place, format!("expected {wanted}"));
        if wanted.contains("name") && token.kind.is_keyword() {
            diagnostic = diagnostic.note(format!("{} is a keyword", token.kind));
        }
        if let Some(help) = self.keyword_typo() {
            diagnostic = diagnostic.help(help);
        }
        self.report(diagnostic)
    }

    /// Reports an error at the next token.
    pub fn report(&mut self, diagnostic: Diagnostic) -> Reported {
        let at = self.at;
        let again = self.diagnostics.last().is_some_and(|(last, _)| *last == at);
        if !again {
            self.diagnostics.push((at, diagnostic));
        }
        if self.diagnostics.len() >= MAX_ERRORS {
            self.at = self.tokens.len() - 1;
        }
        Reported
    }

    /// Consumes the `;` that ends `what`. If it is missing at the end of a line, parsing continues as if it were
    /// present.
    pub fn semicolon(&mut self, what: &str) -> Parse<()> {
        if self.take(TokenKind::Semicolon) {
            return Ok(());
        }
        let typo = self.keyword_typo();
        let next = &self.tokens[self.at];
        let ends_here = next.line_start || matches!(next.kind, TokenKind::RBrace | TokenKind::Eof);
        let place = self.previous_span().after();
        let mut diagnostic = Diagnostic::error(
            "missing-semicolon",
            format!("expected `;` after {what}, found {}", describe(next)),
        )
        .label(place, "expected `;`");
        if let Some(help) = &typo {
            diagnostic = diagnostic.help(help);
        }
        let reported = self.report(diagnostic);
        if ends_here && typo.is_none() {
            return Ok(());
        }
        Err(reported)
    }

    /// The keyword that the first word of the declaration or statement closely resembles, if any.
    fn keyword_typo(&self) -> Option<String> {
        let first = &self.tokens[self.item_start];
        if first.kind != TokenKind::Ident || self.scopes.is_known(&first.text) {
            return None;
        }
        let keywords = TokenKind::KEYWORDS.iter().copied();
        did_you_mean(&first.text, keywords).map(|keyword| format!("did you mean `{keyword}`?"))
    }

    /// Reports a declaration or statement whose first word closely resembles a keyword, and is not a known type.
    pub fn check_first_word(&mut self) -> Parse<()> {
        let first = &self.tokens[self.at];
        // `Type f<Type>()` uses its type parameter before declaring it.
        let is_generic = self.nth(2) == TokenKind::LAngle;
        let is_first = self.item_start == self.at && !is_generic;
        let Some(help) = self.keyword_typo().filter(|_| is_first) else {
            return Ok(());
        };
        let diagnostic = Diagnostic::error("syntax", format!("there is no type `{}`", first.text))
            .label(first.span, "neither a keyword nor a type")
            .help(help);
        Err(self.report(diagnostic))
    }

    /// Reports nesting beyond [`MAX_DEPTH`], and stops parsing.
    pub fn too_deep(&mut self) -> Reported {
        let diagnostic = Diagnostic::error("nesting", "the program is nested too deeply")
            .label(self.span(), "too deep")
            .note(format!("at most {MAX_DEPTH} levels are allowed"));
        let reported = self.report(diagnostic);
        self.at = self.tokens.len() - 1;
        reported
    }

    /// Skips from an error to where the next element of a list may start: behind the `;` or the braces that end the
    /// element which started at token `start`, or to the `}` that ends the list.
    pub fn recover(&mut self, start: usize) {
        let fault = self.at;
        let mut at = start;
        loop {
            let token = &self.tokens[at];
            match token.kind {
                TokenKind::Eof => break,
                TokenKind::Semicolon if at >= fault => {
                    at += 1;
                    break;
                }
                TokenKind::RBrace if at >= fault => break,
                TokenKind::LBrace => {
                    at = self.behind(at);
                    if at > fault && self.kind_at(at) != TokenKind::Else {
                        break;
                    }
                }
                TokenKind::LParen | TokenKind::LBracket => at = self.behind(at),
                kind if at > fault
                    && token.line_start
                    && (starts_item(kind) || kind == TokenKind::At) =>
                {
                    break;
                }
                _ => at += 1,
            }
        }
        self.at = at.max(fault);
        let stuck = self.at == start && !self.is_at_end_of_braces();
        if stuck {
            self.bump();
        }
    }

    /// The index behind the bracket at `index` and its content.
    pub fn behind(&self, index: usize) -> usize {
        match self.delimiters.partners[index] {
            Some(partner) => partner as usize + 1,
            None => index + 1,
        }
    }

    /// All errors in source order, without those that are only consequences of others.
    pub fn into_diagnostics(self) -> Vec<Diagnostic> {
        let shadows = self.delimiters.shadows;
        let faults: HashSet<usize> = self.faults.iter().map(|(at, _)| *at).collect();
        let in_shadow =
            |at: &usize| faults.contains(at) || shadows.iter().any(|shadow| shadow.contains(at));
        let mut diagnostics = self.diagnostics;
        diagnostics.retain(|(at, _)| !in_shadow(at));
        diagnostics.extend(self.faults);
        diagnostics.extend(self.delimiters.diagnostics);
        diagnostics.sort_by_key(|(at, _)| *at);
        diagnostics.into_iter().map(|(_, d)| d).collect()
    }
}

/// Describes a token for messages.
fn describe(token: &Token) -> String {
    match token.kind {
        TokenKind::Ident | TokenKind::Number => format!("`{}`", token.text),
        TokenKind::String => format!("string {}", token.text.lines().next().unwrap_or("\"\"")),
        kind if kind.is_keyword() && !is_name(kind) => format!("keyword {kind}"),
        kind => kind.to_string(),
    }
}
