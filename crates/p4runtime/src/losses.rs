//! Counters of what a switch has lost, for controllers to read.
//!
//! P4Runtime has no message for that. It lets a target define its own entities, as extern entries: a read of an extern
//! entry of the type [`TYPE_ID`] returns one whose `entry` is a `google.protobuf.Struct` with the counters that are not
//! zero:
//! ```text
//! { "ports": { "1": { "tm_full": 5, "send_failed": 2 } }, "octets": { "1": { "send_failed": 2940 } },
//!   "switch": { "digest_backlog": 1 } }
//! ```

use crate::proto::v1::{Entity, ExternEntry, entity};
use engine::Switch;
use prost::Message;
use prost_types::value::Kind;
use prost_types::{Any, Struct, Value};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The type of the extern entry. P4Info reserves types from 0x81 on for architectures.
pub const TYPE_ID: u32 = 0xfe;

/// What can be lost between the switch and controllers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lost {
    /// Packet-ins that arrived faster than they were passed on.
    PacketInQueue,
    /// Packet-ins without the `packet_in` header of the program.
    PacketInHeader,
    /// Packet-ins while no controller was primary.
    PacketInController,
    /// Packet-ins for a controller that reads too slowly.
    PacketInBacklog,
    /// Digests that arrived faster than they were passed on.
    DigestQueue,
    /// Lists of digests while no controller was primary.
    DigestController,
    /// Lists of digests for a controller that reads too slowly.
    DigestBacklog,
}

impl Lost {
    const ALL: [Lost; 7] = [
        Lost::PacketInQueue,
        Lost::PacketInHeader,
        Lost::PacketInController,
        Lost::PacketInBacklog,
        Lost::DigestQueue,
        Lost::DigestController,
        Lost::DigestBacklog,
    ];

    const fn name(self) -> &'static str {
        match self {
            Lost::PacketInQueue => "packet_in_queue",
            Lost::PacketInHeader => "packet_in_header",
            Lost::PacketInController => "packet_in_no_controller",
            Lost::PacketInBacklog => "packet_in_backlog",
            Lost::DigestQueue => "digest_queue",
            Lost::DigestController => "digest_no_controller",
            Lost::DigestBacklog => "digest_backlog",
        }
    }
}

/// Counters of events outside of the switch, by port and name. The owner of the switch provides them.
#[derive(Clone)]
pub struct Outside(Arc<dyn Fn() -> PortCounts + Send + Sync>);

/// Port, name and count.
pub type PortCounts = Vec<(u16, &'static str, u64)>;

impl Outside {
    /// Creates the counters that `read` returns.
    pub fn new(read: impl Fn() -> PortCounts + Send + Sync + 'static) -> Self {
        Outside(Arc::new(read))
    }
}

impl fmt::Debug for Outside {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Outside").field(&(self.0)()).finish()
    }
}

/// All counters that the switch itself does not have.
#[derive(Debug, Default)]
pub struct Losses {
    upcalls: [AtomicU64; Lost::ALL.len()],
    outside: Option<Outside>,
}

impl Losses {
    /// Creates counters without losses. `outside` is read for each request.
    pub fn new(outside: Option<Outside>) -> Self {
        Losses {
            upcalls: Default::default(),
            outside,
        }
    }

    /// Counts a message.
    pub fn count(&self, what: Lost) {
        self.upcalls[what as usize].fetch_add(1, Ordering::Relaxed);
    }

    /// The extern entry, including the counters of the switch.
    pub fn entity(&self, switch: &Switch) -> Entity {
        let mut ports: BTreeMap<u16, BTreeMap<&str, u64>> = BTreeMap::new();
        let mut octets: BTreeMap<u16, BTreeMap<&str, u64>> = BTreeMap::new();
        for (port, drops) in switch.port_drops() {
            let counts = drops.by_cause().filter(|(_, count)| *count > 0);
            let counts = counts.map(|(cause, count)| (cause.name(), count));
            ports.entry(port).or_default().extend(counts);
            let stats = switch.port_stats(port);
            if stats.send_failed > 0 {
                let failed = [
                    (&mut ports, stats.send_failed),
                    (&mut octets, stats.send_failed_octets),
                ];
                for (counts, count) in failed {
                    counts.entry(port).or_default().insert("send_failed", count);
                }
            }
        }
        for (port, name, count) in self.outside.iter().flat_map(|outside| (outside.0)()) {
            ports.entry(port).or_default().insert(name, count);
        }
        let upcalls = Lost::ALL.map(|what| {
            let count = self.upcalls[what as usize].load(Ordering::Relaxed);
            (what.name(), count)
        });
        let own = [
            ("cut_loops", switch.cut_loops()),
            ("events", switch.lost_events()),
        ];
        let counts = upcalls.into_iter().chain(own);
        let by_port = |counts: BTreeMap<u16, BTreeMap<&str, u64>>| {
            let counts = counts.into_iter().filter(|(_, counts)| !counts.is_empty());
            structure(counts.map(|(port, counts)| (port.to_string(), numbers(counts))))
        };
        let entry = structure([
            ("ports", by_port(ports)),
            ("octets", by_port(octets)),
            ("switch", numbers(counts.filter(|(_, count)| *count > 0))),
        ]);
        let Some(Kind::StructValue(entry)) = entry.kind else {
            unreachable!("`structure` makes structures");
        };
        Entity {
            entity: Some(entity::Entity::ExternEntry(ExternEntry {
                extern_type_id: TYPE_ID,
                extern_id: 0,
                entry: Some(Any {
                    type_url: "type.googleapis.com/google.protobuf.Struct".into(),
                    value: entry.encode_to_vec(),
                }),
            })),
        }
    }
}

fn structure<K: Into<String>>(fields: impl IntoIterator<Item = (K, Value)>) -> Value {
    let fields = fields.into_iter().map(|(name, value)| (name.into(), value));
    Value {
        kind: Some(Kind::StructValue(Struct {
            fields: fields.collect(),
        })),
    }
}

fn numbers<'a>(counts: impl IntoIterator<Item = (&'a str, u64)>) -> Value {
    structure(counts.into_iter().map(|(name, count)| {
        let kind = Some(Kind::NumberValue(count as f64));
        (name, Value { kind })
    }))
}
