"""Generated networks: fat-tree, leaf-spine, dumbbell, parking lot.

Each is a :class:`waymark.Topology`, whose hosts have addresses by position. The switches of a
fat-tree and of a leaf-spine network run ``v1model/fabric.p4``, which uses all shortest paths.
"""

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace

from waymark.errors import WaymarkError
from waymark.hops import MAX_SWITCHES
from waymark.topology import DEFAULT_PROGRAM, Host, Link, Switch, Topology, duplex

FABRIC_PROGRAM = "v1model/fabric.p4"
"""Several next hops per route, the marks, and ECN."""

MOST = 252
"""Leaves and hosts at a switch, which an octet of an address counts."""

MOST_HOPS = MAX_SWITCHES - 1
"""Links between switches in a row."""


@dataclass(frozen=True)
class Cable:
    """A full-duplex link of a fabric.

    Attributes:
        rate_bps: bits per second.
        delay_s: propagation delay in seconds.
        queue_packets: ns-2's limit of the queues in front of it.
        ecn_threshold: K of RFC 8257 at switches, in packets; None: no ECN.
    """

    rate_bps: float = 10e9
    delay_s: float = 1e-6
    queue_packets: int = 100
    ecn_threshold: int | None = None

    def between(self, a: str, b: str, *, from_host: bool = False) -> tuple[Link, Link]:
        """Both directions; a host's queue has no ECN."""
        there, back = duplex(a, b, self.rate_bps, self.delay_s, self.queue_packets)
        marking = replace(back, ecn_threshold=self.ecn_threshold)
        return (there if from_host else replace(there, ecn_threshold=self.ecn_threshold)), marking


TEN_GIGABIT = Cable()
"""10 Gb/s, 1 µs, 100 packets."""


def fat_tree(
    k: int,
    cable: Cable = TEN_GIGABIT,
    *,
    program: str = FABRIC_PROGRAM,
    feedback: Collection[str] = ("aqt",),
) -> Topology:
    """A fat-tree of switches with ``k`` ports (Al-Fares et al., SIGCOMM 2008).

    k pods have k/2 edge switches and k/2 aggregation switches each, every edge switch has k/2
    hosts: k³/4 hosts and 5k²/4 switches. Host ``h0_1_0`` is the first one at the second edge switch
    ``e0_1`` of the first pod, with the address 10.0.1.2/24. Aggregation switches are ``a0_0``,
    ..., cores ``c0_0``, ...: core ``c1_0`` is a neighbour of the aggregation switches ``a*_1``.

    Args:
        cable: of all links.
        program: of all switches.
        feedback: the marks that their ports write.

    Raises:
        WaymarkError: ``k`` is not an even number from 2 to 128.
    """
    if k % 2 or not 2 <= k <= 128:
        raise WaymarkError(f"fat-tree: k {k}, expected an even number from 2 to 128")
    half = k // 2
    hosts: list[Host] = []
    edges: list[str] = []
    links: list[Link] = []
    for pod in range(k):
        for edge in range(half):
            name = f"e{pod}_{edge}"
            edges.append(name)
            for number in range(half):
                host = f"h{pod}_{edge}_{number}"
                hosts.append(Host(host, f"10.{pod}.{edge}.{number + 2}/24"))
                links += cable.between(host, name, from_host=True)
            for up in range(half):
                links += cable.between(name, f"a{pod}_{up}")
    aggregations = [f"a{pod}_{up}" for pod in range(k) for up in range(half)]
    cores = [f"c{up}_{number}" for up in range(half) for number in range(half)]
    for up in range(half):
        for number in range(half):
            for pod in range(k):
                links += cable.between(f"a{pod}_{up}", f"c{up}_{number}")
    switches = _switches((*edges, *aggregations, *cores), program, feedback)
    return Topology(tuple(hosts), tuple(switches), tuple(links))


