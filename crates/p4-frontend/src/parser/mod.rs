//! Parses tokens to the syntax tree: recursive descent, with one function per production of the grammar.
//!
//! Each function consumes the construct for which it is named. It returns `Err(Reported)` after reporting an error. The
//! lists of declarations, statements, states, properties and fields then continue with the next element, so that one
//! run reports several errors. There is no backtracking: where P4 requires it, `lookahead` scans ahead, using the names
//! of types in `scope`. Brackets are matched before parsing (`delimiters`).

mod annotations;
mod characters;
mod controls;
mod declarations;
mod delimiters;
mod errors;
mod expressions;
mod functions;
mod keysets;
mod lookahead;
mod p4_14;
mod scope;
mod statements;
mod states;
mod tables;
mod type_declarations;
mod types;

use crate::ast::{
    DeclId, Declaration, Expr, ExprId, ExprKind, Ident, Path, Pragma, Program, TypeId,
};
use crate::diagnostic::Diagnostic;
use crate::lexer::{Token, TokenKind};
use crate::span::Span;

pub use annotations::FIELD_LIST;
use characters::Sifted;
use delimiters::Delimiters;
use scope::Scopes;

/// The maximum nesting of expressions, types, statements and declarations. Braces count as a separate level; chains of
/// operators, of `?:` and of `else if` count once, whatever their length. The usual 2 MiB stack of a thread is
/// sufficient, even without optimization.
pub const MAX_DEPTH: u32 = 200;

/// The error has been reported.
#[derive(Clone, Copy, Debug)]
struct Reported;

type Parse<T> = Result<T, Reported>;

/// Parses the tokens of the preprocessor.
pub fn parse_tokens(tokens: Vec<Token>, pragmas: Vec<Pragma>) -> (Program, Vec<Diagnostic>) {
    let mut parser = Parser::new(characters::sift(tokens));
    let declarations = parser.program();
    let program = Program {
        declarations,
        pragmas,
        expr_count: parser.expr_count,
        decl_count: parser.decl_count,
        type_count: parser.type_count,
    };
    let p4_14 = match parser.diagnostics.is_empty() {
        true => None,
        false => p4_14::diagnose(&parser.tokens),
    };
    let diagnostics = match p4_14 {
        Some(diagnostic) => vec![diagnostic],
        None => parser.into_diagnostics(),
    };
    (program, diagnostics)
}

struct Parser {
    tokens: Vec<Token>,
    /// Index of the next token.
    at: usize,
    delimiters: Delimiters,
    /// Invalid characters, each with the index of the token behind it.
    faults: Vec<(usize, Diagnostic)>,
    /// First token of the declaration, statement or element being parsed.
    item_start: usize,
    depth: u32,
    /// Whether the parser is in the width of a type, where `>` is not an operator.
    in_angles: bool,
    /// Whether the parser is in a parser's state, where not all statements are allowed.
    in_state: bool,
    /// Declarations to insert before the one being parsed.
    ahead: Vec<Declaration>,
    scopes: Scopes,
    expr_count: u32,
    decl_count: u32,
    type_count: u32,
    diagnostics: Vec<(usize, Diagnostic)>,
}

impl Parser {
    fn new(sifted: Sifted) -> Self {
        Parser {
            delimiters: delimiters::pair_up(&sifted.tokens),
            tokens: sifted.tokens,
            faults: sifted.diagnostics,
            at: 0,
            item_start: 0,
            depth: 0,
            in_angles: false,
            in_state: false,
            ahead: Vec::new(),
            scopes: Scopes::default(),
            expr_count: 0,
            decl_count: 0,
            type_count: 0,
            diagnostics: Vec::new(),
        }
    }

    /// program: { declaration | ";" }
    fn program(&mut self) -> Vec<Declaration> {
        let mut declarations = Vec::new();
        while !self.is_at(TokenKind::Eof) {
            if self.take(TokenKind::Semicolon) {
                continue;
            }
            let before = declarations.len();
            self.item(&mut declarations, Parser::top_level_declaration);
            declarations.splice(before..before, self.ahead.drain(..));
            if self.is_at(TokenKind::RBrace) {
                let _: Reported = self.unexpected("a declaration");
                self.bump();
            }
        }
        declarations
    }

    /// Parses an element of a list. After an error, skips to where the next element may start.
    fn item<T>(&mut self, items: &mut Vec<T>, parse: impl FnOnce(&mut Self) -> Parse<T>) {
        let start = self.at;
        let outer = std::mem::replace(&mut self.item_start, start);
        let depth = self.depth;
        match parse(self) {
            Ok(item) => items.push(item),
            Err(Reported) => self.recover(start),
        }
        self.depth = depth;
        self.item_start = outer;
    }

    /// `{ items }`, with error recovery between items. Counts as nesting.
    fn braced<T>(&mut self, parse: impl Fn(&mut Self) -> Parse<T>) -> Parse<Vec<T>> {
        self.enter()?;
        self.expect(TokenKind::LBrace)?;
        let mut items = Vec::new();
        while !self.is_at_end_of_braces() {
            self.item(&mut items, &parse);
        }
        self.expect(TokenKind::RBrace)?;
        self.depth -= 1;
        Ok(items)
    }

