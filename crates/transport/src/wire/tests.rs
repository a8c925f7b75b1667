use congestion::{HopRecord, PathRecord};
use internet_checksum::Sum;
use proptest::prelude::*;

use super::tcp::NOP;
use super::*;
use crate::tcp::csig::{Reflection, Signal};
use crate::tcp::tcp_int::{Echo, TcpInt};
use crate::tcp::{First, Flags, OctetCounts, SackBlocks, SynOptions, Timestamps};

fn flow() -> Flow {
    Flow {
        source_mac: [2, 0, 0, 0, 0, 1],
        destination_mac: [2, 0, 0, 0, 0, 2],
        source: Ipv4Addr::new(10, 0, 0, 1),
        destination: Ipv4Addr::new(10, 0, 0, 2),
        source_port: 4000,
        destination_port: 5000,
    }
}

fn packet(body: Body) -> Packet {
    Packet {
        flow: flow(),
        identification: 7,
        ttl: 64,
        body,
    }
}

fn written(packet: &Packet) -> Vec<u8> {
    let mut buffer = [0xAA; MAX_HEADER_OCTETS];
    let octets = encode(packet, &mut buffer).unwrap();
    buffer[..octets].to_vec()
}

fn data_segment() -> Segment {
    Segment {
        seq: 0x0102_0304,
        ack: 0x0506_0708,
        flags: Flags::ACK,
        window: 0x1234,
        payload: 952,
        aqt: Some(Aqt {
            time_us: 0x01_0203,
            echo_us: 0x0A_0B0C,
        }),
        link_octets: 1000,
        ..Segment::default()
    }
}

#[test]
fn a_rovegas_data_packet_octet_by_octet() {
    #[rustfmt::skip]
    let expected = [
        2, 0, 0, 0, 0, 2,  2, 0, 0, 0, 0, 1,  0x08, 0x00,
        // IPv4: IHL 7, total 1000 = 28 + 20 + 952, DF, TTL 64, TCP. The words add up to 0x14C18, folded to 0x4C19.
        0x47, 0x00, 0x03, 0xE8,  0x00, 0x07, 0x40, 0x00,  64, 6, 0xB3, 0xE6,
        10, 0, 0, 1,  10, 0, 0, 2,
        0x5E, 8, 0x01, 0x02, 0x03, 0x0A, 0x0B, 0x0C,
        // TCP: data offset 5, ACK; the pseudo-header's length is 972.
        0x0F, 0xA0, 0x13, 0x88,  1, 2, 3, 4,  5, 6, 7, 8,  0x50, 0x10, 0x12, 0x34,  0x52, 0xAA, 0, 0,
    ];
    assert_eq!(written(&packet(Body::Tcp(data_segment()))), expected);
}

#[test]
fn an_acknowledgement_with_the_option_has_48_octets() {
    let ack = Segment {
        payload: 0,
        link_octets: 48,
        ..data_segment()
    };
    assert_eq!(written(&packet(Body::Tcp(ack))).len(), 14 + 48);
    let plain = Segment {
        aqt: None,
        link_octets: 40,
        ..ack
    };
    assert_eq!(written(&packet(Body::Tcp(plain))).len(), 14 + 40);
}

#[test]
fn a_cross_traffic_packet_has_1000_octets_in_all() {
    let octets = written(&packet(Body::udp_of_total(1000)));
    assert_eq!(octets.len(), 14 + 28);
    assert_eq!(be16(&octets, 16), 1000);
    assert_eq!(decode(&octets, 972), Ok(packet(Body::Udp { payload: 972 })));
}

#[test]
fn queueing_times_saturate_at_24_bits() {
    let aqt = Some(Aqt {
        time_us: 0x0100_0000,
        echo_us: u32::MAX,
    });
    let octets = written(&packet(Body::Tcp(Segment {
        aqt,
        ..data_segment()
    })));
    let Body::Tcp(segment) = decode(&octets, 952).unwrap().body else {
        panic!("TCP was written")
    };
    assert_eq!(
        segment.aqt,
        Some(Aqt {
            time_us: Aqt::MAX_US,
            echo_us: Aqt::MAX_US
        })
    );
}

