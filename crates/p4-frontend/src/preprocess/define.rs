//! `#define` and `#undef`.

use std::rc::Rc;

use super::Preprocessor;
use super::expand::is_builtin;
use crate::ast::Symbol;
use crate::diagnostic::Diagnostic;
use crate::lexer::{Token, TokenKind};
use crate::span::Span;

/// A macro.
pub struct Macro {
    /// Where its name is defined.
    pub span: Span,
    /// The parameters of a function-like macro.
    pub parameters: Option<Parameters>,
    /// Its replacement.
    pub body: Vec<Token>,
}

/// The parameters of a macro.
pub struct Parameters {
    /// In order.
    pub names: Vec<Symbol>,
    /// Whether the last one takes all remaining arguments.
    pub variadic: bool,
}

impl Macro {
    fn same_as(&self, other: &Macro) -> bool {
        let names = |of: &Macro| {
            of.parameters
                .as_ref()
                .map(|p| (p.names.clone(), p.variadic))
        };
        names(self) == names(other)
            && self.body.len() == other.body.len()
            && std::iter::zip(&self.body, &other.body).all(|(a, b)| a.text == b.text)
    }
}

impl Preprocessor<'_> {
    /// `#define NAME body`, `#define NAME(parameters) body`
    pub fn define(&mut self, span: Span, rest: &[Token]) {
        let Some(name) = self.macro_name(span, rest) else {
            return;
        };
        if is_builtin(&name.text) || &*name.text == "defined" {
            self.report(
                Diagnostic::error(
                    "bad-directive",
                    format!("`{}` cannot be defined", name.text),
                )
                .label(name.span, "this name is reserved"),
            );
            return;
        }
        let rest = &rest[1..];
        let like_function = rest
            .first()
            .is_some_and(|token| token.kind == TokenKind::LParen && token.joint);
        let (parameters, body) = if like_function {
            match self.parameters(rest) {
                Some((parameters, body)) => (Some(parameters), body),
                None => return,
            }
        } else {
            (None, rest)
        };
        if !self.check_pastes(body) {
            return;
        }
        let definition = Macro {
            span: name.span,
            parameters,
            body: body.to_vec(),
        };
        if let Some(old) = self.macros.get(&name.text)
            && !old.same_as(&definition)
        {
            let diagnostic = Diagnostic::warning(
                "macro-redefined",
                format!("macro `{}` is redefined", name.text),
            )
            .label(name.span, "this definition is used from here on")
            .label(old.span, "first defined here");
            self.report(diagnostic);
        }
        self.macros.insert(name.text, Rc::new(definition));
    }

    /// `#undef NAME`
    pub fn undef(&mut self, span: Span, rest: &[Token]) {
        if let Some(name) = self.macro_name(span, rest) {
            self.macros.remove(&name.text);
            self.nothing_after("the name", &rest[1..]);
        }
    }

    /// Splits `(a, b)` from the body. `rest` must start with the parenthesis.
    fn parameters<'t>(&mut self, rest: &'t [Token]) -> Option<(Parameters, &'t [Token])> {
        let mut parameters = Parameters {
            names: Vec::new(),
            variadic: false,
        };
        let mut at = 1;
        loop {
            let token = rest.get(at);
            match token.map(|token| token.kind) {
                Some(TokenKind::RParen) if parameters.names.is_empty() => {
                    return Some((parameters, &rest[at + 1..]));
                }
                Some(TokenKind::Dots) => {
                    parameters.names.push(self.interner.intern("__VA_ARGS__"));
                    parameters.variadic = true;
                }
                Some(kind) if kind.is_word() => parameters.names.push(rest[at].text.clone()),
                _ => return self.bad_parameters(rest, at, "expected a parameter's name"),
            }
            match rest.get(at + 1).map(|token| token.kind) {
                Some(TokenKind::RParen) => return Some((parameters, &rest[at + 2..])),
                Some(TokenKind::Comma) if !parameters.variadic => at += 2,
                _ => return self.bad_parameters(rest, at + 1, "expected `,` or `)`"),
            }
        }
    }

    fn bad_parameters<T>(&mut self, rest: &[Token], at: usize, label: &str) -> Option<T> {
        let span = match (rest.get(at), rest.last()) {
            (Some(token), _) => token.span,
            (None, Some(last)) => last.span.after(),
            (None, None) => return None,
        };
        self.report(
            Diagnostic::error(
                "bad-directive",
                "the macro's parameters are not a list of names",
            )
            .label(span, label)
            .label(rest[0].span, "the list starts here"),
        );
        None
    }

    /// Checks that `##` has an operand on each side.
    fn check_pastes(&mut self, body: &[Token]) -> bool {
        let ends = [body.first(), body.last()];
        let Some(paste) = ends
            .into_iter()
            .flatten()
            .find(|token| token.kind == TokenKind::Paste)
        else {
            return true;
        };
        self.report(
            Diagnostic::error("bad-directive", "`##` joins the tokens on both its sides")
                .label(paste.span, "nothing on one side of it"),
        );
        false
    }
}
