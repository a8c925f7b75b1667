//! The thread that owns the switch.

use crate::af_packet::{Lost, Offloads, Restorer};
use crate::capture::{Capture, Unrecorded};
use crate::clock::Clock;
use crate::counters::{Counters, Outside};
use crate::error::IoError;
use crate::interface::{self, Followed, Interface, Received};
use crate::jobs::{Handle, Jobs};
use crate::links::Links;
use crate::offload;
use crate::senders::Senders;
use engine::{Event, Octets, Packet, Panic, Switch};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::collections::BTreeMap;
use std::num::NonZeroU64;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use units::{Duration, Instant};

/// Frames taken from one port before it is the next port's turn.
const BATCH: usize = 64;
/// Busy batches in a row after which the links are checked.
const LONG: u32 = 1024;
/// Interval at which overflows of receive rings are read.
const OVERFLOWS: Duration = Duration::from_millis(100);
/// How long jobs may run between two batches. Further jobs wait.
const JOBS: Duration = Duration::from_micros(200);
/// After how long frames that an interface did not accept are sent again.
const RETRY: Duration = Duration::from_millis(1);
/// Octets of an Ethernet header.
const ETHERNET: u32 = 14;

/// The configuration of a dataplane.
#[derive(Clone, Debug, Default)]
pub struct DataplaneConfig {
    /// The ports, each with its interface.
    pub ports: Vec<(u16, String)>,
    /// The port whose packets are passed to the controller.
    pub cpu_port: Option<u16>,
    /// The folder for captures.
    pub captures: Option<PathBuf>,
    /// Whether the rates of ports charge the Ethernet header of a frame. If not, they charge only its packet, like
    /// links in virtual time.
    pub charge_ethernet: bool,
    /// How ports handle frames that hardware is to segment.
    pub offloads: Offloads,
    /// Number of threads that make the kernel send frames, besides the forwarding thread.
    pub senders: usize,
    /// The counters of events outside of the switch; see [`Counters::new`].
    pub counters: Counters,
}

/// Receives everything for the controller. Its methods must not block.
pub trait ToController: Send {
    /// A packet left through the CPU port.
    fn packet(&mut self, octets: Vec<u8>);
    /// An event occurred in the switch.
    fn event(&mut self, event: Event);
    /// The engine panicked and dropped a packet. The switch continues unchanged.
    fn panicked(&mut self, switch: &Switch, panic: &Panic);
    /// The link of a port has gone up or down. Links are up until reported otherwise.
    fn link(&mut self, port: u16, up: bool);
    /// A problem with an interface that an operator should know about.
    fn warn(&mut self, message: String);
}

