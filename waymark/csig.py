"""CSIG, congestion signaling (draft-ravi-ippm-csig-01): the meaning of a compact tag's bands.

A hop quantises its own value of the tag's signal, and all hops and hosts of a domain have the same
quantiser. Available bandwidth is that of the last full interval:

=====  ==============================  ===========================================================
T      value                           bands
=====  ==============================  ===========================================================
0      octets in an interval (ABW)     half-octaves of ``octets_unit``; 0 holds what is below it
1      2^-16 of the capacity (ABW/C)   32 equal ones
2      µs in this hop's queue (delay)  half-octaves of ``delay_unit_us``; 0 holds what is below it
=====  ==============================  ===========================================================

The draft leaves the ranges to the operator, and has intervals of 256 µs by default. Here they are
derived from the network. An interval holds at least 32 packets on the slowest link: a packet that
falls into the next interval is then less than the 5 % that a sender leaves free. Delays cover the
longest queue, and bandwidths the fastest link.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import ceil, log2

from waymark.drai import MTU_OCTETS

AVAILABLE, AVAILABLE_SHARE, DELAY = 0, 1, 2
"""Signals."""

SIGNALS = {"abw": AVAILABLE, "abw/c": AVAILABLE_SHARE, "delay": DELAY}
"""Their numbers, by their names in settings."""

BANDS = 32
MAX_LOCATOR = 127
INTERVAL_LOG2 = 8
"""256 µs, the draft's default and the shortest here."""
INTERVAL_PACKETS = 32
"""Minimum number of packets of the MTU in an interval on the slowest link."""
MAX_INTERVAL_LOG2 = 31
"""Hosts store the interval as 32 bits of µs. It is too short for the packets only on links slower
than 179 b/s."""
MAX_VALUE = 2**32 - 1
"""Maximum of the octets and µs that the program compares."""

_OCTAVES = (BANDS - 2) / 2
"""Octaves between the unit and the start of the last band."""


@dataclass(frozen=True)
class Quantiser:
    """The meaning of bands in a domain; see the table above.

    Attributes:
        interval_log2: available bandwidth is measured over 2^interval_log2 µs.
        delay_unit_us: µs, more than 0.
        octets_unit: octets in an interval, more than 0.
    """

    interval_log2: int = INTERVAL_LOG2
    delay_unit_us: float = 1.0
    octets_unit: float = 1.0

    @property
    def interval_us(self) -> int:
        """The interval in µs."""
        return 2**self.interval_log2

    def capacity_octets(self, rate_bps: float) -> int:
        """Octets that a port sends in an interval; at least 1, at most what the program can
        count."""
        return max(1, min(int(rate_bps / 8e6 * self.interval_us), MAX_VALUE))

    def ranges(self, signal: int) -> Iterator[tuple[tuple[int, int], int]]:
        """The values of a signal's bands, from and to, and the band. Bands without a whole number
        that the program can count are omitted."""
        if signal == AVAILABLE_SHARE:
            begins = [2**16 // BANDS * band for band in range(BANDS)]
        else:
            unit = self.delay_unit_us if signal == DELAY else self.octets_unit
            begins = [0, *(ceil(unit * 2 ** (step / 2)) for step in range(BANDS - 1))]
        for band, low in enumerate(begins):
            high = begins[band + 1] - 1 if band + 1 < BANDS else MAX_VALUE
            high = min(high, MAX_VALUE)
            if low <= high:
                yield (low, high), band


def quantiser_for(ports: Iterable[tuple[float, int]]) -> Quantiser:
    """The quantiser of a network.

    Args:
        ports: rate in bits per second and queue limit in packets of each switch's ports; at least
            one.
    """
    rates_and_limits = list(ports)
    rates = [rate_bps for rate_bps, _ in rates_and_limits]
    octets_per_us = min(rates) / 8e6
    interval_log2 = ceil(log2(INTERVAL_PACKETS * MTU_OCTETS / octets_per_us))
    interval_log2 = min(max(INTERVAL_LOG2, interval_log2), MAX_INTERVAL_LOG2)
    longest_us = max(limit * MTU_OCTETS * 8e6 / rate for rate, limit in rates_and_limits)
    fastest_octets = max(rates) / 8e6 * 2**interval_log2
    return Quantiser(
        interval_log2,
        delay_unit_us=round(max(1.0, longest_us / 2**_OCTAVES), 6),
        octets_unit=round(max(1.0, min(fastest_octets, MAX_VALUE) / 2**_OCTAVES), 6),
    )
