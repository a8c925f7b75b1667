//! The traffic manager: the queues of each egress port, and when the lines are free.
//!
//! It shares no code with the drop-tail queue of netsim. The documentation of that queue explains why.

use crate::due::Due;
use crate::scheduling::Round;
use crate::{Lineage, MAX_QUEUES, PortConfig, PortStats, Scheduling};
use p4_vm::{DropCause, DropCounts, Packet};
use std::collections::VecDeque;
use std::ops::{Deref, DerefMut};
use units::Instant;

/// A packet between ingress and egress. It is boxed and never moved, because a copy would cost more than all other work
/// of a queue.
#[derive(Debug, Default)]
pub struct Queued {
    /// The packet's storage as ingress left it.
    pub words: Box<[u64]>,
    /// The packet.
    pub packet: Packet,
    /// Bits parsed. The rest is payload.
    pub cursor: usize,
    /// The packet's length in octets on arrival.
    pub length: u32,
    /// Octets that may leave the switch.
    pub truncate: Option<u32>,
    /// The family of copies to which it belongs.
    pub lineage: Lineage,
    /// When it joined the queue.
    pub enqueued: Instant,
    /// Packets that waited in the queue at that time.
    pub enq_qdepth: u32,
    /// Cells of the buffer that it occupies. 0 if the architecture does not count cells.
    pub cells: u32,
    /// Cells of the packets that waited in the queue when it joined.
    pub enq_cells: u32,
}

/// The storage of a packet, allocated together with its entry in a queue. It dereferences to the words.
#[derive(Debug)]
pub struct Frame(pub(crate) Box<Queued>);

impl Deref for Frame {
    type Target = [u64];

    #[inline]
    fn deref(&self) -> &[u64] {
        &self.0.words
    }
}

impl DerefMut for Frame {
    #[inline]
    fn deref_mut(&mut self) -> &mut [u64] {
        &mut self.0.words
    }
}

impl Queued {
    /// Octets of memory that it uses.
    #[inline]
    fn octets(&self) -> u64 {
        (size_of::<Queued>() + size_of_val(&*self.words) + self.packet.octets.len()) as u64
    }
}

/// A packet that leaves its queue.
#[derive(Debug)]
pub struct Dequeued {
    /// The egress port.
    pub port: u16,
    /// The queue.
    pub priority: u8,
    /// When its serialisation starts.
    pub start: Instant,
    /// Packets that remain in the queue.
    pub deq_qdepth: u32,
    /// Cells of those packets.
    pub deq_cells: u32,
    /// Whether the switch has no such port: egress sees the packet, and no line takes it.
    pub absent: bool,
    /// The packet.
    pub queued: Box<Queued>,
}

/// The queues of all ports.
#[derive(Debug, Default)]
pub struct TrafficManager {
    ports: Vec<Option<Box<Port>>>,
    stats: Vec<PortStats>,
    /// When each port with waiting packets can send next. Each such port is listed once.
    due: Due,
    /// Ports that were added to `due` or at which more packets may wait. `None` if nobody polls them.
    waiting: Option<Vec<u16>>,
    /// Octets of memory that queued packets use, and their limit.
    octets: u64,
    max_octets: u64,
}

#[derive(Debug)]
struct Port {
    config: PortConfig,
    /// It has queues, so that its packets go through egress, and no line.
    absent: bool,
    /// By priority.
    queues: Vec<Queue>,
    /// The round-robin state, used if the queues have weights.
    round: Round,
    waiting: u32,
    /// A bit for each queue that has packets.
    occupied: u8,
    /// When the line has sent its current packet.
    free_at: Instant,
    /// Set between `dequeue` and `occupy`, while the duration of the serialisation is unknown.
    serving: bool,
}

#[derive(Debug, Default)]
struct Queue {
    packets: VecDeque<Box<Queued>>,
    /// Cells of all packets in the queue.
    cells: u32,
}

impl Port {
    /// The queue that is served next.
    #[inline]
    fn next_queue(&self) -> Option<usize> {
        match &self.config.scheduling {
            Scheduling::Strict => self.occupied.checked_ilog2().map(|queue| queue as usize),
            Scheduling::Weighted(weights) => self.by_weight(weights, &mut { self.round }),
        }
    }

    /// Like [`Self::next_queue`], and also ends the turn of that queue if the queues have weights.
    #[inline]
    fn take_turn(&mut self) -> Option<usize> {
        let Scheduling::Weighted(weights) = self.config.scheduling else {
            return self.next_queue();
        };
        let mut round = self.round;
        let queue = self.by_weight(&weights, &mut round);
        self.round = round;
        queue
    }

