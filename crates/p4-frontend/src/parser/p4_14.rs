//! Recognizes programs in P4_14, whose syntax would cause errors throughout.

use crate::diagnostic::Diagnostic;
use crate::lexer::{Token, TokenKind};

/// The error for a program in P4_14, if `tokens` declare a `header_type`. No text in P4_16 does.
pub fn diagnose(tokens: &[Token]) -> Option<Diagnostic> {
    let declaration = tokens.windows(3).find(|window| {
        &*window[0].text == "header_type"
            && window[1].kind == TokenKind::Ident
            && window[2].kind == TokenKind::LBrace
    })?;
    let diagnostic = Diagnostic::error("p4-14", "the program is in P4_14; P4_16 is supported")
        .label(declaration[0].span, "only P4_14 has this declaration")
        .help("convert it with p4c: `p4test --std p4-14 --pp NEW.p4 OLD.p4`");
    Some(diagnostic)
}
