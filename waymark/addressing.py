"""The addresses, port numbers and shortest paths of a topology."""

import itertools
from collections import Counter, defaultdict, deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from ipaddress import IPv4Address, IPv4Interface

from waymark import architecture
from waymark.errors import WaymarkError
from waymark.topology import Link, Topology

_FIRST_HOST = IPv4Address("10.0.0.1")
_FIRST_SWITCH = IPv4Address("10.255.0.1")


class NextHops(Mapping[tuple[str, str, int], str]):
    """For each (node, host, port of the host), the neighbour to send to.

    The paths to a host's interface are those to the switch at its link, which are computed once.
    Among several shortest paths, hosts behind one switch use different ones: :func:`_choice`.
    """

    def __init__(
        self,
        ports: Mapping[str, Mapping[int, str]],
        hosts: frozenset[str],
        towards: Mapping[str, Mapping[str, tuple[str, ...]]],
    ) -> None:
        self._ports = ports
        self._hosts = hosts
        self._towards = towards

    def all(self, node: str, host: str, port: int) -> tuple[str, ...]:
        """The neighbours on all shortest paths, in the order of the node's ports; empty if there is
        no path."""
        gateway = self._ports[host].get(port)
        if gateway is None or node == host:
            return ()
        if node == gateway:
            return (host,)
        return self._towards[gateway].get(node, ())

    def __getitem__(self, key: tuple[str, str, int]) -> str:
        node, host, port = key
        if host not in self._hosts:
            raise KeyError(key)
        found = self.all(node, host, port)
        if not found:
            raise KeyError(key)
        return found[0] if len(found) == 1 else found[_choice(node, host) % len(found)]

    def __iter__(self) -> Iterator[tuple[str, str, int]]:
        for host in self._hosts:
            for port, gateway in self._ports[host].items():
                yield gateway, host, port
                yield from ((node, host, port) for node in self._towards[gateway] if node != host)

    def __len__(self) -> int:
        return sum(1 for _ in self)


def _choice(node: str, host: str) -> int:
    """The index of the next hop to a host, among several equal ones; the same in every run."""
    return int.from_bytes(blake2b(f"{node} {host}".encode(), digest_size=4).digest())


class _First(Mapping[tuple[str, str], str]):
    """The next hops to the first interface of each host."""

    def __init__(self, to: NextHops, first: Mapping[str, int]) -> None:
        self._to = to
        self._first = first

    def __getitem__(self, key: tuple[str, str]) -> str:
        node, host = key
        return self._to[node, host, self._first[host]]

    def __iter__(self) -> Iterator[tuple[str, str]]:
        return ((node, host) for node, host, port in self._to if port == self._first[host])

    def __len__(self) -> int:
        return sum(1 for _ in self)


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
        next_hop: for each (node, host), the neighbour on the path to the host's first interface.
        interfaces: the address of each host's interface, keyed by (host, port). Further ones count
            up from 10.1.0.1, 10.2.0.1, ...
        next_hop_to: for each (node, host, port of the host), the neighbour to send to; absent for
            nodes that do not reach that interface.
    """

    hosts: frozenset[str]
    ipv4: Mapping[str, IPv4Address]
    mac: Mapping[tuple[str, int], str]
    ports: Mapping[str, Mapping[int, str]]
    next_hop: Mapping[tuple[str, str], str]
    interfaces: Mapping[tuple[str, int], IPv4Address]
    next_hop_to: NextHops

    @cached_property
    def by_address(self) -> tuple[list[int], list[tuple[str, int]]]:
        """The addresses of all hosts' interfaces, sorted, and the (host, port) of each."""
        pairs = sorted((int(address), end) for end, address in self.interfaces.items())
        return [address for address, _ in pairs], [end for _, end in pairs]

    @cached_property
    def gateways(self) -> list[tuple[int, int, str]]:
        """Start, end and gateway of each range of :attr:`by_address` behind one gateway."""
        _, ends = self.by_address
        runs: list[tuple[int, int, str]] = []
        for at, (host, port) in enumerate(ends):
            gateway = self.ports[host][port]
            if runs and runs[-1][2] == gateway:
                runs[-1] = (runs[-1][0], at + 1, gateway)
            else:
                runs.append((at, at + 1, gateway))
        return runs

    @cached_property
    def _port_to(self) -> Mapping[str, Mapping[str, int]]:
        return {
            node: {other: port for port, other in ports.items()}
            for node, ports in self.ports.items()
        }

    def port_to(self, node: str, neighbour: str) -> int:
        """The port of ``node`` that leads to ``neighbour``."""
        port = self._port_to[node].get(neighbour)
        if port is None:
            raise WaymarkError(f"{node} has no link to {neighbour}")
        return port


