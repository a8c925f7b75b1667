//! Explicit congestion notification at both ends (RFC 3168, RFC 8257, RFC 9768).

use crate::tcp::OctetCounts;
use crate::tcp::segment::{Ecn, Flags, Segment};

use super::config::EcnMode;
use super::ecn_octets::{Received, Reported};

/// The initial count of RFC 9768 (§3.2.1). It is not 0, so that a field cleared on the path is detected.
const FIRST_COUNT: u64 = 5;
/// The counter is sent modulo this.
const COUNTS: u64 = 8;
/// This many marks are reported at once.
const MOST_UNREPORTED: u64 = 2;

/// The ECN state of a connection.
#[derive(Clone, Copy, Debug)]
pub(super) struct EcnState {
    mode: EcnMode,
    /// Whether both ends agreed on ECN.
    agreed: bool,
    /// Whether both ends count marks (RFC 9768).
    counts: bool,
    /// If both ends count, whether data is sent as capable: not after a handshake without ECN flags, which the other
    /// end may have taken as the final one (RFC 9768, §3.1.5), nor if the counters contradict each other (§3.2.3.2.5).
    capable: bool,
    /// Whether counted marks cause a response: not if the other end does not seem to count (§3.2.2.1, note 1 of table
    /// 4).
    heeded: bool,
    /// Receiver: whether to echo a mark (RFC 3168: until the sender confirms that it has slowed down; RFC 8257: that of
    /// the newest data, "DCTCP.CE").
    echo: bool,
    /// Receiver: number of marked packets so far, `r.cep`.
    received: u64,
    /// Receiver: number of marked packets since the last acknowledgement.
    unreported: u64,
    /// Receiver: whether the newest packet was marked.
    marked: bool,
    /// Sender: number of marked packets that the receiver has reported, `s.cep`.
    reported: u64,
    /// The receiver's octet counters.
    received_octets: Received,
    /// The sender's octet counters.
    reported_octets: Reported,
    /// The flags in the response to a SYN that report how the SYN arrived, if both ends count.
    of_syn: Flags,
    /// The flags in the next segment that report how that response arrived, instead of the counter, if the segment is a
    /// plain acknowledgement.
    of_answer: Option<Flags>,
    /// Whether the next arriving segment is the last of the handshake.
    opening: bool,
    /// Sender: whether to report with the next new data that the window was reduced.
    reduced: bool,
    /// Sender: marks of data up to this position belong to a reduction that has been made.
    cut_until: u64,
}

/// The congestion marks that an acknowledgement reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Echo {
    /// No marks.
    None,
    /// All newly acknowledged data was marked.
    All,
    /// A count, if both ends count (RFC 9768, §3.2).
    Count {
        /// Number of packets marked so far, modulo 8 (the field ACE).
        packets: u8,
        /// The option with octet counters.
        octets: Option<OctetCounts>,
    },
}

impl EcnState {
    /// `option`: whether to send the option with octet counters, if both ends count.
    pub(super) fn new(mode: EcnMode, option: bool) -> Self {
        EcnState {
            mode,
            agreed: false,
            counts: false,
            capable: true,
            heeded: true,
            echo: false,
            received: FIRST_COUNT,
            unreported: 0,
            marked: false,
            reported: FIRST_COUNT,
            received_octets: Received::new(option),
            reported_octets: Reported::new(),
            of_syn: Flags::default(),
            of_answer: None,
            opening: false,
            reduced: false,
            cut_until: 0,
        }
    }

    /// The flags of a SYN after this number of transmissions. It asks twice, and then no more: that may be the reason for its loss
    /// (RFC 3168, §6.1.1.1; RFC 9768, §3.1.4.1). It asks for congestion indication each time: without it the control
    /// treats all losses as random, which is worst at a queue that is full enough to lose two SYNs.
    pub(super) fn syn_flags(&self, transmissions: u32) -> Flags {
        match self.mode {
            EcnMode::Indication => Flags::ECE | Flags::CWR,
            _ if transmissions >= 2 => Flags::default(),
            EcnMode::Off => Flags::default(),
            EcnMode::L4s => Flags::AE | Flags::ECE | Flags::CWR,
            EcnMode::Classic | EcnMode::Accurate => Flags::ECE | Flags::CWR,
        }
    }

