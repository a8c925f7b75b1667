"""CSIG, congestion signaling (draft-ravi-ippm-csig-01): a tag between Ethernet and IPv4.

No EtherType is assigned for it. ``TPID`` is IEEE 802's for local experiments, as in
``p4src/include/csig.p4``. A receiver reflects tags in a TCP option: kind 253 (RFC 4727), ``EXID``
(RFC 6994), and the last two octets of each tag.
"""

from typing import Any

from scapy.data import ETHER_TYPES
from scapy.fields import BitEnumField, BitField, XShortEnumField
from scapy.layers.inet import IP, TCP
from scapy.layers.l2 import Dot1Q, Ether
from scapy.packet import Packet, bind_layers

TPID = 0x88B5
EXPERIMENT = 253
EXID = 0xC516

SIGNALS = {0: "ABW", 1: "ABW/C", 2: "delay"}


class CSIG(Packet):
    """The worst hop's value of one signal.

    ``signal``: what is asked for.
    ``band``: the value, quantised: the least on the path of ABW and ABW/C, for which a sender
    writes 31, and the greatest delay of a hop, for which it writes 0.
    ``locator``: that hop; 0: none wrote the tag.
    """

    name = "CSIG"
    fields_desc = [
        BitEnumField("signal", 2, 3, SIGNALS),
        BitField("reserved", 0, 1),
        BitField("band", 0, 5),
        BitField("locator", 0, 7),
        XShortEnumField("type", 0x0800, ETHER_TYPES),
    ]


def reflected(segment: TCP) -> list[Packet]:
    """The tags that a segment reflects, as layers without a payload."""
    options: list[tuple[Any, Any]] = segment.options
    for kind, value in options:
        if kind == EXPERIMENT and value[:2] == EXID.to_bytes(2, "big"):
            tags = value[2:]
            return [CSIG(tags[at : at + 2] + b"\x08\x00") for at in range(0, len(tags) - 1, 2)]
    return []


bind_layers(Ether, CSIG, type=TPID)
bind_layers(Dot1Q, CSIG, type=TPID)
bind_layers(CSIG, IP, type=0x0800)
