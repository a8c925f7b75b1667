//! What a register may hold.

use engine::{Switch, SwitchConfig};
use p4_frontend::{Loader, SourceMap};

struct Nothing;

impl Loader for Nothing {
    fn load(&mut self, _: Option<&str>, _: &str, _: bool) -> Option<(String, String)> {
        None
    }
}

/// What is wrong with a program that does `statements` with a `register<cell>`; `None` if it can run.
fn refused(cell: &str, statements: &str) -> Option<String> {
    let text = format!(
        "#include <core.p4>
#include <v1model.p4>
struct pair_t {{ bit<8> low; bit<8> high; }}
struct headers_t {{}}
struct metadata_t {{}}
parser Parse(packet_in p, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {{
    state start {{ transition accept; }}
}}
control Check(inout headers_t hdr, inout metadata_t meta) {{ apply {{}} }}
control Enter(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {{
    register<{cell}>(4) cells;
    apply {{ {cell} value; {statements} }}
}}
control Leave(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {{ apply {{}} }}
control Deparse(packet_out p, in headers_t hdr) {{ apply {{}} }}
V1Switch(Parse(), Check(), Enter(), Leave(), Check(), Deparse()) main;"
    );
    let mut sources = SourceMap::new();
    let entry = sources.add("registers.p4", &*text);
    let (program, diagnostics) = p4_frontend::compile(&mut sources, entry, &mut Nothing, &[]);
    let program = program.unwrap_or_else(|| panic!("{diagnostics:?}"));
    let made = Switch::new(&program, SwitchConfig::default());
    made.err().map(|errors| errors[0].message.clone())
}

#[test]
fn a_cell_holds_one_value() {
    let (read, write) = ("cells.read(value, 0);", "cells.write(0, value);");
    for cell in ["bit<8>", "bool"] {
        assert_eq!(refused(cell, &format!("{read} {write}")), None);
    }
    for cell in ["bit<8>[2]", "pair_t", "tuple<bit<8>, bit<8>>"] {
        for statement in [read, write] {
            let told = refused(cell, statement).expect("an error");
            assert!(
                told.contains("a cell of a register holds one value"),
                "{cell}: {told}"
            );
        }
    }
}
