//! Characters that P4 does not use: allowed in unstructured annotations, errors elsewhere.

use crate::diagnostic::{Diagnostic, MAX_ERRORS};
use crate::lexer::{Fault, Token, TokenKind};

/// Tokens that the parser can process.
pub struct Sifted {
    /// Without unknown characters outside of annotations.
    pub tokens: Vec<Token>,
    /// Diagnostics, each with the index of its token.
    pub diagnostics: Vec<(usize, Diagnostic)>,
}

/// Removes unknown characters, and converts intended names and strings.
pub fn sift(tokens: Vec<Token>) -> Sifted {
    let mut sifted = Sifted {
        tokens: Vec::with_capacity(tokens.len()),
        diagnostics: Vec::new(),
    };
    let mut depth = 0_u32;
    for mut token in tokens {
        match token.kind {
            TokenKind::LParen if depth > 0 || opens_annotation(&sifted.tokens) => depth += 1,
            TokenKind::RParen => depth = depth.saturating_sub(1),
            TokenKind::Invalid(fault) if depth == 0 || fault == Fault::UnterminatedString => {
                if sifted.diagnostics.len() < MAX_ERRORS {
                    let at = sifted.tokens.len();
                    sifted.diagnostics.push((at, describe(fault, &token)));
                }
                token.kind = match fault {
                    Fault::ForeignName => TokenKind::Ident,
                    Fault::SingleQuotes | Fault::UnterminatedString => TokenKind::String,
                    Fault::UnknownCharacter => continue,
                };
            }
            _ => {}
        }
        sifted.tokens.push(token);
    }
    sifted
}

/// Whether the last tokens are `@name`.
pub fn opens_annotation(tokens: &[Token]) -> bool {
    match tokens {
        [.., at, name] => at.kind == TokenKind::At && name.kind.is_word(),
        _ => false,
    }
}

fn describe(fault: Fault, token: &Token) -> Diagnostic {
    let text = &token.text;
    match fault {
        Fault::UnknownCharacter => Diagnostic::error(
            "unknown-character",
            format!("`{text}` is not a character of P4"),
        )
        .label(token.span, "only allowed in comments and strings"),
        Fault::ForeignName => {
            Diagnostic::error("unknown-character", format!("`{text}` is not a name"))
                .label(token.span, "not only ASCII letters, digits and `_`")
        }
        Fault::SingleQuotes => {
            Diagnostic::error("unknown-character", "`'` does not enclose a string")
                .label(token.span, "in single quotes")
                .help("strings are in double quotes: \"...\"")
        }
        Fault::UnterminatedString => {
            Diagnostic::error("unterminated-string", "unterminated string")
                .label(token.span, "no closing `\"`")
        }
    }
}
