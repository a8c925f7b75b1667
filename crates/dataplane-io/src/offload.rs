//! TCP and UDP packets whose sender left work to hardware: the checksum, or segmentation.
//!
//! A host at the other end of a veth pair assumes that its interface does this. Its frame arrives with only the sum of
//! the pseudo-header in the checksum field, and longer than the MTU.

use internet_checksum::Sum;

/// Octets of an Ethernet header.
const ETHERNET: usize = 14;
const TCP: u8 = 6;
const UDP: u8 = 17;
/// TCP's control bit CWR, in octet 13.
const CWR: u8 = 0x80;

/// The tag of CSIG, four octets as a VLAN's. The kernel cuts no frames with it.
const CSIG: u16 = 0x88b5;

/// Where the parts of a frame are that carries TCP or UDP over IP, without fragments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Places {
    v6: bool,
    /// Whether there is a tag of CSIG.
    csig: bool,
    protocol: u8,
    /// The IP header.
    ip: usize,
    /// The TCP or UDP header.
    segment: usize,
    /// The checksum in it.
    checksum: usize,
    /// The end of the IP packet.
    end: usize,
}

impl Places {
    fn of(frame: &[u8]) -> Option<Places> {
        let mut at = 12;
        let mut kind = word(frame, at)?;
        let mut csig = false;
        while matches!(kind, 0x8100 | 0x88a8 | CSIG) {
            csig |= kind == CSIG;
            at += 4;
            kind = word(frame, at)?;
        }
        let ip = at + 2;
        let (protocol, segment, end) = match kind {
            0x0800 => {
                let header = usize::from(*frame.get(ip)? & 0xf) * 4;
                // More fragments follow, or it is not the first.
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
        let checksum = segment
            + match protocol {
                TCP => 16,
                UDP => 6,
                _ => return None,
            };
        let whole = end <= frame.len() && checksum + 2 <= end;
        whole.then_some(Places {
            v6: kind == 0x86dd,
            csig,
            protocol,
            ip,
            segment,
            checksum,
            end,
        })
    }

    /// Octets of all headers, including the Ethernet header.
    fn headers(&self, frame: &[u8]) -> Option<usize> {
        let octets = match self.protocol {
            TCP => usize::from(*frame.get(self.segment + 12)? >> 4) * 4,
            _ => 8,
        };
        let headers = self.segment + octets;
        (headers <= self.end).then_some(headers)
    }

    /// The sum of the pseudo-header.
    fn pseudo_header(&self, frame: &[u8]) -> u16 {
        let length = (self.end - self.segment) as u32;
        let addresses = match self.v6 {
            true => self.ip + 8..self.ip + 40,
            false => self.ip + 12..self.ip + 20,
        };
        let mut pseudo = [0; 40];
        let octets = addresses.len();
        pseudo[..octets].copy_from_slice(&frame[addresses]);
        pseudo[octets..octets + 4].copy_from_slice(&length.to_be_bytes());
        pseudo[octets + 7] = self.protocol;
        Sum::of(&pseudo[..octets + 8]).value()
    }
}

/// Completes the checksum of an unfragmented IPv4 or IPv6 packet. Other packets are not changed.
pub fn complete_checksum(frame: &mut [u8]) {
    let Some(places) = Places::of(frame) else {
        return;
    };
    // The field holds the sum of the pseudo-header, which becomes part of the sum over the segment.
    let segment = &frame[places.segment..places.end];
    let checksum = match Sum::of(segment).checksum() {
        // In UDP, zero means that there is no checksum.
        0 if places.protocol == UDP => 0xffff,
        checksum => checksum,
    };
    frame[places.checksum..places.checksum + 2].copy_from_slice(&checksum.to_be_bytes());
}

/// Octets of data behind the TCP or UDP header; 0 of a frame that cannot be cut.
pub fn data(frame: &[u8]) -> u16 {
    let places = Places::of(frame).filter(|places| !places.csig);
    places
        .and_then(|places| Some(places.end - places.headers(frame)?))
        .map_or(0, |octets| octets as u16)
}

/// Prepares a frame to leave as one segment: the sum of its pseudo-header is that of the frame as it is now.
pub fn whole(frame: &mut [u8]) {
    if let Some(places) = Places::of(frame) {
        let sum = places.pseudo_header(frame);
        frame[places.checksum..places.checksum + 2].copy_from_slice(&sum.to_be_bytes());
        complete_checksum(frame);
    }
}

/// What the segments of a frame have beyond it on a link: their headers, but the first's. Of every Ethernet
/// header, `uncharged` octets do not count.
pub fn further_headers(frame: &[u8], segment: u16, uncharged: u32) -> u32 {
    let places = Places::of(frame).filter(|_| segment > 0);
    let Some((places, headers)) = places.and_then(|p| Some((p, p.headers(frame)?))) else {
        return 0;
    };
    let segments = (places.end - headers).div_ceil(usize::from(segment)).max(1);
    (segments - 1) as u32 * (headers as u32).saturating_sub(uncharged)
}

/// `struct virtio_net_hdr` (linux/virtio_net.h): how to segment a frame.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct VirtioHeader {
    /// Whether the checksum field holds only the sum of the pseudo-header.
    pub flags: u8,
    /// The protocol of the segments. If 0, the frame is sent as it is.
    pub kind: u8,
    /// Octets of all headers.
    pub headers: u16,
    /// Octets of data per segment.
    pub segment: u16,
    /// Where the checksum begins: at the TCP or UDP header.
    pub checksum_start: u16,
    /// Where the checksum is written, relative to `checksum_start`.
    pub checksum_offset: u16,
}

impl VirtioHeader {
    /// Bit of `flags`: the checksum is missing.
    pub const NEEDS_CHECKSUM: u8 = 1;
    const TCP_V4: u8 = 1;
    const TCP_V6: u8 = 4;
    const UDP: u8 = 5;
    const WITH_CWR: u8 = 0x80;
}

/// A frame that the kernel segments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cut {
    /// The header to send before the frame.
    pub header: VirtioHeader,
    /// Octets of the frame. Octets behind the IP packet would become data.
    pub length: usize,
    /// Octets of the longest segment, including the Ethernet header and tags.
    pub longest: usize,
}

