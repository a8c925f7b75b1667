//! The simulation: takes events in order, moves packets, keeps the records.

mod associations;
mod build;
mod hosts;
mod in_flight;
mod media;
mod queues;
mod snoop;
mod switches;

pub use build::{Controls, Programs};

use crate::association::AssociationFlow;
use crate::event::{Event, EventQueue, Turn};
use crate::flow::Flow;
use crate::host::Host;
use crate::line::{Line, Node};
use crate::losses::Place;
use crate::medium::Medium;
use crate::observe::{Observer, Sent};
use crate::pcap::Capture;
use crate::record::{Bins, LineRecord};
use crate::results::{Results, Totals};
use crate::router::RouterState;
use crate::sampler::Sampler;
use crate::scenario::{Direction, Link};
use crate::source::OpenLoop;
use crate::switch::SwitchState;
use crate::truth::{Comparison, Tag};
use engine::Packet;
use in_flight::InFlight;
use std::io::{self, Write};
use transport::wire;
use units::{Duration, Instant, Rate};

/// Packets that may be in the network at once: in queues and on lines. They take about a gigabyte.
const MAX_PACKETS: usize = 1 << 21;

/// Why a run ended before its time.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The capture cannot be written.
    #[error("{0}")]
    Capture(#[from] io::Error),
    /// Queues and lines hold more packets than memory is for.
    #[error(
        "more than {MAX_PACKETS} packets are in queues and on links at once; shorten the queues, or \
         the links' delays"
    )]
    Packets,
}

/// A network in virtual time.
///
/// ```text
///   host ──egress queue──► line ──arrive──► switch ──program, queue──► line ──arrive──► host
/// ```
#[derive(Debug)]
pub struct Simulation {
    name: String,
    seed: u64,
    now: Instant,
    /// The turn of the event that is being handled.
    turn: Turn,
    end: Instant,
    events: EventQueue,
    in_flight: InFlight,
    /// Buffers of packets that have left the network, for the next ones.
    buffers: Vec<Vec<u8>>,
    /// Buffers that were made: the most packets that were in the network at once.
    made: usize,
    /// One for each interface: the hosts' first in their order, then the further ones.
    pub(crate) hosts: Vec<Host>,
    pub(crate) switches: Vec<SwitchState>,
    routers: Vec<RouterState>,
    /// Two for each link: line `2i` from `a` to `b`, `2i + 1` back.
    pub(crate) lines: Vec<Line>,
    media: Vec<Medium>,
    links: Vec<Link>,
    pub(crate) flows: Vec<Flow>,
    associations: Vec<AssociationFlow>,
    /// Where associations write their packets.
    sctp_buffer: Vec<u8>,
    sources: Vec<OpenLoop>,
    bins: Bins,
    /// Where the scenario asks for it.
    sampler: Option<Sampler>,
    line_records: Vec<LineRecord>,
    capture: Option<Capture>,
    capture_failed: Option<io::Error>,
    check_aqt: Option<Comparison>,
    check_ci: Option<Comparison>,
    pub(crate) observer: Option<Box<dyn Observer>>,
    totals: Totals,
}

impl Simulation {
    /// Writes a capture of the links that the scenario's record names, from now on, to `out`.
    ///
    /// # Errors
    /// `out` cannot be written.
    pub fn capture(&mut self, out: Box<dyn Write + Send>) -> io::Result<()> {
        let mut captured: Vec<&mut Line> = self
            .lines
            .iter_mut()
            .filter(|line| line.interface.is_some())
            .collect();
        for (i, line) in captured.iter_mut().enumerate() {
            line.interface = Some(i as u32);
        }
        let names = captured.iter().map(|line| line.name.clone());
        self.capture = Some(Capture::new(out, names)?);
        Ok(())
    }

    /// The time reached.
    pub fn now(&self) -> Instant {
        self.now
    }

    /// When the run ends.
    pub fn end(&self) -> Instant {
        self.end
    }

    /// Transmissions on links so far.
    pub fn packet_hops(&self) -> u64 {
        self.totals.packet_hops
    }

    /// Takes up to `events` events; whether the run has come to its end.
    ///
    /// # Errors
    /// The capture cannot be written, or there are more packets than memory is for.
    pub fn run(&mut self, events: u64) -> Result<bool, RunError> {
        self.run_to(self.end, events)
    }

