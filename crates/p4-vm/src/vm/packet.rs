//! Extracting and emitting headers.

use super::Job;
use super::run::opaque;
use crate::Packet;
use crate::bits::{self, Writer};
use crate::code::{Code, ErrorCodes, FieldCode, HeaderCode, LANE_OCTETS, Lane, Part};

/// Reads the fields of a header from the cursor on. `at` is its first word, or `None` if it is out of range. `varbit`
/// is the length of its `varbit` field in bits. Fails with a parser error.
#[inline(never)]
pub fn extract(
    code: &Code,
    header: u32,
    words: &mut [u64],
    at: Option<usize>,
    varbit: u64,
    job: &mut Job,
) -> Result<(), u64> {
    let code = opaque(code);
    let (header, errors) = (&code.headers[header as usize], &code.errors);
    if header.varbit.is_some() {
        return extract_varbit(header, errors, words, at, varbit, job);
    }
    let end = job.cursor + header.bits as usize;
    if end > job.bits() {
        return Err(errors.packet_too_short);
    }
    if let Some(at) = at {
        words[at] = 1;
        // The octets from the header on, so that offsets are small numbers.
        let octets = job.octets.get(job.cursor / 8..).unwrap_or_default();
        let skip = job.cursor % 8;
        if skip == 0 && !header.lanes.is_empty() {
            load(header, octets, &mut words[at..]);
            job.cursor = end;
            return Ok(());
        }
        for field in &header.fields {
            let from = skip + field.at as usize;
            let to = at + field.word as usize;
            if field.width <= 64 {
                words[to] = bits::read(octets, from, field.width);
            } else {
                let limbs = field.width.div_ceil(64) as usize;
                bits::read_wide(octets, from, field.width, &mut words[to..to + limbs]);
            }
        }
    }
    job.cursor = end;
    Ok(())
}

/// Reads the fields of a header that begins at an octet boundary. Octets beyond the end read as zero.
#[inline]
fn load(header: &HeaderCode, octets: &[u8], words: &mut [u64]) {
    let lanes = &header.lanes[..];
    let count = header.bits as usize / 8;
    if let Some(octets) = octets.get(..count.max(8)) {
        return load_lanes(lanes, octets, words);
    }
    // The header is at the end, shorter than eight octets, or not completely stored.
    let mut held = [0; LANE_OCTETS];
    let count = octets.len().min(count);
    held[..count].copy_from_slice(&octets[..count]);
    load_lanes(lanes, &held, words);
}

/// Not through a copy: the processor is slow to read eight octets that were just written in parts.
#[inline]
fn load_lanes(lanes: &[Lane], octets: &[u8], words: &mut [u64]) {
    for lane in lanes {
        if let Some(Some(eight)) = octets.get(lane.octet as usize..).map(<[u8]>::first_chunk) {
            words[lane.word as usize] = u64::from_be_bytes(*eight) << lane.skip >> lane.sh;
        }
    }
}

fn extract_varbit(
    header: &HeaderCode,
    errors: &ErrorCodes,
    words: &mut [u64],
    at: Option<usize>,
    varbit: u64,
    job: &mut Job,
) -> Result<(), u64> {
    let place = header.varbit.expect("called for headers that have one");
    if varbit > header.fields[place].width as u64 {
        return Err(errors.header_too_short);
    }
    let varbit = varbit as u32;
    if !(header.bits + varbit).is_multiple_of(8) {
        return Err(errors.invalid_argument);
    }
    let end = job.cursor + (header.bits + varbit) as usize;
    if end > job.bits() {
        return Err(errors.packet_too_short);
    }
    if let Some(at) = at {
        words[at] = 1;
        for (i, field) in header.fields.iter().enumerate() {
            let after = if i > place { varbit } else { 0 };
            let from = job.cursor + (field.at + after) as usize;
            let mut to = at + field.word as usize;
            let mut width = field.width;
            let limbs = width.div_ceil(64) as usize;
            if i == place {
                words[to] = varbit as u64;
                to += 1;
                width = varbit;
            }
            bits::read_wide(&job.octets, from, width, &mut words[to..to + limbs]);
        }
    }
    job.cursor = end;
    Ok(())
}

/// Writes a header's fields, if it is valid.
#[inline(never)]
pub fn emit(code: &Code, header: u32, words: &[u64], at: usize, output: &mut Writer) {
    if words[at] == 0 {
        return;
    }
    let header = &opaque(code).headers[header as usize];
    let word_of = |field: &FieldCode| at + field.word as usize;
    if !header.parts.is_empty() && output.is_aligned() {
        return output.push_eights(
            eights(&header.parts, &words[at..]),
            header.bits as usize / 8,
        );
    }
    for (i, field) in header.fields.iter().enumerate() {
        let from = word_of(field);
        if field.width <= 64 && header.varbit.is_none() {
            output.push(words[from], field.width);
        } else if header.varbit == Some(i) {
            let width = words[from].min(field.width as u64) as u32;
            output.push_wide(&words[from + 1..], width);
        } else {
            output.push_wide(&words[from..], field.width);
        }
    }
}

/// The octets of a header that begins at an octet boundary, in groups of eight.
#[inline]
fn eights(parts: &[Part], words: &[u64]) -> impl Iterator<Item = u64> {
    let mut eight = 0;
    parts.iter().filter_map(move |part| {
        eight |= words[part.word as usize] << part.up >> part.down;
        part.last.then(|| std::mem::take(&mut eight))
    })
}

