//! Packets that a switch makes itself: applications, what triggers them, and the bursts of packets that follow.

use p4_vm::Octets;
use std::collections::BTreeMap;
use units::{Duration, Instant};

/// Bursts that may be under way or wait. A trigger that finds so many begins none.
const MAX_BURSTS: usize = 1024;

/// An application of a packet generator: each trigger begins a burst of batches of packets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GeneratorApp {
    /// What begins a burst.
    pub trigger: Trigger,
    /// The packet, without the header that the architecture puts in front.
    pub packet: Vec<u8>,
    /// Batches of a burst.
    pub batches: u32,
    /// Packets of a batch.
    pub packets: u32,
    /// From one packet to the next.
    pub packet_gap: Duration,
    /// From the first packet of a batch to the first of the next, which waits for the batch's last packet.
    pub batch_gap: Duration,
}

/// What begins a burst.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trigger {
    /// A timer, once.
    Once {
        /// From the configuration on.
        after: Duration,
    },
    /// A timer, again and again.
    Periodic {
        /// From the configuration to the first burst, and from one to the next.
        period: Duration,
    },
    /// A port of the pipe that goes down.
    PortDown,
    /// A packet that comes back through a port of the pipe, and begins with a pattern.
    Recirculated {
        /// The pattern's bits, for the packet's first 16 octets; the first octet is the highest.
        value: u128,
        /// The bits that are compared.
        mask: u128,
    },
    /// A deparser of the pipe that gives a context with a pattern, and says which part of the packet is sent.
    Deparser {
        /// The pattern's bits, for the context's 16 octets; the first octet is the highest.
        value: u128,
        /// The bits that are compared.
        mask: u128,
    },
}

/// A part of an application's packet; octets beyond its end are 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// The number of the first octet, from 0 on.
    pub first: u16,
    /// How many octets.
    pub octets: u16,
}

/// Which application: each pipe has a generator of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct AppId {
    /// The pipe.
    pub pipe: u8,
    /// The number of the application in that pipe.
    pub number: u8,
}

/// A packet that is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Generated {
    /// Its application.
    pub id: AppId,
    /// What the trigger gave the burst: a port, the first octets of a packet, or a context.
    pub cause: u128,
    /// What is sent of the application's packet; `None`: all.
    pub part: Option<Part>,
    /// Its batch in the burst, from 0 on.
    pub batch: u16,
    /// Its number in the batch, from 0 on.
    pub packet: u16,
}

/// The applications, and the bursts that are not over.
#[derive(Debug, Default)]
pub struct PacketGenerator {
    apps: BTreeMap<AppId, GeneratorApp>,
    /// By the time of the next packet, then in the order in which the bursts began.
    bursts: BTreeMap<(Instant, u64), Burst>,
    begun: u64,
    /// Time that each packet needs.
    packet_time: Duration,
    /// When the last packet has had its time.
    free_at: Instant,
}

/// The next packet of a burst.
#[derive(Clone, Copy, Debug)]
struct Burst {
    next: Generated,
    /// When the batch began.
    batch_at: Instant,
}

impl Burst {
    fn new(at: Instant, id: AppId, cause: u128, part: Option<Part>) -> Self {
        let next = Generated {
            id,
            cause,
            part,
            batch: 0,
            packet: 0,
        };
        Burst { next, batch_at: at }
    }
}

impl GeneratorApp {
    /// Appends the packet, or a part of it, to what is there.
    pub fn write(&self, part: Option<Part>, octets: &mut Octets) {
        let Some(Part {
            first,
            octets: count,
        }) = part
        else {
            return octets.extend_from_slice(&self.packet);
        };
        let end = octets.len() + usize::from(count);
        let rest = self.packet.get(first.into()..).unwrap_or_default();
        octets.extend_from_slice(&rest[..rest.len().min(count.into())]);
        octets.resize(end);
    }

    /// From the first packet of a burst to the last.
    pub fn burst(&self) -> Duration {
        let batch = self.packet_gap * u64::from(self.packets);
        let batches = batch.max(self.batch_gap) * u64::from(self.batches.saturating_sub(1));
        batches + self.packet_gap * u64::from(self.packets.saturating_sub(1))
    }
}

impl PacketGenerator {
    /// A generator without applications, in which each packet needs some time.
    pub fn new(packet_time: Duration) -> Self {
        PacketGenerator {
            packet_time,
            ..PacketGenerator::default()
        }
    }

    /// Sets an application up, with its timer from the start, or removes it. Bursts that it has begun end.
    pub fn set(&mut self, now: Instant, id: AppId, app: Option<GeneratorApp>) {
        self.apps.remove(&id);
        self.bursts.retain(|_, burst| burst.next.id != id);
        let Some(app) = app else { return };
        if let Trigger::Once { after: time } | Trigger::Periodic { period: time } = app.trigger {
            self.begin(now + time, id);
        }
        self.apps.insert(id, app);
    }

    /// An application.
    pub fn app(&self, id: AppId) -> Option<&GeneratorApp> {
        self.apps.get(&id)
    }

    /// Begins a burst of `part` of each application of a pipe whose trigger is one of those that `hit` accepts.
    pub fn trigger(
        &mut self,
        now: Instant,
        pipe: u8,
        cause: u128,
        part: Option<Part>,
        hit: impl Fn(&Trigger) -> bool,
    ) {
        let of_pipe = |number| AppId { pipe, number };
        for (&id, app) in self.apps.range(of_pipe(0)..=of_pipe(u8::MAX)) {
            if hit(&app.trigger) && self.bursts.len() < MAX_BURSTS {
                self.begun += 1;
                let burst = Burst::new(now, id, cause, part);
                self.bursts.insert((now, self.begun), burst);
            }
        }
    }

    /// When the next packet is due.
    #[inline]
    pub fn next_at(&self) -> Option<Instant> {
        let ((at, _), _) = self.bursts.first_key_value()?;
        Some((*at).max(self.free_at))
    }

    /// Takes the packet that is due next.
    pub fn take(&mut self) -> Option<Generated> {
        let ((at, order), burst) = self.bursts.pop_first()?;
        self.free_at = at.max(self.free_at) + self.packet_time;
        let Burst { next, batch_at } = burst;
        let app = self.apps.get(&next.id)?;
        let last_packet = u32::from(next.packet) + 1 >= app.packets;
        let last_batch = u32::from(next.batch) + 1 >= app.batches;
        let after = at + app.packet_gap;
        let following = match (last_packet, last_batch) {
            (false, _) => Some((after, batch_at, next.batch, next.packet + 1)),
            (true, false) => {
                let at = after.max(batch_at + app.batch_gap);
                Some((at, at, next.batch + 1, 0))
            }
            (true, true) => None,
        };
        let period = match app.trigger {
            Trigger::Periodic { period } => Some(period),
            _ => None,
        };
        if let Some(period) = period.filter(|_| next.batch == 0 && next.packet == 0) {
            self.begin(at + period, next.id);
        }
        if let Some((at, batch_at, batch, packet)) = following {
            let next = Generated {
                batch,
                packet,
                ..next
            };
            self.bursts.insert((at, order), Burst { next, batch_at });
        }
        Some(next)
    }

    fn begin(&mut self, at: Instant, id: AppId) {
        self.begun += 1;
        let burst = Burst::new(at, id, 0, None);
        self.bursts.insert((at, self.begun), burst);
    }
}
