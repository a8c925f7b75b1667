//! Handling of arriving segments (RFC 9293, §3.10.7, with RFC 5961 and RFC 7323).

use units::{Duration, Instant};

use super::acks::{Ack, Blocks};
use super::config::{MAX_SCALE, Stamps};
use super::connection::{Connection, Ended, State};
use crate::tcp::feedback::Feedback;
use crate::tcp::segment::{Flags, Segment, Trimming};

/// The MSS of the other end if its SYN does not contain one (RFC 9293, §3.7.1).
const DEFAULT_MSS: u16 = 536;

impl Connection {
    /// Handles a segment. `present` is the stored part of its payload; the rest is zeros.
    pub fn handle_segment(&mut self, now: Instant, segment: &Segment, present: &[u8]) {
        if segment.trimming == Trimming::Cut {
            return self.on_cut(now, segment);
        }
        match self.state {
            State::Closed => {}
            State::Listen => self.on_listen(now, segment),
            State::SynSent => self.on_syn_sent(now, segment),
            _ => self.on_synchronized(now, segment, present),
        }
    }

    /// Whether the connection is in TIME-WAIT, and a SYN shows that the other end opens a new one (RFC 9293, §3.10.7.4;
    /// RFC 6191).
    pub(super) fn gives_way_to(&self, segment: &Segment) -> bool {
        let opening = segment.flags.contains(Flags::SYN)
            && !segment.flags.intersects(Flags::ACK | Flags::RST);
        let newer = self.receiver.position(segment.seq) > self.receiver.expected() as i64;
        self.state == State::Closed || (self.state == State::TimeWait && opening && newer)
    }

    /// Limits the time in which the other end may still send, because nobody waits for its data.
    pub(super) fn limit_wait(&mut self, now: Instant) {
        if self.state == State::FinWait2 && self.forget_at.is_none() {
            self.forget_at = Some(now + self.config.time_wait);
        }
    }

    /// Handles the rest of a trimmed segment. No checksum covers it, so it only identifies a segment to be
    /// retransmitted. It may overtake the data that opens the connection.
    fn on_cut(&mut self, now: Instant, segment: &Segment) {
        if matches!(
            self.state,
            State::Closed | State::Listen | State::SynSent | State::TimeWait
        ) {
            return;
        }
        let position = self.receiver.position(segment.seq);
        let missing = position + i64::from(segment.payload) > self.receiver.expected() as i64;
        let fits = position < self.receiver.limit() as i64;
        if missing && fits {
            let notice = self.acknowledgement(now, Some(segment.seq));
            self.answers.push_back(notice);
        }
    }

    /// §3.10.7.2.
    fn on_listen(&mut self, now: Instant, segment: &Segment) {
        let flags = segment.flags;
        if flags.contains(Flags::RST) {
            return;
        }
        if flags.contains(Flags::ACK) {
            self.answers.push_back(reset_for(segment));
            return;
        }
        if !flags.contains(Flags::SYN) {
            return;
        }
        self.ecn.on_syn(segment);
        self.synchronize(now, segment);
        self.state = State::SynReceived;
    }

    /// §3.10.7.3.
    fn on_syn_sent(&mut self, now: Instant, segment: &Segment) {
        let flags = segment.flags;
        let acked = flags.contains(Flags::ACK);
        let ours = segment.ack == self.sequence(1) && self.sender.next > 0;
        if acked && !ours {
            if !flags.contains(Flags::RST) {
                self.answers.push_back(reset_for(segment));
            }
            return;
        }
        if flags.contains(Flags::RST) {
            if acked {
                self.end(Ended::Refused);
            }
            return;
        }
        if !flags.contains(Flags::SYN) {
            return;
        }
        if acked {
            self.ecn.on_syn_ack(segment);
        } else {
            self.ecn.on_syn(segment);
        }
        self.synchronize(now, segment);
        self.state = match self.sender.stream.is_closed() {
            true => State::FinWait1,
            false if acked => State::Established,
            false => State::SynReceived,
        };
        if acked {
            self.take_ack(now, segment, 1);
            self.receiver.due = true;
        } else if self.sender.next > 0 {
            // Simultaneous open: our SYN is sent again as the response.
            self.sender.board.lose_all();
        }
    }

