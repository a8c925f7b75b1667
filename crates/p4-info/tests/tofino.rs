//! P4Info of a program for the Tofino Native Architecture.

mod support;

use p4_info::proto::table::IdleTimeoutBehavior;
use p4_info::proto::{P4Info, Preamble};
use std::env;
use std::fs;
use std::path::{Path, PathBuf};

fn p4info() -> P4Info {
    let text = r#"#include <tna.p4>
header h_t { bit<8> x; }
struct headers_t { h_t h; }
struct nothing_t {}
Register<bit<32>, bit<8>>(16) top;
parser IP(packet_in pkt, out headers_t hdr, out nothing_t md, out ingress_intrinsic_metadata_t intrinsic) {
    value_set<bit<8>>(4) kinds;
    state start {
        pkt.extract(intrinsic);
        pkt.extract(hdr.h);
        transition select(hdr.h.x) { kinds: accept; default: accept; }
    }
}
control I(
    inout headers_t hdr, inout nothing_t md, in ingress_intrinsic_metadata_t intrinsic,
    in ingress_intrinsic_metadata_from_parser_t from_parser,
    inout ingress_intrinsic_metadata_for_deparser_t for_deparser,
    inout ingress_intrinsic_metadata_for_tm_t for_tm)
{
    Counter<bit<64>, PortId_t>(512, CounterType_t.PACKETS_AND_BYTES) ports;
    Register<bit<32>, bit<8>>(256) cells;
    RegisterAction<bit<32>, bit<8>, bit<32>>(cells) increase = {
        void apply(inout bit<32> value) { value = value + 1; }
    };
    Hash<bit<66>>(HashAlgorithm_t.CRC32) hash;
    ActionProfile(1024) members;
    ActionSelector(members, hash, SelectorMode_t.FAIR, 64, 16) groups;
    action forward(PortId_t port) { for_tm.ucast_egress_port = port; }
    table spread {
        key = { hdr.h.x: selector; intrinsic.ingress_port: exact; }
        actions = { forward; }
        implementation = groups;
        idle_timeout = true;
    }
    apply { spread.apply(); ports.count(intrinsic.ingress_port); increase.execute(hdr.h.x); }
}
control ID(packet_out pkt, inout headers_t hdr, in nothing_t md) { apply { pkt.emit(hdr); } }
parser EP(packet_in pkt, out headers_t hdr, out nothing_t md) { state start { transition accept; } }
control E(inout headers_t hdr, inout nothing_t md) { apply {} }
Pipeline(IP(), I(), ID(), EP(), E(), ID()) pipe;
Switch(pipe) main;"#;
    let program = support::compile_text("tofino.p4", text, &[]);
    let program = program.unwrap_or_else(|error| panic!("{error}"));
    p4_info::p4info(&program).expect("a P4Info")
}

fn name(preamble: &Option<Preamble>) -> &str {
    &preamble.as_ref().expect("a preamble").name
}

#[test]
fn the_architecture_is_that_of_the_package() {
    let info = p4info();
    assert_eq!(info.pkg_info.expect("a package").arch, "tna");
}

#[test]
fn objects_are_called_as_without_a_pipeline() {
    let info = p4info();
    assert_eq!(name(&info.tables[0].preamble), "I.spread");
    let [counter] = &info.counters[..] else {
        panic!("{:?}", info.counters);
    };
    assert_eq!((name(&counter.preamble), counter.size), ("I.ports", 512));
    let [top, register] = &info.registers[..] else {
        panic!("{:?}", info.registers);
    };
    assert_eq!((name(&top.preamble), top.size), ("top", 16));
    assert_eq!((name(&register.preamble), register.size), ("I.cells", 256));
}

#[test]
fn ids_are_hashes_of_names_with_the_pipeline() {
    let info = p4info();
    let id = |preamble: &Option<Preamble>| preamble.as_ref().expect("a preamble").id & 0xff_ffff;
    let ids = [
        id(&info.tables[0].preamble),
        id(&info.counters[0].preamble),
        id(&info.registers[0].preamble),
        id(&info.value_sets[0].preamble),
    ];
    // Of pipe.I.spread, pipe.I.ports, pipe.top and pipe.IP.kinds.
    assert_eq!(ids, [0x57147d, 0xf8a540, 0xd4295f, 0x711517]);
}

#[test]
fn a_value_set_has_its_whole_name_as_alias() {
    let info = p4info();
    let preamble = info.value_sets[0].preamble.as_ref().expect("a preamble");
    let names = [preamble.name.as_str(), preamble.alias.as_str()];
    assert_eq!(names, ["IP.kinds", "pipe.IP.kinds"]);
}

#[test]
fn a_table_has_512_entries_and_the_idle_timeout_that_it_asks_for() {
    let info = p4info();
    assert_eq!(info.tables[0].size, 512);
    let behaviour = info.tables[0].idle_timeout_behavior();
    assert_eq!(behaviour, IdleTimeoutBehavior::NotifyControl);
}