    /// As [`Simulation::run`], of the events before `at`; whether that time has come.
    ///
    /// # Errors
    /// As there.
    pub fn run_to(&mut self, at: Instant, events: u64) -> Result<bool, RunError> {
        let at = at.min(self.end);
        for _ in 0..events {
            let Some((turn, event)) = self.events.pop_before(at) else {
                self.now = self.now.max(at);
                self.sample();
                return Ok(true);
            };
            self.turn = turn;
            self.now = self.now.max(turn.instant());
            self.totals.events += 1;
            self.bins.advance(self.now);
            self.sample();
            self.handle(event);
            if let Some(error) = self.capture_failed.take() {
                return Err(RunError::Capture(error));
            }
            if self.is_full() {
                return Err(RunError::Packets);
            }
        }
        Ok(false)
    }

    /// Ends the run, if it has not come to its end, and hands over its records.
    ///
    /// # Errors
    /// The capture cannot be written.
    pub fn finish(mut self) -> io::Result<Results> {
        self.bins.advance(self.now);
        if let Some(capture) = self.capture.take() {
            capture.finish()?;
        }
        let switches = self.switch_results();
        self.count_waiting();
        let line_records = self.line_records.into_iter();
        Ok(Results {
            name: self.name,
            seed: self.seed,
            end: self.now,
            time_s: self.bins.begins(),
            flows: self.flows.into_iter().map(Flow::finish).collect(),
            associations: self
                .associations
                .into_iter()
                .map(|association| (association.name, association.record))
                .collect(),
            sources: self
                .sources
                .into_iter()
                .map(|source| (source.name, source.record))
                .collect(),
            lines: self
                .lines
                .into_iter()
                .map(|line| line.name)
                .zip(line_records.map(|record| record.finish(&self.bins)))
                .collect(),
            switches,
            check_aqt: self.check_aqt,
            check_ci: self.check_ci,
            totals: self.totals,
        })
    }

    /// Takes the samples of the switches' objects that are due.
    fn sample(&mut self) {
        if let Some(sampler) = &mut self.sampler {
            sampler.advance(self.now, &self.switches);
        }
    }

    /// A buffer for a packet that enters the network.
    fn buffer(&mut self) -> Vec<u8> {
        self.buffers.pop().unwrap_or_else(|| {
            self.made += 1;
            Vec::new()
        })
    }

    /// Whether the run is to end, as there are too many packets.
    fn is_full(&self) -> bool {
        // Of these, a switch may have made copies.
        self.made.max(self.in_flight.most()) > MAX_PACKETS
    }

    fn handle(&mut self, event: Event) {
        match event {
            Event::Arrive { line, packet } => {
                let packet = self.in_flight.take(packet);
                let to = self.lines[line as usize].to;
                match to.node {
                    Node::Host(host) => self.arrive_at_host(host, packet),
                    Node::Switch(switch) => self.arrive_at_station(switch, to.port, packet),
                    Node::Router(router) => self.arrive_at_router(router, packet),
                }
            }
            Event::LineFree(line) => self.line_free(line as usize),
            Event::MediumBegin(id) => self.begin_on_medium(id),
            Event::MediumEnd(id) => self.end_on_medium(id),
            Event::FlowStart(flow) => self.start_flow(flow as usize),
            Event::FlowStop(flow) => self.stop_flow(flow as usize),
            Event::Timer { flow, receiver } => self.timer(flow as usize, receiver),
            Event::AssociationStart(index) => self.start_association(index as usize),
            Event::AssociationStop(index) => self.stop_association(index as usize),
            Event::AssociationTimer {
                association,
                server,
            } => self.association_timer(association as usize, server),
            Event::PrimaryChange { association, path } => {
                self.change_primary(association as usize, path as usize);
            }
            Event::Snoop(switch) => self.snoop_timer(switch as usize),
            Event::Source(source) => self.send_datagram(source as usize),
            Event::LinkChange { link, change } => self.change_link(link as usize, change as usize),
        }
    }

    fn line_free(&mut self, line_index: usize) {
        let line = &mut self.lines[line_index];
        line.busy = false;
        match line.from.node {
            Node::Host(_) | Node::Router(_) => self.transmit_from_queue(line_index),
            Node::Switch(switch) => self.transmit_from_switch(switch),
        }
    }

