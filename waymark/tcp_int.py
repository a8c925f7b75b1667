"""TCP-INT (p4lang/p4app-TCP-INT): the parameters of table ``tcp_int_port``.

A hop's INTval is its utilisation in units of 1/127, over the last full interval; or, from 0x80 on,
the queue in front of the packet, in units of 2^13 octets.
"""

from math import ceil, log2

from waymark.csig import INTERVAL_LOG2, INTERVAL_PACKETS
from waymark.drai import MTU_OCTETS

FULL = 127
LINK_SPEEDS = {10e9: 1, 25e9: 2, 40e9: 3, 50e9: 4, 100e9: 5, 200e9: 6, 400e9: 7}
"""Codes of rates in bits per second; others have 0."""

_MAX_INTERVAL_LOG2 = 40


def interval_log2(rate_bps: float) -> int:
    """The smallest k, at least 8, for which 2^k µs hold 32 packets of the MTU."""
    shortest = ceil(log2(INTERVAL_PACKETS * MTU_OCTETS * 8e6 / rate_bps))
    return min(max(INTERVAL_LOG2, shortest), _MAX_INTERVAL_LOG2)


def parameters(rate_bps: float) -> dict[str, int | str]:
    """The parameters of ``write`` for a port of this rate."""
    interval = interval_log2(rate_bps)
    octets_per_us = rate_bps / 8e6
    return {
        "interval_log2": interval,
        "per_octet": ceil(FULL * 2**40 / (octets_per_us * 2**interval)),
        "octets_per_us": round(octets_per_us * 2**16),
        "link_speed": LINK_SPEEDS.get(rate_bps, 0),
    }
