//! Divides a network into parts that run on separate threads, and reunites them.

use super::Simulation;
use super::part::Part;
use super::places::Places;
use super::plan::Plan;
use crate::event::{Event, EventQueue};
use crate::share::Share;
use std::fmt;
use std::sync::Arc;

/// The most parts.
const MAX_PARTS: usize = 256;

/// How a network is divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Division {
    /// The number of parts.
    pub parts: usize,
    /// Why there are fewer parts than requested.
    pub limit: Option<Limit>,
}

impl Division {
    /// An undivided network.
    pub(super) fn whole(limit: Option<Limit>) -> Self {
        Division { parts: 1, limit }
    }
}

/// Why a network cannot be divided further.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// A congestion control of the caller, which runs on one thread.
    OwnControl,
    /// Samples of the switches' objects, which are thinned out together.
    Samples,
    /// A capture, an observer or a replay, which need a single order of packets.
    Watched,
    /// Too few pieces that are connected by links with delay.
    Pieces,
    /// Most events were in rounds that are too small for further threads to be worthwhile.
    Rounds,
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Limit::OwnControl => "a congestion control in Python runs on one thread",
            Limit::Samples => "samples of counters and registers are taken on one thread",
            Limit::Watched => "a capture is written by one thread",
            Limit::Pieces => {
                "the network cannot be divided further at links with a delay (nodes on a wireless medium, and the hosts of an SCTP association, are not divided)"
            }
            Limit::Rounds => {
                "too few events happen within the delay of a link for more threads to be faster"
            }
        })
    }
}

impl Simulation {
    /// Divides the network among up to `threads` threads, from now on, while it has enough events for them. The results
    /// do not change. Returns how it can be divided; [`Simulation::division`] returns how it was.
    pub fn divide(&mut self, threads: usize) -> Division {
        self.plan(threads, threads, false)
    }

    /// Divides the network into up to `parts` parts, from now on, whatever the cost, and runs them on `threads`
    /// threads. With one thread, parts run in turn.
    pub fn divide_always(&mut self, parts: usize, threads: usize) -> Division {
        self.plan(parts, threads, true)
    }

    /// How the network was divided while most events happened.
    pub fn division(&self) -> Division {
        let Some(plan) = &self.plan else {
            return self.division;
        };
        match plan.mostly() {
            Some(0) => self.division,
            Some(choice) => Division {
                parts: plan.parts(choice),
                limit: Some(Limit::Rounds),
            },
            None => Division::whole(Some(Limit::Rounds)),
        }
    }

    fn plan(&mut self, parts: usize, threads: usize, always: bool) -> Division {
        self.stay_whole();
        self.division = match self.limit().filter(|_| parts > 1) {
            Some(limit) => Division::whole(Some(limit)),
            None => {
                let places = self.places(parts.min(MAX_PARTS));
                let found = places.parts;
                if found > 1 {
                    let things = self.lines.iter().len() + self.ends.iter().len();
                    let mut ways = vec![(places, threads.clamp(1, found))];
                    if !always {
                        self.add_fewer_threads(&mut ways);
                    }
                    self.plan = Some(Plan::new(ways, always, things));
                }
                Division {
                    parts: found,
                    limit: (found < parts).then_some(Limit::Pieces),
                }
            }
        };
        self.division
    }

    /// Adds the ways to divide the network among half as many threads, and so on.
    fn add_fewer_threads(&self, ways: &mut Vec<(Places, usize)>) {
        let mut parts = ways[0].0.parts / 2;
        while parts > 1 {
            let places = self.places(parts);
            parts = places.parts.min(parts) / 2;
            if places.parts > 1 {
                let threads = places.parts;
                ways.push((places, threads));
            }
        }
    }

    /// What keeps the network on one thread.
    fn limit(&self) -> Option<Limit> {
        if self.own_controls {
            return Some(Limit::OwnControl);
        }
        if self.sampler.is_some() {
            return Some(Limit::Samples);
        }
        let mut queues = self.lines.iter().filter_map(|line| line.queue.as_ref());
        let watched = self.capture.is_some()
            || self.observer.is_some()
            || queues.any(|queue| queue.watch.is_some());
        watched.then_some(Limit::Watched)
    }

    /// Reunites the network for good.
    pub(crate) fn stay_whole(&mut self) {
        self.unite();
        self.plan = None;
        self.division = Division::whole(None);
    }

