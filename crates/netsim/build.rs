//! Tells the tests whether there are recorded traces to compare with.

use std::path::Path;

fn main() {
    println!("cargo::rustc-check-cfg=cfg(recorded_traces)");
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=WAYMARK_REFERENCE");
    let beside = Path::new("../../../shared/reference/ns2");
    if std::env::var_os("WAYMARK_REFERENCE").is_some() || beside.is_dir() {
        println!("cargo::rustc-cfg=recorded_traces");
    }
}
