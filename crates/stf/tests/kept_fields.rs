//! The deprecated calls that name the fields which a packet keeps when it starts over.

use engine::{CloneSession, Packet, Replica, Switch, SwitchConfig};
use p4_frontend::{Loader, SourceMap};
use units::Instant;

struct Nothing;

impl Loader for Nothing {
    fn load(&mut self, _: Option<&str>, _: &str, _: bool) -> Option<(String, String)> {
        None
    }
}

/// A switch whose ingress declares `declarations` and does `statements`; egress of a clone puts `meta.x` into the
/// packet. Otherwise the first error.
fn switch(declarations: &str, statements: &str) -> Result<Switch, String> {
    let text = format!(
        "#include <core.p4>
#include <v1model.p4>
header h_t {{ bit<8> x; }}
struct headers_t {{ h_t h; }}
struct metadata_t {{ bit<8> x; bit<8> y; }}
parser Parse(packet_in p, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {{
    state start {{ p.extract(hdr.h); transition accept; }}
}}
control Verify(inout headers_t hdr, inout metadata_t meta) {{ apply {{}} }}
control Mirror(inout metadata_t m) {{ apply {{ clone3(CloneType.I2E, 5, {{ m.x }}); }} }}
control Enter(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {{
    {declarations}
    apply {{ meta.x = 7; {statements} }}
}}
control Leave(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {{
    apply {{ hdr.h.x = meta.x; }}
}}
control Compute(inout headers_t hdr, inout metadata_t meta) {{ apply {{}} }}
control Deparse(packet_out p, in headers_t hdr) {{ apply {{ p.emit(hdr.h); }} }}
V1Switch(Parse(), Verify(), Enter(), Leave(), Compute(), Deparse()) main;"
    );
    let mut sources = SourceMap::new();
    let entry = sources.add("kept.p4", &*text);
    let (program, diagnostics) = p4_frontend::compile(&mut sources, entry, &mut Nothing, &[]);
    let program = program.ok_or_else(|| format!("{diagnostics:?}"))?;
    Switch::new(&program, SwitchConfig::default()).map_err(|errors| errors[0].message.clone())
}

/// What a clone brings out.
fn cloned(mut switch: Switch) -> Vec<u8> {
    let replicas = vec![Replica { port: 2, rid: 0 }];
    let session = CloneSession {
        replicas,
        truncate: None,
    };
    switch
        .set_clone_session(5, Some(session))
        .expect("a session");
    switch.handle_packet(Instant::ZERO, 1, Packet::new(vec![0]));
    let sent = std::iter::from_fn(|| switch.poll_transmit(Instant::ZERO));
    let mut clones = sent.filter(|sent| sent.port == 2);
    clones.next().expect("a clone").packet.octets.into()
}

#[test]
fn fields_of_the_packets_own_metadata_are_kept() {
    for (declarations, statements) in [
        ("", "clone3(CloneType.I2E, 5, { meta.x });"),
        ("", "clone3(CloneType.I2E, 5, meta);"),
        ("Mirror() mirror;", "mirror.apply(meta);"),
    ] {
        let switch = switch(declarations, statements).expect("it is supported");
        assert_eq!(cloned(switch), [7], "{declarations} {statements}");
    }
}

#[test]
fn copies_and_computed_values_cannot_be_kept() {
    let of_action = "action mirror(inout metadata_t m) { clone3(CloneType.I2E, 5, { m.x }); }";
    for (declarations, statements, call) in [
        (of_action, "mirror(meta);", "clone"),
        (
            "Mirror() mirror;",
            "mirror.apply(meta); mirror.apply(meta);",
            "clone",
        ),
        ("", "resubmit({ meta.x + 1 });", "resubmit"),
        (
            "bit<8> own = meta.x;",
            "recirculate({ own });",
            "recirculate",
        ),
    ] {
        let message = switch(declarations, statements).expect_err(statements);
        let advice = format!("call `{call}_preserving_field_list`");
        assert!(message.contains(&advice), "{statements}: {message}");
    }
}