    /// Schedules an event at an exact time.
    fn schedule_at(&mut self, at: Instant, event: Event) {
        self.events.schedule(at.as_secs_f64(), event);
    }

    /// Puts a packet on a line, its first octet at `start_s`, in seconds.
    fn transmit(&mut self, line_index: usize, packet: Packet, start_s: f64) {
        let line = &mut self.lines[line_index];
        let record = &mut self.line_records[line_index];
        self.totals.packet_hops += 1;
        *self.bins.cell(&mut record.sent_packets) += 1;
        *self.bins.cell(&mut record.sent_octets) += u64::from(packet.link_octets);
        if let (Some(interface), Some(capture)) = (line.interface, &mut self.capture)
            && let Err(error) = capture.write(interface, self.now, &packet)
        {
            self.capture_failed = Some(error);
        }
        if let Some(station) = line.station {
            return self.offer_to_medium(station, line_index, packet);
        }
        let busy_s = line.busy_s(packet.link_octets);
        // Summed in this order, as ns-2 does.
        let arrival_s = start_s + (busy_s + line.delay.as_secs_f64());
        let free = Event::LineFree(line_index as u32);
        line.busy = true;
        line.free_s = start_s + busy_s;
        let free_s = line.free_s;
        let lost = line.loses();
        if let Some(observer) = &mut self.observer {
            observer.sent(Sent {
                line: line_index,
                start_s,
                arrive_s: arrival_s,
                lost,
                packet: &packet,
            });
        }
        if lost {
            self.lose(line_index, packet);
        } else {
            let arrive = Event::Arrive {
                line: line_index as u32,
                packet: self.in_flight.put(packet),
            };
            self.events.schedule(arrival_s, arrive);
        }
        self.events.schedule(free_s, free);
    }

    /// A packet is lost on a line.
    fn lose(&mut self, line_index: usize, packet: Packet) {
        let record = &mut self.line_records[line_index];
        *self.bins.cell(&mut record.lost_packets) += 1;
        let segment = self.judged_segment(&packet);
        self.count_lost(Tag(packet.tag), Place::Link, segment);
        self.buffers.push(packet.octets);
    }

    /// Counts a packet that will not arrive; `segment` is what [`Simulation::judged_segment`] said.
    fn count_lost(&mut self, tag: Tag, place: Place, segment: Option<u64>) {
        if !tag.is_data() {
            return;
        }
        let flows = self.flows.len();
        let traffic = flows + self.sources.len();
        let record = match tag.owner() {
            flow if flow < flows => {
                let flow = &mut self.flows[flow];
                if let (Some(losses), Some(segment)) = (&mut flow.losses, segment) {
                    losses.note(segment, place, flow.sender.connection.stats().acked);
                }
                &mut flow.record
            }
            source if source < traffic => &mut self.sources[source - flows].record,
            association => &mut self.associations[association - traffic].record.flow,
        };
        *self.bins.cell(&mut record.lost_packets) += 1;
    }

    /// Which segment a data packet carries, if its sender judges where segments are lost.
    fn judged_segment(&self, packet: &Packet) -> Option<u64> {
        let tag = Tag(packet.tag);
        let flow = self.flows.get(tag.owner()).filter(|_| tag.is_data())?;
        flow.losses.as_ref()?;
        match wire::decode(&packet.octets, packet.elided).ok()?.body {
            wire::Body::Tcp(segment) => Some(flow.sender.connection.segment_number(segment.seq)),
            wire::Body::Udp { .. } => None,
        }
    }

    fn change_link(&mut self, link_index: usize, change: usize) {
        let change = &self.links[link_index].changes[change];
        let (ab, ba) = (2 * link_index, 2 * link_index + 1);
        let lines = match change.direction {
            Some(Direction::Ab) => ab..=ab,
            Some(Direction::Ba) => ba..=ba,
            None => ab..=ba,
        };
        for line in &mut self.lines[lines] {
            if let Some(delay_s) = change.delay_s {
                line.delay = Duration::from_secs_f64(delay_s);
            }
            if let Some(loss) = change.loss {
                line.set_loss(loss);
            }
            let Some(rate) = change.rate_bps.and_then(Rate::from_bps) else {
                continue;
            };
            line.rate = rate;
            if let Node::Switch(switch) = line.from.node {
                self.switches[switch].set_rate(line.from.port, rate);
            }
        }
    }
}
