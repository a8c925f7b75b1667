//! Scripts that p4testgen wrote for its Tofino programs. `P4TESTGEN_PROGRAMS` names the folder of the programs,
//! `P4TESTGEN_SCRIPTS` one with `tna/PROGRAM/*.stf` and `t2na/PROGRAM/*.stf`; without them this test skips.

use super::support;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use stf::Script;

/// Scripts that do not pass, and why.
const DIFFERENT: [(&str, &str); 3] = [
    (
        "tna_table_control_ternary_anno",
        "`@ternary` puts a table of exact keys into TCAM; p4testgen gives such keys masks, a control plane cannot",
    ),
    (
        "switchml_5",
        "p4testgen expects a packet that is not whole octets",
    ),
    (
        "switchml_9",
        "p4testgen expects a packet that is not whole octets",
    ),
];

/// Control-plane names that p4testgen makes up.
const RENAMED: [(&str, &str); 2] = [
    ("Ingress_0.", "pipe1.Ingress."),
    ("Ingress_1.", "pipe2.Ingress."),
];

fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<_> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

/// What is wrong with a program or its scripts, each with the script's name; nothing if all pass.
fn judge(program: &Path, tofino: &str, scripts: &[PathBuf]) -> Vec<String> {
    let defines = [("__TARGET_TOFINO__".to_owned(), tofino.to_owned())];
    let program = match support::compile_with(program, &defines) {
        Ok(program) => program,
        Err(why) => return vec![why],
    };
    let mut wrong = Vec::new();
    for path in scripts {
        let mut text = std::fs::read_to_string(path).expect("scripts are text");
        for (theirs, ours) in RENAMED {
            text = text.replace(theirs, ours);
        }
        let why = match Script::parse(&text) {
            Err(errors) => errors[0].to_string(),
            Ok(script) => {
                let report = stf::run(&program, &script, stf::Ports::All);
                if report.is_ok() {
                    continue;
                }
                report.to_string()
            }
        };
        let name = path.file_stem().unwrap_or_default();
        wrong.push(format!("{}: {why}", name.to_string_lossy()));
    }
    wrong
}

#[test]
fn every_program_does_what_p4testgen_expects() {
    let [programs, scripts] = ["P4TESTGEN_PROGRAMS", "P4TESTGEN_SCRIPTS"].map(std::env::var_os);
    let (Some(programs), Some(scripts)) = (programs, scripts) else {
        eprintln!("skipped: P4TESTGEN_PROGRAMS and P4TESTGEN_SCRIPTS do not name folders");
        return;
    };
    let (programs, scripts) = (PathBuf::from(programs), PathBuf::from(scripts));
    let mut all_wrong = Vec::new();
    for (architecture, tofino) in [("tna", "1"), ("t2na", "2")] {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for folder in entries(&scripts.join(architecture)) {
            let name = folder.file_name().unwrap_or_default().to_string_lossy();
            let mut of_program = entries(&folder);
            of_program.retain(|path| path.extension().is_some_and(|end| end == "stf"));
            let places = ["", &format!("tofino{tofino}_only")];
            let mut places = places
                .map(|at| programs.join(at).join(format!("{name}.p4")))
                .into_iter();
            let program = places.find(|path| path.exists());
            let program = program.unwrap_or_else(|| panic!("{name}: no program of this name"));
            let wrong = judge(&program, tofino, &of_program);
            let passed = of_program.len().saturating_sub(wrong.len());
            *counts.entry("scripts").or_default() += of_program.len();
            *counts.entry("scripts passed").or_default() += passed;
            *counts.entry("programs").or_default() += 1;
            *counts.entry("programs passed").or_default() += usize::from(wrong.is_empty());
            let unexplained =
                |why: &&String| !DIFFERENT.iter().any(|(script, _)| why.starts_with(script));
            let wrong = wrong.iter().filter(unexplained);
            all_wrong.extend(wrong.map(|why| format!("{architecture} {name}: {why}")));
        }
        eprintln!("{architecture}: {counts:?}");
    }
    assert!(all_wrong.is_empty(), "{}", all_wrong.join("\n"));
}
