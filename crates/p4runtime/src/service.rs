//! The service: checks who asks, hands the work to the thread that owns the switch, answers.

use crate::arbitration::RoleName;
use crate::controllers::{BACKLOG, Controllers};
use crate::dataplane::{self, Dataplane};
use crate::device::Device;
use crate::digests::Digests;
use crate::fault::Fault;
use crate::losses::{Losses, Outside};
use crate::proto::v1::p4_runtime_server::{P4Runtime, P4RuntimeServer};
use crate::proto::v1::set_forwarding_pipeline_config_request::Action;
use crate::proto::v1::*;
use crate::{batch, device, entities, pipeline, stream};
use engine::SwitchConfig;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Request, Response, Status, Streaming};

/// The version of the specification.
const API_VERSION: &str = "1.5.0";

/// Entities in one message of a `Read`.
const CHUNK: usize = 512;

/// The largest message that is accepted, in octets.
const MAX_MESSAGE: usize = 32 << 20;

/// What all requests share.
pub struct Shared {
    /// Its number.
    pub device_id: u64,
    /// The port of packets to and from controllers.
    pub cpu_port: Option<u16>,
    /// What a switch is set up with.
    pub settings: SwitchConfig,
    /// The thread that owns the switch.
    pub dataplane: Arc<dyn Dataplane>,
    /// Its programs; that thread locks it while it carries out a request.
    pub device: Arc<Mutex<Device>>,
    /// Streams.
    pub controllers: Mutex<Controllers>,
    /// What was lost so far.
    pub losses: Arc<Losses>,
    /// Digest messages on their way.
    pub digests: Mutex<Digests>,
    /// Held by one request at a time that changes something, and while a primary is chosen: no write of
    /// the former primary is under way when the new one is notified.
    pub gate: tokio::sync::Mutex<()>,
}

impl Shared {
    /// A device without a program, which no controller has reached yet.
    pub fn new(
        device_id: u64,
        cpu_port: Option<u16>,
        settings: SwitchConfig,
        dataplane: Arc<dyn Dataplane>,
        outside: Option<Outside>,
    ) -> Self {
        let losses = Arc::new(Losses::new(outside));
        let device = Device {
            losses: losses.clone(),
            ..Device::default()
        };
        Shared {
            device_id,
            cpu_port,
            settings: SwitchConfig {
                report_digests: true,
                ..settings
            },
            dataplane,
            device: Arc::new(Mutex::new(device)),
            losses,
            controllers: Mutex::new(Controllers::new(device_id)),
            digests: Mutex::default(),
            gate: tokio::sync::Mutex::new(()),
        }
    }
}

/// Locks; what a thread left behind that panicked is used as it is.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The service.
#[derive(Clone)]
pub struct Service(pub Arc<Shared>);

impl Service {
    /// The service as gRPC serves it.
    pub fn served(shared: Arc<Shared>) -> P4RuntimeServer<Service> {
        P4RuntimeServer::new(Service(shared))
            .max_decoding_message_size(MAX_MESSAGE)
            .max_encoding_message_size(usize::MAX)
    }
}

#[tonic::async_trait]
impl P4Runtime for Service {
    type ReadStream = ReceiverStream<Result<ReadResponse, Status>>;
    type StreamChannelStream = ReceiverStream<Result<StreamMessageResponse, Status>>;

    async fn capabilities(
        &self,
        request: Request<CapabilitiesRequest>,
    ) -> Result<Response<CapabilitiesResponse>, Status> {
        // 0 asks for what all devices of a server can do.
        match request.into_inner().device_id {
            0 => {}
            device_id => self.check_device(device_id)?,
        }
        Ok(Response::new(CapabilitiesResponse {
            p4runtime_api_version: API_VERSION.into(),
            experimental: None,
        }))
    }

    async fn set_forwarding_pipeline_config(
        &self,
        request: Request<SetForwardingPipelineConfigRequest>,
    ) -> Result<Response<SetForwardingPipelineConfigResponse>, Status> {
        let request = request.into_inner();
        let _gate = self.0.gate.lock().await;
        #[allow(deprecated, reason = "older clients use it")]
        let role = RoleName::new(&request.role, request.role_id);
        self.check_primary(request.device_id, &role, request.election_id.as_ref())?;
        let action = request.action();
        let verified = match (action, request.config) {
            (Action::Unspecified, _) => {
                return Err(Status::invalid_argument(
                    "the action is not set; there are VERIFY, VERIFY_AND_SAVE, VERIFY_AND_COMMIT, \
                     COMMIT, RECONCILE_AND_COMMIT",
                ));
            }
            (Action::Commit, None) => None,
            (Action::Commit, Some(_)) => {
                let message = "COMMIT takes the saved config; leave config unset";
                return Err(Status::invalid_argument(message));
            }
            (_, None) => return Err(Status::invalid_argument("config is not set")),
            (_, Some(config)) => {
                let compiling = tokio::task::spawn_blocking(|| pipeline::verify(config));
                let failed = |_| Status::internal("the compiler failed on this program");
                Some(compiling.await.map_err(failed)??)
            }
        };
        let shared = self.0.clone();
        dataplane::run(&*self.0.dataplane, move |switch, now| {
            let mut device = lock(&shared.device);
            let settings = &shared.settings;
            pipeline::set(&mut device, switch, now, action, verified, settings)?;
            if !matches!(action, Action::Verify | Action::VerifyAndSave) {
                lock(&shared.digests).clear();
            }
            Ok::<_, Fault>(())
        })
        .await??;
        Ok(Response::new(SetForwardingPipelineConfigResponse {}))
    }

