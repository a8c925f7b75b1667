//! A P4Runtime 1.5 server for the engine.
//!
//! ```text
//! server ─ service ─┬─ arbitration, controllers, stream     who may do what; packets and digests
//!                   ├─ pipeline ─ model                     a P4Info tied to a program
//!                   └─ batch ─ entities                     updates and reads on the engine
//! codec             limits the parts of a request
//! accepts           how many octets of metadata a client accepts
//! dataplane         jobs for the thread that owns the switch
//! notify            unsolicited messages of the switch; aging: which entries to check when
//! local             the same service without a socket, for tests
//! ```
//! It has no network interfaces. The owner of the switch implements [`Dataplane`], and passes events and the packets
//! that leave through the CPU port to [`Upcalls`].

mod accepts;
mod aging;
mod arbitration;
mod batch;
mod bytestring;
mod codec;
mod controllers;
mod dataplane;
mod device;
mod digests;
mod entities;
mod fault;
mod footprint;
mod local;
pub mod losses;
mod model;
mod notify;
mod pipeline;
pub mod proto;
mod published;
mod reconcile;
mod server;
mod service;
mod stream;
mod tls;
mod whole;

pub use batch::DEFAULT_METADATA;
pub use dataplane::{Dataplane, Job};
pub use device::GeneratorApps;
pub use local::{LocalClient, LocalDevice};
pub use server::{Server, ServerConfig, ServerError, Upcalls};
pub use tls::TlsFiles;

/// The wall-clock time in P4Runtime's format: nanoseconds since 1970.
fn since_epoch_ns() -> i64 {
    let now = std::time::SystemTime::now();
    let since = now
        .duration_since(std::time::UNIX_EPOCH)
        .unwrap_or_default();
    i64::try_from(since.as_nanos()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod links;
#[cfg(test)]
mod robustness;
