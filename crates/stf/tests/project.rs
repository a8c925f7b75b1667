//! The project's own programs do what their scripts say: `p4src/tests/MAIN-WHAT.stf` for `v1model/MAIN.p4`.

mod support;

use std::path::Path;

#[test]
fn every_main_does_what_its_scripts_say() {
    let p4src = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../p4src");
    let mut scripts: Vec<_> = std::fs::read_dir(p4src.join("tests"))
        .expect("the scripts are there")
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|end| end == "stf"))
        .collect();
    scripts.sort();
    assert!(!scripts.is_empty());
    let mut wrong = Vec::new();
    for path in scripts {
        let name = path
            .file_stem()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let main = name.split('-').next().unwrap_or_default();
        let text = std::fs::read_to_string(&path).expect("scripts are text");
        let script =
            stf::Script::parse(&text).unwrap_or_else(|errors| panic!("{name}: {}", errors[0]));
        let program = support::compile(&p4src.join(format!("v1model/{main}.p4")));
        let program = program.unwrap_or_else(|why| panic!("{main}: {why}"));
        let report = stf::run(&program, &script);
        if !report.is_ok() {
            wrong.push(format!("{name}:\n{report}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
