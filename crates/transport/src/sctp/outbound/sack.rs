//! Handling of SACKs (RFC 9260, §6.2.1, §6.3.2, §7.2).

use super::{Acknowledged, Allowance, Mark, Outbound, Sent};
use crate::sctp::Tsn;
use crate::sctp::packet::Sack;
use crate::sctp::path::{Path, PathState, Tally};
use congestion::sctp::SackEvent;
use units::{Duration, Instant};

impl Outbound {
    /// Handles a SACK, or only a cumulative TSN (of SHUTDOWN). `rtt` is that of a path, from a Timestamp chunk. Returns
    /// `None` if it is older than the last one, or acknowledges TSNs that were never sent.
    pub fn handle_sack(
        &mut self,
        now: Instant,
        cumulative: Tsn,
        sack: Option<&Sack<'_>>,
        rtt: Option<(usize, Duration)>,
        paths: &mut [Path],
    ) -> Option<Acknowledged> {
        let is_old = cumulative < self.cumulative || cumulative >= self.next;
        if is_old && self.marked > 0 {
            return None; // retransmissions wait for a SACK that tells something
        }
        let carries = self.quirks.bursts_carry_over && (self.holds_new || self.marked > 0);
        self.holds_new = false;
        if !carries {
            self.bursts.gone = 0;
        }
        self.begin_burst();
        if is_old {
            return None;
        }
        let advanced = cumulative > self.cumulative;
        let before: Tsn = self.cumulative;
        for path in &mut *paths {
            path.tally = Tally::default();
        }
        if let Some((index, rtt)) = rtt {
            paths[index].rto.measure(rtt);
        }
        let timed = rtt.is_none();
        let mut highest = match self.quirks.old_acknowledgements_count {
            true => self.highest_acked,
            false => before,
        };
        while self.sent.front().is_some_and(|sent| sent.tsn <= cumulative)
            && let Some(sent) = self.sent.pop_front()
        {
            if !sent.gap_acked {
                highest = sent.tsn;
            }
            self.acknowledge_first(now, &sent, timed, paths);
        }
        self.cumulative = cumulative;
        let gaps = sack.filter(|sack| sack.gaps().next().is_some());
        if let Some(sack) = gaps {
            self.handle_gaps(now, sack, timed, &mut highest, paths);
        }
        self.highest_acked = highest;
        // In recovery, every SACK that advances reports all missing chunks, including the one that ends it (§7.2.4).
        let repairs = advanced && before < self.recover;
        let fast = gaps.is_some_and(|_| self.count_missing(repairs, highest, paths));
        let news = paths.iter().any(|path| path.tally.newly_acked > 0);
        let recovering = cumulative < self.recover;
        for (index, path) in paths.iter_mut().enumerate() {
            let sample = rtt.filter(|(of, _)| *of == index).map(|(_, rtt)| rtt);
            let newly_acked = path.tally.newly_acked;
            if newly_acked > 0 {
                path.window.on_sack(&SackEvent {
                    advanced,
                    recovering,
                    newly_acked,
                    gap_acked: path.tally.gap_acked,
                    in_flight: path.outstanding,
                    rtt: sample,
                });
                self.counts.acked_octets += u64::from(newly_acked);
            }
            path.outstanding = path.outstanding.saturating_sub(newly_acked);
            path.marked = path.marked.min(path.outstanding);
            if path.outstanding == 0 {
                path.t3 = None; // R2
            } else if path.tally.restart || path.t3.is_none() {
                path.start_t3(now); // R3
            }
        }
        if fast {
            self.cut(paths);
            self.allowance = Allowance::OnePacket;
        } else {
            self.allowance = Allowance::Window;
        }
        if self.marked > 0 {
            self.bursts.gone = 0;
        }
        self.begin_burst();
        if let Some(sack) = sack {
            // Chunks to be retransmitted keep their room, otherwise later chunks could fill the peer's buffer
            // permanently.
            let outstanding: u32 = paths.iter().map(|path| path.outstanding).sum();
            self.peer_window = sack.window.saturating_sub(outstanding);
        }
        let by_chunk = || {
            let mut measured = paths.iter().enumerate();
            measured.find_map(|(index, path)| Some((index, path.tally.rtt?)))
        };
        Some(Acknowledged {
            news,
            rtt: rtt.or_else(by_chunk),
        })
    }

    /// Handles a chunk that is acknowledged by the cumulative TSN.
    fn acknowledge_first(&mut self, now: Instant, sent: &Sent, timed: bool, paths: &mut [Path]) {
        let path = &mut paths[sent.path];
        path.tally.restart = true;
        self.bursts.recovered |= sent.fast;
        if sent.mark.is_some() {
            self.marked -= 1;
            path.marked = path.marked.saturating_sub(sent.octets());
        }
        if !sent.gap_acked {
            self.counts.note_latency(now.since(sent.at));
            acknowledge(now, sent, timed, path);
        }
    }

