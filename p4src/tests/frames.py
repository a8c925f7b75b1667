"""Ethernet frames as octets, described by the fields that a test needs.

This module shares no code with the host layers or the P4 programs, because it tests both.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from ipaddress import IPv4Address

AQT_MAX_US = 0xFFFFFF

NOP = b"\x01"
EOL = b"\x00"


def aqt(aqt_us: int, echo_us: int = 0x0A0B0C) -> bytes:
    """The AQT option (8 octets); both times in µs."""
    return b"\x5e\x08" + aqt_us.to_bytes(3) + echo_us.to_bytes(3)


def avbw(drai: int, echo: int = 0x05) -> bytes:
    """The AVBW-S option (4 octets)."""
    return bytes([0xDE, 4, drai, echo])


CSIG_TPID = b"\x88\xb5"


def csig(signal: int, band: int, locator: int = 0, reserved: int = 0) -> int:
    """A compact CSIG tag behind its TPID."""
    return signal << 13 | reserved << 12 | band << 7 | locator


def tcp_int(value: int, hop: int, latency: int, echo: int = 0x0A0B0C0D, tags: int = 0xF0) -> bytes:
    """The TCP-INT option (12 octets); the latency in units of 2^8 ns."""
    return bytes([0x72, 12, tags, value, hop]) + latency.to_bytes(3) + echo.to_bytes(4)


def tcp(
    options: bytes = b"",
    payload: bytes = b"data",
    *,
    src: str = "10.0.1.10",
    dst: str = "10.0.2.20",
    data_offset: int | None = None,
    checksum_error: int = 0,
) -> bytes:
    """A TCP segment with a right checksum: what ``Frame.payload`` has for protocol 6."""
    assert len(options) % 4 == 0, options.hex()
    words = 5 + len(options) // 4 if data_offset is None else data_offset
    before = bytes.fromhex("1f90 c350 01020304 0a0b0c0d") + bytes([words << 4, 0x18])
    behind = b"\x00\x00" + options + payload
    octets = len(before) + 6 + len(options) + len(payload)
    pseudo = IPv4Address(src).packed + IPv4Address(dst).packed + b"\x00\x06" + octets.to_bytes(2)
    window = b"\x20\x00"
    summed = pseudo + before + window + b"\x00\x00" + behind
    checksum = internet_checksum(summed + bytes(len(summed) % 2)) ^ checksum_error
    return before + window + checksum.to_bytes(2) + behind


def unknown(length: int, kind: int = 0x88) -> bytes:
    """An option unknown to all hops, of `length` octets, with non-zero data."""
    return bytes([kind, length, *range(0xA0, 0xA0 + length - 2)])


def padded(options: bytes, octets: int | None = None, pad: bytes = NOP) -> bytes:
    """`options` filled with `pad` to `octets`, or to the next multiple of 4."""
    octets = -(-len(options) // 4) * 4 if octets is None else octets
    return options + pad * (octets - len(options))


def internet_checksum(octets: bytes) -> int:
    """RFC 1071, over an even number of octets."""
    total = sum(int.from_bytes(octets[i : i + 2]) for i in range(0, len(octets), 2))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return total ^ 0xFFFF


def crc16(octets: bytes) -> int:
    """CRC-16/ARC, v1model's crc16."""
    crc = 0
    for octet in octets:
        crc ^= octet
        for _ in range(8):
            crc = crc >> 1 ^ (0xA001 if crc & 1 else 0)
    return crc


def transport(protocol: int, src: str, dst: str, payload: bytes, options: bytes = b"") -> bytes:
    """A TCP (6) or UDP (17) header with its checksum, and the payload."""
    if protocol == 6:
        words = 5 + len(options) // 4
        header = b"\x12\x34\x00\x50" + b"\x01\x02\x03\x04" + b"\x05\x06\x07\x08"
        header += bytes([words << 4, 0x18]) + b"\x20\x00\x00\x00\x00\x00" + options
        at = 16
    else:
        header = b"\x12\x34\x12\xb7" + (8 + len(payload)).to_bytes(2) + b"\x00\x00"
        at = 6
    whole = header + payload
    pseudo = IPv4Address(src).packed + IPv4Address(dst).packed
    pseudo += bytes([0, protocol]) + len(whole).to_bytes(2)
    checksum = internet_checksum(pseudo + whole + bytes(len(whole) % 2))
    return whole[:at] + checksum.to_bytes(2) + whole[at + 2 :]


