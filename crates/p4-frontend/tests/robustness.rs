//! No text makes the front end panic, overflow the stack or run for long.

mod support;

use p4_frontend::{Diagnostic, Loader, SourceMap, lexer, parse, render};
use proptest::prelude::*;
use support::Parsed;

/// What nests, as the text before and after what is nested.
const SHAPES: &[(&str, &str, &str, &str)] = &[
    ("parentheses", "const bit<8> a = ", "(", ")"),
    ("braces", "const t a = ", "{", "}"),
    ("fields", "const t a = ", "{ x = ", "}"),
    ("signs", "const bit<8> a = ", "-", ""),
    ("casts", "const bit<8> a = ", "(bit<8>)", ""),
    ("widths", "const bit<8> a = ", "(bit<(", ")>)1"),
    ("calls", "const bit<8> a = ", "f(", ")"),
    ("indices", "const bit<8> a = ", "x[", "]"),
    ("sums in sums", "const bit<8> a = ", "1 + (1 + ", ")"),
    (
        "choices in choices",
        "const bit<8> a = ",
        "1 ? 2 : (1 ? 2 : ",
        ")",
    ),
    ("conditions", "const bit<8> a = ", "1 ? ", " : 2"),
    ("members", "const bit<8> a = x", ".x", ""),
    ("applications", "const bit<8> a = x", "()", ""),
    ("tuples", "typedef ", "tuple<", ">"),
    ("stacks", "typedef bit<8>", "[1]", ""),
    ("generics", "typedef ", "T<", ">"),
    ("generic calls", "const bit<8> a = ", "f<T<", ">>()"),
    ("blocks", "action a() ", "{", "}"),
    ("ifs", "action a() { ", "if (x) ", ""),
    (
        "else-ifs in else-ifs",
        "action a() { ",
        "if (x) { } else if (y) { } else { ",
        "}",
    ),
    ("loops", "action a() { ", "for (;x;) ", ""),
    ("switches", "action a() ", "{ switch (x) { 1: ", "} }"),
    ("instances", "", "T() x = {", "};"),
    ("annotations", "", "@a[@b(", ")]"),
    (
        "keysets",
        "parser p() { state s { transition select(x) { ",
        "(",
        ")",
    ),
    ("conditionals", "#define A\n", "#ifdef A\n", "#endif\n"),
    ("conditions of directives", "#if ", "(", ")"),
    ("macro calls", "#define F(x) x\n", "F(", ")"),
];

fn nested(shape: &(&str, &str, &str, &str), depth: usize) -> String {
    let (_, start, open, close) = shape;
    format!("{start}{}1{}", open.repeat(depth), close.repeat(depth))
}

/// Parses and renders; what comes out does not matter.
fn survive(text: &str) -> Vec<Diagnostic> {
    let parsed = Parsed::alone(text);
    parsed.rendered();
    parsed.diagnostics
}

#[test]
fn deep_nesting_is_an_error() {
    // A thread has 2 MiB; some of it is left to the caller.
    let thread = std::thread::Builder::new().stack_size(1600 << 10);
    let result = thread.spawn(nest_deeply).expect("a thread").join();
    result.expect("no panic");
}

fn nest_deeply() {
    for shape in SHAPES {
        // With closing brackets and without.
        let deep = nested(shape, 1_000);
        assert!(!survive(&deep).is_empty(), "{} nest without end", shape.0);
        survive(&deep[..deep.len() / 2]);
        for depth in [30, 60, 90, 120, 150, 190, 250] {
            survive(&nested(shape, depth));
        }
    }
}

#[test]
fn nesting_within_the_limit_is_no_error() {
    let text = nested(&SHAPES[0], 150) + ";";
    assert!(survive(&text).is_empty());
}

/// Chains are flat: each is the text before, a link, and the text after.
const CHAINS: &[(&str, &str, &str)] = &[
    ("const bit<8> a = ", "1 + ", "1;"),
    ("const bit<8> a = ", "1 * 2 + 3 == ", "1;"),
    ("const bit<8> a = ", "x ? 2 : ", "1;"),
    ("@a[", "1 + ", "1] const bit<8> a = 1;"),
    ("action a() { ", "if (x) { } else ", "; }"),
    (
        "parser p() { state s { ",
        "if (x) { } else ",
        "; transition accept; } }",
    ),
];

#[test]
fn chains_take_no_stack() {
    let thread = std::thread::Builder::new().stack_size(256 << 10);
    let chains = || {
        for (start, link, end) in CHAINS {
            let text = format!("{start}{}{end}", link.repeat(50_000));
            assert_eq!(survive(&text), [], "{link}");
        }
    };
    thread
        .spawn(chains)
        .expect("a thread")
        .join()
        .expect("no panic");
}

#[test]
fn macros_that_grow_are_stopped() {
    let mut text = String::from("#define A0 x x\n");
    for level in 1..60 {
        text += &format!("#define A{level} A{} A{}\n", level - 1, level - 1);
    }
    let messages = survive(&(text + "A59"));
    assert!(messages.iter().any(|d| d.code == "macro-expansion"));

    let chain: String = (0..20_000)
        .map(|level| format!("#define B{level} B{}\n", level + 1))
        .collect();
    let messages = survive(&(chain + "B0"));
    assert!(messages.iter().any(|d| d.code == "macro-expansion"));

    let mut text = String::from("#define F0(x) x x\n");
    for level in 1..60 {
        text += &format!("#define F{level}(x) F{}(F{}(x))\n", level - 1, level - 1);
    }
    let messages = survive(&(text + "F59(y)"));
    assert!(messages.iter().any(|d| d.code == "macro-expansion"));
}