    async fn get_forwarding_pipeline_config(
        &self,
        request: Request<GetForwardingPipelineConfigRequest>,
    ) -> Result<Response<GetForwardingPipelineConfigResponse>, Status> {
        let request = request.into_inner();
        self.check_device(request.device_id)?;
        let config = pipeline::get(&lock(&self.0.device), request.response_type());
        Ok(Response::new(GetForwardingPipelineConfigResponse {
            config,
        }))
    }

    async fn write(
        &self,
        request: Request<WriteRequest>,
    ) -> Result<Response<WriteResponse>, Status> {
        let request = request.into_inner();
        let _gate = self.0.gate.lock().await;
        #[allow(deprecated, reason = "older clients use it")]
        let role = RoleName::new(&request.role, request.role_id);
        self.check_primary(request.device_id, &role, request.election_id.as_ref())?;
        let atomicity = write_request::Atomicity::try_from(request.atomicity).map_err(|_| {
            Status::invalid_argument(
                "there is no such atomicity; there are CONTINUE_ON_ERROR, ROLLBACK_ON_ERROR, \
                 DATAPLANE_ATOMIC",
            )
        })?;
        let shared = self.0.clone();
        let results = dataplane::run(&*self.0.dataplane, move |switch, now| {
            let mut device = lock(&shared.device);
            let mut target = device.target(switch, now)?;
            let results = batch::write(&mut target, &request.updates, atomicity);
            let enabled = &target.state.digests;
            lock(&shared.digests).retain(|id| enabled.contains_key(&id));
            Ok::<_, Fault>(results)
        })
        .await??;
        batch::status(&results, "update")?;
        Ok(Response::new(WriteResponse {}))
    }

    async fn read(
        &self,
        request: Request<ReadRequest>,
    ) -> Result<Response<Self::ReadStream>, Status> {
        let request = request.into_inner();
        self.check_device(request.device_id)?;
        let mut found = Vec::new();
        let mut results = Vec::new();
        {
            // No write comes between two parts of a request.
            let _gate = self.0.gate.lock().await;
            if lock(&self.0.device).loaded().is_none() {
                return Err(device::no_pipeline().into());
            }
            for entity in request.entities {
                let shared = self.0.clone();
                let part = dataplane::run(&*self.0.dataplane, move |switch, now| {
                    let mut device = lock(&shared.device);
                    let target = device.target(switch, now).map_err(Status::from)?;
                    let mut found = Vec::new();
                    let result = entities::read(&target, &entity, &mut found);
                    Ok::<_, Status>((result, found))
                });
                let (result, part) = part.await??;
                found.extend(part);
                results.push(result);
            }
        }
        let (sender, receiver) = mpsc::channel(4);
        tokio::spawn(async move {
            let mut found = found.into_iter().peekable();
            while found.peek().is_some() {
                let entities = found.by_ref().take(CHUNK).collect();
                if sender.send(Ok(ReadResponse { entities })).await.is_err() {
                    return;
                }
            }
            if let Err(status) = batch::status(&results, "entity") {
                let _ = sender.send(Err(status)).await;
            }
        });
        Ok(Response::new(ReceiverStream::new(receiver)))
    }

    async fn stream_channel(
        &self,
        request: Request<Streaming<StreamMessageRequest>>,
    ) -> Result<Response<Self::StreamChannelStream>, Status> {
        let (sender, receiver) = mpsc::channel(BACKLOG);
        let shared = self.0.clone();
        tokio::spawn(stream::serve(shared, request.into_inner(), sender));
        Ok(Response::new(ReceiverStream::new(receiver)))
    }
}

impl Service {
    fn check_device(&self, device_id: u64) -> Result<(), Status> {
        lock(&self.0.controllers)
            .arbitration
            .check_device(device_id)
    }

    fn check_primary(
        &self,
        device_id: u64,
        role: &RoleName,
        election_id: Option<&Uint128>,
    ) -> Result<(), Status> {
        let controllers = lock(&self.0.controllers);
        controllers
            .arbitration
            .check_primary(device_id, role, election_id)
    }
}
