//! What P4_16 leaves undefined is defined here, as docs/p4-support.md says.

mod support;

use std::path::Path;

#[test]
fn what_p4_leaves_undefined_is_as_documented() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs");
    let program = support::compile(&folder.join("undefined.p4")).expect("the program compiles");
    let script =
        std::fs::read_to_string(folder.join("undefined.stf")).expect("the script is there");
    let report = stf::run(
        &program,
        &stf::Script::parse(&script).expect("the script parses"),
        stf::Ports::All,
    );
    assert_eq!(report.failures, [], "{report}");
    assert_eq!(report.packets_in, 15);
}

#[test]
fn cells_that_no_memory_holds_are_refused() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs");
    let mut program = support::compile(&folder.join("undefined.p4")).expect("the program compiles");
    for object in &mut program.externs {
        object.args[0] = p4_ir::CtorArg::Int((1_u64 << 28).into());
    }
    let refused = engine::Switch::new(&program, engine::SwitchConfig::default());
    let told: Vec<_> = refused
        .err()
        .into_iter()
        .flatten()
        .map(|e| e.message)
        .collect();
    let limits = [
        "a size of 268435456 is not supported; it may be 0 to 33554432",
        "a size of 268435456 is not supported; it may be 0 to 16777216",
    ];
    assert_eq!(told, limits);
}