/// A switch that runs on the wall clock and on interfaces. When it is dropped, or the process is killed, the thread
/// ends and the interfaces are restored.
#[derive(Debug)]
pub struct Dataplane {
    handle: Handle,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Dataplane {
    /// Opens the interfaces and starts the thread.
    pub fn start(
        config: &DataplaneConfig,
        handle: Handle,
        jobs: Jobs,
        controller: impl ToController + 'static,
    ) -> Result<Self, IoError> {
        // Created before there are ports, and dropped after them.
        let mut restorer = Restorer::start(config.ports.len())?;
        let mut ports: Vec<Port> = Vec::new();
        for (number, name) in &config.ports {
            let twice = |what| Err(IoError::Twice { what });
            if ports.iter().any(|port| port.number == *number) {
                return twice(format!("port {number}"));
            }
            if ports.iter().any(|port| port.name == *name) {
                return twice(format!("interface `{name}`"));
            }
            let folder = config.captures.as_deref();
            ports.push(Port {
                number: *number,
                name: name.clone(),
                interface: Some(Interface::open(name, config.offloads, &mut restorer)?),
                restorer: None,
                link: true,
                warned: false,
                capture: folder
                    .map(|folder| Capture::create(folder, name))
                    .transpose()?,
            });
        }
        let stop = Arc::new(AtomicBool::new(false));
        let senders = Senders::start(config.senders, &handle)?;
        let owner = Owner {
            senders,
            by_number: ports
                .iter()
                .enumerate()
                .map(|(at, port)| (port.number, at))
                .collect(),
            ports,
            switch: None,
            cpu_port: config.cpu_port,
            uncharged: if config.charge_ethernet { 0 } else { ETHERNET },
            offloads: config.offloads,
            clock: Clock::start(),
            counters: config.counters.clone(),
            counted: Instant::ZERO,
            links: Links::listen()?,
            jobs,
            controller: Box::new(controller),
            stop: stop.clone(),
            _restorer: restorer,
        };
        let builder = std::thread::Builder::new().name("dataplane".into());
        let (begun, running) = std::sync::mpsc::channel::<()>();
        let thread = builder.spawn(move || {
            drop(begun);
            owner.run();
        })?;
        // From now on, the thread can be found by its name.
        let _ = running.recv();
        Ok(Dataplane {
            handle,
            stop,
            thread: Some(thread),
        })
    }

    /// Whether the thread is running. It ends by itself only because of a bug.
    pub fn is_running(&self) -> bool {
        self.thread
            .as_ref()
            .is_some_and(|thread| !thread.is_finished())
    }
}

impl Drop for Dataplane {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Release);
        self.handle.wake();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

struct Port {
    number: u16,
    name: String,
    /// `None` while the interface does not exist.
    interface: Option<Interface>,
    /// The restorer of an interface that was reopened.
    restorer: Option<Restorer>,
    capture: Option<Capture>,
    /// Whether its link is up, as last reported.
    link: bool,
    /// Whether frames that are too long have been reported.
    warned: bool,
}

/// The state that the thread owns.
struct Owner {
    /// The first field, because senders hold the sockets of interfaces.
    senders: Senders,
    switch: Option<Switch>,
    ports: Vec<Port>,
    by_number: BTreeMap<u16, usize>,
    cpu_port: Option<u16>,
    /// Octets per frame that the rates of ports do not charge.
    uncharged: u32,
    offloads: Offloads,
    clock: Clock,
    counters: Counters,
    /// When the overflows of receive rings were last read.
    counted: Instant,
    links: Links,
    jobs: Jobs,
    controller: Box<dyn ToController>,
    stop: Arc<AtomicBool>,
    /// The last field, because interfaces are restored after their sockets are closed.
    _restorer: Restorer,
}

/// What a packet's tag says of a frame that its sender left to hardware to cut.
struct Segments {
    /// Octets of data in each segment; 0: it is one segment.
    segment: u16,
    /// Octets of data in all of them, when the frame came.
    data: u16,
}

impl Segments {
    fn of(frame: &[u8], segment: u16) -> Segments {
        let data = match segment {
            0 => 0,
            _ => offload::data(frame),
        };
        Segments { segment, data }
    }

    fn of_tag(tag: u64) -> Segments {
        Segments {
            segment: tag as u16,
            data: (tag >> 16) as u16,
        }
    }

    fn tag(&self) -> u64 {
        u64::from(self.segment) | u64::from(self.data) << 16
    }
}

impl Owner {
    fn run(mut self) {
        // Timers of ordinary threads may be 50 µs late, which is the time of ten packets of 1500 octets at 2.4 Gb/s.
        let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
        self.follow_links();
        let mut batches: u32 = 0;
        while !self.stop.load(Ordering::Acquire) {
            let received = self.receive();
            self.transmit();
            self.count_overflows();
            let jobs_wait = self.run_jobs();
            self.transmit();
            batches = batches.wrapping_add(1);
            if !received && !jobs_wait {
                self.flush();
                self.wait();
            } else if batches.is_multiple_of(LONG) && self.links.take_news() {
                self.follow_links();
            }
        }
    }

    /// Closes deleted interfaces, opens those that exist again, and reports links that have changed.
    fn follow_links(&mut self) {
        for port in &mut self.ports {
            let unsent = port.follow(self.offloads, &mut *self.controller, &self.counters);
            if let Some(switch) = &mut self.switch {
                failed(switch, port.number, unsent, self.uncharged);
            }
            let link = port.interface.as_ref().is_some_and(Interface::has_link);
            if std::mem::replace(&mut port.link, link) != link {
                self.controller.link(port.number, link);
                if let Some(switch) = self.switch.as_mut().filter(|_| !link) {
                    switch.port_down(self.clock.now(), port.number);
                }
            }
        }
    }

    /// Takes a batch of frames from each port. Returns whether there were any.
    fn receive(&mut self) -> bool {
        let mut any = false;
        for port in &mut self.ports {
            let Some(interface) = &mut port.interface else {
                continue;
            };
            for _ in 0..BATCH {
                let buffer = || {
                    self.switch
                        .as_mut()
                        .map_or_else(Octets::default, |switch| switch.buffer())
                };
                let Some(received) = interface.receive(buffer) else {
                    break;
                };
                any = true;
                let Some(Received { octets, segment }) = received else {
                    self.counters.add(port.number, Outside::ReceiveTooLong, 1);
                    if !std::mem::replace(&mut port.warned, true) {
                        self.controller.warn(too_long(&port.name));
                    }
                    continue;
                };
                if let Some(capture) = &mut port.capture
                    && let Err(unrecorded) = capture.incoming(&octets)
                {
                    tell(
                        &self.counters,
                        &mut *self.controller,
                        port.number,
                        unrecorded,
                    );
                }
                let Some(switch) = &mut self.switch else {
                    self.counters.add(port.number, Outside::NoProgram, 1);
                    continue;
                };
                let further = offload::further_headers(&octets, segment, self.uncharged);
                let tag = Segments::of(&octets, segment).tag();
                let mut packet = Packet::new(octets);
                packet.link_octets = packet.link_octets.saturating_sub(self.uncharged) + further;
                packet.tag = tag;
                switch.handle_packet(self.clock.now(), port.number, packet);
            }
        }
        any
    }

