//! What machine code leaves to the interpreter in the programs of this project.

#[path = "support/asked.rs"]
mod asked;
mod support;

use asked::Counting;
use engine::{Pipeline, Switch, SwitchConfig};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering::Relaxed;
use stf::{Ports, Script};

/// Instructions that the interpreter executes where a packet is too short, or a `varbit` is not empty.
const RARE: [&str; 4] = ["EmitAll", "Extract", "ExtractVar", "Reject"];

/// Over all packet scripts of all main programs.
#[test]
fn the_interpreter_is_asked_for_rare_headers_only() {
    if p4_jit::compiler().is_none() {
        println!("skipped: programs are not compiled on this machine");
        return;
    }
    p4_vm::native::install(&Counting);
    let p4src = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../p4src");
    let scripts = files(&p4src.join("tests"), "stf");
    for main in files(&p4src.join("v1model"), "p4") {
        let program = support::compile(&main).expect("the program compiles");
        let pipeline = Pipeline::compile(&program).expect("the engine takes it");
        let calls = asked::calls().expect("it was compiled to machine code");
        asked::count_calls(true);
        for path in scripts.iter().filter(|path| main_of(path) == stem(&main)) {
            let text = std::fs::read_to_string(path).expect("a text");
            let script = Script::parse(&text).expect("a script");
            let switch = Switch::with_pipeline(pipeline.clone(), SwitchConfig::default());
            stf::run_on(switch, &script, Ports::All);
        }
        asked::count_calls(false);
        let mut by_name: BTreeMap<String, u64> = BTreeMap::new();
        for (op, _, count) in &calls.steps {
            *by_name.entry(asked::kind(op)).or_default() += count.load(Relaxed);
        }
        by_name.retain(|_, count| *count > 0);
        let name = main.display();
        assert!(
            by_name.keys().all(|op| RARE.contains(&op.as_str())),
            "{name}: {by_name:?}"
        );
        // Headers are emitted in machine code, for which there is room, unless a `varbit` among them was extracted.
        let count = |op| by_name.get(op).copied().unwrap_or_default();
        assert!(
            count("EmitAll") <= count("ExtractVar"),
            "{name}: {by_name:?}"
        );
    }
}

/// Files of a folder, in the order of their names.
fn files(folder: &Path, end: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("a folder");
    let paths = entries.map(|entry| entry.expect("an entry").path());
    let mut found: Vec<_> = paths
        .filter(|path| path.extension().is_some_and(|it| it == end))
        .collect();
    found.sort();
    found
}

fn stem(path: &Path) -> &str {
    let stem = path.file_stem().and_then(|stem| stem.to_str());
    stem.expect("a name")
}

/// The main program that a script is for.
fn main_of(script: &Path) -> &str {
    let stem = stem(script);
    stem.split_once('-').map_or(stem, |(main, _)| main)
}
