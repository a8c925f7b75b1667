//! p4c's test programs as judges, where they are at hand: `P4C_TESTDATA` names p4c's folder `testdata`, and
//! `p4include` and the folder of the Tofino programs of p4testgen are searched for next to it.

mod support;

use std::collections::BTreeSet;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use p4_frontend::{Diagnostic, Loader, SourceMap, compile, is_embedded};
use support::Folders;

/// The files of this crate; architectures that it does not have from p4c.
struct Corpus(Folders);

impl Loader for Corpus {
    fn load(&mut self, from: Option<&str>, name: &str, system: bool) -> Option<(String, String)> {
        if is_embedded(name) {
            return None;
        }
        self.0.load(from, name, system)
    }
}

/// p4c's folder of tests, or a message that there is none.
fn testdata() -> Option<PathBuf> {
    let named = env::var_os("P4C_TESTDATA").map(PathBuf::from);
    if named.is_none() {
        eprintln!("skipped: P4C_TESTDATA does not name p4c's testdata");
    }
    named
}

fn programs(testdata: &Path, folder: &str) -> Vec<(PathBuf, String)> {
    let entries = testdata.join(folder).read_dir().expect("a folder");
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.retain(|path| path.extension().is_some_and(|e| e == "p4"));
    paths.sort();
    let read = |path: PathBuf| {
        let text = fs::read(&path).ok()?;
        Some((path, String::from_utf8_lossy(&text).into_owned()))
    };
    paths.into_iter().filter_map(read).collect()
}

/// p4testgen's programs for TNA and T2NA.
const TOFINO: &str = "../backends/p4tools/modules/testgen/targets/tofino/test/p4-programs";

/// Whether a program comes out, the first error, and the lines of this file with errors.
fn judge(
    testdata: &Path,
    path: &Path,
    text: &str,
    defines: &[(String, String)],
) -> (bool, String, BTreeSet<u32>) {
    let folders = vec![testdata.join("../p4include")];
    let mut loader = Corpus(Folders { folders });
    let mut sources = SourceMap::new();
    let entry = sources.add(&path.to_string_lossy(), text);
    let (program, diagnostics) = compile(&mut sources, entry, &mut loader, defines);
    let errors: Vec<&Diagnostic> = diagnostics.iter().filter(|d| d.is_error()).collect();
    let first = errors.first().map_or(String::new(), |d| {
        let at = d.primary().map_or(String::new(), |s| sources.describe(s));
        format!("{at}: {}", d.message)
    });
    let places = errors.iter().filter_map(|d| d.primary());
    let here = places.filter(|span| span.file == entry);
    let lines = here.map(|span| sources.line_column(span).line);
    (program.is_some(), first, lines.collect())
}

/// How many programs include an architecture's file, and the first errors of those that are refused.
fn refused(testdata: &Path, architecture: &str) -> (usize, Vec<String>) {
    let mut programs = programs(testdata, "p4_16_samples");
    programs.retain(|(_, text)| text.contains(architecture));
    let refused: Vec<String> = programs
        .iter()
        .map(|(path, text)| judge(testdata, path, text, &[]))
        .filter(|(compiled, ..)| !compiled)
        .map(|(_, first, _)| first)
        .collect();
    let (total, bad) = (programs.len(), refused.len());
    println!(
        "{} of {total} programs of {architecture} compile",
        total - bad
    );
    println!("{}", refused.join("\n"));
    (total, refused)
}

#[test]
fn v1model_programs_compile() {
    let Some(testdata) = testdata() else { return };
    let (total, refused) = refused(&testdata, "v1model.p4");
    assert!(
        refused.len() * 100 <= total,
        "more than one in a hundred are refused"
    );
}

#[test]
fn psa_programs_compile() {
    let Some(testdata) = testdata() else { return };
    let (total, refused) = refused(&testdata, "psa.p4");
    assert!(total > 0, "no programs");
    assert!(refused.is_empty(), "{}", refused.join("\n"));
}

/// As p4testgen compiles them: for Tofino 1, then for Tofino 2.
#[test]
fn tofino_programs_compile() {
    let Some(testdata) = testdata() else { return };
    if !testdata.join(TOFINO).is_dir() {
        eprintln!("skipped: there is no {TOFINO} in p4c's testdata");
        return;
    }
    let (mut total, mut refused) = (0, Vec::new());
    for (target, own) in [("1", "tofino1_only"), ("2", "tofino2_only")] {
        let folders = [TOFINO.to_owned(), format!("{TOFINO}/{own}")];
        for (path, text) in folders.iter().flat_map(|f| programs(&testdata, f)) {
            total += 1;
            let defines = [("__TARGET_TOFINO__".to_owned(), target.to_owned())];
            let (compiled, first, _) = judge(&testdata, &path, &text, &defines);
            if !compiled {
                refused.push(format!("Tofino {target}: {first}"));
            }
        }
    }
    println!(
        "{} of {total} Tofino programs compile",
        total - refused.len()
    );
    println!("{}", refused.join("\n"));
    assert!(refused.is_empty(), "{}", refused.join("\n"));
}

