//! Packet scripts as tests for the author of a program: what each failed test checks, and the differences.

use crate::{Difference, Failure, ParseError, Ports, Script, run};
use p4_ir::Program;
use serde::Serialize;

/// The field that changes with the value of every other field.
const CHECKSUM: &str = "ipv4.checksum";

/// The results of the scripts of a test.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Verdict {
    /// Whether there were no differences from the scripts.
    pub passed: bool,
    /// Packets that the scripts sent in.
    pub packets: usize,
    /// Packets and counters that the scripts expect.
    pub expected: usize,
    /// The differences, in the order of the scripts.
    pub failures: Vec<Unmet>,
}

/// A difference from a script, for the author of the program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Unmet {
    /// The script's name.
    pub script: String,
    /// Its line, from 1.
    pub line: usize,
    /// A sentence that describes the difference.
    pub what: String,
    /// The comment above the line, or empty if there is none.
    pub test: String,
    /// The fields that differ. The checksum comes last: it changes with every other field, so it is not informative.
    pub fields: Vec<Difference>,
    /// The packets in hexadecimal, expected and found, with carets below the digits that differ.
    pub packets: Vec<String>,
}

/// Runs scripts, given as name and text, one after another on a new switch.
///
/// # Errors
/// The scripts cannot be parsed. Lines are counted through all of them.
pub fn grade(program: &Program, scripts: &[(&str, &str)]) -> Result<Verdict, Vec<ParseError>> {
    let texts: Vec<&str> = scripts.iter().map(|(_, text)| *text).collect();
    let script = Script::parse(&texts.join("\n"))?;
    let report = run(program, &script, Ports::Named);
    let mut failures: Vec<&Failure> = report.failures.iter().collect();
    failures.sort_by_key(|failure| failure.line());
    Ok(Verdict {
        passed: report.is_ok(),
        packets: report.packets_in,
        expected: report.expected(),
        failures: failures
            .into_iter()
            .map(|one| unmet(one, scripts))
            .collect(),
    })
}

fn unmet(failure: &Failure, scripts: &[(&str, &str)]) -> Unmet {
    let mut line = failure.line().map_or(1, |line| line as usize);
    let mut scripts = scripts.iter().peekable();
    let mut place = ("", "");
    while let Some(&script) = scripts.next() {
        place = script;
        let lines = script.1.matches('\n').count() + 1;
        if line <= lines || scripts.peek().is_none() {
            break;
        }
        line -= lines;
    }
    let text = failure.to_string();
    let mut rows = text.lines().map(String::from);
    let head = rows.next().unwrap_or_default();
    let without_line = head
        .strip_prefix("line ")
        .and_then(|rest| rest.split_once(": "));
    let mut fields = failure.differences();
    fields.sort_by_key(|one| one.field == CHECKSUM);
    Unmet {
        script: place.0.into(),
        line,
        what: without_line.map_or(head.as_str(), |(_, what)| what).into(),
        test: comment_above(place.1, line),
        fields,
        packets: rows.collect(),
    }
}

/// The comment that explains a line of a script: the nearest one above it.
fn comment_above(text: &str, line: usize) -> String {
    let above: Vec<&str> = text.lines().take(line.saturating_sub(1)).collect();
    let is_comment = |line: &&str| line.starts_with('#');
    let end = above.iter().rposition(is_comment).map_or(0, |at| at + 1);
    let start = above[..end]
        .iter()
        .rposition(|line| !is_comment(line))
        .map_or(0, |at| at + 1);
    let rows = above[start..end].iter().map(|line| line[1..].trim());
    rows.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_comment_above_a_line_is_what_it_tests() {
        let text = "# A route.\nadd a b\n\n# Two lines\n# of it.\npacket 1 00\nexpect 2 00\n";
        assert_eq!(comment_above(text, 7), "Two lines of it.");
        assert_eq!(comment_above(text, 2), "A route.");
        assert_eq!(comment_above(text, 1), "");
        assert_eq!(comment_above(text, 99), "Two lines of it.");
    }

    #[test]
    fn a_failure_is_placed_in_its_own_script() {
        let scripts = [
            ("a.stf", "# One.\npacket 1 00\n"),
            ("b.stf", "# Two.\nexpect 2 00\n"),
        ];
        let missing = |line| Failure::Missing {
            line,
            port: 2,
            expected: None,
        };
        // The first script has 2 lines and, joined with the second, an empty one.
        for (line, script, own, test) in [(2, "a.stf", 2, "One."), (5, "b.stf", 2, "Two.")] {
            let one = unmet(&missing(line), &scripts);
            assert_eq!(
                (one.script.as_str(), one.line, one.test.as_str()),
                (script, own, test)
            );
            assert_eq!(one.what, "expected a packet at port 2, found none");
        }
    }
}
