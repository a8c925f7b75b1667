//! Any text is read as a packet script, and run on the relay of `crates/bmv2-json/tests/config` if it is one.
#![no_main]

use libfuzzer_sys::fuzz_target;
use std::sync::LazyLock;
use stf::Script;

static RELAY: LazyLock<p4_ir::Program> = LazyLock::new(|| {
    bmv2_json::read(include_str!(
        "../../crates/bmv2-json/tests/config/relay.json"
    ))
    .expect("the relay can be read")
});

fuzz_target!(|text: &str| {
    if let Ok(script) = Script::parse(text) {
        let _ = stf::run(&RELAY, &script, stf::Ports::All).to_string();
    }
});