#[test]
fn options_are_found_among_others_and_the_first_counts() {
    let mut octets = written(&packet(Body::Tcp(Segment {
        payload: 0,
        aqt: None,
        ..data_segment()
    })));
    let options: [u8; 24] = [
        1, 0x88, 3, 9, 0x5E, 8, 0, 0, 5, 0, 0, 6, // NOP, an unknown one, AQT 5 and 6
        0x5E, 8, 0, 0, 7, 0, 0, 8, 0, 0x5E, 99,
        99, // another AQT, the end, and an invalid option
    ];
    octets.splice(34..34, options);
    octets[14] = 0x40 | (44 / 4);
    octets[16..18].copy_from_slice(&64_u16.to_be_bytes());
    rewrite_ip_checksum(&mut octets);
    let Body::Tcp(segment) = decode(&octets, 0).unwrap().body else {
        panic!("TCP was written")
    };
    assert_eq!(
        segment.aqt,
        Some(Aqt {
            time_us: 5,
            echo_us: 6
        })
    );
    assert_eq!(segment.options.as_slice(), [0x88, 3, 9]);
}

fn rewrite_ip_checksum(octets: &mut [u8]) {
    let header = usize::from(octets[14] & 15) * 4;
    octets[24..26].fill(0);
    let checksum = Sum::of(&octets[14..14 + header]).checksum();
    octets[24..26].copy_from_slice(&checksum.to_be_bytes());
}

/// The result of [`decode`] for the data packet after `change`, with its IPv4 checksum corrected.
fn mangled(change: impl Fn(&mut Vec<u8>)) -> DecodeError {
    let mut octets = written(&packet(Body::Tcp(data_segment())));
    change(&mut octets);
    rewrite_ip_checksum(&mut octets);
    decode(&octets, 952).unwrap_err()
}

#[test]
fn errors_say_what_is_wrong() {
    let said = |change: fn(&mut Vec<u8>)| mangled(change).to_string();
    assert_eq!(
        said(|octets| octets[12] = 0x86),
        "EtherType is 0x8600, expected 0x0800 (IPv4)"
    );
    assert_eq!(
        said(|octets| octets[14] = 0x67),
        "IP version is 6, expected 4"
    );
    assert_eq!(
        said(|octets| octets[14] = 0x44),
        "IPv4 header length is 4 words, expected 5 to 15"
    );
    assert_eq!(
        said(|octets| octets[17] += 1),
        "IPv4 needs 1001 octets, 1000 are available"
    );
    assert_eq!(
        said(|octets| octets[20] |= 0x20),
        "the packet is a fragment"
    );
    assert_eq!(
        said(|octets| octets[23] = 1),
        "IPv4 protocol is 1, expected 6 (TCP) or 17 (UDP)"
    );
    assert_eq!(
        said(|octets| octets[35] = 7),
        "IPv4 option 0x5e at octet 20 has length 7, which does not fit"
    );
    assert_eq!(
        said(|octets| octets[50] ^= 1),
        "TCP checksum does not match"
    );
    assert_eq!(
        said(|octets| octets[54] = 0x40),
        "TCP header length is 4 words, expected 5 to 15"
    );
    assert_eq!(
        decode(&[0; 13], 0).unwrap_err().to_string(),
        "Ethernet needs 14 octets, 13 are available"
    );
    let mut octets = written(&packet(Body::Tcp(data_segment())));
    octets[24] ^= 1;
    assert_eq!(
        decode(&octets, 952).unwrap_err().to_string(),
        "IPv4 checksum does not match"
    );
}

#[test]
fn a_packet_that_does_not_fit_is_refused() {
    let packet = packet(Body::Tcp(data_segment()));
    assert_eq!(
        encode(&packet, &mut [0; 61]),
        Err(EncodeError::BufferTooSmall {
            needed: 62,
            available: 61
        })
    );
    let long = Body::Tcp(Segment {
        payload: 65_488,
        ..data_segment()
    });
    assert_eq!(
        encode(
            &Packet {
                body: long,
                ..packet
            },
            &mut [0; MAX_HEADER_OCTETS]
        ),
        Err(EncodeError::TooLong { octets: 65_536 })
    );
    let mut sack = SackBlocks::default();
    (0..4).for_each(|block| assert!(sack.push(block, block + 1)));
    let timestamps = Some(Timestamps::default());
    let body = Body::Tcp(Segment {
        sack,
        timestamps,
        ..data_segment()
    });
    assert_eq!(
        encode(&Packet { body, ..packet }, &mut [0; MAX_HEADER_OCTETS]),
        Err(EncodeError::TcpOptionsTooLong { octets: 48 })
    );
    let mut options = Options::default();
    let mut option = [0; 33];
    option[..2].copy_from_slice(&[0x9E, 33]);
    assert!(options.push(&option));
    let body = Body::Tcp(Segment {
        options,
        ..data_segment()
    });
    assert_eq!(
        encode(&Packet { body, ..packet }, &mut [0; MAX_HEADER_OCTETS]),
        Err(EncodeError::Ipv4OptionsTooLong { octets: 44 })
    );
}