#[test]
fn tokens_that_grow_are_stopped() {
    let mut text = String::from("#define F0(x) x ## x\n#define S(x) #x\n#define T(x) S(x)\n");
    for level in 1..60 {
        text += &format!("#define F{level}(x) F{}(x ## x)\n", level - 1);
    }
    let nested = format!("{}\"{}", "T(".repeat(60), "\"".to_owned() + &")".repeat(60));
    for line in ["F59(y)", &nested] {
        let messages = survive(&format!("{text}{line}"));
        assert!(
            messages.iter().any(|d| d.code == "macro-expansion"),
            "{line}"
        );
    }
}

/// Gives the same text for every file.
struct Always(String);

impl Loader for Always {
    fn load(&mut self, _: Option<&str>, name: &str, _: bool) -> Option<(String, String)> {
        Some((name.to_owned(), self.0.clone()))
    }
}

#[test]
fn includes_that_multiply_are_stopped() {
    let text = "#include \"a\"\n#include \"b\"\n#include \"c\"\n";
    let parsed = Parsed::text("test.p4", text, &mut Always(text.to_owned()));
    let codes: Vec<_> = parsed.diagnostics.iter().map(|d| d.code).collect();
    assert!(codes.contains(&"include-depth"), "{codes:?}");
    assert!(codes.len() <= 4, "one for each line, not {}", codes.len());
}

/// A program with most of the language in it.
const PROGRAM: &str = concat!(
    include_str!("ok/syntax/types.p4"),
    include_str!("ok/syntax/expressions.p4"),
    include_str!("ok/syntax/statements.p4"),
    include_str!("ok/syntax/parsers.p4"),
    include_str!("ok/syntax/annotations.p4"),
    include_str!("ok/syntax/preprocessor.p4"),
);

/// Pieces of [`PROGRAM`], each with the space behind it.
fn pieces() -> Vec<&'static str> {
    let mut sources = SourceMap::new();
    let file = sources.add("test.p4", PROGRAM);
    let tokens = lexer::lex(PROGRAM, file, &mut lexer::Interner::default());
    let ends = tokens.iter().skip(1).map(|token| token.span.start as usize);
    std::iter::zip(&tokens, ends)
        .map(|(token, end)| &PROGRAM[token.span.start as usize..end])
        .collect()
}

#[derive(Clone, Debug)]
enum Edit {
    Delete,
    Double,
    Replace(usize),
    Swap(usize),
}

fn edit() -> impl Strategy<Value = (usize, Edit)> {
    let what = prop_oneof![
        Just(Edit::Delete),
        Just(Edit::Double),
        any::<usize>().prop_map(Edit::Replace),
        any::<usize>().prop_map(Edit::Swap),
    ];
    (any::<usize>(), what)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..Default::default() })]

    #[test]
    fn arbitrary_octets_never_panic(octets in proptest::collection::vec(any::<u8>(), 0..400)) {
        survive(&String::from_utf8_lossy(&octets));
    }

    #[test]
    fn arbitrary_text_never_panics(text in "(\\PC|[\n\r\t\"#<>(){}\\[\\];:@/*\\\\]){0,200}") {
        survive(&text);
    }

    #[test]
    fn token_soup_never_panics(picks in proptest::collection::vec(any::<usize>(), 0..300)) {
        let pieces = pieces();
        let text: String = picks.iter().map(|pick| pieces[pick % pieces.len()]).collect();
        survive(&text);
    }

    #[test]
    fn mutated_programs_never_panic(edits in proptest::collection::vec(edit(), 1..8)) {
        let mut pieces = pieces();
        for (at, edit) in edits {
            let count = pieces.len();
            let at = at % count;
            match edit {
                Edit::Delete => drop(pieces.remove(at)),
                Edit::Double => pieces.insert(at, pieces[at]),
                Edit::Replace(other) => pieces[at] = pieces[other % count],
                Edit::Swap(other) => pieces.swap(at, other % count),
            }
        }
        survive(&pieces.concat());
    }

    #[test]
    fn spans_lie_within_their_files(picks in proptest::collection::vec(any::<usize>(), 0..60)) {
        let pieces = pieces();
        let text: String = picks.iter().map(|pick| pieces[pick % pieces.len()]).collect();
        let mut sources = SourceMap::new();
        let entry = sources.add("test.p4", text);
        let (_, diagnostics) = parse(&mut sources, entry, &mut Always(String::new()), &[]);
        for diagnostic in &diagnostics {
            prop_assert!(!diagnostic.labels.is_empty(), "no place: {diagnostic:?}");
            for (span, _) in &diagnostic.labels {
                let text = &sources.file(span.file).text;
                prop_assert!(span.start <= span.end && text.get(span.range()).is_some());
            }
            render(&sources, diagnostic, true);
        }
    }
}