    /// What the answer to a SYN says that was sent so often before. Sent again it has no option, and then no flags
    /// either, which may be the reason for its loss; data is not capable then (RFC 9768, §3.2.3.2.2 and §3.1.5).
    pub(super) fn syn_ack_flags(&mut self, transmissions: u32) -> Flags {
        match (self.agreed, self.counts) {
            (false, _) => Flags::default(),
            (true, false) => Flags::ECE,
            (true, true) => {
                if transmissions > 0 {
                    self.received_octets.give_up();
                }
                if transmissions > 1 {
                    self.capable = false;
                    return Flags::default();
                }
                self.of_syn
            }
        }
    }

    /// Handles a SYN without ACK. See table 2 of RFC 9768; combinations of flags that are not listed there request
    /// counting (§3.1.3). An end that would not request counting itself counts on request.
    pub(super) fn on_syn(&mut self, syn: &Segment) {
        if !matches!(self.mode, EcnMode::Classic | EcnMode::L4s) {
            let asked = syn.flags.contains(Flags::ECE | Flags::CWR);
            self.agreed = self.mode != EcnMode::Off && asked;
            return;
        }
        match ace(syn.flags) {
            0b000 => self.agreed = false,
            0b011 => self.fall_back(),
            _ => {
                self.agreed = true;
                self.counts = true;
                self.of_syn = as_arrived(syn.ecn);
                self.opening = true;
            }
        }
    }

    /// Handles a repeated SYN of the other end. One that no longer requests ECN may come from an end that does not
    /// count. Returns whether it requests another kind of feedback than before, so that the ends disagree: the
    /// connection must be reset (RFC 9768, §3.1.5).
    pub(super) fn on_syn_again(&mut self, syn: &Segment) -> bool {
        let asked = ace(syn.flags);
        if self.counts {
            self.of_syn = as_arrived(syn.ecn);
            self.capable &= asked != 0b000;
            return asked == 0b011;
        }
        self.mode == EcnMode::Classic && self.agreed && !matches!(asked, 0b000 | 0b011)
    }

    /// Handles the response to our SYN. See table 2 of RFC 9768; its reserved combination means counting (§3.1.3).
    pub(super) fn on_syn_ack(&mut self, answer: &Segment) {
        if self.mode != EcnMode::L4s {
            let flags = answer.flags;
            let granted = flags.contains(Flags::ECE) && !flags.contains(Flags::CWR);
            self.agreed = self.mode != EcnMode::Off && granted;
            return;
        }
        match ace(answer.flags) {
            // No ECN, or an end that returns flags that it does not understand.
            0b000 | 0b111 => self.agreed = false,
            0b001 => self.fall_back(),
            _ => {
                self.agreed = true;
                self.counts = true;
                self.reported_octets
                    .on_handshake(answer.octet_counts.as_ref());
                self.of_answer = Some(as_arrived(answer.ecn));
                // The last segment of the handshake may be lost; the counter contains the same information.
                self.received += u64::from(answer.ecn == Ecn::Experienced);
            }
        }
    }

    /// Handles a repeated response to our SYN, which is acknowledged again (RFC 9768, §3.2.2.1).
    pub(super) fn on_syn_ack_again(&mut self, answer: &Segment) {
        if self.counts && !matches!(ace(answer.flags), 0b000 | 0b001 | 0b111) {
            self.of_answer = Some(as_arrived(answer.ecn));
        }
    }

    /// Falls back because the other end does not count.
    fn fall_back(&mut self) {
        self.agreed = true;
        self.mode = EcnMode::Classic;
    }

    /// The IPv4 field of data. Retransmissions are not capable (RFC 3168, §6.1.5), unless marks are only indications,
    /// or are counted (RFC 8311, §4.3).
    pub(super) fn data_field(&self, again: bool) -> Ecn {
        match self.agreed {
            true if self.counts => match self.mode {
                _ if !self.capable => Ecn::NotCapable,
                EcnMode::L4s => Ecn::Ect1,
                _ => Ecn::Ect0,
            },
            true if !again || self.mode == EcnMode::Indication => Ecn::Ect0,
            _ => Ecn::NotCapable,
        }
    }

