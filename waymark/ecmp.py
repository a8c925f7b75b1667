"""Routes over all shortest paths (ECMP), with as few prefixes as the hosts' addresses allow."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from ipaddress import IPv4Network

from waymark.addressing import Addressing

_BITS = 32


@dataclass(frozen=True)
class EcmpRoute:
    """A route of a switch.

    Attributes:
        prefix: the destinations.
        next_hops: the neighbours on all shortest paths, in the order of the switch's ports; a host
            alone is the destination itself.
    """

    prefix: IPv4Network
    next_hops: tuple[str, ...]


@dataclass(frozen=True)
class _Run:
    """Destinations ``start`` to ``end`` - 1, by address, all with the same next hops."""

    start: int
    end: int
    next_hops: tuple[str, ...]


def routes(addressing: Addressing, switch: str) -> list[EcmpRoute]:
    """The routes of a switch to all hosts' interfaces.

    Destinations with the same next hops share a prefix if it contains no other destination, so that
    a fat-tree's core has a route per pod. A prefix may contain addresses without a host; the last
    switch drops their packets.
    """
    addresses, _ = addressing.by_address
    runs: list[_Run] = []
    for run in _by_gateway(addressing, switch):
        if runs and runs[-1].next_hops == run.next_hops:
            runs[-1] = _Run(runs[-1].start, run.end, run.next_hops)
        else:
            runs.append(run)
    return list(_prefixes(addresses, runs))


def _by_gateway(addressing: Addressing, switch: str) -> Iterator[_Run]:
    """Ranges of destinations behind one gateway; destinations at the switch itself, one by one."""
    _, ends = addressing.by_address
    for start, end, gateway in addressing.gateways:
        step = 1 if gateway == switch else end - start
        for at in range(start, end, step):
            yield _Run(at, at + step, addressing.next_hop_to.all(switch, *ends[at]))


def _prefixes(addresses: list[int], runs: list[_Run]) -> Iterator[EcmpRoute]:
    """Prefixes that cover all destinations, each within one range; none for unreachable ones."""
    starts = [run.start for run in runs]
    waiting = [(0, len(addresses))] if addresses else []
    while waiting:
        start, end = waiting.pop()
        run = runs[bisect_right(starts, start) - 1]
        differing = (addresses[start] ^ addresses[end - 1]).bit_length()
        if run.end >= end:
            if run.next_hops:
                network = addresses[start] >> differing << differing
                yield EcmpRoute(IPv4Network((network, _BITS - differing)), run.next_hops)
            continue
        middle = addresses[end - 1] >> (differing - 1) << (differing - 1)
        split = bisect_left(addresses, middle, start, end)
        waiting += [(split, end), (start, split)]
