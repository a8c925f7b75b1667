//! The server: its threads, its socket, its shutdown.

use crate::accepts::Connection;
use crate::dataplane::Dataplane;
use crate::device::GeneratorApps;
use crate::fault::Fault;
use crate::losses::{Lost, Outside};
use crate::notify::{self, Upcall};
use crate::pipeline;
use crate::proto::v1::ForwardingPipelineConfig;
use crate::proto::v1::set_forwarding_pipeline_config_request::Action;
use crate::published::Published;
use crate::service::{Service, Shared, lock};
use crate::tls::TlsFiles;
use engine::{Event, SwitchConfig};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use thiserror::Error;
use tokio::runtime::Runtime;
use tokio::sync::{mpsc, oneshot};
use tokio_stream::StreamExt;
use tonic::Status;
use tonic::body::Body;
use tonic::codegen::http::{Response, Uri};
use tonic::service::Routes;
use tonic::transport::Server as GrpcServer;
use tonic::transport::server::TcpIncoming;

/// The most packets and events that may wait to be passed on. Further ones are dropped.
pub(crate) const UPCALLS: usize = 4_096;
/// A client that does not respond for this long is considered disconnected.
const KEEPALIVE: Duration = Duration::from_secs(10);
/// How long clients may take to end their streams.
const FAREWELL: Duration = Duration::from_millis(500);
/// Stack size. The recursion of the compiler is as deep as the nesting of the program.
const STACK: usize = 16 << 20;

/// The configuration of a server.
#[derive(Clone, Debug)]
pub struct ServerConfig {
    /// The address on which it listens.
    pub address: SocketAddr,
    /// The device's number.
    pub device_id: u64,
    /// The port of packets to and from controllers.
    pub cpu_port: Option<u16>,
    /// The configuration of a switch when a program is committed. Digests are always reported.
    pub switch: SwitchConfig,
    /// Applications of the packet generator, which are configured in each program when it is committed. A program that
    /// cannot run them is rejected.
    pub generator: GeneratorApps,
    /// Whether programs for Tofino that violate a rule of the hardware are rejected.
    pub target_rules: bool,
    /// The octets of metadata that clients over TLS accept. The errors of a large batch need more than the
    /// [default](crate::DEFAULT_METADATA). Other clients announce their limit.
    pub max_metadata: usize,
    /// Counters of events outside of the switch, for controllers to read; see [`losses`](crate::losses).
    pub outside: Option<Outside>,
    /// Encryption, if enabled.
    pub tls: Option<TlsFiles>,
}

/// Why a server could not be started.
#[derive(Debug, Error)]
pub enum ServerError {
    /// Listening on the address failed.
    #[error("cannot listen on {address}: {error}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// The error of the system.
        error: std::io::Error,
    },
    /// Reading a file failed.
    #[error("{path}: {error}")]
    File {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        error: std::io::Error,
    },
    /// The certificate or key is not usable.
    #[error("TLS: {0}")]
    Tls(String),
    /// Starting the threads failed.
    #[error("cannot start the server's threads: {0}")]
    Threads(std::io::Error),
    /// The initial program is rejected.
    #[error("{0}")]
    Program(String),
}

/// A running server.
pub struct Server {
    runtime: Option<Runtime>,
    shared: Arc<Shared>,
    address: SocketAddr,
    stop: Option<oneshot::Sender<()>>,
    upcalls: Upcalls,
}

/// Receives packets and events of the switch. Never blocks.
#[derive(Clone)]
pub struct Upcalls {
    sender: mpsc::Sender<Upcall>,
    shared: Arc<Shared>,
}

impl Upcalls {
    /// Handles a packet that left through the CPU port.
    pub fn packet(&self, octets: Vec<u8>) {
        self.pass(Upcall::Packet(octets), Lost::PacketInQueue);
    }

    /// Handles an event.
    pub fn event(&self, event: Event) {
        if let Event::Digest(digest) = event {
            self.pass(Upcall::Digest(digest), Lost::DigestQueue);
        }
    }

    fn pass(&self, upcall: Upcall, what: Lost) {
        if self.sender.try_send(upcall).is_err() {
            self.shared.losses.count(what);
        }
    }

    /// The device config of the running program, as received.
    pub fn device_config(&self) -> Option<Vec<u8>> {
        let published = lock(&self.shared.published);
        let running = published.running.as_ref();
        running.map(|running| running.device_config.to_vec())
    }

    /// Handles the up or down event of a port's link. Links are up until reported otherwise.
    pub fn link(&self, port: u16, up: bool) {
        let device = self.shared.device.clone();
        self.shared.dataplane.submit(Box::new(move |switch, now| {
            lock(&device).set_link(switch, now, port, up);
        }));
    }
}

