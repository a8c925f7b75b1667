//! A preprocessed program as text, for a target that has no included files.

use super::{Preprocessed, preprocess};
use crate::diagnostic::Diagnostic;
use crate::lexer::{Token, TokenKind};
use crate::span::{FileId, SourceMap};
use std::rc::Rc;

/// The maximum number of empty lines that are written rather than marked.
const MOST_EMPTY: u32 = 8;

/// Preprocesses file `entry` of `sources` to text without directives except `# LINE "FILE"`, so that diagnostics of a
/// later compilation refer to the original locations. The arguments are those of
/// [`preprocess()`](preprocess::preprocess).
pub fn preprocessed_text(
    sources: &mut SourceMap,
    entry: FileId,
    loader: &mut dyn super::Loader,
    defines: &[(String, String)],
) -> (String, Vec<Diagnostic>) {
    let preprocessed = preprocess(sources, entry, loader, defines);
    (text(&preprocessed, sources), preprocessed.diagnostics)
}

fn text(preprocessed: &Preprocessed, sources: &SourceMap) -> String {
    let mut text = String::new();
    let mut at: Option<(Rc<str>, u32)> = None;
    for token in &preprocessed.tokens {
        if token.kind == TokenKind::Eof {
            break;
        }
        let (file, line) = sources.presumed(token.span);
        match &mut at {
            Some((last, reached)) if *last == file && *reached == line => {
                if !token.joint || glues(&text, token) {
                    text.push(' ');
                }
            }
            Some((last, reached))
                if *last == file && (*reached..=*reached + MOST_EMPTY).contains(&line) =>
            {
                text.extend(std::iter::repeat_n('\n', (line - *reached) as usize));
                *reached = line;
                indent(&mut text, token);
            }
            _ => {
                if !text.is_empty() {
                    text.push('\n');
                }
                text += &format!("# {line} {file:?}\n");
                at = Some((file, line));
                indent(&mut text, token);
            }
        }
        text += &token.text;
        // A string may contain newlines.
        if let Some((_, reached)) = &mut at {
            *reached += token.text.matches('\n').count() as u32;
        }
    }
    text.push('\n');
    text
}

/// Restores the indentation, so that columns in diagnostics are meaningful.
fn indent(text: &mut String, token: &Token) {
    text.extend(std::iter::repeat_n(' ', token.column.min(40) as usize));
}

/// Whether a token would merge with the preceding text, which is possible at the end of a macro.
fn glues(text: &str, token: &Token) -> bool {
    let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    text.ends_with(word) && token.text.starts_with(word)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::preprocess::NoLoader;

    fn preprocessed(source: &str) -> String {
        let mut sources = SourceMap::new();
        let entry = sources.add("a.p4", source);
        let (text, diagnostics) = preprocessed_text(&mut sources, entry, &mut NoLoader, &[]);
        assert!(diagnostics.is_empty(), "{diagnostics:?}");
        text
    }

    #[test]
    fn macros_and_conditionals_are_gone_and_lines_are_kept() {
        let source = "#define W 8\nconst bit<W> a =\n    1;\n#if W == 9\nerror\n#endif\nconst bit<W>b = a>>1;\n";
        let expected = "# 2 \"a.p4\"\nconst bit<8> a =\n    1;\n\n\n\nconst bit<8>b = a>>1;\n";
        assert_eq!(preprocessed(source), expected);
    }

    #[test]
    fn preprocessing_twice_changes_nothing() {
        let once = preprocessed("#include <core.p4>\n#define F(x) x+1\nconst int a = F(2);\n");
        assert!(once.contains("# 3 \"a.p4\"\nconst int a = 2+1;"), "{once}");
        assert_eq!(preprocessed(&once), once);
    }
}
