//! Characters that P4 has no use for: free in unstructured annotations, errors elsewhere.

use crate::diagnostic::{Diagnostic, MAX_ERRORS};
use crate::lexer::{Token, TokenKind};

/// The tokens without unknown characters outside of annotations, and what is to be said of those.
pub fn sift(tokens: Vec<Token>) -> (Vec<Token>, Vec<Diagnostic>) {
    let is_unknown = |token: &Token| matches!(token.kind, TokenKind::Invalid(_));
    if !tokens.iter().any(is_unknown) {
        return (tokens, Vec::new());
    }
    let mut kept: Vec<Token> = Vec::with_capacity(tokens.len());
    let mut diagnostics = Vec::new();
    let mut depth = 0_u32;
    for token in tokens {
        match token.kind {
            TokenKind::LParen if depth > 0 || opens_annotation(&kept) => depth += 1,
            TokenKind::RParen => depth = depth.saturating_sub(1),
            TokenKind::Invalid(_) if depth == 0 && diagnostics.len() >= MAX_ERRORS => continue,
            TokenKind::Invalid(_) if depth == 0 => {
                diagnostics.push(
                    Diagnostic::error(
                        "unknown-character",
                        format!("`{}` is no character of P4", token.text),
                    )
                    .label(token.span, "only comments and strings may hold it"),
                );
                continue;
            }
            _ => {}
        }
        kept.push(token);
    }
    (kept, diagnostics)
}

/// Whether `@name` comes last.
fn opens_annotation(tokens: &[Token]) -> bool {
    match tokens {
        [.., at, name] => at.kind == TokenKind::At && name.kind.is_word(),
        _ => false,
    }
}
