//! CSIG, congestion signaling (draft-ravi-ippm-csig-01): the compact tag into which hops write, its reflection, and the
//! meaning of its values.
//!
//! ```text
//!  tag, behind a TPID:   | signal 3 | reserved 1 | band 5 | locator 7 |
//!  TCP option:           | kind 253 | length | ExID 16 | a tag per received signal … |
//! ```
//!
//! A packet requests one signal. Each hop compares its own band with the tag's, and writes the worse one and its
//! locator. The values of the bands are the same in a whole domain ([`Bands`]). The receiver reflects the worst tag of
//! each signal that it has received since its last acknowledgement.

use congestion::PathSignal;
use units::Duration;

/// A tag without its TPID.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tag(pub u16);

/// The signal that a tag requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// Available bandwidth: the minimum on the path.
    Available = 0,
    /// Available bandwidth as a fraction of capacity: the minimum.
    AvailableShare = 1,
    /// The delay of a hop: the maximum.
    Delay = 2,
}

impl Tag {
    /// The tag that a sender writes.
    pub const fn asking(signal: Signal) -> Tag {
        let band = match signal {
            Signal::Delay => 0,
            Signal::Available | Signal::AvailableShare => Bands::MOST,
        };
        Tag((signal as u16) << 13 | (band as u16) << 7)
    }

    /// The requested signal. `None` if it is unknown.
    pub const fn signal(self) -> Option<Signal> {
        match self.0 >> 13 {
            0 => Some(Signal::Available),
            1 => Some(Signal::AvailableShare),
            2 => Some(Signal::Delay),
            _ => None,
        }
    }

    /// The worst hop's value.
    pub const fn band(self) -> u8 {
        (self.0 >> 7) as u8 & Bands::MOST
    }

    /// The locator of the worst hop. 0 if no hop wrote it.
    pub const fn locator(self) -> u8 {
        self.0 as u8 & 0x7F
    }

    /// The worse of two tags with the same signal.
    const fn worse(self, other: Tag) -> Tag {
        let is_less = other.band() < self.band();
        match self.signal() {
            Some(Signal::Delay) if is_less => self,
            Some(Signal::Delay) => other,
            _ if is_less => other,
            _ => self,
        }
    }
}

/// The tags that an acknowledgement reflects, at most one per signal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reflection {
    tags: [Option<Tag>; Self::MAX],
}

impl Reflection {
    /// One per signal.
    pub const MAX: usize = 3;

    /// Adds the tag of a packet. A tag with an unknown signal is ignored.
    pub fn add(&mut self, tag: Tag) {
        if let Some(signal) = tag.signal() {
            let slot = &mut self.tags[signal as usize];
            *slot = Some(slot.map_or(tag, |earlier| earlier.worse(tag)));
        }
    }

    /// The tags, ordered by signal.
    pub fn tags(&self) -> impl Iterator<Item = Tag> {
        self.tags.into_iter().flatten()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.tags().next().is_none()
    }

    /// The octets of the option, padded to whole words by NOPs before it. 0 without tags.
    pub(crate) fn octets(&self) -> u32 {
        match self.tags().count() as u32 {
            0 => 0,
            count => (4 + 2 * count).next_multiple_of(4),
        }
    }
}

/// The meaning of the bands in a domain: the quantiser of its hops.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bands {
    /// A delay below this is in band 0. A higher band `b` holds `unit · 2^((b − 1)/2)` to `unit · 2^(b/2)`, and the
    /// last one everything beyond. Available bandwidth as a fraction of capacity has 32 equal bands.
    pub delay_unit: Duration,
    /// The interval in which hops measure available bandwidth.
    pub interval: Duration,
}

impl Default for Bands {
    /// 1 µs, and the draft's 256 µs.
    fn default() -> Self {
        Bands {
            delay_unit: Duration::from_micros(1),
            interval: Duration::from_micros(256),
        }
    }
}

impl Bands {
    /// The last band.
    pub const MOST: u8 = 31;

