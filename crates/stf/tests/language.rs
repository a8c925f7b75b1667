//! Programs about one property of the language each: `language/NAME.p4` does what `language/NAME.stf` says.

mod support;

use std::path::Path;

#[test]
fn every_program_does_what_its_script_says() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/language");
    let mut programs: Vec<_> = std::fs::read_dir(folder)
        .expect("the programs are there")
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|end| end == "p4"))
        .collect();
    programs.sort();
    assert!(!programs.is_empty());
    let mut wrong = Vec::new();
    for path in programs {
        let name = path.display();
        let program = support::compile(&path).unwrap_or_else(|why| panic!("{name}: {why}"));
        let script = std::fs::read_to_string(path.with_extension("stf"))
            .unwrap_or_else(|error| panic!("{name} has no script: {error}"));
        let script =
            stf::Script::parse(&script).unwrap_or_else(|errors| panic!("{name}: {}", errors[0]));
        let report = stf::run(&program, &script, stf::Ports::All);
        if !report.is_ok() {
            wrong.push(format!("{name}:\n{report}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
