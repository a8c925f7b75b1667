//! Programs beyond the bounds of what is compiled.

use super::{native, support, switch};
use engine::{Packet, Pipeline, Switch, SwitchConfig};
use std::fmt::Write;
use std::sync::Arc;
use units::Instant;

/// Actions of each table.
const ACTIONS: usize = 40;
/// Tables: their copies of the actions in place would exceed the bound of `p4-jit` several times over.
const TABLES: usize = 24;

/// A program whose ingress is this.
pub fn pipeline(ingress: &str) -> Arc<Pipeline> {
    let program = format!(
        "#include <core.p4>
        #include <v1model.p4>
        header h_t {{ bit<32> a; bit<32> b; bit<32> c; }}
        struct headers {{ h_t h; }}
        struct metadata {{}}
        parser P(packet_in p, out headers h, inout metadata m, inout standard_metadata_t s) {{
            state start {{ p.extract(h.h); transition accept; }}
        }}
        control V(inout headers h, inout metadata m) {{ apply {{}} }}
        control I(inout headers h, inout metadata m, inout standard_metadata_t s) {{ {ingress} }}
        control E(inout headers h, inout metadata m, inout standard_metadata_t s) {{ apply {{}} }}
        control C(inout headers h, inout metadata m) {{ apply {{}} }}
        control D(packet_out p, in headers h) {{ apply {{ p.emit(h.h); }} }}
        V1Switch(P(), V(), I(), E(), C(), D()) main;"
    );
    let program = support::compile_text("large.p4", &program, &[]).expect("the program compiles");
    native(&program).expect("the program can be run")
}

/// What a switch sends for a packet with these fields.
fn answer(switch: &mut Switch, fields: [u32; 3]) -> Vec<u8> {
    answer_at(switch, Instant::ZERO, fields)
}

/// The same for a packet that comes in at this time.
pub fn answer_at(switch: &mut Switch, now: Instant, fields: [u32; 3]) -> Vec<u8> {
    let octets: Vec<_> = fields
        .iter()
        .flat_map(|field| field.to_be_bytes())
        .collect();
    switch.handle_packet(now, 0, Packet::new(octets));
    let sent = switch.poll_transmit(now).expect("a packet out");
    sent.packet.octets.to_vec()
}

/// Tables whose actions are compiled in place, and later ones whose actions are functions because the bound is reached.
#[test]
fn actions_beyond_the_bound_do_the_same() {
    let mut ingress = String::new();
    for action in 0..ACTIONS {
        write!(ingress, "action a{action}(bit<32> by) {{").unwrap();
        for step in 0..30 {
            let factor = 2 * (action * 30 + step) + 3;
            write!(ingress, "h.h.c = h.h.c * {factor} + by;").unwrap();
        }
        ingress += "}\n";
    }
    let names: String = (0..ACTIONS).map(|action| format!("a{action};")).collect();
    for table in 0..TABLES {
        let entries: String = (0..ACTIONS)
            .map(|action| format!("{action}: a{}({table});", (action + table) % ACTIONS))
            .collect();
        writeln!(
            ingress,
            "table t{table} {{
                key = {{ h.h.a: exact; }}
                actions = {{ {names} }}
                const default_action = a{}(1);
                const entries = {{ {entries} }}
            }}",
            table % ACTIONS
        )
        .unwrap();
    }
    let applied: String = (0..TABLES)
        .map(|table| format!("t{table}.apply();"))
        .collect();
    ingress += &format!("apply {{ s.egress_spec = 1; {applied} }}");
    let pipeline = pipeline(&ingress);
    let [mut compiled, mut interpreted] = [false, true].map(|how| switch(&pipeline, how));
    for key in 0..=ACTIONS as u32 {
        let fields = [key, 7, 11];
        let [machine, bytecode] =
            [&mut compiled, &mut interpreted].map(|switch| answer(switch, fields));
        assert_eq!(machine, bytecode, "key {key}");
        assert_ne!(machine[8..12], [0, 0, 0, 11], "key {key}: no action ran");
    }
}

/// A program whose compilation would take seconds runs all the same.
#[test]
fn a_long_program_is_interpreted() {
    let statements: String = (0..40_000)
        .map(|at| format!("h.h.c = h.h.c * {} + h.h.b;", 2 * at + 3))
        .collect();
    let ingress = format!("apply {{ s.egress_spec = 1; {statements} }}");
    let mut switch = Switch::with_pipeline(pipeline(&ingress), SwitchConfig::default());
    assert!(switch.is_interpreted());
    let expected = (0..40_000).fold(11, |c: u32, at| c.wrapping_mul(2 * at + 3).wrapping_add(7));
    let sent = answer(&mut switch, [0, 7, 11]);
    assert_eq!(sent[8..12], expected.to_be_bytes());
}