INT_DSCP = 0x17


@dataclass(frozen=True)
class Int:
    """A shim and an INT-MD header (INT 2.1, §5.6.2 and §5.7) with records, the newest first."""

    records: bytes = b""
    kind: int = 1
    next_type: int = 0
    dscp: int = 0
    version: int = 2
    flags: int = 0
    """D, E and M."""
    hop_words: int = 2
    remaining: int = 8
    instructions: int = 0x9000
    """Node, and queue with its occupancy: the specification's example (§6)."""
    domain: int = 0
    domain_instructions: int = 0
    domain_flags: int = 0
    words: int | None = None
    """Computed unless a test sets it."""

    def changed(self, **fields: object) -> Int:
        """With some fields changed."""
        return replace(self, **fields)  # pyright: ignore[reportArgumentType]

    def octets(self) -> bytes:
        """In network order."""
        words = 3 + len(self.records) // 4 if self.words is None else self.words
        return (
            bytes([self.kind << 4 | self.next_type << 2, words, 0, self.dscp << 2])
            + bytes([self.version << 4 | self.flags << 1, 0, self.hop_words, self.remaining])
            + self.instructions.to_bytes(2)
            + self.domain.to_bytes(2)
            + self.domain_instructions.to_bytes(2)
            + self.domain_flags.to_bytes(2)
            + self.records
        )


def mac(text: str) -> bytes:
    """`00:00:00:00:00:01` as octets."""
    return bytes.fromhex(text.replace(":", ""))


@dataclass(frozen=True)
class Frame:
    """An IPv4 packet in Ethernet, as one end of a link sees it."""

    src: str
    dst: str
    src_mac: str
    dst_mac: str
    options: bytes = b""
    ttl: int = 64
    dscp: int = 0
    ecn: int = 0
    protocol: int = 253
    """RFC 3692: experiments."""
    vlan: int | None = None
    csig: int | None = None
    """The compact tag without its TPID."""
    version: int = 4
    ihl: int | None = None
    """Header length in words of 32 bits; computed from the options unless a test sets it."""
    checksum_error: int = 0
    payload: bytes = b"\xca\xfe\xf0\x0d"

    def changed(self, **fields: object) -> Frame:
        """The same frame but for `fields`."""
        return replace(self, **fields)  # pyright: ignore[reportArgumentType]

    def parts(self) -> list[bytes]:
        """Ethernet (with its tag), the 20 fixed octets of IPv4, its options, the payload."""
        assert len(self.options) % 4 == 0, self.options.hex()
        ethernet = mac(self.dst_mac) + mac(self.src_mac)
        if self.vlan is not None:
            ethernet += b"\x81\x00" + self.vlan.to_bytes(2)
        if self.csig is not None:
            ethernet += CSIG_TPID + self.csig.to_bytes(2)
        ihl = 5 + len(self.options) // 4 if self.ihl is None else self.ihl
        before_checksum = (
            bytes([self.version << 4 | ihl, self.dscp << 2 | self.ecn])
            + (20 + len(self.options) + len(self.payload)).to_bytes(2)
            + b"\x1c\x46\x40\x00"  # identification, don't fragment
            + bytes([self.ttl, self.protocol])
        )
        addresses = IPv4Address(self.src).packed + IPv4Address(self.dst).packed
        checksum = internet_checksum(before_checksum + b"\x00\x00" + addresses + self.options)
        checksum ^= self.checksum_error
        ipv4 = before_checksum + checksum.to_bytes(2) + addresses
        return [ethernet + b"\x08\x00", ipv4, self.options, self.payload]
