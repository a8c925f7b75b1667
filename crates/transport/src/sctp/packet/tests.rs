use super::*;
use crate::sctp::Tsn;
use std::net::Ipv4Addr;

fn written(write: impl FnOnce(&mut Writer<'_>)) -> Vec<u8> {
    let mut out = Vec::new();
    let mut packet = Writer::new(&mut out, 1024, 2048, 0x0102_0304);
    write(&mut packet);
    packet.finish();
    out
}

fn chunks(octets: &[u8]) -> Vec<Chunk<'_>> {
    let packet = Packet::parse(octets).unwrap();
    packet.chunks().map(Result::unwrap).collect()
}

/// The check value of CRC-32C for "123456789" is 0xE3069283.
#[test]
fn the_polynomial_is_castagnolis() {
    assert_eq!(checksum::CRC32C.checksum(b"123456789"), 0xE306_9283);
}

#[test]
fn the_common_header_is_as_rfc_9260_draws_it() {
    let octets = written(|packet| {
        packet.shutdown(Tsn(5));
    });
    assert_eq!(octets[..8], [4, 0, 8, 0, 1, 2, 3, 4]);
    assert_eq!(octets[12..], [7, 0, 0, 8, 0, 0, 0, 5]);
}

#[test]
fn data_is_padded_and_read_back() {
    let data = Data {
        flags: DataFlags(DataFlags::BEGIN | DataFlags::END),
        tsn: Tsn(9),
        stream: 1,
        ssn: 2,
        protocol: 3,
        payload: b"abcde",
    };
    let octets = written(|packet| {
        packet.timestamp(7, 8).data(&data).data(&data);
    });
    assert_eq!(octets.len(), 12 + 12 + 2 * 24);
    let stamp = Chunk::Timestamp { value: 7, echo: 8 };
    let data = Chunk::Data(data);
    assert_eq!(chunks(&octets), [stamp, data, data]);
}

#[test]
fn a_sack_is_read_back() {
    let (gaps, duplicates) = ([(2, 3), (5, 9)], [Tsn(1), Tsn(1)]);
    let octets = written(|packet| {
        packet.sack(Tsn(11), 1000, &gaps, &duplicates);
    });
    let [Chunk::Sack(sack)] = chunks(&octets)[..] else {
        panic!("no SACK");
    };
    assert_eq!((sack.cumulative, sack.window), (Tsn(11), 1000));
    assert!(sack.gaps().eq(gaps));
    assert!(sack.duplicates().eq(duplicates));
}

#[test]
fn parameters_of_an_init_ack_are_read_back() {
    let addresses = [Ipv4Addr::new(10, 0, 0, 1), Ipv4Addr::new(10, 0, 1, 1)];
    let octets = written(|packet| {
        let streams = (1, 2);
        let cookie = Some(&b"cookie!"[..]);
        packet.init(
            kind::INIT_ACK,
            5,
            6,
            streams,
            Tsn(7),
            &addresses,
            cookie,
            &[],
        );
    });
    let [Chunk::InitAck(init)] = chunks(&octets)[..] else {
        panic!("no INIT ACK");
    };
    assert_eq!((init.tag, init.window), (5, 6));
    assert_eq!((init.outbound, init.inbound), (1, 2));
    assert_eq!(init.parameters.cookie(), Some(&b"cookie!"[..]));
    assert!(init.parameters.addresses().eq(addresses));
}

#[test]
fn a_changed_bit_anywhere_is_noticed() {
    let octets = written(|packet| {
        packet.chunk(kind::HEARTBEAT, 0, b"information");
    });
    for bit in 0..octets.len() * 8 {
        let mut changed = octets.clone();
        changed[bit / 8] ^= 1 << (bit % 8);
        let error = Packet::parse(&changed).unwrap_err();
        assert!(
            matches!(error, PacketError::BadChecksum { .. }),
            "bit {bit}: {error}"
        );
    }
}

#[test]
fn lengths_that_do_not_fit_are_reported_with_their_place() {
    let malformed = |octets: &mut Vec<u8>| {
        let mut packet = octets.clone();
        let sum = checksum(&packet);
        packet[8..12].copy_from_slice(&sum.to_le_bytes());
        let parsed = Packet::parse(&packet).unwrap();
        parsed.chunks().find_map(Result::err)
    };
    let mut octets = written(|packet| {
        packet.shutdown(Tsn(5)).sack(Tsn(1), 2, &[(2, 2)], &[]);
    });
    assert_eq!(malformed(&mut octets), None);
    octets[20 + 3] = 3;
    let told = malformed(&mut octets).unwrap().to_string();
    assert_eq!(
        told,
        "the chunk at octet 20 has a length of 3 octets; 20 are available"
    );
    octets[20 + 3] = 16; // one gap block is counted, none is there
    let told = malformed(&mut octets).unwrap();
    assert_eq!(told, PacketError::BadChunk { at: 20, kind: 3 });
    assert_eq!(
        Packet::parse(&octets[..15]),
        Err(PacketError::Truncated { octets: 15 })
    );
}
