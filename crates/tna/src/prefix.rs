//! The metadata that the hardware prepends to each packet for a parser.

use p4_ir::{Program, Type};
use p4_vm::Packet;

/// Octets of the longest header, and of the longest prefix.
pub const LONGEST: usize = 32;
const MOST: usize = LONGEST + 32;

/// The position of each of `N` values in a header.
#[derive(Clone, Debug)]
pub struct Prefix<const N: usize> {
    /// The place of each value. Width 0 means that the header does not have it.
    fields: [Place; N],
    /// Octets of the header.
    octets: usize,
}

#[derive(Clone, Copy, Debug, Default)]
struct Place {
    /// The end of the value in bits from the start of the header.
    end: u32,
    width: u32,
}

impl<const N: usize> Default for Prefix<N> {
    fn default() -> Self {
        Prefix {
            fields: [Place::default(); N],
            octets: 0,
        }
    }
}

impl<const N: usize> Prefix<N> {
    /// The places of the fields with these names in a header. `None` if it is longer than [`LONGEST`].
    pub fn of(program: &Program, header: &Type, names: [&str; N]) -> Option<Self> {
        let mut fields = [Place::default(); N];
        let mut end = 0;
        for field in header.fields(program) {
            let width = field.ty.scalar(program).map_or(0, |scalar| scalar.width());
            end += width;
            let number = names.iter().position(|name| *name == field.name);
            if let Some(number) = number.filter(|_| width <= 64) {
                fields[number] = Place { end, width };
            }
        }
        let octets = end.div_ceil(8) as usize;
        (octets <= LONGEST).then_some(Prefix { fields, octets })
    }

    /// Octets of the header.
    pub fn octets(&self) -> usize {
        self.octets
    }

    /// Prepends the header to a packet, with each value cut to its width, and `zeros` zero octets between the two.
    #[inline]
    pub fn prepend(&self, packet: &mut Packet, values: [u64; N], zeros: usize) {
        let mut image = [0; MOST];
        for (place, value) in self.fields.iter().zip(values) {
            place.write(&mut image, value);
        }
        prepend(packet, &image[..self.octets + zeros]);
    }
}

/// Prepends octets to a packet.
#[inline]
pub fn prepend(packet: &mut Packet, octets: &[u8]) {
    packet.octets.replace_front(0, octets);
    packet.link_octets += octets.len() as u32;
}

impl Place {
    #[inline]
    fn write(self, image: &mut [u8; MOST], value: u64) {
        if self.width == 0 || value == 0 {
            return;
        }
        let value = value & u64::MAX >> (64 - self.width);
        // A 64-bit value spans at most nine octets.
        let last = (self.end as usize - 1) / 8;
        let up = (8 - self.end % 8) % 8;
        let shifted = u128::from(value) << up;
        for (back, octet) in shifted.to_le_bytes().into_iter().take(9).enumerate() {
            if let Some(at) = last.checked_sub(back) {
                image[at] |= octet;
            }
        }
    }
}