#[test]
fn a_tag_stands_in_front_of_ipv4_and_its_reflection_in_a_tcp_option() {
    let mut reflection = Reflection::default();
    for tag in [0x4B05, 0x2C07] {
        reflection.add(Tag(tag));
    }
    let segment = Segment {
        csig: Some(Tag::asking(Signal::Delay)),
        reflection,
        link_octets: 40 + 8 + 4,
        ..Segment::default()
    };
    let octets = written(&packet(Body::Tcp(segment)));
    assert_eq!(octets[12..18], [0x88, 0xB5, 0x40, 0x00, 0x08, 0x00]);
    let option = [253, 8, 0xC5, 0x16, 0x2C, 0x07, 0x4B, 0x05];
    assert_eq!(octets[18 + 40..], option);
    assert_eq!(decode(&octets, 0).unwrap().body, Body::Tcp(segment));
    assert_eq!(ipv4_offset(&octets), Some(18));
    for (cut, said) in [
        (17, "CSIG needs 4 octets, 3 are available"),
        (20, "IPv4 needs 20 octets, 2 are available"),
    ] {
        let error = decode(&octets[..cut], 0).unwrap_err();
        assert_eq!(error.to_string(), said);
    }
}

#[test]
fn other_experiments_are_passed_over_and_half_a_tag_is_refused() {
    let mut segment = Segment::default();
    segment.reflection.add(Tag(0x4B05));
    let octets = written(&packet(Body::Tcp(segment)));
    // NOP, NOP, and an option of 6 octets.
    assert_eq!(octets[54..], [1, 1, 253, 6, 0xC5, 0x16, 0x4B, 0x05]);
    let changed = |at: usize, to: u8| {
        let mut octets = octets.clone();
        octets[at] = to;
        octets[50..52].fill(0);
        let pseudo = ipv4::pseudo_header(flow().source, flow().destination, 6, 28);
        let checksum = (pseudo + Sum::of(&octets[34..])).checksum();
        octets[50..52].copy_from_slice(&checksum.to_be_bytes());
        decode(&octets, 0).map(|packet| packet.body)
    };
    let Ok(Body::Tcp(other)) = changed(58, 0xC6) else {
        panic!("another experiment");
    };
    assert!(other.reflection.is_empty());
    let half = changed(57, 5).unwrap_err();
    assert_eq!(
        half.to_string(),
        "TCP option 0xfd at octet 22 has length 5, which does not fit"
    );
}

prop_compose! {
    fn stacks()(
        flags in any::<(bool, bool, bool, u8, u16)>(),
        hops in prop::collection::vec((0..u64::MAX, any::<u32>(), 0..1_u32 << 24, 1..u32::MAX), 0..=PathRecord::MAX),
    ) -> Int {
        let mut stack = Int {
            is_echo: flags.0,
            exhausted: flags.1,
            too_long: flags.2,
            remaining: flags.3,
            ..Int::default()
        };
        stack.path.path = flags.4;
        for (left_ns, sent_octets, queue_octets, rate_kbps) in hops {
            assert!(stack.push(HopRecord { left_ns, sent_octets, queue_octets, rate_kbps }));
        }
        stack
    }
}

prop_compose! {
    fn tcp_ints()(octets in any::<[u8; 10]>()) -> TcpInt {
        tcp_int::read(&[&[tcp_int::KIND, 12][..], &octets].concat())
    }
}