/// Prepares a frame for segmentation, with `segment` octets of data per segment. `None` if it does not carry TCP or UDP
/// in one complete IP packet.
pub fn cut(frame: &mut [u8], segment: u16) -> Option<Cut> {
    let places = Places::of(frame).filter(|places| !places.csig)?;
    let headers = places.headers(frame)?;
    let sum = places.pseudo_header(frame);
    frame[places.checksum..places.checksum + 2].copy_from_slice(&sum.to_be_bytes());
    let kind = match (places.protocol, places.v6) {
        (UDP, _) => VirtioHeader::UDP,
        (_, true) => VirtioHeader::TCP_V6,
        (_, false) => VirtioHeader::TCP_V4,
    };
    let with_cwr = places.protocol == TCP && frame[places.segment + 13] & CWR != 0;
    Some(Cut {
        header: VirtioHeader {
            flags: VirtioHeader::NEEDS_CHECKSUM,
            kind: kind | if with_cwr { VirtioHeader::WITH_CWR } else { 0 },
            headers: headers as u16,
            segment,
            checksum_start: places.segment as u16,
            checksum_offset: (places.checksum - places.segment) as u16,
        },
        length: places.end,
        longest: headers + usize::from(segment).min(places.end - headers),
    })
}

/// Octets of the Ethernet header and 802.1Q tags in front of the packet.
pub fn link_header(frame: &[u8]) -> usize {
    let mut at = 12;
    while matches!(word(frame, at), Some(0x8100 | 0x88a8)) {
        at += 4;
    }
    (at + 2).max(ETHERNET)
}

