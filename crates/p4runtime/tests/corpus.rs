//! p4c's v1model and PSA programs over `SetForwardingPipelineConfig`, with the P4Info that p4c writes and with ours.
//! `P4C_TESTDATA` names p4c's folder `testdata`; without it this test skips. Programs that the engine does not run, as
//! those without `main` or with their own externs, are counted and not tried.

mod support;

use p4_info::text::from_text;
use std::path::PathBuf;
use std::{env, fs};
use support::{Device, compiled, files_within, runs};

#[tokio::test]
async fn programs_are_accepted_with_p4cs_p4info_and_ours() {
    let Some(testdata) = env::var_os("P4C_TESTDATA").map(PathBuf::from) else {
        eprintln!("skipped: P4C_TESTDATA does not name p4c's testdata");
        return;
    };
    let samples = testdata.join("p4_16_samples");
    let folders = [samples.clone(), testdata.join("../p4include")];
    let (mut accepted, mut refused, mut not_run) = (0, Vec::new(), Vec::new());
    for path in files_within(&samples, ".p4") {
        let name = path.strip_prefix(&samples).expect("within").display();
        let golden = testdata.join(format!("p4_16_samples_outputs/{name}.p4info.txtpb"));
        let Ok(theirs) = fs::read_to_string(golden) else {
            continue;
        };
        let text = fs::read(&path).expect("a file");
        let text = String::from_utf8_lossy(&text);
        if !["v1model.p4", "psa.p4"]
            .iter()
            .any(|name| text.contains(name))
        {
            continue;
        }
        let (source, ours) = match compiled(&path, &folders) {
            Ok((source, p4info)) if runs(&source) => (source, p4info),
            _ => {
                not_run.push(name.to_string());
                continue;
            }
        };
        let theirs = from_text(&theirs).expect("p4c writes P4Info");
        let mut device = Device::start().await;
        let before = refused.len();
        for (whose, p4info) in [("p4c's", theirs), ("ours", ours)] {
            if let Err(status) = device.commit(&source, p4info).await {
                refused.push(format!("{name}, {whose}: {}", status.message()));
            }
        }
        accepted += usize::from(refused.len() == before);
    }
    println!("{accepted} accepted; not run: {}", not_run.join(", "));
    assert!(
        refused.is_empty(),
        "{} refused:\n{}",
        refused.len(),
        refused.join("\n")
    );
    assert!(accepted >= 455, "{accepted} accepted");
}