/// Builds a packet from the output of the deparser and the unparsed payload, truncated to `truncate` octets.
#[inline]
pub fn finish(output: &mut Writer, job: &mut Job, packet: &mut Packet, truncate: Option<u32>) {
    let before = job.octets.len() as u32 + job.elided;
    let held = (job.octets.len() * 8).saturating_sub(job.padding as usize);
    let mut replaced = job.cursor / 8;
    if job.cursor >= held {
        packet.elided -= ((job.cursor - held) / 8) as u32;
        replaced = job.octets.len();
    } else if !job.cursor.is_multiple_of(8) || job.padding != 0 || !output.is_aligned() {
        for at in (job.cursor..held).step_by(64) {
            let width = (held - at).min(64) as u32;
            output.push(bits::read(&job.octets, at, width), width);
        }
        replaced = job.octets.len();
    }
    job.padding = output.pad();
    job.octets.replace_front(replaced, output.octets());
    std::mem::swap(&mut packet.octets, &mut job.octets);
    if let Some(most) = truncate {
        let held = packet.octets.len() as u32;
        packet.octets.truncate(most as usize);
        packet.elided = packet.elided.min(most.saturating_sub(held));
    }
    let after = packet.length();
    packet.link_octets = (packet.link_octets + after).saturating_sub(before);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Octets;
    use proptest::prelude::*;

    /// Octets with the given headroom.
    fn with_room(room: usize, octets: &[u8]) -> Octets {
        let mut whole = Octets::from(vec![0xee; room + octets.len()]);
        whole.replace_front(room + octets.len(), octets);
        whole
    }

    /// Deparses the current packet, with 100 octets that are not stored, to `emitted` and the rest.
    fn deparse(job: &mut Job, emitted: &[(u64, u32)], truncate: Option<u32>) -> Packet {
        job.elided = 100;
        let mut packet = Packet {
            elided: 100,
            link_octets: job.octets.len() as u32 + 100,
            ..Packet::default()
        };
        let mut output = Writer::default();
        output.push_all(emitted.iter().copied());
        finish(&mut output, job, &mut packet, truncate);
        packet
    }

    #[test]
    fn headers_grow_and_shrink_in_front_of_the_payload() {
        let payload = [7; 1460];
        let mut job = Job::default();
        let mut parsed = 4;
        job.octets = with_room(6, &[&[1, 2, 3, 4][..], &payload].concat());
        let mut deparse = |length: usize| {
            job.cursor = parsed * 8;
            let emitted: Vec<_> = (0..length as u64).map(|octet| (octet, 8)).collect();
            job.octets = deparse(&mut job, &emitted, None).octets;
            parsed = length;
            let (headers, payload_now) = job.octets.split_at(length);
            assert!(headers.iter().copied().eq(0..length as u8));
            assert_eq!(payload_now, payload);
            payload_now.as_ptr()
        };
        let place = deparse(4);
        // Longer, equal, shorter, empty, and all of the headroom.
        for length in [7, 9, 9, 2, 0, 10] {
            assert_eq!(deparse(length), place, "{length} octets");
        }
        // Too long for the headroom: the payload moves and leaves room for later headers.
        let place = deparse(11);
        assert_eq!(deparse(20), place);
    }

    fn bits_of(octets: &[u8]) -> Vec<bool> {
        let bits = |octet: &u8| {
            (0..8)
                .rev()
                .map(|bit| octet >> bit & 1 == 1)
                .collect::<Vec<_>>()
        };
        octets.iter().flat_map(bits).collect()
    }

    proptest! {
        /// The output of the deparser, then the unparsed bits, filled up to an octet.
        #[test]
        fn a_packet_is_what_was_emitted_and_the_payload(
            octets in prop::collection::vec(any::<u8>(), 0..40),
            padding in 0..8usize,
            room in 0..40usize,
            parsed in 0..40usize,
            odd in 0..8usize,
            headers in prop::collection::vec(any::<u8>(), 0..40),
            rest in 0..8u32,
            same_length: bool,
            truncate in prop::option::of(0..200u32),
        ) {
            // Up to eight octets beyond the stored ones, unless the last one was filled up.
            let most = if padding > 0 { octets.len() } else { octets.len() + 8 };
            let parsed = parsed.min(most);
            let odd = if parsed < octets.len() { odd } else { 0 };
            let held = (octets.len() * 8).saturating_sub(padding);
            let cursor = (parsed * 8 + odd).min(held.max(parsed * 8));
            let emitted: Vec<_> = match same_length {
                true => (0..parsed).map(|i| (i as u64, 8)).chain((odd > 0).then_some((0, odd as u32))).collect(),
                false => headers.iter().map(|&octet| (octet as u64, 8)).chain((rest > 0).then_some((1, rest))).collect(),
            };
            let mut job = Job { octets: with_room(room, &octets), cursor, padding: padding as u8, ..Job::default() };
            let packet = deparse(&mut job, &emitted, truncate);

            let mut expected: Vec<bool> = Vec::new();
            for &(value, width) in &emitted {
                expected.extend((0..width).rev().map(|bit| value >> bit & 1 == 1));
            }
            expected.extend(bits_of(&octets)[..held].get(cursor..).unwrap_or_default());
            let padding = expected.len().wrapping_neg() % 8;
            expected.resize(expected.len() + padding, false);
            let elided = 100 - parsed.saturating_sub(octets.len());
            let most = truncate.map_or(usize::MAX, |most| most as usize);
            let held = expected.len() / 8;
            expected.truncate(most.saturating_mul(8));
            prop_assert_eq!(bits_of(&packet.octets), expected);
            prop_assert_eq!(job.padding as usize, padding);
            prop_assert_eq!(packet.elided as usize, elided.min(most.saturating_sub(held)));
            prop_assert_eq!(packet.link_octets, packet.length());
        }
    }
}
