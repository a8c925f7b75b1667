//! Substitution of arguments in a macro's body: parameters, `#` and `##`.

use super::define::Macro;
use super::expand::Expanded;
use super::hidden::Hidden;
use super::{MAX_EXPANSION, Preprocessor};
use crate::diagnostic::Diagnostic;
use crate::lexer::{Token, TokenKind, lex};

/// The longest token that `#` and `##` may create.
const MAX_TOKEN: usize = 1 << 16;

impl Preprocessor<'_> {
    /// The macro's body with its parameters replaced by arguments.
    pub fn substitute(
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
                hidden: Hidden::default(),
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

    /// `left ## right`, where `left` is at the end of `result`
    fn paste(&mut self, name: &Token, result: &mut Vec<Expanded>, right: Vec<Expanded>) {
        let mut right = right.into_iter();
        let Some(first) = right.next() else {
            return;
        };
        let left = result
            .pop()
            .filter(|left| left.token.kind != TokenKind::Newline);
        match left {
            None => result.push(first),
            Some(left) => match self.joined(name, &left, &first) {
                Some(token) => result.push(token),
                None => result.extend([left, first]),
            },
        }
        result.extend(right);
    }

    /// Joins two tokens. `None` if they form two tokens, which are then kept (p4c preprocesses with an assembler's
    /// rules, which do so), or after an error.
    fn joined(&mut self, name: &Token, left: &Expanded, right: &Expanded) -> Option<Expanded> {
        let text = format!("{}{}", left.token.text, right.token.text);
        if text.len() > MAX_TOKEN {
            self.too_large(Some(name.span));
            return None;
        }
        let tokens = lex(&text, name.span.file, &mut self.interner);
        match tokens.as_slice() {
            [token, _eof] if !matches!(token.kind, TokenKind::Invalid(_) | TokenKind::Comment) => {
                Some(Expanded {
                    token: Token {
                        span: left.token.span,
                        joint: left.token.joint,
                        ..token.clone()
                    },
                    hidden: left.hidden.intersection(&right.hidden),
                })
            }
            [_, _, _eof] if right.token.kind == tokens[1].kind => None,
            _ => {
                let message = format!("`##` makes `{text}`, which is not a token");
                let label = format!("in this use of `{}`", name.text);
                self.report(Diagnostic::error("bad-paste", message).label(name.span, label));
                None
            }
        }
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
        if text.len() > MAX_TOKEN {
            self.too_large(Some(hash.span));
            text = "\"\"".to_owned();
        }
        Token {
            kind: TokenKind::String,
            text: self.interner.intern(&text),
            ..hash.clone()
        }
    }
}

/// A placeholder for an empty argument next to `##`.
fn placemarker(token: &Token) -> Expanded {
    Expanded {
        token: Token {
            kind: TokenKind::Newline,
            ..token.clone()
        },
        hidden: Hidden::default(),
    }
}
