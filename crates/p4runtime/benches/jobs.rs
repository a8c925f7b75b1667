//! How long packets wait for the control plane: the longest job of each kind of request, on the thread that forwards.
//!
//! An argument names a kind of table: `cargo bench -p p4runtime --bench jobs -- lpm`. Without one, all are measured, each in a
//! separate process. The allocator is that of the module `waymark._core`, with its settings.

#[path = "../tests/support/mod.rs"]
mod support;

use p4runtime::proto::v1::table_action::Type as ActionType;
use p4runtime::proto::v1::update::Type;
use p4runtime::proto::v1::write_request::Atomicity;
use p4runtime::proto::v1::{Action, Update, action};
use p4runtime::proto::v1::{
    CounterData, CounterEntry, DirectCounterEntry, FieldMatch, TableAction, TableEntry,
};
use p4runtime::proto::v1::{entity::Entity, field_match};
use std::time::Instant;
use support::Device;

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

/// Entries of the table, and cells of the counter.
const ENTRIES: u32 = 100_000;
/// Entries in one request.
const BATCH: usize = 1_000;

/// A table of each kind of index; all entries have a counter and may go idle.
const MEMBERS: &str = "
    counter(100000, CounterType.packets) cells;
    direct_counter(CounterType.packets) hits;
    action set(bit<8> mark) { hdr.probe.mark = mark; }
    table marks {
        key = { hdr.probe.rest : KIND; }
        actions = { set; NoAction; }
        default_action = NoAction();
        counters = hits;
        support_timeout = true;
        size = 100000;
    }";

const KINDS: [&str; 3] = ["exact", "lpm", "ternary"];

#[tokio::main]
async fn main() {
    let mut arguments = std::env::args();
    let program = arguments.next().expect("the program's name");
    if let Some(kind) = arguments.find(|name| KINDS.contains(&&**name)) {
        return measure(&kind).await;
    }
    println!("the longest job of {ENTRIES} updates or entries, and the rate of all");
    for kind in KINDS {
        let measured = std::process::Command::new(&program).arg(kind).status();
        assert!(measured.is_ok_and(|status| status.success()), "{kind}");
    }
}