    /// The flags of an acknowledgement. `bare` means that it has neither data nor SACK blocks.
    pub(super) fn echo_flags(&mut self, bare: bool) -> Flags {
        if self.counts {
            self.unreported = 0;
            let of_answer = self.of_answer.take().filter(|_| bare);
            return of_answer.unwrap_or(of_ace(self.received));
        }
        match self.agreed && self.echo {
            true => Flags::ECE,
            false => Flags::default(),
        }
    }

    /// Whether an acknowledgement has octet counters to report.
    pub(super) fn has_octets(&self) -> bool {
        self.counts && self.received_octets.is_due()
    }

    /// The option with octet counters, for a segment with room for `room` octets. The first data of the end that opened
    /// the connection always has it (RFC 9768, §3.2.3.2.1).
    pub(super) fn octets(&mut self, room: u32, first_data: bool) -> Option<OctetCounts> {
        let wanted = self.has_octets() || (self.counts && first_data);
        wanted.then(|| self.received_octets.option(first_data, room))?
    }

    /// The flag of new data after a reduction.
    pub(super) fn take_reduced(&mut self) -> Flags {
        match std::mem::take(&mut self.reduced) {
            true => Flags::CWR,
            false => Flags::default(),
        }
    }

    /// Whether data that has just arrived changes the echo, so that earlier data must be acknowledged first (RFC 8257,
    /// §3.2). A counter reports the same later.
    pub(super) fn changes_echo(&self, data: &Segment) -> bool {
        let accurate = matches!(self.mode, EcnMode::Accurate | EcnMode::Indication);
        self.agreed && accurate && self.echo != (data.ecn == Ecn::Experienced)
    }

    /// Handles arriving data.
    pub(super) fn on_data(&mut self, data: &Segment) {
        let marked = data.ecn == Ecn::Experienced;
        match self.mode {
            EcnMode::Off => {}
            EcnMode::Classic => {
                let slowed = data.flags.contains(Flags::CWR);
                self.echo = marked || (self.echo && !slowed);
            }
            EcnMode::Accurate | EcnMode::Indication => self.echo = marked,
            // Counted for all segments.
            EcnMode::L4s => {}
        }
    }

    /// Handles an acceptable segment, with or without data. Returns whether it must be acknowledged at once: for a
    /// first mark, or the second since the last acknowledgement (RFC 9768, §3.2.2.5.1).
    pub(super) fn on_segment(&mut self, segment: &Segment) -> bool {
        if !self.counts {
            return false;
        }
        let marked = segment.ecn == Ecn::Experienced;
        let changes = marked && !self.marked;
        self.marked = marked;
        self.received += u64::from(marked);
        self.unreported += u64::from(marked);
        self.received_octets
            .on_segment(segment.ecn, segment.payload);
        segment.payload > 0 && (changes || self.unreported >= MOST_UNREPORTED)
    }

    /// Handles duplicate data.
    pub(super) fn on_copy(&mut self) {
        self.received_octets.on_copy();
    }

    /// The marks that an acknowledgement reports.
    pub(super) fn echo(&mut self, ack: &Segment) -> Echo {
        if !self.agreed || ack.flags.contains(Flags::SYN) {
            return Echo::None;
        }
        if !self.counts {
            return match ack.flags.contains(Flags::ECE) {
                true => Echo::All,
                false => Echo::None,
            };
        }
        let packets = ace(ack.flags);
        if std::mem::take(&mut self.opening) {
            self.reported_octets.on_handshake(ack.octet_counts.as_ref());
            // Table 4 (§3.2.2.1). With data it is a counter, which does not begin at 0 (§3.2.2.4).
            if packets == 0 {
                self.capable = false;
                self.heeded = false;
            }
            let bare = ack.payload == 0 && ack.sack.is_empty();
            if bare {
                self.reported += u64::from(packets == 0b110);
                return Echo::None;
            }
        }
        match self.heeded {
            true => Echo::Count {
                packets,
                octets: ack.octet_counts,
            },
            false => Echo::None,
        }
    }