prop_compose! {
    fn segments()(
        numbers in any::<(u32, u32, u16, u16)>(),
        payload in 0_u32..60_000,
        blocks in prop::collection::vec(any::<(u32, u32)>(), 0..=3),
        timestamps in any::<Option<(u32, u32)>>(),
        aqt in prop::option::of((0..=Aqt::MAX_US, 0..=Aqt::MAX_US)),
        avbw in any::<Option<(u8, u8)>>(),
        int in prop::option::of(stacks()),
        ecn in 0_u8..4,
        syn in any::<Option<(Option<u16>, Option<u8>, bool)>>(),
        csig in any::<Option<u16>>(),
        reflected in prop::collection::vec(any::<u16>(), 0..=3),
        counts in prop::option::of((any::<bool>(), prop::collection::vec(0..OctetCounts::MODULUS, 0..=3))),
        tcp_int in prop::option::of(tcp_ints()),
        others in prop::collection::vec((2..=0x50_u8, prop::collection::vec(any::<u8>(), 0..=7)), 0..=3),
    ) -> Segment {
        // 27 octets in addition to AQT and AVBW-S.
        let mut options = Options::default();
        for (kind, value) in &others {
            let mut option = vec![*kind, 2 + value.len() as u8];
            option.extend(value);
            assert!(options.push(&option));
        }
        let mut sack = SackBlocks::default();
        let mut reflection = Reflection::default();
        reflected.iter().for_each(|&tag| reflection.add(Tag(tag)));
        // There is no room for all.
        let counts = counts.filter(|_| reflection.is_empty());
        let tcp_int = tcp_int.filter(|_| reflection.is_empty() && counts.is_none());
        let most = match (syn, reflection.is_empty() && counts.is_none() && tcp_int.is_none()) {
            (Some(_), _) => 0,
            (None, true) => 3,
            (None, false) => 1,
        };
        let blocks = &blocks[..blocks.len().min(most)];
        blocks.iter().for_each(|&(left, right)| assert!(sack.push(left, right)));
        Segment {
            seq: numbers.0,
            ack: numbers.1,
            window: numbers.2,
            flags: Flags(numbers.3 & 0x1ff),
            payload,
            sack,
            timestamps: timestamps.map(|(value, echo)| Timestamps { value, echo }),
            aqt: aqt.map(|(time_us, echo_us)| Aqt { time_us, echo_us }),
            avbw: avbw.map(|(drai, mrai_echo)| Avbw { drai, mrai_echo }),
            options,
            int,
            trim_notice: None,
            octet_counts: counts.map(|(ect1, fields)| {
                OctetCounts::new(if ect1 { First::Ect1 } else { First::Ect0 }, fields)
            }),
            tcp_int,
            trimming: Trimming::None,
            ecn: Ecn::from_bits(ecn),
            syn: syn.map_or(SynOptions::default(), |(mss, window_scale, sack_permitted)| SynOptions {
                mss,
                window_scale,
                sack_permitted,
            }),
            csig: csig.map(Tag),
            reflection,
            link_octets: 0,
        }
    }
}

proptest! {
    #[test]
    fn what_is_written_is_read(segment in segments(), udp in any::<bool>()) {
        let body = if udp { Body::Udp { payload: segment.payload } } else { Body::Tcp(segment) };
        let packet = packet(body);
        let octets = written(&packet);
        prop_assert_eq!(sequence_number(&octets), (!udp).then_some(segment.seq));
        let mut read = decode(&octets, segment.payload).unwrap();
        if let Body::Tcp(segment) = &mut read.body {
            prop_assert_eq!(u64::from(segment.link_octets), octets.len() as u64 - 14 + u64::from(segment.payload));
            segment.link_octets = 0;
        }
        prop_assert_eq!(read, packet);
    }

    #[test]
    fn payload_may_be_present_or_elided(segment in segments(), present in 0_usize..2000) {
        let segment = Segment { payload: segment.payload % 2000, ..segment };
        let mut octets = written(&packet(Body::Tcp(segment)));
        let present = present.min(segment.payload as usize);
        let elided = decode(&octets, segment.payload).unwrap();
        octets.resize(octets.len() + present, 0);
        prop_assert_eq!(decode(&octets, segment.payload - present as u32), Ok(elided));
    }

    #[test]
    fn a_payload_written_is_read_and_a_changed_bit_of_it_is_noticed(
        segment in segments(),
        payload in prop::collection::vec(any::<u8>(), 1..1500),
        bit in any::<usize>(),
    ) {
        let body = Body::Tcp(Segment { payload: payload.len() as u32, csig: None, ..segment });
        let packet = Packet { flow: Flow { source_mac: [0; 6], destination_mac: [0; 6], ..flow() }, ..packet(body) };
        let mut octets = vec![0; 2000];
        let at = payload_offset(&packet).unwrap();
        octets[at..at + payload.len()].copy_from_slice(&payload);
        let length = complete_ip(&packet, &mut octets).unwrap();
        let octets = &mut octets[..length];
        let (mut read, present) = decode_ip(octets, 0).unwrap();
        prop_assert_eq!(present, payload);
        if let Body::Tcp(read) = &mut read.body {
            read.link_octets = segment.link_octets;
        }
        prop_assert_eq!(read, packet);
        let bit = bit % (8 * (length - at));
        octets[at + bit / 8] ^= 1 << (bit % 8);
        prop_assert!(decode_ip(octets, 0).is_err());
    }

    #[test]
    fn one_changed_bit_is_noticed(segment in segments(), bit in 0_usize..1072) {
        let packet = packet(Body::Tcp(Segment { csig: None, ..segment }));
        let mut octets = written(&packet);
        // Beyond the Ethernet addresses, which are not protected, as is a CSIG tag.
        let bit = 96 + bit % (8 * (octets.len() - 12));
        octets[bit / 8] ^= 1 << (bit % 8);
        prop_assert!(decode(&octets, segment.payload).is_err());
    }

    #[test]
    fn mangled_octets_never_panic(
        segment in segments(),
        changes in prop::collection::vec((0_usize..MAX_HEADER_OCTETS, any::<u8>()), 0..12),
        kept in 0..=MAX_HEADER_OCTETS,
        elided in any::<u32>(),
        checksum in any::<bool>(),
    ) {
        let mut octets = written(&packet(Body::Tcp(segment)));
        for (at, value) in changes {
            let at = at % octets.len();
            octets[at] = value;
        }
        if checksum && octets.len() >= 74 {
            octets[14] |= 0x40;
            rewrite_ip_checksum(&mut octets);
        }
        octets.truncate(kept);
        let _ = decode(&octets, elided);
    }

    #[test]
    fn arbitrary_octets_never_panic(octets in prop::collection::vec(any::<u8>(), 0..160), elided in any::<u32>()) {
        let _ = (decode(&octets, elided), sequence_number(&octets));
    }
}

