//! The status of many errors, and of a batch that was rolled back.

mod support;

use p4_info::proto::P4Info;
use p4runtime::proto::v1::entity::Entity as E;
use p4runtime::proto::v1::write_request::Atomicity;
use p4runtime::proto::v1::*;
use support::{Device, p4info_of, v1model};

/// Octets of a status that clients accept by default.
const LIMIT: usize = 8 << 10;

/// An INSERT that sets nothing.
fn empty() -> Update {
    Update {
        r#type: update::Type::Insert.into(),
        entity: Some(Entity::default()),
    }
}

// p4runtime: metadata-size
#[tokio::test]
async fn errors_of_a_program_are_as_many_as_a_header_holds() {
    let mut device = Device::start().await;
    let lines = |count: usize| "hdr.nothing = \"quoted  {} <text>\";\n".repeat(count);
    for count in [1, 2, 30, 90] {
        let source = v1model("", "", "", &lines(count));
        let status = device
            .commit(&source, P4Info::default())
            .await
            .expect_err("errors");
        let response = status.clone().into_http::<()>();
        let length = response.headers()["grpc-message"].len();
        assert!(length < LIMIT - 500, "{count} errors take {length} octets");
        assert_eq!(status.code(), tonic::Code::InvalidArgument);
        assert!(status.message().contains("nothing"), "{status}");
        assert_eq!(
            status.message().contains("more errors)"),
            count > 11,
            "{status}"
        );
    }
}

// p4runtime: rollback
#[tokio::test]
async fn the_cause_of_a_rollback_comes_first() {
    let source = v1model("", "", "register<bit<8>>(4) cells;", "");
    let p4info = p4info_of(&source).expect("it compiles");
    let mut device = Device::start().await;
    device
        .commit(&source, p4info.clone())
        .await
        .expect("it runs");
    let cell = |index| Update {
        r#type: update::Type::Modify.into(),
        entity: Some(Entity {
            entity: Some(E::RegisterEntry(RegisterEntry {
                register_id: p4info.registers[0]
                    .preamble
                    .as_ref()
                    .expect("it is named")
                    .id,
                index: Some(Index { index }),
                data: Some(P4Data {
                    data: Some(p4_data::Data::Bitstring(vec![1])),
                }),
            })),
        }),
    };
    for before in [2, 2_000] {
        let mut updates: Vec<Update> = (0..before).map(|at| cell(at % 4)).collect();
        updates.extend([cell(9), empty()]);
        let status = device.write_all(updates, Atomicity::RollbackOnError).await;
        let status = status.expect_err("there are four cells");
        let start = format!("update {before}: ");
        assert!(status.message().starts_with(&start), "{status}");
        let end = format!("(none of the {} updates was executed)", before + 2);
        assert!(status.message().contains(&end), "{status}");
    }
}
