"""Networks that experiments share: files, and routers in a line with hosts."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache

from waymark.project import root
from waymark.topology import Host, Link, Switch, Topology, duplex

RateDelay = tuple[float, float]
"""Bits per second and, one way, seconds."""


@cache
def in_file(name: str) -> Topology:
    """The network of ``topologies/NAME.yaml``, such as ``in_file("bottleneck")``."""
    return Topology.load(root() / "topologies" / f"{name}.yaml")


def chain(
    links: Sequence[RateDelay],
    hosts: Mapping[str, str],
    access: RateDelay | Mapping[str, RateDelay],
    queue_packets: int = 50,
    host_queue_packets: int | None = None,
) -> Topology:
    """Switches r1, r2, … in a line.

    Args:
        links: of the line, from r1 on; one fewer than switches.
        hosts: the switch that each host is linked to.
        access: of the hosts' links; for all hosts, or by host.
        queue_packets: ns-2's limit L of every switch's queues.
        host_queue_packets: of the hosts' own; None: the same.
    """
    line: list[Link] = []
    for index, (rate_bps, delay_s) in enumerate(links, start=1):
        line += duplex(f"r{index}", f"r{index + 1}", rate_bps, delay_s, queue_packets)
    for host, switch in hosts.items():
        rate_bps, delay_s = access[host] if isinstance(access, Mapping) else access
        own, back = duplex(host, switch, rate_bps, delay_s, queue_packets)
        line += (replace(own, queue_packets=host_queue_packets or queue_packets), back)
    return Topology(
        tuple(Host(name) for name in hosts),
        tuple(Switch(f"r{index}") for index in range(1, len(links) + 2)),
        tuple(line),
    )


def dumbbell(
    pairs: int,
    middle: RateDelay,
    senders: RateDelay,
    receivers: RateDelay | None = None,
    queue_packets: int = 50,
    host_queue_packets: int | None = None,
) -> Topology:
    """Hosts s1, s2, … at r1 and d1, d2, … at r2, one link between the switches.

    Args:
        pairs: hosts on each side.
        middle: the link r1-r2.
        senders: each link of an s.
        receivers: each link of a d; None: as the senders'.
        queue_packets: ns-2's limit L of every switch's queues.
        host_queue_packets: of the hosts' own; None: the same.
    """
    numbers = range(1, pairs + 1)
    hosts = {f"s{i}": "r1" for i in numbers} | {f"d{i}": "r2" for i in numbers}
    access = {f"s{i}": senders for i in numbers} | {f"d{i}": receivers or senders for i in numbers}
    return chain([middle], hosts, access, queue_packets, host_queue_packets)
