//! Explicit congestion notification, both ends (RFC 3168, RFC 8257, RFC 9768).

use crate::tcp::segment::{Ecn, Flags, Segment};

use super::config::EcnMode;

/// What RFC 9768 (§3.2.1) counts from, so that a field that was cleared on the way shows.
const FIRST_COUNT: u64 = 5;
/// The counter is sent modulo this.
const COUNTS: u64 = 8;

/// A connection's ECN.
#[derive(Clone, Copy, Debug)]
pub(super) struct EcnState {
    mode: EcnMode,
    /// Both ends agreed.
    agreed: bool,
    /// Both ends count marks (RFC 9768).
    counts: bool,
    /// The receiver's: echo a mark (RFC 3168: until the sender says that it slowed down; RFC 8257:
    /// of the newest data, "DCTCP.CE").
    echo: bool,
    /// The receiver's: marked packets so far, `r.cep`.
    received: u64,
    /// The sender's: marked packets that the receiver has reported, `s.cep`.
    reported: u64,
    /// What the answer to a SYN says of the SYN, where both ends count.
    of_syn: Flags,
    /// What the last segment of the handshake says of that answer, instead of the counter.
    of_answer: Option<Flags>,
    /// The next acknowledgement is the last of the handshake.
    opening: bool,
    /// The sender's: tell that the window was cut with the next new data.
    reduced: bool,
    /// The sender's: marks of data up to this position belong to a cut that was made.
    cut_until: u64,
}

/// What an acknowledgement says of congestion marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Echo {
    /// Nothing.
    None,
    /// What it newly acknowledges was marked.
    All,
    /// How many packets were marked so far, modulo 8 (the field ACE, RFC 9768, §3.2.2).
    Count(u8),
}

impl EcnState {
    pub(super) fn new(mode: EcnMode) -> Self {
        EcnState {
            mode,
            agreed: false,
            counts: false,
            echo: false,
            received: FIRST_COUNT,
            reported: FIRST_COUNT,
            of_syn: Flags::default(),
            of_answer: None,
            opening: false,
            reduced: false,
            cut_until: 0,
        }
    }

    /// What a first SYN says; sent again it says nothing, lest ECN be the reason for its loss (RFC
    /// 3168, §6.1.1.1; RFC 9768, §3.1.4).
    pub(super) fn syn_flags(&self, transmissions: u32) -> Flags {
        match self.mode {
            _ if transmissions >= 2 => Flags::default(),
            EcnMode::Off => Flags::default(),
            EcnMode::L4s => Flags::AE | Flags::ECE | Flags::CWR,
            _ => Flags::ECE | Flags::CWR,
        }
    }

    /// What the answer to a SYN says.
    pub(super) fn syn_ack_flags(&self) -> Flags {
        match (self.agreed, self.counts) {
            (false, _) => Flags::default(),
            (true, true) => self.of_syn,
            (true, false) => Flags::ECE,
        }
    }

    /// A SYN without ACK came.
    pub(super) fn on_syn(&mut self, syn: &Segment) {
        let asked = syn.flags.contains(Flags::ECE | Flags::CWR);
        self.agreed = self.mode != EcnMode::Off && asked;
        if self.mode != EcnMode::L4s {
            return;
        }
        match self.agreed && syn.flags.contains(Flags::AE) {
            true => {
                self.counts = true;
                self.of_syn = as_arrived(syn.ecn);
                self.opening = true;
            }
            false => self.mode = EcnMode::Classic,
        }
    }

    /// The answer to our SYN came.
    pub(super) fn on_syn_ack(&mut self, answer: &Segment) {
        let flags = answer.flags;
        let granted = flags.contains(Flags::ECE) && !flags.contains(Flags::CWR);
        if self.mode != EcnMode::L4s {
            self.agreed = self.mode != EcnMode::Off && granted;
            return;
        }
        // RFC 9768, §3.1.2, table 2: 0b001 is RFC 3168's answer; 0b000, 0b101 and 0b111 are none.
        match ace(flags) {
            0b010 | 0b011 | 0b100 | 0b110 => {
                self.agreed = true;
                self.counts = true;
                self.of_answer = Some(as_arrived(answer.ecn));
            }
            0b001 => {
                self.agreed = true;
                self.mode = EcnMode::Classic;
            }
            _ => self.agreed = false,
        }
    }

