"""Packet trimming at a port: what a full queue refuses is sent without its payload."""

from dataclasses import dataclass

from waymark.entry import Entry, trimming

TRIMMABLE, TRIMMED = 0b000011, 0b000111
"""Differentiated services codepoints of packets that may be cut, and of cut packets, as Waymark's
hosts have them: of the pool for local use (RFC 2474, section 6)."""

LEAST_OCTETS, MOST_OCTETS = 78, 65535
"""Of what is left of a frame: Ethernet's header, a tag and the longest IPv4 header are whole."""


@dataclass(frozen=True)
class Trim:
    """Packet trimming at one port.

    Attributes:
        octets: what is left of a frame.
        queue_packets: ns-2's limit of the queue of cut packets.
    """

    octets: int = 128
    queue_packets: int = 1000


def entries(port: int, settings: Trim) -> list[Entry]:
    """Trimming of the packets of Waymark's hosts."""
    return trimming(port, TRIMMABLE, TRIMMED, settings.octets, settings.queue_packets)
