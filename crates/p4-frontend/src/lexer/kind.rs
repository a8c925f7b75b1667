//! The kinds of token.

use std::fmt;

use logos::{Filter, Lexer, Logos};

/// Why a piece of text is not a token.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Fault {
    /// A character that is not used in P4.
    #[default]
    UnknownCharacter,
    /// `"` without a closing `"`.
    UnterminatedString,
    /// A name with letters beyond ASCII.
    ForeignName,
    /// Words in single quotes.
    SingleQuotes,
}

/// Defines [`TokenKind`] and the tables of tokens with a fixed text.
macro_rules! token_kinds {
    (
        keywords { $($keyword:ident $word:tt,)* }
        symbols { $($symbol:ident $sign:tt,)* }
    ) => {
        /// The kind of a token.
        #[derive(Logos, Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[logos(error = Fault)]
        #[logos(skip r"[ \t\r\f\v\u{feff}]+")]
        #[logos(skip r"\\[ \t\f\v]*\r?\n")]
        #[logos(skip(r"//[^\n]*", allow_greedy = true))]
        pub enum TokenKind {
            /// A name that is not a keyword.
            #[regex("[A-Za-z][A-Za-z0-9_]*|_[A-Za-z0-9_]+")]
            Ident,
            /// A digit and all following letters and digits.
            #[regex("[0-9][A-Za-z0-9_]*")]
            Number,
            /// `"..."`
            #[token("\"", string)]
            String,
            $(
                #[doc = concat!("`", $word, "`")]
                #[token($word)]
                $keyword,
            )*
            $(
                #[doc = concat!("`", $sign, "`")]
                #[token($sign)]
                $symbol,
            )*
            /// The end of a line. The parser never receives these.
            #[token("\n")]
            Newline,
            /// The end of the text.
            Eof,
            /// An unterminated comment. Terminated ones are skipped.
            #[token("/*", comment)]
            Comment,
            /// An invalid token.
            #[regex(r"[^\x00-\x7f\u{feff}]", |_| Fault::UnknownCharacter)]
            #[regex(r"'[A-Za-z0-9_ .-]*'", |_| Fault::SingleQuotes)]
            Invalid(Fault),
        }

        impl TokenKind {
            /// Every keyword.
            pub const KEYWORDS: &[&str] = &[$($word,)*];

            /// Whether this is a keyword. `_` is one.
            pub fn is_keyword(self) -> bool {
                matches!(self, $(TokenKind::$keyword)|*)
            }

            /// The keyword or symbol. `None` for kinds without a fixed text.
            pub fn symbol(self) -> Option<&'static str> {
                match self {
                    $(TokenKind::$keyword => Some($word),)*
                    $(TokenKind::$symbol => Some($sign),)*
                    _ => None,
                }
            }
        }
    };
}

token_kinds! {
    keywords {
        Abstract "abstract", Action "action", Actions "actions", Apply "apply", Bit "bit",
        Bool "bool", Break "break", Const "const", Continue "continue", Control "control",
        Default "default", Else "else", Entries "entries", Enum "enum", Error "error", Exit "exit",
        Extern "extern", False "false", For "for", Header "header", HeaderUnion "header_union",
        If "if", In "in", InOut "inout", Int "int", Key "key", List "list", MatchKind "match_kind",
        Out "out", Package "package", Parser "parser", Priority "priority", Return "return",
        Select "select", State "state", StringType "string", Struct "struct", Switch "switch",
        Table "table", This "this", Transition "transition", True "true", Tuple "tuple",
        Type "type", Typedef "typedef", ValueSet "value_set", Varbit "varbit", Void "void",
        Underscore "_",
    }
    symbols {
        LParen "(", RParen ")", LBracket "[", RBracket "]", LBrace "{", RBrace "}",
        InvalidHeader "{#}", LAngle "<", RAngle ">", Semicolon ";", Colon ":", Comma ",", Dot ".",
        DotDot "..", Dots "...", Question "?", At "@", Hash "#", Paste "##", Not "!", Tilde "~",
        Plus "+", PlusColon "+:", Minus "-", Star "*", Slash "/", Percent "%", SatAdd "|+|",
        SatSub "|-|", Concat "++", Shl "<<", Le "<=", Ge ">=", EqEq "==", Ne "!=", Amp "&",
        AndAnd "&&", Mask "&&&", Pipe "|", OrOr "||", Caret "^", Assign "=", AddAssign "+=",
        SubAssign "-=", MulAssign "*=", DivAssign "/=", ModAssign "%=", SatAddAssign "|+|=",
        SatSubAssign "|-|=", ShlAssign "<<=", ShrAssign ">>=", AndAssign "&=", OrAssign "|=",
        XorAssign "^=",
    }
}

/// Called after the opening quote: reads up to the closing one. Strings may contain newlines. If the closing quote is
/// missing, the rest of the line is taken, except trailing brackets and punctuation.
fn string(lexer: &mut Lexer<TokenKind>) -> Result<(), Fault> {
    let rest = lexer.remainder().as_bytes();
    let mut at = 0;
    while let Some(byte) = rest.get(at) {
        match byte {
            b'"' => {
                lexer.bump(at + 1);
                return Ok(());
            }
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    let line = lexer.remainder().lines().next().unwrap_or("");
    let line = line.trim_end_matches([')', ']', '}', ',', ';', ' ', '\t', '\r']);
    lexer.bump(line.len());
    Err(Fault::UnterminatedString)
}

/// Called after `/*`: reads up to `*/`, or the end of the text.
fn comment(lexer: &mut Lexer<TokenKind>) -> Filter<()> {
    match lexer.remainder().find("*/") {
        Some(at) => {
            lexer.bump(at + 2);
            Filter::Skip
        }
        None => {
            lexer.bump(lexer.remainder().len());
            Filter::Emit(())
        }
    }
}

impl TokenKind {
    /// Whether this is a name or a keyword, which are valid names of macros.
    pub fn is_word(self) -> bool {
        self == TokenKind::Ident || self.is_keyword()
    }
}

impl fmt::Display for TokenKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(symbol) = self.symbol() {
            return write!(f, "`{symbol}`");
        }
        f.write_str(match self {
            TokenKind::Ident => "a name",
            TokenKind::Number => "a number",
            TokenKind::String => "a string",
            TokenKind::Newline => "the end of the line",
            TokenKind::Eof => "the end of the file",
            _ => "an unknown character",
        })
    }
}