    /// Sends the packets that are due, and passes events on.
    fn transmit(&mut self) {
        let Some(switch) = &mut self.switch else {
            return;
        };
        let now = self.clock.now();
        while let Some(mut sent) = switch.poll_transmit(now) {
            if Some(sent.port) == self.cpu_port {
                self.controller.packet(sent.packet.octets.into());
                continue;
            }
            if let Some(&at) = self.by_number.get(&sent.port) {
                let port = &mut self.ports[at];
                if let Some(capture) = &mut port.capture
                    && let Err(unrecorded) = capture.outgoing(&sent.packet.octets)
                {
                    tell(
                        &self.counters,
                        &mut *self.controller,
                        port.number,
                        unrecorded,
                    );
                }
                let octets = &mut sent.packet.octets;
                let Segments { segment, data } = Segments::of_tag(sent.packet.tag);
                let lost = match (&mut port.interface, segment) {
                    (None, _) => Lost::frame(octets.len()),
                    (Some(interface), 0) => interface.send(octets),
                    (Some(interface), segment) => {
                        let mut lost = interface.send_cut(octets, segment, data);
                        let further = offload::further_headers(octets, segment, self.uncharged);
                        lost.octets += lost.frames * u64::from(further);
                        lost
                    }
                };
                failed(switch, sent.port, lost, self.uncharged);
            }
            switch.recycle(sent.packet);
        }
        for port in &mut self.ports {
            let lost = port.flush_by(&self.senders);
            failed(switch, port.number, lost, self.uncharged);
        }
        while let Some(event) = switch.poll_event() {
            match event {
                Event::Panic(panic) => self.controller.panicked(switch, &panic),
                event => self.controller.event(event),
            }
        }
    }

    /// Sends the frames that still wait for a sender thread.
    fn flush(&mut self) {
        for port in &mut self.ports {
            let lost = port.interface.as_mut().map(Interface::flush);
            if let Some(switch) = &mut self.switch {
                failed(
                    switch,
                    port.number,
                    lost.unwrap_or_default(),
                    self.uncharged,
                );
            }
        }
    }

    /// Reads the overflows of receive rings at intervals.
    fn count_overflows(&mut self) {
        let now = self.clock.now();
        if now.since(self.counted) < OVERFLOWS {
            return;
        }
        self.counted = now;
        for port in &self.ports {
            let lost = port.interface.as_ref().map_or(0, Interface::take_overflow);
            if lost > 0 {
                self.counters
                    .add(port.number, Outside::ReceiveOverflow, lost);
            }
        }
    }

    /// Runs jobs for a limited time. Returns whether there may be more.
    fn run_jobs(&mut self) -> bool {
        let begin = self.clock.now();
        while let Some(job) = self.jobs.next() {
            let (switch, now) = (&mut self.switch, self.clock.now());
            // A panic in a job must not end the thread. Callers that wait for its result receive an error.
            if catch_unwind(AssertUnwindSafe(|| job(switch, now))).is_err() {
                let told =
                    "a request from the control plane made the switch panic; it was not executed";
                self.controller.warn(told.into());
            }
            if self.clock.now().since(begin) >= JOBS {
                return true;
            }
        }
        false
    }