async fn measure(kind: &str) {
    #[cfg(all(target_os = "linux", target_arch = "x86_64"))]
    tikv_jemalloc_ctl::background_thread::write(true).expect("the allocator has threads");
    let members = MEMBERS.replace("KIND", kind);
    let apply = "cells.count(0); marks.apply();";
    let source = support::v1model("", "", &members, apply);
    let p4info = support::p4info_of(&source).expect("the program compiles");
    let table = p4info.tables[0].preamble.as_ref().expect("a table").id;
    let ids = p4info.actions.iter().filter_map(|a| a.preamble.as_ref());
    let counter = p4info.counters[0].preamble.as_ref();
    let counter_of_cells = counter.expect("a counter").id;
    let action = ids.filter(|a| a.name.ends_with("set")).map(|a| a.id).next();
    let entry =
        |number: u32, timeout_ns| entry(kind, table, action.unwrap_or(0), number, timeout_ns);
    let mut device = Device::start().await;
    device
        .commit(&source, p4info)
        .await
        .expect("the program runs");
    let updates = |kind: Type, timeout_ns| -> Vec<Update> {
        let entities = (0..ENTRIES).map(|number| Entity::TableEntry(entry(number, timeout_ns)));
        let update = |entity: Entity| Update {
            r#type: kind.into(),
            entity: Some(p4runtime::proto::v1::Entity {
                entity: Some(entity),
            }),
        };
        entities.map(update).collect()
    };
    for (name, change, timeout_ns) in [
        ("insert", Type::Insert, 0),
        ("modify", Type::Modify, 0),
        ("delete", Type::Delete, 0),
        ("insert with an idle timeout", Type::Insert, 1_000_000_000),
    ] {
        let updates = updates(change, timeout_ns);
        let begin = start(&device);
        for batch in updates.chunks(BATCH) {
            let written = device.write_all(batch.to_vec(), Atomicity::ContinueOnError);
            written.await.expect("all are written");
        }
        report(kind, name, &device, begin);
    }
    for (name, what) in [
        (
            "read of all entries",
            Entity::TableEntry(TableEntry {
                table_id: table,
                ..Default::default()
            }),
        ),
        (
            "read of all direct counters",
            Entity::DirectCounterEntry(DirectCounterEntry::default()),
        ),
        (
            "read of all counters",
            Entity::CounterEntry(CounterEntry::default()),
        ),
    ] {
        let begin = start(&device);
        let found = device.read(what).await.expect("it can be read").len();
        assert_eq!(found, ENTRIES as usize, "{name}");
        report(kind, name, &device, begin);
    }
    for (name, change) in [
        ("modify at once", Type::Modify),
        ("delete at once", Type::Delete),
        ("insert at once", Type::Insert),
    ] {
        let updates = updates(change, 0);
        let begin = start(&device);
        let written = device.write_all(updates, Atomicity::DataplaneAtomic);
        written.await.expect("all are written");
        report(kind, name, &device, begin);
    }
    let counter = CounterEntry::default();
    let cells = device.read(Entity::CounterEntry(counter)).await;
    let cells = cells.expect("they can be read").into_iter();
    let cells = cells.map(|cell| Update {
        r#type: Type::Modify.into(),
        entity: Some(p4runtime::proto::v1::Entity { entity: Some(cell) }),
    });
    let cells: Vec<_> = cells.collect();
    let begin = start(&device);
    let written = device.write_all(cells, Atomicity::DataplaneAtomic);
    written.await.expect("all are written");
    report(kind, "set counters at once", &device, begin);
    let all = CounterEntry {
        counter_id: counter_of_cells,
        data: Some(CounterData::default()),
        ..Default::default()
    };
    let all = Update {
        r#type: Type::Modify.into(),
        entity: Some(p4runtime::proto::v1::Entity {
            entity: Some(Entity::CounterEntry(all)),
        }),
    };
    let begin = start(&device);
    let written = device.write_all(vec![all], Atomicity::DataplaneAtomic);
    written.await.expect("all are written");
    report(kind, "set all cells at once", &device, begin);
}

fn start(device: &Device) -> Instant {
    device.local.take_longest_job();
    Instant::now()
}

fn report(kind: &str, name: &str, device: &Device, begin: Instant) {
    let rate = f64::from(ENTRIES) / begin.elapsed().as_secs_f64();
    let longest = device.local.take_longest_job().as_secs_f64() * 1e3;
    println!("{kind:8} {name:28} {longest:8.3} ms {rate:10.0}/s");
}

fn entry(
    kind: &str,
    table_id: u32,
    action_id: u32,
    number: u32,
    idle_timeout_ns: i64,
) -> TableEntry {
    // Values that are far apart, in the canonical form.
    let octets = (number + 1).wrapping_mul(0x9e37_79b1).to_be_bytes();
    let zeros = octets.iter().take_while(|octet| **octet == 0).count();
    let value = octets[zeros..].to_vec();
    let matches = match kind {
        "exact" => field_match::FieldMatchType::Exact(field_match::Exact { value }),
        "lpm" => field_match::FieldMatchType::Lpm(field_match::Lpm {
            value,
            prefix_len: 32,
        }),
        _ => field_match::FieldMatchType::Ternary(field_match::Ternary {
            value,
            mask: vec![0xff; 4],
        }),
    };
    let param = action::Param {
        param_id: 1,
        value: vec![7],
    };
    TableEntry {
        table_id,
        r#match: vec![FieldMatch {
            field_id: 1,
            field_match_type: Some(matches),
        }],
        action: Some(TableAction {
            r#type: Some(ActionType::Action(Action {
                action_id,
                params: vec![param],
            })),
        }),
        priority: i32::from(kind == "ternary"),
        idle_timeout_ns,
        ..Default::default()
    }
}
