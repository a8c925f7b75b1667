//! The kinds of token.

use std::fmt;

use logos::{Filter, Lexer, Logos};

/// Why a piece of text is no token.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Fault {
    /// A character that P4 has no use for.
    #[default]
    UnknownCharacter,
    /// `"` without its partner.
    UnterminatedString,
    /// A name with letters beyond ASCII.
    ForeignName,
    /// Words in single quotes.
    SingleQuotes,
}

/// What a token is.
#[derive(Logos, Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[logos(error = Fault)]
#[logos(skip r"[ \t\r\f\v\u{feff}]+")]
#[logos(skip r"\\\r?\n")]
#[logos(skip(r"//[^\n]*", allow_greedy = true))]
pub enum TokenKind {
    /// A name that is no keyword.
    #[regex("[A-Za-z_][A-Za-z0-9_]*")]
    Ident,
    /// A digit and all letters and digits that follow.
    #[regex("[0-9][A-Za-z0-9_]*")]
    Number,
    /// `"..."`
    #[token("\"", string)]
    String,

    /// `abstract`
    #[token("abstract")]
    Abstract,
    /// `action`
    #[token("action")]
    Action,
    /// `actions`
    #[token("actions")]
    Actions,
    /// `apply`
    #[token("apply")]
    Apply,
    /// `bit`
    #[token("bit")]
    Bit,
    /// `bool`
    #[token("bool")]
    Bool,
    /// `break`
    #[token("break")]
    Break,
    /// `const`
    #[token("const")]
    Const,
    /// `continue`
    #[token("continue")]
    Continue,
    /// `control`
    #[token("control")]
    Control,
    /// `default`
    #[token("default")]
    Default,
    /// `else`
    #[token("else")]
    Else,
    /// `entries`
    #[token("entries")]
    Entries,
    /// `enum`
    #[token("enum")]
    Enum,
    /// `error`
    #[token("error")]
    Error,
    /// `exit`
    #[token("exit")]
    Exit,
    /// `extern`
    #[token("extern")]
    Extern,
    /// `false`
    #[token("false")]
    False,
    /// `for`
    #[token("for")]
    For,
    /// `header`
    #[token("header")]
    Header,
    /// `header_union`
    #[token("header_union")]
    HeaderUnion,
    /// `if`
    #[token("if")]
    If,
    /// `in`
    #[token("in")]
    In,
    /// `inout`
    #[token("inout")]
    InOut,
    /// `int`
    #[token("int")]
    Int,
    /// `key`
    #[token("key")]
    Key,
    /// `list`
    #[token("list")]
    List,
    /// `match_kind`
    #[token("match_kind")]
    MatchKind,
    /// `out`
    #[token("out")]
    Out,
    /// `package`
    #[token("package")]
    Package,
    /// `parser`
    #[token("parser")]
    Parser,
    /// `priority`
    #[token("priority")]
    Priority,
    /// `return`
    #[token("return")]
    Return,
    /// `select`
    #[token("select")]
    Select,
    /// `state`
    #[token("state")]
    State,
    /// `string`
    #[token("string")]
    StringType,
    /// `struct`
    #[token("struct")]
    Struct,
    /// `switch`
    #[token("switch")]
    Switch,
    /// `table`
    #[token("table")]
    Table,
    /// `this`
    #[token("this")]
    This,
    /// `transition`
    #[token("transition")]
    Transition,
    /// `true`
    #[token("true")]
    True,
    /// `tuple`
    #[token("tuple")]
    Tuple,
    /// `type`
    #[token("type")]
    Type,
    /// `typedef`
    #[token("typedef")]
    Typedef,
    /// `value_set`
    #[token("value_set")]
    ValueSet,
    /// `varbit`
    #[token("varbit")]
    Varbit,
    /// `void`
    #[token("void")]
    Void,
    /// `_`
    #[token("_", priority = 3)]
    Underscore,

