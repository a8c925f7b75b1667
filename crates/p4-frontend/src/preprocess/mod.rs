//! Handles directives, includes and macros: converts files to one sequence of tokens.
//!
//! Operates on tokens rather than text, so that every token keeps the location at which the user wrote it. A token from
//! a macro's body has the location of the macro's use. Arguments of a macro keep their own locations.

mod conditional;
mod define;
mod directive;
mod evaluate;
mod expand;
mod hidden;
mod include;
mod output;
mod substitute;

pub use include::is_embedded;
pub use output::preprocessed_text;

use std::collections::HashMap;
use std::rc::Rc;

use crate::ast::{Pragma, Symbol};
use crate::diagnostic::{Diagnostic, MAX_ERRORS};
use crate::lexer::{Interner, Token, TokenKind, lex};
use crate::span::{FileId, SourceMap, Span};

use conditional::Conditional;
use define::Macro;
use expand::Expanded;
use hidden::Hidden;

/// The maximum nesting of `#include`.
pub const MAX_INCLUDE_DEPTH: usize = 64;
/// The maximum size of all files in octets. A file counts each time it is included.
pub const MAX_OCTETS: usize = 64 << 20;
/// The maximum number of tokens to which all macros together may expand.
pub const MAX_EXPANSION: usize = 1 << 20;

/// Finds included files. The crate itself reads no files.
pub trait Loader {
    /// The file for `name` in an `#include` of file `from` (`None` for a command line), as its full name and text.
    /// `system` distinguishes `<name>` from `"name"`.
    ///
    /// The returned names are displayed to the user, and passed as `from` later. `None` means that there is no such
    /// file; [embedded](is_embedded) files are then taken from this crate.
    fn load(&mut self, from: Option<&str>, name: &str, system: bool) -> Option<(String, String)>;

    /// Why the last requested file was not returned although it exists: it is a device, or too long.
    fn refusal(&self) -> Option<String> {
        None
    }
}

/// Finds only the [embedded](is_embedded) files.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoLoader;

impl Loader for NoLoader {
    fn load(&mut self, _: Option<&str>, _: &str, _: bool) -> Option<(String, String)> {
        None
    }
}

/// The output of the preprocessor.
#[derive(Clone, Debug)]
pub struct Preprocessed {
    /// The tokens without newlines and `#`, terminated by [`TokenKind::Eof`]. The parser handles errors, because
    /// annotations may contain some.
    pub tokens: Vec<Token>,
    /// `#pragma` lines.
    pub pragmas: Vec<Pragma>,
    /// Errors and warnings.
    pub diagnostics: Vec<Diagnostic>,
}

/// Preprocesses file `entry` of `sources`. `defines` are macros of the command line, as name and body: `("N", "1")`.
pub fn preprocess(
    sources: &mut SourceMap,
    entry: FileId,
    loader: &mut dyn Loader,
    defines: &[(String, String)],
) -> Preprocessed {
    let mut preprocessor = Preprocessor::new(sources, loader);
    preprocessor.enter(entry);
    preprocessor.predefine(defines);
    preprocessor.run();
    Preprocessed {
        tokens: preprocessor.output,
        pragmas: preprocessor.pragmas,
        diagnostics: preprocessor.diagnostics,
    }
}

/// A file being read.
struct Input {
    file: FileId,
    tokens: Rc<[Token]>,
    next: usize,
    /// The open `#if`s, outermost first.
    conditionals: Vec<Conditional>,
}

struct Preprocessor<'a> {
    sources: &'a mut SourceMap,
    loader: &'a mut dyn Loader,
    interner: Interner,
    macros: HashMap<Symbol, Rc<Macro>>,
    /// A stack of files. The one being read is last.
    inputs: Vec<Input>,
    /// Output of macros that must still be scanned. The next token is last.
    pending: Vec<Expanded>,
    /// While a macro's argument is expanded, the files must not be read.
    files_hidden: bool,
    expansion_depth: usize,
    expansion_left: usize,
    /// Whether macro expansion has exceeded its limit, which has been reported.
    expansion_stopped: bool,
    octets_left: usize,
    /// Whether there has been an error.
    failed: bool,
    at_line_start: bool,
    /// Whether there has been a warning of lines that are ignored.
    lines_ignored: bool,
    output: Vec<Token>,
    pragmas: Vec<Pragma>,
    diagnostics: Vec<Diagnostic>,
}

