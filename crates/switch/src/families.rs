//! Counts the copies that descend from one packet.

/// The origin of a packet in the switch: how often it has been resubmitted or recirculated, and the number of its
/// family. The number is 0 as long as the packet has not been copied.
///
/// It is one word, with the passes in the low half, so that it is passed in a register.
#[derive(Clone, Copy, Debug, Default)]
pub struct Lineage(u64);

impl Lineage {
    /// How often the packet has been resubmitted or recirculated.
    #[inline]
    pub fn passes(self) -> u32 {
        self.0 as u32
    }

    fn family(self) -> u32 {
        (self.0 >> 32) as u32
    }

    fn with_family(self, family: u32) -> Self {
        Lineage(u64::from(self.passes()) | u64::from(family) << 32)
    }

    /// The lineage of a packet that starts another pass.
    #[inline]
    pub fn next_pass(self) -> Self {
        Lineage(self.0 + 1)
    }

    /// Adds the packet to the family of the packet from which it was copied.
    pub fn join(&mut self, copied: Lineage) {
        *self = self.with_family(copied.family());
    }

    /// Returns the lineage of a packet that moves elsewhere, and leaves a lineage without a family behind.
    #[inline]
    pub fn take(&mut self) -> Self {
        let taken = *self;
        *self = self.with_family(0);
        taken
    }
}

/// The packets in the switch that descend from one arrival, once there are copies.
#[derive(Clone, Copy, Debug, Default)]
struct Family {
    /// Copies made so far.
    copies: u32,
    /// Packets that are still in the switch.
    members: u32,
}

/// All families, indexed by number minus one. A number is reused once the last member has left.
#[derive(Debug, Default)]
pub struct Families {
    families: Vec<Family>,
    free: Vec<u32>,
}

impl Families {
    /// Registers a copy of a packet, and creates the packet's family if there is none yet. Returns `false` if `most`
    /// copies have been made already.
    #[inline]
    pub fn admit(&mut self, lineage: &mut Lineage, most: u32) -> bool {
        if lineage.family() == 0 {
            *lineage = lineage.with_family(self.found());
        }
        let family = &mut self.families[lineage.family() as usize - 1];
        if family.copies >= most {
            return false;
        }
        family.copies += 1;
        family.members += 1;
        true
    }

    /// Records that a packet has left the switch. The lineage loses its family, so that a second call has no effect.
    #[inline]
    pub fn leave(&mut self, lineage: &mut Lineage) {
        let number = lineage.take().family();
        if number == 0 {
            return;
        }
        let family = &mut self.families[number as usize - 1];
        family.members = family.members.saturating_sub(1);
        if family.members == 0 {
            self.free.push(number);
        }
    }

    /// Creates a family with one member.
    fn found(&mut self) -> u32 {
        let number = self.free.pop().unwrap_or_else(|| {
            self.families.push(Family::default());
            self.families.len() as u32
        });
        self.families[number as usize - 1] = Family {
            copies: 0,
            members: 1,
        };
        number
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_family_has_so_many_copies_however_they_leave() {
        let mut families = Families::default();
        let mut packet = Lineage::default();
        let admitted = (0..10).filter(|_| families.admit(&mut packet, 3)).count();
        assert_eq!(admitted, 3);
        for _ in 0..2 {
            families.leave(&mut { packet });
        }
        assert!(!families.admit(&mut packet, 3), "leaving gives no room");
    }

    #[test]
    fn a_family_that_has_left_is_forgotten() {
        let mut families = Families::default();
        for _ in 0..100 {
            let mut packet = Lineage::default();
            assert!(families.admit(&mut packet, 1));
            families.leave(&mut { packet });
            families.leave(&mut packet);
            families.leave(&mut packet);
        }
        assert_eq!((families.families.len(), families.free.len()), (1, 1));
        assert_eq!(families.families[0].members, 0);
    }

    #[test]
    fn passes_and_family_do_not_touch() {
        let mut families = Families::default();
        let mut packet = Lineage::default().next_pass().next_pass();
        assert!(families.admit(&mut packet, 1));
        packet = packet.next_pass();
        assert_eq!((packet.passes(), packet.family()), (3, 1));
        assert_eq!(
            (packet.take().family(), packet.family(), packet.passes()),
            (1, 0, 3)
        );
    }
}
