"""DRAI, data rate adjustment index (Lien and Chung): a port's index from its queue and its rate.

The paper leaves the formula open ("an empirical approach"). Here each index is the strongest one
whose effect on the senders' windows, once per round trip, does no harm:

========================  =====================  ==============================================
waiting packets q         sent in the window, u  index and why
========================  =====================  ==============================================
q > 3/4 max_waiting       any                    1, window × 3/4: the queue is about to refuse
q > 1/2 max_waiting       any                    2, window − 1: let the queue drain
q > 1/4 max_waiting       any                    3, window + 1: hold; the link has work in store
q ≤ 1/4 max_waiting       u > 7/8                3, window + 1: the link is almost full
q ≤ 1/4 max_waiting       u > 4/7                4, window + 2: some room, less than × 1.75 takes
q ≤ 1/4 max_waiting       u > 1/3                5, window × 1.75: u · 1.75 ≤ 1, it fits
q ≤ 1/4 max_waiting       u ≤ 1/3                6, window × 3: u · 3 ≤ 1, it fits
========================  =====================  ==============================================

``u`` is the port's utilisation over the last full window of 2^k µs: IPv4 octets sent, divided by
those that the rate allows. ``max_waiting`` is the queue limit less the packet in service.

The queue is the fast signal, the utilisation the slow one. Its window must suit the senders, who
react once per round trip. If it is longer than a round trip, senders react to one reading several
times: with 0.5 s at 1 Mb/s, a flow with a round trip of 50 ms triples its window four times on the
reading of an idle link, overruns a buffer of 15 packets, times out and starts again. If it is much
shorter, a reading may cover only the idle gap between two bursts. A port does not know round trips.
So the window is a short round trip of a wide-area network, but never too short to distinguish the
four steps, for which a slow port needs longer.
"""

from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor, log2

from waymark.architecture import V1MODEL, Architecture

MTU_OCTETS = 1500
ROUND_TRIP_LOG2 = 15
"""A port measures its rate over at least 2^15 µs, 33 ms. :class:`waymark.Switch` can set another
value for networks with other round trips, such as a data centre."""
WINDOW_PACKETS = 4
"""A window holds at least this many packets of the MTU: the smallest number for which ⅓, 4/7 and ⅞
give different numbers of whole packets."""

MAX_WINDOW_LOG2 = 63  # bit<6>
MAX_DEPTH = 2**19 - 1  # bit<19> queue_depth, packets or cells
MAX_OCTETS = 2**32 - 1  # bit<32> window_octets

_UTILISATION = ((Fraction(1, 3), 6), (Fraction(4, 7), 5), (Fraction(7, 8), 4), (None, 3))
"""The index of a short queue, by its upper bound of utilisation."""

_DEPTH = ((Fraction(1, 2), 3), (Fraction(3, 4), 2), (None, 1))
"""The index of a longer queue, by its upper bound as a fraction of ``max_waiting``."""

_SHORT_QUEUE = Fraction(1, 4)


@dataclass(frozen=True)
class DraiRange:
    """An entry of table ``drai``.

    Attributes:
        queue_depth: waiting packets or cells, from and to.
        window_octets: IPv4 octets sent in the last full window, from and to; in the unit of
            `window_shift`.
        index: 1, decelerate hard, to 6, accelerate hard.
    """

    queue_depth: tuple[int, int]
    window_octets: tuple[int, int]
    index: int


def window_log2(rate_bps: float, round_trip_log2: int = ROUND_TRIP_LOG2) -> int:
    """The smallest k, at least ``round_trip_log2``, for which 2^k µs hold 4 packets of the MTU at
    ``rate_bps``.

    It is smaller only if the octets of a window would not fit their counter (with 15 above 1 Tb/s).
    """
    octets_per_us = rate_bps / 8e6
    shortest = ceil(log2(WINDOW_PACKETS * MTU_OCTETS / octets_per_us))
    longest = floor(log2(MAX_OCTETS / octets_per_us))
    return max(0, min(max(round_trip_log2, shortest), longest))


def window_capacity_octets(
    rate_bps: float,
    architecture: Architecture = V1MODEL,
    round_trip_log2: int = ROUND_TRIP_LOG2,
) -> float:
    """Octets that a port of ``rate_bps`` sends in a full window: 2^`window_log2` µs on v1model."""
    return (
        2 ** window_log2(rate_bps, round_trip_log2) * architecture.window_us * 1e-6 * rate_bps / 8
    )


def window_shift(
    rate_bps: float, architecture: Architecture, round_trip_log2: int = ROUND_TRIP_LOG2
) -> int:
    """The k for which table ``drai`` counts the octets of a window in units of 2^k octets."""
    capacity = window_capacity_octets(rate_bps, architecture, round_trip_log2)
    return architecture.octets_shift(capacity)


def drai_ranges(
    rate_bps: float,
    limit_packets: int,
    architecture: Architecture = V1MODEL,
    packet_octets: int = MTU_OCTETS,
    round_trip_log2: int = ROUND_TRIP_LOG2,
) -> list[DraiRange]:
    """The ranges of a port, disjoint and without gaps; see the table above.

    A queue too short for all steps has fewer: with limit 2, one packet waiting is index 1.

    Args:
        rate_bps: the port's rate in bits per second.
        limit_packets: the queue limit L; L − 1 packets wait.
        architecture: in whose units they are.
        packet_octets: of a waiting packet, where depths are in cells.
        round_trip_log2: the window is at least 2^k µs.
    """
    cells = architecture.depth_of(packet_octets)
    shift = window_shift(rate_bps, architecture, round_trip_log2)
    most_octets = architecture.max_octets
    max_waiting = limit_packets - 1
    capacity = window_capacity_octets(rate_bps, architecture, round_trip_log2)
    short = int(max_waiting * _SHORT_QUEUE)
    ranges: list[DraiRange] = []
    low = 0
    for part, index in _UTILISATION:
        high = most_octets if part is None else int(capacity * part) >> shift
        ranges.append(DraiRange((0, (short + 1) * cells - 1), (low, high), index))
        low = high + 1
    low = (short + 1) * cells
    for part, index in _DEPTH:
        high = MAX_DEPTH if part is None else (int(max_waiting * part) + 1) * cells - 1
        if low <= high:
            ranges.append(DraiRange((low, high), (0, most_octets), index))
            low = high + 1
    return ranges
