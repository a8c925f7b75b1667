//! A device in this process, and programs from files. Not every test needs all of it.

#![allow(dead_code)]

use p4_frontend::{Loader, NoLoader, SourceMap, preprocessed_text};
use p4_info::proto::P4Info;
use p4runtime::proto::v1::set_forwarding_pipeline_config_request::Action;
use p4runtime::proto::v1::stream_message_request::Update as Request;
use p4runtime::proto::v1::stream_message_response::Update as Response;
use p4runtime::proto::v1::write_request::Atomicity;
use p4runtime::proto::v1::*;
use p4runtime::{LocalClient, LocalDevice};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Status, Streaming};

/// The port of packets to and from the controller.
pub use engine::ports::CPU_PORT;

/// A device and its primary controller.
pub struct Device {
    pub local: LocalDevice,
    pub client: LocalClient,
    pub requests: mpsc::Sender<StreamMessageRequest>,
    pub responses: Streaming<StreamMessageResponse>,
}

const ELECTION_ID: Option<Uint128> = Some(Uint128 { high: 0, low: 1 });

impl Device {
    /// A device without a program.
    pub async fn start() -> Device {
        let local = LocalDevice::start(CPU_PORT);
        let mut client = local.client();
        let (requests, receiver) = mpsc::channel(64);
        let arbitration = MasterArbitrationUpdate {
            device_id: 1,
            election_id: ELECTION_ID,
            ..Default::default()
        };
        let first = StreamMessageRequest {
            update: Some(Request::Arbitration(arbitration)),
        };
        requests.send(first).await.expect("the stream is open");
        let opened = client.stream_channel(ReceiverStream::new(receiver)).await;
        let mut responses = opened.expect("a stream").into_inner();
        responses.message().await.expect("the primary is named");
        Device {
            local,
            client,
            requests,
            responses,
        }
    }

    /// `SetForwardingPipelineConfig` with `VERIFY_AND_COMMIT`.
    pub async fn commit(&mut self, device_config: &str, p4info: P4Info) -> Result<(), Status> {
        let config = ForwardingPipelineConfig {
            p4info: Some(p4info),
            p4_device_config: device_config.into(),
            cookie: None,
        };
        let request = SetForwardingPipelineConfigRequest {
            device_id: 1,
            election_id: ELECTION_ID,
            action: Action::VerifyAndCommit.into(),
            config: Some(config),
            ..Default::default()
        };
        let set = self.client.set_forwarding_pipeline_config(request).await;
        set.map(|_| ())
    }

    /// Writes one update.
    pub async fn write(
        &mut self,
        r#type: update::Type,
        entity: entity::Entity,
    ) -> Result<(), Status> {
        let update = Update {
            r#type: r#type.into(),
            entity: Some(Entity {
                entity: Some(entity),
            }),
        };
        self.write_all(vec![update], Atomicity::ContinueOnError)
            .await
    }

    /// Writes a batch.
    pub async fn write_all(
        &mut self,
        updates: Vec<Update>,
        atomicity: Atomicity,
    ) -> Result<(), Status> {
        let request = WriteRequest {
            device_id: 1,
            election_id: ELECTION_ID,
            updates,
            atomicity: atomicity.into(),
            ..Default::default()
        };
        self.client.write(request).await.map(|_| ())
    }

    /// Reads what fits an entity.
    pub async fn read(&mut self, entity: entity::Entity) -> Result<Vec<entity::Entity>, Status> {
        let request = ReadRequest {
            device_id: 1,
            entities: vec![Entity {
                entity: Some(entity),
            }],
            ..Default::default()
        };
        let mut responses = self.client.read(request).await?.into_inner();
        let mut found = Vec::new();
        while let Some(response) = responses.message().await? {
            found.extend(
                response
                    .entities
                    .into_iter()
                    .filter_map(|entity| entity.entity),
            );
        }
        Ok(found)
    }

    /// Sends a message on the stream.
    pub async fn send(&mut self, request: Request) {
        let request = StreamMessageRequest {
            update: Some(request),
        };
        self.requests
            .send(request)
            .await
            .expect("the stream is open");
    }

    /// The next message of the stream.
    pub async fn receive(&mut self) -> Response {
        let received = tokio::time::timeout(Duration::from_secs(10), self.responses.message());
        let message = received.await.expect("a message within ten seconds");
        let message = message.expect("the stream is open").expect("a message");
        message.update.expect("the message is set")
    }
}

