//! The service: checks permissions, submits jobs to the thread that owns the switch, and responds.

use crate::accepts;
use crate::arbitration::RoleName;
use crate::batch::Undo;
use crate::controllers::{BACKLOG, Controllers};
use crate::dataplane::{self, Dataplane};
use crate::device::{Device, GeneratorApps, Target};
use crate::digests::Digests;
use crate::entities::{Cursor, Prepared};
use crate::fault::{Fault, Outcome};
use crate::losses::{Losses, Outside};
use crate::model::Model;
use crate::proto::v1::p4_runtime_server::{P4Runtime, P4RuntimeServer};
use crate::proto::v1::set_forwarding_pipeline_config_request::Action;
use crate::proto::v1::write_request::Atomicity;
use crate::proto::v1::*;
use crate::published::Published;
use crate::whole::write_as_a_whole;
use crate::{batch, device, entities, pipeline, reconcile, stream};
use engine::SwitchConfig;
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Request, Response, Status, Streaming};

/// The version of the specification.
const API_VERSION: &str = "1.5.0";

/// The number of updates that are executed between two batches of packets.
pub const UPDATES: usize = 32;

/// The number of entities in one message of a `Read`.
const CHUNK: usize = 512;

/// The largest message that is accepted, in octets.
const MAX_MESSAGE: usize = 32 << 20;

/// The state that all requests share.
pub struct Shared {
    /// The number of the device.
    pub device_id: u64,
    /// The port of packets to and from controllers.
    pub cpu_port: Option<u16>,
    /// The configuration of a switch.
    pub settings: SwitchConfig,
    /// Applications of the packet generator.
    pub generator: GeneratorApps,
    /// Whether programs for Tofino must obey the rules of the hardware.
    pub target_rules: bool,
    /// The octets of metadata that clients accept which do not say so.
    pub max_metadata: usize,
    /// The thread that owns the switch.
    pub dataplane: Arc<dyn Dataplane>,
    /// The programs, for that thread only. Requests lock this only in jobs, so that the thread never waits for the
    /// lock.
    pub device: Arc<Mutex<Device>>,
    /// A copy of the programs for all other threads.
    pub published: Mutex<Published>,
    /// Whether entries of the running program have an idle timeout.
    pub ages: AtomicBool,
    /// The streams of controllers.
    pub controllers: Mutex<Controllers>,
    /// Counters of lost messages.
    pub losses: Arc<Losses>,
    /// Digest messages in flight.
    pub digests: Mutex<Digests>,
    /// Held by one request at a time that changes something, and during arbitration, so that no write of the former
    /// primary is in progress when the new one is notified.
    pub gate: tokio::sync::Mutex<()>,
}

impl Shared {
    /// Creates a device without a program and without controllers.
    #[allow(clippy::too_many_arguments)]
    pub fn new(
        device_id: u64,
        cpu_port: Option<u16>,
        settings: SwitchConfig,
        generator: GeneratorApps,
        target_rules: bool,
        max_metadata: usize,
        dataplane: Arc<dyn Dataplane>,
        outside: Option<Outside>,
    ) -> Self {
        let losses = Arc::new(Losses::new(outside));
        let device = Device {
            losses: losses.clone(),
            generator: generator.clone(),
            ..Device::default()
        };
        Shared {
            device_id,
            cpu_port,
            settings: SwitchConfig {
                report_digests: true,
                ..settings
            },
            generator,
            target_rules,
            max_metadata,
            dataplane,
            device: Arc::new(Mutex::new(device)),
            published: Mutex::default(),
            ages: AtomicBool::new(false),
            losses,
            controllers: Mutex::new(Controllers::new(device_id)),
            digests: Mutex::default(),
            gate: tokio::sync::Mutex::new(()),
        }
    }
}

impl Shared {
    /// The model of the program to which requests refer.
    pub fn model(&self) -> Option<Arc<Model>> {
        let published = lock(&self.published);
        published.loaded().map(|program| program.model.clone())
    }
}

