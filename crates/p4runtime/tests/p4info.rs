//! P4Info that leaves out what the program has, or names it otherwise, fits the program; entities and packets go by it.

mod support;

use p4_info::proto::P4Info;
use p4runtime::proto::v1::entity::Entity as E;
use p4runtime::proto::v1::field_match::{Exact, FieldMatchType, Ternary};
use p4runtime::proto::v1::stream_message_request::Update as Request;
use p4runtime::proto::v1::stream_message_response::Update as Response;
use p4runtime::proto::v1::update::Type::{Insert, Modify};
use p4runtime::proto::v1::*;
use support::{Device, p4info_of, v1model};

/// A device that runs a program, and its P4Info.
async fn running(source: &str) -> (Device, P4Info) {
    let p4info = p4info_of(source).unwrap_or_else(|error| panic!("{error}"));
    let mut device = Device::start().await;
    let committed = device.commit(source, p4info.clone()).await;
    committed.unwrap_or_else(|status| panic!("{}", status.message()));
    (device, p4info)
}

fn action_id(p4info: &P4Info, alias: &str) -> u32 {
    let mut preambles = p4info.actions.iter().filter_map(|a| a.preamble.as_ref());
    preambles
        .find(|p| p.alias == alias)
        .expect("it is listed")
        .id
}

/// An entry of the first table with one exact field, whose action takes one parameter.
fn entry(p4info: &P4Info, key: &[u8], action: &str, value: &[u8]) -> E {
    let action = Action {
        action_id: action_id(p4info, action),
        params: vec![action::Param {
            param_id: 1,
            value: value.into(),
        }],
    };
    E::TableEntry(TableEntry {
        table_id: p4info.tables[0].preamble.as_ref().expect("it is named").id,
        r#match: vec![FieldMatch {
            field_id: 1,
            field_match_type: Some(FieldMatchType::Exact(Exact { value: key.into() })),
        }],
        action: Some(TableAction {
            r#type: Some(table_action::Type::Action(action)),
        }),
        ..Default::default()
    })
}

/// Whether an entry is written, and read as it was written.
async fn is_kept(device: &mut Device, entry: E) -> bool {
    let written = device.write(Insert, entry.clone()).await.is_ok();
    let E::TableEntry(TableEntry { table_id, .. }) = &entry else {
        return false;
    };
    let all = TableEntry {
        table_id: *table_id,
        ..Default::default()
    };
    let found = device.read(E::TableEntry(all)).await.expect("a table");
    written && found.contains(&entry)
}

fn metadata(values: &[&[u8]]) -> Vec<PacketMetadata> {
    let metadata = |(value, metadata_id): (&&[u8], u32)| PacketMetadata {
        metadata_id,
        value: value.to_vec(),
    };
    values.iter().zip(1..).map(metadata).collect()
}

/// What comes back for a packet from the controller.
async fn answer(device: &mut Device, values: &[&[u8]], payload: &[u8]) -> PacketIn {
    let packet = PacketOut {
        payload: payload.into(),
        metadata: metadata(values),
    };
    device.send(Request::Packet(packet)).await;
    match device.receive().await {
        Response::Packet(packet) => packet,
        other => panic!("{other:?}"),
    }
}

/// P4Info lists such an action without parameters: its arguments are the program's own.
#[tokio::test]
async fn parameters_of_actions_that_are_called_are_left_out() {
    let members = "
        action add(bit<8> n) { hdr.probe.mark = hdr.probe.mark + n; }
        action listed(bit<8> n) { hdr.probe.mark = n; }
        table t { key = { hdr.probe.kind : exact; } actions = { listed; NoAction; } }";
    let source = v1model("", "", members, "add(5); listed(1); t.apply();");
    let (mut device, p4info) = running(&source).await;
    let params = |alias| {
        let id = action_id(&p4info, alias);
        let mut actions = p4info.actions.iter();
        let found = actions.find(|a| a.preamble.as_ref().is_some_and(|p| p.id == id));
        found.expect("it is listed").params.len()
    };
    assert_eq!((params("add"), params("listed")), (0, 1));
    assert!(is_kept(&mut device, entry(&p4info, b"\x07", "listed", b"\x09")).await);
    assert_eq!(
        answer(&mut device, &[], &[7, 0, 0, 0, 0, 0]).await.payload[1],
        9
    );
    assert_eq!(
        answer(&mut device, &[], &[8, 0, 0, 0, 0, 0]).await.payload[1],
        1
    );

    // An action that a table lists needs them.
    let mut without = p4info.clone();
    without
        .actions
        .iter_mut()
        .for_each(|action| action.params.clear());
    let refused = device
        .commit(&source, without)
        .await
        .expect_err("no parameter");
    assert!(
        refused
            .message()
            .contains("`MyIngress.listed` has a parameter `n`"),
        "{refused}"
    );
}