    /// Waits for a frame, a job, or a line that becomes free.
    fn wait(&mut self) {
        for capture in self
            .ports
            .iter_mut()
            .filter_map(|port| port.capture.as_mut())
        {
            capture.flush();
        }
        let now = self.clock.now();
        let due = self
            .switch
            .as_ref()
            .and_then(|switch| switch.poll_timeout());
        let interfaces = || self.ports.iter().filter_map(|port| port.interface.as_ref());
        let retry = interfaces().any(Interface::waits).then(|| now + RETRY);
        let timeout = due.into_iter().chain(retry).min();
        let timeout = timeout.map(|due| until(now, due));
        let mut fds = vec![
            PollFd::from_borrowed_fd(self.jobs.fd(), PollFlags::IN),
            PollFd::from_borrowed_fd(self.links.fd(), PollFlags::IN),
        ];
        for interface in interfaces() {
            fds.push(PollFd::from_borrowed_fd(interface.fd(), PollFlags::IN));
        }
        if poll(&mut fds, timeout.as_ref()).is_err() {
            return;
        }
        let ready: Vec<PollFlags> = fds.iter().map(PollFd::revents).collect();
        drop(fds);
        if ready[0].contains(PollFlags::IN) {
            self.jobs.rest();
        }
        for (interface, ready) in interfaces().zip(&ready[2..]) {
            if ready.contains(PollFlags::ERR) {
                interface.clear_error();
            }
        }
        if ready[1].contains(PollFlags::IN) && self.links.take_news() {
            self.follow_links();
        }
    }
}

impl Port {
    /// Sends the frames that its interface has accepted. Returns the frames lost.
    fn flush_by(&mut self, senders: &Senders) -> Lost {
        let Some(interface) = &mut self.interface else {
            return Lost::NONE;
        };
        let mut lost = interface.flush_by(senders);
        if !self.link {
            // Frames that were due now must not be sent when the link is back.
            lost += interface.withdraw();
        }
        lost
    }

    /// Closes its interface if it was deleted or its packets have grown, and opens the interface that has its name now.
    /// Returns the frames that were accepted and not sent.
    fn follow(
        &mut self,
        offloads: Offloads,
        controller: &mut dyn ToController,
        counters: &Counters,
    ) -> Lost {
        let (name, number) = (&self.name, self.number);
        let mut unsent = Lost::NONE;
        let mut followed = Followed::There;
        let is_left = |interface: &mut Interface| {
            followed = interface.follow();
            followed != Followed::There
        };
        if let Some(mut gone) = self.interface.take_if(is_left) {
            unsent = gone.withdraw();
            counters.add(number, Outside::ReceiveOverflow, gone.take_overflow());
            let mut left = 0;
            while gone.receive(Octets::default).is_some() {
                left += 1;
            }
            counters.add(number, Outside::Detached, left);
            // Before anybody is notified, because it takes the kernel a while.
            drop(gone);
            if followed == Followed::Gone {
                // The previous changes to the interface disappeared with it.
                self.restorer = None;
                controller.warn(format!(
                    "`{name}` is gone; port {number} is down until it is back"
                ));
            }
        }
        // There will be a notification when it exists and is up.
        if self.interface.is_some() || !interface::is_up(name) {
            return unsent;
        }
        let taken = match self.restorer.take() {
            Some(restorer) => Ok(restorer),
            None => Restorer::start(1).map_err(IoError::from),
        }
        .and_then(|mut restorer| {
            let interface = Interface::open(name, offloads, &mut restorer)?;
            Ok((interface, restorer))
        });
        match taken {
            Ok((interface, restorer)) => {
                counters.add(number, Outside::Reattached, 1);
                controller.warn(match followed {
                    Followed::Outgrown => format!(
                        "`{name}` has an MTU of {} now, which port {number} uses",
                        interface.mtu()
                    ),
                    _ => format!("`{name}` is back; port {number} uses it again"),
                });
                self.interface = Some(interface);
                self.restorer = Some(restorer);
            }
            Err(error) => controller.warn(format!("port {number}: {error}")),
        }
        unsent
    }
}

/// Counts frames that an interface failed to send. `uncharged` octets of each are not charged to the port.
fn failed(switch: &mut Switch, port: u16, lost: Lost, uncharged: u32) {
    if lost.frames > 0 {
        let octets = lost
            .octets
            .saturating_sub(lost.frames * u64::from(uncharged));
        switch.send_failed(port, lost.frames, octets);
    }
}

/// Counts a frame that a capture could not record, and reports the first one.
fn tell(
    counters: &Counters,
    controller: &mut dyn ToController,
    port: u16,
    Unrecorded(message): Unrecorded,
) {
    counters.add(port, Outside::CaptureFailed, 1);
    if let Some(message) = message {
        controller.warn(message);
    }
}

fn too_long(name: &str) -> String {
    format!(
        "`{name}` takes in frames longer than its MTU, which are dropped: the host at its other end uses segmentation offload (`ethtool -K IFACE tso off gso off` there disables it)"
    )
}

/// The time until `due`.
pub(crate) fn until(now: Instant, due: Instant) -> Timespec {
    let wait = due.since(now).as_nanos();
    Timespec {
        tv_sec: (wait / 1_000_000_000) as i64,
        tv_nsec: (wait % 1_000_000_000) as i64,
    }
}
