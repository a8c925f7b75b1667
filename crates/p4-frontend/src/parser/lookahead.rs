//! Lookahead that distinguishes types from expressions without consuming tokens.

use super::{Parser, is_name};
use crate::lexer::TokenKind;

/// A sequence of tokens that has the form of a type.
#[derive(Clone, Copy)]
pub struct TypeScan {
    /// Index behind it.
    pub end: usize,
    /// Whether it must be a type: it has a keyword, type arguments, or a name that is known to be a type.
    pub certain: bool,
}

impl Parser {
    /// Whether the tokens at `index` have the form of a type.
    pub fn scan_type(&self, index: usize) -> Option<TypeScan> {
        self.scan_type_within(index, super::MAX_DEPTH)
    }

    fn scan_type_within(&self, index: usize, depth: u32) -> Option<TypeScan> {
        let depth = depth.checked_sub(1)?;
        let mut scan = match self.kind_at(index) {
            TokenKind::Bool
            | TokenKind::Error
            | TokenKind::MatchKind
            | TokenKind::StringType
            | TokenKind::Void => TypeScan {
                end: index + 1,
                certain: true,
            },
            TokenKind::Bit | TokenKind::Int | TokenKind::Varbit => TypeScan {
                end: self.scan_width(index + 1)?,
                certain: true,
            },
            TokenKind::Tuple => TypeScan {
                end: self.scan_args_within(index + 1, depth)?.end,
                certain: true,
            },
            TokenKind::List if self.kind_at(index + 1) == TokenKind::LAngle => TypeScan {
                end: self.scan_args_within(index + 1, depth)?.end,
                certain: true,
            },
            TokenKind::Dot if is_name(self.kind_at(index + 1)) => {
                self.scan_named(index + 1, depth)?
            }
            kind if is_name(kind) => self.scan_named(index, depth)?,
            _ => return None,
        };
        while self.kind_at(scan.end) == TokenKind::LBracket {
            self.delimiters.partners[scan.end]?;
            scan.end = self.behind(scan.end);
        }
        Some(scan)
    }

    /// `Name`, `Name<...>`
    fn scan_named(&self, index: usize, depth: u32) -> Option<TypeScan> {
        let certain = self.scopes.is_type(&self.tokens[index].text);
        if self.kind_at(index + 1) != TokenKind::LAngle {
            return Some(TypeScan {
                end: index + 1,
                certain,
            });
        }
        let args = self.scan_args_within(index + 1, depth)?;
        Some(TypeScan {
            end: args.end,
            certain: true,
        })
    }

    /// `<8>`, `<(N > 1 ? N : 1)>`, or nothing
    fn scan_width(&self, index: usize) -> Option<usize> {
        if self.kind_at(index) != TokenKind::LAngle {
            return Some(index);
        }
        let mut end = index + 1;
        loop {
            match self.kind_at(end) {
                TokenKind::RAngle => return Some(end + 1),
                TokenKind::LParen | TokenKind::LBracket => end = self.behind(end),
                TokenKind::Semicolon
                | TokenKind::LBrace
                | TokenKind::RBrace
                | TokenKind::RParen
                | TokenKind::Assign
                | TokenKind::Eof => return None,
                _ => end += 1,
            }
        }
    }

    /// `<T, bit<8>, _>`. Certain if one of the arguments is.
    fn scan_args_within(&self, index: usize, depth: u32) -> Option<TypeScan> {
        if self.kind_at(index) != TokenKind::LAngle {
            return None;
        }
        let mut scan = TypeScan {
            end: index + 1,
            certain: false,
        };
        while self.kind_at(scan.end) != TokenKind::RAngle {
            if self.kind_at(scan.end) == TokenKind::Underscore {
                scan.end += 1;
                scan.certain = true;
            } else {
                let argument = self.scan_type_within(scan.end, depth)?;
                scan.end = argument.end;
                scan.certain |= argument.certain;
            }
            match self.kind_at(scan.end) {
                TokenKind::Comma => scan.end += 1,
                TokenKind::RAngle => {}
                _ => return None,
            }
        }
        scan.end += 1;
        Some(scan)
    }

    /// Whether the next `<` opens type arguments of a call or of a type before a dot.
    ///
    /// `a < b > (c)` would compare a `bool`, which P4 does not allow, so it is a call. `f(a < b, c > (d))` may contain
    /// two comparisons: this depends on whether `b` or `c` is known to be a type.
    pub fn is_at_type_args(&self) -> bool {
        let Some(scan) = self.scan_args_within(self.at, super::MAX_DEPTH) else {
            return false;
        };
        let single = !self.tokens[self.at..scan.end]
            .iter()
            .any(|token| token.kind == TokenKind::Comma);
        match self.kind_at(scan.end) {
            TokenKind::LParen => single || scan.certain,
            TokenKind::Dot => scan.certain,
            _ => false,
        }
    }

    /// Whether the next `(` opens a cast.
    pub fn is_at_cast(&self) -> bool {
        let Some(scan) = self.scan_type(self.at + 1) else {
            return false;
        };
        if self.kind_at(scan.end) != TokenKind::RParen {
            return false;
        }
        match self.kind_at(scan.end + 1) {
            TokenKind::Number
            | TokenKind::String
            | TokenKind::True
            | TokenKind::False
            | TokenKind::This
            | TokenKind::LBrace
            | TokenKind::InvalidHeader
            | TokenKind::Not
            | TokenKind::Tilde
            | TokenKind::Dots
            | TokenKind::Error => true,
            TokenKind::LParen | TokenKind::Minus | TokenKind::Plus | TokenKind::Dot => scan.certain,
            kind => is_name(kind),
        }
    }

    /// Whether a declaration of a variable or instance comes next, rather than an assignment or call.
    pub fn is_at_local_declaration(&self) -> bool {
        let Some(scan) = self.scan_type(self.at) else {
            return false;
        };
        match self.kind_at(scan.end) {
            TokenKind::LParen => is_name(self.kind_at(self.behind(scan.end))),
            // `bit _;` is not a valid declaration, but intended as one.
            TokenKind::Underscore => scan.certain,
            kind => is_name(kind),
        }
    }
}