    /// How many of `delivered` newly arrived segments were marked. Full ones have `segment_octets` octets of payload.
    pub(super) fn newly_marked(&mut self, echo: Echo, delivered: u64, segment_octets: u64) -> u64 {
        let (packets, octets) = match echo {
            Echo::None => return 0,
            Echo::All => return delivered,
            // A reordered acknowledgement reports nothing new.
            Echo::Count { .. } if delivered == 0 => return 0,
            Echo::Count { packets, octets } => (u64::from(packets), octets),
        };
        let least = packets.wrapping_sub(self.reported) % COUNTS;
        let told = self.reported_octets.read(octets.as_ref(), delivered);
        let more = match told {
            Some(marked) => {
                let full = marked.octets.div_ceil(segment_octets);
                least_that_holds(least, full.saturating_sub(marked.counted))
            }
            None => safest(least, delivered),
        };
        if octets.and_then(|octets| octets.ce()).is_none() {
            self.reported_octets.on_marked(more);
        }
        // Octets arrived marked in no packet, and the packet counter cannot have wrapped around.
        self.capable &= !told.is_some_and(|marked| {
            marked.octets > 0 && marked.counted + least == 0 && marked.delivered < COUNTS
        });
        self.reported += more;
        more.min(delivered)
    }

    /// Whether an echo on an acknowledgement up to `acked` requires a reduction: once per window.
    pub(super) fn calls_for_cut(&self, acked: u64) -> bool {
        self.mode != EcnMode::Indication && acked > self.cut_until
    }

    /// Records that the window was reduced, for any reason. `next` is the next position to send.
    pub(super) fn on_cut(&mut self, next: u64) {
        self.cut_until = next;
        self.reduced = self.agreed && !self.counts && self.mode != EcnMode::Indication;
    }
}

/// Of the counts that the field ACE allows, `least` plus 0, 8, 16, …, the largest possible for `delivered` segments,
/// because it may have wrapped around (RFC 9768, §3.2.2.5.2 and A.2.1).
fn safest(least: u64, delivered: u64) -> u64 {
    match delivered >= COUNTS {
        true => delivered - (delivered - least) % COUNTS,
        false => least,
    }
}

/// Of the same counts, the smallest that is at least `packets`.
fn least_that_holds(least: u64, packets: u64) -> u64 {
    least + packets.saturating_sub(least).next_multiple_of(COUNTS)
}

/// The flags that report how a SYN or its response arrived (RFC 9768, §3.1.2, table 2).
fn as_arrived(field: Ecn) -> Flags {
    match field {
        Ecn::NotCapable => Flags::CWR,
        Ecn::Ect1 => Flags::CWR | Flags::ECE,
        Ecn::Ect0 => Flags::AE,
        Ecn::Experienced => Flags::AE | Flags::CWR,
    }
}

/// The field ACE: the bits AE, CWR and ECE.
fn ace(flags: Flags) -> u8 {
    (flags.0 >> 6 & 7) as u8
}