impl<'a> Preprocessor<'a> {
    fn new(sources: &'a mut SourceMap, loader: &'a mut dyn Loader) -> Self {
        Preprocessor {
            sources,
            loader,
            interner: Interner::default(),
            macros: HashMap::new(),
            inputs: Vec::new(),
            pending: Vec::new(),
            files_hidden: false,
            expansion_depth: 0,
            expansion_left: MAX_EXPANSION,
            expansion_stopped: false,
            octets_left: MAX_OCTETS,
            failed: false,
            at_line_start: true,
            lines_ignored: false,
            output: Vec::new(),
            pragmas: Vec::new(),
            diagnostics: Vec::new(),
        }
    }

    /// Starts reading a file.
    fn enter(&mut self, file: FileId) {
        let text = self.sources.file(file).text.clone();
        self.octets_left = self.octets_left.saturating_sub(text.len());
        self.inputs.push(Input {
            file,
            tokens: lex(&text, file, &mut self.interner).into(),
            next: 0,
            conditionals: Vec::new(),
        });
    }

    /// Reads `#define` lines created from `defines`, so that they are checked and reported like others.
    fn predefine(&mut self, defines: &[(String, String)]) {
        if defines.is_empty() {
            return;
        }
        let text: String = defines
            .iter()
            .map(|(name, body)| format!("#define {name} {body}\n"))
            .collect();
        let file = self.sources.add("<command line>", text);
        self.enter(file);
    }

    fn run(&mut self) {
        while let Some(Expanded { token, hidden }) = self.next() {
            match token.kind {
                TokenKind::Newline => self.at_line_start = true,
                TokenKind::Hash if token.line_start => self.directive(&token),
                TokenKind::Paste if token.line_start => {
                    self.ignored_line(token.span);
                    self.rest_of_line();
                }
                TokenKind::Eof => self.leave(token),
                kind if kind.is_word() => self.word(Expanded { token, hidden }),
                _ => self.emit(token),
            }
            self.skip_inactive();
        }
    }

    /// The next token, from macros or from the file.
    fn next(&mut self) -> Option<Expanded> {
        if let Some(token) = self.pending.pop() {
            return Some(token);
        }
        if self.files_hidden {
            return None;
        }
        let input = self.inputs.last_mut()?;
        let token = input.tokens[input.next].clone();
        if token.kind != TokenKind::Eof {
            input.next += 1;
        }
        Some(Expanded {
            token,
            hidden: Hidden::default(),
        })
    }

    /// Called at the end of a file: returns to the including file.
    fn leave(&mut self, eof: Token) {
        let Some(input) = self.inputs.pop() else {
            return;
        };
        for conditional in input.conditionals {
            self.report(
                Diagnostic::error("unclosed-conditional", "`#if` without `#endif`")
                    .label(conditional.span, "opened here")
                    .label(eof.span, "the file ends here"),
            );
        }
        self.at_line_start = true;
        if self.inputs.is_empty() {
            self.output.push(eof);
        }
    }

    fn word(&mut self, word: Expanded) {
        if let Some(token) = self.expand_word(word) {
            self.emit(token);
        }
    }

    /// Passes a token to the parser, or reports an error in it.
    fn emit(&mut self, mut token: Token) {
        if token.kind == TokenKind::Comment {
            self.unterminated_comment(token.span);
            return;
        }
        if matches!(token.kind, TokenKind::Hash | TokenKind::Paste) {
            self.report(
                Diagnostic::error("stray-hash", format!("{} inside of a line", token.kind))
                    .label(token.span, "not at the start of its line")
                    .help("a directive must be the only text on its line"),
            );
            return;
        }
        token.line_start = std::mem::take(&mut self.at_line_start);
        self.output.push(token);
    }

    /// The comment consumes everything that follows, including `#endif`s.
    fn unterminated_comment(&mut self, span: Span) {
        let opener = Span::new(span.file, span.start, span.start + 2);
        self.report(
            Diagnostic::error("unterminated-comment", "unterminated comment")
                .label(opener, "no closing `*/`"),
        );
        if let Some(input) = self.inputs.last_mut() {
            input.conditionals.clear();
        }
    }

    fn report(&mut self, diagnostic: Diagnostic) {
        if self.diagnostics.len() < MAX_ERRORS || diagnostic.is_error() && !self.failed {
            self.failed |= diagnostic.is_error();
            self.diagnostics.push(diagnostic);
        }
    }
}
