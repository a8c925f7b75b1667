//! Compiled code and the interpreter do the same with any program that p4c writes for BMv2, and any packets.
//!
//! The input is p4c's JSON, behind it, after an octet of zero, packets: the first two octets of each are its port and its
//! length.
#![no_main]

use engine::{Packet, Pipeline, Switch, SwitchConfig};
use libfuzzer_sys::fuzz_target;
use std::sync::Arc;
use units::Instant;

fuzz_target!(|input: &[u8]| {
    let end = input.iter().position(|&octet| octet == 0);
    let (text, mut rest) = input.split_at(end.unwrap_or(input.len()));
    let Ok(text) = std::str::from_utf8(text) else {
        return;
    };
    let Ok(program) = bmv2_json::read(text) else {
        return;
    };
    p4_jit::install();
    let Ok(pipeline) = Pipeline::compile(&program) else {
        return;
    };
    let [mut compiled, mut interpreted] = [false, true].map(|how| switch(&pipeline, how));
    let mut packets = vec![(1, vec![]), (1, vec![0x45; 14]), (2, vec![0x45; 60])];
    rest = rest.get(1..).unwrap_or_default();
    while let &[port, length, ref behind @ ..] = rest {
        let (packet, behind) = behind.split_at(behind.len().min(length.into()));
        packets.push((port.into(), packet.to_vec()));
        rest = behind;
    }
    for (port, octets) in packets {
        assert_eq!(
            outcome(&mut compiled, port, &octets),
            outcome(&mut interpreted, port, &octets),
            "{octets:02x?} at port {port}"
        );
    }
});

fn switch(pipeline: &Arc<Pipeline>, interpreted: bool) -> Switch {
    let config = SwitchConfig {
        report_drops: true,
        report_digests: true,
        report_logs: true,
        max_rounds: 10_000,
        ..SwitchConfig::default()
    };
    let mut switch = Switch::with_pipeline(pipeline.clone(), config);
    assert!(!switch.is_interpreted(), "the code is not compiled");
    switch.set_interpreted(interpreted);
    switch
}

/// What a switch sends for a packet, what it reports, and what its registers are then.
fn outcome(switch: &mut Switch, port: u16, octets: &[u8]) -> String {
    switch.handle_packet(Instant::ZERO, port, Packet::new(octets.to_vec()));
    let mut text = String::new();
    while let Some(sent) = switch.poll_transmit(Instant::ZERO) {
        text += &format!("{sent:?}\n");
    }
    while let Some(event) = switch.poll_event() {
        text += &format!("{event:?}\n");
    }
    for object in 0..switch.program().externs.len() as u32 {
        let cells = switch.register_cells(p4_ir::ExternId(object));
        let used = cells.map(|cells| {
            cells
                .cells
                .iter()
                .map(|&cell| u128::from(cell))
                .sum::<u128>()
        });
        text += &format!("{used:?} ");
    }
    text + &format!("{:?}", switch.drops())
}
