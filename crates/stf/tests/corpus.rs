//! p4c's own scripts. `P4C_TESTDATA` names its `testdata` folder; without it these tests skip.

mod support;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use stf::Script;

/// The scripts of p4c's P4_16 samples; `None`, said aloud, where there are none.
fn scripts() -> Option<Vec<PathBuf>> {
    let Some(testdata) = std::env::var_os("P4C_TESTDATA") else {
        eprintln!("skipped: P4C_TESTDATA does not name p4c's testdata folder");
        return None;
    };
    let folder = PathBuf::from(testdata).join("p4_16_samples");
    let mut scripts: Vec<_> = std::fs::read_dir(&folder)
        .unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|end| end == "stf"))
        .collect();
    scripts.sort();
    Some(scripts)
}

#[test]
fn every_script_parses() {
    let Some(scripts) = scripts() else { return };
    let mut wrong = Vec::new();
    for path in &scripts {
        let text = std::fs::read_to_string(path).expect("scripts are text");
        if let Err(errors) = Script::parse(&text) {
            wrong.push(format!("{}: {}", path.display(), errors[0]));
        }
    }
    eprintln!(
        "{} of {} scripts parse",
        scripts.len() - wrong.len(),
        scripts.len()
    );
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Programs with their own extern, which only a BMv2 built for it has.
const OWN_EXTERNS: [&str; 1] = ["extern-funcs-bmv2"];

/// How a script ended.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Ended {
    Passed,
    /// Not a program for v1model.
    Skipped,
    /// The front end refuses it.
    NotCompiled(String),
    Failed(String),
    Panicked,
}

fn judge(script: &Path) -> Ended {
    let program = script.with_extension("p4");
    let Ok(text) = std::fs::read(&program) else {
        return Ended::Skipped;
    };
    let text = String::from_utf8_lossy(&text);
    if !["v1model.p4", "psa.p4"]
        .iter()
        .any(|name| text.contains(name))
    {
        return Ended::Skipped;
    }
    let script = std::fs::read_to_string(script).expect("scripts are text");
    let script = Script::parse(&script).expect("judged by another test");
    let run = || match support::compile(&program) {
        Err(why) => Ended::NotCompiled(why),
        Ok(program) => {
            let report = stf::run(&program, &script, stf::Ports::Named);
            match report.is_ok() {
                true => Ended::Passed,
                false => Ended::Failed(report.to_string()),
            }
        }
    };
    std::panic::catch_unwind(run).unwrap_or(Ended::Panicked)
}

/// Every v1model program that has a script runs it, and what comes out is what p4c's authors expect.
#[test]
fn every_program_does_what_its_script_says() {
    let Some(scripts) = scripts() else { return };
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    let mut wrong = Vec::new();
    for script in &scripts {
        let name = script.file_stem().unwrap_or_default().to_string_lossy();
        let (kind, detail) = match judge(script) {
            Ended::Passed => ("passed", None),
            Ended::Skipped => ("skipped", None),
            Ended::NotCompiled(why) => ("not compiled", Some(why)),
            Ended::Failed(why) => ("failed", Some(why)),
            Ended::Panicked => ("panicked", Some(String::new())),
        };
        if OWN_EXTERNS.contains(&&*name) {
            let detail = detail.unwrap_or_default();
            assert!(
                detail.contains("is not supported by this target"),
                "{name}: {kind}: {detail}"
            );
            *counts.entry("refused").or_default() += 1;
            continue;
        }
        *counts.entry(kind).or_default() += 1;
        wrong.extend(detail.map(|detail| format!("{name}: {kind}: {detail}")));
    }
    eprintln!("{counts:?}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
