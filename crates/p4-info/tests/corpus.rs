//! Compares with what p4c gives for its test programs, where they are at hand: `P4C_TESTDATA` names the folder
//! `testdata` of p4c. Programs that include v1model.p4 or psa.p4 and that the front end compiles are counted. `OURS` names a folder
//! to leave texts in that differ.

mod support;

use std::env;
use std::fs;
use std::path::PathBuf;

/// p4c drops a register that is declared through a `typedef` and whose values are read for nothing; here it stays.
const KNOWN: [&str; 1] = ["issue2735-bmv2.p4"];

#[test]
fn p4info_equals_p4cs() {
    let Some(testdata) = env::var_os("P4C_TESTDATA").map(PathBuf::from) else {
        eprintln!("skipped: P4C_TESTDATA does not name p4c's testdata");
        return;
    };
    let samples = testdata.join("p4_16_samples");
    let folders = [samples.clone(), testdata.join("../p4include")];
    let (mut equal, mut different, mut refused) = (0, Vec::new(), Vec::new());
    for path in support::files_within(&samples, ".p4") {
        let name = path
            .strip_prefix(&samples)
            .expect("within")
            .to_string_lossy();
        let golden = testdata.join(format!("p4_16_samples_outputs/{name}.p4info.txtpb"));
        let text = String::from_utf8_lossy(&fs::read(&path).expect("a file")).into_owned();
        let Ok(theirs) = fs::read_to_string(golden) else {
            continue;
        };
        if !["v1model.p4", "V1Switch", "psa.p4"]
            .iter()
            .any(|a| text.contains(a))
        {
            continue;
        }
        let ours = match support::p4info(&path, &folders) {
            Ok(ours) => ours,
            Err(error) => {
                refused.push(format!("{name}: {}", error.lines().next().unwrap_or("")));
                continue;
            }
        };
        if ours == theirs {
            equal += 1;
            continue;
        }
        different.push(format!("{name}: {}", support::difference(&ours, &theirs)));
        if let Some(folder) = env::var_os("OURS").map(PathBuf::from) {
            fs::write(folder.join(name.replace('/', "-")), ours).expect("a folder");
        }
    }
    println!(
        "{equal} equal, {} different, {} not compiled\n{}",
        different.len(),
        refused.len(),
        refused.join("\n")
    );
    different.retain(|told| !KNOWN.iter().any(|known| told.starts_with(known)));
    assert!(different.is_empty(), "{}", different.join("\n"));
}
