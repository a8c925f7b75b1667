//! Macros at work: Prosser's algorithm, in which each token knows the macros that it came out of and may not
//! expand again.

use std::rc::Rc;

use super::define::Macro;
use super::{MAX_EXPANSION, Preprocessor};
use crate::ast::Symbol;
use crate::diagnostic::Diagnostic;
use crate::lexer::{Token, TokenKind, lex};
use crate::span::Span;

/// Deepest nesting of macro calls in the arguments of macro calls.
const MAX_ARGUMENT_DEPTH: usize = 100;

/// A token, and the macros it came out of.
#[derive(Clone)]
pub struct Expanded {
    pub token: Token,
    pub hidden: Hidden,
}

/// The macros that a token may not expand to again.
pub type Hidden = Option<Rc<HiddenNode>>;

/// One link of [`Hidden`].
pub struct HiddenNode {
    name: Symbol,
    rest: Hidden,
}

fn hides(hidden: &Hidden, name: &str) -> bool {
    let mut at = hidden;
    while let Some(node) = at {
        if *node.name == *name {
            return true;
        }
        at = &node.rest;
    }
    false
}

fn hide(hidden: &Hidden, name: &Symbol) -> Hidden {
    if hides(hidden, name) {
        return hidden.clone();
    }
    Some(Rc::new(HiddenNode {
        name: name.clone(),
        rest: hidden.clone(),
    }))
}

fn both(a: &Hidden, b: &Hidden) -> Hidden {
    let mut common = None;
    let mut at = a;
    while let Some(node) = at {
        if hides(b, &node.name) {
            common = hide(&common, &node.name);
        }
        at = &node.rest;
    }
    common
}

/// Whether the preprocessor itself says what `name` stands for.
pub fn is_builtin(name: &str) -> bool {
    matches!(name, "__LINE__" | "__FILE__")
}