    /// `(`
    #[token("(")]
    LParen,
    /// `)`
    #[token(")")]
    RParen,
    /// `[`
    #[token("[")]
    LBracket,
    /// `]`
    #[token("]")]
    RBracket,
    /// `{`
    #[token("{")]
    LBrace,
    /// `}`
    #[token("}")]
    RBrace,
    /// `{#}`
    #[token("{#}")]
    InvalidHeader,
    /// `<`
    #[token("<")]
    LAngle,
    /// `>`; two of them side by side are a shift
    #[token(">")]
    RAngle,
    /// `;`
    #[token(";")]
    Semicolon,
    /// `:`
    #[token(":")]
    Colon,
    /// `,`
    #[token(",")]
    Comma,
    /// `.`
    #[token(".")]
    Dot,
    /// `..`
    #[token("..")]
    DotDot,
    /// `...`
    #[token("...")]
    Dots,
    /// `?`
    #[token("?")]
    Question,
    /// `@`
    #[token("@")]
    At,
    /// `#`
    #[token("#")]
    Hash,
    /// `##`
    #[token("##")]
    Paste,
    /// `!`
    #[token("!")]
    Not,
    /// `~`
    #[token("~")]
    Tilde,
    /// `+`
    #[token("+")]
    Plus,
    /// `+:`
    #[token("+:")]
    PlusColon,
    /// `-`
    #[token("-")]
    Minus,
    /// `*`
    #[token("*")]
    Star,
    /// `/`
    #[token("/")]
    Slash,
    /// `%`
    #[token("%")]
    Percent,
    /// `|+|`
    #[token("|+|")]
    SatAdd,
    /// `|-|`
    #[token("|-|")]
    SatSub,
    /// `++`
    #[token("++")]
    Concat,
    /// `<<`
    #[token("<<")]
    Shl,
    /// `<=`
    #[token("<=")]
    Le,
    /// `>=`
    #[token(">=")]
    Ge,
    /// `==`
    #[token("==")]
    EqEq,
    /// `!=`
    #[token("!=")]
    Ne,
    /// `&`
    #[token("&")]
    Amp,
    /// `&&`
    #[token("&&")]
    AndAnd,
    /// `&&&`
    #[token("&&&")]
    Mask,
    /// `|`
    #[token("|")]
    Pipe,
    /// `||`
    #[token("||")]
    OrOr,
    /// `^`
    #[token("^")]
    Caret,
    /// `=`
    #[token("=")]
    Assign,
    /// `+=`
    #[token("+=")]
    AddAssign,
    /// `-=`
    #[token("-=")]
    SubAssign,
    /// `*=`
    #[token("*=")]
    MulAssign,
    /// `/=`
    #[token("/=")]
    DivAssign,
    /// `%=`
    #[token("%=")]
    ModAssign,
    /// `|+|=`
    #[token("|+|=")]
    SatAddAssign,
    /// `|-|=`
    #[token("|-|=")]
    SatSubAssign,
    /// `<<=`
    #[token("<<=")]
    ShlAssign,
    /// `>>=`
    #[token(">>=")]
    ShrAssign,
    /// `&=`
    #[token("&=")]
    AndAssign,
    /// `|=`
    #[token("|=")]
    OrAssign,
    /// `^=`
    #[token("^=")]
    XorAssign,

    /// The end of a line. The parser sees none of these.
    #[token("\n")]
    Newline,
    /// The end of the text.
    Eof,
    /// `/*`; with its comment it vanishes, and without end it is a fault.
    #[token("/*", comment)]
    Comment,
    /// No token at all.
    #[regex(r"[\p{XID_Start}_]\p{XID_Continue}*", |_| Fault::ForeignName, priority = 1)]
    #[regex(r"'[A-Za-z0-9_ .-]*'", |_| Fault::SingleQuotes)]
    Invalid(Fault),
}

/// After the opening quote: up to the closing one. Strings may hold newlines; when the closing quote is missing
/// the rest of the line is taken, but for the brackets and punctuation at its end.
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

/// After `/*`: up to `*/`.
fn comment(lexer: &mut Lexer<TokenKind>) -> Filter<()> {
    match lexer.remainder().find("*/") {
        Some(at) => {
            lexer.bump(at + 2);
            Filter::Skip
        }
        None => Filter::Emit(()),
    }
}

impl TokenKind {
    /// Whether this is a name or a keyword: what a macro can be called.
    pub fn is_word(self) -> bool {
        self == TokenKind::Ident || self.is_keyword()
    }

    /// Whether this is a keyword. `_` is one.
    pub fn is_keyword(self) -> bool {
        (TokenKind::Abstract..=TokenKind::Underscore).contains(&self)
    }

