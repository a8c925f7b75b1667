//! p4c's own scripts. `P4C_TESTDATA` names its `testdata` folder; without it these tests skip.

use std::path::PathBuf;
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
    eprintln!("{} of {} scripts parse", scripts.len() - wrong.len(), scripts.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
