//! Any P4Runtime messages go to a switch in this process: each request is answered, no message ends or stalls the server,
//! and its state stays one that can be read, and carried over into the same program again.
//!
//! The input is a list of steps: an octet that says what is sent, a length, and this many octets. These are the message
//! itself, or changes of a message that the state gives; see [`Octets`].
#![no_main]

use engine::ports::CPU_PORT;
use libfuzzer_sys::fuzz_target;
use p4_info::proto::P4Info;
use p4runtime::proto::v1::set_forwarding_pipeline_config_request::Action;
use p4runtime::proto::v1::stream_message_request::Update as Sent;
use p4runtime::proto::v1::*;
use p4runtime::{LocalClient, LocalDevice};
use prost::Message;
use std::future::Future;
use std::sync::LazyLock;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Status, Streaming};

const ELECTION_ID: Option<Uint128> = Some(Uint128 { high: 0, low: 1 });
/// The longest that a request may take; a program of the largest size is compiled in less.
const LIMIT: Duration = Duration::from_secs(8);

/// Two programs that have every kind of entity between them, with their P4Info.
static PROGRAMS: LazyLock<[(&str, P4Info); 2]> = LazyLock::new(|| {
    let sources = [
        include_str!("../../tests/p4/entities.p4"),
        include_str!("../../tests/p4/tables.p4"),
    ];
    sources.map(|source| (source, p4info(source)))
});

fn p4info(source: &str) -> P4Info {
    let mut sources = p4_frontend::SourceMap::new();
    let entry = sources.add("program.p4", source);
    let (program, _) = p4_frontend::compile(&mut sources, entry, &mut p4_frontend::NoLoader, &[]);
    p4_info::p4info(&program.expect("it compiles")).expect("it has a P4Info")
}

/// The octets of a step, taken from the front; zeros when there are none left.
struct Octets<'a>(&'a [u8]);

impl Octets<'_> {
    fn next(&mut self) -> u8 {
        let Some((&first, rest)) = self.0.split_first() else {
            return 0;
        };
        self.0 = rest;
        first
    }

    fn pick<'t, T>(&mut self, of: &'t [T]) -> Option<&'t T> {
        of.get(usize::from(self.next()) % of.len().max(1))
    }

    /// A value of up to three octets.
    fn value(&mut self) -> Vec<u8> {
        (0..self.next() % 4).map(|_| self.next()).collect()
    }

    /// The message with octets of its encoding changed, if it is one still.
    fn changed<M: Message + Default>(&mut self, message: M) -> M {
        let mut octets = message.encode_to_vec();
        for _ in 0..self.next() % 4 {
            let at = usize::from(u16::from_be_bytes([self.next(), self.next()]));
            let by = self.next();
            if let Some(at) = at.checked_rem(octets.len()) {
                octets[at] ^= by;
            }
        }
        M::decode(&octets[..]).unwrap_or_default()
    }
}

/// A device with its primary controller.
struct Fuzzed {
    device: LocalDevice,
    client: LocalClient,
    requests: mpsc::Sender<StreamMessageRequest>,
    responses: Streaming<StreamMessageResponse>,
    /// Of the program that was committed last.
    program: usize,
    /// What was read last.
    state: Vec<Entity>,
}

impl Fuzzed {
    async fn start(program: usize) -> Fuzzed {
        let device = LocalDevice::start(CPU_PORT);
        let mut client = device.client();
        let (requests, receiver) = mpsc::channel(64);
        let arbitration = MasterArbitrationUpdate {
            device_id: 1,
            election_id: ELECTION_ID,
            ..Default::default()
        };
        let first = StreamMessageRequest {
            update: Some(Sent::Arbitration(arbitration)),
        };
        requests.send(first).await.expect("the stream is open");
        let opened = client.stream_channel(ReceiverStream::new(receiver)).await;
        let mut responses = opened.expect("a stream").into_inner();
        responses.message().await.expect("the primary is named");
        let mut fuzzed = Fuzzed {
            device,
            client,
            requests,
            responses,
            program,
            state: Vec::new(),
        };
        fuzzed
            .commit(Action::VerifyAndCommit, PROGRAMS[program].1.clone())
            .await
            .expect("it fits");
        fuzzed
    }