    /// The delay of a band: its geometric mean. Zero for band 0, and the minimum for the last band, which has no end.
    pub fn delay(&self, band: u8) -> Duration {
        let quarters = match band {
            0 => return Duration::ZERO,
            Self::MOST.. => 2 * u32::from(Self::MOST - 1),
            band => 2 * u32::from(band) - 1,
        };
        let half = std::f64::consts::SQRT_2;
        let part = [1.0, half.sqrt(), half, half * half.sqrt()][quarters as usize % 4];
        let octaves = f64::from(1_u32 << (quarters / 4));
        Duration::from_secs_f64(self.delay_unit.as_secs_f64() * octaves * part)
    }

    /// The minimum fraction of a band.
    pub fn share(band: u8) -> f64 {
        f64::from(band) / 32.0
    }

    /// The report of a reflection. `None` if nothing in it is known.
    pub(super) fn read(&self, reflection: &Reflection) -> Option<PathSignal> {
        let mut signal = PathSignal {
            hop_delay: None,
            available_share: None,
            interval: self.interval,
        };
        for tag in reflection.tags() {
            match tag.signal() {
                Some(Signal::Delay) => signal.hop_delay = Some(self.delay(tag.band())),
                Some(Signal::AvailableShare) => {
                    signal.available_share = Some(Self::share(tag.band()));
                }
                Some(Signal::Available) | None => {}
            }
        }
        (signal.hop_delay.is_some() || signal.available_share.is_some()).then_some(signal)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tag(signal: Signal, band: u16, locator: u16) -> Tag {
        Tag((signal as u16) << 13 | band << 7 | locator)
    }

    #[test]
    fn a_tag_has_its_fields_where_the_draft_has_them() {
        // 010, 0, 10110, 0000101.
        let tag = Tag(0b0100_1011_0000_0101);
        assert_eq!(
            (tag.signal(), tag.band(), tag.locator()),
            (Some(Signal::Delay), 22, 5)
        );
        assert_eq!(Tag(0b0110_0000_0000_0000).signal(), None);
        assert_eq!(Tag::asking(Signal::Delay).0, 0b0100_0000_0000_0000);
        assert_eq!(Tag::asking(Signal::Available).0, 0b0000_1111_1000_0000);
        assert_eq!(Tag::asking(Signal::AvailableShare).0, 0b0010_1111_1000_0000);
    }

    #[test]
    fn the_worst_tag_of_each_signal_is_reflected() {
        let mut reflection = Reflection::default();
        assert_eq!((reflection.is_empty(), reflection.octets()), (true, 0));
        for (signal, band, locator) in [
            (Signal::Delay, 5, 1),
            (Signal::Delay, 9, 2),
            (Signal::Delay, 7, 3),
            (Signal::AvailableShare, 20, 1),
            (Signal::AvailableShare, 30, 2),
            (Signal::AvailableShare, 12, 3),
        ] {
            reflection.add(tag(signal, band, locator));
        }
        reflection.add(Tag(0xFFFF));
        let tags: Vec<Tag> = reflection.tags().collect();
        assert_eq!(
            tags,
            [tag(Signal::AvailableShare, 12, 3), tag(Signal::Delay, 9, 2)]
        );
        assert_eq!(reflection.octets(), 8);
        reflection.add(tag(Signal::Available, 1, 1));
        assert_eq!(reflection.octets(), 12);
    }

    /// With a unit of 16 µs: band 1 is 16 to 22.6 µs, its middle 16·2^(1/4) = 19.03 µs; band 9 begins at 256 µs.
    #[test]
    fn bands_of_delays_grow_by_half_octaves() {
        let bands = Bands {
            delay_unit: Duration::from_micros(16),
            ..Bands::default()
        };
        let us = |band| (bands.delay(band).as_secs_f64() * 1e6 * 100.0).round() / 100.0;
        assert_eq!([us(0), us(1), us(9)], [0.0, 19.03, 304.44]);
        assert_eq!(us(31), 16.0 * 32768.0);
        assert_eq!([Bands::share(0), Bands::share(31)], [0.0, 0.96875]);
    }

    #[test]
    fn what_was_not_asked_for_is_not_reported() {
        let bands = Bands::default();
        let mut reflection = Reflection::default();
        assert_eq!(bands.read(&reflection), None);
        reflection.add(tag(Signal::Available, 3, 1));
        assert_eq!(bands.read(&reflection), None);
        reflection.add(tag(Signal::AvailableShare, 16, 1));
        let read = bands.read(&reflection).unwrap();
        assert_eq!((read.hop_delay, read.available_share), (None, Some(0.5)));
    }
}