    #[inline(never)]
    fn by_weight(&self, weights: &[u8; MAX_QUEUES as usize], round: &mut Round) -> Option<usize> {
        let first = |queue: usize| {
            let first = self.queues.get(queue)?.packets.front()?;
            Some(u64::from(first.packet.link_octets))
        };
        round.next(weights, first)
    }
}

impl TrafficManager {
    /// Creates a traffic manager without ports. Queued packets may use `max_octets` of memory. `report_waiting`: the
    /// caller will poll the ports at which packets wait.
    pub fn new(max_octets: u64, report_waiting: bool) -> Self {
        TrafficManager {
            max_octets,
            waiting: report_waiting.then(Vec::new),
            ..TrafficManager::default()
        }
    }

    /// Configures a port. Packets that already wait remain queued.
    pub fn set_port(&mut self, port: u16, mut config: PortConfig) {
        let at = port as usize;
        if at >= self.ports.len() {
            self.ports.resize_with(at + 1, || None);
        }
        config.queues = config.queues.clamp(1, MAX_QUEUES);
        let queues = config.queues as usize;
        let port = self.ports[at].get_or_insert_with(|| {
            Box::new(Port {
                config,
                absent: false,
                queues: Vec::new(),
                round: Round::default(),
                waiting: 0,
                occupied: 0,
                free_at: Instant::ZERO,
                serving: false,
            })
        });
        port.config = config;
        port.absent = false;
        if port.queues.len() < queues {
            port.queues.resize_with(queues, Queue::default);
        }
    }

    /// Gives queues to a port that the switch does not have.
    #[cold]
    pub fn set_absent(&mut self, port: u16) {
        let config = PortConfig {
            queues: MAX_QUEUES,
            ..PortConfig::default()
        };
        self.set_port(port, config);
        if let Some(Some(port)) = self.ports.get_mut(port as usize) {
            port.absent = true;
        }
    }

    /// Whether the switch has a port.
    #[inline]
    pub fn has_port(&self, port: u16) -> bool {
        let port = self.ports.get(port as usize).and_then(Option::as_ref);
        port.is_some_and(|port| !port.absent)
    }

    /// Whether it has a port, or queues for one that it does not have.
    #[inline]
    pub fn has_queues(&self, port: u16) -> bool {
        self.ports.get(port as usize).is_some_and(Option::is_some)
    }

    /// The counters of a port.
    pub fn stats(&self, port: u16) -> PortStats {
        let mut stats = self.stats.get(port as usize).copied().unwrap_or_default();
        if let Some(Some(port)) = self.ports.get(port as usize) {
            stats.waiting = port.waiting;
        }
        stats
    }

    /// The drop counters of each port.
    pub fn drops(&self) -> impl Iterator<Item = (u16, DropCounts)> {
        (0..).zip(self.stats.iter().map(|stats| stats.drops))
    }

    /// The counters of a port, mutable.
    #[inline]
    pub fn stats_mut(&mut self, port: u16) -> &mut PortStats {
        let at = port as usize;
        if at >= self.stats.len() {
            self.stats.resize(at + 1, PortStats::default());
        }
        &mut self.stats[at]
    }

    /// Number of packets in a queue.
    #[inline]
    pub fn depth(&self, port: u16, priority: u8) -> u32 {
        let port = self.ports.get(port as usize).and_then(Option::as_ref);
        let queue = port.and_then(|port| port.queues.get(priority as usize));
        queue.map_or(0, |queue| queue.packets.len() as u32)
    }

    /// Cells that the packets in a queue occupy.
    pub fn cells(&self, port: u16, priority: u8) -> u32 {
        let port = self.ports.get(port as usize).and_then(Option::as_ref);
        let queue = port.and_then(|port| port.queues.get(priority as usize));
        queue.map_or(0, |queue| queue.cells)
    }

    /// Octets of memory that queued packets use.
    pub fn octets(&self) -> u64 {
        self.octets
    }

