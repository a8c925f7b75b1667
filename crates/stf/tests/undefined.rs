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
    );
    assert_eq!(report.failures, [], "{report}");
    assert_eq!(report.packets_in, 15);
}
