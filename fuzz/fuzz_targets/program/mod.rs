//! Programs that targets write: the parts that differ, within a v1model program that sends every packet to port 1.

use engine::{Packet, Pipeline, Switch, SwitchConfig};
use p4_frontend::{Loader, SourceMap, compile, render};
use std::sync::Arc;
use units::Instant;

/// The parts of a program. The headers are `hdr`, the user metadata `meta`, the standard metadata `sm`.
#[derive(Default)]
pub struct Source {
    /// Types, constants and functions.
    pub declarations: String,
    /// Members of the headers' struct.
    pub headers: String,
    /// Members of the metadata's struct.
    pub metadata: String,
    /// What the parser's one state does.
    pub parser: String,
    pub verify: String,
    /// Tables and actions of ingress.
    pub locals: String,
    pub ingress: String,
    pub compute: String,
    pub deparser: String,
}

/// No files but the front end's own.
struct Nothing;

impl Loader for Nothing {
    fn load(&mut self, _: Option<&str>, _: &str, _: bool) -> Option<(String, String)> {
        None
    }
}

impl Source {
    pub fn text(&self) -> String {
        let Source {
            declarations,
            headers,
            metadata,
            parser,
            verify,
            locals,
            ingress,
            compute,
            deparser,
        } = self;
        format!(
            "#include <core.p4>
#include <v1model.p4>
{declarations}
struct headers_t {{
{headers}}}
struct metadata_t {{
{metadata}}}
parser Parse(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {{
    state start {{
{parser}        transition accept;
    }}
}}
control Verify(inout headers_t hdr, inout metadata_t meta) {{
    apply {{
{verify}    }}
}}
control Enter(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {{
{locals}    apply {{
        sm.egress_spec = 1;
{ingress}    }}
}}
control Leave(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {{
    apply {{}}
}}
control Compute(inout headers_t hdr, inout metadata_t meta) {{
    apply {{
{compute}    }}
}}
control Deparse(packet_out packet, in headers_t hdr) {{
    apply {{
{deparser}    }}
}}
V1Switch(Parse(), Verify(), Enter(), Leave(), Compute(), Deparse()) main;
"
        )
    }

    /// The program for the engine, which must take it. Its code is compiled to machine code.
    pub fn pipeline(&self) -> Arc<Pipeline> {
        p4_jit::install();
        let text = self.text();
        let mut sources = SourceMap::new();
        let entry = sources.add("fuzz.p4", &*text);
        let (program, diagnostics) = compile(&mut sources, entry, &mut Nothing, &[]);
        let Some(program) = program else {
            let errors = diagnostics
                .iter()
                .filter(|diagnostic| diagnostic.is_error());
            let errors: Vec<_> = errors.map(|error| render(&sources, error, false)).collect();
            panic!("the front end refuses:\n{text}\n{}", errors.join("\n"));
        };
        Pipeline::compile(&program)
            .unwrap_or_else(|errors| panic!("the engine refuses:\n{text}\n{errors:?}"))
    }
}

/// A switch whose code is compiled, and one that interprets it.
#[allow(dead_code, reason = "not each target compares them")]
pub fn switches(pipeline: &Arc<Pipeline>) -> [Switch; 2] {
    [false, true].map(|interpreted| {
        let mut switch = Switch::with_pipeline(pipeline.clone(), SwitchConfig::default());
        switch.set_interpreted(interpreted);
        switch
    })
}

/// What the switch sends for a packet at port 0, if anything.
pub fn send(switch: &mut Switch, octets: Vec<u8>) -> Option<Vec<u8>> {
    switch.handle_packet(Instant::ZERO, 0, Packet::new(octets));
    let sent = switch.poll_transmit(Instant::ZERO);
    sent.map(|sent| sent.packet.octets.into())
}