fn word(octets: &[u8], at: usize) -> Option<u16> {
    let pair = octets.get(at..at + 2)?;
    Some(u16::from_be_bytes([pair[0], pair[1]]))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PSEUDO: [u8; 12] = [10, 0, 0, 1, 10, 0, 0, 2, 0, UDP, 0, 10];

    /// A UDP datagram from 10.0.0.1:1000 to 10.0.0.2:2000 with the payload "ab".
    fn datagram(checksum: u16) -> Vec<u8> {
        let mut frame = vec![0; 12];
        frame.extend([0x08, 0x00, 0x45, 0, 0, 30, 0, 0, 0, 0, 64, 17, 0, 0]);
        frame.extend([10, 0, 0, 1, 10, 0, 0, 2, 0x03, 0xe8, 0x07, 0xd0, 0, 10]);
        frame.extend(checksum.to_be_bytes());
        frame.extend(b"ab");
        frame
    }

    /// A TCP packet with 8 octets of IPv4 options, 12 of TCP options, and `data` octets of data.
    fn tcp(data: u16) -> Vec<u8> {
        let mut frame = vec![0; 12];
        frame.extend([0x08, 0x00, 0x47, 0]);
        frame.extend((28 + 32 + data).to_be_bytes());
        frame.extend([0, 0, 0, 0, 64, TCP, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]);
        frame.extend([0x5e, 8, 0, 0, 0, 0, 0, 0]);
        frame.extend([0; 12]);
        frame.extend([0x80, 0x10 | CWR, 0, 0, 0xab, 0xcd, 0, 0]);
        frame.extend(vec![1; 12 + usize::from(data)]);
        frame
    }

    #[test]
    fn a_completed_datagram_sums_to_all_ones_with_its_pseudo_header() {
        let mut frame = datagram(Sum::of(&PSEUDO).value());
        complete_checksum(&mut frame);
        let whole = [&PSEUDO[..], &frame[34..]].concat();
        assert_eq!(Sum::of(&whole).value(), 0xffff);
    }

    #[test]
    fn a_frame_that_is_cut_off_stays_as_it_is() {
        let whole = datagram(0x1234);
        for length in 0..whole.len() {
            let mut part = whole[..length].to_vec();
            complete_checksum(&mut part);
            assert_eq!(cut(&mut part, 1), None);
            assert_eq!(part, whole[..length]);
        }
    }

    #[test]
    fn segments_repeat_all_headers_with_the_options_in_them() {
        let mut frame = tcp(10_000);
        // Seven more segments, of 28 + 32 octets of headers each.
        assert_eq!(further_headers(&frame, 1400, 14), 7 * 60);
        assert_eq!(further_headers(&frame, 1400, 0), 7 * 74);
        assert_eq!(further_headers(&frame, 0, 0), 0);
        frame.extend(b"behind");
        let cut = cut(&mut frame, 1400).expect("it is TCP");
        assert_eq!(
            (cut.length, cut.longest),
            (14 + 60 + 10_000, 14 + 60 + 1400)
        );
        assert_eq!(
            cut.header.kind,
            VirtioHeader::TCP_V4 | VirtioHeader::WITH_CWR
        );
        let places = (cut.header.headers, cut.header.checksum_start);
        assert_eq!((places, cut.header.checksum_offset), ((74, 42), 16));
    }

    #[test]
    fn a_frame_with_more_data_leaves_as_one_segment() {
        let mut frame = tcp(100);
        assert_eq!(data(&frame), 100);
        assert_eq!(data(&frame[..50]), 0);
        // Sixteen octets more, as of a telemetry header behind TCP's.
        frame[17] += 16;
        frame.extend([7; 16]);
        assert_eq!(data(&frame), 116);
        whole(&mut frame);
        let pseudo = [10, 0, 0, 1, 10, 0, 0, 2, 0, TCP, 0, 32 + 116];
        let summed = [&pseudo[..], &frame[42..]].concat();
        assert_eq!(Sum::of(&summed).value(), 0xffff);
        frame.splice(12..12, [0x88, 0xb5, 0, 0]);
        assert_eq!(data(&frame), 0);
        assert_eq!(cut(&mut frame, 50), None);
    }

    #[test]
    fn the_pseudo_header_is_that_of_the_frame_as_it_leaves() {
        let mut frame = datagram(0x1234);
        cut(&mut frame, 1).expect("it is UDP");
        assert_eq!(word(&frame, 40), Some(Sum::of(&PSEUDO).value()));
    }
}
