//! Any text is read as p4c's BMv2 JSON; what can be read is taken or refused by the engine, and what it takes survives
//! some packets.
#![no_main]

use engine::{Packet, Pipeline, Switch, SwitchConfig};
use libfuzzer_sys::fuzz_target;
use units::Instant;

fuzz_target!(|text: &str| {
    let Ok(program) = bmv2_json::read(text) else {
        return;
    };
    let _ = p4_ir::dump(&program);
    let Ok(pipeline) = Pipeline::compile(&program) else {
        return;
    };
    let mut switch = Switch::with_pipeline(pipeline, SwitchConfig::default());
    for length in [0, 14, 60] {
        switch.handle_packet(Instant::ZERO, 1, Packet::new(vec![0x45; length]));
        while let Some(sent) = switch.poll_transmit(Instant::ZERO) {
            switch.recycle(sent.packet);
        }
    }
});