    /// `item, item, ...` up to `close`, which is not consumed. A trailing comma is allowed.
    fn separated<T>(
        &mut self,
        close: TokenKind,
        mut parse: impl FnMut(&mut Self) -> Parse<T>,
    ) -> Parse<Vec<T>> {
        let mut items = Vec::new();
        while !self.is_at(close) {
            items.push(parse(self)?);
            if !self.take(TokenKind::Comma) {
                break;
            }
        }
        if !self.is_at(close) {
            return Err(self.unexpected(&format!("`,` or {close}")));
        }
        Ok(items)
    }

    fn is_at_end_of_braces(&self) -> bool {
        matches!(self.kind(), TokenKind::RBrace | TokenKind::Eof)
    }

    /// The next token's kind.
    fn kind(&self) -> TokenKind {
        self.tokens[self.at].kind
    }

    /// The kind of the token `n` after the next.
    fn nth(&self, n: usize) -> TokenKind {
        self.kind_at(self.at + n)
    }

    fn kind_at(&self, index: usize) -> TokenKind {
        self.tokens
            .get(index)
            .map_or(TokenKind::Eof, |token| token.kind)
    }

    fn is_at(&self, kind: TokenKind) -> bool {
        self.kind() == kind
    }

    /// The span of the next token.
    fn span(&self) -> Span {
        self.tokens[self.at].span
    }

    fn text(&self) -> &str {
        &self.tokens[self.at].text
    }

    /// The span of the token just consumed.
    fn previous_span(&self) -> Span {
        self.tokens[self.at.saturating_sub(1)].span
    }

    /// The span from `start` to the token just consumed.
    fn since(&self, start: Span) -> Span {
        start.to(self.previous_span())
    }

    /// Consumes the next token. The end of the file is not consumed.
    fn bump(&mut self) -> Token {
        let token = self.tokens[self.at].clone();
        if token.kind != TokenKind::Eof {
            self.at += 1;
        }
        token
    }

    /// Consumes the next token if it is of this kind.
    fn take(&mut self, kind: TokenKind) -> bool {
        let found = self.is_at(kind);
        if found {
            self.bump();
        }
        found
    }

    /// Consumes a token of this kind, and reports any other.
    fn expect(&mut self, kind: TokenKind) -> Parse<Span> {
        if self.is_at(kind) {
            return Ok(self.bump().span);
        }
        Err(self.unexpected(&kind.to_string()))
    }

    /// Parses a recursive construct, within [`MAX_DEPTH`].
    fn nested<T>(&mut self, parse: impl FnOnce(&mut Self) -> Parse<T>) -> Parse<T> {
        self.enter()?;
        let result = parse(self);
        self.depth -= 1;
        result
    }

    /// Enters a nesting level. After an error, [`Parser::item`] restores the depth.
    fn enter(&mut self) -> Parse<()> {
        if self.depth >= MAX_DEPTH {
            return Err(self.too_deep());
        }
        self.depth += 1;
        Ok(())
    }

    /// Parses a construct in brackets, where `>` is an operator again.
    fn bracketed<T>(&mut self, parse: impl FnOnce(&mut Self) -> Parse<T>) -> Parse<T> {
        let outer = std::mem::replace(&mut self.in_angles, false);
        let result = parse(self);
        self.in_angles = outer;
        result
    }

    /// Parses a construct with its own scope.
    fn scoped<T>(&mut self, parse: impl FnOnce(&mut Self) -> Parse<T>) -> Parse<T> {
        self.scopes.open();
        let result = parse(self);
        self.scopes.close();
        result
    }

    /// name: identifier, or a keyword that is allowed as a name
    fn name(&mut self, what: &str) -> Parse<Ident> {
        if !is_name(self.kind()) {
            return Err(self.unexpected(what));
        }
        let token = self.bump();
        Ok(Ident {
            name: token.text,
            span: token.span,
        })
    }

    /// prefixedName: [ "." ] name
    fn path(&mut self, what: &str) -> Parse<Path> {
        let start = self.span();
        let absolute = self.take(TokenKind::Dot);
        let name = self.name(what)?;
        Ok(Path {
            absolute,
            name,
            span: self.since(start),
        })
    }

    fn decl_id(&mut self) -> DeclId {
        self.decl_count += 1;
        DeclId(self.decl_count - 1)
    }

    fn type_id(&mut self) -> TypeId {
        self.type_count += 1;
        TypeId(self.type_count - 1)
    }

    fn make(&mut self, span: Span, kind: ExprKind) -> Expr {
        self.expr_count += 1;
        Expr {
            id: ExprId(self.expr_count - 1),
            span,
            kind,
        }
    }
}

/// Whether a token can be a name. Some keywords can, because the grammar distinguishes their positions.
fn is_name(kind: TokenKind) -> bool {
    matches!(
        kind,
        TokenKind::Ident
            | TokenKind::Actions
            | TokenKind::Apply
            | TokenKind::Entries
            | TokenKind::Key
            | TokenKind::List
            | TokenKind::Priority
            | TokenKind::State
            | TokenKind::Type
    )
}
