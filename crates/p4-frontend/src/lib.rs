//! Compiles P4_16 text to p4-ir: preprocessing, parsing, name resolution, type checking, lowering.
//!
//! | stage | module | from | to |
//! | --- | --- | --- | --- |
//! | preprocess | [`preprocess`], with [`lexer`] | files of a [`SourceMap`] | tokens |
//! | parse | [`parser`] | tokens | [`ast::Program`] |
//! | check | `check` | [`ast::Program`] | `hir`: names resolved, types known, constants folded |
//! | lower | `lower` | `hir` | [`p4_ir::Program`]: `main` instantiated |
//!
//! [`parse`] performs the first two stages, [`compile`] all of them. Declarations of an architecture come from its
//! text; of its names, only those of `core.p4` are built in.
//!
//! No stage reads files or prints. Files are read through a [`Loader`], and errors are returned as [`Diagnostic`]s,
//! which [`render()`] formats together with the source lines.

pub mod ast;
mod check;
pub mod diagnostic;
mod hir;
pub mod lexer;
mod lower;
pub mod parser;
pub mod preprocess;
pub mod render;
pub mod span;
pub mod suggest;

pub use diagnostic::{Diagnostic, Severity};
pub use preprocess::{Loader, NoLoader, is_embedded, preprocessed_text};
pub use render::{render, render_all};
pub use span::{FileId, LineColumn, SourceMap, Span};

/// Preprocesses and parses file `entry` of `sources`. Included files are read through `loader` and added to `sources`.
/// `defines` are macros as name and body.
///
/// Returns the program if there are no errors. It then contains no `Error` nodes.
pub fn parse(
    sources: &mut SourceMap,
    entry: FileId,
    loader: &mut dyn Loader,
    defines: &[(String, String)],
) -> (Option<ast::Program>, Vec<Diagnostic>) {
    let preprocessed = preprocess::preprocess(sources, entry, loader, defines);
    let (program, errors) = parser::parse_tokens(preprocessed.tokens, preprocessed.pragmas);
    let mut diagnostics = preprocessed.diagnostics;
    diagnostics.extend(errors);
    let failed = diagnostics.iter().any(Diagnostic::is_error);
    ((!failed).then_some(program), diagnostics)
}

/// Compiles file `entry` of `sources` to the IR. The arguments are those of [`parse`].
///
/// Returns the program if there are no errors, possibly with warnings. For a text without `main`, it returns a program
/// without blocks, and a warning.
///
/// ```
/// use p4_frontend::{NoLoader, SourceMap, compile};
/// let mut sources = SourceMap::new();
/// let file = sources.add("a.p4", "const bit<8> a = 1 + true;");
/// let (program, diagnostics) = compile(&mut sources, file, &mut NoLoader, &[]);
/// assert!(program.is_none());
/// assert_eq!(diagnostics[0].message, "`+` is not defined on `bool`");
/// ```
pub fn compile(
    sources: &mut SourceMap,
    entry: FileId,
    loader: &mut dyn Loader,
    defines: &[(String, String)],
) -> (Option<p4_ir::Program>, Vec<Diagnostic>) {
    let (parsed, mut diagnostics) = parse(sources, entry, loader, defines);
    let Some(parsed) = parsed else {
        return (None, diagnostics);
    };
    let (checked, found) = check::check(&parsed);
    diagnostics.extend(found);
    if diagnostics.iter().any(Diagnostic::is_error) {
        return (None, diagnostics);
    }
    let (program, found) = lower::lower(&checked, sources);
    diagnostics.extend(found);
    (program, diagnostics)
}
