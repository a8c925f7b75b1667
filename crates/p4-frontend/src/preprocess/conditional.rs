//! `#if` and related directives.

use super::Preprocessor;
use crate::diagnostic::Diagnostic;
use crate::lexer::{Token, TokenKind};
use crate::span::Span;

/// An `#if` that is open.
pub struct Conditional {
    /// The directive's `#` and name.
    pub span: Span,
    /// Whether lines are currently read.
    pub active: bool,
    /// Whether a branch has been read, or none is to be read.
    pub taken: bool,
    /// The location of `#else`, if there has been one.
    pub otherwise: Option<Span>,
}

impl Preprocessor<'_> {
    /// Handles `#if`, `#ifdef`, `#ifndef` in active lines.
    pub fn open(&mut self, span: Span, condition: bool) {
        self.push_conditional(Conditional {
            span,
            active: condition,
            taken: condition,
            otherwise: None,
        });
    }

    fn push_conditional(&mut self, conditional: Conditional) {
        if let Some(input) = self.inputs.last_mut() {
            input.conditionals.push(conditional);
        }
    }

    fn is_active(&self) -> bool {
        let conditional = self
            .inputs
            .last()
            .and_then(|input| input.conditionals.last());
        conditional.is_none_or(|conditional| conditional.active)
    }

    /// Skips inactive lines, and handles the conditional directives among them.
    pub fn skip_inactive(&mut self) {
        while !self.is_active() {
            let Some(input) = self.inputs.last_mut() else {
                return;
            };
            let token = input.tokens[input.next].clone();
            match token.kind {
                TokenKind::Eof => return,
                TokenKind::Comment => {
                    input.next += 1;
                    self.unterminated_comment(token.span);
                }
                TokenKind::Hash if token.line_start => {
                    input.next += 1;
                    self.skipped_directive(&token);
                }
                _ => input.next += 1,
            }
        }
    }

    /// A directive among skipped lines. Only conditional directives have an effect.
    fn skipped_directive(&mut self, hash: &Token) {
        let line = self.rest_of_line();
        let Some(name) = line.first().filter(|token| token.kind.is_word()) else {
            return;
        };
        let span = hash.span.to(name.span);
        match &*name.text {
            "if" | "ifdef" | "ifndef" => self.push_conditional(Conditional {
                span,
                active: false,
                taken: true,
                otherwise: None,
            }),
            "elif" => self.elif(span, &line[1..]),
            "else" => self.otherwise(span, &line[1..]),
            "endif" => self.close(span, &line[1..]),
            _ => {}
        }
    }

    /// `#elif`
    pub fn elif(&mut self, span: Span, rest: &[Token]) {
        if !self.check_branch(span, "#elif") {
            return;
        }
        let wanted = self.innermost().is_some_and(|open| !open.taken);
        let condition = wanted && self.evaluate(span, rest);
        if let Some(open) = self.innermost() {
            open.active = condition;
            open.taken |= condition;
        }
    }

    /// `#else`
    pub fn otherwise(&mut self, span: Span, rest: &[Token]) {
        if !self.check_branch(span, "#else") {
            return;
        }
        self.nothing_after("#else", rest);
        if let Some(open) = self.innermost() {
            open.active = !open.taken;
            open.taken = true;
            open.otherwise = Some(span);
        }
    }

    /// `#endif`
    pub fn close(&mut self, span: Span, rest: &[Token]) {
        let open = self
            .inputs
            .last_mut()
            .and_then(|input| input.conditionals.pop());
        if open.is_none() {
            self.misplaced(span, "#endif");
            return;
        }
        self.nothing_after("#endif", rest);
    }

    fn innermost(&mut self) -> Option<&mut Conditional> {
        self.inputs.last_mut()?.conditionals.last_mut()
    }

    /// Whether a branch is allowed here. Reports an error if not.
    fn check_branch(&mut self, span: Span, name: &str) -> bool {
        let Some(open) = self.innermost() else {
            self.misplaced(span, name);
            return false;
        };
        let Some(otherwise) = open.otherwise else {
            return true;
        };
        let opened = open.span;
        self.report(
            Diagnostic::error("misplaced-directive", format!("`{name}` after `#else`"))
                .label(span, "this branch can never be taken")
                .label(otherwise, "`#else` is the last branch")
                .label(opened, "of this conditional"),
        );
        false
    }

    fn misplaced(&mut self, span: Span, name: &str) {
        self.report(
            Diagnostic::error("misplaced-directive", format!("`{name}` without `#if`"))
                .label(span, "no conditional is open here")
                .note("a conditional ends in the file in which it starts"),
        );
    }
}
