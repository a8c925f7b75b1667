//! A program of the Tofino Native Architecture over P4Runtime: table, register, counter, meter, action profile, digest.

mod support;

use p4_info::proto::Preamble;
use p4runtime::proto::v1::entity::Entity as Of;
use p4runtime::proto::v1::stream_message_request::Update as Request;
use p4runtime::proto::v1::stream_message_response::Update as Response;
use p4runtime::proto::v1::update::Type::{Insert, Modify};
use p4runtime::proto::v1::*;
use support::{CPU_PORT, Device, p4info_of};

/// Forwards by the first octet, marks, counts and measures what has it, and reports the register's cell.
const PROGRAM: &str = r#"
#include <tna.p4>
header frame_t { bit<8> to; bit<8> mark; bit<8> number; bit<8> colour; }
struct headers_t { frame_t frame; }
struct report_t { bit<8> number; }
struct pair_t { bit<16> first; bit<16> second; }
struct nothing_t {}
parser IP(packet_in packet, out headers_t hdr, out nothing_t meta, out ingress_intrinsic_metadata_t intrinsic) {
    state start {
        packet.extract(intrinsic);
        packet.advance(PORT_METADATA_SIZE);
        packet.extract(hdr.frame);
        transition accept;
    }
}
control I(
    inout headers_t hdr, inout nothing_t meta, in ingress_intrinsic_metadata_t intrinsic,
    in ingress_intrinsic_metadata_from_parser_t from_parser,
    inout ingress_intrinsic_metadata_for_deparser_t for_deparser,
    inout ingress_intrinsic_metadata_for_tm_t for_tm)
{
    Counter<bit<64>, bit<8>>(256, CounterType_t.PACKETS) frames;
    Meter<bit<8>>(256, MeterType_t.PACKETS) rates;
    Register<bit<8>, bit<8>>(256) numbers;
    RegisterAction<bit<8>, bit<8>, bit<8>>(numbers) next = {
        void apply(inout bit<8> value, out bit<8> number) { value = value + 1; number = value; }
    };
    Register<pair_t, bit<8>>(256, {1, 2}) pairs;
    ActionProfile(16) ways;
    action forward(PortId_t port) { for_tm.ucast_egress_port = port; }
    action set_mark(bit<8> mark) { hdr.frame.mark = mark; }
    table routes {
        key = { hdr.frame.to: exact; }
        actions = { forward; }
        implementation = ways;
    }
    table marks {
        key = { hdr.frame.to: exact; }
        actions = { set_mark; }
    }
    apply {
        routes.apply();
        marks.apply();
        frames.count(hdr.frame.to);
        hdr.frame.number = next.execute(hdr.frame.to);
        hdr.frame.colour = rates.execute(hdr.frame.to);
        for_tm.bypass_egress = 1;
        for_deparser.digest_type = 1;
    }
}
control ID(
    packet_out packet, inout headers_t hdr, in nothing_t meta,
    in ingress_intrinsic_metadata_for_deparser_t for_deparser)
{
    Digest<report_t>() reports;
    apply {
        if (for_deparser.digest_type == 1) { reports.pack({ hdr.frame.number }); }
        packet.emit(hdr);
    }
}
parser EP(packet_in packet, out headers_t hdr, out nothing_t meta, out egress_intrinsic_metadata_t intrinsic) {
    state start { packet.extract(intrinsic); transition accept; }
}
control E(
    inout headers_t hdr, inout nothing_t meta, in egress_intrinsic_metadata_t intrinsic,
    in egress_intrinsic_metadata_from_parser_t from_parser,
    inout egress_intrinsic_metadata_for_deparser_t for_deparser,
    inout egress_intrinsic_metadata_for_output_port_t for_port)
{ apply {} }
control ED(
    packet_out packet, inout headers_t hdr, in nothing_t meta,
    in egress_intrinsic_metadata_for_deparser_t for_deparser)
{ apply { packet.emit(hdr); } }
Pipeline(IP(), I(), ID(), EP(), E(), ED()) pipe;
Switch(pipe) main;
"#;

