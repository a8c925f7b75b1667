//! The events that controls export (`hosts/ebpf/trace.h`).

use std::cell::Cell;
use std::net::Ipv4Addr;
use std::time::{Duration, Instant};

use libbpf_rs::query::MapInfoIter;
use libbpf_rs::{MapHandle, RingBufferBuilder};
use serde::{Deserialize, Serialize};

use crate::error::KernelError;

const MAP: &str = "waymark_events";
const CHANGES: [Change; 6] = [
    Change::Ack,
    Change::Loss,
    Change::Recovered,
    Change::Timeout,
    Change::Start,
    Change::Sent,
];
/// Binary places of windows.
const PLACES: f64 = (1_u64 << 28) as f64;
const LONG_WORDS: usize = 4;
const WORDS: usize = 24;
const POLL: Duration = Duration::from_millis(100);

/// What happened to a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Change {
    /// New data was acknowledged, and no recovery is going on; of a control that paces, any acknowledgement.
    Ack,
    /// A loss was found without the timer.
    Loss,
    /// The recovery that a loss began is over.
    Recovered,
    /// The retransmission timer ran out.
    Timeout,
    /// The connection begins.
    Start,
    /// A segment leaves while no other is in flight.
    Sent,
}

/// One event of a connection.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Event {
    /// By the kernel's monotonic clock, in microseconds.
    pub time_us: u64,
    /// After the event, in segments.
    pub cwnd: f64,
    /// After the event, in segments.
    pub ssthresh: f64,
    /// The pacing rate after the event, in segments per second; 0: the control has none.
    #[serde(default)]
    pub rate: f64,
    /// The control's name.
    pub control: String,
    /// What happened.
    pub change: Change,
    /// Address and port of this end and of the other.
    pub ends: [(Ipv4Addr, u32); 2],
    /// At the start, and before a loss or timeout, in segments.
    pub window: u32,
    /// The first octet that is not acknowledged.
    pub una: u32,
    /// The next octet to send.
    pub next: u32,
    /// Octets of a segment.
    pub mss: u32,
    /// Segments that an acknowledgement newly says have arrived.
    pub newly: u32,
    /// Segments sent and not acknowledged.
    pub in_flight: u32,
    /// `None`: the acknowledgement gives no sample.
    pub rtt_us: Option<u32>,
    /// AQT-Echo and AQT of an acknowledgement that carries them.
    pub aqt_us: Option<[u32; 2]>,
    /// MRAI-Echo.
    pub mrai: Option<u32>,
    /// The window was not full as an acknowledgement came.
    pub window_unused: bool,
    /// The largest window allowed, in segments.
    pub most: u32,
    /// Of an acknowledgement: CI was echoed since the last.
    #[serde(default)]
    pub ci_echo: bool,
    /// The application held the sender back when the newest segment covered was sent.
    #[serde(default)]
    pub app_limited: bool,
    /// Segments that left since the last acknowledgement, for the first time or again.
    #[serde(default)]
    pub sent: u32,
    /// Segments found lost since the last acknowledgement.
    #[serde(default)]
    pub lost: u32,
    /// Of a loss: what the newest acknowledgement that echoed CI acknowledged; `None`: there was none.
    pub ci_ack_seq: Option<u32>,
}

impl Event {
    fn parse(octets: &[u8]) -> Option<Event> {
        let (long, short) = octets.split_at_checked(LONG_WORDS * 8)?;
        let long = |at: usize| Some(u64::from_ne_bytes(*long[at * 8..].first_chunk()?));
        let words: Vec<u32> = short
            .chunks_exact(4)
            .filter_map(|word| Some(u32::from_ne_bytes(*word.first_chunk()?)))
            .collect();
        let [
            change,
            local,
            remote,
            local_port,
            remote_port,
            window,
            una,
            next,
            mss,
            newly,
            in_flight,
            rtt_us,
            marked,
            forward_us,
            backward_us,
            mrai,
            window_unused,
            most,
            ci_echoed,
            ci_ack_seq,
            ci_echo,
            app_limited,
            sent,
            lost,
        ] = *words.first_chunk::<WORDS>()?;
        let name = short.get(WORDS * 4..)?;
        let name = name.split(|octet| *octet == 0).next()?;
        let address = |word: u32| Ipv4Addr::from(word.to_ne_bytes());
        Some(Event {
            time_us: long(0)?,
            cwnd: long(1)? as f64 / PLACES,
            ssthresh: long(2)? as f64 / PLACES,
            rate: long(3)? as f64 / PLACES,
            control: String::from_utf8_lossy(name).into_owned(),
            change: *CHANGES.get(change as usize)?,
            ends: [(address(local), local_port), (address(remote), remote_port)],
            window,
            una,
            next,
            mss,
            newly,
            in_flight,
            rtt_us: Some(rtt_us).filter(|time| *time > 0),
            aqt_us: (marked > 0).then_some([forward_us, backward_us]),
            mrai: Some(mrai).filter(|index| *index > 0),
            window_unused: window_unused > 0,
            most,
            ci_echo: ci_echo > 0,
            app_limited: app_limited > 0,
            sent,
            lost,
            ci_ack_seq: (ci_echoed > 0).then_some(ci_ack_seq),
        })
    }
}

/// Calls `each` with the events of the next `seconds`, after `ready`.
///
/// # Errors
/// No control is registered, or the kernel refuses.
pub fn trace(
    seconds: f64,
    ready: impl FnOnce(),
    mut each: impl FnMut(&Event),
) -> Result<(), KernelError> {
    crate::attachment::check()?;
    let info = MapInfoIter::default().find(|info| info.name == MAP);
    let id = info.ok_or(KernelError::NothingToTrace)?.id;
    let failed = |error: libbpf_rs::Error| KernelError::kernel(MAP)(std::io::Error::other(error));
    let map = MapHandle::from_map_id(id).map_err(failed)?;
    let running = Cell::new(false);
    let mut builder = RingBufferBuilder::new();
    builder
        .add(&map, |octets| {
            if let Some(event) = Event::parse(octets).filter(|_| running.get()) {
                each(&event);
            }
            0
        })
        .map_err(failed)?;
    let buffer = builder.build().map_err(failed)?;
    // What waits there is old.
    buffer.consume().map_err(failed)?;
    running.set(true);
    ready();
    let end = Instant::now() + Duration::from_secs_f64(seconds);
    while Instant::now() < end {
        // A signal only ends the wait.
        let _ = buffer.poll(POLL);
    }
    Ok(())
}