/// Locks a mutex. The state that a panicked thread has left behind is used as it is.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Executes updates, [`UPDATES`] of them between two batches of packets. Returns the result of each.
async fn write_in_slices(
    shared: &Arc<Shared>,
    updates: Vec<Update>,
    atomicity: Atomicity,
) -> Result<Vec<Outcome<()>>, Status> {
    let count = updates.len();
    let model = shared.model().ok_or_else(device::no_pipeline)?;
    let of_digests = updates.iter().any(is_of_digest);
    let parts: u64 = updates
        .iter()
        .map(|update| Prepared::count(&model, update))
        .sum();
    if atomicity == Atomicity::DataplaneAtomic && parts > UPDATES as u64 {
        return write_as_a_whole(shared, &model, updates, of_digests).await;
    }
    let (mut results, mut undo) = (vec![Ok(()); count], Vec::new());
    let mut parts = numbered(&model, updates);
    let mut failed = None;
    loop {
        // The rest of an update that failed is not executed.
        let rest = parts
            .by_ref()
            .skip_while(|(number, _)| failed == Some(*number));
        let (numbers, mut slice): (Vec<_>, Vec<_>) = rest.take(UPDATES).unzip();
        if slice.is_empty() {
            return Ok(results);
        }
        let part = write(shared, of_digests, move |target| match atomicity {
            Atomicity::ContinueOnError => Ok((batch::write_each(target, &mut slice), None)),
            _ => {
                let undo = batch::write_all(target, &mut slice, |_| true)?;
                Ok((vec![Ok(()); slice.len()], Some(Undo::new(&undo))))
            }
        });
        match part.await? {
            Ok((part, more)) => {
                for (number, result) in numbers.into_iter().zip(part) {
                    if let Err(fault) = result {
                        failed = Some(number);
                        results[number] = Err(fault);
                    }
                }
                undo.extend(more);
            }
            Err((at, fault)) => {
                while let Some(last) = undo.pop() {
                    let back = move |target: &mut Target<'_>| last.carry_out(target);
                    write(shared, of_digests, back).await?;
                }
                return Ok(batch::none_carried_out(count, numbers[at], fault));
            }
        }
    }
}

/// The parts of updates, each with the index of its update.
pub fn numbered(
    model: &Model,
    updates: Vec<Update>,
) -> impl Iterator<Item = (usize, Prepared)> + Send {
    let updates = updates.into_iter().enumerate();
    updates
        .flat_map(|(number, update)| Prepared::parts(model, update).map(move |part| (number, part)))
}

fn is_of_digest(update: &Update) -> bool {
    let entity = update.entity.as_ref().and_then(|e| e.entity.as_ref());
    matches!(entity, Some(entity::Entity::DigestEntry(_)))
}

/// Runs a function that changes entities, possibly including digests, on the thread that owns the switch.
pub async fn write<T: Send + 'static>(
    shared: &Arc<Shared>,
    of_digests: bool,
    change: impl FnOnce(&mut Target<'_>) -> T + Send + 'static,
) -> Result<T, Status> {
    let of = shared.clone();
    let changing = dataplane::run(&*shared.dataplane, move |switch, now| {
        let mut device = lock(&of.device);
        let mut target = device.target(switch, now)?;
        let result = change(&mut target);
        let enabled: Option<BTreeSet<u32>> =
            of_digests.then(|| target.state.digests.keys().copied().collect());
        device.follow_links(switch, now);
        of.ages.store(device.ages(), Ordering::Relaxed);
        let published = enabled.map(|enabled| (enabled, Published::of(&device)));
        Ok::<_, Fault>((result, published))
    });
    let (result, published) = changing.await??;
    if let Some((enabled, published)) = published {
        lock(&shared.digests).retain(|id| enabled.contains(&id));
        *lock(&shared.published) = published;
    }
    Ok(result)
}

