//! Macro expansion: Prosser's algorithm, in which each token has the set of macros from which it was expanded and which
//! it must not expand again.

use super::define::Macro;
use super::hidden::Hidden;
use super::{MAX_EXPANSION, Preprocessor};
use crate::diagnostic::Diagnostic;
use crate::lexer::{Token, TokenKind};
use crate::span::Span;

/// The maximum nesting of macro calls in arguments of macro calls.
const MAX_ARGUMENT_DEPTH: usize = 100;
/// The maximum number of nested macros from which a token may be expanded.
const MAX_MACRO_DEPTH: usize = 1000;

/// A token, and the macros from which it was expanded.
#[derive(Clone)]
pub struct Expanded {
    pub token: Token,
    pub hidden: Hidden,
}

/// Whether `name` is predefined by the preprocessor.
pub fn is_builtin(name: &str) -> bool {
    matches!(name, "__LINE__" | "__FILE__")
}

impl Preprocessor<'_> {
    /// Expands a word if it is a macro. Returns it otherwise.
    pub fn expand_word(&mut self, word: Expanded) -> Option<Token> {
        let Expanded { token, hidden } = word;
        if hidden.contains(&token.text) || self.expansion_stopped {
            return Some(token);
        }
        if is_builtin(&token.text) {
            return Some(self.builtin(token));
        }
        let Some(definition) = self.macros.get(&token.text).cloned() else {
            return Some(token);
        };
        let mut hidden = hidden;
        let mut arguments = Vec::new();
        if definition.parameters.is_some() {
            if !self.take_opening() {
                return Some(token);
            }
            let Some((found, close)) = self.arguments(&token, &definition) else {
                return Some(token);
            };
            arguments = found;
            hidden = hidden.intersection(&close);
        }
        if hidden.len() >= MAX_MACRO_DEPTH {
            self.too_large(Some(token.span));
            return Some(token);
        }
        let hidden = hidden.with(&token.text);
        self.sources
            .mark_expansion(token.span, &token.text, definition.span);
        let body = self.substitute(&token, &definition, &arguments);
        self.push_body(&token, body, &hidden);
        None
    }

    /// Expands the macros of a separate line.
    pub fn expand_line(&mut self, line: &[Token]) -> Vec<Token> {
        let line = line.iter().map(|token| Expanded {
            token: token.clone(),
            hidden: Hidden::default(),
        });
        self.expand_apart(line.collect())
            .into_iter()
            .map(|expanded| expanded.token)
            .collect()
    }

    /// Expands tokens as if nothing followed them.
    pub fn expand_apart(&mut self, mut tokens: Vec<Expanded>) -> Vec<Expanded> {
        if self.expansion_depth >= MAX_ARGUMENT_DEPTH {
            self.too_large(tokens.first().map(|expanded| expanded.token.span));
            return Vec::new();
        }
        tokens.reverse();
        let pending = std::mem::replace(&mut self.pending, tokens);
        let files_hidden = std::mem::replace(&mut self.files_hidden, true);
        self.expansion_depth += 1;
        let mut result = Vec::new();
        while let Some(expanded) = self.next() {
            if !expanded.token.kind.is_word() {
                result.push(expanded);
                continue;
            }
            let hidden = expanded.hidden.clone();
            if let Some(token) = self.expand_word(expanded) {
                result.push(Expanded { token, hidden });
            }
        }
        self.expansion_depth -= 1;
        self.files_hidden = files_hidden;
        self.pending = pending;
        result
    }

    fn builtin(&mut self, mut token: Token) -> Token {
        let (name, line) = self.sources.presumed(token.span);
        let text;
        (token.kind, text) = if &*token.text == "__LINE__" {
            (TokenKind::Number, line.to_string())
        } else {
            (TokenKind::String, format!("{name:?}"))
        };
        token.text = self.interner.intern(&text);
        token
    }

    /// Consumes the `(` of a macro call, if it comes next, possibly after newlines.
    fn take_opening(&mut self) -> bool {
        if let Some(next) = self.pending.last() {
            let found = next.token.kind == TokenKind::LParen;
            if found {
                self.pending.pop();
            }
            return found;
        }
        if self.files_hidden {
            return false;
        }
        let Some(input) = self.inputs.last_mut() else {
            return false;
        };
        let mut at = input.next;
        while input.tokens[at].kind == TokenKind::Newline {
            at += 1;
        }
        let found = input.tokens[at].kind == TokenKind::LParen;
        if found {
            input.next = at + 1;
        }
        found
    }

    /// The arguments up to the `)`, and the hidden set of the `)`. `None` after an error.
    fn arguments(
        &mut self,
        name: &Token,
        definition: &Macro,
    ) -> Option<(Vec<Vec<Expanded>>, Hidden)> {
        let parameters = definition.parameters.as_ref()?;
        let mut arguments = vec![Vec::new()];
        let mut depth = 0;
        let close = loop {
            let next = self.next();
            let kind = next.as_ref().map(|next| next.token.kind);
            match (kind, next) {
                (None | Some(TokenKind::Eof), _) => {
                    self.unclosed(name, None);
                    return None;
                }
                (Some(TokenKind::Hash), Some(hash)) if hash.token.line_start => {
                    self.unclosed(name, Some(hash.token.span));
                    self.rest_of_line();
                    return None;
                }
                (Some(TokenKind::Newline), _) => {}
                (Some(TokenKind::RParen), Some(close)) if depth == 0 => break close,
                (Some(TokenKind::Comma), _)
                    if depth == 0
                        && !(parameters.variadic && arguments.len() == parameters.names.len()) =>
                {
                    arguments.push(Vec::new());
                }
                (Some(kind), Some(next)) => {
                    match kind {
                        TokenKind::LParen => depth += 1,
                        TokenKind::RParen => depth -= 1,
                        _ => {}
                    }
                    if let Some(argument) = arguments.last_mut() {
                        argument.push(next);
                    }
                }
                (Some(_), None) => return None,
            }
        };
        let wanted = parameters.names.len();
        if wanted == 0 && arguments[0].is_empty() {
            arguments.clear();
        }
        if parameters.variadic && arguments.len() + 1 == wanted {
            arguments.push(Vec::new());
        }
        if arguments.len() != wanted {
            self.report(
                Diagnostic::error(
                    "macro-arguments",
                    format!(
                        "macro `{}` takes {}, not {}",
                        name.text,
                        count(wanted),
                        arguments.len()
                    ),
                )
                .label(name.span.to(close.token.span), "used here")
                .label(definition.span, "defined here"),
            );
            return None;
        }
        Some((arguments, close.hidden))
    }

    fn unclosed(&mut self, name: &Token, at: Option<Span>) {
        let diagnostic = Diagnostic::error(
            "macro-arguments",
            format!("the call of macro `{}` is not closed", name.text),
        )
        .label(name.span, "no closing `)`");
        self.report(match at {
            Some(span) => diagnostic.label(span, "directives are not allowed among its arguments"),
            None => diagnostic,
        });
    }

    /// Inserts the result of a macro before the remaining input.
    fn push_body(&mut self, name: &Token, body: Vec<Expanded>, hidden: &Hidden) {
        if body.len() > self.expansion_left {
            self.too_large(Some(name.span));
            return;
        }
        self.expansion_left -= body.len();
        let first = self.pending.len() + body.len();
        for mut expanded in body.into_iter().rev() {
            expanded.hidden = hidden.union(&expanded.hidden);
            self.pending.push(expanded);
            if self.pending.len() == first {
                break;
            }
        }
        if let Some(expanded) = self.pending.last_mut() {
            expanded.token.joint = name.joint;
        }
    }

    pub fn too_large(&mut self, span: Option<Span>) {
        if std::mem::replace(&mut self.expansion_stopped, true) {
            return;
        }
        self.expansion_left = 0;
        let diagnostic = Diagnostic::error("macro-expansion", "the expansion of macros is too large")
            .note(format!(
                "all macros together may give {MAX_EXPANSION} tokens; {MAX_MACRO_DEPTH} may be nested in bodies, and {MAX_ARGUMENT_DEPTH} in arguments"
            ));
        self.report(match span {
            Some(span) => diagnostic.label(span, "the limit is exceeded here"),
            None => diagnostic,
        });
    }
}

fn count(arguments: usize) -> String {
    match arguments {
        1 => "1 argument".to_owned(),
        n => format!("{n} arguments"),
    }
}
