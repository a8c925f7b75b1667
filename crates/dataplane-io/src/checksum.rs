//! TCP and UDP checksums that a sender left to hardware.
//!
//! A host on the other end of a veth pair thinks that its interface fills them in; the frame comes with
//! only the pseudo-header summed up.

use internet_checksum::Sum;

/// Completes the checksum of an IPv4 or IPv6 packet without fragments; others are left alone.
pub fn complete(frame: &mut [u8]) {
    let _ = try_complete(frame);
}

fn try_complete(frame: &mut [u8]) -> Option<()> {
    let mut at = 12;
    let mut kind = word(frame, at)?;
    while matches!(kind, 0x8100 | 0x88a8) {
        at += 4;
        kind = word(frame, at)?;
    }
    let ip = at + 2;
    let (protocol, start, end) = match kind {
        0x0800 => {
            let header = usize::from(*frame.get(ip)? & 0xf) * 4;
            // More fragments, or not the first.
            if word(frame, ip + 6)? & 0x3fff != 0 {
                return None;
            }
            let end = ip + usize::from(word(frame, ip + 2)?);
            (*frame.get(ip + 9)?, ip + header, end)
        }
        0x86dd => {
            let end = ip + 40 + usize::from(word(frame, ip + 4)?);
            (*frame.get(ip + 6)?, ip + 40, end)
        }
        _ => return None,
    };
    let place = start
        + match protocol {
            6 => 16,
            17 => 6,
            _ => return None,
        };
    let segment = frame.get(start..end)?;
    if place + 2 > end {
        return None;
    }
    // The field holds the sum of the pseudo-header, which the sum over the segment takes in.
    let checksum = match Sum::of(segment).checksum() {
        // In UDP zero says that there is none.
        0 if protocol == 17 => 0xffff,
        checksum => checksum,
    };
    frame[place..place + 2].copy_from_slice(&checksum.to_be_bytes());
    Some(())
}

fn word(octets: &[u8], at: usize) -> Option<u16> {
    let pair = octets.get(at..at + 2)?;
    Some(u16::from_be_bytes([pair[0], pair[1]]))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A UDP datagram from 10.0.0.1:1000 to 10.0.0.2:2000 with the payload "ab".
    fn datagram(checksum: u16) -> Vec<u8> {
        let mut frame = vec![0; 12];
        frame.extend([0x08, 0x00, 0x45, 0, 0, 30, 0, 0, 0, 0, 64, 17, 0, 0]);
        frame.extend([10, 0, 0, 1, 10, 0, 0, 2, 0x03, 0xe8, 0x07, 0xd0, 0, 10]);
        frame.extend(checksum.to_be_bytes());
        frame.extend(b"ab");
        frame
    }

    #[test]
    fn a_completed_datagram_sums_to_all_ones_with_its_pseudo_header() {
        let pseudo = [10, 0, 0, 1, 10, 0, 0, 2, 0, 17, 0, 10];
        let mut frame = datagram(Sum::of(&pseudo).value());
        complete(&mut frame);
        let whole = [&pseudo[..], &frame[34..]].concat();
        assert_eq!(Sum::of(&whole).value(), 0xffff);
    }

    #[test]
    fn a_frame_that_is_cut_stays_as_it_is() {
        let whole = datagram(0x1234);
        for length in 0..whole.len() {
            let mut cut = whole[..length].to_vec();
            complete(&mut cut);
            assert_eq!(cut, whole[..length]);
        }
    }
}