def leaf_spine(
    leaves: int,
    spines: int,
    hosts_per_leaf: int,
    cable: Cable = TEN_GIGABIT,
    uplink: Cable | None = None,
    *,
    program: str = FABRIC_PROGRAM,
    feedback: Collection[str] = ("aqt",),
) -> Topology:
    """Leaves, each with hosts and a link to every spine.

    Host ``h1_0`` is the first one at leaf ``l1``, with the address 10.0.1.2/24; spines are ``s0``,
    ``s1``, ...

    Args:
        cable: between hosts and leaves.
        uplink: between leaves and spines; None: the same as ``cable``.
        program, feedback: as for :func:`fat_tree`.

    Raises:
        WaymarkError: fewer than one of a kind, or more than addresses or ports can count.
    """
    for name, number in (("leaves", leaves), ("spines", spines), ("hosts", hosts_per_leaf)):
        _require(f"leaf-spine: {name}", number)
    uplink = uplink or cable
    hosts: list[Host] = []
    links: list[Link] = []
    for leaf in range(leaves):
        for number in range(hosts_per_leaf):
            host = f"h{leaf}_{number}"
            hosts.append(Host(host, f"10.0.{leaf}.{number + 2}/24"))
            links += cable.between(host, f"l{leaf}", from_host=True)
        for spine in range(spines):
            links += uplink.between(f"l{leaf}", f"s{spine}")
    names = (*(f"l{leaf}" for leaf in range(leaves)), *(f"s{spine}" for spine in range(spines)))
    return Topology(tuple(hosts), tuple(_switches(names, program, feedback)), tuple(links))


def dumbbell(
    pairs: int,
    cable: Cable,
    bottleneck: Cable,
    *,
    program: str = DEFAULT_PROGRAM,
    feedback: Collection[str] = ("aqt",),
) -> Topology:
    """Hosts ``s1``, ``s2``, ... at switch ``r1`` and ``d1``, ``d2``, ... at ``r2``, with one link
    between the switches.

    Args:
        pairs: hosts at each side, 1 to 252.
        cable: between hosts and switches.
        bottleneck: between the switches.

    Raises:
        WaymarkError: another number of pairs.
    """
    _require("dumbbell: pairs", pairs)
    links: list[Link] = []
    for side, switch in (("s", "r1"), ("d", "r2")):
        for number in range(1, pairs + 1):
            links += cable.between(f"{side}{number}", switch, from_host=True)
    links += bottleneck.between("r1", "r2")
    hosts = tuple(
        Host(f"{side}{number}", f"10.0.{network}.{number}/24")
        for network, side in ((1, "s"), (2, "d"))
        for number in range(1, pairs + 1)
    )
    return Topology(hosts, tuple(_switches(("r1", "r2"), program, feedback)), tuple(links))


def parking_lot(
    hops: int,
    cable: Cable,
    bottleneck: Cable,
    *,
    program: str = DEFAULT_PROGRAM,
    feedback: Collection[str] = ("aqt",),
) -> Topology:
    """Switches ``r0`` to ``r<hops>`` in a row, with equal links between them.

    Host ``s`` at the first and ``d`` at the last have the long path. For each hop i from 1 on,
    ``s<i>`` is at the switch before the hop and ``d<i>`` at the switch after it.

    Args:
        hops: links between switches, 1 to :data:`MOST_HOPS`.
        cable: between hosts and switches.
        bottleneck: between switches.

    Raises:
        WaymarkError: another number of hops.
    """
    _require("parking lot: hops", hops, MOST_HOPS)
    places = {"s": 0, "d": hops}
    for hop in range(1, hops + 1):
        places |= {f"s{hop}": hop - 1, f"d{hop}": hop}
    hosts: list[Host] = []
    links: list[Link] = []
    used = dict.fromkeys(range(hops + 1), 0)
    for host, place in places.items():
        used[place] += 1
        hosts.append(Host(host, f"10.0.{place}.{used[place] + 1}/24"))
        links += cable.between(host, f"r{place}", from_host=True)
    for hop in range(hops):
        links += bottleneck.between(f"r{hop}", f"r{hop + 1}")
    names = tuple(f"r{place}" for place in range(hops + 1))
    return Topology(tuple(hosts), tuple(_switches(names, program, feedback)), tuple(links))


def _require(what: str, number: int, most: int = MOST) -> None:
    if not 1 <= number <= most:
        raise WaymarkError(f"{what} {number}, expected 1 to {most}")


def _switches(names: Collection[str], program: str, feedback: Collection[str]) -> Iterator[Switch]:
    return (Switch(name, program, frozenset(feedback)) for name in names)