    /// Handles the content of a SYN.
    fn synchronize(&mut self, now: Instant, syn: &Segment) {
        let config = &self.config;
        self.receiver.synchronize(syn.seq);
        self.stamps = config.timestamps != Stamps::Off && syn.timestamps.is_some();
        if let Some(stamps) = syn.timestamps.filter(|_| self.stamps) {
            self.receiver.note_stamp(now, 0, stamps);
        }
        self.sender.sack = config.sack && syn.syn.sack_permitted;
        if let Some(scale) = syn.syn.window_scale.filter(|_| config.window_scaling) {
            self.sender.window_scaling = true;
            self.sender.window.scale = scale.min(MAX_SCALE);
            self.receiver.scale = config.window_scale();
        }
        let mss = syn.syn.mss.unwrap_or(DEFAULT_MSS);
        self.sender.payload = u64::from(config.payload(mss, self.stamps));
        // The window of a SYN is not scaled.
        let window = u64::from(syn.window);
        self.sender.window.end = 1 + window;
        self.sender.window.largest = window;
    }

    /// §3.10.7.4.
    fn on_synchronized(&mut self, now: Instant, segment: &Segment, present: &[u8]) {
        let flags = segment.flags;
        let position = self.receiver.position(segment.seq);
        if position == 0 && flags.contains(Flags::SYN | Flags::ACK) {
            self.ecn.on_syn_ack_again(segment);
        }
        if !self.sender.open && flags.contains(Flags::SYN) && position == 0 {
            self.on_syn_again(now, segment);
            return;
        }
        if !self.is_current(now, segment) || !self.is_in_window(now, segment, position) {
            return;
        }
        if flags.contains(Flags::RST) {
            self.on_reset(now, position);
            return;
        }
        if flags.contains(Flags::SYN) {
            self.challenge(now);
            return;
        }
        if let Some(stamps) = segment.timestamps.filter(|_| self.stamps) {
            self.receiver.note_stamp(now, position, stamps);
        }
        if !flags.contains(Flags::ACK) {
            return;
        }
        let Some(acked) = self.acceptable_ack(now, segment) else {
            return;
        };
        let at_once = self.ecn.on_segment(segment);
        self.take_ack(now, segment, acked);
        self.advance_state(now);
        if self.state != State::Closed {
            self.take_data(now, segment, position, present);
            self.receiver.due |= at_once;
        }
    }

    /// Handles a repeated SYN of the other end: unchanged, because our response was lost, or, after a simultaneous
    /// open, as the response to ours.
    fn on_syn_again(&mut self, now: Instant, segment: &Segment) {
        if segment.flags.contains(Flags::RST) || !self.challenges.allow(now) {
            return;
        }
        if !segment.flags.contains(Flags::ACK) {
            match self.ecn.on_syn_again(segment) {
                true => self.abort(),
                false => self.sender.board.lose_all(),
            }
            return;
        }
        self.receiver.due = true;
        if let Some(acked) = self.acceptable_ack(now, segment) {
            self.take_ack(now, segment, acked);
            self.advance_state(now);
        }
    }

    /// Protection against wrapped sequence numbers (RFC 7323, §5.3, R1).
    fn is_current(&mut self, now: Instant, segment: &Segment) -> bool {
        if !self.stamps || segment.flags.contains(Flags::RST) {
            return true;
        }
        match segment.timestamps {
            // §3.2: silently dropped.
            None => false,
            Some(stamps) if self.receiver.is_stale(now, stamps) => {
                self.challenge(now);
                false
            }
            Some(_) => true,
        }
    }

    /// First check: whether a part of the segment is within the window.
    fn is_in_window(&mut self, now: Instant, segment: &Segment, position: i64) -> bool {
        let flags = segment.flags;
        let fin = i64::from(flags.contains(Flags::FIN));
        let syn = i64::from(flags.contains(Flags::SYN));
        let octets = i64::from(segment.payload) + fin + syn;
        let expected = self.receiver.expected() as i64;
        let limit = self.receiver.limit() as i64;
        let fits = match octets {
            0 => position == expected || (expected..limit).contains(&position),
            // A segment that starts at the expected position is used for its acknowledgement even if there is no window
            // for its data.
            _ => position == expected || (position < limit && position + octets > expected),
        };
        if fits || flags.contains(Flags::RST) {
            return fits;
        }
        if self.state == State::TimeWait && flags.contains(Flags::FIN) {
            // Our last acknowledgement was lost.
            self.forget_at = Some(now + self.config.time_wait);
        }
        if segment.payload > 0 {
            // A duplicate. It is reported at once, so that the other end stops sending it.
            self.receiver.accept(now, position, segment, &[], false);
            self.receiver.due = true;
            self.ecn.on_copy();
        } else {
            self.challenge(now);
        }
        false
    }