#[tokio::test]
async fn parameters_and_header_fields_go_by_their_control_plane_names() {
    let types = r#"
        @controller_header("packet_in") header in_h { @name("ingress") bit<9> i; bit<7> padding; }
        @controller_header("packet_out") header out_h { @name("egress") bit<9> e; bit<7> padding; }"#;
    let members = r#"
        action send(@name("index") bit<8> n) {
            hdr.packet_in.setValid();
            hdr.packet_in.i = hdr.packet_out.e;
            hdr.probe.mark = n;
        }
        table t { key = { hdr.probe.kind : exact; } actions = { send; NoAction; } }"#;
    let source = v1model(
        types,
        "in_h packet_in; out_h packet_out;",
        members,
        "t.apply();",
    );
    let (mut device, p4info) = running(&source).await;
    assert_eq!(
        p4info.controller_packet_metadata[0].metadata[0].name,
        "ingress"
    );
    assert!(is_kept(&mut device, entry(&p4info, b"\x07", "send", b"\x09")).await);
    let packet = answer(&mut device, &[b"\x01\x05", b"\0"], &[7, 0, 1, 2, 3, 4]).await;
    assert_eq!(packet.metadata, metadata(&[b"\x01\x05", b"\0"]));
    assert_eq!(packet.payload, [7, 9, 1, 2, 3, 4]);
}

#[tokio::test]
async fn header_fields_of_structs_are_listed_one_by_one() {
    let types = r#"
        struct inner_t { bit<4> low; bit<3> high; }
        struct outer_t { inner_t both; bit<9> port; }
        @controller_header("packet_in") header in_h { outer_t of; }
        @controller_header("packet_out") header out_h { outer_t of; }"#;
    let apply = "hdr.packet_in.setValid(); hdr.packet_in.of = hdr.packet_out.of;";
    let source = v1model(types, "in_h packet_in; out_h packet_out;", "", apply);
    let (mut device, p4info) = running(&source).await;
    let names = p4info.controller_packet_metadata[0].metadata.iter();
    let names: Vec<_> = names.map(|metadata| metadata.name.as_str()).collect();
    assert_eq!(names, ["of.both.low", "of.both.high", "of.port"]);
    let values: [&[u8]; 3] = [b"\x0b", b"\x05", b"\x01\x02"];
    let packet = answer(&mut device, &values, &[7, 0, 1, 2, 3, 4]).await;
    assert_eq!(packet.metadata, metadata(&values));
    assert_eq!(packet.payload, [7, 0, 1, 2, 3, 4]);
}

#[tokio::test]
async fn an_action_profile_that_no_table_uses_takes_no_members() {
    let members = "
        action_selector(HashAlgorithm.crc16, 32, 16) unused;
        action mark(bit<8> n) { hdr.probe.mark = n; }
        table t { key = { hdr.probe.kind : exact; } actions = { mark; NoAction; } }";
    let (mut device, p4info) = running(&v1model("", "", members, "t.apply();")).await;
    let profile = p4info.action_profiles[0]
        .preamble
        .as_ref()
        .expect("it is named");
    let member = ActionProfileMember {
        action_profile_id: profile.id,
        member_id: 1,
        action: Some(Action {
            action_id: action_id(&p4info, "mark"),
            params: Vec::new(),
        }),
    };
    let status = device.write(Insert, E::ActionProfileMember(member)).await;
    let message = status.expect_err("no table").message().to_string();
    assert!(
        message.contains("`MyIngress.unused`: the program uses it in no table"),
        "{message}"
    );
    let all = ActionProfileMember::default();
    assert_eq!(
        device
            .read(E::ActionProfileMember(all))
            .await
            .expect("no members"),
        []
    );
    assert!(is_kept(&mut device, entry(&p4info, b"\x07", "mark", b"\x09")).await);
}

