//! Bit fields in octets: reads and writes values that begin and end at any bit.

/// Reads `width` ≤ 64 bits that begin `at` bits into `octets`; zero beyond their end.
#[inline]
pub fn read(octets: &[u8], at: usize, width: u32) -> u64 {
    let (byte, skip) = (at / 8, (at % 8) as u32);
    let window = window(octets, byte);
    let value = window << skip >> (64 - width);
    if skip + width <= 64 {
        return value;
    }
    // The field spans nine octets. The ninth holds the low bits.
    let rest = skip + width - 64;
    value
        | octets
            .get(byte + 8)
            .map_or(0, |&o| (o >> (8 - rest)) as u64)
}

/// Eight octets as a number. Octets beyond the end are zero.
#[inline]
fn window(octets: &[u8], byte: usize) -> u64 {
    if let Some(Some(eight)) = octets.get(byte..).map(|rest| rest.first_chunk::<8>()) {
        return u64::from_be_bytes(*eight);
    }
    let mut eight = [0; 8];
    if let Some(rest) = octets.get(byte..) {
        eight[..rest.len()].copy_from_slice(rest);
    }
    u64::from_be_bytes(eight)
}

/// Reads `width` bits into limbs, least significant first. Further limbs are set to zero.
pub fn read_wide(octets: &[u8], at: usize, width: u32, limbs: &mut [u64]) {
    let (used, rest) = limbs.split_at_mut(width.div_ceil(64) as usize);
    rest.fill(0);
    let (byte, count) = (at / 8, width as usize / 8);
    if at.is_multiple_of(8)
        && width.is_multiple_of(8)
        && let Some(octets) = octets.get(byte..byte + count)
    {
        // From the last octet backwards. The first group may have fewer than eight octets.
        let (first, eights) = octets.as_rchunks();
        let (whole, top) = used.split_at_mut(eights.len());
        for (limb, eight) in whole.iter_mut().zip(eights.iter().rev()) {
            *limb = u64::from_be_bytes(*eight);
        }
        if let [limb] = top {
            *limb = number(first);
        }
        return;
    }
    let mut left = width;
    for limb in used {
        let take = left.min(64);
        left -= take;
        *limb = read(octets, at + left as usize, take);
    }
}

/// Fewer than eight octets as a number.
fn number(octets: &[u8]) -> u64 {
    octets
        .iter()
        .fold(0, |number, &octet| number << 8 | u64::from(octet))
}

/// Appends values to a buffer of octets, bit by bit.
#[derive(Debug, Default)]
pub struct Writer {
    /// The octets written so far, followed by unused room.
    buffer: Vec<u8>,
    /// Number of octets written.
    len: usize,
    /// Bits after those octets, right-aligned.
    pending: u64,
    /// Number of pending bits, 0 to 63.
    count: u32,
}

/// Room in which compiled code may write whole octets.
#[cfg(feature = "native")]
pub struct Room<'a> {
    /// The octets written so far, followed by room. Empty if the output does not end at an octet boundary.
    pub octets: &'a mut [u8],
    /// Number of octets written.
    pub len: &'a mut usize,
}

impl Writer {
    /// Clears the output and keeps the buffer.
    pub fn clear(&mut self) {
        self.len = 0;
        self.pending = 0;
        self.count = 0;
    }

    /// The octets written. Complete after [`Writer::pad`].
    #[inline]
    pub fn octets(&self) -> &[u8] {
        &self.buffer[..self.len]
    }

    /// Reserves room for `octets` octets.
    #[inline]
    pub fn reserve(&mut self, octets: usize) {
        let end = self.len + octets;
        if end > self.buffer.len() {
            self.buffer.resize(end, 0);
        }
    }

