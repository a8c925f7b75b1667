//! The packet generator: applications, their triggers, and the bursts of packets that follow.

use p4_vm::Octets;
use std::collections::BTreeMap;
use units::{Duration, Instant};

/// The most bursts that may be active or pending. At this number, a trigger starts no further burst.
const MAX_BURSTS: usize = 1024;

/// An application of a packet generator. Each trigger starts a burst, which consists of batches of packets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GeneratorApp {
    /// What starts a burst.
    pub trigger: Trigger,
    /// The packet, without the header that the architecture prepends.
    pub packet: Vec<u8>,
    /// Number of batches per burst.
    pub batches: u32,
    /// Number of packets per batch.
    pub packets: u32,
    /// Time between the starts of two packets of a batch.
    pub packet_gap: Duration,
    /// Time from the first packet of a batch to the first packet of the next. The next batch also waits for the last
    /// packet of this one.
    pub batch_gap: Duration,
}

/// What starts a burst.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trigger {
    /// A timer that expires once.
    Once {
        /// Time from configuration to expiry.
        after: Duration,
    },
    /// A periodic timer.
    Periodic {
        /// Time from configuration to the first burst, and between the starts of two bursts.
        period: Duration,
    },
    /// A port of the pipe goes down.
    PortDown,
    /// A recirculated packet arrives at a port of the pipe, and its first octets match a pattern.
    Recirculated {
        /// The value to match, for the packet's first 16 octets. The first octet is the most significant.
        value: u128,
        /// The bits that are compared.
        mask: u128,
    },
    /// A deparser of the pipe passes a context that matches a pattern, and selects the part of the application's packet
    /// to send.
    Deparser {
        /// The value to match, for the 16 octets of the context. The first octet is the most significant.
        value: u128,
        /// The bits that are compared.
        mask: u128,
    },
}

/// A part of an application's packet. Octets beyond its end are 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// The index of the first octet, from 0.
    pub first: u16,
    /// The number of octets.
    pub octets: u16,
}

/// Identifies an application. Each pipe has its own generator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct AppId {
    /// The pipe.
    pub pipe: u8,
    /// The number of the application within the pipe.
    pub number: u8,
}

/// A packet that is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Generated {
    /// Its application.
    pub id: AppId,
    /// What the trigger passed to the burst: a port, the first octets of a packet, or a context.
    pub cause: u128,
    /// The part of the application's packet that is sent. `None` means all of it.
    pub part: Option<Part>,
    /// The number of its batch within the burst, from 0.
    pub batch: u16,
    /// Its number within the batch, from 0.
    pub packet: u16,
}

/// The applications and the active bursts.
#[derive(Debug, Default)]
pub struct PacketGenerator {
    apps: BTreeMap<AppId, GeneratorApp>,
    /// Sorted by the time of the next packet, then by the order in which the bursts started.
    bursts: BTreeMap<(Instant, u64), Burst>,
    begun: u64,
    /// Time that each packet takes.
    packet_time: Duration,
    /// When the generator has finished the last packet.
    free_at: Instant,
}

/// The next packet of a burst.
#[derive(Clone, Copy, Debug)]
struct Burst {
    next: Generated,
    /// When the batch started.
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
    /// Appends the packet, or a part of it, to `octets`.
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

    /// Time from the first packet of a burst to the last.
    pub fn burst(&self) -> Duration {
        let batch = self.packet_gap * u64::from(self.packets);
        let batches = batch.max(self.batch_gap) * u64::from(self.batches.saturating_sub(1));
        batches + self.packet_gap * u64::from(self.packets.saturating_sub(1))
    }
}

impl PacketGenerator {
    /// Creates a generator without applications. Each packet takes `packet_time`.
    pub fn new(packet_time: Duration) -> Self {
        PacketGenerator {
            packet_time,
            ..PacketGenerator::default()
        }
    }

    /// Configures an application and restarts its timer, or removes the application. Bursts that it has started end.
    pub fn set(&mut self, now: Instant, id: AppId, app: Option<GeneratorApp>) {
        self.apps.remove(&id);
        self.bursts.retain(|_, burst| burst.next.id != id);
        let Some(app) = app else { return };
        if let Trigger::Once { after: time } | Trigger::Periodic { period: time } = app.trigger {
            self.begin(now + time, id);
        }
        self.apps.insert(id, app);
    }

    /// Returns an application.
    pub fn app(&self, id: AppId) -> Option<&GeneratorApp> {
        self.apps.get(&id)
    }

    /// Starts a burst of `part` for each application of a pipe whose trigger `hit` accepts.
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

    /// Removes and returns the packet that is due next.
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