    /// Second check (RFC 5961, §3.2). In TIME-WAIT resets are ignored (RFC 1337, §3).
    fn on_reset(&mut self, now: Instant, position: i64) {
        if self.state == State::TimeWait {
            return;
        }
        if position != self.receiver.expected() as i64 {
            self.challenge(now);
            return;
        }
        let how = match (self.sender.open, self.passive, self.state) {
            (false, false, _) => Ended::Refused,
            (_, _, State::Closing | State::LastAck) => Ended::Closed,
            _ => Ended::Reset,
        };
        self.end(how);
    }

    /// Responds to an unacceptable segment with the current state (RFC 5961).
    fn challenge(&mut self, now: Instant) {
        if self.challenges.allow(now) {
            self.receiver.due = true;
        }
    }

    /// Fifth check: the acknowledged position, if acceptable (RFC 5961, §5.2).
    fn acceptable_ack(&mut self, now: Instant, segment: &Segment) -> Option<u64> {
        let sender = &self.sender;
        let ahead = segment.ack.wrapping_sub(self.sequence(sender.acked)) as i32;
        let acked = sender.acked as i64 + i64::from(ahead);
        if !sender.open {
            // SYN-RECEIVED.
            let ours = (1..=sender.next as i64).contains(&acked);
            if !ours {
                self.answers.push_back(reset_for(segment));
            }
            return ours.then_some(acked as u64);
        }
        let oldest = sender.acked as i64 - sender.window.largest.max(sender.payload) as i64;
        if acked > sender.next as i64 || acked < oldest {
            self.challenge(now);
            return None;
        }
        Some(acked.max(0) as u64)
    }

    /// Handles the acknowledgement and the window of an acceptable segment.
    fn take_ack(&mut self, now: Instant, segment: &Segment, acked: u64) {
        if self.sender.next == 0 {
            return;
        }
        let bare = segment.payload == 0
            && segment.trim_notice.is_none()
            && !segment.flags.intersects(Flags::SYN | Flags::FIN);
        let moved = self.update_window(segment, acked);
        let echoed_rtt = self.echoed_rtt(now, segment);
        let ack = Ack {
            now,
            position: acked,
            blocks: self.blocks(segment),
            trimmed: self.trimmed(segment),
            bare: bare && !moved && acked == self.sender.acked,
            echoed_rtt,
            echo: self.ecn.echo(segment),
        };
        let marks = self.marks(now, segment);
        self.sender.open = true;
        if let Some((change, event)) = self.sender.on_ack(&ack, &marks, &mut self.ecn) {
            self.stats.reported_marks += event.newly_marked;
            self.record(now, change, Some(&event));
        }
    }

    /// Updates the other end's window (RFC 9293, §3.10.7.4, fifth check). Returns whether it changed.
    fn update_window(&mut self, segment: &Segment, acked: u64) -> bool {
        let position = self.receiver.position(segment.seq).max(0) as u64;
        let window = &mut self.sender.window;
        if acked < self.sender.acked || window.told_by > (position, acked) {
            return false;
        }
        let shift = match segment.flags.contains(Flags::SYN) {
            true => 0,
            false => window.scale,
        };
        let octets = u64::from(segment.window) << shift;
        let moved = acked + octets != window.end;
        window.told_by = (position, acked);
        window.end = acked + octets;
        window.largest = window.largest.max(octets);
        if moved && window.end > self.sender.next && self.sender.board.is_empty() {
            self.sender.timers.persist = None;
            self.sender.rto.reset_backoff();
        }
        moved
    }