const TO: u8 = 7;
const MARK: u8 = 9;
const GREEN: u8 = 0;
const RED: u8 = 3;
const MEMBER: u32 = 1;

fn id(preamble: &Option<Preamble>) -> u32 {
    preamble.as_ref().expect("a preamble").id
}

fn ends(preamble: &Option<Preamble>, end: &str) -> bool {
    preamble.as_ref().expect("a preamble").name.ends_with(end)
}

fn call(action_id: u32, value: Vec<u8>) -> Action {
    let params = vec![action::Param { param_id: 1, value }];
    Action { action_id, params }
}

fn entry(table_id: u32, action: table_action::Type) -> Of {
    let exact = field_match::Exact { value: vec![TO] };
    Of::TableEntry(TableEntry {
        table_id,
        r#match: vec![FieldMatch {
            field_id: 1,
            field_match_type: Some(field_match::FieldMatchType::Exact(exact)),
        }],
        action: Some(TableAction {
            r#type: Some(action),
        }),
        ..Default::default()
    })
}

fn cell(register_id: u32, data: Option<P4Data>) -> Of {
    Of::RegisterEntry(RegisterEntry {
        register_id,
        index: Some(Index {
            index: i64::from(TO),
        }),
        data,
    })
}

fn bits(value: u8) -> P4Data {
    P4Data {
        data: Some(p4_data::Data::Bitstring(vec![value])),
    }
}

#[tokio::test]
async fn a_tna_program_is_driven_as_any_other() {
    let p4info = p4info_of(PROGRAM).expect("the program compiles");
    assert_eq!(p4info.pkg_info.as_ref().expect("a package").arch, "tna");
    let table = |end| p4info.tables.iter().find(|t| ends(&t.preamble, end));
    let table = |end| id(&table(end).expect("a table").preamble);
    let action = |end| p4info.actions.iter().find(|a| ends(&a.preamble, end));
    let action = |end| id(&action(end).expect("an action").preamble);
    let (routes, marks) = (table("routes"), table("marks"));
    let (forward, set_mark) = (action("forward"), action("set_mark"));
    let profile = id(&p4info.action_profiles[0].preamble);
    let counter_id = id(&p4info.counters[0].preamble);
    let meter_id = id(&p4info.meters[0].preamble);
    let numbers = id(&p4info.registers[0].preamble);
    let digest_id = id(&p4info.digests[0].preamble);
    let mut device = Device::start().await;
    let committed = device.commit(PROGRAM, p4info).await;
    committed.expect("the program is accepted");

    let config = digest_entry::Config {
        max_timeout_ns: 0,
        max_list_size: 1,
        ack_timeout_ns: 0,
    };
    let digest = DigestEntry {
        digest_id,
        config: Some(config),
    };
    let member = ActionProfileMember {
        action_profile_id: profile,
        member_id: MEMBER,
        action: Some(call(forward, CPU_PORT.to_be_bytes().into())),
    };
    let one_frame = MeterConfig {
        cir: 1,
        cburst: 1,
        pir: 1,
        pburst: 1,
        ..Default::default()
    };
    let meter = MeterEntry {
        meter_id,
        index: Some(Index {
            index: i64::from(TO),
        }),
        config: Some(one_frame),
        ..Default::default()
    };
    let by_member = table_action::Type::ActionProfileMemberId(MEMBER);
    let by_action = table_action::Type::Action(call(set_mark, vec![MARK]));
    let updates = [
        (Insert, Of::DigestEntry(digest)),
        (Insert, Of::ActionProfileMember(member)),
        (Insert, entry(routes, by_member)),
        (Insert, entry(marks, by_action)),
        (Modify, Of::MeterEntry(meter)),
        (Modify, cell(numbers, Some(bits(41)))),
    ];
    for (kind, update) in updates {
        let said = format!("{update:?}");
        let written = device.write(kind, update).await;
        written.unwrap_or_else(|error| panic!("{said}: {error}"));
    }

    for (number, colour) in [(42, GREEN), (43, RED)] {
        let sent = PacketOut {
            payload: vec![TO, 0, 0, 0, 1, 2],
            metadata: Vec::new(),
        };
        device.send(Request::Packet(sent)).await;
        let (mut packet, mut digest) = (None, None);
        for _ in 0..2 {
            match device.receive().await {
                Response::Packet(received) => packet = Some(received.payload),
                Response::Digest(list) => digest = Some((list.digest_id, list.data)),
                other => panic!("{other:?}"),
            }
        }
        assert_eq!(packet, Some(vec![TO, MARK, number, colour, 1, 2]));
        let (of, data) = digest.expect("a digest");
        assert_eq!(of, digest_id);
        let report = p4_data::Data::Struct(P4StructLike {
            members: vec![bits(number)],
        });
        assert_eq!(data, [P4Data { data: Some(report) }]);
    }

    let read = device.read(cell(numbers, None)).await;
    let read = read.expect("the register is known");
    assert_eq!(read, [cell(numbers, Some(bits(43)))]);
    let counted = Of::CounterEntry(CounterEntry {
        counter_id,
        index: Some(Index {
            index: i64::from(TO),
        }),
        data: None,
    });
    let read = device.read(counted).await.expect("the counter is known");
    let [Of::CounterEntry(counted)] = &read[..] else {
        panic!("{read:?}");
    };
    assert_eq!(counted.data.as_ref().expect("counts").packet_count, 2);
}

