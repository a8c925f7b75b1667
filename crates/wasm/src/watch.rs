//! Packets on lines, and what they met in switches.
//!
//! A packet is known by its IPv4 source and identification, which no hop changes. To record what packets execute
//! takes ten times as long as to simulate them: a page that plays a run does so for a packet that was chosen, in
//! another instance that repeats the run up to there.

use engine::Packet;
use netsim::Simulation;
use netsim::observe::{Observer, Sent};
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use stf::{Recorder, Step, What};
use transport::tcp::Ecn;
use transport::wire::{self, Body};

/// Visits of packets to switches that are kept: the last ones.
const VISITS: usize = 20_000;
/// Flights between two reports at most; what is more is not shown.
const FLIGHTS: usize = 20_000;

/// What was seen; all clones share it.
#[derive(Clone, Debug)]
pub struct Watch(Arc<Mutex<Seen>>);

#[derive(Debug)]
struct Seen {
    /// By switch, where packets are traced.
    recorders: Vec<Recorder>,
    entering: Option<Identity>,
    flights: Vec<Flight>,
    visits: VecDeque<Visit>,
}

/// 48 bits: the IPv4 source, then the identification; 0 for a packet that is not IPv4.
pub type Identity = u64;

/// A transmission, as the page draws it.
#[derive(Clone, Debug, Serialize)]
pub struct Flight {
    line: usize,
    start_s: f64,
    arrive_s: f64,
    lost: bool,
    id: Identity,
    kind: &'static str,
    aqt_us: Option<u32>,
    drai: Option<u8>,
    ci: bool,
}

/// What a packet met in one switch, before or behind the queue.
#[derive(Debug)]
struct Visit {
    packet: Identity,
    switch: usize,
    steps: Vec<Step>,
}

impl Watch {
    /// Watches the packets of a simulation from now on; with `traced`, what they execute in switches, too.
    pub fn start(simulation: &mut Simulation, traced: bool) -> Self {
        let mut recorders: Vec<Recorder> = Vec::new();
        if traced {
            recorders.extend(simulation.switch_programs().map(Recorder::new));
        }
        for (switch, recorder) in recorders.iter().enumerate() {
            simulation.set_tracer(switch, Some(Box::new(recorder.clone())));
        }
        let watch = Watch(Arc::new(Mutex::new(Seen {
            recorders,
            entering: None,
            flights: Vec::new(),
            visits: VecDeque::new(),
        })));
        simulation.observe(Some(Box::new(watch.clone())));
        watch
    }

    /// Whether packets are traced.
    pub fn is_traced(&self) -> bool {
        !self.seen().recorders.is_empty()
    }

    /// Ends that.
    pub fn stop(self, simulation: &mut Simulation) {
        simulation.observe(None);
        for switch in 0..self.seen().recorders.len() {
            simulation.set_tracer(switch, None);
        }
    }

    /// The transmissions since the last call.
    pub fn take_flights(&self) -> Vec<Flight> {
        std::mem::take(&mut self.seen().flights)
    }

    /// What a packet met, switch by switch.
    pub fn visits(&self, packet: Identity) -> Value {
        let seen = self.seen();
        let visits = seen.visits.iter().filter(|visit| visit.packet == packet);
        let told = visits.map(|visit| {
            let steps = visit.steps.iter().map(|step| {
                json!({
                    "time_ns": step.time_ns,
                    "text": step.what.to_string(),
                    "event": step.what,
                    "source": step.source,
                })
            });
            json!({"switch": visit.switch, "steps": steps.collect::<Vec<_>>()})
        });
        json!({"visits": told.collect::<Vec<_>>()})
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Seen {
    fn visited(&mut self, packet: Identity, switch: usize, steps: Vec<Step>) {
        if self.visits.len() == VISITS {
            self.visits.pop_front();
        }
        self.visits.push_back(Visit {
            packet,
            switch,
            steps,
        });
    }
}

impl Observer for Watch {
    fn sent(&mut self, sent: Sent<'_>) {
        let mut seen = self.seen();
        if seen.flights.len() < FLIGHTS {
            seen.flights.push(flight(&sent));
        }
    }

    fn enters(&mut self, switch: usize, packet: &Packet) {
        let mut seen = self.seen();
        let Some(recorder) = seen.recorders.get(switch) else {
            return;
        };
        recorder.take();
        seen.entering = Some(identity(packet));
    }

    fn entered(&mut self, switch: usize) {
        let mut seen = self.seen();
        let Some(recorder) = seen.recorders.get(switch) else {
            return;
        };
        let steps = recorder.take().steps;
        if let Some(packet) = seen.entering.take() {
            seen.visited(packet, switch, steps);
        }
    }

    fn left(&mut self, switch: usize, packet: &Packet) {
        let mut seen = self.seen();
        let Some(recorder) = seen.recorders.get(switch) else {
            return;
        };
        let mut steps = recorder.take().steps;
        // Before it, others may have been dropped behind the queue.
        let dequeued = |step: &Step| matches!(step.what, What::Dequeue { .. });
        let own = steps.iter().rposition(dequeued).unwrap_or(0);
        let steps = steps.split_off(own);
        seen.visited(identity(packet), switch, steps);
    }
}

fn identity(packet: &Packet) -> Identity {
    let octets = &packet.octets;
    match octets.get(14..30) {
        Some(&[_, _, _, _, i, j, _, _, _, _, _, _, a, b, c, d])
            if octets[12..14] == [0x08, 0x00] =>
        {
            u64::from_be_bytes([0, 0, a, b, c, d, i, j])
        }
        _ => 0,
    }
}

fn flight(sent: &Sent<'_>) -> Flight {
    let flight = Flight {
        line: sent.line,
        start_s: sent.start_s,
        arrive_s: sent.arrive_s,
        lost: sent.lost,
        id: identity(sent.packet),
        kind: "other",
        aqt_us: None,
        drai: None,
        ci: false,
    };
    match wire::decode(&sent.packet.octets, sent.packet.elided).map(|decoded| decoded.body) {
        Err(_) => flight,
        Ok(Body::Udp { .. }) => Flight {
            kind: "udp",
            ..flight
        },
        Ok(Body::Tcp(segment)) => Flight {
            kind: if segment.payload > 0 { "data" } else { "ack" },
            aqt_us: segment.aqt.map(|aqt| aqt.time_us),
            drai: segment.avbw.map(|avbw| avbw.drai).filter(|drai| *drai <= 6),
            ci: segment.ecn == Ecn::Experienced,
            ..flight
        },
    }
}