    /// The keyword or symbol; `None` for what has no fixed text.
    pub fn symbol(self) -> Option<&'static str> {
        KEYWORDS
            .iter()
            .chain(SYMBOLS)
            .find(|(kind, _)| *kind == self)
            .map(|(_, text)| *text)
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

/// Every keyword.
pub const KEYWORDS: &[(TokenKind, &str)] = &[
    (TokenKind::Abstract, "abstract"),
    (TokenKind::Action, "action"),
    (TokenKind::Actions, "actions"),
    (TokenKind::Apply, "apply"),
    (TokenKind::Bit, "bit"),
    (TokenKind::Bool, "bool"),
    (TokenKind::Break, "break"),
    (TokenKind::Const, "const"),
    (TokenKind::Continue, "continue"),
    (TokenKind::Control, "control"),
    (TokenKind::Default, "default"),
    (TokenKind::Else, "else"),
    (TokenKind::Entries, "entries"),
    (TokenKind::Enum, "enum"),
    (TokenKind::Error, "error"),
    (TokenKind::Exit, "exit"),
    (TokenKind::Extern, "extern"),
    (TokenKind::False, "false"),
    (TokenKind::For, "for"),
    (TokenKind::Header, "header"),
    (TokenKind::HeaderUnion, "header_union"),
    (TokenKind::If, "if"),
    (TokenKind::In, "in"),
    (TokenKind::InOut, "inout"),
    (TokenKind::Int, "int"),
    (TokenKind::Key, "key"),
    (TokenKind::List, "list"),
    (TokenKind::MatchKind, "match_kind"),
    (TokenKind::Out, "out"),
    (TokenKind::Package, "package"),
    (TokenKind::Parser, "parser"),
    (TokenKind::Priority, "priority"),
    (TokenKind::Return, "return"),
    (TokenKind::Select, "select"),
    (TokenKind::State, "state"),
    (TokenKind::StringType, "string"),
    (TokenKind::Struct, "struct"),
    (TokenKind::Switch, "switch"),
    (TokenKind::Table, "table"),
    (TokenKind::This, "this"),
    (TokenKind::Transition, "transition"),
    (TokenKind::True, "true"),
    (TokenKind::Tuple, "tuple"),
    (TokenKind::Type, "type"),
    (TokenKind::Typedef, "typedef"),
    (TokenKind::ValueSet, "value_set"),
    (TokenKind::Varbit, "varbit"),
    (TokenKind::Void, "void"),
    (TokenKind::Underscore, "_"),
];

const SYMBOLS: &[(TokenKind, &str)] = &[
    (TokenKind::LParen, "("),
    (TokenKind::RParen, ")"),
    (TokenKind::LBracket, "["),
    (TokenKind::RBracket, "]"),
    (TokenKind::LBrace, "{"),
    (TokenKind::RBrace, "}"),
    (TokenKind::InvalidHeader, "{#}"),
    (TokenKind::LAngle, "<"),
    (TokenKind::RAngle, ">"),
    (TokenKind::Semicolon, ";"),
    (TokenKind::Colon, ":"),
    (TokenKind::Comma, ","),
    (TokenKind::Dot, "."),
    (TokenKind::DotDot, ".."),
    (TokenKind::Dots, "..."),
    (TokenKind::Question, "?"),
    (TokenKind::At, "@"),
    (TokenKind::Hash, "#"),
    (TokenKind::Paste, "##"),
    (TokenKind::Not, "!"),
    (TokenKind::Tilde, "~"),
    (TokenKind::Plus, "+"),
    (TokenKind::PlusColon, "+:"),
    (TokenKind::Minus, "-"),
    (TokenKind::Star, "*"),
    (TokenKind::Slash, "/"),
    (TokenKind::Percent, "%"),
    (TokenKind::SatAdd, "|+|"),
    (TokenKind::SatSub, "|-|"),
    (TokenKind::Concat, "++"),
    (TokenKind::Shl, "<<"),
    (TokenKind::Le, "<="),
    (TokenKind::Ge, ">="),
    (TokenKind::EqEq, "=="),
    (TokenKind::Ne, "!="),
    (TokenKind::Amp, "&"),
    (TokenKind::AndAnd, "&&"),
    (TokenKind::Mask, "&&&"),
    (TokenKind::Pipe, "|"),
    (TokenKind::OrOr, "||"),
    (TokenKind::Caret, "^"),
    (TokenKind::Assign, "="),
    (TokenKind::AddAssign, "+="),
    (TokenKind::SubAssign, "-="),
    (TokenKind::MulAssign, "*="),
    (TokenKind::DivAssign, "/="),
    (TokenKind::ModAssign, "%="),
    (TokenKind::SatAddAssign, "|+|="),
    (TokenKind::SatSubAssign, "|-|="),
    (TokenKind::ShlAssign, "<<="),
    (TokenKind::ShrAssign, ">>="),
    (TokenKind::AndAssign, "&="),
    (TokenKind::OrAssign, "|="),
    (TokenKind::XorAssign, "^="),
];