/// The answer to a call of another service, such as gNMI or reflection.
async fn unknown(called: Uri) -> Response<Body> {
    let message = format!(
        "there is no {}; this server has the service p4.v1.P4Runtime only",
        called.path().trim_start_matches('/')
    );
    Status::unimplemented(message).into_http()
}

impl Server {
    /// Listens, and serves requests on its own threads.
    pub fn start(
        config: ServerConfig,
        dataplane: Arc<dyn Dataplane>,
    ) -> Result<Server, ServerError> {
        let tls = config.tls.as_ref().map(TlsFiles::load).transpose()?;
        let mut builder = GrpcServer::builder()
            .http2_keepalive_interval(Some(KEEPALIVE))
            .http2_keepalive_timeout(Some(KEEPALIVE))
            .tcp_nodelay(true);
        if let Some(tls) = tls {
            let refused = |error: tonic::transport::Error| {
                use std::error::Error as _;
                let cause = error.source().map(ToString::to_string);
                ServerError::Tls(cause.unwrap_or_else(|| error.to_string()))
            };
            builder = builder.tls_config(tls).map_err(refused)?;
        }
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .thread_name("p4runtime")
            .thread_stack_size(STACK)
            .enable_all()
            .build()
            .map_err(ServerError::Threads)?;
        let address = config.address;
        let refused = |error| ServerError::Listen { address, error };
        let listener = runtime
            .block_on(tokio::net::TcpListener::bind(address))
            .map_err(refused)?;
        let address = listener.local_addr().map_err(refused)?;
        let shared = Arc::new(Shared::new(
            config.device_id,
            config.cpu_port,
            config.switch,
            config.generator,
            config.target_rules,
            config.max_metadata,
            dataplane,
            config.outside,
        ));
        let (sender, receiver) = mpsc::channel(UPCALLS);
        let upcalls = Upcalls {
            sender,
            shared: shared.clone(),
        };
        runtime.spawn(notify::pass_on(shared.clone(), receiver));
        runtime.spawn(notify::watch_idle_entries(shared.clone()));
        let (stop, stopped) = oneshot::channel::<()>();
        let incoming = TcpIncoming::from(listener).with_nodelay(Some(true));
        let incoming = incoming.map(|accepted| accepted.map(Connection::from));
        let services = Routes::new(Service::served(shared.clone())).into_axum_router();
        let serving = builder
            .add_routes(services.fallback(unknown).into())
            .serve_with_incoming_shutdown(incoming, async {
                let _ = stopped.await;
            });
        runtime.spawn(serving);
        Ok(Server {
            runtime: Some(runtime),
            shared,
            address,
            stop: Some(stop),
            upcalls,
        })
    }

    /// The address on which it listens. If port 0 was requested, it contains the chosen port.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Where to pass packets and events of the switch.
    pub fn upcalls(&self) -> Upcalls {
        self.upcalls.clone()
    }

    /// Commits a program like a client, before any client does.
    ///
    /// # Errors
    /// The compiler's diagnostics or the mismatches.
    pub fn load(&self, config: ForwardingPipelineConfig) -> Result<(), ServerError> {
        let program = |fault: Fault| ServerError::Program(fault.message);
        let verified = pipeline::verify(config, self.shared.target_rules, &self.shared.generator)
            .map_err(program)?;
        let fresh = verified.start(&self.shared.settings);
        let (done, result) = std::sync::mpsc::channel();
        let shared = self.shared.clone();
        self.shared.dataplane.submit(Box::new(move |switch, now| {
            let mut device = lock(&shared.device);
            let action = Action::VerifyAndCommit;
            let set = pipeline::set(&mut device, switch, now, action, Some(fresh));
            shared.ages.store(device.ages(), Ordering::Relaxed);
            let _ = done.send(set.map(|_| Published::of(&device)));
        }));
        let ended = |_| ServerError::Program("the switch has ended".into());
        *lock(&self.shared.published) = result.recv().map_err(ended)?.map_err(program)?;
        Ok(())
    }

    /// Ends all streams and connections.
    pub fn stop(mut self) {
        self.end();
    }

    fn end(&mut self) {
        let Some(runtime) = self.runtime.take() else {
            return;
        };
        let status =
            Status::unavailable(format!("device {} is shutting down", self.shared.device_id));
        lock(&self.shared.controllers).end(&status);
        if let Some(stop) = self.stop.take() {
            let _ = stop.send(());
        }
        runtime.shutdown_timeout(FAREWELL);
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.end();
    }
}
