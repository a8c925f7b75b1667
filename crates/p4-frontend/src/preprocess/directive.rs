//! Lines that start with `#`.

use super::Preprocessor;
use crate::ast::Pragma;
use crate::diagnostic::Diagnostic;
use crate::lexer::{self, Token, TokenKind};
use crate::span::Span;
use crate::suggest::did_you_mean;

const DIRECTIVES: &[&str] = &[
    "include", "define", "undef", "if", "ifdef", "ifndef", "elif", "else", "endif", "line",
    "error", "warning", "pragma",
];

impl Preprocessor<'_> {
    /// Executes the directive whose `#` has just been read.
    pub fn directive(&mut self, hash: &Token) {
        let line = self.rest_of_line();
        let Some((name, rest)) = line.split_first() else {
            return;
        };
        let span = hash.span.to(name.span);
        match &*name.text {
            "include" => self.include(span, rest),
            "define" => self.define(span, rest),
            "undef" => self.undef(span, rest),
            "if" => {
                let condition = self.evaluate(span, rest);
                self.open(span, condition);
            }
            "ifdef" => {
                let condition = self.is_defined(span, rest).unwrap_or(false);
                self.open(span, condition);
            }
            "ifndef" => {
                let condition = !self.is_defined(span, rest).unwrap_or(true);
                self.open(span, condition);
            }
            "elif" => self.elif(span, rest),
            "else" => self.otherwise(span, rest),
            "endif" => self.close(span, rest),
            "line" => self.line(span, rest),
            "error" => self.message(Diagnostic::error, "user-error", span, rest),
            "warning" => self.message(Diagnostic::warning, "user-warning", span, rest),
            "pragma" => self.pragma(span, rest),
            _ if name.kind == TokenKind::Number => self.line(span, &line),
            _ => self.unknown(hash.span, name),
        }
    }

    /// A line that begins with no directive. p4c ignores such lines, but those that its `cpp` knows.
    fn unknown(&mut self, hash: Span, name: &Token) {
        let (span, text) = (hash.to(name.span), &name.text);
        let meant = match &**text {
            "import" | "include_next" => Some("include"),
            _ => did_you_mean(text, DIRECTIVES.iter().copied()),
        };
        let Some(meant) = meant else {
            return self.ignored_line(span);
        };
        self.report(
            Diagnostic::error("unknown-directive", format!("unknown directive `#{text}`"))
                .label(span, "not a directive")
                .help(format!("did you mean `#{meant}`?")),
        );
    }

    /// Warns of the first line that is ignored because it begins with `#` or `##` and no directive.
    pub fn ignored_line(&mut self, at: Span) {
        if std::mem::replace(&mut self.lines_ignored, true) {
            return;
        }
        self.report(
            Diagnostic::warning(
                "hash-comment",
                "lines that begin with `#` and no directive are ignored",
            )
            .label(at, "the first of them")
            .help("a comment begins with `//`"),
        );
    }

    /// The tokens up to the end of the line, which is consumed.
    pub fn rest_of_line(&mut self) -> Vec<Token> {
        let Some(input) = self.inputs.last_mut() else {
            return Vec::new();
        };
        let rest = &input.tokens[input.next..];
        let length = rest
            .iter()
            .position(|token| matches!(token.kind, TokenKind::Newline | TokenKind::Eof))
            .unwrap_or(0);
        let line = rest[..length].to_vec();
        input.next += length;
        if rest[length].kind == TokenKind::Newline {
            input.next += 1;
        }
        self.at_line_start = true;
        line
    }

    /// The text of a line's tokens as written by the user.
    pub fn text_of(&self, tokens: &[Token]) -> String {
        match (tokens.first(), tokens.last()) {
            (Some(first), Some(last)) => self.sources.text(first.span.to(last.span)).to_owned(),
            _ => String::new(),
        }
    }

    /// Reports tokens behind the end of a directive.
    pub fn nothing_after(&mut self, directive: &str, rest: &[Token]) {
        let (Some(first), Some(last)) = (rest.first(), rest.last()) else {
            return;
        };
        self.report(
            Diagnostic::warning(
                "extra-tokens",
                format!("text after `{directive}` has no effect"),
            )
            .label(first.span.to(last.span), "ignored"),
        );
    }

    /// `#line 3 "name"`, `# 3 "name" flags`: the next line is line 3 of that file.
    fn line(&mut self, span: Span, rest: &[Token]) {
        let line = rest
            .first()
            .filter(|token| token.kind == TokenKind::Number)
            .and_then(|token| token.text.parse().ok());
        let name = rest
            .get(1)
            .map(|token| (token.kind == TokenKind::String).then(|| lexer::string(&token.text)));
        let (Some(line), None | Some(Some(_))) = (line, &name) else {
            let at = rest.first().map_or(span.after(), |token| token.span);
            self.report(
                Diagnostic::error(
                    "bad-directive",
                    "`#line` needs a line number, and optionally a file",
                )
                .label(at, "expected a number")
                .help("for example `#line 12 \"main.p4\"`"),
            );
            return;
        };
        if let Some(input) = self.inputs.last() {
            let next = input.tokens[input.next].span;
            self.sources.mark_line(next, line, name.flatten());
        }
    }

    fn message(
        &mut self,
        severity: impl Fn(&'static str, String) -> Diagnostic,
        code: &'static str,
        span: Span,
        rest: &[Token],
    ) {
        let text = self.text_of(rest);
        let text = if text.is_empty() {
            "stopped by a directive".to_owned()
        } else {
            text
        };
        self.report(severity(code, text).label(span, "issued here"));
    }

    fn pragma(&mut self, span: Span, rest: &[Token]) {
        let end = rest.last().map_or(span, |token| token.span);
        self.pragmas.push(Pragma {
            span: span.to(end),
            text: self.text_of(rest),
        });
    }

    /// Whether the name behind `#ifdef`, `#ifndef` or `#undef` is defined.
    pub fn is_defined(&mut self, span: Span, rest: &[Token]) -> Option<bool> {
        let name = self.macro_name(span, rest)?;
        self.nothing_after("the name", &rest[1..]);
        Some(self.macros.contains_key(&name.text) || super::expand::is_builtin(&name.text))
    }

    /// The name that a directive on macros requires.
    pub fn macro_name(&mut self, span: Span, rest: &[Token]) -> Option<Token> {
        let at = match rest.first() {
            Some(token) if token.kind.is_word() => return Some(token.clone()),
            Some(token) => token.span,
            None => span.after(),
        };
        self.report(
            Diagnostic::error("bad-directive", "the name of a macro is missing")
                .label(at, "expected a name"),
        );
        None
    }
}