/// Finds included files next to the including one, then in `folders`; those that the front end embeds are its own.
struct Folders<'a>(&'a [PathBuf]);

impl Loader for Folders<'_> {
    fn load(&mut self, from: Option<&str>, name: &str, system: bool) -> Option<(String, String)> {
        if p4_frontend::is_embedded(name) {
            return None;
        }
        let beside = from.and_then(|from| Path::new(from).parent());
        let beside = beside.filter(|_| !system).map(Path::to_path_buf);
        beside.iter().chain(self.0).find_map(|folder| {
            let path = folder.join(name);
            let text = fs::read(&path).ok()?;
            Some((
                path.to_string_lossy().into_owned(),
                String::from_utf8_lossy(&text).into_owned(),
            ))
        })
    }
}

/// A file's program as `waymark switch` loads it: preprocessed, and its P4Info.
///
/// # Errors
/// What the compiler says first.
pub fn compiled(path: &Path, folders: &[PathBuf]) -> Result<(String, P4Info), String> {
    let text = fs::read(path).map_err(|error| error.to_string())?;
    let mut sources = SourceMap::new();
    let entry = sources.add(&path.to_string_lossy(), String::from_utf8_lossy(&text));
    let (source, _) = preprocessed_text(&mut sources, entry, &mut Folders(folders), &[]);
    let p4info = p4info_of(&source)?;
    Ok((source, p4info))
}

/// The P4Info of a preprocessed program.
///
/// # Errors
/// What the compiler says first.
pub fn p4info_of(source: &str) -> Result<P4Info, String> {
    let program = program(source)?;
    p4_info::p4info(&program).map_err(|errors| errors[0].message.clone())
}

/// A program: declarations before its headers, the members of its headers, of its ingress, and the body of its `apply`.
/// Packets come as `packet_out` if it has such a header, and leave as `packet_in`.
pub fn v1model(types: &str, headers: &str, members: &str, apply: &str) -> String {
    let emitted = match headers.contains("packet_in") {
        true => "packet.emit(hdr.packet_in); packet.emit(hdr.probe);",
        false => "packet.emit(hdr.probe);",
    };
    let extracted = match headers.contains("packet_out") {
        true => "packet.extract(hdr.packet_out);",
        false => "",
    };
    format!(
        "
        #include <core.p4>
        #include <v1model.p4>
        header probe_h {{ bit<8> kind; bit<8> mark; bit<32> rest; }}
        {types}
        struct headers_t {{ {headers} probe_h probe; }}
        struct metadata_t {{ }}
        parser P(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {{
            state start {{ {extracted} packet.extract(hdr.probe); transition accept; }}
        }}
        control Verify(inout headers_t hdr, inout metadata_t meta) {{ apply {{ }} }}
        control MyIngress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {{
            {members}
            apply {{ std.egress_spec = {CPU_PORT}; {apply} }}
        }}
        control MyEgress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {{ apply {{ }} }}
        control Compute(inout headers_t hdr, inout metadata_t meta) {{ apply {{ }} }}
        control MyDeparser(packet_out packet, in headers_t hdr) {{ apply {{ {emitted} }} }}
        V1Switch(P(), Verify(), MyIngress(), MyEgress(), Compute(), MyDeparser()) main;
        "
    )
}

/// Whether the engine runs a preprocessed program.
pub fn runs(source: &str) -> bool {
    program(source).is_ok_and(|program| {
        !program.blocks.is_empty() && engine::Pipeline::compile(&program).is_ok()
    })
}

fn program(source: &str) -> Result<p4_ir::Program, String> {
    let mut sources = SourceMap::new();
    let entry = sources.add("test.p4", source);
    let (program, diagnostics) = p4_frontend::compile(&mut sources, entry, &mut NoLoader, &[]);
    program.ok_or_else(|| diagnostics[0].message.clone())
}

/// The files in a folder and the folders within it that end so, in alphabetical order.
pub fn files_within(folder: &Path, end: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in folder.read_dir().expect("a folder").flatten() {
        let path = entry.path();
        match path.is_dir() {
            true => found.extend(files_within(&path, end)),
            false if path.is_file() && path.to_string_lossy().ends_with(end) => found.push(path),
            false => {}
        }
    }
    found.sort();
    found
}
