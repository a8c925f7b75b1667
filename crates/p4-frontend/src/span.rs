//! Source files and locations.
//!
//! A [`Span`] always refers to octets of a file as written by the user. Tokens from a macro have the span of the
//! macro's use. Tokens of an included file have spans of that file, and the [`SourceMap`] records the `#include` that
//! included it.

use std::collections::HashMap;
use std::fmt;
use std::ops::Range;
use std::rc::Rc;

/// One file (or other text) of a [`SourceMap`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FileId(pub u32);

/// A range of octets `start..end` of one file.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Span {
    /// The file.
    pub file: FileId,
    /// First octet.
    pub start: u32,
    /// One past the last octet.
    pub end: u32,
}

impl Span {
    /// The octets `start..end` of `file`.
    pub fn new(file: FileId, start: u32, end: u32) -> Self {
        Span { file, start, end }
    }

    /// The span from the start of `self` to the end of `other`. Spans of different files cannot be joined: returns
    /// `self`.
    pub fn to(self, other: Span) -> Span {
        if self.file != other.file {
            return self;
        }
        Span::new(
            self.file,
            self.start.min(other.start),
            self.end.max(other.end),
        )
    }

    /// The empty span just after `self`, where something is missing.
    pub fn after(self) -> Span {
        Span::new(self.file, self.end, self.end)
    }

    /// The octets as a range for slicing the file's text.
    pub fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }
}

impl fmt::Debug for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}..{}", self.file.0, self.start, self.end)
    }
}

/// A text and its origin.
#[derive(Clone, Debug)]
pub struct SourceFile {
    /// The name shown to the user, and passed to the loader when this file includes another.
    pub name: Rc<str>,
    /// The whole text.
    pub text: Rc<str>,
    /// The `#include` line that included the file. `None` for the entry file.
    pub included_at: Option<Span>,
    /// Octet at which each line starts; the first is 0.
    line_starts: Vec<u32>,
    /// Number of characters before each block of [`BLOCK`] octets, so that columns in a long line need not be counted
    /// from its start.
    characters: Vec<u32>,
    /// The `#line` directives, in the order of the text.
    line_marks: Vec<LineMark>,
}

/// Number of octets per block.
const BLOCK: usize = 256;

/// Number of octets that start a character.
fn count_characters(octets: &[u8]) -> u32 {
    let starts = octets.iter().filter(|octet| **octet & 0xc0 != 0x80);
    starts.count() as u32
}

impl SourceFile {
    /// Number of characters before an octet of the text, or of all characters beyond its end.
    fn characters_before(&self, octet: u32) -> u32 {
        let octets = self.text.as_bytes();
        let end = (octet as usize).min(octets.len());
        let block = end / BLOCK;
        self.characters[block] + count_characters(&octets[block * BLOCK..end])
    }
}

/// From `start` on, lines are numbered from `line` in the file `name`.
#[derive(Clone, Debug)]
struct LineMark {
    start: u32,
    line: u32,
    name: Rc<str>,
}

/// A location for people. Both numbers count from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LineColumn {
    /// Line, from 1.
    pub line: u32,
    /// Column in characters (not octets), from 1.
    pub column: u32,
}

/// All texts that a compilation has read, in the order of reading.
#[derive(Clone, Debug, Default)]
pub struct SourceMap {
    files: Vec<SourceFile>,
    /// For the span of a macro's use: the macro's name, and the location of its definition.
    expansions: HashMap<Span, (Rc<str>, Span)>,
}

impl SourceMap {
    /// Creates an empty map.
    pub fn new() -> Self {
        SourceMap::default()
    }

    /// Adds a text named by the user.
    pub fn add(&mut self, name: &str, text: impl Into<Rc<str>>) -> FileId {
        self.insert(name, text.into(), None)
    }

    /// Adds a text included by the `#include` at `included_at`.
    pub fn add_included(
        &mut self,
        name: &str,
        text: impl Into<Rc<str>>,
        included_at: Span,
    ) -> FileId {
        self.insert(name, text.into(), Some(included_at))
    }

    fn insert(&mut self, name: &str, text: Rc<str>, included_at: Option<Span>) -> FileId {
        let newlines = text.bytes().enumerate().filter(|(_, b)| *b == b'\n');
        let line_starts = std::iter::once(0)
            .chain(newlines.map(|(i, _)| i as u32 + 1))
            .collect();
        let mut characters = vec![0];
        for block in text.as_bytes().chunks_exact(BLOCK) {
            characters.push(characters[characters.len() - 1] + count_characters(block));
        }
        self.files.push(SourceFile {
            name: name.into(),
            text,
            included_at,
            line_starts,
            characters,
            line_marks: Vec::new(),
        });
        FileId(self.files.len() as u32 - 1)
    }

    /// The file of `id`.
    ///
    /// # Panics
    /// If `id` comes from another map.
    pub fn file(&self, id: FileId) -> &SourceFile {
        &self.files[id.0 as usize]
    }

    /// Names of all files, in the order of their ids.
    pub fn names(&self) -> Vec<String> {
        self.files.iter().map(|f| f.name.to_string()).collect()
    }

    /// The text that `span` covers.
    pub fn text(&self, span: Span) -> &str {
        self.file(span.file).text.get(span.range()).unwrap_or("")
    }