/// `segment` encoded, with zeros as its payload, truncated to `octets`.
fn cut_to(octets: usize, segment: Segment) -> Vec<u8> {
    let mut frame = written(&packet(Body::Tcp(segment)));
    frame.resize(frame.len() + segment.payload as usize, 0);
    frame.truncate(octets);
    frame
}

#[test]
fn a_trimmed_segment_says_which_it_was() {
    let trimmed = Segment {
        trimming: Trimming::Cut,
        ..data_segment()
    };
    // Ethernet's 14 octets, IPv4's 28 with AQT, and TCP's 20: shorter packets contain no information.
    for octets in [62, 128, 1013] {
        let Ok(Packet {
            body: Body::Tcp(segment),
            ..
        }) = decode(&cut_to(octets, trimmed), 0)
        else {
            panic!("{octets} octets")
        };
        let expected = Segment {
            seq: 0x0102_0304,
            payload: 952,
            trimming: Trimming::Cut,
            link_octets: 1000,
            ..Segment::default()
        };
        assert_eq!(segment, expected);
    }
    assert!(decode(&cut_to(61, trimmed), 0).is_err());
    // A hop did not need to trim it: the complete packet.
    let Body::Tcp(whole) = decode(&cut_to(2000, trimmed), 0).unwrap().body else {
        panic!("TCP was written")
    };
    assert_eq!(whole, data_segment());
}

#[test]
fn only_the_codepoint_of_trimmed_packets_lets_a_packet_end_early() {
    for trimming in [Trimming::None, Trimming::Trimmable] {
        let segment = Segment {
            trimming,
            ..data_segment()
        };
        let error = decode(&cut_to(128, segment), 0).unwrap_err();
        assert_eq!(
            error.to_string(),
            "IPv4 needs 1000 octets, 114 are available"
        );
        let Body::Tcp(whole) = decode(&cut_to(2000, segment), 0).unwrap().body else {
            panic!("TCP was written")
        };
        assert_eq!(whole, segment);
    }
    let mut datagram = written(&packet(Body::udp_of_total(1000)));
    datagram[15] = 7 << 2;
    rewrite_ip_checksum(&mut datagram);
    assert!(decode(&datagram, 0).is_err());
    // Its TCP header cannot be longer than the packet was.
    let mut short = cut_to(
        62,
        Segment {
            trimming: Trimming::Cut,
            ..data_segment()
        },
    );
    short[14 + 28 + 12] = 15 << 4;
    short[16..18].copy_from_slice(&80_u16.to_be_bytes());
    rewrite_ip_checksum(&mut short);
    assert!(decode(&short, 0).is_err());
}