    /// Records which chunks the gap blocks contain. Sets `highest` to the highest newly acknowledged TSN.
    fn handle_gaps(
        &mut self,
        now: Instant,
        sack: &Sack<'_>,
        timed: bool,
        highest: &mut Tsn,
        paths: &mut [Path],
    ) {
        for sent in &mut self.sent {
            sent.reported = false;
        }
        // Blocks are in ascending order. One that is not is ignored.
        let mut from = 1;
        for (first, last) in sack.gaps() {
            if usize::from(first) < from || last < first {
                continue;
            }
            let (first, last) = (usize::from(first) - 1, usize::from(last));
            let end = last.min(self.sent.len());
            for sent in self.sent.range_mut(first.min(end)..end) {
                sent.reported = true;
            }
            from = last + 1;
        }
        for sent in &mut self.sent {
            let path = &mut paths[sent.path];
            if !sent.gap_acked && path.tally.first.is_none() {
                path.tally.first = Some(sent.tsn);
            }
            match (sent.gap_acked, sent.reported) {
                (false, true) => {
                    sent.gap_acked = true;
                    if sent.tsn > *highest {
                        *highest = sent.tsn;
                    }
                    path.tally.restart |= path.tally.first == Some(sent.tsn);
                    path.tally.gap_acked += sent.octets();
                    self.counts.note_latency(now.since(sent.at));
                    acknowledge(now, sent, timed, path);
                    if sent.mark.take().is_some() {
                        self.marked -= 1;
                        path.marked = path.marked.saturating_sub(sent.octets());
                    }
                }
                // The receiver has discarded it.
                (true, false) => {
                    sent.gap_acked = false;
                    if !self.quirks.stamps_outlive_losses {
                        sent.measures = false;
                    }
                    path.outstanding += sent.octets();
                }
                _ => {}
            }
        }
    }

    /// Counts missing reports by the rule of the highest TSN newly acknowledged (§7.2.4). Returns whether a chunk has
    /// enough of them to be fast retransmitted.
    fn count_missing(&mut self, repairs: bool, highest: Tsn, paths: &mut [Path]) -> bool {
        let reported = self.sent.iter().rposition(|sent| sent.reported);
        let highest_reported = reported.map_or(self.cumulative, |at| self.sent[at].tsn);
        let below = match repairs && highest_reported > highest {
            true => highest_reported,
            false => highest,
        };
        let mut fast = false;
        for sent in &mut self.sent {
            if sent.tsn >= below {
                break;
            }
            if sent.gap_acked {
                continue;
            }
            sent.missing = sent.missing.saturating_add(1);
            let is_marked = sent.mark.is_some();
            let counts = !is_marked || self.quirks.reports_survive_timeouts;
            if sent.missing < self.missing_reports || sent.fast || !counts {
                continue;
            }
            sent.fast = true;
            sent.mark = Some(Mark::Missing);
            fast = true;
            if !is_marked {
                self.marked += 1;
                paths[sent.path].marked += sent.octets();
            }
        }
        fast
    }

    /// Reduces the windows of paths that lost chunks, once per window of data (§7.2.3, §7.2.4).
    fn cut(&mut self, paths: &mut [Path]) {
        for at in 0..self.sent.len() {
            let sent = &self.sent[at];
            let path = &mut paths[sent.path];
            if sent.mark.is_none() || path.tally.cut || sent.tsn <= self.recover {
                continue;
            }
            path.window.on_loss();
            path.tally.cut = true;
            let index = sent.path;
            self.measure_again(index, path);
            self.recover = self.highest_outstanding();
        }
        self.counts.fast += 1;
    }
}

impl Outbound {
    /// The highest TSN outstanding.
    fn highest_outstanding(&mut self) -> Tsn {
        if !self.quirks.marked_chunks_begin_recoveries {
            return self.sent.back().map_or(self.recover, |last| last.tsn);
        }
        let unmarked = self.sent.iter().rev().find(|sent| sent.mark.is_none());
        if let Some(last) = unmarked.filter(|sent| sent.tsn > self.highest_unmarked) {
            self.highest_unmarked = last.tsn;
        }
        self.highest_unmarked
    }
}

/// Credits a newly acknowledged chunk to its path.
fn acknowledge(now: Instant, sent: &Sent, timed: bool, path: &mut Path) {
    path.tally.newly_acked += sent.octets();
    let measures = path.measures && sent.measures && !sent.resent;
    path.measures &= !measures;
    // A timeout may have been caused by lost SACKs. In that case this chunk does not reset the path's errors.
    if sent.mark == Some(Mark::Timeout) {
        return;
    }
    if measures && timed {
        let rtt = now.since(sent.at);
        path.rto.measure(rtt);
        path.tally.rtt = Some(rtt);
    }
    path.errors = 0;
    path.state = PathState::Active;
}