    async fn commit(&mut self, action: Action, p4info: P4Info) -> Result<(), Status> {
        let config = ForwardingPipelineConfig {
            p4info: Some(p4info),
            p4_device_config: PROGRAMS[self.program].0.into(),
            cookie: None,
        };
        self.set(SetForwardingPipelineConfigRequest {
            action: action.into(),
            config: (action != Action::Commit).then_some(config),
            ..Default::default()
        })
        .await
    }

    async fn set(&mut self, mut request: SetForwardingPipelineConfigRequest) -> Result<(), Status> {
        (request.device_id, request.election_id) = (1, ELECTION_ID);
        let answer = answered(self.client.set_forwarding_pipeline_config(request)).await;
        answer.map(|_| ())
    }

    async fn write(&mut self, mut request: WriteRequest) {
        (request.device_id, request.election_id) = (1, ELECTION_ID);
        let _ = answered(self.client.write(request)).await;
    }

    async fn read(&mut self, mut request: ReadRequest) -> Result<Vec<Entity>, Status> {
        request.device_id = 1;
        let mut responses = answered(self.client.read(request)).await?.into_inner();
        let mut found = Vec::new();
        while let Some(response) = answered(responses.message()).await? {
            found.extend(response.entities);
        }
        Ok(found)
    }

