//! The hop for Tofino does what the packet scripts of the hop for v1model say: `p4src/tests/MAIN-WHAT.stf` for
//! `tna/MAIN.p4` and `t2na/MAIN.p4`.

mod support;

use std::path::Path;

/// What scripts are about that do not hold for Tofino, and why.
const DIFFERENT: &[(&str, &str)] = &[
    (
        "admission",
        "the traffic manager limits queues, not a table",
    ),
    ("aqt_options", "lists of options in any order"),
    ("aqt_saturated", "one of its lists has another option first"),
    ("arp", "the controller's port, and the layout of its header"),
    ("both_marks", "lists of options in any order"),
    ("drai_options", "lists of options in any order"),
    (
        "packet_out",
        "the controller's port, and the layout of its header",
    ),
    ("red", "RED has no average, and drops in egress"),
];

/// Counters of marks, by the kind that v1model's index has in its last two bits.
const MARKS: [&str; 3] = ["aqt_marks", "drai_marks", "ci_marks"];
/// The first cause of a drop that is egress's.
const QUEUE_FULL: u32 = 5;

/// A line of a script, with the counters and the width of a key that Tofino has.
fn translated(line: &str) -> String {
    let cell = |counter: &str| {
        let (index, rest) = line.strip_prefix(counter)?.split_once(')')?;
        Some((index.parse::<u32>().ok()?, rest))
    };
    if let Some((index, rest)) = cell("check_counter drops(") {
        let counter = match index % 8 {
            ..QUEUE_FULL => "HopIngress.verdict.drops",
            _ => "queue_drops",
        };
        return format!("check_counter {counter}({index}){rest}");
    }
    if let Some((index, rest)) = cell("check_counter marks(") {
        let counter = MARKS[index as usize % 4];
        return format!("check_counter {counter}({}){rest}", index / 4);
    }
    line.replace("window_octets:1->0xffffffff", "window_octets:1->0xffff")
}

#[test]
fn every_main_does_what_its_scripts_say() {
    let p4src = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../p4src");
    let mut wrong = Vec::new();
    let mut ran = 0;
    for architecture in ["tna", "t2na"] {
        for main in ["plain", "aqt", "drai", "ci", "red", "waymark"] {
            let program = support::compile(&p4src.join(format!("{architecture}/{main}.p4")));
            let program = program.unwrap_or_else(|why| panic!("{main}: {why}"));
            for (what, script) in scripts(&p4src.join("tests"), main) {
                if DIFFERENT.iter().any(|(name, _)| *name == what) {
                    continue;
                }
                ran += 1;
                let report = stf::run(&program, &script, stf::Ports::All);
                if !report.is_ok() {
                    wrong.push(format!("{architecture}/{main}-{what}:\n{report}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(ran > 0, "there are scripts");
}

/// A main's scripts, and what each is about.
fn scripts(folder: &Path, main: &str) -> Vec<(String, stf::Script)> {
    let files = std::fs::read_dir(folder).expect("the scripts are there");
    let mut found: Vec<_> = files
        .filter_map(|file| {
            let name = file.ok()?.file_name().into_string().ok()?;
            let what = name
                .strip_prefix(&format!("{main}-"))?
                .strip_suffix(".stf")?;
            let text = std::fs::read_to_string(folder.join(&name)).expect("scripts are text");
            let lines: Vec<_> = text.lines().map(translated).collect();
            let script = stf::Script::parse(&lines.join("\n"));
            let script = script.unwrap_or_else(|errors| panic!("{name}: {}", errors[0]));
            Some((what.to_owned(), script))
        })
        .collect();
    found.sort_by(|(a, _), (b, _)| a.cmp(b));
    found
}
