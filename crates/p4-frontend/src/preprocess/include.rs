//! `#include`.

use super::{MAX_INCLUDE_DEPTH, MAX_OCTETS, Preprocessor};
use crate::diagnostic::Diagnostic;
use crate::lexer::{self, Token, TokenKind};
use crate::span::Span;

/// Files of the language and of architectures: the name in `#include`, the displayed name, and the text.
const EMBEDDED: &[(&str, &str, &str)] = &[
    ("core.p4", "<core.p4>", include_str!("../include/core.p4")),
    (
        "v1model.p4",
        "<v1model.p4>",
        include_str!("../include/v1model.p4"),
    ),
    ("psa.p4", "<psa.p4>", PSA),
    // p4c has one file per target.
    ("bmv2/psa.p4", "<psa.p4>", PSA),
    (
        "dpdk/psa.p4",
        "<dpdk/psa.p4>",
        include_str!("../include/dpdk/psa.p4"),
    ),
    ("tna.p4", "<tna.p4>", TNA),
    ("t2na.p4", "<t2na.p4>", T2NA),
    // Tofino's compiler has three files per architecture.
    ("tofino1_specs.p4", "<tna.p4>", TNA),
    ("tofino1_base.p4", "<tna.p4>", TNA),
    ("tofino1_arch.p4", "<tna.p4>", TNA),
    ("tofino2_specs.p4", "<t2na.p4>", T2NA),
    ("tofino2_base.p4", "<t2na.p4>", T2NA),
    ("tofino2_arch.p4", "<t2na.p4>", T2NA),
    (
        "tofino/common.p4",
        "<tofino/common.p4>",
        include_str!("../include/tofino/common.p4"),
    ),
];

const PSA: &str = include_str!("../include/psa.p4");
const TNA: &str = include_str!("../include/tna.p4");
const T2NA: &str = include_str!("../include/t2na.p4");

/// Whether an `#include` of this name works without a [`Loader`](super::Loader).
pub fn is_embedded(name: &str) -> bool {
    EMBEDDED.iter().any(|(embedded, ..)| *embedded == name)
}

/// The operand of an `#include`.
struct Wanted {
    name: String,
    system: bool,
}

impl Preprocessor<'_> {
    /// `#include "name"`, `#include <name>`, or a macro that expands to one of them.
    pub fn include(&mut self, span: Span, rest: &[Token]) {
        let Some(wanted) = self.wanted(span, rest) else {
            return;
        };
        let span = rest.last().map_or(span, |last| span.to(last.span));
        if self.inputs.len() >= MAX_INCLUDE_DEPTH {
            self.too_deep(span);
            return;
        }
        let Some((name, text)) = self.find(&wanted) else {
            match self.loader.refusal() {
                Some(why) => self.refused(span, &wanted, why),
                None => self.not_found(span, &wanted),
            }
            return;
        };
        if text.len() > self.octets_left {
            self.report(
                Diagnostic::error("program-too-large", "the program is too large")
                    .label(span, format!("`{name}` exceeds the limit"))
                    .note(format!(
                        "all files together may have {} MiB",
                        MAX_OCTETS >> 20
                    )),
            );
            return;
        }
        let file = self.sources.add_included(&name, text, span);
        self.enter(file);
    }

    fn find(&mut self, wanted: &Wanted) -> Option<(String, String)> {
        let from = self.inputs.last().map(|input| input.file);
        let from = from.map(|file| self.sources.file(file).name.clone());
        let embedded = EMBEDDED.iter().find(|(name, ..)| *name == wanted.name);
        let embedded = embedded.map(|(_, shown, text)| (shown.to_string(), text.to_string()));
        let from_embedded = EMBEDDED
            .iter()
            .any(|(_, shown, _)| from.as_deref() == Some(shown));
        if from_embedded && embedded.is_some() {
            return embedded;
        }
        self.loader
            .load(from.as_deref(), &wanted.name, wanted.system)
            .or(embedded)
    }

    fn wanted(&mut self, span: Span, rest: &[Token]) -> Option<Wanted> {
        let wanted = self.named(rest).or_else(|| {
            let expanded = self.expand_line(rest);
            let text = expanded.iter().map(|token| &*token.text).collect();
            match expanded.first()?.kind {
                TokenKind::String => self.named(&expanded),
                TokenKind::LAngle => angled(text),
                _ => None,
            }
        });
        if wanted.is_none() {
            let at = rest.first().map_or(span.after(), |token| token.span);
            self.report(
                Diagnostic::error("bad-directive", "`#include` needs the name of a file")
                    .label(at, "expected \"name\" or <name>"),
            );
        }
        wanted
    }

    /// The name as written, without macro expansion.
    fn named(&mut self, rest: &[Token]) -> Option<Wanted> {
        let first = rest.first()?;
        match first.kind {
            TokenKind::String => {
                self.nothing_after("the file's name", &rest[1..]);
                Some(Wanted {
                    name: lexer::string(&first.text),
                    system: false,
                })
            }
            TokenKind::LAngle => {
                let close = rest
                    .iter()
                    .position(|token| token.kind == TokenKind::RAngle)?;
                self.nothing_after("the file's name", &rest[close + 1..]);
                angled(self.text_of(&rest[..=close]))
            }
            _ => None,
        }
    }

    fn not_found(&mut self, span: Span, wanted: &Wanted) {
        let diagnostic = Diagnostic::error(
            "no-such-file",
            format!("there is no file `{}` to include", wanted.name),
        )
        .label(span, "not found")
        .help("`-I DIR` also searches the folder DIR");
        self.report(if wanted.system {
            let own = |(name, shown, _): &(&str, &'static str, &str)| {
                (shown.trim_matches(['<', '>']) == *name && !name.contains('/')).then_some(*shown)
            };
            let names: Vec<_> = EMBEDDED.iter().filter_map(own).collect();
            let (core, architectures) = names.split_first().expect("the list is not empty");
            let architectures = architectures.join(", ");
            diagnostic.note(format!(
                "built in: {core}, and the architectures {architectures}"
            ))
        } else {
            diagnostic
        });
    }

    fn refused(&mut self, span: Span, wanted: &Wanted, why: String) {
        let message = format!("`{}` cannot be included: {why}", wanted.name);
        self.report(
            Diagnostic::error("unreadable-file", message).label(span, "expected a file of text"),
        );
    }

    fn too_deep(&mut self, span: Span) {
        let names: Vec<_> = self
            .inputs
            .iter()
            .map(|input| self.sources.file(input.file).name.clone())
            .collect();
        let last = names.last().cloned().unwrap_or_default();
        let diagnostic = Diagnostic::error("include-depth", "includes are nested too deeply")
            .label(
                span,
                format!("more than {MAX_INCLUDE_DEPTH} files are open here"),
            );
        let before = names[..names.len().saturating_sub(1)]
            .iter()
            .rposition(|name| *name == last);
        self.report(match before {
            Some(at) => diagnostic
                .note(format!("the cycle is {}", names[at..].join(" > ")))
                .help("guard the file: `#ifndef NAME`, `#define NAME`, its text, `#endif`"),
            None => diagnostic,
        });
        // Otherwise each file of a cycle would report it again on return.
        for input in self.inputs.iter_mut().skip(1) {
            input.next = input.tokens.len() - 1;
            input.conditionals.clear();
        }
    }
}

fn angled(text: String) -> Option<Wanted> {
    let name = text.strip_prefix('<')?.strip_suffix('>')?.trim().to_owned();
    Some(Wanted { name, system: true })
}
