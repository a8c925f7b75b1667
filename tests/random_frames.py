"""Frames from a seed, well-formed and mangled, and how to read the ones that come back.

Each frame carries its number twice: in its source MAC address, which forwarding rewrites, and in
its IPv4 identification, which nothing rewrites.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from scapy.utils import checksum

from waymark.ports import CPU_PORT, DROP_PORT

PACKET_HEADER = 2
"""Octets of packet_in and packet_out."""

AQT, AVBW = 0x5E, 0xDE
LENGTHS = {AQT: 8, AVBW: 4}
AQT_MAX_US = 0xFFFFFF

VLAN, IPV4, ARP = b"\x81\x00", b"\x08\x00", b"\x08\x06"


@dataclass(frozen=True)
class Sent:
    """A frame that goes into a switch."""

    number: int
    port: int
    octets: bytes


@dataclass(frozen=True)
class Received:
    """A frame that came out of a switch."""

    port: int
    octets: bytes


def random_frame(seed: int, number: int, routes: dict[int, int]) -> Sent:
    """Frame `number` of a seed: independent of other frames.

    Args:
        seed: any number.
        number: below 2^16.
        routes: destinations to choose from, as often as their weights say.
    """
    rng = Random(f"{seed}/{number}")
    kind = rng.choices(("ipv4", "arp", "other"), (90, 6, 4))[0]
    tags = rng.choices((0, 1, 2), (75, 21, 4))[0]
    if kind == "ipv4":
        dst = rng.choices(list(routes), list(routes.values()))[0]
        ether_type, body = IPV4, _mangled(rng, ipv4(rng, number, dst, _options(rng)))
    else:
        ether_type = ARP if kind == "arp" else rng.choice((b"\x86\xdd", b"\x88\xcc", b"\x05\xdc"))
        body = rng.randbytes(rng.randrange(64))
    octets = ethernet(number, b"".join(VLAN + rng.randbytes(2) for _ in range(tags)) + ether_type)
    octets += body
    if rng.random() < 0.04:
        octets = octets[: rng.randrange(1, len(octets))]
    if rng.random() < 0.1:
        egress = rng.choice((2, 3, DROP_PORT))
        return Sent(number, CPU_PORT, (egress << 7).to_bytes(2) + octets)
    return Sent(number, rng.choice((1, 2, 3)), octets)


def ethernet(number: int, ether_type: bytes) -> bytes:
    """The Ethernet header of a frame; tags are part of `ether_type`."""
    return bytes.fromhex("020000000001") + b"\x02\x00\x00\xa1" + number.to_bytes(2) + ether_type


def ipv4(rng: Random, number: int, dst: int, options: bytes) -> bytes:
    """A packet with a valid header."""
    payload = rng.randbytes(rng.randrange(48))
    header = bytes([0x45 + len(options) // 4, rng.randrange(256)])
    header += (20 + len(options) + len(payload)).to_bytes(2)
    header += number.to_bytes(2) + rng.choice((b"\x40\x00", b"\x00\x00", rng.randbytes(2)))
    ttl = rng.choices((0, 1, 2, 3, 64, 255), (3, 4, 10, 10, 60, 13))[0]
    header += bytes([ttl, rng.choice((1, 6, 17, 253))]) + b"\x00\x00"
    header += rng.choice((0x0A00010A, rng.getrandbits(32))).to_bytes(4) + dst.to_bytes(4)
    return with_checksum(header + options + payload)


def with_checksum(packet: bytes) -> bytes:
    """The packet with the checksum that fits as many words as its IHL tells."""
    zeroed = packet[:10] + b"\x00\x00" + packet[12:]
    return packet[:10] + checksum(zeroed[: header_octets(packet)]).to_bytes(2) + packet[12:]


def header_octets(packet: bytes) -> int:
    """Of an IPv4 header, as its IHL tells."""
    return (packet[0] & 0xF) * 4


def _mangled(rng: Random, packet: bytes) -> bytes:
    """One packet in five: a lie in one field, with a checksum that fits it or not."""
    what = rng.choices(("no", "checksum", "ihl", "version", "length"), (80, 5, 8, 3, 4))[0]
    if what == "checksum":
        wrong = int.from_bytes(packet[10:12]) ^ rng.randrange(1, 0xFFFF)
        return packet[:10] + wrong.to_bytes(2) + packet[12:]
    if what == "ihl":
        packet = bytes([0x40 | rng.randrange(16)]) + packet[1:]
    if what == "version":
        packet = bytes([rng.randrange(16) << 4 | packet[0] & 0xF]) + packet[1:]
    if what == "length":
        packet = packet[:2] + rng.randbytes(2) + packet[4:]
    return packet if what == "no" or rng.random() < 0.2 else with_checksum(packet)


# -- options ------------------------------------------------------------------------------------


def _options(rng: Random) -> bytes:
    """Octets of options: none, a well-formed list, or a list of anything."""
    kind = rng.choices(("none", "well-formed", "any"), (8, 46, 46))[0]
    if kind == "none":
        return b""
    return _well_formed(rng) if kind == "well-formed" else _any(rng)


def _well_formed(rng: Random) -> bytes:
    """AQT and AVBW-S once at most, in any order, NOPs and unknown options between them."""
    size = rng.randrange(4, 41, 4)
    chosen = [one for one in (_aqt(rng), _avbw(rng)) if rng.random() < 0.8]
    chosen += [_unknown(rng) for _ in range(rng.randrange(3))]
    rng.shuffle(chosen)
    options = b""
    for one in chosen:
        room = size - len(options)
        if len(one) <= room:
            options += b"\x01" * rng.randint(0, min(3, room - len(one))) + one
    if len(options) < size and rng.random() < 0.4:
        rest = size - len(options) - 1
        return options + b"\x00" + rng.choice((bytes(rest), rng.randbytes(rest)))
    return options.ljust(size, b"\x01")


def _any(rng: Random) -> bytes:
    """Copies, wrong lengths, ends too early, options cut off by the end, noise."""
    size = rng.randrange(4, 41, 4)
    options = b""
    while len(options) < size:
        candidates = {
            _aqt(rng): 22,
            _avbw(rng): 22,
            _unknown(rng): 16,
            b"\x01": 22,
            b"\x00": 2,
            _of_wrong_length(rng, AQT): 3,
            _of_wrong_length(rng, AVBW): 3,
            bytes([rng.choice((0x88, 0x07)), rng.choice((0, 1, 39, 40, 41, 255))]): 4,
            rng.randbytes(rng.randint(1, 8)): 4,
        }
        options += rng.choices(list(candidates), list(candidates.values()))[0]
    return options[:size]


def _aqt(rng: Random) -> bytes:
    aqt_us = rng.choice((0, 1, rng.getrandbits(24), AQT_MAX_US - 1, AQT_MAX_US))
    return bytes([AQT, 8]) + aqt_us.to_bytes(3) + rng.randbytes(3)


def _avbw(rng: Random) -> bytes:
    return bytes([AVBW, 4, rng.choice((0, 1, 2, 3, 4, 5, 6, 7, 0xFF)), rng.getrandbits(8)])


def _unknown(rng: Random) -> bytes:
    length = rng.randint(2, 14)
    return bytes([rng.choice((0x07, 0x44, 0x83, 0x88, 0x94)), length]) + rng.randbytes(length - 2)


def _of_wrong_length(rng: Random, kind: int) -> bytes:
    length = rng.choice([n for n in range(12) if n != LENGTHS[kind]])
    return bytes([kind, length]) + rng.randbytes(max(0, length - 2))


# -- reading ------------------------------------------------------------------------------------


def frame_of(port: int, octets: bytes) -> bytes:
    """From the Ethernet header on, at a port of the controller too."""
    return octets[PACKET_HEADER:] if port == CPU_PORT else octets


def ipv4_at(frame: bytes) -> int | None:
    """Where the IPv4 header begins behind at most one tag; None: nowhere."""
    at = 18 if frame[12:14] == VLAN else 14
    return at if frame[at - 2 : at] == IPV4 else None


def number_of(received: Received) -> int:
    """Which of the frames it was."""
    frame = frame_of(received.port, received.octets)
    at = ipv4_at(frame)
    return int.from_bytes(frame[10:12] if at is None else frame[at + 4 : at + 6])


def aqt_at(frame: bytes) -> int | None:
    """Where the AQT option of a well-formed list begins; None: no hop writes there."""
    start = ipv4_at(frame)
    if start is None:
        return None
    at, end = start + 20, start + header_octets(frame[start:])
    found: dict[int, int] = {}
    while at < end and frame[at] != 0:
        kind, length = frame[at], 1
        if kind != 1:
            length = frame[at + 1] if at + 1 < end else 0
            if not 2 <= length <= end - at or LENGTHS.get(kind, length) != length or kind in found:
                return None
            if kind in LENGTHS:
                found[kind] = at
        at += length
    return found.get(AQT)


def fields(frame: bytes) -> list[tuple[str, int, int]]:
    """Name, begin and end of what a frame consists of, options as one field."""
    start = ipv4_at(frame)
    link = [("Ethernet dst", 6), ("Ethernet src", 6), ("EtherType", 2)]
    if start == 18:
        link += [("802.1Q tag", 2), ("EtherType in the tag", 2)]
    if start is not None:
        link += [
            ("version and IHL", 1), ("TOS", 1), ("total length", 2), ("identification", 2),
            ("flags and offset", 2), ("TTL", 1), ("protocol", 1), ("checksum", 2),
            ("src", 4), ("dst", 4), ("options", header_octets(frame[start:]) - 20),
        ]  # fmt: skip
    at, told = 0, []
    for name, octets in link:
        told.append((name, at, at + octets))
        at += octets
    return [*told, ("payload", at, max(at, len(frame)))]
