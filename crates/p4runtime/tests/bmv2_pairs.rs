//! Device configurations that p4c made for BMv2 years ago, each with its P4Info. `BMV2_CONFIGS` names folders
//! that have such pairs, separated by `:`; without it this test skips. Their classes are tests of `bmv2-json`.

mod support;

use p4_info::text::from_text;
use std::path::{Path, PathBuf};
use std::{env, fs};
use support::{Device, files_within};

const ENDS: [&str; 4] = ["p4info.txtpb", "p4info.txt", "proto.txt", "p4info"];

fn p4info_beside(config: &Path) -> Option<String> {
    let mut texts = ENDS.iter().map(|end| config.with_extension(end));
    texts.find_map(|path| fs::read_to_string(path).ok())
}

#[tokio::test]
async fn older_configurations_are_accepted_with_their_p4info() {
    let Some(folders) = env::var_os("BMV2_CONFIGS") else {
        eprintln!("skipped: BMV2_CONFIGS names no folders");
        return;
    };
    let (mut pairs, mut refused) = (0, Vec::new());
    let folders: Vec<PathBuf> = env::split_paths(&folders).collect();
    for path in folders
        .iter()
        .flat_map(|folder| files_within(folder, ".json"))
    {
        let Some(p4info) = p4info_beside(&path) else {
            continue;
        };
        pairs += 1;
        let config = fs::read_to_string(&path).expect("a file");
        let p4info = from_text(&p4info).expect("a P4Info");
        if let Err(status) = Device::start().await.commit(&config, p4info).await {
            refused.push(format!("{}: {}", path.display(), status.message()));
        }
    }
    println!("{} of {pairs} accepted", pairs - refused.len());
    assert!(pairs > 0, "there is no P4Info next to any configuration");
    assert!(refused.is_empty(), "{}", refused.join("\n"));
}