#[test]
fn the_notice_of_a_trimmed_segment_octet_by_octet() {
    let notice = Segment {
        payload: 0,
        aqt: None,
        trim_notice: Some(0x0A0B_0C0D),
        link_octets: 48,
        ..data_segment()
    };
    let octets = written(&packet(Body::Tcp(notice)));
    assert_eq!(
        octets[14 + 40..],
        [253, 8, 0x74, 0x72, 0x0A, 0x0B, 0x0C, 0x0D]
    );
    let Body::Tcp(read) = decode(&octets, 0).unwrap().body else {
        panic!("TCP was written")
    };
    assert_eq!(read, notice);
}

/// Written by hand, from figure 4 and table 5 of RFC 9768.
#[test]
fn the_option_of_accurate_ecn_octet_by_octet() {
    let ack = |first, fields: &[u32]| Segment {
        payload: 0,
        aqt: None,
        octet_counts: Some(OctetCounts::new(first, fields.iter().copied())),
        ..data_segment()
    };
    let fields = [0x01_0203, 0x0A_0B0C, 0xFF_FFFE];
    let cases: [(First, usize, &[u8]); 5] = [
        (
            First::Ect0,
            3,
            &[NOP, 172, 11, 1, 2, 3, 10, 11, 12, 255, 255, 254],
        ),
        (
            First::Ect1,
            3,
            &[NOP, 174, 11, 1, 2, 3, 10, 11, 12, 255, 255, 254],
        ),
        (First::Ect1, 2, &[174, 8, 1, 2, 3, 10, 11, 12]),
        (First::Ect0, 1, &[NOP, NOP, NOP, 172, 5, 1, 2, 3]),
        (First::Ect1, 0, &[NOP, NOP, 174, 2]),
    ];
    for (first, count, expected) in cases {
        let segment = ack(first, &fields[..count]);
        let octets = written(&packet(Body::Tcp(segment)));
        assert_eq!(octets[14 + 40..], *expected);
        let Body::Tcp(read) = decode(&octets, 0).unwrap().body else {
            panic!("TCP was written")
        };
        assert_eq!(read.octet_counts, segment.octet_counts);
    }
}

/// A possible format of the option's next version: complete fields count, the rest is padding (RFC 9768, §3.2.3).
#[test]
fn other_lengths_of_accurate_ecn_s_option_have_their_whole_fields() {
    let cases: [(&[u8], &[u32]); 4] = [
        (&[172, 3, 9], &[]),
        (&[172, 4, 9, 9], &[]),
        (&[172, 7, 0, 0, 1, 0, 2], &[1]),
        (
            &[172, 15, 0, 0, 1, 0, 0, 2, 0, 0, 3, 0, 0, 4, 0],
            &[1, 2, 3],
        ),
    ];
    for (option, expected) in cases {
        assert_eq!(octet_counts::read(option).fields(), expected);
    }
}

/// Written by hand, from the figure in `tcp_int.rs`. The octets are those of `hosts/layers/tcp_int.py`.
#[test]
fn the_option_of_tcp_int_octet_by_octet() {
    let mut segment = Segment {
        payload: 0,
        aqt: None,
        tcp_int: Some(TcpInt {
            tag_frequency: 15,
            link_speed: 3,
            value: 0x85,
            hop: 62,
            latency: 0x01_0203,
            echo: Echo {
                value: 4,
                hop: 5,
                link_speed: 1,
                latency: 0x8001,
            },
        }),
        ..data_segment()
    };
    let octets = written(&packet(Body::Tcp(segment)));
    assert_eq!(
        octets[14 + 40..],
        [0x72, 12, 0xF3, 0x85, 62, 1, 2, 3, 4, 0x51, 0x80, 1]
    );
    segment.link_octets = 52;
    assert_eq!(decode(&octets, 0).unwrap().body, Body::Tcp(segment));
    // An option of another length is not this option.
    let mut other = octets;
    other[14 + 40 + 1] = 11;
    other[14 + 40 + 11] = 0;
    other[50..52].fill(0);
    let pseudo = ipv4::pseudo_header(flow().source, flow().destination, 6, 32);
    let checksum = (pseudo + Sum::of(&other[34..])).checksum();
    other[50..52].copy_from_slice(&checksum.to_be_bytes());
    let Body::Tcp(read) = decode(&other, 0).unwrap().body else {
        panic!("TCP was written")
    };
    assert_eq!(read.tcp_int, None);
}
