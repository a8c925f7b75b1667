//! Puts chunks into packets: retransmissions first, then new data (RFC 9260, §6.1).

use super::{Allowance, Mark, Outbound, Sent};
use crate::sctp::config::Quirks;
use crate::sctp::packet::{DataFlags, Writer, data_octets};
use crate::sctp::path::{Path, PathState};
use units::Instant;

impl Outbound {
    /// The path on which a packet with data may be sent now.
    pub fn next_path(&mut self, paths: &[Path], current: usize) -> Option<usize> {
        let path = self.next_path_by_window(paths, current)?;
        let overruns = self.marked > 0 && self.quirks.bursts_overrun;
        if self.bursts.left == Some(0) && !overruns {
            // The burst ends here.
            self.bursts.recovered = false;
            return None;
        }
        Some(path)
    }

    fn next_path_by_window(&mut self, paths: &[Path], current: usize) -> Option<usize> {
        if self.marked > 0 {
            let marked = self.sent.iter().find(|sent| sent.mark.is_some())?;
            let own = alternate(paths, marked.path);
            let to = match self.quirks.bursts_keep_a_path {
                true => *self.bursts.path.get_or_insert(own),
                false => own,
            };
            let may = match self.allowance {
                Allowance::Window => paths[to].has_room(),
                Allowance::OnePacket => true,
                Allowance::Nothing => false,
            };
            return may.then_some(to);
        }
        if self.holds_new {
            return None;
        }
        let next = self.queue.front()?;
        // One chunk may always be outstanding, to detect a window that has opened (§6.1 A).
        let idle = || paths.iter().all(|path| path.outstanding == 0);
        let fits = next.octets() <= self.peer_window || idle();
        (fits && paths[current].has_room()).then_some(current)
    }

    /// Fills a packet of up to `room` octets for path `to`. Returns whether it contains new data.
    pub fn fill(
        &mut self,
        now: Instant,
        to: usize,
        room: usize,
        paths: &mut [Path],
        packet: &mut Writer<'_>,
    ) -> bool {
        let new = self.marked == 0;
        if new {
            self.fill_new(now, to, room, paths, packet);
        } else {
            self.fill_again(now, to, room, paths, packet);
        }
        let path = &mut paths[to];
        if path.t3.is_none() {
            path.start_t3(now); // R1
        }
        path.idle_since = Some(now);
        match &mut self.bursts.left {
            None => {}
            Some(0) => {
                self.bursts.left = None;
                self.bursts.recovered = false;
                self.allowance = Allowance::Nothing;
            }
            Some(left) => *left -= 1,
        }
        if self.bursts.recovered {
            self.bursts.gone += 1;
        }
        new
    }

    fn fill_again(
        &mut self,
        now: Instant,
        to: usize,
        room: usize,
        paths: &mut [Path],
        packet: &mut Writer<'_>,
    ) {
        for path in &mut *paths {
            path.tally.first = None;
        }
        for sent in &mut self.sent {
            let from = sent.path;
            if !sent.gap_acked && paths[from].tally.first.is_none() {
                paths[from].tally.first = Some(sent.tsn);
            }
            if sent.mark.is_none() {
                continue;
            }
            if packet.len() + data_octets(sent.chunk.payload.len()) > room {
                break;
            }
            packet.data(&sent.chunk.data(sent.tsn));
            move_chunk(sent, now, to, paths, self.quirks);
            self.marked -= 1;
            self.counts.sent += 1;
            self.counts.resent += 1;
        }
        if self.allowance == Allowance::OnePacket {
            self.allowance = Allowance::Nothing;
        }
    }

    fn fill_new(
        &mut self,
        now: Instant,
        to: usize,
        room: usize,
        paths: &mut [Path],
        packet: &mut Writer<'_>,
    ) {
        let path = &mut paths[to];
        let mut first = true;
        while let Some(next) = self.queue.front() {
            let fits = packet.len() + data_octets(next.payload.len()) <= room;
            let may = first || next.octets() <= self.peer_window && path.has_room();
            if !fits || !may {
                break;
            }
            let Some(mut chunk) = self.queue.pop_front() else {
                break;
            };
            first = false;
            self.queued_octets -= chunk.payload.len() as u64;
            if !chunk.flags.has(DataFlags::UNORDERED) {
                let ssn = &mut self.ssns[usize::from(chunk.stream)];
                chunk.ssn = *ssn;
                if chunk.flags.has(DataFlags::END) {
                    *ssn = ssn.wrapping_add(1);
                }
            }
            let tsn = self.next;
            self.next = tsn.next();
            packet.data(&chunk.data(tsn));
            self.peer_window = self.peer_window.saturating_sub(chunk.octets());
            path.outstanding += chunk.octets();
            let measures = !std::mem::replace(&mut path.measures, true); // §6.3.1 C4
            self.counts.sent += 1;
            self.sent.push_back(Sent {
                tsn,
                chunk,
                path: to,
                mark: None,
                gap_acked: false,
                reported: false,
                missing: 0,
                fast: false,
                at: now,
                measures,
                resent: false,
            });
        }
    }
}

/// Retransmits a chunk on path `to`. Updates the counters and timers of the paths (§6.1, §7.2.4 4).
fn move_chunk(sent: &mut Sent, now: Instant, to: usize, paths: &mut [Path], quirks: Quirks) {
    let octets = sent.octets();
    let from = &mut paths[sent.path];
    from.marked -= octets;
    from.outstanding -= octets;
    // A chunk that is sent twice yields no measurement (C5).
    if from.measures && sent.measures {
        from.measures = false;
        sent.measures = false;
    }
    sent.resent = true;
    sent.at = now;
    if from.tally.first == Some(sent.tsn) && from.in_flight() > 0 {
        from.start_t3(now);
    }
    if from.outstanding == 0 && !quirks.timers_outlive_chunks {
        from.t3 = None;
    }
    let path = &mut paths[to];
    path.outstanding += octets;
    if path.tally.first.is_none_or(|first| sent.tsn <= first) {
        path.tally.first = Some(sent.tsn);
        path.start_t3(now);
    }
    if sent.mark == Some(Mark::Timeout) && !quirks.reports_survive_timeouts {
        sent.missing = 0;
    }
    sent.path = to;
    sent.mark = None;
}

/// The path for retransmissions of chunks lost on a path: the next active path, or the next path if none is active
/// (§6.4.1).
pub(in crate::sctp) fn alternate(paths: &[Path], path: usize) -> usize {
    let count = paths.len();
    let next = (1..=count).map(|step| (path + step) % count);
    next.clone()
        .find(|&index| paths[index].state == PathState::Active)
        .unwrap_or((path + 1) % count)
}