/// A count in the field ACE.
fn of_ace(count: u64) -> Flags {
    Flags(((count % COUNTS) as u16) << 6)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tcp::First;

    fn pair(mode: EcnMode) -> (EcnState, EcnState) {
        let (mut sender, mut receiver) = (EcnState::new(mode, false), EcnState::new(mode, false));
        receiver.on_syn(&segment(Ecn::NotCapable, sender.syn_flags(0)));
        sender.on_syn_ack(&segment(Ecn::NotCapable, receiver.syn_ack_flags(0)));
        (sender, receiver)
    }

    fn segment(ecn: Ecn, flags: Flags) -> Segment {
        Segment {
            ecn,
            flags,
            ..Segment::default()
        }
    }

    fn data(ecn: Ecn, flags: Flags) -> Segment {
        Segment {
            ecn,
            flags,
            payload: 1,
            ..Segment::default()
        }
    }

    fn packets(packets: u8) -> Echo {
        Echo::Count {
            packets,
            octets: None,
        }
    }

    #[test]
    fn a_mark_is_echoed_until_the_sender_slowed_down() {
        let (mut sender, mut receiver) = pair(EcnMode::Classic);
        assert_eq!(sender.data_field(false), Ecn::Ect0);
        receiver.on_data(&data(Ecn::Experienced, Flags::ACK));
        receiver.on_data(&data(Ecn::Ect0, Flags::ACK));
        assert_eq!(receiver.echo_flags(true), Flags::ECE);
        assert!(sender.calls_for_cut(5));
        sender.on_cut(20);
        assert!(!sender.calls_for_cut(20) && sender.calls_for_cut(21));
        receiver.on_data(&data(Ecn::Ect0, sender.take_reduced() | Flags::ACK));
        assert_eq!(receiver.echo_flags(true), Flags::default());
        assert_eq!(sender.take_reduced(), Flags::default());
    }

    #[test]
    fn accurate_feedback_follows_every_change() {
        let (_, mut receiver) = pair(EcnMode::Accurate);
        let marked = data(Ecn::Experienced, Flags::ACK);
        assert!(receiver.changes_echo(&marked));
        receiver.on_data(&marked);
        assert!(!receiver.changes_echo(&marked));
        assert!(receiver.changes_echo(&data(Ecn::Ect0, Flags::ACK)));
    }

    #[test]
    fn marks_are_counted_modulo_8() {
        let (mut sender, mut receiver) = pair(EcnMode::L4s);
        assert_eq!(sender.data_field(true), Ecn::Ect1);
        // The SYN and its response were not capable: 0b010 (RFC 9768, table 2). Then counts begin at 5.
        let last = sender.echo_flags(true);
        assert_eq!(
            (last, sender.echo_flags(true)),
            (Flags::CWR, Flags::AE | Flags::ECE)
        );
        assert_eq!(receiver.echo(&segment(Ecn::NotCapable, last)), Echo::None);
        let mut marks = [0, 1, 0, 2, 7].map(|marked| {
            for _ in 0..marked {
                receiver.on_segment(&data(Ecn::Experienced, Flags::ACK));
            }
            let echo = sender.echo(&segment(Ecn::NotCapable, receiver.echo_flags(true)));
            sender.newly_marked(echo, 7, 1448)
        });
        assert_eq!(marks, [0, 1, 0, 2, 7]);
        // 20 segments arrive, 10 of them marked: a count of 2 more means 18 at most.
        for _ in 0..10 {
            receiver.on_segment(&data(Ecn::Experienced, Flags::ACK));
        }
        let echo = sender.echo(&segment(Ecn::NotCapable, receiver.echo_flags(true)));
        marks[0] = sender.newly_marked(echo, 20, 1448);
        assert_eq!(marks[0], 18);
        sender.on_cut(9);
        assert_eq!(sender.take_reduced(), Flags::default());
    }

    #[test]
    fn an_end_that_does_not_count_is_classic() {
        let pairs = [
            (EcnMode::L4s, EcnMode::Accurate),
            (EcnMode::Accurate, EcnMode::L4s),
            (EcnMode::Classic, EcnMode::L4s),
        ];
        for (first, second) in pairs {
            let (mut sender, mut receiver) =
                (EcnState::new(first, false), EcnState::new(second, false));
            receiver.on_syn(&segment(Ecn::NotCapable, sender.syn_flags(0)));
            assert_eq!(receiver.syn_ack_flags(0), Flags::ECE);
            sender.on_syn_ack(&segment(Ecn::NotCapable, receiver.syn_ack_flags(0)));
            assert_eq!(sender.data_field(false), Ecn::Ect0);
            receiver.on_data(&data(Ecn::Experienced, Flags::ACK));
            let echo = sender.echo(&segment(Ecn::NotCapable, receiver.echo_flags(true)));
            assert_eq!(sender.newly_marked(echo, 2, 1448), 2);
        }
    }

    #[test]
    fn an_end_that_would_not_ask_counts_if_it_is_asked() {
        let (mut client, mut server) = (
            EcnState::new(EcnMode::L4s, false),
            EcnState::new(EcnMode::Classic, false),
        );
        server.on_syn(&segment(Ecn::NotCapable, client.syn_flags(0)));
        client.on_syn_ack(&segment(Ecn::NotCapable, server.syn_ack_flags(0)));
        let last = segment(Ecn::NotCapable, client.echo_flags(true));
        assert_eq!(server.echo(&last), Echo::None);
        assert_eq!(
            (client.data_field(false), server.data_field(false)),
            (Ecn::Ect1, Ecn::Ect0)
        );
        server.on_segment(&data(Ecn::Experienced, Flags::ACK));
        let echo = client.echo(&segment(Ecn::NotCapable, server.echo_flags(true)));
        assert_eq!(client.newly_marked(echo, 2, 1448), 1);
    }

    #[test]
    fn answers_mean_what_the_table_says() {
        let fields = [0b000, 0b001, 0b010, 0b011, 0b100, 0b101, 0b110, 0b111].map(|flags| {
            let mut client = EcnState::new(EcnMode::L4s, false);
            client.on_syn_ack(&segment(Ecn::NotCapable, Flags(flags << 6)));
            client.data_field(false)
        });
        let (off, classic, counted) = (Ecn::NotCapable, Ecn::Ect0, Ecn::Ect1);
        let expected = [
            off, classic, counted, counted, counted, counted, counted, off,
        ];
        assert_eq!(fields, expected);
    }

    /// The same for a SYN, and the report of how it arrived in the response.
    #[test]
    fn syns_ask_for_what_the_table_says() {
        let answers = |flags: u16, arrived: Ecn| {
            let mut server = EcnState::new(EcnMode::L4s, false);
            server.on_syn(&segment(arrived, Flags(flags << 6)));
            ace(server.syn_ack_flags(0))
        };
        assert_eq!(answers(0b000, Ecn::NotCapable), 0b000);
        assert_eq!(answers(0b011, Ecn::NotCapable), 0b001);
        for flags in [0b001, 0b010, 0b100, 0b101, 0b110, 0b111] {
            let fields = [Ecn::NotCapable, Ecn::Ect1, Ecn::Ect0, Ecn::Experienced];
            assert_eq!(
                fields.map(|field| answers(flags, field)),
                [0b010, 0b011, 0b100, 0b110]
            );
        }
    }

    /// Table 4: the last segment of the handshake.
    #[test]
    fn the_last_segment_of_the_handshake_says_how_the_answer_arrived() {
        let server = |flags: u16| {
            let (_, mut server) = pair(EcnMode::L4s);
            assert_eq!(
                server.echo(&segment(Ecn::NotCapable, Flags(flags << 6))),
                Echo::None
            );
            server
        };
        for flags in 1..8 {
            let mut server = server(flags);
            // A count of 6 is one mark more than initially, except for a response that arrived marked.
            let marked = server.newly_marked(packets(6), 7, 1448);
            assert_eq!(marked, u64::from(flags != 0b110));
            assert_eq!(server.data_field(false), Ecn::Ect1);
        }
        let mut unsafe_one = server(0);
        assert_eq!(unsafe_one.data_field(false), Ecn::NotCapable);
        assert_eq!(
            unsafe_one.echo(&segment(Ecn::NotCapable, Flags(6 << 6))),
            Echo::None
        );
        // With data, it is a counter.
        let (mut client, mut server) = pair(EcnMode::L4s);
        let first = client.echo_flags(false);
        assert_eq!(server.echo(&data(Ecn::Ect1, first)), packets(5));
        assert_eq!(client.echo_flags(true), first);
    }

    #[test]
    fn an_answer_that_arrives_marked_counts_and_is_reported_again() {
        let mut client = EcnState::new(EcnMode::L4s, false);
        let answer = segment(Ecn::Experienced, Flags::CWR);
        client.on_syn_ack(&answer);
        let reports = [client.echo_flags(true), client.echo_flags(true)].map(ace);
        assert_eq!(reports, [0b110, 6]);
        client.on_syn_ack_again(&answer);
        assert_eq!(ace(client.echo_flags(true)), 0b110);
    }

    #[test]
    fn a_syn_asks_twice_and_for_congestion_indication_each_time() {
        let asks = |mode| [0, 1, 2].map(|sent| ace(EcnState::new(mode, false).syn_flags(sent)));
        assert_eq!(asks(EcnMode::L4s), [0b111, 0b111, 0]);
        for mode in [EcnMode::Classic, EcnMode::Accurate] {
            assert_eq!(asks(mode), [0b011, 0b011, 0]);
        }
        assert_eq!(asks(EcnMode::Indication), [0b011; 3]);
        assert_eq!(asks(EcnMode::Off), [0; 3]);
    }

    /// A SYN that no longer requests ECN, and a response without flags: marks still cause a response (§3.1.5).
    #[test]
    fn a_server_that_may_be_alone_in_counting_sends_nothing_capable_and_responds() {
        let (_, mut asked_no_more) = pair(EcnMode::L4s);
        let plain = segment(Ecn::NotCapable, Flags::default());
        assert!(!asked_no_more.on_syn_again(&plain));
        let (_, mut answered_plainly) = pair(EcnMode::L4s);
        assert_eq!(answered_plainly.syn_ack_flags(2), Flags::default());
        for mut server in [asked_no_more, answered_plainly] {
            assert_eq!(server.data_field(false), Ecn::NotCapable);
            let last = segment(Ecn::NotCapable, Flags::CWR);
            assert_eq!(server.echo(&last), Echo::None);
            let echo = server.echo(&segment(Ecn::NotCapable, of_ace(6)));
            assert_eq!(server.newly_marked(echo, 2, 1448), 1);
        }
    }

    /// An end that considers the connection as one without ECN sends zeros, with and without data (§3.2.2.1 and
    /// §3.2.2.4).
    #[test]
    fn a_server_that_is_alone_in_counting_responds_to_nothing() {
        for first in [
            segment(Ecn::NotCapable, Flags::ACK),
            data(Ecn::NotCapable, Flags::ACK),
        ] {
            let (_, mut server) = pair(EcnMode::L4s);
            assert_eq!(server.echo(&first), Echo::None);
            assert_eq!(server.data_field(false), Ecn::NotCapable);
            let later = segment(Ecn::NotCapable, of_ace(6));
            assert_eq!(server.echo(&later), Echo::None);
        }
    }

    #[test]
    fn a_syn_that_asks_for_another_kind_of_feedback_contradicts_the_first() {
        let contradicts = |first: u16, again: u16| {
            let mut server = EcnState::new(EcnMode::L4s, false);
            server.on_syn(&segment(Ecn::NotCapable, Flags(first << 6)));
            server.on_syn_again(&segment(Ecn::NotCapable, Flags(again << 6)))
        };
        assert!(contradicts(0b111, 0b011) && contradicts(0b011, 0b111));
        for (first, again) in [
            (0b111, 0b111),
            (0b111, 0b000),
            (0b011, 0b011),
            (0b011, 0b000),
            (0b000, 0b111),
            (0b000, 0b011),
        ] {
            assert!(!contradicts(first, again), "{first:b} {again:b}");
        }
    }

    #[test]
    fn a_first_mark_and_every_second_are_acknowledged_at_once() {
        let (_, mut receiver) = pair(EcnMode::L4s);
        let (plain, marked) = (
            data(Ecn::Ect1, Flags::ACK),
            data(Ecn::Experienced, Flags::ACK),
        );
        let at_once = [&plain, &marked, &marked, &marked].map(|one| receiver.on_segment(one));
        assert_eq!(at_once, [false, true, true, true]);
        receiver.echo_flags(true);
        let at_once = [&marked, &marked, &plain, &marked].map(|one| receiver.on_segment(one));
        assert_eq!(at_once, [false, true, true, true]);
        receiver.echo_flags(true);
        let at_once = [&plain, &marked].map(|one| receiver.on_segment(one));
        assert_eq!(at_once, [false, true]);
        receiver.echo_flags(true);
        assert!(
            !receiver.on_segment(&segment(Ecn::Experienced, Flags::ACK)),
            "no data"
        );
    }

    #[test]
    fn an_end_without_it_gets_none() {
        let mut sender = EcnState::new(EcnMode::Classic, false);
        let mut receiver = EcnState::new(EcnMode::Off, false);
        receiver.on_syn(&segment(Ecn::NotCapable, sender.syn_flags(0)));
        sender.on_syn_ack(&segment(Ecn::NotCapable, receiver.syn_ack_flags(0)));
        assert_eq!(sender.data_field(false), Ecn::NotCapable);
    }

    /// The handshake of two ends that send the option.
    fn pair_with_octets() -> (EcnState, EcnState) {
        let (mut client, mut server) = (
            EcnState::new(EcnMode::L4s, true),
            EcnState::new(EcnMode::L4s, true),
        );
        server.on_syn(&segment(Ecn::NotCapable, client.syn_flags(0)));
        client.on_syn_ack(&Segment {
            octet_counts: server.octets(12, false),
            ..segment(Ecn::NotCapable, server.syn_ack_flags(0))
        });
        let last = Segment {
            octet_counts: client.octets(12, false),
            ..segment(Ecn::NotCapable, client.echo_flags(true))
        };
        assert_eq!(server.echo(&last), Echo::None);
        (client, server)
    }

    /// The number that the sender considers marked when it learns about `arrived` segments of 1448 octets, `marked` of
    /// them marked.
    fn learns(sender: &mut EcnState, receiver: &mut EcnState, arrived: u64, marked: u64) -> u64 {
        for at in 0..arrived {
            let field = if at < marked {
                Ecn::Experienced
            } else {
                Ecn::Ect1
            };
            let one = Segment {
                payload: 1448,
                ..segment(field, Flags::ACK)
            };
            receiver.on_segment(&one);
        }
        let ack = Segment {
            octet_counts: receiver.octets(12, false),
            ..segment(Ecn::NotCapable, receiver.echo_flags(true))
        };
        let echo = sender.echo(&ack);
        sender.newly_marked(echo, arrived, 1448)
    }

    #[test]
    fn octets_tell_how_often_the_counter_of_packets_wrapped() {
        let (mut sender, mut receiver) = pair_with_octets();
        let cases = [(20, 10), (20, 2), (40, 33), (8, 0), (64, 64), (9, 1)];
        for (arrived, marked) in cases {
            assert_eq!(learns(&mut sender, &mut receiver, arrived, marked), marked);
        }
        // Without the option, the maximum that the counter allows is used: 20 - (20 - 2) % 8 = 18.
        receiver.received_octets.give_up();
        assert_eq!(learns(&mut sender, &mut receiver, 20, 10), 18);
        assert_eq!(sender.data_field(false), Ecn::Ect1);
    }

    /// The examples of A.2.2, with an MSS of 1460: d.cep, dSafer.cep and d.ceb, and which of the counts is safe.
    #[test]
    fn the_least_count_that_holds_the_octets_is_that_of_the_examples() {
        for (least, most, octets, expected) in
            [(0, 8, 1460, 8), (2, 10, 1460, 2), (7, 15, 10_200, 7)]
        {
            assert_eq!(safest(least, most), most);
            let full = u64::div_ceil(octets, 1460);
            assert_eq!(least_that_holds(least, full), expected);
        }
        // Those of A.2.1: 9 segments, or 10, and a count of 2.
        assert_eq!([safest(2, 9), safest(2, 10)], [2, 10]);
    }

    #[test]
    fn octets_that_came_marked_in_no_packet_end_the_use_of_ecn() {
        let (mut sender, mut receiver) = pair_with_octets();
        let changed = |ce| Echo::Count {
            packets: 5,
            octets: Some(OctetCounts::new(First::Ect1, [1449, ce])),
        };
        assert_eq!(sender.newly_marked(changed(0), 1, 1448), 0);
        assert_eq!(sender.data_field(false), Ecn::Ect1);
        sender.newly_marked(changed(1448), 1, 1448);
        assert_eq!(sender.data_field(false), Ecn::NotCapable);
        // Marks still cause a response.
        assert_eq!(learns(&mut sender, &mut receiver, 3, 1), 1);
    }

    #[test]
    fn an_answer_sent_again_has_neither_the_option_nor_then_flags() {
        let mut server = EcnState::new(EcnMode::L4s, true);
        server.on_syn(&segment(
            Ecn::NotCapable,
            Flags::AE | Flags::ECE | Flags::CWR,
        ));
        assert_eq!(server.syn_ack_flags(0), Flags::CWR);
        assert!(server.octets(12, false).is_some());
        server.on_segment(&data(Ecn::Ect1, Flags::ACK));
        assert_eq!(server.syn_ack_flags(1), Flags::CWR);
        assert_eq!(
            (server.octets(12, false), server.has_octets()),
            (None, false)
        );
        assert_eq!(server.data_field(false), Ecn::Ect1);
        assert_eq!(server.syn_ack_flags(2), Flags::default());
        assert_eq!(server.data_field(false), Ecn::NotCapable);
    }
}
