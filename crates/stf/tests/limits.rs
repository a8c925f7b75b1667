//! A packet that asks for too much is refused, counted and traced; the next one is served.

mod support;

use std::path::Path;
use stf::{Ports, Script, Trace, What};

/// Runs `NAME.stf` on `NAME.p4`: what its packets met.
fn run(name: &str) -> Trace {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs");
    let program = support::compile(&folder.join(format!("{name}.p4")));
    let program = program.unwrap_or_else(|why| panic!("{name}: {why}"));
    let script = std::fs::read_to_string(folder.join(format!("{name}.stf")));
    let script = Script::parse(&script.expect("the script is there")).expect("the script parses");
    let (report, trace) = stf::run_traced(&program, &script, Ports::All);
    assert_eq!(report.failures, [], "{report}");
    trace
}

fn drops(trace: &Trace, wanted: &str) -> usize {
    let drops = trace.steps.iter().filter_map(|step| match step.what {
        What::Drop { cause, .. } => Some(cause),
        _ => None,
    });
    drops.filter(|&cause| cause == wanted).count()
}

#[test]
fn a_packet_that_multiplies_is_stopped() {
    let trace = run("copies");
    // The arrival and its 4,096 copies ask for two copies each, except those that have come back too often.
    let (copies, passes) = ["too_many_copies", "too_many_passes"]
        .map(|c| drops(&trace, c))
        .into();
    assert_eq!(copies, 2 * (4097 - passes) - 4096);
    assert!(
        trace
            .to_string()
            .contains("drop     port 1: too_many_copies")
    );
}

#[test]
fn loops_are_cut_one_by_one_and_a_pass_as_a_whole() {
    let trace = run("loops");
    let cut = |step: &&stf::Step| matches!(step.what, What::LoopCut { rounds: 65_536 });
    assert_eq!(trace.steps.iter().filter(cut).count(), 3);
    assert_eq!(drops(&trace, "too_many_rounds"), 1);
    let text = trace.to_string();
    let line = text.lines().find(|line| line.contains("cut  "));
    let line = line.expect("it is shown");
    assert!(
        line.starts_with("  cut      loop after 65536 rounds") && line.ends_with("loops.p4:34"),
        "{line}"
    );
}