    /// The round-trip time from the echoed timestamp.
    fn echoed_rtt(&self, now: Instant, segment: &Segment) -> Option<Duration> {
        let stamps = segment.timestamps.filter(|_| self.stamps)?;
        let units = self.clock(now).wrapping_sub(stamps.echo);
        // Half of all values are in the past.
        (units as i32 >= 0).then(|| match self.config.timestamps {
            Stamps::Millis => Duration::from_millis(u64::from(units)),
            _ => Duration::from_micros(u64::from(units)),
        })
    }

    /// The marks for the congestion control. One-way delays need a clock in microseconds.
    fn marks(&self, now: Instant, segment: &Segment) -> Feedback {
        let mut feedback = Feedback::decode(segment, self.clock(now), &self.config.marks);
        if !self.stamps || self.config.timestamps != Stamps::Micros {
            feedback.forget_timestamps();
        }
        let bands = self.config.csig;
        feedback.csig = bands.and_then(|bands| bands.read(&segment.reflection));
        feedback
    }

    fn blocks(&self, segment: &Segment) -> Blocks {
        let acked = self.sender.acked;
        let position = |sequence: u32| {
            let ahead = sequence.wrapping_sub(self.sequence(acked)) as i32;
            acked as i64 + i64::from(ahead)
        };
        let mut blocks = Blocks::default();
        for &(left, right) in segment.sack.as_slice() {
            let (left, right) = (position(left), position(right));
            if 0 < left && left < right && right <= self.sender.next as i64 {
                blocks.push(left as u64, right as u64);
            }
        }
        blocks
    }

    /// The position of a segment that arrived trimmed at the other end.
    fn trimmed(&self, segment: &Segment) -> Option<u64> {
        let sequence = segment.trim_notice.filter(|_| self.config.trimming)?;
        let ahead = sequence.wrapping_sub(self.sequence(self.sender.acked)) as i32;
        self.sender.acked.checked_add_signed(i64::from(ahead))
    }

    /// Updates the state after the acknowledgement of our SYN or FIN.
    fn advance_state(&mut self, now: Instant) {
        if self.state == State::SynReceived {
            self.state = State::Established;
        }
        if !self.sender.stream.is_closed() || !self.sender.is_finished() {
            return;
        }
        match self.state {
            State::FinWait1 => self.state = State::FinWait2,
            State::Closing => self.wait(now),
            State::LastAck => self.end(Ended::Closed),
            _ => {}
        }
    }

    /// Seventh and eighth check: the payload, the FIN.
    fn take_data(&mut self, now: Instant, segment: &Segment, position: i64, present: &[u8]) {
        let fin = segment.flags.contains(Flags::FIN);
        if segment.payload == 0 && !fin {
            return;
        }
        if segment.payload > 0 && self.ecn.changes_echo(segment) && self.receiver.owes() {
            let before = self.acknowledgement(now, None);
            self.answers.push_back(before);
        }
        if segment.payload > 0 {
            self.ecn.on_data(segment);
        }
        let finished = self.receiver.is_finished();
        self.receiver.accept(now, position, segment, present, fin);
        if finished || !self.receiver.is_finished() {
            return;
        }
        match self.state {
            State::Established | State::SynReceived => self.state = State::CloseWait,
            State::FinWait1 => self.state = State::Closing,
            State::FinWait2 => self.wait(now),
            _ => {}
        }
    }

    fn wait(&mut self, now: Instant) {
        self.state = State::TimeWait;
        self.sender.timers = Default::default();
        self.forget_at = Some(now + self.config.time_wait);
    }
}

/// The reset in response to a segment that belongs to no connection (RFC 9293, §3.10.7.1).
pub(super) fn reset_for(segment: &Segment) -> Segment {
    let flags = segment.flags;
    let octets = segment.payload
        + u32::from(flags.contains(Flags::SYN))
        + u32::from(flags.contains(Flags::FIN));
    let mut reset = match flags.contains(Flags::ACK) {
        true => Segment {
            seq: segment.ack,
            flags: Flags::RST,
            ..Segment::default()
        },
        false => Segment {
            ack: segment.seq.wrapping_add(octets),
            flags: Flags::RST | Flags::ACK,
            ..Segment::default()
        },
    };
    reset.link_octets = crate::tcp::config::HEADER_OCTETS;
    reset
}