    /// Enqueues a packet, or returns it with the cause of its drop.
    #[inline]
    pub fn enqueue(
        &mut self,
        now: Instant,
        number: u16,
        priority: u8,
        mut queued: Box<Queued>,
    ) -> Result<(), (DropCause, Box<Queued>)> {
        let Some(Some(port)) = self.ports.get_mut(number as usize) else {
            return Err((DropCause::UnknownPort, queued));
        };
        let port = &mut **port;
        if priority >= port.config.queues {
            return Err((DropCause::UnknownQueue, queued));
        }
        let queue = &mut port.queues[priority as usize];
        // A free line takes the packet at once, so that the packet never waits.
        let at_once = port.waiting == 0 && port.free_at <= now && !port.serving;
        if queue.packets.len() as u64 >= port.config.capacity as u64 && !at_once {
            return Err((DropCause::TmFull, queued));
        }
        let octets = self.octets + queued.octets();
        if octets > self.max_octets {
            return Err((DropCause::BufferFull, queued));
        }
        self.octets = octets;
        queued.enqueued = now;
        queued.enq_qdepth = queue.packets.len() as u32;
        queued.enq_cells = queue.cells;
        queue.cells += queued.cells;
        queue.packets.push_back(queued);
        port.occupied |= 1 << priority;
        port.waiting += 1;
        if port.waiting == 1 && !port.serving {
            self.due.push((port.free_at.max(now), number));
            self.note_waiting(number);
        }
        Ok(())
    }

    /// When the next packet can leave.
    #[inline]
    pub fn next_start(&self) -> Option<Instant> {
        self.due.first().map(|(start, _)| start)
    }

    /// Whether a packet can leave at or before `now`.
    #[inline]
    pub fn is_due(&self, now: Instant) -> bool {
        self.next_start().is_some_and(|start| start <= now)
    }

    /// The port of the packet that leaves next.
    #[inline]
    pub fn next_port(&self) -> Option<u16> {
        self.due.first().map(|(_, port)| port)
    }

    /// Records a port at which packets may wait.
    #[inline]
    pub fn note_waiting(&mut self, number: u16) {
        if let Some(waiting) = &mut self.waiting {
            waiting.push(number);
        }
    }

    /// Removes and returns a recorded port at which packets wait.
    #[inline]
    pub fn poll_waiting(&mut self) -> Option<u16> {
        let waiting = self.waiting.as_mut()?;
        loop {
            let number = waiting.pop()?;
            let port = self.ports[number as usize].as_ref();
            if port.is_some_and(|port| port.waiting > 0) {
                return Some(number);
            }
        }
    }

    /// Sets when the line of a port will have sent its current packet.
    pub fn set_free_at(&mut self, number: u16, at: Instant) {
        let Some(Some(port)) = self.ports.get_mut(number as usize) else {
            return;
        };
        if port.free_at == at {
            return;
        }
        port.free_at = at;
        if port.waiting > 0 && !port.serving {
            self.due.change(number, at);
        }
    }

    /// Whether the next packet to leave arrived before its line was free.
    #[inline]
    pub fn next_waits(&self) -> bool {
        let front = || {
            let (start, number) = self.due.first()?;
            let port = self.ports[number as usize].as_ref()?;
            let queue = port.queues.get(port.next_queue()?)?;
            Some(queue.packets.front()?.enqueued < start)
        };
        front().unwrap_or(false)
    }

    /// Dequeues the packet whose serialisation starts first, if that is at or before `now`.
    #[inline(always)]
    pub fn dequeue(&mut self, now: Instant) -> Option<Dequeued> {
        let (start, number) = self.due.first().filter(|&(start, _)| start <= now)?;
        self.due.pop();
        let port = self.ports[number as usize].as_deref_mut()?;
        let priority = port.take_turn()?;
        let queue = &mut port.queues[priority];
        let queued = queue.packets.pop_front()?;
        if queue.packets.is_empty() {
            port.occupied &= !(1 << priority);
        }
        queue.cells -= queued.cells;
        let (deq_qdepth, deq_cells) = (queue.packets.len() as u32, queue.cells);
        self.octets -= queued.octets();
        port.waiting -= 1;
        port.serving = true;
        port.free_at = port.free_at.max(start);
        Some(Dequeued {
            absent: port.absent,
            port: number,
            priority: priority as u8,
            start,
            deq_qdepth,
            deq_cells,
            queued,
        })
    }

    /// Sets how long the packet that was dequeued last occupies the line of the port. The port then continues to send.
    /// Returns the end of the serialisation. `octets` is `None` if the packet is not sent after all.
    #[inline]
    pub fn occupy(&mut self, number: u16, start: Instant, octets: Option<u32>) -> Instant {
        let Some(Some(port)) = self.ports.get_mut(number as usize) else {
            return start;
        };
        let port = &mut **port;
        if let (Some(rate), Some(octets)) = (port.config.rate, octets) {
            port.free_at = start + rate.serialisation(octets as u64);
        }
        port.serving = false;
        let free_at = port.free_at;
        if port.waiting > 0 {
            self.due.push((free_at, number));
            self.note_waiting(number);
        }
        free_at.max(start)
    }
}
