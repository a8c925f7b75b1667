//! Compiled code does what the interpreter does: the same packets out, and the same state behind them.

#[path = "compiled/cleared.rs"]
mod cleared;
#[path = "compiled/empty_groups.rs"]
mod empty_groups;
#[path = "compiled/hashes.rs"]
mod hashes;
#[path = "compiled/headers.rs"]
mod headers;
#[path = "compiled/large.rs"]
mod large;
#[path = "compiled/operators.rs"]
mod operators;
#[path = "compiled/random.rs"]
mod random;
#[path = "compiled/state.rs"]
mod state;
mod support;
#[path = "compiled/writes.rs"]
mod writes;

use engine::{Packet, Pipeline, Switch, SwitchConfig};
use state::state;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use stf::{Ports, Script};
use units::Instant;

/// The files of a folder, and of the folders in it, whose names end so.
fn files(folder: &Path, end: &str, found: &mut Vec<PathBuf>) {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|why| panic!("{folder:?}: {why}"));
    for path in entries.map(|entry| entry.expect("an entry of the folder").path()) {
        if path.is_dir() {
            files(&path, end, found);
        } else if path.extension().is_some_and(|found| found == end) {
            found.push(path);
        }
    }
    found.sort();
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The programs that a script may be for: of the same name, `MAIN` of `MAIN-WHAT`, or all in its folder.
fn programs(script: &Path) -> Vec<PathBuf> {
    let name = script.file_stem().expect("a name").to_string_lossy();
    let main = name.split('-').next().expect("a first part");
    let of_mains = root().join(format!("p4src/v1model/{main}.p4"));
    let named = [script.with_extension("p4"), of_mains];
    let named: Vec<_> = named.into_iter().filter(|path| path.exists()).collect();
    if !named.is_empty() {
        return named;
    }
    let mut beside = Vec::new();
    let folder = script.parent().expect("a folder");
    files(folder, "p4", &mut beside);
    beside
}

/// A pipeline whose code is compiled; `None` for a text that is not a program.
fn pipeline(path: &Path) -> Option<Arc<Pipeline>> {
    native(&support::compile(path).ok()?)
}

fn native(program: &p4_ir::Program) -> Option<Arc<Pipeline>> {
    assert!(p4_jit::install(), "this machine compiles");
    Pipeline::compile(program).ok()
}

fn switch(pipeline: &Arc<Pipeline>, interpreted: bool) -> Switch {
    let config = SwitchConfig {
        report_drops: true,
        report_digests: true,
        report_logs: true,
        ..SwitchConfig::default()
    };
    let mut switch = Switch::with_pipeline(pipeline.clone(), config);
    assert!(!switch.is_interpreted(), "the code is compiled");
    switch.set_interpreted(interpreted);
    switch
}

/// What the switch sends for a packet.
fn answer(switch: &mut Switch, octets: &[u8]) -> Vec<u8> {
    switch.handle_packet(Instant::ZERO, 0, Packet::new(octets.to_vec()));
    let sent = switch.poll_transmit(Instant::ZERO).expect("a packet out");
    sent.packet.octets.to_vec()
}

/// Every script in the tree, and in p4c's samples where `P4C_TESTDATA` names them, leaves the same packets, failures
/// and state with compiled code and without.
#[test]
fn scripts_have_the_same_outcome() {
    let mut scripts = Vec::new();
    for folder in ["p4src", "crates/stf/tests", "exercises", "tests/corpus"] {
        files(&root().join(folder), "stf", &mut scripts);
    }
    if let Some(testdata) = std::env::var_os("P4C_TESTDATA") {
        let samples = PathBuf::from(testdata).join("p4_16_samples");
        files(&samples, "stf", &mut scripts);
    }
    let (mut run, mut packets) = (0, 0);
    for path in &scripts {
        let text = std::fs::read_to_string(path).expect("scripts are text");
        let Ok(script) = Script::parse(&text) else {
            continue;
        };
        for program in programs(path) {
            let Some(pipeline) = pipeline(&program) else {
                continue;
            };
            let [compiled, interpreted] = [false, true].map(|interpreted| {
                stf::run_on(switch(&pipeline, interpreted), &script, Ports::All)
            });
            let names = format!("{} with {}", path.display(), program.display());
            assert_eq!(compiled.sent, interpreted.sent, "{names}");
            let reports = [&compiled, &interpreted].map(|outcome| outcome.report.to_string());
            assert_eq!(reports[0], reports[1], "{names}");
            assert_eq!(
                state(&compiled.switch),
                state(&interpreted.switch),
                "{names}"
            );
            run += 1;
            packets += compiled.report.packets_in;
        }
    }
    eprintln!("{run} scripts with {packets} packets");
    assert!(run >= 80, "only {run} scripts ran");
}
