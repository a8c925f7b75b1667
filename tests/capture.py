"""What an interface carries: a program that captures it, and its packets."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

PROGRAM = """\
import signal, socket, sys
port = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
port.setsockopt(socket.SOL_SOCKET, 33, 64 << 20)  # SO_RCVBUFFORCE
port.bind((sys.argv[1], 0))
# Read what has arrived, then end.
signal.signal(signal.SIGTERM, lambda *_: port.setblocking(False))
print("capturing", flush=True)
with open(sys.argv[2], "wb") as file:
    try:
        while frame := port.recv(1 << 17):
            file.write(len(frame).to_bytes(4, "big") + frame)
    except BlockingIOError:
        pass
"""
"""Captures an interface (first argument) in a file (second) until SIGTERM."""

TCP = 6
FIN, SYN = 1, 2


@dataclass(frozen=True)
class Packet:
    """An IPv4 packet of a capture."""

    octets: bytes

    @property
    def source(self) -> str:
        return ".".join(map(str, self.octets[12:16]))

    @property
    def protocol(self) -> int:
        return self.octets[9]

    @property
    def header_octets(self) -> int:
        return 4 * (self.octets[0] & 15)

    @property
    def options(self) -> bytes:
        """Those of IPv4."""
        return self.octets[20 : self.header_octets]

    @property
    def is_fragment(self) -> bool:
        return bool(int.from_bytes(self.octets[6:8], "big") & 0x3FFF)

    @property
    def ttl(self) -> int:
        return self.octets[8]

    @property
    def ecn(self) -> int:
        return self.octets[1] & 3

    @property
    def tcp(self) -> bytes:
        """TCP's header and data."""
        return self.octets[self.header_octets :]

    @property
    def tcp_flags(self) -> int:
        return self.tcp[13]

    @property
    def payload_octets(self) -> int:
        """Of TCP."""
        return len(self.tcp) - 4 * (self.tcp[12] >> 4)

    @property
    def carried(self) -> bytes:
        """All but what every router changes: TTL and header checksum."""
        return self.octets[:8] + self.octets[9:10] + self.octets[12:]

    @property
    def sums(self) -> tuple[int, int]:
        """Of IPv4's header, and of TCP with its pseudo-header; 0 where the checksum is right."""
        pseudo = self.octets[12:20] + struct.pack("!HH", TCP, len(self.tcp))
        return _sum(self.octets[: self.header_octets]), _sum(pseudo + self.tcp)


def read(file: Path) -> Sequence[Packet]:
    """The IPv4 packets of a capture, without padding."""
    octets, at = file.read_bytes(), 0
    found: list[Packet] = []
    while at + 4 <= len(octets):
        length = int.from_bytes(octets[at : at + 4], "big")
        frame = octets[at + 4 : at + 4 + length]
        at += 4 + length
        if frame[12:14] == b"\x08\x00":
            total = int.from_bytes(frame[16:18], "big")
            found.append(Packet(frame[14 : 14 + total]))
    return found


def _sum(octets: bytes) -> int:
    """The Internet checksum (RFC 1071) over octets that have one in them."""
    padded = octets + b"\0" * (len(octets) % 2)
    total = sum(struct.unpack(f"!{len(padded) // 2}H", padded))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF
