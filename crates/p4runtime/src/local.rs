//! A device in this process, for tests and fuzzing: no socket, no thread, no interface. Requests pass through the codec
//! and the service like those from a network. A packet to the CPU port is passed to the controller.

use crate::batch::DEFAULT_METADATA;
use crate::dataplane::{Dataplane, Job};
use crate::device::GeneratorApps;
use crate::notify::{self, Upcall};
use crate::proto::v1::p4_runtime_client::P4RuntimeClient;
use crate::proto::v1::p4_runtime_server::P4RuntimeServer;
use crate::server::UPCALLS;
use crate::service::{Service, Shared, lock};
use engine::{Event, Packet, Switch, SwitchConfig};
use rustix::time::{ClockId, clock_gettime};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::mpsc;
use units::Instant;

/// A client of a device in the same process.
pub type LocalClient = P4RuntimeClient<P4RuntimeServer<Service>>;

/// A device that runs on the threads of its users.
#[derive(Clone)]
pub struct LocalDevice {
    shared: Arc<Shared>,
    switch: Arc<LocalSwitch>,
}

impl LocalDevice {
    /// Creates device 1, without a program. A task of the current Tokio runtime passes on its unsolicited messages for
    /// the lifetime of the runtime.
    ///
    /// # Panics
    /// Outside of a Tokio runtime.
    pub fn start(cpu_port: u16) -> LocalDevice {
        let (upcalls, receiver) = mpsc::channel(UPCALLS);
        let switch = Arc::new(LocalSwitch {
            switch: Mutex::default(),
            cpu_port,
            upcalls,
            longest_job: Mutex::default(),
        });
        let settings = SwitchConfig::default();
        let shared = Shared::new(
            1,
            Some(cpu_port),
            settings,
            GeneratorApps::default(),
            true,
            DEFAULT_METADATA,
            switch.clone(),
            None,
        );
        let shared = Arc::new(shared);
        tokio::spawn(notify::pass_on(shared.clone(), receiver));
        LocalDevice { shared, switch }
    }

    /// Creates a client of the device.
    pub fn client(&self) -> LocalClient {
        P4RuntimeClient::new(Service::served(self.shared.clone()))
    }

    /// Handles a packet that arrives at a port.
    pub fn handle_packet(&self, port: u16, octets: Vec<u8>) {
        self.shared.dataplane.submit(Box::new(move |switch, now| {
            if let Some(switch) = switch {
                switch.handle_packet(now, port, Packet::new(octets));
            }
        }));
    }

    /// Handles the up or down event of a port's link.
    pub fn set_link(&self, port: u16, up: bool) {
        let device = self.shared.device.clone();
        self.shared.dataplane.submit(Box::new(move |switch, now| {
            lock(&device).set_link(switch, now, port, up);
        }));
    }

    /// The longest time that packets waited for a job since the last call, in processor time, which excludes other
    /// processes.
    pub fn take_longest_job(&self) -> Duration {
        std::mem::take(&mut *lock(&self.switch.longest_job))
    }
}

/// The processor time of this thread.
fn on_processor() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// Runs jobs at once. Its time is constant.
struct LocalSwitch {
    switch: Mutex<Option<Switch>>,
    cpu_port: u16,
    upcalls: mpsc::Sender<Upcall>,
    longest_job: Mutex<Duration>,
}

impl Dataplane for LocalSwitch {
    fn submit(&self, job: Job) {
        let mut switch = lock(&self.switch);
        let begin = on_processor();
        job(&mut switch, Instant::ZERO);
        let took = on_processor().saturating_sub(begin);
        let mut longest = lock(&self.longest_job);
        *longest = took.max(*longest);
        let Some(switch) = &mut *switch else { return };
        while let Some(sent) = switch.poll_transmit(Instant::ZERO) {
            if sent.port == self.cpu_port {
                let octets = sent.packet.octets.into();
                let _ = self.upcalls.try_send(Upcall::Packet(octets));
            }
        }
        while let Some(event) = switch.poll_event() {
            if let Event::Digest(digest) = event {
                let _ = self.upcalls.try_send(Upcall::Digest(digest));
            }
        }
    }
}
