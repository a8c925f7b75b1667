//! How many copies descend from one packet.

use std::num::NonZeroU32;

/// Where a packet in the switch comes from.
#[derive(Clone, Copy, Debug, Default)]
pub struct Lineage {
    /// How often it has been resubmitted or recirculated.
    pub passes: u32,
    /// The packets that descend from the same arrival; `None` as long as there is only this one.
    pub family: Option<FamilyId>,
}

impl Lineage {
    /// The lineage of a packet that goes elsewhere; what stays behind is of no family.
    pub fn take(&mut self) -> Self {
        Lineage {
            family: self.family.take(),
            ..*self
        }
    }
}

/// The number of a family, plus one.
pub type FamilyId = NonZeroU32;

/// The packets in the switch that descend from one arrival, once there are copies.
#[derive(Clone, Copy, Debug, Default)]
struct Family {
    /// Copies made so far.
    copies: u32,
    /// Packets that are still in the switch.
    members: u32,
}

/// All families. A number is used again when the last member has left.
#[derive(Debug, Default)]
pub struct Families {
    families: Vec<Family>,
    free: Vec<FamilyId>,
}

impl Families {
    /// Makes room for a copy of a packet of `family`, which is founded if there is none yet. `false` if
    /// `most` copies have been made already.
    pub fn admit(&mut self, family: &mut Option<FamilyId>, most: u32) -> bool {
        let id = *family.get_or_insert_with(|| self.found());
        let family = &mut self.families[id.get() as usize - 1];
        if family.copies >= most {
            return false;
        }
        family.copies += 1;
        family.members += 1;
        true
    }

    /// A packet of `family` has left the switch, and leaves no second time.
    pub fn leave(&mut self, family: &mut Option<FamilyId>) {
        let Some(id) = family.take() else {
            return;
        };
        let family = &mut self.families[id.get() as usize - 1];
        family.members = family.members.saturating_sub(1);
        if family.members == 0 {
            self.free.push(id);
        }
    }

    /// Packets of all families.
    #[cfg(test)]
    pub fn members(&self) -> u32 {
        self.families.iter().map(|family| family.members).sum()
    }

    /// A new family of one packet.
    fn found(&mut self) -> FamilyId {
        let id = self.free.pop().unwrap_or_else(|| {
            self.families.push(Family::default());
            FamilyId::new(self.families.len() as u32).expect("one was just added")
        });
        self.families[id.get() as usize - 1] = Family {
            copies: 0,
            members: 1,
        };
        id
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_family_has_so_many_copies_however_they_leave() {
        let mut families = Families::default();
        let mut family = None;
        let admitted = (0..10).filter(|_| families.admit(&mut family, 3)).count();
        assert_eq!(admitted, 3);
        for _ in 0..2 {
            families.leave(&mut family.clone());
        }
        assert!(!families.admit(&mut family, 3), "leaving gives no room");
    }

    #[test]
    fn a_family_that_has_left_is_forgotten() {
        let mut families = Families::default();
        for _ in 0..100 {
            let mut family = None;
            assert!(families.admit(&mut family, 1));
            families.leave(&mut family.clone());
            families.leave(&mut family);
        }
        assert_eq!((families.families.len(), families.members()), (1, 0));
    }
}