    /// Everything that the device holds.
    async fn read_all(&mut self) -> Vec<Entity> {
        use entity::Entity as E;
        use packet_replication_engine_entry::Type as Replicated;
        let replicated = |of| PacketReplicationEngineEntry { r#type: Some(of) };
        let wildcards = [
            E::TableEntry(TableEntry::default()),
            E::ActionProfileMember(ActionProfileMember::default()),
            E::ActionProfileGroup(ActionProfileGroup::default()),
            E::PacketReplicationEngineEntry(replicated(Replicated::MulticastGroupEntry(
                MulticastGroupEntry::default(),
            ))),
            E::PacketReplicationEngineEntry(replicated(Replicated::CloneSessionEntry(
                CloneSessionEntry::default(),
            ))),
            E::DigestEntry(DigestEntry::default()),
            E::ValueSetEntry(ValueSetEntry::default()),
            E::RegisterEntry(RegisterEntry::default()),
            E::MeterEntry(MeterEntry::default()),
        ];
        let entity = |entity| Entity {
            entity: Some(entity),
        };
        let entities = wildcards.map(entity).into();
        let request = ReadRequest {
            entities,
            ..Default::default()
        };
        self.read(request).await.expect("all state can be read")
    }

    /// Carries the state over to the same program, of which a line end more makes another.
    async fn carry_over(&mut self) {
        let before = self.read_all().await;
        let request = GetForwardingPipelineConfigRequest {
            device_id: 1,
            ..Default::default()
        };
        let answer = answered(self.client.get_forwarding_pipeline_config(request)).await;
        let config = answer.expect("a config is there").into_inner().config;
        let mut config = config.expect("a config is there");
        config.p4_device_config.push(b'\n');
        let request = SetForwardingPipelineConfigRequest {
            action: Action::ReconcileAndCommit.into(),
            config: Some(config),
            ..Default::default()
        };
        self.set(request).await.expect("the state fits the program");
        let after = self.read_all().await;
        assert_eq!(after.len(), before.len(), "the state is carried over");
        assert!(
            after.iter().all(|entity| before.contains(entity)),
            "the state is carried over"
        );
    }

    /// An entity of the program that runs.
    fn entity(&self, octets: &mut Octets) -> Option<Entity> {
        use entity::Entity as E;
        let info = &PROGRAMS[self.program].1;
        let id =
            |preamble: &Option<p4_info::proto::Preamble>| preamble.as_ref().map_or(0, |p| p.id);
        let replicas = |octets: &mut Octets| -> Vec<Replica> {
            let replica = |octets: &mut Octets| Replica {
                instance: octets.next().into(),
                port_kind: Some(replica::PortKind::Port(octets.value())),
                ..Default::default()
            };
            (0..octets.next() % 4).map(|_| replica(octets)).collect()
        };
        let replicated =
            |of| E::PacketReplicationEngineEntry(PacketReplicationEngineEntry { r#type: Some(of) });
        use packet_replication_engine_entry::Type as Replicated;
        let entity = match octets.next() % 10 {
            0..=3 => {
                let table = octets.pick(&info.tables)?;
                let fields = table.match_fields.iter();
                let matches = fields
                    .filter_map(|field| field_match(field, octets))
                    .collect();
                let kind = match octets.next() % 4 {
                    0 => table_action::Type::ActionProfileMemberId(octets.next().into()),
                    1 => table_action::Type::ActionProfileGroupId(octets.next().into()),
                    _ => table_action::Type::Action(action(info, table, octets)?),
                };
                E::TableEntry(TableEntry {
                    table_id: id(&table.preamble),
                    r#match: matches,
                    action: Some(TableAction { r#type: Some(kind) }),
                    priority: i32::from(octets.next() % 4),
                    is_default_action: octets.next() % 8 == 7,
                    ..Default::default()
                })
            }
            4 => {
                let profile = octets.pick(&info.action_profiles)?;
                let mut tables = info.tables.iter();
                let table =
                    tables.find(|table| profile.table_ids.contains(&id(&table.preamble)))?;
                E::ActionProfileMember(ActionProfileMember {
                    action_profile_id: id(&profile.preamble),
                    member_id: u32::from(octets.next() % 8),
                    action: Some(action(info, table, octets)?),
                })
            }
            5 => {
                let member = |octets: &mut Octets| action_profile_group::Member {
                    member_id: u32::from(octets.next() % 8),
                    weight: i32::from(octets.next() % 8),
                    watch_kind: None,
                };
                E::ActionProfileGroup(ActionProfileGroup {
                    action_profile_id: id(&octets.pick(&info.action_profiles)?.preamble),
                    group_id: u32::from(octets.next() % 8),
                    members: (0..octets.next() % 4).map(|_| member(octets)).collect(),
                    max_size: i32::from(octets.next() % 8),
                })
            }
            6 => replicated(Replicated::MulticastGroupEntry(MulticastGroupEntry {
                multicast_group_id: octets.next().into(),
                replicas: replicas(octets),
                ..Default::default()
            })),
            7 => replicated(Replicated::CloneSessionEntry(CloneSessionEntry {
                session_id: octets.next().into(),
                replicas: replicas(octets),
                ..Default::default()
            })),
            8 => E::DigestEntry(DigestEntry {
                digest_id: id(&octets.pick(&info.digests)?.preamble),
                config: Some(digest_entry::Config::default()),
            }),
            _ => return octets.pick(&self.state).cloned(),
        };
        Some(Entity {
            entity: Some(entity),
        })
    }

    async fn step(&mut self, kind: u8, mut octets: Octets<'_>) {
        match kind % 12 {
            0 => {
                self.write(WriteRequest::decode(octets.0).unwrap_or_default())
                    .await
            }
            1..=4 => {
                let atomicity = i32::from(octets.next() % 3);
                let mut updates = Vec::new();
                while !octets.0.is_empty() {
                    let update = Update {
                        r#type: i32::from(octets.next() % 4),
                        entity: self.entity(&mut octets),
                    };
                    updates.push(octets.changed(update));
                }
                let request = WriteRequest {
                    updates,
                    atomicity,
                    ..Default::default()
                };
                self.write(request).await;
            }
            5 => {
                let request = ReadRequest::decode(octets.0).unwrap_or_default();
                let _ = self.read(request).await;
            }
            6 => self.state = self.read_all().await,
            7 => {
                let action = i32::from(octets.next() % 6);
                let action = Action::try_from(action).unwrap_or_default();
                let p4info = octets.changed(PROGRAMS[self.program].1.clone());
                let _ = self.commit(action, p4info).await;
            }
            8 => {
                let request = SetForwardingPipelineConfigRequest::decode(octets.0);
                let _ = self.set(request.unwrap_or_default()).await;
            }
            9 => {
                let message = match octets.next() % 2 {
                    0 => StreamMessageRequest::decode(octets.0).unwrap_or_default(),
                    _ => StreamMessageRequest {
                        update: Some(Sent::Packet(PacketOut {
                            metadata: (1..3)
                                .map(|metadata_id| PacketMetadata {
                                    metadata_id,
                                    value: octets.value(),
                                })
                                .collect(),
                            payload: octets.0.into(),
                        })),
                    },
                };
                // Fails if the stream has ended, as a message may have it do.
                let _ = self.requests.send(message).await;
                let soon = tokio::time::timeout(Duration::ZERO, self.responses.message());
                let _ = soon.await;
            }
            10 => self
                .device
                .handle_packet(octets.next().into(), octets.0.into()),
            _ => self
                .device
                .set_link(octets.next().into(), octets.next().is_multiple_of(2)),
        }
    }
}

/// The answer to a request, which comes in time.
async fn answered<T>(request: impl Future<Output = Result<T, Status>>) -> Result<T, Status> {
    let answer = tokio::time::timeout(LIMIT, request).await;
    answer.expect("each request is answered")
}

fn field_match(field: &p4_info::proto::MatchField, octets: &mut Octets) -> Option<FieldMatch> {
    use field_match::FieldMatchType as F;
    use p4_info::proto::match_field::{Match, MatchType};
    let kind = match field.r#match {
        Some(Match::MatchType(kind)) => MatchType::try_from(kind).ok()?,
        _ => return None,
    };
    let kind = match kind {
        MatchType::Lpm => F::Lpm(field_match::Lpm {
            value: octets.value(),
            prefix_len: octets.next().into(),
        }),
        _ if octets.next() % 4 == 3 => return None,
        MatchType::Ternary => F::Ternary(field_match::Ternary {
            value: octets.value(),
            mask: octets.value(),
        }),
        MatchType::Range => F::Range(field_match::Range {
            low: octets.value(),
            high: octets.value(),
        }),
        MatchType::Optional => F::Optional(field_match::Optional {
            value: octets.value(),
        }),
        _ => F::Exact(field_match::Exact {
            value: octets.value(),
        }),
    };
    Some(FieldMatch {
        field_id: field.id,
        field_match_type: Some(kind),
    })
}

fn action(
    info: &P4Info,
    table: &p4_info::proto::Table,
    octets: &mut Octets,
) -> Option<p4runtime::proto::v1::Action> {
    let action_id = octets.pick(&table.action_refs)?.id;
    let mut actions = info.actions.iter();
    let found = actions.find(|a| a.preamble.as_ref().is_some_and(|p| p.id == action_id))?;
    let param = |param: &p4_info::proto::action::Param| action::Param {
        param_id: param.id,
        value: octets.value(),
    };
    Some(p4runtime::proto::v1::Action {
        action_id,
        params: found.params.iter().map(param).collect(),
    })
}

fuzz_target!(|input: &[u8]| {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    // As the server's threads have it, which compile programs.
    let runtime = runtime.thread_stack_size(16 << 20).enable_time().build();
    runtime.expect("a runtime").block_on(async {
        let mut octets = Octets(input);
        let mut fuzzed = Fuzzed::start(usize::from(octets.next() % 2)).await;
        while !octets.0.is_empty() {
            let kind = octets.next();
            let length = usize::from(u16::from_be_bytes([octets.next(), octets.next()]));
            let (step, rest) = octets.0.split_at(length.min(octets.0.len()));
            octets.0 = rest;
            fuzzed.step(kind, Octets(step)).await;
        }
        fuzzed.carry_over().await;
    });
});