#[test]
fn a_selector_and_its_profile_are_one_action_profile() {
    let info = p4info();
    let [profile] = &info.action_profiles[..] else {
        panic!("{:?}", info.action_profiles);
    };
    assert_eq!(name(&profile.preamble), "I.members");
    assert!(profile.with_selector);
    assert_eq!((profile.size, profile.max_group_size), (1024, 64));
    let id = profile.preamble.as_ref().map(|p| p.id);
    assert_eq!(Some(info.tables[0].implementation_id), id);
    let table = info.tables[0].preamble.as_ref().map(|p| p.id);
    assert_eq!(profile.table_ids, table.into_iter().collect::<Vec<_>>());
}

/// Programs whose P4Info p4c writes differently, and why.
const DIFFERENT: [(&str, &str); 17] = [
    ("bri_handle", VALUE_SETS),
    ("multipipe_simple", INSTANCES),
    ("port_metadata_unpack", TYPES),
    ("switch_tofino2_y1_mod", VALUE_SETS),
    ("switch_tofino_x1", ANNOTATIONS),
    ("switch_tofino_x1_mod", VALUE_SETS),
    ("switchml", TYPES),
    ("tna_32q_2pipe", TYPES),
    ("tna_32q_multiprogram_a", TYPES),
    ("tna_32q_multiprogram_b", TYPES),
    ("tna_alpm", ANNOTATIONS),
    ("tna_pktgen", VALUE_SETS),
    ("tna_port_metadata_extern", TYPES),
    ("tna_pvs", VALUE_SETS),
    ("tna_pvs_fixed", VALUE_SETS),
    ("tna_resubmit", TYPES),
    ("tna_ternary_match", TYPES),
];
const ANNOTATIONS: &str = "p4c reads the arguments of some annotations as expressions";
const INSTANCES: &str = "p4c numbers the instances of a control that several pipelines have";
const TYPES: &str = "p4c lists the types of port metadata and of direct registers";
const VALUE_SETS: &str = "p4c does not list what a value set matches";

/// Folders with programs for Tofino: the variable that names a checkout, and where in it they are.
const PROGRAMS: [(&str, &str); 2] = [
    (
        "P4C_TESTDATA",
        "../backends/p4tools/modules/testgen/targets/tofino/test/p4-programs",
    ),
    ("OPEN_P4STUDIO", "pkgsrc/p4-examples/p4_16_programs"),
];

/// Compares with what p4c's Tofino backend wrote. `P4C_TOFINO_P4INFO` names a folder with `tofino/NAME.txtpb` and
/// `tofino2/NAME.txtpb`, made with `--p4runtime-force-std-externs --p4runtime-files` and the architecture that the
/// program includes. `OURS` names a folder to leave texts in that differ.
// p4runtime: p4info-equal
#[test]
fn p4c_writes_the_same() {
    let Some(goldens) = env::var_os("P4C_TOFINO_P4INFO").map(PathBuf::from) else {
        eprintln!("skipped: P4C_TOFINO_P4INFO does not name a folder of p4c's P4Info");
        return;
    };
    let (mut compared, mut explained, mut different) = (0, Vec::new(), Vec::new());
    for program in programs() {
        let name = program.file_stem().expect("a file").to_string_lossy();
        for (number, target) in [("1", "tofino"), ("2", "tofino2")] {
            let golden = goldens.join(format!("{target}/{name}.txtpb"));
            let Ok(theirs) = fs::read_to_string(golden) else {
                continue;
            };
            compared += 1;
            let defines = [("__TARGET_TOFINO__".to_owned(), number.to_owned())];
            let folders = [program.parent().expect("a folder").to_owned()];
            let ours = match support::p4info_with(&program, &folders, &defines) {
                Ok(ours) => ours,
                Err(error) => {
                    different.push(format!("{name} ({target}): {error}"));
                    continue;
                }
            };
            let theirs = without_externs(&theirs);
            if ours == theirs {
                continue;
            }
            let difference = support::difference(&ours, &theirs);
            let said = format!("{name} ({target}): {difference}");
            match DIFFERENT.iter().find(|(known, _)| *known == name) {
                Some((_, why)) => explained.push(format!("{said}: {why}")),
                None => different.push(said),
            }
            if let Some(folder) = env::var_os("OURS").map(PathBuf::from) {
                fs::write(folder.join(format!("{name}.{target}.txtpb")), ours).expect("a folder");
            }
        }
    }
    println!(
        "{} of {compared} are equal\n{}",
        compared - explained.len() - different.len(),
        explained.join("\n")
    );
    assert!(compared > 0, "no program of these goldens is found");
    assert!(different.is_empty(), "{}", different.join("\n"));
}

fn programs() -> Vec<PathBuf> {
    let mut programs = Vec::new();
    for (variable, within) in PROGRAMS {
        match env::var_os(variable) {
            Some(root) => {
                programs.extend(support::files_within(&Path::new(&root).join(within), ".p4"))
            }
            None => eprintln!("{variable} is not set: its programs are not compared"),
        }
    }
    programs
}

/// A P4Info as text without its `externs`.
fn without_externs(text: &str) -> String {
    let mut inside = false;
    let kept = text.lines().filter(|line| {
        inside |= *line == "externs {";
        let keep = !inside;
        inside &= *line != "}";
        keep
    });
    kept.map(|line| format!("{line}\n")).collect()
}
