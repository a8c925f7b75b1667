//! The simulation: handles events in order, moves packets, keeps records.

mod associations;
mod build;
mod ended;
mod gate;
mod hosts;
mod media;
mod now;
mod parallel;
mod part;
mod partition;
mod pieces;
mod places;
mod plan;
mod queues;
mod snoop;
mod switches;

pub use build::{Controls, Programs};
pub use partition::{Division, Limit};

use crate::association::AssociationFlow;
use crate::event::{Event, EventQueue, Turn};
use crate::flow::{Flow, Side, Slot};
use crate::host::Host;
use crate::line::{Line, Node, Port};
use crate::losses::Place;
use crate::medium::Medium;
use crate::observe::{Observer, Sent};
use crate::pcap::Capture;
use crate::ports::Ports;
use crate::record::{self, Bins, FlowRecord, LineRecord};
use crate::results::{Results, Totals};
use crate::router::RouterState;
use crate::sampler::Sampler;
use crate::scenario::{Direction, Link};
use crate::share::Share;
use crate::source::{Departures, OpenLoop};
use crate::switch::SwitchState;
use crate::truth::{Comparison, Tag};
use ended::Ending;
use engine::{Octets, Packet};
use part::Part;
use plan::Plan;
use std::io::{self, Write};
use std::sync::Arc;
use transport::wire;
use units::{Duration, Instant, Rate};

/// The most packets in the network at once, in queues and on lines. They take about a gigabyte.
const MAX_PACKETS: usize = 1 << 21;

/// Why a run ended early.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// Writing the capture failed.
    #[error("{0}")]
    Capture(#[from] io::Error),
    /// Queues and lines hold more packets than the memory limit allows.
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
    /// The turn of the current event.
    turn: Turn,
    end: Instant,
    events: EventQueue,
    /// Buffers of packets that have left the network, for reuse.
    buffers: Vec<Octets>,
    /// Number of buffers that were allocated: the most packets that were in the network at once.
    made: usize,
    /// One for each interface: the first interface of each host in order, then further ones.
    pub(crate) hosts: Share<Host>,
    pub(crate) switches: Share<SwitchState>,
    routers: Share<RouterState>,
    /// Two for each link: line `2i` from `a` to `b`, and line `2i + 1` in the reverse direction.
    pub(crate) lines: Share<Line>,
    /// The destination of each line.
    destinations: Arc<[Port]>,
    media: Share<Medium>,
    links: Arc<[Link]>,
    pub(crate) flows: Arc<[Flow]>,
    /// Two for each flow: the sender's, then the receiver's.
    pub(crate) ends: Share<Slot>,
    /// The users of each port number: flows first, then sources.
    ports: Arc<Ports>,
    /// Set if flows are returned as they end.
    ending: Option<Ending>,
    associations: Share<AssociationFlow>,
    /// Pairs of interfaces of the same host.
    interfaces: Vec<[usize; 2]>,
    /// Buffer into which associations write their packets.
    sctp_buffer: Vec<u8>,
    sources: Arc<[OpenLoop]>,
    departures: Share<Departures>,
    bins: Bins,
    /// Set if the scenario requests samples.
    sampler: Option<Sampler>,
    line_records: Share<LineRecord>,
    /// Records of flows, sources and associations. For the latter, only losses.
    pub(crate) traffic: Vec<FlowRecord>,
    capture: Option<Capture>,
    capture_failed: Option<io::Error>,
    check_aqt: Option<Comparison>,
    check_ci: Option<Comparison>,
    pub(crate) observer: Option<Box<dyn Observer>>,
    totals: Totals,
    /// Whether there is a congestion control of the caller.
    own_controls: bool,
    /// For a part of a divided network: what it knows about the others.
    part: Option<Part>,
    /// The parts of a divided network. They hold all of the above.
    parts: Vec<Simulation>,
    /// For a divided network: the number of turns taken.
    turns: u64,
    /// Whether and how the network may be divided.
    plan: Option<Plan>,
    division: Division,
}