// p4runtime: translated-width
#[tokio::test]
async fn a_translated_value_fits_the_narrower_of_both_types() {
    for (width, sdn, most, beyond) in [
        (48, 16, &b"\xff\xff"[..], &b"\x01\0\0"[..]),
        (9, 32, b"\x01\xff", b"\x02\0"),
    ] {
        let types = format!(
            "@p4runtime_translation(\"waymark/id\", bit<{sdn}>) type bit<{width}> id_t;
             header id_h {{ id_t id; bit<7> padding; }}"
        );
        let members = "
            id_h id;
            action set(id_t to) { id.id = to; }
            table t { key = { id.id : exact; } actions = { set; NoAction; } }";
        let source = v1model(&types, "", members, "id.setValid(); t.apply();");
        let (mut device, p4info) = running(&source).await;
        assert_eq!(p4info.tables[0].match_fields[0].bitwidth, sdn);
        assert!(is_kept(&mut device, entry(&p4info, most, "set", most)).await);
        assert!(!is_kept(&mut device, entry(&p4info, beyond, "set", b"\x01")).await);
        assert!(!is_kept(&mut device, entry(&p4info, b"\x01", "set", beyond)).await);
    }
}

#[tokio::test]
async fn the_mask_of_all_bits_has_the_width_of_the_clients_type() {
    let types = "@p4runtime_translation(\"waymark/id\", bit<32>) type bit<9> id_t;
         header id_h { id_t id; bit<7> padding; }";
    let members = "
        id_h id;
        action set(id_t to) { id.id = to; }
        table t { key = { id.id : ternary; } actions = { set; NoAction; } }";
    let source = v1model(types, "", members, "id.setValid(); t.apply();");
    let (mut device, p4info) = running(&source).await;
    let masked = |value: &[u8], mask: &[u8]| {
        let E::TableEntry(mut entry) = entry(&p4info, value, "set", b"\x01") else {
            unreachable!("it is a table entry");
        };
        entry.priority = 1;
        entry.r#match[0].field_match_type = Some(FieldMatchType::Ternary(Ternary {
            value: value.into(),
            mask: mask.into(),
        }));
        E::TableEntry(entry)
    };
    assert!(is_kept(&mut device, masked(b"\x07", b"\xff\xff\xff\xff")).await);
    assert!(is_kept(&mut device, masked(b"\x01\x04", b"\x01\x0f")).await);
    assert!(!is_kept(&mut device, masked(b"\x08", b"\xff\xff")).await);
}

// p4runtime: translated-string
#[tokio::test]
async fn a_value_translated_to_a_string_is_a_decimal_number() {
    let types = r#"
        @p4runtime_translation("waymark/id", string) type bit<8> id_t;
        @controller_header("packet_in") header in_h { id_t id; }
        @controller_header("packet_out") header out_h { id_t id; }"#;
    let members = "
        action set(id_t to) { hdr.packet_in.id = to; }
        table t { key = { hdr.packet_out.id : exact; } actions = { set; NoAction; } }";
    let apply = "hdr.packet_in.setValid(); t.apply();";
    let source = v1model(types, "in_h packet_in; out_h packet_out;", members, apply);
    let (mut device, p4info) = running(&source).await;
    assert!(is_kept(&mut device, entry(&p4info, b"17", "set", b"204")).await);
    assert!(!is_kept(&mut device, entry(&p4info, b"256", "set", b"1")).await);
    assert!(!is_kept(&mut device, entry(&p4info, b"eth0", "set", b"1")).await);
    let packet = answer(&mut device, &[b"17"], &[7, 0, 1, 2, 3, 4]).await;
    assert_eq!(packet.metadata, metadata(&[b"204"]));
}

#[tokio::test]
async fn only_exact_and_optional_fields_are_translated() {
    let types = r#"@p4runtime_translation("waymark/id", bit<16>) type bit<32> id_t;
        header id_h { id_t id; }"#;
    let members = "
        id_h id;
        action set(id_t to) { id.id = to; }
        table t { key = { id.id : lpm; } actions = { set; NoAction; } }";
    let source = v1model(types, "", members, "id.setValid(); t.apply();");
    let p4info = p4info_of(&source).expect("it compiles");
    let refused = Device::start().await.commit(&source, p4info).await;
    let message = refused
        .expect_err("a prefix of other bits")
        .message()
        .to_string();
    assert!(
        message.contains("by LPM, and its type is translated"),
        "{message}"
    );
}