#[tokio::test]
async fn a_program_that_tofino_cannot_do_is_refused_with_its_place() {
    let in_range = PROGRAM.replace("hdr.frame.to: exact;", "hdr.frame.wide: range;");
    let broken = in_range.replace("bit<8> colour; }", "bit<8> colour; bit<32> wide; }");
    let p4info = p4info_of(&broken).expect("the language allows it");
    let mut device = Device::start().await;
    let refused = device.commit(&broken, p4info).await.unwrap_err();
    assert_eq!(refused.code(), tonic::Code::InvalidArgument);
    let line = 1 + broken
        .lines()
        .position(|line| line.contains(": range"))
        .expect("it is there");
    let said = refused.message();
    for part in [
        "[range-key] Error: `hdr.frame.wide` is a range key of 32 bits".to_owned(),
        format!("p4_device_config:{line}:"),
        "a switch with the option --no-target-rules takes it".to_owned(),
    ] {
        assert!(said.contains(&part), "{part}: {said}");
    }
}

fn pair(values: &[&[u8]]) -> P4Data {
    let members = values.iter().map(|value| P4Data {
        data: Some(p4_data::Data::Bitstring(value.to_vec())),
    });
    P4Data {
        data: Some(p4_data::Data::Struct(P4StructLike {
            members: members.collect(),
        })),
    }
}

// p4runtime: register-struct
#[tokio::test]
async fn a_cell_with_a_struct_is_read_and_written_whole() {
    let p4info = p4info_of(PROGRAM).expect("the program compiles");
    let pairs = p4info.registers.iter();
    let pairs = pairs.rev().find(|r| ends(&r.preamble, "pairs"));
    let pairs = id(&pairs.expect("a register").preamble);
    let mut device = Device::start().await;
    let committed = device.commit(PROGRAM, p4info).await;
    committed.expect("the program is accepted");

    let initial = cell(pairs, Some(pair(&[&[1], &[2]])));
    assert_eq!(
        device.read(cell(pairs, None)).await.expect("it is read"),
        [initial]
    );
    let written = cell(pairs, Some(pair(&[&[0x12, 0x34], &[0x56]])));
    device
        .write(Modify, written.clone())
        .await
        .expect("it fits");
    assert_eq!(
        device.read(cell(pairs, None)).await.expect("it is read"),
        [written]
    );

    let too_large = cell(pairs, Some(pair(&[&[1, 0, 0], &[0]])));
    let refused = device.write(Modify, too_large).await.unwrap_err();
    let refused = refused.to_string();
    assert!(refused.contains("expected a value of 16 bits"), "{refused}");
    let too_few = cell(pairs, Some(pair(&[&[1]])));
    let refused = device.write(Modify, too_few).await.unwrap_err();
    let refused = refused.to_string();
    assert!(
        refused.contains("a struct of 2 members, found 1"),
        "{refused}"
    );
}
