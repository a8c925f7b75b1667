"""What follows from a topology: addresses, port numbers and shortest paths."""

import itertools
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Interface

from waymark.errors import WaymarkError
from waymark.topology import Link, Topology

_FIRST_HOST = IPv4Address("10.0.0.1")
_FIRST_SWITCH = IPv4Address("10.255.0.1")


@dataclass(frozen=True)
class Addressing:
    """Addresses and routes of a topology.

    Attributes:
        hosts: the names of the hosts.
        ipv4: each node's address: a host's own, or one that counts up from 10.0.0.1; switches'
            count from 10.255.0.1.
        mac: the address of each node's interfaces, keyed by (node, port).
        ports: for each node, the neighbour behind each port; the port that the
            link names, or the next free one from 1, in link order.
        next_hop: for each (node, host), the neighbour to send to.
    """

    hosts: frozenset[str]
    ipv4: Mapping[str, IPv4Address]
    mac: Mapping[tuple[str, int], str]
    ports: Mapping[str, Mapping[int, str]]
    next_hop: Mapping[tuple[str, str], str]

    def port_to(self, node: str, neighbour: str) -> int:
        """The port of ``node`` that leads to ``neighbour``."""
        for port, other in self.ports[node].items():
            if other == neighbour:
                return port
        raise WaymarkError(f"{node} has no link to {neighbour}")


def derive(topology: Topology) -> Addressing:
    """Number the ports, give addresses, and find the shortest paths.

    Paths have the fewest hops; among equals the neighbour whose link comes first wins, so that the
    same topology always gives the same paths. A host forwards for nobody.

    Raises:
        WaymarkError: a host that another cannot reach.
    """
    ports = {node: _ports(topology, node) for node in topology.nodes}
    ipv4 = _addresses(topology)
    hosts = frozenset(ipv4)
    ipv4 |= {switch.name: _FIRST_SWITCH + i for i, switch in enumerate(topology.switches)}
    mac = {
        (node, port): f"02:00:00:00:{index:02x}:{port:02x}"
        for index, node in enumerate(topology.nodes, start=1)
        for port in ports[node]
    }
    mac |= {
        (host.name, p): host.mac for host in topology.hosts if host.mac for p in ports[host.name]
    }
    next_hop = {
        (node, host): neighbour
        for host in hosts
        for node, neighbour in _towards(host, ports, hosts).items()
    }
    for source in topology.nodes:
        for host in sorted(hosts):
            if source != host and (source, host) not in next_hop:
                raise WaymarkError(f"no path from {source} to host {host}")
    return Addressing(hosts, ipv4, mac, ports, next_hop)


def _ports(topology: Topology, node: str) -> dict[int, str]:
    links = [link for link in topology.links if link.source == node]
    named = {link.port for link in links}
    free = (port for port in itertools.count(1) if port not in named)
    return dict(sorted((link.port or next(free), link.target) for link in links))


def _addresses(topology: Topology) -> dict[str, IPv4Address]:
    """Each host's own address, or the next that nobody has.

    Raises:
        WaymarkError: two hosts name the same.
    """
    own = {h.name: IPv4Interface(h.address).ip for h in topology.hosts if h.address is not None}
    for address in own.values():
        sharing = [host for host, its in own.items() if its == address]
        if len(sharing) > 1:
            raise WaymarkError(f"hosts {' and '.join(sharing)} have the same address {address}")
    free = (a for a in (_FIRST_HOST + i for i in itertools.count()) if a not in own.values())
    return {host.name: own.get(host.name) or next(free) for host in topology.hosts}


def path(topology: Topology, addressing: Addressing, source: str, target: str) -> list[Link]:
    """The links that a packet from host ``source`` to host ``target`` takes, in order."""
    links: list[Link] = []
    node = source
    while node != target:
        links.append(topology.link(node, addressing.next_hop[node, target]))
        node = links[-1].target
    return links


def least_round_trip_s(
    topology: Topology, addressing: Addressing, source: str, target: str, octets: int = 40
) -> float:
    """The time that a packet of ``octets`` takes to ``target`` and back where no queue holds it up.

    Dahal 2007 reckons RTT_min so, with 40 octets.
    """
    there = path(topology, addressing, source, target)
    back = path(topology, addressing, target, source)
    return sum(octets * 8 / link.rate_bps + link.delay_s for link in (*there, *back))


def _towards(
    host: str, ports: Mapping[str, Mapping[int, str]], hosts: frozenset[str]
) -> dict[str, str]:
    """The neighbour to send to from every node that can reach ``host``, breadth first."""
    distance = {host: 0}
    reached = deque([host])
    while reached:
        node = reached.popleft()
        if node in hosts and node != host:
            continue  # a host forwards for nobody
        for neighbour in ports[node].values():  # cables are two-way, so this also leads back
            if neighbour not in distance:
                distance[neighbour] = distance[node] + 1
                reached.append(neighbour)
    return {
        node: next(
            neighbour
            for neighbour in ports[node].values()
            if distance.get(neighbour) == hops - 1 and (neighbour == host or neighbour not in hosts)
        )
        for node, hops in distance.items()
        if node != host
    }
