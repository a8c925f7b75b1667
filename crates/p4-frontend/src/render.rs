//! Formats diagnostics for people: file, line and column, the source lines, and texts.
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

/// The complete diagnostic on several lines, with terminal colours or as plain text.
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
    // ariadne prints a file once if its labels are in line order.
    labels.sort_by_key(|(span, _)| (span.file != primary.file, *span));
    let spans: Vec<Span> = labels.iter().map(|(span, _)| *span).collect();
    let excerpts = Excerpts::new(sources, &spans);
    let mut first_of_files = spans.clone();
    first_of_files.dedup_by_key(|span| span.file);
    first_of_files[0] = primary;
    let misplaced = first_of_files.iter().filter_map(|s| excerpts.misplaced(*s));
    let misplaced: Vec<_> = misplaced.collect();
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
    let mut text = String::from_utf8_lossy(&text).into_owned();
    for (shown, right) in misplaced {
        text = text.replacen(&shown, &right, 1);
    }
    text.lines()
        .flat_map(|line| [line.trim_end(), "\n"])
        .collect()
}

/// The maximum number of errors, and of warnings, that [`render_all`] shows.
pub const MAX_SHOWN: usize = 20;

/// Complete diagnostics: the first [`MAX_SHOWN`] errors and as many warnings, in order, followed by the number of
/// further ones.
pub fn render_all(sources: &SourceMap, diagnostics: &[Diagnostic], color: bool) -> Vec<String> {
    let mut seen = [0; 2];
    let mut texts = Vec::new();
    for diagnostic in diagnostics {
        let count = &mut seen[usize::from(diagnostic.is_error())];
        *count += 1;
        if *count <= MAX_SHOWN {
            texts.push(render(sources, diagnostic, color));
        }
    }
    let [warnings, errors] = seen.map(|count| count.saturating_sub(MAX_SHOWN));
    for (more, what) in [(errors, "error"), (warnings, "warning")] {
        if more > 0 {
            let plural = if more == 1 { "" } else { "s" };
            texts.push(format!("... and {more} more {what}{plural}\n"));
        }
    }
    texts
}

/// A diagnostic without a location.
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

/// The maximum number of steps of an include chain that are shown.
const MAX_ORIGINS: usize = 4;

/// How the text at `span` came into the program, if that is not obvious.
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

/// A span in ariadne's form: octets of an excerpt.
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

/// The longest line that is shown completely, in octets.
const LONG_LINE: usize = 240;

/// The number of octets shown before and after each end of a label in a longer line.
const AROUND: (usize, usize) = (80, 60);

/// Marks omitted parts of a long line.
const LEFT_OUT: &str = "…";

/// For each file, the lines that messages show, preceded by as many empty ones as there are lines before them, so that
/// ariadne does not process the rest of the text. Of long lines only the parts near labels are included.
struct Excerpts<'a> {
    sources: &'a SourceMap,
    files: BTreeMap<FileId, Excerpt>,
}

struct Excerpt {
    source: Source<String>,
    /// Ranges of octets of the file, and their offsets in the excerpt.
    pieces: Vec<(Range<usize>, usize)>,
}

impl Excerpt {
    fn new(sources: &SourceMap, file: FileId, spans: &[Span]) -> Self {
        let (lines, padding) = sources.lines(file, spans.iter().copied());
        let whole = &sources.file(file).text;
        let mut text = "\n".repeat(padding);
        let mut pieces = Vec::new();
        for line in lines {
            let mut shown = line.start;
            for window in windows(whole, &line, spans) {
                if window.start > shown {
                    text.push_str(LEFT_OUT);
                }
                pieces.push((window.clone(), text.len()));
                shown = window.end;
                text.push_str(&whole[window]);
            }
            if shown < line.end {
                text.push_str(LEFT_OUT);
            }
            text.push('\n');
        }
        Excerpt {
            source: Source::from(text),
            pieces,
        }
    }

    /// The offset in the excerpt of an octet of the file.
    fn place(&self, octet: usize) -> usize {
        let next = self.pieces.partition_point(|(from, _)| from.start <= octet);
        let (from, at) = &self.pieces[next.max(1) - 1];
        at + octet.min(from.end).saturating_sub(from.start)
    }
}

/// The parts of a line that are shown.
fn windows(text: &str, line: &Range<usize>, spans: &[Span]) -> Vec<Range<usize>> {
    if line.len() <= LONG_LINE {
        return vec![line.clone()];
    }
    let ends = spans.iter().flat_map(|span| [span.start, span.end]);
    let mut ends: Vec<usize> = ends.map(|end| end as usize).collect();
    ends.retain(|end| (line.start..=line.end).contains(end));
    ends.sort_unstable();
    if ends.is_empty() {
        ends.push(line.start);
    }
    let mut windows: Vec<Range<usize>> = Vec::new();
    for end in ends {
        let mut start = end.saturating_sub(AROUND.0).max(line.start);
        let mut end = (end + AROUND.1).min(line.end);
        while !text.is_char_boundary(start) {
            start -= 1;
        }
        while !text.is_char_boundary(end) {
            end += 1;
        }
        match windows.last_mut() {
            Some(last) if start <= last.end + LEFT_OUT.len() => last.end = last.end.max(end),
            _ => windows.push(start..end),
        }
    }
    windows
}

impl<'a> Excerpts<'a> {
    fn new(sources: &'a SourceMap, spans: &[Span]) -> Self {
        let mut files = BTreeMap::new();
        for Span { file, .. } in spans {
            files.entry(*file).or_insert_with(|| {
                let here = spans.iter().filter(|span| span.file == *file);
                Excerpt::new(sources, *file, &here.copied().collect::<Vec<_>>())
            });
        }
        Excerpts { sources, files }
    }

    fn place(&self, span: Span) -> Place {
        let Range { start, end } = span.range();
        let octets = match self.files.get(&span.file) {
            Some(excerpt) => excerpt.place(start)..excerpt.place(end),
            None => start..end,
        };
        Place {
            file: span.file,
            octets,
        }
    }

    /// The location that ariadne prints for a span, and the true one, if they differ.
    fn misplaced(&self, span: Span) -> Option<(String, String)> {
        let excerpt = self.files.get(&span.file)?;
        let at = excerpt.place(span.range().start);
        let (_, line, column) = excerpt.source.get_byte_line(at)?;
        let before = excerpt.source.get_line_text(excerpt.source.line(line)?)?;
        let shown = before.get(..column)?.chars().count() as u32 + 1;
        let true_place = self.sources.line_column(span);
        let name = &self.sources.file(span.file).name;
        let told = |column| format!("{name}:{}:{column} ", true_place.line);
        (shown != true_place.column).then(|| (told(shown), told(true_place.column)))
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
