//! A program of the Portable Switch Architecture over P4Runtime: tables, counters, packets, digests.

mod support;

use p4runtime::proto::v1::stream_message_request::Update as Request;
use p4runtime::proto::v1::stream_message_response::Update as Response;
use p4runtime::proto::v1::*;
use support::{CPU_PORT, Device, p4info_of};

/// Forwards by the first octet, counts by port, and reports that octet.
const PROGRAM: &str = r#"
#include <psa.p4>
header frame_t { bit<8> to; }
struct headers_t { frame_t frame; }
struct report_t { bit<8> to; }
struct nothing_t {}
parser IP(
    packet_in packet, out headers_t hdr, inout nothing_t meta, in psa_ingress_parser_input_metadata_t istd,
    in nothing_t resubmitted, in nothing_t recirculated)
{ state start { packet.extract(hdr.frame); transition accept; } }
control I(
    inout headers_t hdr, inout nothing_t meta, in psa_ingress_input_metadata_t istd,
    inout psa_ingress_output_metadata_t ostd)
{
    Counter<bit<64>, bit<8>>(256, PSA_CounterType_t.PACKETS) frames;
    action forward(PortId_t port) { send_to_port(ostd, port); }
    table routes {
        key = { hdr.frame.to: exact; }
        actions = { forward; NoAction; }
        default_action = NoAction;
    }
    apply { frames.count(hdr.frame.to); routes.apply(); }
}
control ID(
    packet_out packet, out nothing_t cloned, out nothing_t resubmitted, out nothing_t normal, inout headers_t hdr,
    in nothing_t meta, in psa_ingress_output_metadata_t istd)
{
    Digest<report_t>() reports;
    apply {
        reports.pack({ hdr.frame.to });
        packet.emit(hdr.frame);
    }
}
parser EP(
    packet_in packet, out headers_t hdr, inout nothing_t meta, in psa_egress_parser_input_metadata_t istd,
    in nothing_t normal, in nothing_t cloned_ingress, in nothing_t cloned_egress)
{ state start { packet.extract(hdr.frame); transition accept; } }
control E(
    inout headers_t hdr, inout nothing_t meta, in psa_egress_input_metadata_t istd,
    inout psa_egress_output_metadata_t ostd)
{ apply {} }
control ED(
    packet_out packet, out nothing_t cloned, out nothing_t recirculated, inout headers_t hdr, in nothing_t meta,
    in psa_egress_output_metadata_t istd, in psa_egress_deparser_input_metadata_t edstd)
{ apply { packet.emit(hdr.frame); } }
PSA_Switch(
    IngressPipeline(IP(), I(), ID()), PacketReplicationEngine(),
    EgressPipeline(EP(), E(), ED()), BufferingQueueingEngine()) main;
"#;

#[tokio::test]
async fn a_psa_program_is_driven_as_any_other() {
    let p4info = p4info_of(PROGRAM).expect("the program compiles");
    let id = |preamble: &Option<p4_info::proto::Preamble>| preamble.as_ref().expect("one").id;
    let table_id = id(&p4info.tables[0].preamble);
    let forwards = |action: &&p4_info::proto::Action| action.params.len() == 1;
    let action = p4info.actions.iter().find(forwards).expect("forward");
    let action_id = id(&action.preamble);
    let counter_id = id(&p4info.counters[0].preamble);
    let digest_id = id(&p4info.digests[0].preamble);
    let mut device = Device::start().await;
    let committed = device.commit(PROGRAM, p4info).await;
    committed.expect("the program is accepted");

    let config = digest_entry::Config {
        max_timeout_ns: 0,
        max_list_size: 1,
        ack_timeout_ns: 0,
    };
    let digest = entity::Entity::DigestEntry(DigestEntry {
        digest_id,
        config: Some(config),
    });
    device
        .write(update::Type::Insert, digest)
        .await
        .expect("the digest is known");
    let exact = field_match::FieldMatchType::Exact(field_match::Exact { value: vec![7] });
    let port = action::Param {
        param_id: 1,
        value: CPU_PORT.to_be_bytes().into(),
    };
    let entry = TableEntry {
        table_id,
        r#match: vec![FieldMatch {
            field_id: 1,
            field_match_type: Some(exact),
        }],
        action: Some(TableAction {
            r#type: Some(table_action::Type::Action(Action {
                action_id,
                params: vec![port],
            })),
        }),
        ..Default::default()
    };
    let entry = entity::Entity::TableEntry(entry);
    device
        .write(update::Type::Insert, entry)
        .await
        .expect("the entry is valid");

    let sent = PacketOut {
        payload: vec![7, 1, 2, 3],
        metadata: Vec::new(),
    };
    device.send(Request::Packet(sent)).await;
    let (mut packet, mut digest) = (None, None);
    for _ in 0..2 {
        match device.receive().await {
            Response::Packet(received) => packet = Some(received.payload),
            Response::Digest(list) => digest = Some((list.digest_id, list.data.len())),
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(packet, Some(vec![7, 1, 2, 3]));
    assert_eq!(digest, Some((digest_id, 1)));

    let cell = entity::Entity::CounterEntry(CounterEntry {
        counter_id,
        index: Some(Index { index: 7 }),
        data: None,
    });
    let read = device.read(cell).await.expect("the counter is known");
    let [entity::Entity::CounterEntry(cell)] = &read[..] else {
        panic!("{read:?}");
    };
    let data = cell.data.as_ref().expect("counts");
    assert_eq!(data.packet_count, 1);
}