def derive(topology: Topology) -> Addressing:
    """Number the ports, assign addresses, and find the shortest paths.

    Paths have the fewest hops. Among equal ones, a node chooses one per host, by a hash of both
    names: the same topology always gives the same paths, and many hosts use all of them. Hosts do
    not forward packets.

    Raises:
        WaymarkError: a host with one interface that another node cannot reach.
    """
    leaving: dict[str, list[Link]] = defaultdict(list)
    for link in topology.links:
        leaving[link.source].append(link)
    programs = {switch.name: switch.program for switch in topology.switches}
    ports = {node: _ports(leaving[node], programs.get(node, "")) for node in topology.nodes}
    ipv4 = _addresses(topology)
    hosts = frozenset(ipv4)
    ipv4 |= {switch.name: _FIRST_SWITCH + i for i, switch in enumerate(topology.switches)}
    mac = {
        (node, port): _mac(index, port)
        for index, node in enumerate(topology.nodes, start=1)
        for port in ports[node]
    }
    mac |= {
        (host.name, p): host.mac for host in topology.hosts if host.mac for p in ports[host.name]
    }
    gateways = dict.fromkeys(
        gateway for host in topology.hosts for gateway in ports[host.name].values()
    )
    towards = {gateway: _towards(gateway, ports, hosts) for gateway in gateways}
    next_hop_to = NextHops(ports, hosts, towards)
    next_hop = _First(next_hop_to, {host: next(iter(ports[host])) for host in hosts})
    if any(len(reached) < len(ports) - 1 for reached in towards.values()):
        _check_paths(topology, ports, next_hop)
    interfaces = _interfaces(topology, ports, ipv4)
    return Addressing(hosts, ipv4, mac, ports, next_hop, interfaces, next_hop_to)


def _check_paths(
    topology: Topology,
    ports: Mapping[str, Mapping[int, str]],
    next_hop: Mapping[tuple[str, str], str],
) -> None:
    hosts = sorted(host.name for host in topology.hosts)
    for source in topology.nodes:
        for host in hosts:
            several = len(ports[host]) > 1 or (source in hosts and len(ports[source]) > 1)
            if source != host and not several and (source, host) not in next_hop:
                raise WaymarkError(f"no path from {source} to host {host}")


def _mac(index: int, port: int) -> str:
    octets = (2, port >> 8, index >> 16, index >> 8, index, port)
    return ":".join(f"{octet & 0xFF:02x}" for octet in octets)


def _ports(links: Sequence[Link], program: str) -> dict[int, str]:
    """The neighbours of a node with these links, by port. Links without a port get free ones."""
    named = {link.port for link in links}
    taken = named | {*architecture.of_program(program).recirculating}
    free = (port for port in itertools.count(1) if port not in taken)
    return dict(sorted((link.port or next(free), link.target) for link in links))


def _addresses(topology: Topology) -> dict[str, IPv4Address]:
    """Each host's own address, or the next free one.

    Raises:
        WaymarkError: two hosts have the same address.
    """
    own = {h.name: IPv4Interface(h.address).ip for h in topology.hosts if h.address is not None}
    for address, times in Counter(own.values()).items():
        if times > 1:
            sharing = [host for host, its in own.items() if its == address]
            raise WaymarkError(f"hosts {' and '.join(sharing)} have the same address {address}")
    taken = set(own.values())
    free = (a for a in (_FIRST_HOST + i for i in itertools.count()) if a not in taken)
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
    gateway: str, ports: Mapping[str, Mapping[int, str]], hosts: frozenset[str]
) -> dict[str, tuple[str, ...]]:
    """The neighbours to send to from every node that can reach ``gateway``, breadth first: those on
    all shortest paths, in the order of the node's ports."""
    distance = {gateway: 0}
    reached = deque([gateway])
    while reached:
        node = reached.popleft()
        if node in hosts:
            continue  # hosts do not forward packets
        hops = distance[node] + 1
        for neighbour in ports[node].values():  # cables are two-way, so this also leads back
            if neighbour not in distance:
                distance[neighbour] = hops
                reached.append(neighbour)
    return {
        node: tuple(
            neighbour
            for neighbour in ports[node].values()
            if distance.get(neighbour) == hops - 1 and neighbour not in hosts
        )
        for node, hops in distance.items()
        if node != gateway
    }
