//! Externs and packages that are declared but refused: with their place, and with what to write instead.

use super::{folder, support};
use engine::{Switch, SwitchConfig};

/// What declares an extern, what calls it, and parts of the error.
const EXTERNS: [(&str, &str, &str, [&str; 2]); 5] = [
    (
        "t2na.p4",
        "Register<bit<32>, bit<8>>(4) cells;
         LearnAction<bit<32>, bit<8>, bit<16>, bit<32>>(cells) refused = {
             void apply(inout bit<32> value, in bit<16> digest, in bool learn, out bit<32> rv) {
                 rv = value;
             }
         };",
        "hdr.op.a = refused.execute(hdr.op.index);",
        ["`LearnAction.execute` is not supported", "`RegisterAction`"],
    ),
    (
        "tna.p4",
        "Hash<bit<16>>(HashAlgorithm_t.CRC16) hash;
         ActionProfile(8) profile;
         ActionSelector(profile, hash, SelectorMode_t.FAIR, 4, 4) selector;
         SelectorAction(selector) refused = {
             void apply(inout bit<1> value, out bit<1> rv) { value = 0; rv = 0; }
         };",
        "hdr.op.a[0:0] = refused.execute(7);",
        ["`SelectorAction.execute` is not supported", "`Register`"],
    ),
    (
        "t2na.p4",
        "Register<bit<32>, bit<8>>(4) cells;
         RegisterAction<bit<32>, bit<8>, bit<32>>(cells) refused = {
             void apply(inout bit<32> value) { value = 0; }
         };",
        "refused.sweep();",
        [
            "`RegisterAction.sweep` is not supported",
            "`Register.clear`",
        ],
    ),
    (
        "t2na.p4",
        "Register<bit<32>, bit<8>>(4) cells;
         RegisterAction<bit<32>, bit<8>, bit<32>>(cells) refused = {
             void apply(inout bit<32> value, out bit<32> rv) { rv = this.address(); }
         };",
        "hdr.op.a = refused.execute(hdr.op.index);",
        ["`RegisterAction.address` is not supported", "`execute`"],
    ),
    (
        "t2na.p4",
        "Register<bit<128>, bit<8>>(4) cells;
         MinMaxAction<bit<128>, bit<8>, bit<32>>(cells) refused = {
             void apply(inout bit<128> value, out bit<32> rv) { rv = this.address(); }
         };",
        "hdr.op.a = refused.execute(hdr.op.index);",
        ["`MinMaxAction.address` is not supported", "`execute`"],
    ),
];

fn program(text: &str) -> p4_ir::Program {
    let name = folder().join("refused.p4");
    let program = support::compile_text(&name.to_string_lossy(), text, &[]);
    program.unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn an_extern_is_refused_at_its_call() {
    for (include, declared, call, expected) in EXTERNS {
        let text = format!(
            "#include <{include}>\n#include \"operation.p4\"\ncontrol Ingress(INGRESS) {{\n{declared}\napply {{\n{call}\n}}\n}}\nMAIN\n"
        );
        let errors = Switch::new(&program(&text), SwitchConfig::default()).expect_err("refused");
        let [error] = &errors[..] else {
            panic!("{errors:?}");
        };
        for part in expected {
            assert!(error.message.contains(part), "{part}: {}", error.message);
        }
        let at = match expected[0].contains("address") {
            true => "this.address",
            false => call,
        };
        let line = text.lines().position(|line| line.contains(at));
        assert_eq!(
            Some(error.loc.line as usize),
            line.map(|line| line + 1),
            "{call}"
        );
    }
}

#[test]
fn a_pipe_with_several_parsers_is_refused() {
    let text = "#include <tna.p4>
        #include \"operation.p4\"
        control Ingress(INGRESS) { apply {} }
        IngressParsers(IngressParser(), IngressParser()) from_ports;
        EgressParsers(EgressParser()) from_queues;
        MultiParserPipeline(
            from_ports, Ingress(), IngressDeparser(), from_queues, Egress(), EgressDeparser()) pipe;
        MultiParserSwitch(pipe) main;";
    let errors = Switch::new(&program(text), SwitchConfig::default()).expect_err("refused");
    let [error] = &errors[..] else {
        panic!("{errors:?}");
    };
    assert!(error.loc.line > 0);
    for part in [
        "does not say which ports each parser serves",
        "one parser that selects on `ingress_port`",
    ] {
        assert!(error.message.contains(part), "{part}: {}", error.message);
    }
}