/// Reads the entities of a request, a part between two batches of packets.
async fn read_in_slices(
    shared: &Arc<Shared>,
    entity: &Arc<Entity>,
    found: &mut Vec<Entity>,
) -> Result<Outcome<()>, Status> {
    let mut from = Cursor::default();
    loop {
        let (of, entity) = (shared.clone(), entity.clone());
        let part = dataplane::run(&*shared.dataplane, move |switch, now| {
            let mut device = lock(&of.device);
            let target = device.target(switch, now).map_err(Status::from)?;
            let mut found = Vec::new();
            let result = entities::read_some(&target, &entity, from, &mut found);
            Ok::<_, Status>((result, found))
        });
        let (result, part) = part.await??;
        found.extend(part);
        match result {
            Ok(Some(next)) => from = next,
            Ok(None) => return Ok(Ok(())),
            Err(fault) => return Ok(Err(fault)),
        }
    }
}

/// The service.
#[derive(Clone)]
pub struct Service(pub Arc<Shared>);

impl Service {
    /// The service for gRPC.
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
        // Device 0 requests the capabilities of all devices of a server.
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
        let (service, request) = (self.clone(), request.into_inner());
        // The running program is published even if the client disconnects.
        let setting = tokio::spawn(async move { service.set_pipeline(request).await });
        let failed = |_| Status::internal("the switch did not execute the request");
        setting.await.map_err(failed)??;
        Ok(Response::new(SetForwardingPipelineConfigResponse {}))
    }

    async fn get_forwarding_pipeline_config(
        &self,
        request: Request<GetForwardingPipelineConfigRequest>,
    ) -> Result<Response<GetForwardingPipelineConfigResponse>, Status> {
        let request = request.into_inner();
        self.check_device(request.device_id)?;
        let published = lock(&self.0.published).clone();
        let config = pipeline::get(&published, request.response_type());
        Ok(Response::new(GetForwardingPipelineConfigResponse {
            config,
        }))
    }

    async fn write(
        &self,
        request: Request<WriteRequest>,
    ) -> Result<Response<WriteResponse>, Status> {
        let metadata = accepts::of(&request, self.0.max_metadata);
        let (service, request) = (self.clone(), request.into_inner());
        // A batch is completed even if the client disconnects.
        let writing = tokio::spawn(async move { service.carry_out(request, metadata).await });
        let failed = |_| Status::internal("the switch did not execute the request");
        writing.await.map_err(failed)??;
        Ok(Response::new(WriteResponse {}))
    }

    async fn read(
        &self,
        request: Request<ReadRequest>,
    ) -> Result<Response<Self::ReadStream>, Status> {
        let metadata = accepts::of(&request, self.0.max_metadata);
        let request = request.into_inner();
        self.check_device(request.device_id)?;
        let mut found = Vec::new();
        let mut results = Vec::new();
        {
            // No write comes between two parts of a request.
            let _gate = self.0.gate.lock().await;
            if self.0.model().is_none() {
                return Err(device::no_pipeline().into());
            }
            for entity in request.entities {
                results.push(read_in_slices(&self.0, &Arc::new(entity), &mut found).await?);
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
            if let Err(status) = batch::status(&results, "entity", metadata) {
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
    async fn set_pipeline(
        &self,
        request: SetForwardingPipelineConfigRequest,
    ) -> Result<(), Status> {
        let _gate = self.0.gate.lock().await;
        #[allow(deprecated, reason = "older clients use it")]
        let role = RoleName::new(&request.role, request.role_id);
        self.check_primary(request.device_id, &role, request.election_id.as_ref())?;
        let action = request.action();
        let fresh = match (action, request.config) {
            (Action::Unspecified, _) => {
                return Err(Status::invalid_argument(
                    "the action is not set; valid: VERIFY, VERIFY_AND_SAVE, VERIFY_AND_COMMIT, \
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
                let shared = self.0.clone();
                let verify = move || {
                    let verified =
                        pipeline::verify(config, shared.target_rules, &shared.generator)?;
                    Ok::<_, Fault>(verified.start(&shared.settings))
                };
                let compiling = tokio::task::spawn_blocking(verify);
                let failed = |_| Status::internal("the compiler failed on this program");
                Some(compiling.await.map_err(failed)??)
            }
        };
        let (published, replaced) = match (action, fresh) {
            (Action::ReconcileAndCommit, Some(fresh)) => {
                reconcile::reconcile(&self.0, fresh).await?
            }
            (action, fresh) => {
                let shared = self.0.clone();
                let setting = dataplane::run(&*self.0.dataplane, move |switch, now| {
                    let mut device = lock(&shared.device);
                    let replaced = pipeline::set(&mut device, switch, now, action, fresh)?;
                    shared.ages.store(device.ages(), Ordering::Relaxed);
                    Ok::<_, Fault>((Published::of(&device), replaced))
                });
                setting.await??
            }
        };
        tokio::task::spawn_blocking(move || drop(replaced));
        *lock(&self.0.published) = published;
        if !matches!(action, Action::Verify | Action::VerifyAndSave) {
            lock(&self.0.digests).clear();
        }
        Ok(())
    }

    async fn carry_out(&self, request: WriteRequest, metadata: usize) -> Result<(), Status> {
        let _gate = self.0.gate.lock().await;
        #[allow(deprecated, reason = "older clients use it")]
        let role = RoleName::new(&request.role, request.role_id);
        self.check_primary(request.device_id, &role, request.election_id.as_ref())?;
        let atomicity = Atomicity::try_from(request.atomicity).map_err(|_| {
            Status::invalid_argument(
                "unknown atomicity; valid: CONTINUE_ON_ERROR, ROLLBACK_ON_ERROR, \
                 DATAPLANE_ATOMIC",
            )
        })?;
        let results = write_in_slices(&self.0, request.updates, atomicity).await?;
        batch::status(&results, "update", metadata)
    }

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dataplane::Job;
    use crate::model::{Scope, TableModel};
    use crate::robustness::{large, route};
    use std::sync::atomic::AtomicUsize;
    use tonic::Code;
    use units::Instant;
    use update::Type;

    /// A device. `run` executes its jobs.
    fn shared_of(device: Device, run: impl Fn(Job) + Send + Sync + 'static) -> Arc<Shared> {
        let shared = Shared::new(
            1,
            None,
            SwitchConfig::default(),
            GeneratorApps::default(),
            true,
            batch::DEFAULT_METADATA,
            Arc::new(run),
            None,
        );
        *lock(&shared.published) = Published::of(&device);
        *lock(&shared.device) = device;
        Arc::new(shared)
    }

    /// A device with a program, which counts its jobs.
    fn device() -> (Arc<Shared>, Arc<AtomicUsize>) {
        let (device, switch) = large();
        let jobs = Arc::new(AtomicUsize::new(0));
        let (switch, count) = (Mutex::new(switch), jobs.clone());
        let run = move |job: Job| {
            count.fetch_add(1, Ordering::Relaxed);
            job(&mut lock(&switch), Instant::ZERO);
        };
        (shared_of(device, run), jobs)
    }

    /// An action that a table may run, with zeros as data.
    fn any_action(model: &Model, table: &TableModel) -> crate::proto::v1::Action {
        let used = table
            .actions
            .iter()
            .find(|used| used.scope != Scope::Default);
        let used = used.expect("an action for entries");
        let action = &model.actions[&used.id];
        let params = action.params.iter().map(|param| action::Param {
            param_id: param.id,
            value: vec![0],
        });
        crate::proto::v1::Action {
            action_id: used.id,
            params: params.collect(),
        }
    }

    fn inserts(shared: &Shared, numbers: impl Iterator<Item = u32>) -> Vec<Update> {
        let device = lock(&shared.device);
        let update = |number| Update {
            r#type: Type::Insert as i32,
            entity: Some(entity::Entity::TableEntry(route(&device, number, 0)).into()),
        };
        numbers.map(update).collect()
    }

    #[tokio::test]
    async fn packets_pass_between_updates() {
        let (shared, jobs) = device();
        // The second half existed before.
        for (from, expected) in [(0, 0), (100, 100)] {
            let updates = inserts(&shared, from..from + 200);
            let results = write_in_slices(&shared, updates, Atomicity::ContinueOnError).await;
            let failed = results
                .unwrap()
                .iter()
                .filter(|result| result.is_err())
                .count();
            assert_eq!(failed, expected);
            assert_eq!(jobs.swap(0, Ordering::Relaxed), 200usize.div_ceil(UPDATES));
        }
        // The last one existed before, so the others are undone.
        let batch = || inserts(&shared, (300..400).chain([0]));
        let results = write_in_slices(&shared, batch(), Atomicity::RollbackOnError)
            .await
            .unwrap();
        assert_eq!(results.len(), 101);
        assert!(results.iter().all(Result::is_err));
        assert_eq!(results[100].as_ref().unwrap_err().code, Code::AlreadyExists);
        let expected = 101usize.div_ceil(UPDATES) + 100 / UPDATES;
        assert_eq!(jobs.swap(0, Ordering::Relaxed), expected);
        let updates = inserts(&shared, 300..400);
        let results = write_in_slices(&shared, updates, Atomicity::RollbackOnError).await;
        assert!(results.unwrap().iter().all(Result::is_ok));
    }

    /// A device, and the number of entries that packets found in its largest table after each job.
    fn watched() -> (Arc<Shared>, Arc<Mutex<Vec<usize>>>) {
        let (device, switch) = large();
        let seen = Arc::new(Mutex::new(Vec::new()));
        let (switch, after) = (Mutex::new(switch), seen.clone());
        let table = {
            let model = &device.loaded().unwrap().model;
            let mut tables = model.tables.values();
            tables.find(|table| table.idle_timeout).unwrap().table
        };
        let run = move |job: Job| {
            let mut switch = lock(&switch);
            job(&mut switch, Instant::ZERO);
            let entries = switch.as_ref().unwrap().entries(table);
            lock(&after).push(entries.unwrap().len());
        };
        (shared_of(device, run), seen)
    }

    // p4runtime: dataplane-atomic
    #[tokio::test]
    async fn packets_pass_while_a_batch_is_prepared_that_they_see_as_a_whole() {
        let (shared, seen) = watched();
        let atomic = Atomicity::DataplaneAtomic;
        for (numbers, before, after) in [
            (0..200, 0, 200),
            (200..400, 200, 400),
            // One of these exists already.
            (399..600, 400, 400),
        ] {
            let updates = inserts(&shared, numbers);
            let results = write_in_slices(&shared, updates, atomic).await.unwrap();
            let seen = std::mem::take(&mut *lock(&seen));
            let (last, others) = seen.split_last().unwrap();
            assert_eq!(*last, after);
            assert!(
                others.iter().all(|entries| *entries == before),
                "{others:?}"
            );
            assert!(others.len() >= before / 64 + if after > before { 200 / UPDATES } else { 1 });
            assert!(
                results
                    .iter()
                    .all(|result| result.is_ok() == (after > before))
            );
        }
        // A batch that fits into a slice takes the same steps as other slices.
        let updates = inserts(&shared, 400..400 + UPDATES as u32);
        let results = write_in_slices(&shared, updates, atomic).await.unwrap();
        assert!(results.iter().all(Result::is_ok));
        assert_eq!(*lock(&seen), [400 + UPDATES]);
    }

    /// An update of all cells of the largest counter, and the number of its cells.
    fn all_cells(shared: &Shared, packet_count: i64) -> (Update, usize) {
        let device = lock(&shared.device);
        let counters = device.loaded().unwrap().model.counters.values();
        let counter = counters.max_by_key(|counter| counter.size).unwrap();
        let entry = CounterEntry {
            counter_id: counter.id,
            index: None,
            data: Some(CounterData {
                packet_count,
                byte_count: 0,
            }),
        };
        let update = Update {
            r#type: Type::Modify as i32,
            entity: Some(entity::Entity::CounterEntry(entry).into()),
        };
        (update, counter.size as usize)
    }

    /// The contents of the cells that an update sets.
    async fn cells_of(shared: &Arc<Shared>, update: &Update) -> Vec<i64> {
        let mut found = Vec::new();
        let asked = Arc::new(update.entity.clone().unwrap());
        let read = read_in_slices(shared, &asked, &mut found).await;
        read.unwrap().unwrap();
        let count = |entity: Entity| match entity.entity {
            Some(entity::Entity::CounterEntry(entry)) => entry.data.unwrap().packet_count,
            other => panic!("{other:?} is no counter entry"),
        };
        found.into_iter().map(count).collect()
    }

    #[tokio::test]
    async fn packets_pass_while_all_cells_of_an_array_are_set() {
        let (shared, jobs) = device();
        let (set, cells) = all_cells(&shared, 7);
        let write = |updates, atomicity| write_in_slices(&shared, updates, atomicity);
        let results = write(vec![set.clone()], Atomicity::ContinueOnError).await;
        assert_eq!(results.unwrap().len(), 1);
        assert!(jobs.swap(0, Ordering::Relaxed) >= cells / (16 * UPDATES));
        assert_eq!(cells_of(&shared, &set).await, vec![7; cells]);
        // The rest of an update that fails is not tried, and the updates behind it are executed.
        let (wrong, _) = all_cells(&shared, -1);
        jobs.store(0, Ordering::Relaxed);
        let batch = [&[wrong.clone()][..], &inserts(&shared, 0..1)].concat();
        let results = write(batch, Atomicity::ContinueOnError).await.unwrap();
        let succeeded: Vec<_> = results.iter().map(Result::is_ok).collect();
        assert_eq!(succeeded, [false, true]);
        assert_eq!(jobs.load(Ordering::Relaxed), 2);
        // The cells are restored when another update fails.
        let (other, _) = all_cells(&shared, 8);
        for atomicity in [Atomicity::RollbackOnError, Atomicity::DataplaneAtomic] {
            let batch = vec![other.clone(), wrong.clone()];
            let results = write(batch, atomicity).await.unwrap();
            assert!(results.iter().all(Result::is_err));
            assert_eq!(cells_of(&shared, &set).await, vec![7; cells]);
        }
        let results = write(vec![other.clone()], Atomicity::DataplaneAtomic).await;
        assert!(results.unwrap()[0].is_ok());
        assert_eq!(cells_of(&shared, &other).await, vec![8; cells]);
    }

    // p4runtime: dataplane-atomic
    #[tokio::test]
    async fn packets_pass_while_a_batch_sets_all_cells_and_count_from_what_it_sets() {
        let (device, switch) = large();
        let counter = {
            let counters = device.loaded().unwrap().model.counters.values();
            counters.max_by_key(|c| c.size).unwrap().object
        };
        let seen = Arc::new(Mutex::new(Vec::new()));
        let (switch, after) = (Mutex::new(switch), seen.clone());
        let run = move |job: Job| {
            let mut switch = lock(&switch);
            job(&mut switch, Instant::ZERO);
            let switch = switch.as_mut().unwrap();
            let size = switch.object_size(counter).unwrap();
            let packets = |at| switch.counter_read(counter, at).unwrap().packets;
            lock(&after).push((0..size).map(packets).collect::<Vec<_>>());
            // A packet arrives after each job.
            let mut data = switch.counter_read(counter, 3).unwrap();
            data.packets += 1;
            switch.counter_write(counter, 3, data).unwrap();
        };
        let shared = shared_of(device, run);
        let (set, cells) = all_cells(&shared, 1000);
        let batch = [&[set][..], &inserts(&shared, 0..100)].concat();
        let results = write_in_slices(&shared, batch, Atomicity::DataplaneAtomic).await;
        assert!(results.unwrap().iter().all(Result::is_ok));
        let seen = std::mem::take(&mut *lock(&seen));
        let published = seen.iter().position(|cells| cells[0] == 1000).unwrap();
        let (before, after) = seen.split_at(published);
        for (first, jobs) in [(0, before), (1000, after)] {
            for (counted, found) in (first..).zip(jobs) {
                let mut expected = vec![first; cells];
                expected[3] = counted;
                assert_eq!(*found, expected);
            }
        }
        // Writes to cells that packets have not reached are carried out later.
        assert!(
            before.len() > cells / 512 && after.len() > cells / 1024,
            "{}",
            after.len()
        );
    }

    #[tokio::test]
    async fn packets_pass_while_a_program_is_reconciled_and_what_they_count_is_kept() {
        let (device, switch) = large();
        let (counter, config) = {
            let loaded = device.loaded().unwrap();
            let counters = loaded.model.counters.values();
            let object = counters.max_by_key(|c| c.size).unwrap().object;
            let source = [&loaded.device_config[..], b"// another"].concat();
            let config = ForwardingPipelineConfig {
                p4info: Some(loaded.model.p4info.clone()),
                p4_device_config: source,
                cookie: None,
            };
            (object, config)
        };
        let jobs = Arc::new(AtomicUsize::new(0));
        let (switch, count) = (Mutex::new(switch), jobs.clone());
        let run = move |job: Job| {
            count.fetch_add(1, Ordering::Relaxed);
            let mut switch = lock(&switch);
            // A packet arrives before each job.
            let counting = switch.as_mut().unwrap();
            let mut data = counting.counter_read(counter, 7).unwrap();
            data.packets += 1;
            counting.counter_write(counter, 7, data).unwrap();
            job(&mut switch, Instant::ZERO);
        };
        let shared = shared_of(device, run);
        let updates = inserts(&shared, 0..200);
        let written = write_in_slices(&shared, updates, Atomicity::ContinueOnError).await;
        assert!(written.unwrap().iter().all(Result::is_ok));
        let verified = pipeline::verify(config, true, &GeneratorApps::default()).unwrap();
        let fresh = verified.start(&SwitchConfig::default());
        let entries = entity::Entity::TableEntry(TableEntry::default());
        let entries = Arc::new(Entity::from(entries));
        let mut before = Vec::new();
        let read = read_in_slices(&shared, &entries, &mut before).await;
        read.unwrap().unwrap();
        let begin = jobs.load(Ordering::Relaxed);
        let (published, replaced) = reconcile::reconcile(&shared, fresh).await.unwrap();
        *lock(&shared.published) = published;
        assert!(replaced.0.is_some() && replaced.1.is_some());
        assert!(jobs.load(Ordering::Relaxed) - begin > 200 / UPDATES);
        let mut after = Vec::new();
        let read = read_in_slices(&shared, &entries, &mut after).await;
        read.unwrap().unwrap();
        assert!(before.len() >= 200 && before == after);
        let (all, _) = all_cells(&shared, 0);
        let packets = jobs.load(Ordering::Relaxed) + 1;
        assert_eq!(cells_of(&shared, &all).await[7], packets as i64);
    }

    #[tokio::test]
    async fn packets_pass_between_the_entries_of_a_read() {
        let (shared, jobs) = device();
        let updates = inserts(&shared, 0..500);
        let written = write_in_slices(&shared, updates.clone(), Atomicity::ContinueOnError);
        written.await.unwrap();
        for of in [
            entity::Entity::TableEntry(TableEntry::default()),
            entity::Entity::DirectCounterEntry(DirectCounterEntry::default()),
        ] {
            jobs.store(0, Ordering::Relaxed);
            let (of, mut found) = (Arc::new(of.into()), Vec::new());
            let read = read_in_slices(&shared, &of, &mut found).await;
            read.unwrap().unwrap();
            assert!(jobs.load(Ordering::Relaxed) > 500 / UPDATES);
            let keys = found.iter().filter_map(|entity| match &entity.entity {
                Some(entity::Entity::TableEntry(entry)) => Some(entry.r#match.clone()),
                Some(entity::Entity::DirectCounterEntry(entry)) => {
                    Some(entry.table_entry.as_ref()?.r#match.clone())
                }
                _ => None,
            });
            let keys: Vec<_> = keys.collect();
            for update in &updates {
                let entity = update.entity.as_ref().and_then(|e| e.entity.as_ref());
                let Some(entity::Entity::TableEntry(entry)) = entity else {
                    panic!("{update:?} writes no entry");
                };
                assert_eq!(keys.iter().filter(|key| **key == entry.r#match).count(), 1);
            }
        }
    }

    #[tokio::test]
    async fn packets_pass_between_the_members_and_groups_of_a_read() {
        let (shared, jobs) = device();
        let (profile, action) = {
            let device = lock(&shared.device);
            let model = &device.loaded().unwrap().model;
            let profile = model.profiles.values().next().unwrap();
            let table = model.table(profile.table.unwrap()).unwrap();
            (profile.id, any_action(model, table))
        };
        let member = |member_id| {
            let member = ActionProfileMember {
                action_profile_id: profile,
                member_id,
                action: Some(action.clone()),
            };
            entity::Entity::ActionProfileMember(member)
        };
        let group = |group_id| {
            let member = action_profile_group::Member {
                member_id: group_id,
                weight: 1,
                ..Default::default()
            };
            let group = ActionProfileGroup {
                action_profile_id: profile,
                group_id,
                members: vec![member],
                max_size: 1,
            };
            entity::Entity::ActionProfileGroup(group)
        };
        let entities = (1..=200).map(member).chain((1..=200).map(group));
        let updates = entities.map(|entity| Update {
            r#type: Type::Insert as i32,
            entity: Some(entity.into()),
        });
        let written = write_in_slices(&shared, updates.collect(), Atomicity::ContinueOnError);
        assert!(written.await.unwrap().iter().all(Result::is_ok));
        let id = |entity: &Entity| match entity.entity.as_ref().unwrap() {
            entity::Entity::ActionProfileMember(member) => member.member_id,
            entity::Entity::ActionProfileGroup(group) => group.group_id,
            other => panic!("{other:?} was not asked for"),
        };
        for (profile, only, expected) in [
            (0, 0, (1..=200).collect::<Vec<_>>()),
            (profile, 0, (1..=200).collect()),
            (profile, 150, vec![150]),
            (0, 201, vec![]),
        ] {
            let members = entity::Entity::ActionProfileMember(ActionProfileMember {
                action_profile_id: profile,
                member_id: only,
                ..Default::default()
            });
            let groups = entity::Entity::ActionProfileGroup(ActionProfileGroup {
                action_profile_id: profile,
                group_id: only,
                ..Default::default()
            });
            for of in [members, groups] {
                jobs.store(0, Ordering::Relaxed);
                let (of, mut found) = (Arc::new(of.into()), Vec::new());
                read_in_slices(&shared, &of, &mut found)
                    .await
                    .unwrap()
                    .unwrap();
                assert_eq!(found.iter().map(id).collect::<Vec<_>>(), expected);
                assert!(jobs.load(Ordering::Relaxed) >= expected.len().div_ceil(UPDATES));
            }
        }
    }

    #[tokio::test]
    async fn packets_pass_between_the_cells_of_a_read() {
        let (shared, jobs) = device();
        let all = entity::Entity::CounterEntry(CounterEntry::default());
        let mut found = Vec::new();
        let result = read_in_slices(&shared, &Arc::new(all.into()), &mut found).await;
        result.unwrap().unwrap();
        let mut indices = Vec::new();
        for entity in found {
            let Some(entity::Entity::CounterEntry(entry)) = entity.entity else {
                panic!("{entity:?} is no counter entry");
            };
            indices.push((entry.counter_id, entry.index.unwrap().index));
        }
        assert!(indices.is_sorted() && indices.len() >= 2000);
        assert!(
            indices.windows(2).all(|two| two[0] != two[1]),
            "each cell once"
        );
        assert!(jobs.load(Ordering::Relaxed) >= indices.len() / 256);
    }
}