impl Preprocessor<'_> {
    /// Expands a word if it is a macro; gives it back if it is none.
    pub fn expand_word(&mut self, word: Expanded) -> Option<Token> {
        let Expanded { token, hidden } = word;
        if hides(&hidden, &token.text) {
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
            hidden = both(&hidden, &close);
        }
        let hidden = hide(&hidden, &token.text);
        self.sources
            .mark_expansion(token.span, &token.text, definition.span);
        let body = self.substitute(&token, &definition, &arguments);
        self.push_body(&token, body, &hidden);
        None
    }

    /// Expands the macros of a line on its own.
    pub fn expand_line(&mut self, line: &[Token]) -> Vec<Token> {
        let line = line.iter().map(|token| Expanded {
            token: token.clone(),
            hidden: None,
        });
        self.expand_apart(line.collect())
            .into_iter()
            .map(|expanded| expanded.token)
            .collect()
    }

    /// Expands tokens as if nothing followed them.
    fn expand_apart(&mut self, mut tokens: Vec<Expanded>) -> Vec<Expanded> {
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

    /// Takes the `(` of a macro's use, if it comes next; newlines may stand before it.
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

    /// The arguments up to the `)`, and what that hides. `None` after a complaint.
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
            format!("the use of macro `{}` has no end", name.text),
        )
        .label(name.span, "its `)` is missing");
        self.report(match at {
            Some(span) => diagnostic.label(span, "directives cannot stand among its arguments"),
            None => diagnostic,
        });
    }

    /// The macro's body with arguments in the place of parameters.
    fn substitute(
        &mut self,
        name: &Token,
        definition: &Macro,
        arguments: &[Vec<Expanded>],
    ) -> Vec<Expanded> {
        let body = &definition.body;
        let index_of = |token: &Token| {
            let names = &definition.parameters.as_ref()?.names;
            names.iter().position(|name| *name == token.text)
        };
        let mut expanded: Vec<Option<Vec<Expanded>>> = vec![None; arguments.len()];
        let mut result: Vec<Expanded> = Vec::new();
        let mut at = 0;
        while let Some(token) = body.get(at) {
            let following = body.get(at + 1);
            let plain = |token: &Token| Expanded {
                token: Token {
                    span: name.span,
                    ..token.clone()
                },
                hidden: None,
            };
            if token.kind == TokenKind::Hash
                && let Some(index) = following.and_then(index_of)
            {
                result.push(plain(&self.stringify(token, &arguments[index])));
                at += 2;
                continue;
            }
            if token.kind == TokenKind::Paste
                && let Some(right) = following
            {
                let right = match index_of(right) {
                    Some(index) => arguments[index].clone(),
                    None => vec![plain(right)],
                };
                self.paste(name, &mut result, right);
                at += 2;
                continue;
            }
            at += 1;
            let Some(index) = index_of(token) else {
                result.push(plain(token));
                continue;
            };
            if following.is_some_and(|next| next.kind == TokenKind::Paste) {
                result.extend(arguments[index].iter().cloned());
                if arguments[index].is_empty() {
                    result.push(placemarker(token));
                }
                continue;
            }
            if expanded[index].is_none() {
                expanded[index] = Some(self.expand_apart(arguments[index].clone()));
            }
            let start = result.len();
            result.extend(expanded[index].iter().flatten().cloned());
            if let Some(first) = result.get_mut(start) {
                first.token.joint = token.joint;
            }
            if result.len() > MAX_EXPANSION {
                break;
            }
        }
        result.retain(|expanded| expanded.token.kind != TokenKind::Newline);
        result
    }

    /// `left ## right`
    fn paste(&mut self, name: &Token, result: &mut Vec<Expanded>, right: Vec<Expanded>) {
        let mut right = right.into_iter();
        let Some(first) = right.next() else {
            return;
        };
        match result.pop() {
            Some(left) if left.token.kind != TokenKind::Newline => {
                let text = format!("{}{}", left.token.text, first.token.text);
                let mut tokens = lex(&text, name.span.file, &mut self.interner);
                tokens.pop();
                let valid = match tokens.as_slice() {
                    [token] => !matches!(token.kind, TokenKind::Invalid(_) | TokenKind::Comment),
                    _ => false,
                };
                if !valid {
                    self.report(
                        Diagnostic::error(
                            "bad-paste",
                            format!("`##` makes `{text}`, which is no token"),
                        )
                        .label(name.span, format!("in this use of `{}`", name.text)),
                    );
                    result.extend([left, first]);
                    result.extend(right);
                    return;
                }
                result.extend(tokens.into_iter().map(|token| Expanded {
                    token: Token {
                        span: left.token.span,
                        joint: left.token.joint,
                        ..token
                    },
                    hidden: both(&left.hidden, &first.hidden),
                }));
            }
            _ => result.push(first),
        }
        result.extend(right);
    }

    /// `# parameter`
    fn stringify(&mut self, hash: &Token, argument: &[Expanded]) -> Token {
        let mut text = String::from("\"");
        for (index, Expanded { token, .. }) in argument.iter().enumerate() {
            if index > 0 && !token.joint {
                text.push(' ');
            }
            for c in token.text.chars() {
                if token.kind == TokenKind::String && matches!(c, '"' | '\\') {
                    text.push('\\');
                }
                text.push(c);
            }
        }
        text.push('"');
        Token {
            kind: TokenKind::String,
            text: self.interner.intern(&text),
            ..hash.clone()
        }
    }

    /// Puts what a macro has given in front of what is still to be read.
    fn push_body(&mut self, name: &Token, body: Vec<Expanded>, hidden: &Hidden) {
        if body.len() > self.expansion_left {
            self.too_large(Some(name.span));
            return;
        }
        self.expansion_left -= body.len();
        let first = self.pending.len() + body.len();
        for mut expanded in body.into_iter().rev() {
            expanded.hidden = union(&expanded.hidden, hidden);
            self.pending.push(expanded);
            if self.pending.len() == first {
                break;
            }
        }
        if let Some(expanded) = self.pending.last_mut() {
            expanded.token.joint = name.joint;
        }
    }

    fn too_large(&mut self, span: Option<Span>) {
        if std::mem::replace(&mut self.expansion_stopped, true) {
            return;
        }
        self.expansion_left = 0;
        let diagnostic = Diagnostic::error("macro-expansion", "macros expand to too much")
            .note(format!(
                "all macros together may give {MAX_EXPANSION} tokens, and be nested {MAX_ARGUMENT_DEPTH} deep"
            ));
        self.report(match span {
            Some(span) => diagnostic.label(span, "this is where it gets too much"),
            None => diagnostic,
        });
    }
}

fn union(a: &Hidden, b: &Hidden) -> Hidden {
    let mut result = b.clone();
    let mut at = a;
    while let Some(node) = at {
        result = hide(&result, &node.name);
        at = &node.rest;
    }
    result
}

/// Stands for an empty argument beside `##`.
fn placemarker(token: &Token) -> Expanded {
    Expanded {
        token: Token {
            kind: TokenKind::Newline,
            ..token.clone()
        },
        hidden: None,
    }
}

fn count(arguments: usize) -> String {
    match arguments {
        1 => "1 argument".to_owned(),
        n => format!("{n} arguments"),
    }
}
