"""In-band network telemetry behind TCP and UDP (INT 2.1): https://p4.org/p4-spec/docs/INT_v2_1.pdf

A shim and a header lie between the transport header and its payload. The DSCP says that they are
there.
"""

from typing import Any, cast

from scapy.fields import (
    BitEnumField,
    BitField,
    ByteField,
    FlagsField,
    StrLenField,
    XShortField,
)
from scapy.layers.inet import IP, TCP, UDP
from scapy.packet import Packet, bind_layers

DSCP = 0x17
"""Of packets with INT: the specification's example (§6.1)."""

TYPES = {1: "MD", 2: "destination", 3: "MX"}
HEADER_OCTETS = 12

INSTRUCTIONS = (
    ("node", 4),
    ("ports", 4),
    ("latency", 4),
    ("queue", 4),
    ("arrival", 8),
    ("departure", 8),
    ("second_ports", 8),
    ("utilisation", 4),
    ("buffer", 4),
    *((f"reserved_{bit}", 4) for bit in range(9, 15)),
)
"""What a bit of the bitmap asks for, the most significant first, and its octets (§5.7)."""

DOMAIN_INSTRUCTIONS = (("sent", 4), ("rate", 4))
"""Of the domain 0x5741: octets that the port sent, and the rate of its line in kb/s."""


def _stack_octets(header: Packet) -> int:
    """Of the records behind a header; the shim in front of it has the length."""
    shim = header.underlayer
    return 0 if shim is None else max(0, 4 * shim.words - HEADER_OCTETS)


class INTMD(Packet):
    """The INT-MD header, and the records of the hops, the newest first (§5.7).

    ``stack``: octets of the records; :meth:`hops` has them by instruction.
    """

    name = "INT-MD"
    fields_desc = [
        BitField("version", 2, 4),
        FlagsField("flags", 0, 3, ["too_long", "exhausted", "discard"]),
        BitField("reserved", 0, 12),
        BitField("hop_words", 5, 5),
        ByteField("remaining", 8),
        XShortField("instructions", 0x1400),
        XShortField("domain", 0x5741),
        XShortField("domain_instructions", 0xC000),
        XShortField("domain_flags", 0),
        StrLenField(
            "stack",
            b"",
            length_from=_stack_octets,
        ),
    ]

    def hops(self) -> list[dict[str, int]]:
        """The values of each record, the newest hop first. A part of a record is left out."""
        asked = _asked(self.instructions, INSTRUCTIONS, 16)
        asked += _asked(self.domain_instructions, DOMAIN_INSTRUCTIONS, 16)
        if self.instructions & 1:
            asked.append(("complement", 4))
        octets = 4 * self.hop_words
        if octets == 0 or octets != sum(length for _, length in asked):
            return []
        stack: bytes = self.stack
        return [
            _record(stack[at : at + octets], asked)
            for at in range(0, len(stack) - octets + 1, octets)
        ]

    def extract_padding(self, s: bytes) -> tuple[bytes, bytes | None]:
        """What follows is the payload of the transport header."""
        return s, None


class INTShim(Packet):
    """The shim of INT over TCP and UDP (§5.6.2).

    ``words``: of 32 bits behind the shim. ``dscp``: of the packet before INT.
    """

    name = "INT shim"
    fields_desc = [
        BitEnumField("type", 1, 4, TYPES),
        BitField("next_type", 0, 2),
        BitField("reserved_0", 0, 2),
        ByteField("words", None),
        ByteField("reserved_1", 0),
        BitField("dscp", 0, 6),
        BitField("reserved_2", 0, 2),
    ]

    def post_build(self, pkt: bytes, pay: bytes) -> bytes:
        """Counts the words unless they are given."""
        if self.words is None and isinstance(self.payload, INTMD):
            words = (HEADER_OCTETS + len(self.payload.stack)) // 4
            pkt = pkt[:1] + bytes([words]) + pkt[2:]
        return pkt + pay


def _asked(bitmap: int, names: tuple[tuple[str, int], ...], bits: int) -> list[tuple[str, int]]:
    return [one for bit, one in enumerate(names) if bitmap >> (bits - 1 - bit) & 1]


def _record(octets: bytes, asked: list[tuple[str, int]]) -> dict[str, int]:
    record: dict[str, int] = {}
    for name, length in asked:
        record[name] = int.from_bytes(octets[:length])
        octets = octets[length:]
    return record


def bind_telemetry() -> None:
    """Dissects what is behind TCP and UDP by the DSCP."""
    bind_layers(INTShim, INTMD)
    for transport in (TCP, UDP):
        _bind(cast(Any, transport))


def _bind(transport: Any) -> None:
    guess = transport.guess_payload_class

    def guess_payload_class(self: Packet, payload: bytes) -> type[Packet]:
        below = self.underlayer
        marked = isinstance(below, IP) and below.tos >> 2 == DSCP
        whole = len(payload) >= 4 + HEADER_OCTETS and payload[0] >> 4 in TYPES
        return INTShim if marked and whole else guess(self, payload)

    transport.guess_payload_class = guess_payload_class
