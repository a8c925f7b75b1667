//! TCP-INT (p4lang/p4app-TCP-INT, version 0.4): a TCP option into which hops write, and its echo.
//!
//! ```text
//!  kind 0x72 | length 12 | tag frequency 4 | link speed 4 | value 8 | hop 8 | latency 24
//!                        | echo: value 8 | hop 4 | link speed 4 | latency 16
//! ```
//!
//! The worst hop writes its value, its link's speed and the packet's TTL. Each hop adds its latency. A receiver echoes
//! the values of the newest data, once.

use units::Duration;

/// The option of a segment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TcpInt {
    /// How often switches should write, 4 bits.
    pub tag_frequency: u8,
    /// The code of the worst hop's link speed, 4 bits.
    pub link_speed: u8,
    /// The worst hop's utilisation, if below 0x80, or its queue.
    pub value: u8,
    /// The packet's TTL at the worst hop. 0 if no hop has written.
    pub hop: u8,
    /// The sum of the hops' latencies in units of 2⁸ ns, 24 bits.
    pub latency: u32,
    /// The echo of what this end received.
    pub echo: Echo,
}

/// The received values, for the other end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Echo {
    /// The worst hop's value.
    pub value: u8,
    /// The index of the worst hop, from 1 in the order of the path, 4 bits. 0 means that nothing is echoed.
    pub hop: u8,
    /// The code of its link speed, 4 bits.
    pub link_speed: u8,
    /// The sum of latencies. From 0x8000 on, in units of 2¹⁶ ns instead of 2⁸.
    pub latency: u16,
}

impl TcpInt {
    /// Octets of the option.
    pub const OCTETS: u32 = 12;
    /// The maximum latency.
    pub const MAX_LATENCY: u32 = 0xFF_FFFF;
    /// Switches write as often as they are configured to.
    const AS_SET: u8 = 15;
    /// The TTL of packets that leave hosts.
    const FIRST_TTL: u8 = 64;

    /// The option of a departing segment.
    pub fn open(echo: Option<Echo>) -> Self {
        TcpInt {
            tag_frequency: Self::AS_SET,
            echo: echo.unwrap_or_default(),
            ..TcpInt::default()
        }
    }

    /// The echo for the sender of this option, if a hop has written its value.
    pub fn received(&self) -> Option<Echo> {
        let long = self.latency > u32::from(Echo::LONG - 1);
        let latency = match long {
            true => Echo::LONG | (self.latency >> Echo::SHIFT).min(u32::from(!Echo::LONG)) as u16,
            false => self.latency as u16,
        };
        (self.hop != 0).then_some(Echo {
            value: self.value,
            hop: Self::FIRST_TTL.wrapping_sub(self.hop) & 0x0F,
            link_speed: self.link_speed,
            latency,
        })
    }
}

impl Echo {
    /// The flag of latencies in the larger unit.
    const LONG: u16 = 0x8000;
    /// The shift between the units.
    const SHIFT: u32 = 8;

    /// The sum of the hops' latencies on the data path, if there is an echo.
    pub fn hop_latency(&self) -> Option<Duration> {
        let units = match self.latency & Self::LONG {
            0 => u64::from(self.latency),
            _ => u64::from(self.latency & !Self::LONG) << Self::SHIFT,
        };
        (self.hop != 0).then(|| Duration::from_nanos(units << 8))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn received(latency: u32) -> Echo {
        let option = TcpInt {
            link_speed: 5,
            value: 0x83,
            hop: 62,
            latency,
            ..TcpInt::default()
        };
        option.received().unwrap()
    }

    #[test]
    fn an_echo_counts_hops_from_the_first() {
        let echo = received(40);
        assert_eq!((echo.value, echo.hop, echo.link_speed), (0x83, 2, 5));
        assert_eq!(TcpInt::default().received(), None);
        assert_eq!(Echo::default().hop_latency(), None);
    }

    /// 32,767 units of 256 ns are 8.388352 ms. Beyond, an echo has units of 65.536 µs, at most 32,767 of them.
    #[test]
    fn long_latencies_are_echoed_in_larger_units() {
        let cases = [
            (0, 0, 0),
            (32_767, 0x7FFF, 8_388_352),
            (32_768, 0x8080, 8_388_608),
            (33_023, 0x8080, 8_388_608),
            (33_024, 0x8081, 8_454_144),
            (0x7F_FFFF, 0xFFFF, 2_147_418_112),
            (0xFF_FFFF, 0xFFFF, 2_147_418_112),
        ];
        for (latency, echoed, ns) in cases {
            let echo = received(latency);
            assert_eq!(echo.latency, echoed, "{latency}");
            assert_eq!(echo.hop_latency(), Some(Duration::from_nanos(ns)));
        }
    }
}
