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

/// Frames taken from one port before the others have their turn.
const BATCH: usize = 64;
/// Batches without rest after which there is a look at the links.
const LONG: u32 = 1024;
/// How often overflows of receive rings are asked for.
const OVERFLOWS: Duration = Duration::from_millis(100);
/// How long jobs may take between two batches before those that come after have to wait.
const JOBS: Duration = Duration::from_micros(200);
/// After how long frames are offered again that an interface did not take.
const RETRY: Duration = Duration::from_millis(1);
/// Octets of an Ethernet header.
const ETHERNET: u32 = 14;

/// What a dataplane is set up with.
#[derive(Clone, Debug, Default)]
pub struct DataplaneConfig {
    /// The ports, each with its interface.
    pub ports: Vec<(u16, String)>,
    /// The port whose packets go to the controller.
    pub cpu_port: Option<u16>,
    /// Where captures are written.
    pub captures: Option<PathBuf>,
    /// Whether ports' rates charge a frame's Ethernet header; else its packet alone, as links in virtual
    /// time do.
    pub charge_ethernet: bool,
    /// What ports do with frames that hardware is to cut into segments.
    pub offloads: Offloads,
    /// Threads that have the kernel send frames, beside the one that forwards them.
    pub senders: usize,
    /// Where it counts what happens to frames outside the switch; see [`Counters::new`].
    pub counters: Counters,
}

/// What goes to the controller. It must not wait.
pub trait ToController: Send {
    /// A packet left through the CPU port.
    fn packet(&mut self, octets: Vec<u8>);
    /// Something happened in the switch.
    fn event(&mut self, event: Event);
    /// The engine panicked, and dropped a packet; the switch continues unchanged.
    fn panicked(&mut self, switch: &Switch, panic: &Panic);
    /// A port's link has come up, or gone down; links are up until a report says otherwise.
    fn link(&mut self, port: u16, up: bool);
    /// A problem with an interface that an operator should know of.
    fn warn(&mut self, message: String);
}

/// A switch on the wall clock and on interfaces. As it is dropped, the thread ends and the interfaces
/// are put back as they were; so they are if the process is killed.
#[derive(Debug)]
pub struct Dataplane {
    handle: Handle,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Dataplane {
    /// Takes the interfaces and starts the thread.
    pub fn start(
        config: &DataplaneConfig,
        handle: Handle,
        jobs: Jobs,
        controller: impl ToController + 'static,
    ) -> Result<Self, IoError> {
        // Before there are ports, and dropped after them.
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
        // From now on, the thread is found by its name.
        let _ = running.recv();
        Ok(Dataplane {
            handle,
            stop,
            thread: Some(thread),
        })
    }

    /// Whether the thread runs. It ends by itself only through a fault of its own.
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
    /// `None` while it is gone.
    interface: Option<Interface>,
    /// Of an interface that was taken again.
    restorer: Option<Restorer>,
    capture: Option<Capture>,
    /// Whether its link works, as last reported.
    link: bool,
    /// Whether it was reported that frames are too long.
    warned: bool,
}

/// What the thread owns.
struct Owner {
    /// First, as they have the sockets of interfaces.
    senders: Senders,
    switch: Option<Switch>,
    ports: Vec<Port>,
    by_number: BTreeMap<u16, usize>,
    cpu_port: Option<u16>,
    /// Octets of a frame that ports' rates do not charge.
    uncharged: u32,
    offloads: Offloads,
    clock: Clock,
    counters: Counters,
    /// When overflows of receive rings were asked for last.
    counted: Instant,
    links: Links,
    jobs: Jobs,
    controller: Box<dyn ToController>,
    stop: Arc<AtomicBool>,
    /// Last, as interfaces are put back when their sockets are closed.
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
        // Timers of ordinary threads may be 50 µs late, ten packets of 1500 octets at 2.4 Gb/s.
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

    /// Releases deleted interfaces, opens those that exist again, and reports links that have
    /// changed.
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

    /// Takes a batch of frames from each port; whether there were any.
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

    /// Sends what is due, and passes events on.
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

    /// Sends what still waits for a thread that sends.
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

    /// Asks for overflows of receive rings, now and then.
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

    /// Runs jobs for a while; whether there may be more.
    fn run_jobs(&mut self) -> bool {
        let begin = self.clock.now();
        while let Some(job) = self.jobs.next() {
            let (switch, now) = (&mut self.switch, self.clock.now());
            // A fault in a job must not end the thread. Callers that wait for its answer get an error.
            if catch_unwind(AssertUnwindSafe(|| job(switch, now))).is_err() {
                let told = "a request from the control plane made the switch panic; it was not carried out";
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
    /// Has frames sent that its interface took. What was lost instead.
    fn flush_by(&mut self, senders: &Senders) -> Lost {
        let Some(interface) = &mut self.interface else {
            return Lost::NONE;
        };
        let mut lost = interface.flush_by(senders);
        if !self.link {
            // What was meant to leave now must not leave when the link is back.
            lost += interface.withdraw();
        }
        lost
    }

    /// Releases its interface if that was deleted or its packets have grown, and opens the one that has its name now.
    /// The frames that it had taken and not sent.
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
            // Before anybody hears of it, as it takes the kernel a while.
            drop(gone);
            if followed == Followed::Gone {
                // What was changed of the interface before went with it.
                self.restorer = None;
                controller.warn(format!(
                    "`{name}` is gone; port {number} is down until it is back"
                ));
            }
        }
        // There will be news when it is there, and up.
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
                        "`{name}` has an MTU of {} now; port {number} uses it with that",
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

/// Counts frames that an interface did not send. Of each, `uncharged` octets are not charged to the port.
fn failed(switch: &mut Switch, port: u16, lost: Lost, uncharged: u32) {
    if lost.frames > 0 {
        let octets = lost
            .octets
            .saturating_sub(lost.frames * u64::from(uncharged));
        switch.send_failed(port, lost.frames, octets);
    }
}

/// Counts a frame that a capture lacks, and says so the first time.
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
        "`{name}` takes in frames longer than its MTU, which are dropped: the host at its other end \
         leaves segmentation to hardware (`ethtool -K IFACE tso off gso off` there ends that)"
    )
}

/// How long it is until `due`.
pub(crate) fn until(now: Instant, due: Instant) -> Timespec {
    let wait = due.since(now).as_nanos();
    Timespec {
        tv_sec: (wait / 1_000_000_000) as i64,
        tv_nsec: (wait % 1_000_000_000) as i64,
    }
}
