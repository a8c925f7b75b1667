//! P4Info of the project's mains and of the programs next to this test: goldens, and the same from p4c where it is there.
//!
//! `make goldens` renews them (`INSTA_UPDATE=always`).

mod support;

use std::collections::BTreeSet;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const V1MODEL_COMPILER: &str = "p4c-bm2-ss";
const PSA_COMPILER: &str = "p4c-bm2-psa";

/// A program and its golden.
struct Case {
    program: PathBuf,
    golden: PathBuf,
}

fn cases() -> Vec<Case> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let p4src = here.join("../../p4src");
    let folders = [
        (p4src.join("v1model"), p4src.join("p4info")),
        (p4src.join("tna"), p4src.join("p4info/tna")),
        (p4src.join("t2na"), p4src.join("p4info/t2na")),
        (here.join("tests/programs"), here.join("tests/programs")),
    ];
    let mut cases = Vec::new();
    for (programs, goldens) in folders {
        for program in support::files(&programs, ".p4") {
            let stem = program.file_stem().expect("a file").to_string_lossy();
            let golden = goldens.join(format!("{stem}.p4info.txtpb"));
            cases.push(Case { program, golden });
        }
    }
    assert!(cases.len() > 3, "the programs are found");
    cases
}

fn ours(case: &Case) -> String {
    let made = support::p4info(&case.program, &[]);
    made.unwrap_or_else(|error| panic!("{}: {error}", case.program.display()))
}

// p4runtime: p4info-equal
#[test]
fn goldens_are_current() {
    let renew = env::var("INSTA_UPDATE").is_ok_and(|wanted| wanted == "always");
    let mut known = BTreeSet::new();
    let mut stale = Vec::new();
    for case in cases() {
        let ours = ours(&case);
        known.insert(case.golden.clone());
        let golden = fs::read_to_string(&case.golden).unwrap_or_default();
        if ours == golden {
            continue;
        }
        if renew {
            fs::write(&case.golden, ours).expect("goldens can be written");
            continue;
        }
        let difference = support::difference(&ours, &golden);
        stale.push(format!("{}: {difference}", case.golden.display()));
    }
    for golden in known
        .iter()
        .filter_map(|g| g.parent())
        .collect::<BTreeSet<_>>()
    {
        for file in support::files(golden, ".p4info.txtpb") {
            if !known.contains(&file) {
                stale.push(format!("{}: there is no such program", file.display()));
            }
        }
    }
    assert!(
        stale.is_empty(),
        "`make goldens` renews them\n{}",
        stale.join("\n")
    );
}

// p4runtime: p4info-equal
#[test]
fn p4c_writes_the_same() {
    for compiler in [V1MODEL_COMPILER, PSA_COMPILER] {
        let Ok(version) = Command::new(compiler).arg("--version").output() else {
            eprintln!("skipped: {compiler} is not on PATH");
            return;
        };
        assert!(version.status.success());
    }
    let folder = env::temp_dir().join(format!("p4-info-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("a folder for p4c's output");
    let mut different = Vec::new();
    for (number, case) in cases().iter().enumerate() {
        if case
            .program
            .iter()
            .any(|folder| folder == "tna" || folder == "t2na")
        {
            continue; // for p4c's Tofino backend, not for these two
        }
        let file = folder.join(format!("{number}.txtpb"));
        let text = fs::read_to_string(&case.program).expect("a program");
        let compiler = match text.contains("psa.p4") {
            true => PSA_COMPILER,
            false => V1MODEL_COMPILER,
        };
        let ran = Command::new(compiler)
            .arg("--p4runtime-files")
            .arg(&file)
            .arg("-o")
            .arg(folder.join("out.json"))
            .arg(&case.program)
            .output()
            .expect("p4c runs");
        // Its back end refuses some of what its front end, which writes P4Info, takes.
        let Ok(theirs) = fs::read_to_string(&file) else {
            let said = String::from_utf8_lossy(&ran.stderr);
            panic!("{}: {said}", case.program.display());
        };
        let ours = ours(case);
        if ours != theirs {
            let difference = support::difference(&ours, &theirs);
            different.push(format!("{}: {difference}", case.program.display()));
        }
    }
    fs::remove_dir_all(&folder).expect("made above");
    assert!(different.is_empty(), "{}", different.join("\n"));
}
