//! What doubles with each level is refused before it is made.

use p4_frontend::{NoLoader, SourceMap, compile};

fn refusal(declarations: &str, metadata: &str, locals: &str) -> String {
    let text = format!(
        "#include <core.p4>\n#include <v1model.p4>\n{declarations}\n\
         struct H {{ }} struct M {{ {metadata} }}\n\
         parser P(packet_in p, out H h, inout M m, inout standard_metadata_t s) \
         {{ state start {{ transition accept; }} }}\n\
         control V(inout H h, inout M m) {{ apply {{}} }}\n\
         control I(inout H h, inout M m, inout standard_metadata_t s) {{ {locals} }}\n\
         control E(inout H h, inout M m, inout standard_metadata_t s) {{ apply {{}} }}\n\
         control D(packet_out p, in H h) {{ apply {{}} }}\n\
         V1Switch(P(), V(), I(), E(), V(), D()) main;"
    );
    let mut sources = SourceMap::new();
    let file = sources.add("double.p4", text);
    let (program, diagnostics) = compile(&mut sources, file, &mut NoLoader, &[]);
    assert!(program.is_none());
    diagnostics[0].message.clone()
}

#[test]
fn controls_that_double_end() {
    let mut text = "control c0() { apply {} }\n".to_string();
    for i in 1..40 {
        let j = i - 1;
        text += &format!(
            "control c{i}() {{ c{j}() a; c{j}() b; apply {{ a.apply(); b.apply(); }} }}\n"
        );
    }
    let told = refusal(&text, "", "c39() c; apply { c.apply(); }");
    assert_eq!(told, "the program has more than 16384 instances");
}

#[test]
fn structs_that_double_end() {
    let mut text = "struct s0 { bit<8> a; bit<8> b; }\n".to_string();
    for i in 1..40 {
        let j = i - 1;
        text += &format!("struct s{i} {{ s{j} a; s{j} b; }}\n");
    }
    let told = refusal(&text, "s39 x;", "apply {}");
    assert!(
        told.ends_with("has more than 65536 members of members"),
        "{told}"
    );
}