    /// Line and column of the first octet of `span`.
    pub fn line_column(&self, span: Span) -> LineColumn {
        let file = self.file(span.file);
        let line = file
            .line_starts
            .partition_point(|start| *start <= span.start)
            - 1;
        let before = file.characters_before(file.line_starts[line]);
        LineColumn {
            line: line as u32 + 1,
            column: file.characters_before(span.start) - before + 1,
        }
    }

    /// The rest of a line from a location of the typed program on, without trailing blanks.
    pub fn rest_from(&self, loc: p4_ir::SourceLoc) -> Span {
        let p4_ir::SourceLoc { file, line, column } = loc;
        self.rest_of_line(FileId(file), LineColumn { line, column })
    }

    /// The rest of a line from a location on, without trailing blanks.
    fn rest_of_line(&self, file: FileId, from: LineColumn) -> Span {
        let source = self.file(file);
        let line = from.line.saturating_sub(1) as usize;
        let start = source.line_starts.get(line).copied().unwrap_or(0);
        let text = source.text[start as usize..].lines().next().unwrap_or("");
        let text = text.trim_end();
        let column = from.column.saturating_sub(1) as usize;
        let skipped = text
            .char_indices()
            .nth(column)
            .map_or(text.len(), |(at, _)| at);
        Span::new(file, start + skipped as u32, start + text.len() as u32)
    }

    /// Records that `span` is a use of the macro `name`, which is defined at `definition`.
    pub fn mark_expansion(&mut self, span: Span, name: &Rc<str>, definition: Span) {
        self.expansions
            .entry(span)
            .or_insert_with(|| (name.clone(), definition));
    }

    /// The macro that is used at `span`, and the location of its definition.
    pub fn expansion(&self, span: Span) -> Option<(&str, Span)> {
        let (name, definition) = self.expansions.get(&span)?;
        Some((name, *definition))
    }

    /// Records a `#line` directive: the line of `span` is line `line` of file `name`, or else of the last named file.
    pub fn mark_line(&mut self, span: Span, line: u32, name: Option<String>) {
        let name = match name {
            Some(name) => name.into(),
            None => self.presumed(span).0,
        };
        let marks = &mut self.files[span.file.0 as usize].line_marks;
        marks.push(LineMark {
            start: span.start,
            line,
            name,
        });
    }

    /// File and line of the first octet of `span`, according to `#line` directives.
    pub fn presumed(&self, span: Span) -> (Rc<str>, u32) {
        let file = self.file(span.file);
        let line = self.line_column(span).line;
        let before = file
            .line_marks
            .partition_point(|mark| mark.start <= span.start);
        let Some(mark) = before.checked_sub(1).map(|index| &file.line_marks[index]) else {
            return (file.name.clone(), line);
        };
        let marked = self.line_column(Span::new(span.file, mark.start, mark.start));
        (mark.name.clone(), mark.line + (line - marked.line))
    }

    /// The lines of `spans` and those between them, each as its octets without the newline. Also returns the number of
    /// the first, from 0.
    pub(crate) fn lines(
        &self,
        file: FileId,
        spans: impl Iterator<Item = Span>,
    ) -> (Vec<Range<usize>>, usize) {
        let file = self.file(file);
        let (start, end) = spans.fold((u32::MAX, 0), |(start, end), span| {
            (start.min(span.start), end.max(span.end))
        });
        let starts = &file.line_starts;
        let first = starts.partition_point(|line| *line <= start).max(1) - 1;
        let next = starts.partition_point(|line| *line <= end).max(first + 1);
        let line = |index: usize| {
            let end = starts.get(index + 1).map(|next| *next as usize - 1);
            starts[index] as usize..end.unwrap_or(file.text.len())
        };
        ((first..next).map(line).collect(), first)
    }

    /// `file:line:column` of the first octet of `span`.
    pub fn describe(&self, span: Span) -> String {
        let at = self.line_column(span);
        format!("{}:{}:{}", self.file(span.file).name, at.line, at.column)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_count_characters() {
        let mut sources = SourceMap::new();
        let file = sources.add("a.p4", "one\n  é two\n");
        assert_eq!(sources.describe(Span::new(file, 9, 12)), "a.p4:2:5");
        assert_eq!(sources.text(Span::new(file, 9, 12)), "two");
        assert_eq!(sources.describe(Span::new(file, 13, 13)), "a.p4:3:1");
    }

    #[test]
    fn columns_of_long_lines_count_characters() {
        let mut sources = SourceMap::new();
        let text = format!("é\n{}", "aé".repeat(1000));
        let file = sources.add("a.p4", text);
        for pair in [0, 1, 84, 85, 86, 999] {
            let at = 3 + 3 * pair;
            let expected = format!("a.p4:2:{}", 2 * pair + 1);
            assert_eq!(sources.describe(Span::new(file, at, at + 1)), expected);
        }
        assert_eq!(sources.describe(Span::new(file, 3003, 3003)), "a.p4:2:2001");
    }

    #[test]
    fn spans_of_two_files_do_not_join() {
        let a = Span::new(FileId(0), 3, 5);
        assert_eq!(a.to(Span::new(FileId(1), 9, 10)), a);
        assert_eq!(
            a.to(Span::new(FileId(0), 9, 10)),
            Span::new(FileId(0), 3, 10)
        );
    }
}
