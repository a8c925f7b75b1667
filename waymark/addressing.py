"""The addresses, port numbers and shortest paths of a topology."""

import itertools
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Interface

from waymark import architecture
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
        next_hop: for each (node, host), the neighbour to send to; to the first interface of a host
            with several.
        interfaces: the address of each host's interface, keyed by (host, port). Further ones count
            up from 10.1.0.1, 10.2.0.1, ...
        next_hop_to: for each (node, host, port of the host), the neighbour to send to; not there
            for nodes that do not reach that interface.
    """

    hosts: frozenset[str]
    ipv4: Mapping[str, IPv4Address]
    mac: Mapping[tuple[str, int], str]
    ports: Mapping[str, Mapping[int, str]]
    next_hop: Mapping[tuple[str, str], str]
    interfaces: Mapping[tuple[str, int], IPv4Address]
    next_hop_to: Mapping[tuple[str, str, int], str]

    def port_to(self, node: str, neighbour: str) -> int:
        """The port of ``node`` that leads to ``neighbour``."""
        for port, other in self.ports[node].items():
            if other == neighbour:
                return port
        raise WaymarkError(f"{node} has no link to {neighbour}")


def derive(topology: Topology) -> Addressing:
    """Number the ports, give addresses, and find the shortest paths.

    Paths have the fewest hops; among equals the neighbour whose link comes first wins, so that the
    same topology always gives the same paths. Hosts do not forward packets.

    Raises:
        WaymarkError: a host with one interface that another node cannot reach.
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
    next_hop_to = {
        (node, host, port): neighbour
        for host in hosts
        for port, gateway in ports[host].items()
        for node, neighbour in _towards(host, gateway, ports, hosts).items()
    }
    first = {host: next(iter(ports[host])) for host in hosts}
    next_hop = {
        (node, host): neighbour
        for (node, host, port), neighbour in next_hop_to.items()
        if port == first[host]
    }
    for source in topology.nodes:
        for host in sorted(hosts):
            several = len(ports[host]) > 1 or (source in hosts and len(ports[source]) > 1)
            if source != host and not several and (source, host) not in next_hop:
                raise WaymarkError(f"no path from {source} to host {host}")
    interfaces = _interfaces(topology, ports, ipv4)
    return Addressing(hosts, ipv4, mac, ports, next_hop, interfaces, next_hop_to)


def _ports(topology: Topology, node: str) -> dict[int, str]:
    links = [link for link in topology.links if link.source == node]
    named = {link.port for link in links}
    taken = named | {*_recirculating(topology, node)}
    free = (port for port in itertools.count(1) if port not in taken)
    return dict(sorted((link.port or next(free), link.target) for link in links))


def _recirculating(topology: Topology, node: str) -> range:
    """Ports of a switch's hardware that no link may have."""
    programs = [switch.program for switch in topology.switches if switch.name == node]
    return architecture.of_program(programs[0] if programs else "").recirculating


def _addresses(topology: Topology) -> dict[str, IPv4Address]:
    """Each host's own address, or the next free one.

    Raises:
        WaymarkError: two hosts have the same address.
    """
    own = {h.name: IPv4Interface(h.address).ip for h in topology.hosts if h.address is not None}
    for address in own.values():
        sharing = [host for host, its in own.items() if its == address]
        if len(sharing) > 1:
            raise WaymarkError(f"hosts {' and '.join(sharing)} have the same address {address}")
    free = (a for a in (_FIRST_HOST + i for i in itertools.count()) if a not in own.values())
    return {host.name: own.get(host.name) or next(free) for host in topology.hosts}


def _interfaces(
    topology: Topology, ports: Mapping[str, Mapping[int, str]], ipv4: Mapping[str, IPv4Address]
) -> dict[tuple[str, int], IPv4Address]:
    interfaces: dict[tuple[str, int], IPv4Address] = {}
    for index, host in enumerate(topology.hosts):
        for place, port in enumerate(ports[host.name]):
            further = IPv4Address(f"10.{place}.0.1") + index
            interfaces[host.name, port] = further if place else ipv4[host.name]
    return interfaces


def path(
    topology: Topology, addressing: Addressing, source: str, target: str, interface: int = 0
) -> list[Link]:
    """The links that a packet from host ``source`` to host ``target`` takes, in order.

    Args:
        interface: of both hosts, counted from 0 in the order of their ports.

    Raises:
        WaymarkError: these interfaces are not connected.
    """
    port = list(addressing.ports[target])[interface]
    links = [topology.link(source, list(addressing.ports[source].values())[interface])]
    while (node := links[-1].target) != target:
        neighbour = addressing.next_hop_to.get((node, target, port))
        if neighbour is None:
            raise WaymarkError(f"no path from {source} to {target} by their links {interface}")
        links.append(topology.link(node, neighbour))
    return links


def least_round_trip_s(
    topology: Topology,
    addressing: Addressing,
    source: str,
    target: str,
    octets: int = 40,
    interface: int = 0,
) -> float:
    """The round-trip time of a packet of ``octets`` to ``target``, without queueing.

    Dahal 2007 computes RTT_min in this way, with 40 octets.
    """
    there = path(topology, addressing, source, target, interface)
    back = path(topology, addressing, target, source, interface)
    return sum(octets * 8 / link.rate_bps + link.delay_s for link in (*there, *back))


def _towards(
    host: str, gateway: str, ports: Mapping[str, Mapping[int, str]], hosts: frozenset[str]
) -> dict[str, str]:
    """The neighbour to send to from every node that can reach ``host`` by ``gateway``, breadth
    first."""
    distance = {gateway: 0}
    reached = deque([gateway])
    while reached:
        node = reached.popleft()
        if node in hosts:
            continue  # hosts do not forward packets
        for neighbour in ports[node].values():  # cables are two-way, so this also leads back
            if neighbour not in distance and neighbour != host:
                distance[neighbour] = distance[node] + 1
                reached.append(neighbour)
    onwards = {
        node: next(
            neighbour
            for neighbour in ports[node].values()
            if distance.get(neighbour) == hops - 1 and neighbour not in hosts
        )
        for node, hops in distance.items()
        if node != gateway
    }
    return {gateway: host} | onwards