/// The example programs of open-p4studio, where `OPEN_P4STUDIO` names its checkout: for Tofino 1, then for Tofino 2.
#[test]
fn programs_of_open_p4studio_compile() {
    let Some(checkout) = env::var_os("OPEN_P4STUDIO").map(PathBuf::from) else {
        eprintln!("skipped: OPEN_P4STUDIO does not name a checkout of open-p4studio");
        return;
    };
    let examples = checkout.join("pkgsrc/p4-examples/p4_16_programs");
    let (mut total, mut refused) = (0, Vec::new());
    for (path, text) in main_programs(&examples) {
        let only_2 = path
            .file_name()
            .is_some_and(|n| n.to_string_lossy().starts_with("t2na"));
        for target in if only_2 { &["2"][..] } else { &["1", "2"] } {
            total += 1;
            let defines = [("__TARGET_TOFINO__".to_owned(), (*target).to_owned())];
            let (compiled, first, _) = judge(&examples, &path, &text, &defines);
            if !compiled {
                refused.push(format!("Tofino {target}: {first}"));
            }
        }
    }
    println!("{} of {total} compile", total - refused.len());
    assert!(total > 0, "no programs in {}", examples.display());
    assert!(refused.is_empty(), "{}", refused.join("\n"));
}

/// The programs two or three folders down that instantiate `main`.
fn main_programs(examples: &Path) -> Vec<(PathBuf, String)> {
    let folders = |of: &Path| -> Vec<PathBuf> {
        let entries = of.read_dir().into_iter().flatten().flatten();
        let paths = entries.map(|entry| entry.path());
        paths
            .filter(|path| path.is_dir() && !path.is_symlink())
            .collect()
    };
    let mut all: Vec<PathBuf> = folders(examples);
    all.extend(folders(examples).iter().flat_map(|folder| folders(folder)));
    all.sort();
    let found = all.iter().flat_map(|folder| programs(folder, "."));
    found.filter(|(_, text)| text.contains(") main;")).collect()
}

/// The lines of errors in p4c's output for a program; none of warnings, and none of those that it
/// shows besides.
fn error_lines_of_p4c(said: &str, name: &str) -> BTreeSet<u32> {
    let line = |text: &str| {
        let (number, rest) = text
            .strip_prefix(name)?
            .strip_prefix('(')?
            .split_once("):")?;
        let rest = rest.trim_start();
        let kind = rest.strip_prefix("[--Werror=");
        let rest = kind.map_or(Some(rest), |k| Some(k.split_once("] ")?.1))?;
        let is_error = rest.starts_with("error:") || rest.starts_with("syntax error");
        number.parse().ok().filter(|_| is_error)
    };
    said.lines().filter_map(line).collect()
}

#[test]
fn invalid_programs_are_refused_at_the_line() {
    let Some(testdata) = testdata() else { return };
    let programs = programs(&testdata, "p4_16_errors");
    let (mut right, mut elsewhere, mut accepted) = (0, Vec::new(), Vec::new());
    for (path, text) in &programs {
        let name = path.file_name().expect("a name").to_string_lossy();
        let said = testdata
            .join("p4_16_errors_outputs")
            .join(format!("{name}-stderr"));
        let said = fs::read_to_string(said).unwrap_or_default();
        let expected = error_lines_of_p4c(&said, &name);
        let (compiled, _, lines) = judge(&testdata, path, text, &[]);
        if compiled {
            accepted.push(name.into_owned());
        } else if expected.is_empty() || !lines.is_disjoint(&expected) {
            right += 1;
        } else {
            elsewhere.push(format!("{name}: {lines:?} where p4c has {expected:?}"));
        }
    }
    println!(
        "{right} of {} are refused at the line; elsewhere:\n{}\naccepted:\n{}",
        programs.len(),
        elsewhere.join("\n"),
        accepted.join("\n")
    );
    // Some others are refused by the target only.
    assert!(right >= 558, "fewer than 558");
}

/// Programs with words taken out, doubled and exchanged: no panic.
#[test]
fn damaged_programs_never_panic() {
    let Some(testdata) = testdata() else { return };
    let mut state = 1u64;
    let mut draw = |below: usize| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (state >> 33) as usize % below
    };
    for (path, text) in programs(&testdata, "p4_16_samples") {
        let mut words: Vec<&str> = text
            .split_inclusive(|c: char| !c.is_alphanumeric())
            .collect();
        for _ in 0..3 {
            let (a, b) = (draw(words.len()), draw(words.len()));
            match draw(3) {
                0 => drop(words.remove(a)),
                1 => words.insert(a, words[b]),
                _ => words.swap(a, b),
            }
        }
        judge(&testdata, &path, &words.concat(), &[]);
    }
}
