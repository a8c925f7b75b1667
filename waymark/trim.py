"""Packet trimming at a port: a packet that a full queue refuses is sent without its payload."""

from dataclasses import dataclass

from waymark.entry import Entry, trimming

TRIMMABLE, TRIMMED = 0b000011, 0b000111
"""DSCPs of Waymark's hosts for packets that may be cut, and for cut packets: from the pool for
local use (RFC 2474, section 6)."""

LEAST_OCTETS, MOST_OCTETS = 78, 65535
"""Minimum octets of a cut frame: Ethernet's header, a tag and the longest IPv4 header are
complete."""


@dataclass(frozen=True)
class Trim:
    """Packet trimming at one port.

    Attributes:
        octets: of a cut frame.
        queue_packets: ns-2's limit of the queue of cut packets.
    """

    octets: int = 128
    queue_packets: int = 1000


def entries(port: int, settings: Trim) -> list[Entry]:
    """Trimming of the packets of Waymark's hosts."""
    return trimming(port, TRIMMABLE, TRIMMED, settings.octets, settings.queue_packets)
