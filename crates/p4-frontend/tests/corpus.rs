//! Parses p4c's test programs, where they are at hand: `P4C_TESTDATA` names the folder `testdata` of p4c, and
//! `p4include` is searched for next to it.

mod support;

use std::env;
use std::path::{Path, PathBuf};

use p4_frontend::{Loader, is_embedded};
use support::{Folders, Parsed};

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

/// The programs of a folder and the folders in it.
fn programs(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in folder.read_dir().expect("a folder").flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.is_file() && path.extension().is_some_and(|e| e == "p4") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// The number of programs, and the diagnostics of those that do not parse.
fn parse_all(testdata: &Path, folder: &str) -> (usize, Vec<String>) {
    let programs = programs(&testdata.join(folder));
    let include = testdata.join("../p4include");
    let complaints = programs.iter().filter_map(|path| {
        let mut folders = vec![include.clone()];
        folders.extend(path.ancestors().skip(1).take(3).map(Path::to_path_buf));
        let mut loader = Corpus(Folders { folders });
        let parsed = Parsed::file(path, &path.to_string_lossy(), &mut loader);
        (parsed.program.is_none() || !parsed.diagnostics.is_empty()).then(|| parsed.rendered())
    });
    (programs.len(), complaints.collect())
}

#[test]
fn valid_programs_parse() {
    let Some(testdata) = env::var_os("P4C_TESTDATA").map(PathBuf::from) else {
        eprintln!("skipped: P4C_TESTDATA does not name p4c's testdata");
        return;
    };
    let (total, complaints) = parse_all(&testdata, "p4_16_samples");
    println!(
        "p4_16_samples: {} of {total} parse",
        total - complaints.len()
    );
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

#[test]
fn invalid_programs_are_judged() {
    let Some(testdata) = env::var_os("P4C_TESTDATA").map(PathBuf::from) else {
        eprintln!("skipped: P4C_TESTDATA does not name p4c's testdata");
        return;
    };
    let (total, complaints) = parse_all(&testdata, "p4_16_errors");
    println!(
        "p4_16_errors: {} of {total} parse; of the others:\n{}",
        total - complaints.len(),
        complaints.join("\n")
    );
    assert!(total > 0, "no programs in p4_16_errors");
}