impl Simulation {
    /// Writes a capture of the links that the scenario's record lists to `out`, from now on.
    ///
    /// # Errors
    /// Writing to `out` fails.
    pub fn capture(&mut self, out: Box<dyn Write + Send>) -> io::Result<()> {
        self.stay_whole();
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

    /// The current time of the run.
    pub fn now(&self) -> Instant {
        self.now
    }

    /// When the run ends.
    pub fn end(&self) -> Instant {
        self.end
    }

    /// Number of transmissions on links so far.
    pub fn packet_hops(&self) -> u64 {
        self.totals.packet_hops
    }

    /// Handles up to `events` events. Returns whether the run has ended.
    ///
    /// # Errors
    /// Writing the capture fails, or there are more packets than the memory limit allows.
    pub fn run(&mut self, events: u64) -> Result<bool, RunError> {
        self.run_to(self.end, events)
    }

    /// Like [`Simulation::run`], for events before `at`. Returns whether that time has been reached.
    ///
    /// # Errors
    /// As for [`Simulation::run`].
    pub fn run_to(&mut self, at: Instant, events: u64) -> Result<bool, RunError> {
        let at = at.min(self.end);
        match self.plan {
            Some(_) => self.run_planned(at, events),
            None => self.run_whole(at, events),
        }
    }

    /// Like [`Simulation::run_to`], while the network is not divided.
    fn run_whole(&mut self, at: Instant, events: u64) -> Result<bool, RunError> {
        for _ in 0..events {
            let Some((turn, instant, event)) = self.events.pop_before(at) else {
                self.now = self.now.max(at);
                self.sample();
                return Ok(true);
            };
            self.sample_before(turn);
            if let Some(plan) = &mut self.plan {
                plan.note(turn, &event);
            }
            self.take(turn, instant, event);
            if let Some(error) = self.capture_failed.take() {
                return Err(RunError::Capture(error));
            }
            if self.is_full() {
                return Err(RunError::Packets);
            }
        }
        Ok(false)
    }

    /// Handles an event. `turn` is its turn and `at` the corresponding instant.
    #[inline(always)]
    fn take(&mut self, turn: Turn, at: Instant, event: Event) {
        self.turn = turn;
        self.now = at;
        let counts = !matches!(event, Event::LineFree(_)) && !self.is_of_quiet_end(&event);
        self.totals.events += u64::from(counts);
        self.bins.advance(self.now);
        self.handle(event);
        if self.ending.is_some() {
            self.let_go();
        }
    }

    /// Ends the run, if it has not ended, and returns its records.
    ///
    /// # Errors
    /// Writing the capture fails.
    pub fn finish(mut self) -> io::Result<Results> {
        self.stay_whole();
        self.bins.advance(self.now);
        if let Some(capture) = self.capture.take() {
            capture.finish()?;
        }
        let switches = self.switch_results();
        self.count_waiting();
        self.end_all();
        let ended = self.take_ended();
        let line_records = self.line_records.into_iter();
        let handed_over = self.ending.as_ref().map_or(0, |_| self.flows.len());
        let mut traffic = self.traffic.into_iter().skip(handed_over);
        let mut record = || {
            let mut record = traffic.next().unwrap_or_default();
            record.fill(|| self.bins.column());
            record
        };
        let senders = self.ends.into_iter().step_by(2);
        let flows: Vec<_> = match self.ending {
            // They have been returned already.
            Some(_) => Vec::new(),
            None => self
                .flows
                .iter()
                .zip(senders)
                .map(|(flow, sender)| {
                    let record = record();
                    let record = match sender {
                        Slot::Unopened => flow.end(Side::Sender).finish(record),
                        Slot::Open(end) => end.finish(record),
                        Slot::Over => record,
                    };
                    (flow.name.clone(), record)
                })
                .collect(),
        };
        let sources = self.sources.iter();
        let sources: Vec<_> = sources
            .map(|source| (source.name.clone(), record()))
            .collect();
        let associations = self.associations.into_iter().map(|mut association| {
            let lost = record().lost_packets;
            record::add(&mut association.record.flow.lost_packets, lost);
            (association.name, association.record)
        });
        let associations: Vec<_> = associations.collect();
        Ok(Results {
            name: self.name,
            seed: self.seed,
            end: self.now,
            time_s: self.bins.begins(),
            flows,
            ended,
            associations,
            sources,
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
            sampler.advance(self.now, self.switches.as_slice());
        }
    }

    /// Like [`Simulation::sample`], before an event.
    fn sample_before(&mut self, turn: Turn) {
        if let Some(sampler) = &mut self.sampler {
            sampler.advance(turn.instant(), self.switches.as_slice());
        }
    }

    /// Returns a buffer for a packet that enters the network.
    fn buffer(&mut self) -> Vec<u8> {
        let spare = self.buffers.pop().unwrap_or_else(|| {
            self.made += 1;
            Octets::default()
        });
        spare.into_memory()
    }

    /// Whether the run must end because there are too many packets.
    fn is_full(&self) -> bool {
        // Switches may have copied some of these.
        self.made.max(self.events.packets()) > MAX_PACKETS
    }

    fn handle(&mut self, event: Event) {
        match event {
            Event::Arrive { line, packet } => {
                let packet = self.events.take_packet(line, packet);
                let to = self.destinations[line as usize];
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

    /// Schedules an event for when a line becomes free, if it is sending, because a packet waits for it.
    pub(super) fn await_line(&mut self, line_index: usize) {
        let line = &mut self.lines[line_index];
        if line.is_busy(self.turn)
            && let Some(turn) = line.free.take()
        {
            self.events.put(turn, Event::LineFree(line_index as u32));
        }
    }

    fn line_free(&mut self, line_index: usize) {
        let line = &mut self.lines[line_index];
        line.busy = false;
        match line.from.node {
            Node::Host(host) => {
                self.reach_host(host);
                self.transmit_from_queue(line_index);
            }
            Node::Router(_) => self.transmit_from_queue(line_index),
            Node::Switch(switch) => self.transmit_from_switch(switch),
        }
    }

    /// Schedules an event at an exact time.
    fn schedule_at(&mut self, at: Instant, event: Event) {
        self.events.schedule(at.as_secs_f64(), event);
    }

    /// Transmits a packet on a line from `start_s` on, in seconds.
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
        // Summed in this order, as in ns-2.
        let arrival_s = start_s + (busy_s + line.delay_s());
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
        let arrival = (!lost).then(|| self.events.take_turn(arrival_s));
        line.free = Some(self.events.take_turn(free_s));
        match (arrival, &mut self.part) {
            (None, _) => self.lose(line_index, packet),
            (Some(turn), Some(part)) if part.is_elsewhere(line_index) => {
                part.hand_over(turn, line_index, packet);
            }
            (Some(turn), _) => {
                self.events.put_arrival(turn, line_index as u32, packet);
            }
        }
        if self.part.is_some() {
            // The turn receives another number after the round.
            self.await_line(line_index);
        }
    }

    /// Handles the loss of a packet on a line.
    fn lose(&mut self, line_index: usize, packet: Packet) {
        let record = &mut self.line_records[line_index];
        *self.bins.cell(&mut record.lost_packets) += 1;
        let sequence = self.judged_sequence(&packet);
        self.count_lost(Tag(packet.tag), Place::Link, sequence);
        self.buffers.push(packet.octets);
    }

    /// Counts a packet that will not arrive. `sequence` is the result of [`Simulation::judged_sequence`].
    fn count_lost(&mut self, tag: Tag, place: Place, sequence: Option<u32>) {
        self.is_gone(tag.owner());
        if !tag.is_data() {
            return;
        }
        if let Some(sequence) = sequence {
            match &mut self.part {
                None => self.note_lost(tag.owner(), sequence, place),
                Some(part) => part.lose(self.turn, tag.owner(), sequence, place),
            }
        }
        let lost = &mut self.traffic[tag.owner()].lost_packets;
        match tag.owner() < self.flows.len() {
            true => *self.bins.flow_cell(lost) += 1,
            false => *self.bins.cell(lost) += 1,
        }
    }

    /// Records where a segment was lost, to check its sender's classification.
    fn note_lost(&mut self, flow: usize, sequence: u32, place: Place) {
        let Some(end) = self.ends[Side::Sender.end(flow)].open() else {
            return;
        };
        if let Some(losses) = &mut end.losses {
            let segment = end.connection.segment_number(sequence);
            losses.note(segment, place, end.connection.stats().acked);
        }
    }

    /// The sequence number of a data packet, if its sender classifies losses.
    fn judged_sequence(&self, packet: &Packet) -> Option<u32> {
        let tag = Tag(packet.tag);
        self.flows
            .get(tag.owner())
            .filter(|flow| tag.is_data() && flow.judges)?;
        wire::sequence_number(&packet.octets)
    }

    fn change_link(&mut self, link_index: usize, change: usize) {
        let change = &self.links[link_index].changes[change];
        let (ab, ba) = (2 * link_index, 2 * link_index + 1);
        let lines = match change.direction {
            Some(Direction::Ab) => ab..=ab,
            Some(Direction::Ba) => ba..=ba,
            None => ab..=ba,
        };
        // A link between two parts changes in both. Only one of them counts the event.
        self.totals.events -= u64::from(!self.lines.has(ab));
        for index in lines {
            let Some(line) = self.lines.get_mut(index) else {
                continue;
            };
            if let Some(delay_s) = change.delay_s {
                line.set_delay(Duration::from_secs_f64(delay_s));
            }
            if let Some(loss) = change.loss {
                line.set_loss(loss);
            }
            let Some(rate) = change.rate_bps.and_then(Rate::from_bps) else {
                continue;
            };
            line.set_rate(rate);
            if let Node::Switch(switch) = line.from.node {
                self.switches[switch].set_rate(line.from.port, rate);
            }
        }
    }
}