    /// The IPv4 field of data. What is sent again is not capable (RFC 3168, §6.1.5), unless marks are
    /// no more than indications, or counted (RFC 8311, §4.3).
    pub(super) fn data_field(&self, again: bool) -> Ecn {
        match self.agreed {
            true if self.counts => Ecn::Ect1,
            true if !again || self.mode == EcnMode::Indication => Ecn::Ect0,
            _ => Ecn::NotCapable,
        }
    }

    /// The flags of what acknowledges.
    pub(super) fn echo_flags(&mut self) -> Flags {
        if self.counts {
            return self.of_answer.take().unwrap_or(of_ace(self.received));
        }
        match self.agreed && self.echo {
            true => Flags::ECE,
            false => Flags::default(),
        }
    }

    /// The flag of new data after a cut.
    pub(super) fn take_reduced(&mut self) -> Flags {
        match std::mem::take(&mut self.reduced) {
            true => Flags::CWR,
            false => Flags::default(),
        }
    }

    /// Whether data that just came changes what is echoed, so that what came before has to be
    /// acknowledged first (RFC 8257, §3.2). A counter tells as much later.
    pub(super) fn changes_echo(&self, data: &Segment) -> bool {
        let accurate = matches!(self.mode, EcnMode::Accurate | EcnMode::Indication);
        self.agreed && accurate && self.echo != (data.ecn == Ecn::Experienced)
    }

    /// Data came.
    pub(super) fn on_data(&mut self, data: &Segment) {
        let marked = data.ecn == Ecn::Experienced;
        match self.mode {
            EcnMode::Off => {}
            EcnMode::Classic => {
                let slowed = data.flags.contains(Flags::CWR);
                self.echo = marked || (self.echo && !slowed);
            }
            EcnMode::Accurate | EcnMode::Indication => self.echo = marked,
            EcnMode::L4s => self.received += u64::from(marked),
        }
    }

    /// What an acknowledgement says of marks.
    pub(super) fn echo(&mut self, ack: &Segment) -> Echo {
        if !self.agreed || ack.flags.contains(Flags::SYN) {
            return Echo::None;
        }
        if self.counts {
            // The last segment of the handshake says how our answer arrived.
            let handshake =
                std::mem::take(&mut self.opening) && ace(ack.flags) != FIRST_COUNT as u8;
            return match handshake {
                true => Echo::None,
                false => Echo::Count(ace(ack.flags)),
            };
        }
        match ack.flags.contains(Flags::ECE) {
            true => Echo::All,
            false => Echo::None,
        }
    }

    /// How many of `delivered` segments that newly arrived were marked. Where the counter may have wrapped, the
    /// most that it allows (RFC 9768, §3.2.2.5.2 and A.2.1).
    pub(super) fn newly_marked(&mut self, echo: Echo, delivered: u64) -> u64 {
        let count = match echo {
            Echo::None => return 0,
            Echo::All => return delivered,
            // An acknowledgement that was overtaken says nothing new.
            Echo::Count(_) if delivered == 0 => return 0,
            Echo::Count(count) => u64::from(count),
        };
        let least = count.wrapping_sub(self.reported) % COUNTS;
        let more = match delivered >= COUNTS {
            true => delivered - (delivered - least) % COUNTS,
            false => least,
        };
        self.reported += more;
        more.min(delivered)
    }

    /// Whether an echo on an acknowledgement up to `acked` calls for a cut: once a window.
    pub(super) fn calls_for_cut(&self, acked: u64) -> bool {
        self.mode != EcnMode::Indication && acked > self.cut_until
    }

    /// The window was cut, for whatever reason, with `next` the next to send.
    pub(super) fn on_cut(&mut self, next: u64) {
        self.cut_until = next;
        self.reduced = self.agreed && !self.counts && self.mode != EcnMode::Indication;
    }
}

