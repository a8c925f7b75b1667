//! Diagnostics as text for people: file, line and column, the lines themselves, and what is to be said of them.
//!
//! ```
//! use p4_frontend::{NoLoader, SourceMap, parse, render};
//! let mut sources = SourceMap::new();
//! let entry = sources.add("main.p4", "header h { bit<8> a }\n");
//! let (program, diagnostics) = parse(&mut sources, entry, &mut NoLoader, &[]);
//! assert!(program.is_none());
//! let text = render(&sources, &diagnostics[0], false);
//! assert!(text.contains("main.p4:1:20") && text.contains("expected `;`"));
//! ```

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;

use ariadne::{Cache, Color, Config, IndexType, Label, Report, ReportKind, Source};

use crate::diagnostic::{Diagnostic, Severity};
use crate::span::{FileId, SourceMap, Span};

/// The diagnostic in full, over several lines, with colours for a terminal or as plain text.
pub fn render(sources: &SourceMap, diagnostic: &Diagnostic, color: bool) -> String {
    let (kind, tint) = match diagnostic.severity {
        Severity::Error => (ReportKind::Error, Color::Red),
        Severity::Warning => (ReportKind::Warning, Color::Yellow),
    };
    let Some(primary) = diagnostic.primary() else {
        return unplaced(diagnostic);
    };
    let config = Config::new()
        .with_color(color)
        .with_index_type(IndexType::Byte)
        .with_tab_width(4);
    let mut labels = diagnostic.labels.clone();
    if let Some((name, definition)) = sources.expansion(primary) {
        let text = format!("in macro `{name}`, which is defined here");
        labels.push((definition, text));
    }
    // ariadne draws a file once if its labels come in the order of its lines.
    labels.sort_by_key(|(span, _)| (span.file != primary.file, *span));
    let excerpts = Excerpts::new(sources, labels.iter().map(|(span, _)| *span));
    let mut report = Report::build(kind, excerpts.place(primary))
        .with_config(config)
        .with_code(diagnostic.code)
        .with_message(&diagnostic.message);
    for (order, (span, text)) in labels.into_iter().enumerate() {
        let color = if span == primary { tint } else { Color::Cyan };
        let label = Label::new(excerpts.place(span)).with_message(text);
        report.add_label(label.with_color(color).with_order(order as i32));
    }
    for note in origin(sources, primary).iter().chain(&diagnostic.notes) {
        report.add_note(note);
    }
    if let Some(help) = &diagnostic.help {
        report.add_help(help);
    }
    let mut text = Vec::new();
    if report.finish().write(excerpts, &mut text).is_err() {
        return unplaced(diagnostic);
    }
    let text = String::from_utf8_lossy(&text);
    text.lines()
        .flat_map(|line| [line.trim_end(), "\n"])
        .collect()
}

/// A diagnostic that is about no place in particular.
fn unplaced(diagnostic: &Diagnostic) -> String {
    let severity = match diagnostic.severity {
        Severity::Error => "Error",
        Severity::Warning => "Warning",
    };
    let mut text = format!("[{}] {severity}: {}\n", diagnostic.code, diagnostic.message);
    for note in &diagnostic.notes {
        text += &format!("  Note: {note}\n");
    }
    if let Some(help) = &diagnostic.help {
        text += &format!("  Help: {help}\n");
    }
    text
}

/// Most steps of a chain of includes that are told.
const MAX_ORIGINS: usize = 4;

/// How the text at `span` came into the program, when that is not plain to see.
fn origin(sources: &SourceMap, span: Span) -> Vec<String> {
    let mut notes = Vec::new();
    let (name, line) = sources.presumed(span);
    if name != sources.file(span.file).name || line != sources.line_column(span).line {
        notes.push(format!("`#line` makes this line {line} of {name}"));
    }
    let mut file = span.file;
    while let Some(at) = sources.file(file).included_at {
        if notes.len() == MAX_ORIGINS {
            notes.push("and so on".to_owned());
            break;
        }
        notes.push(format!("included at {}", sources.describe(at)));
        file = at.file;
    }
    notes
}

/// A span as ariadne wants it: octets of an excerpt.
struct Place {
    file: FileId,
    octets: Range<usize>,
}

impl ariadne::Span for Place {
    type SourceId = FileId;

    fn source(&self) -> &FileId {
        &self.file
    }

    fn start(&self) -> usize {
        self.octets.start
    }

    fn end(&self) -> usize {
        self.octets.end
    }
}

/// Of each file the lines that are told of, behind as many empty ones as there are before them: that spares ariadne
/// all other text.
struct Excerpts<'a> {
    sources: &'a SourceMap,
    files: BTreeMap<FileId, Excerpt>,
}

struct Excerpt {
    /// Octet of the file at which the lines start.
    start: usize,
    /// How many empty lines are before them.
    padding: usize,
    source: Source<String>,
}

impl<'a> Excerpts<'a> {
    fn new(sources: &'a SourceMap, spans: impl Iterator<Item = Span> + Clone) -> Self {
        let mut files = BTreeMap::new();
        for Span { file, .. } in spans.clone() {
            files.entry(file).or_insert_with(|| {
                let here = spans.clone().filter(|span| span.file == file);
                let (octets, padding) = sources.lines(file, here);
                let start = octets.start;
                let text = "\n".repeat(padding) + &sources.file(file).text[octets];
                Excerpt {
                    start,
                    padding,
                    source: Source::from(text),
                }
            });
        }
        Excerpts { sources, files }
    }

    fn place(&self, span: Span) -> Place {
        let Range { start, end } = span.range();
        let octets = match self.files.get(&span.file) {
            Some(excerpt) => {
                start - excerpt.start + excerpt.padding..end - excerpt.start + excerpt.padding
            }
            None => start..end,
        };
        Place {
            file: span.file,
            octets,
        }
    }
}

impl Cache<FileId> for Excerpts<'_> {
    type Storage = String;

    fn fetch(&mut self, id: &FileId) -> Result<&Source<String>, impl fmt::Debug> {
        let found = self.files.get(id).map(|excerpt| &excerpt.source);
        found.ok_or("a file without labels")
    }

    fn display<'b>(&self, id: &'b FileId) -> Option<impl fmt::Display + 'b> {
        Some(self.sources.file(*id).name.to_string())
    }
}