    /// Divides the network, which must be undivided.
    pub(super) fn split(&mut self, places: &Arc<Places>) {
        let count = places.parts;
        let by = |parts: &[u32], index: usize| parts[index] as usize;
        for line in 0..self.destinations.len() {
            self.await_line(line);
        }
        let (events, taken) = self.events.take_all();
        let mut hosts = self
            .hosts
            .split(count, |i| by(&places.hosts, i))
            .into_iter();
        let mut switches = self
            .switches
            .split(count, |i| by(&places.switches, i))
            .into_iter();
        let mut routers = self
            .routers
            .split(count, |i| by(&places.routers, i))
            .into_iter();
        let mut lines = self
            .lines
            .split(count, |i| by(&places.lines, i))
            .into_iter();
        let mut records = self
            .line_records
            .split(count, |i| by(&places.lines, i))
            .into_iter();
        let mut media = self
            .media
            .split(count, |i| by(&places.media, i))
            .into_iter();
        let mut ends = self.ends.split(count, |i| by(&places.ends, i)).into_iter();
        let mut associations = self
            .associations
            .split(count, |i| by(&places.associations, i))
            .into_iter();
        let mut departures = self
            .departures
            .split(count, |i| by(&places.sources, i))
            .into_iter();
        let traffic = self.traffic.len();
        let mut endings = self.ending.as_mut().map(|ending| ending.split(count));
        for index in 0..count {
            // The first part keeps the counts so far.
            let first = index == 0;
            self.parts.push(Simulation {
                name: String::new(),
                seed: self.seed,
                now: self.now,
                turn: self.turn,
                end: self.end,
                events: EventQueue::default(),
                buffers: Vec::new(),
                made: 0,
                hosts: hosts.next().unwrap_or_default(),
                switches: switches.next().unwrap_or_default(),
                routers: routers.next().unwrap_or_default(),
                lines: lines.next().unwrap_or_default(),
                destinations: self.destinations.clone(),
                media: media.next().unwrap_or_default(),
                links: self.links.clone(),
                flows: self.flows.clone(),
                ends: ends.next().unwrap_or_default(),
                ports: self.ports.clone(),
                ending: endings.as_mut().and_then(Iterator::next),
                associations: associations.next().unwrap_or_default(),
                interfaces: Vec::new(),
                sctp_buffer: Vec::new(),
                sources: self.sources.clone(),
                departures: departures.next().unwrap_or_default(),
                bins: self.bins.clone(),
                sampler: None,
                line_records: records.next().unwrap_or_default(),
                traffic: match first {
                    true => std::mem::take(&mut self.traffic),
                    false => vec![Default::default(); traffic],
                },
                capture: None,
                capture_failed: None,
                check_aqt: self.check_aqt.as_mut().map(|check| taken_if(first, check)),
                check_ci: self.check_ci.as_mut().map(|check| taken_if(first, check)),
                observer: None,
                totals: taken_if(first, &mut self.totals),
                own_controls: false,
                part: Some(Part::new(index, places.clone())),
                parts: Vec::new(),
                turns: 0,
                plan: None,
                division: Division::whole(None),
            });
        }
        self.parts[0].buffers = std::mem::take(&mut self.buffers);
        self.parts[0].made = self.made;
        self.turns = taken;
        for (turn, mut event) in events {
            let [part, also] = places.of_event(&event);
            let to = &mut self.parts[part as usize];
            if let Event::Arrive { packet, .. } = &mut event {
                *packet = to.events.in_flight.put(self.events.in_flight.take(*packet));
            }
            to.events.put(turn, event);
            if also != part {
                self.parts[also as usize].events.put(turn, event);
            }
        }
        // Packets of stations wait in their media.
        for part in &mut self.parts {
            let Simulation { media, events, .. } = part;
            for medium in media.iter_mut() {
                medium.renumber(|packet| events.in_flight.put(self.events.in_flight.take(packet)));
            }
        }
        self.events.in_flight = Default::default();
    }

    /// Reunites the parts of a divided network.
    pub(super) fn unite(&mut self) {
        if self.parts.is_empty() {
            return;
        }
        let mut parts = std::mem::take(&mut self.parts);
        self.events = EventQueue::resumed(self.turns);
        self.totals = Default::default();
        self.made = 0;
        let traffic = self.flows.len() + self.sources.len();
        let associations: usize = parts
            .iter()
            .map(|part| part.associations.iter().len())
            .sum();
        self.traffic = vec![Default::default(); traffic + associations];
        for part in &mut parts {
            self.now = self.now.max(part.now);
            self.bins.advance(part.now);
            self.totals.add(&part.totals);
            self.made += part.made;
            self.buffers.append(&mut part.buffers);
            if let (Some(sum), Some(more)) = (&mut self.ending, part.ending.take()) {
                sum.unite(more);
            }
            for (sum, more) in self
                .traffic
                .iter_mut()
                .zip(std::mem::take(&mut part.traffic))
            {
                sum.add(more);
            }
            for (sum, more) in [
                (&mut self.check_aqt, &mut part.check_aqt),
                (&mut self.check_ci, &mut part.check_ci),
            ] {
                if let (Some(sum), Some(more)) = (sum, more.take()) {
                    sum.add(more);
                }
            }
            let (events, _) = part.events.take_all();
            for (turn, mut event) in events {
                match &mut event {
                    Event::Arrive { packet, .. } => {
                        *packet = self
                            .events
                            .in_flight
                            .put(part.events.in_flight.take(*packet));
                    }
                    Event::LinkChange { link, .. } if !part.lines.has(2 * *link as usize) => {
                        continue;
                    }
                    _ => {}
                }
                self.events.put(turn, event);
            }
            for medium in part.media.iter_mut() {
                medium.renumber(|packet| {
                    self.events
                        .in_flight
                        .put(part.events.in_flight.take(packet))
                });
            }
        }
        self.hosts = united(&mut parts, |part| &mut part.hosts);
        self.switches = united(&mut parts, |part| &mut part.switches);
        self.routers = united(&mut parts, |part| &mut part.routers);
        self.lines = united(&mut parts, |part| &mut part.lines);
        self.line_records = united(&mut parts, |part| &mut part.line_records);
        self.media = united(&mut parts, |part| &mut part.media);
        self.ends = united(&mut parts, |part| &mut part.ends);
        self.associations = united(&mut parts, |part| &mut part.associations);
        self.departures = united(&mut parts, |part| &mut part.departures);
    }
}

fn taken_if<T: Default>(taken: bool, from: &mut T) -> T {
    match taken {
        true => std::mem::take(from),
        false => T::default(),
    }
}

fn united<T>(parts: &mut [Simulation], of: impl Fn(&mut Simulation) -> &mut Share<T>) -> Share<T> {
    Share::unite(
        parts
            .iter_mut()
            .map(|part| std::mem::take(of(part)))
            .collect(),
    )
}