    #[cfg(feature = "native")]
    pub fn room(&mut self) -> Room<'_> {
        let octets = match self.count {
            0 => &mut self.buffer[..],
            _ => &mut [],
        };
        Room {
            octets,
            len: &mut self.len,
        }
    }

    /// Appends octets to the complete ones.
    #[inline]
    fn append(&mut self, octets: &[u8]) {
        let end = self.len + octets.len();
        if end > self.buffer.len() {
            self.buffer.truncate(self.len);
            self.buffer.extend_from_slice(octets);
        } else {
            self.buffer[self.len..end].copy_from_slice(octets);
        }
        self.len = end;
    }

    /// Appends `width` bits, 1 to 64. The other bits of the value must be zero.
    #[inline]
    pub fn push(&mut self, value: u64, width: u32) {
        self.push_all([(value, width)]);
    }

    /// Appends several values, each with its width.
    #[inline]
    pub fn push_all(&mut self, values: impl IntoIterator<Item = (u64, u32)>) {
        // Kept in registers: in memory, each value would have to wait for the one before it.
        let (mut pending, mut count) = (self.pending, self.count);
        for (value, width) in values {
            let total = count + width;
            if total < 64 {
                pending = pending << width | value;
                count = total;
                continue;
            }
            let over = total - 64;
            // `count` is below 64 and `width` at most 64, so neither shift is a shift by 64 that loses bits.
            let whole = pending.checked_shl(64 - count).unwrap_or(0) | value >> over;
            self.append(&whole.to_be_bytes());
            pending = value & !(u64::MAX << over);
            count = over;
        }
        (self.pending, self.count) = (pending, count);
    }

    /// Appends a value of `width` bits in limbs, least significant first.
    pub fn push_wide(&mut self, limbs: &[u64], width: u32) {
        if self.is_aligned() && width.is_multiple_of(8) {
            return self.push_octets_of(limbs, width as usize / 8);
        }
        let mut left = width;
        while left > 0 {
            // The top limb may be partly used. The limbs below are used completely.
            let take = (left - 1) % 64 + 1;
            left -= take;
            let limb = limbs[(left / 64) as usize] & (u64::MAX >> (64 - take));
            self.push(limb, take);
        }
    }

    /// Appends the last `count` octets of such a value.
    fn push_octets_of(&mut self, limbs: &[u64], count: usize) {
        self.pad();
        self.reserve(count);
        let (first, eights) = self.buffer[self.len..][..count].as_rchunks_mut();
        for (eight, limb) in eights.iter_mut().rev().zip(limbs) {
            *eight = limb.to_be_bytes();
        }
        if !first.is_empty() {
            let top = limbs[eights.len()].to_be_bytes();
            first.copy_from_slice(&top[8 - first.len()..]);
        }
        self.len += count;
    }

    /// Whether the output ends at an octet boundary.
    #[inline]
    pub fn is_aligned(&self) -> bool {
        self.count.is_multiple_of(8)
    }

    /// Appends `count` octets, passed as 64-bit numbers of eight octets each.
    #[inline]
    pub fn push_eights(&mut self, eights: impl IntoIterator<Item = u64>, count: usize) {
        self.pad();
        let end = self.len + count;
        for eight in eights {
            self.append(&eight.to_be_bytes());
        }
        self.len = end;
    }

    /// Appends octets.
    pub fn push_octets(&mut self, octets: &[u8]) {
        if self.is_aligned() {
            self.pad();
            self.append(octets);
            return;
        }
        for &octet in octets {
            self.push(octet as u64, 8);
        }
    }

    /// Fills up the last octet with zero bits. Returns the number of bits added.
    #[inline]
    pub fn pad(&mut self) -> u8 {
        match self.count {
            0 => 0,
            _ => self.complete(),
        }
    }

    /// Implements [`Self::pad`] if there are pending bits.
    fn complete(&mut self) -> u8 {
        let padding = (self.count.wrapping_neg() % 8) as u8;
        let aligned = self.pending << (64 - self.count);
        let octets = self.count.div_ceil(8) as usize;
        self.append(&aligned.to_be_bytes()[..octets]);
        self.pending = 0;
        self.count = 0;
        padding
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use num_bigint::BigUint;
    use proptest::prelude::*;

    /// Widths in bits. Half of them are multiples of 8.
    fn widths() -> impl Strategy<Value = u32> {
        prop_oneof![1u32..=200, (1u32..=25).prop_map(|octets| 8 * octets)]
    }

    proptest! {
        #[test]
        fn octets_are_read_and_written(octets in prop::collection::vec(any::<u8>(), 1..200), skip in 0usize..4) {
            let skip = skip.min(octets.len());
            let width = 8 * (octets.len() - skip) as u32;
            let mut limbs = [u64::MAX; 26];
            read_wide(&octets, 8 * skip, width, &mut limbs);
            let bytes: Vec<u8> = limbs.iter().flat_map(|l| l.to_le_bytes()).collect();
            prop_assert_eq!(BigUint::from_bytes_le(&bytes), BigUint::from_bytes_be(&octets[skip..]));
            let mut writer = Writer::default();
            writer.push_octets(&octets[..skip]);
            writer.push_wide(&limbs, width);
            prop_assert_eq!(writer.octets(), &octets[..]);
        }

        #[test]
        fn what_is_written_is_read(fields in prop::collection::vec((widths(), prop::array::uniform4(any::<u64>())), 1..20)) {
            let mut writer = Writer::default();
            let mut whole = BigUint::default();
            let mut cut = Vec::new();
            let mut bits = 0;
            for (width, limbs) in fields {
                let mut limbs = limbs;
                for (i, limb) in limbs.iter_mut().enumerate() {
                    let bits = width.saturating_sub(64 * i as u32).min(64);
                    *limb = if bits == 0 { 0 } else { *limb & (u64::MAX >> (64 - bits)) };
                }
                let bytes: Vec<u8> = limbs.iter().flat_map(|l| l.to_le_bytes()).collect();
                whole = (whole << width) + BigUint::from_bytes_le(&bytes);
                cut.push((bits, width, limbs));
                bits += width as usize;
                writer.push_wide(&limbs[..width.div_ceil(64) as usize], width);
            }
            writer.pad();
            let pad = writer.octets().len() * 8 - bits;
            prop_assert_eq!(BigUint::from_bytes_be(writer.octets()), whole << pad);
            for (at, width, limbs) in cut {
                let mut back = [0; 4];
                read_wide(writer.octets(), at, width, &mut back[..width.div_ceil(64) as usize]);
                prop_assert_eq!(back, limbs);
            }
        }
    }

    #[test]
    fn beyond_the_end_are_zeros() {
        assert_eq!(read(&[0xff], 4, 64), 0xf000_0000_0000_0000);
        assert_eq!(read(&[], 80, 8), 0);
    }
}
