//! Explicit congestion notification, both ends (RFC 3168, RFC 8257).

use crate::tcp::segment::{Ecn, Flags, Segment};

use super::config::EcnMode;

/// A connection's ECN.
#[derive(Clone, Copy, Debug)]
pub(super) struct EcnState {
    mode: EcnMode,
    /// Both ends agreed.
    agreed: bool,
    /// The receiver's: echo a mark (RFC 3168: until the sender says that it slowed down; RFC 8257:
    /// of the newest data, "DCTCP.CE").
    echo: bool,
    /// The sender's: tell that the window was cut with the next new data.
    reduced: bool,
    /// The sender's: marks of data up to this position belong to a cut that was made.
    cut_until: u64,
}

impl EcnState {
    pub(super) fn new(mode: EcnMode) -> Self {
        EcnState {
            mode,
            agreed: false,
            echo: false,
            reduced: false,
            cut_until: 0,
        }
    }

    /// What a first SYN says; sent again it says nothing, lest ECN be the reason for its loss (RFC
    /// 3168, §6.1.1.1).
    pub(super) fn syn_flags(&self, transmissions: u32) -> Flags {
        match self.mode != EcnMode::Off && transmissions < 2 {
            true => Flags::ECE | Flags::CWR,
            false => Flags::default(),
        }
    }

    /// What the answer to a SYN says.
    pub(super) fn syn_ack_flags(&self) -> Flags {
        match self.agreed {
            true => Flags::ECE,
            false => Flags::default(),
        }
    }

    /// A SYN without ACK came.
    pub(super) fn on_syn(&mut self, flags: Flags) {
        let asked = flags.contains(Flags::ECE | Flags::CWR);
        self.agreed = self.mode != EcnMode::Off && asked;
    }

    /// The answer to our SYN came.
    pub(super) fn on_syn_ack(&mut self, flags: Flags) {
        let granted = flags.contains(Flags::ECE) && !flags.contains(Flags::CWR);
        self.agreed = self.mode != EcnMode::Off && granted;
    }

    /// The IPv4 field of data. What is sent again is not capable (RFC 3168, §6.1.5), unless marks are
    /// no more than indications.
    pub(super) fn data_field(&self, again: bool) -> Ecn {
        match self.agreed && (!again || self.mode == EcnMode::Indication) {
            true => Ecn::Ect0,
            false => Ecn::NotCapable,
        }
    }

    /// The flags of what acknowledges.
    pub(super) fn echo_flags(&self) -> Flags {
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
    /// acknowledged first (RFC 8257, §3.2).
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
        }
    }

    /// Whether an acknowledgement reports marks.
    pub(super) fn is_echo(&self, ack: &Segment) -> bool {
        self.agreed && ack.flags.contains(Flags::ECE) && !ack.flags.contains(Flags::SYN)
    }

    /// Whether an echo on an acknowledgement up to `acked` calls for a cut: once a window.
    pub(super) fn calls_for_cut(&self, acked: u64) -> bool {
        self.mode != EcnMode::Indication && acked > self.cut_until
    }

    /// The window was cut, for whatever reason, with `next` the next to send.
    pub(super) fn on_cut(&mut self, next: u64) {
        self.cut_until = next;
        self.reduced = self.agreed && self.mode != EcnMode::Indication;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(mode: EcnMode) -> (EcnState, EcnState) {
        let (mut sender, mut receiver) = (EcnState::new(mode), EcnState::new(mode));
        receiver.on_syn(sender.syn_flags(0));
        sender.on_syn_ack(receiver.syn_ack_flags());
        (sender, receiver)
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
    fn an_end_without_it_gets_none() {
        let mut sender = EcnState::new(EcnMode::Classic);
        let mut receiver = EcnState::new(EcnMode::Off);
        receiver.on_syn(sender.syn_flags(0));
        sender.on_syn_ack(receiver.syn_ack_flags());
        assert_eq!(sender.data_field(false), Ecn::NotCapable);
        assert_eq!(sender.syn_flags(2), Flags::default());
    }
}