/// How a SYN or its answer arrived (RFC 9768, §3.1.2, table 2).
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

    fn pair(mode: EcnMode) -> (EcnState, EcnState) {
        let (mut sender, mut receiver) = (EcnState::new(mode), EcnState::new(mode));
        receiver.on_syn(&segment(Ecn::NotCapable, sender.syn_flags(0)));
        sender.on_syn_ack(&segment(Ecn::NotCapable, receiver.syn_ack_flags()));
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

    #[test]
    fn a_mark_is_echoed_until_the_sender_slowed_down() {
        let (mut sender, mut receiver) = pair(EcnMode::Classic);
        assert_eq!(sender.data_field(false), Ecn::Ect0);
        receiver.on_data(&data(Ecn::Experienced, Flags::ACK));
        receiver.on_data(&data(Ecn::Ect0, Flags::ACK));
        assert_eq!(receiver.echo_flags(), Flags::ECE);
        assert!(sender.calls_for_cut(5));
        sender.on_cut(20);
        assert!(!sender.calls_for_cut(20) && sender.calls_for_cut(21));
        receiver.on_data(&data(Ecn::Ect0, sender.take_reduced() | Flags::ACK));
        assert_eq!(receiver.echo_flags(), Flags::default());
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
        // The SYN and its answer were not capable: 0b010 (RFC 9768, table 2). Then counts begin at 5.
        let last = sender.echo_flags();
        assert_eq!(
            (last, sender.echo_flags()),
            (Flags::CWR, Flags::AE | Flags::ECE)
        );
        assert_eq!(receiver.echo(&data(Ecn::Ect1, last)), Echo::None);
        let mut marks = [0, 1, 0, 2, 7].map(|marked| {
            for _ in 0..marked {
                receiver.on_data(&data(Ecn::Experienced, Flags::ACK));
            }
            let echo = sender.echo(&segment(Ecn::NotCapable, receiver.echo_flags()));
            sender.newly_marked(echo, 7)
        });
        assert_eq!(marks, [0, 1, 0, 2, 7]);
        // 20 segments arrive, 10 of them marked: a count of 2 more may mean 18 at most.
        for _ in 0..10 {
            receiver.on_data(&data(Ecn::Experienced, Flags::ACK));
        }
        let echo = sender.echo(&segment(Ecn::NotCapable, receiver.echo_flags()));
        marks[0] = sender.newly_marked(echo, 20);
        assert_eq!(marks[0], 18);
        sender.on_cut(9);
        assert_eq!(sender.take_reduced(), Flags::default());
    }

    #[test]
    fn an_end_that_does_not_count_is_classic() {
        for other in [EcnMode::Classic, EcnMode::Accurate] {
            for (first, second) in [(EcnMode::L4s, other), (other, EcnMode::L4s)] {
                let (mut sender, mut receiver) = (EcnState::new(first), EcnState::new(second));
                receiver.on_syn(&segment(Ecn::NotCapable, sender.syn_flags(0)));
                assert_eq!(receiver.syn_ack_flags(), Flags::ECE);
                sender.on_syn_ack(&segment(Ecn::NotCapable, receiver.syn_ack_flags()));
                assert_eq!(sender.data_field(false), Ecn::Ect0);
                receiver.on_data(&data(Ecn::Experienced, Flags::ACK));
                let echo = sender.echo(&segment(Ecn::NotCapable, receiver.echo_flags()));
                assert_eq!(sender.newly_marked(echo, 2), 2);
            }
        }
    }

    #[test]
    fn answers_that_mean_nothing_turn_it_off() {
        for flags in [0b000, 0b101, 0b111] {
            let mut sender = EcnState::new(EcnMode::L4s);
            sender.on_syn_ack(&segment(Ecn::NotCapable, Flags(flags << 6)));
            assert_eq!(sender.data_field(false), Ecn::NotCapable);
            assert_eq!(sender.echo_flags(), Flags::default());
        }
    }

    #[test]
    fn an_end_without_it_gets_none() {
        let mut sender = EcnState::new(EcnMode::Classic);
        let mut receiver = EcnState::new(EcnMode::Off);
        receiver.on_syn(&segment(Ecn::NotCapable, sender.syn_flags(0)));
        sender.on_syn_ack(&segment(Ecn::NotCapable, receiver.syn_ack_flags()));
        assert_eq!(sender.data_field(false), Ecn::NotCapable);
        assert_eq!(sender.syn_flags(2), Flags::default());
    }
}
