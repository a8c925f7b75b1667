//! A program may be one long line, as preprocessors and generators write it: time and messages stay in proportion.

mod support;

use p4_frontend::render_all;
use support::Parsed;

/// A line of 1 MB: declarations, each with a fault if `faulty`.
fn line(faulty: bool) -> String {
    let constant = |i: usize| {
        let value = if faulty { "1 + true" } else { "1" };
        format!("const bit<8> CONSTANT_NUMBER_{i} = {value}; ")
    };
    (0..25_000).map(constant).collect()
}

#[test]
fn a_fault_in_a_long_line_is_shown_with_what_is_near() {
    let long = line(false);
    let text = format!("{long}const bit<8> wrong = 1 + ; {long}");
    let parsed = Parsed::alone(&text);
    let told = parsed.rendered();
    let column = long.len() + 26;
    assert!(told.contains(&format!("test.p4:1:{column} ")), "{told}");
    assert!(told.contains("const bit<8> wrong = 1 + ;"), "{told}");
    assert!(told.contains('…') && told.len() < 2_000, "{told}");
}

#[test]
fn both_ends_of_a_long_span_are_shown() {
    let zeros = "0, ".repeat(5_000);
    let text = format!("const tuple<bit<8>> wrong = {{ {zeros} 1 }};");
    let mut sources = p4_frontend::SourceMap::new();
    let entry = sources.add("test.p4", text);
    let loader = &mut p4_frontend::NoLoader;
    let (_, diagnostics) = p4_frontend::compile(&mut sources, entry, loader, &[]);
    let told = render_all(&sources, &diagnostics, false).join("\n");
    assert!(
        told.contains("test.p4:1:29 ") && told.contains("wrong = { 0, 0,"),
        "{told}"
    );
    assert!(told.contains("0,  1 };") && told.len() < 2_000, "{told}");
}

#[test]
fn as_many_errors_are_shown_as_somebody_may_read() {
    let mut sources = p4_frontend::SourceMap::new();
    let entry = sources.add("test.p4", line(true));
    let loader = &mut p4_frontend::NoLoader;
    let (_, diagnostics) = p4_frontend::compile(&mut sources, entry, loader, &[]);
    assert_eq!(diagnostics.len(), 25_000);
    let told = render_all(&sources, &diagnostics, false);
    assert_eq!(told.len(), 21);
    assert_eq!(told[20], "... and 24980 more errors\n");
    assert!(told[19].contains("CONSTANT_NUMBER_19 = 1 + true"));
    assert!(told.join("\n").len() < 20_000);
}
