//! The option of TCP-INT (p4lang/p4app-TCP-INT, version 0.4).

use super::{array, be16};
use crate::tcp::tcp_int::{Echo, TcpInt};

/// The option's kind.
pub(super) const KIND: u8 = 0x72;
/// Its length.
pub(super) const OCTETS: usize = TcpInt::OCTETS as usize;

/// Writes the option into `options`. Returns the remaining room.
pub(super) fn write<'a>(option: Option<&TcpInt>, options: &'a mut [u8]) -> &'a mut [u8] {
    let Some(own) = option else {
        return options;
    };
    let echo = own.echo;
    let (place, rest) = options.split_at_mut(OCTETS);
    place[..2].copy_from_slice(&[KIND, OCTETS as u8]);
    place[2..5].copy_from_slice(&[
        own.tag_frequency << 4 | own.link_speed & 0x0F,
        own.value,
        own.hop,
    ]);
    place[5..8].copy_from_slice(&own.latency.min(TcpInt::MAX_LATENCY).to_be_bytes()[1..]);
    place[8..10].copy_from_slice(&[echo.value, echo.hop << 4 | echo.link_speed & 0x0F]);
    place[10..].copy_from_slice(&echo.latency.to_be_bytes());
    rest
}

/// Decodes an option of length [`OCTETS`].
pub(super) fn read(option: &[u8]) -> TcpInt {
    let [high, middle, low] = array(option, 5);
    TcpInt {
        tag_frequency: option[2] >> 4,
        link_speed: option[2] & 0x0F,
        value: option[3],
        hop: option[4],
        latency: u32::from_be_bytes([0, high, middle, low]),
        echo: Echo {
            value: option[8],
            hop: option[9] >> 4,
            link_speed: option[9] & 0x0F,
            latency: be16(option, 10),
        },
    }
}