#[tokio::test]
async fn fields_of_value_sets_go_by_their_control_plane_names() {
    let types = r#"struct accepted_t { @name("type") bit<8> kind; @match(ternary) bit<8> mark; }"#;
    let source = v1model(types, "", "", "").replace(
        "state start { ",
        "value_set<accepted_t>(4) accepted;
         state start { transition select(packet.lookahead<bit<8>>(), 8w0) { accepted: probe; default: reject; } }
         state probe { ",
    );
    let (_, p4info) = running(&source).await;
    assert_eq!(p4info.value_sets[0].r#match[0].name, "type");
}

#[tokio::test]
async fn a_value_set_of_an_enum_has_one_component() {
    let types = "enum bit<8> kind_t { probe = 7, other = 8 }";
    let source = v1model(types, "", "", "").replace(
        "state start { ",
        "value_set<kind_t>(4) accepted;
         state start { transition select((kind_t)packet.lookahead<bit<8>>()) { accepted: probe; default: reject; } }
         state probe { ",
    );
    let (mut device, p4info) = running(&source).await;
    let exact = |value: &[u8]| FieldMatch {
        field_id: 1,
        field_match_type: Some(FieldMatchType::Exact(Exact {
            value: value.into(),
        })),
    };
    let set = E::ValueSetEntry(ValueSetEntry {
        value_set_id: p4info.value_sets[0]
            .preamble
            .as_ref()
            .expect("it is named")
            .id,
        members: vec![ValueSetMember {
            r#match: vec![exact(b"\x07")],
        }],
    });
    device.write(Modify, set.clone()).await.expect("a set");
    assert_eq!(device.read(set.clone()).await.expect("a set"), [set]);
}

/// Digests of types without a name are numbered.
#[tokio::test]
async fn a_digest_goes_by_the_type_of_its_data() {
    let apply = "
        digest<tuple<bit<8>>>(1, { hdr.probe.kind });
        digest<tuple<bit<32>>>(1, { hdr.probe.rest });";
    let (mut device, p4info) = running(&v1model("", "", "", apply)).await;
    let mut ids = Vec::new();
    for digest in &p4info.digests {
        let digest_id = digest.preamble.as_ref().expect("it is named").id;
        let config = digest_entry::Config::default();
        let entry = DigestEntry {
            digest_id,
            config: Some(config),
        };
        device
            .write(Insert, E::DigestEntry(entry))
            .await
            .expect("it is enabled");
        ids.push(digest_id);
    }
    let packet = PacketOut {
        payload: vec![7, 0, 1, 2, 3, 4],
        metadata: Vec::new(),
    };
    device.send(Request::Packet(packet)).await;
    let mut lists = Vec::new();
    while lists.len() < 2 {
        if let Response::Digest(list) = device.receive().await {
            lists.push(list);
        }
    }
    let of = |octets: &[u8]| {
        let data = Some(p4_data::Data::Bitstring(octets.into()));
        let members = vec![P4Data { data }];
        let data = Some(p4_data::Data::Tuple(P4StructLike { members }));
        vec![P4Data { data }]
    };
    lists.sort_by_key(|list| ids.iter().position(|id| *id == list.digest_id));
    assert_eq!(lists[0].data, of(b"\x07"));
    assert_eq!(lists[1].data, of(b"\x01\x02\x03\x04"));
}

/// More lists than the stream's backlog holds, for a controller that reads none of them until all were sent.
// p4runtime: digest-each
#[tokio::test]
async fn digests_wait_for_a_controller_that_reads_slowly() {
    const COUNT: u32 = 4_200;
    let apply = "digest<tuple<bit<32>>>(1, { hdr.probe.rest }); mark_to_drop(std);";
    let (mut device, p4info) = running(&v1model("", "", "", apply)).await;
    let config = digest_entry::Config {
        ack_timeout_ns: i64::MAX,
        ..Default::default()
    };
    let entry = DigestEntry {
        digest_id: p4info.digests[0].preamble.as_ref().expect("it is named").id,
        config: Some(config),
    };
    device
        .write(Insert, E::DigestEntry(entry))
        .await
        .expect("it is enabled");
    for number in 0..COUNT {
        let payload = [&[7, 0][..], &number.to_be_bytes()].concat();
        let metadata = Vec::new();
        device
            .send(Request::Packet(PacketOut { payload, metadata }))
            .await;
    }
    for number in 0..COUNT {
        let Response::Digest(list) = device.receive().await else {
            panic!("digests alone are sent");
        };
        assert_eq!(
            list.list_id,
            u64::from(number) + 1,
            "in the order in which they came"
        );
    }
}
