"""TCP-INT (p4lang/p4app-TCP-INT, version 0.4): a TCP option of 12 octets, kind 0x72.

Scapy has TCP's options as pairs of kind and octets: ``TCP(options=[(KIND, bytes(TCPINT())[2:])])``
builds one, `of` finds one in a segment.
"""

from typing import Any

from scapy.fields import BitField, ByteField, ShortField, ThreeBytesField, XByteField
from scapy.layers.inet import TCP
from scapy.packet import Packet

KIND, LENGTH = 0x72, 12


class TCPINT(Packet):
    """The worst hop's utilisation or queue, and the sum of the hops' latencies.

    ``tag_frequency``: how often switches are to write; 15: as they are set.
    ``link_speed``: of the worst hop: 1 to 7 for 10, 25, 40, 50, 100, 200 and 400 Gb/s; 0: another.
    ``value``: below 0x80 the utilisation, from there on the queue in units of 2^13 octets.
    ``hop``: the packet's TTL behind the worst hop; 0: none wrote it.
    ``latency``: in units of 2^8 ns.
    ``value_echo``, ``link_speed_echo``: the receiver's copies. ``hop_echo``: 64 less ``hop``.
    ``latency_echo``: the receiver's, or from 0x8000 on an 2^8th of it.

    The program that hosts run has ``hop_echo`` in the upper half of its octet, and
    ``link_speed_echo`` in the lower; the picture in its README has them the other way round.
    """

    name = "TCP-INT"
    fields_desc = [
        XByteField("kind", KIND),
        ByteField("length", LENGTH),
        BitField("tag_frequency", 15, 4),
        BitField("link_speed", 0, 4),
        XByteField("value", 0),
        ByteField("hop", 0),
        ThreeBytesField("latency", 0),
        XByteField("value_echo", 0),
        BitField("hop_echo", 0, 4),
        BitField("link_speed_echo", 0, 4),
        ShortField("latency_echo", 0),
    ]


def of(segment: TCP) -> Packet | None:
    """A segment's TCP-INT option, if it has one of the right length."""
    options: list[tuple[Any, Any]] = segment.options
    for kind, value in options:
        if kind == KIND and len(value) == LENGTH - 2:
            return TCPINT(bytes([KIND, LENGTH]) + value)
    return None
