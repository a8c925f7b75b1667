"""The namespaces, interfaces, wires and switches of a topology on Linux. Creates nothing.

A link is a veth pair, or two pairs with a wire between them (``waymark._core.run_wires``). The wire
delays and drops packets, because a kernel may lack netem. A switch shapes its own output, so that
its P4 program sees the queue; the wire shapes a host's output. A switch forwards a packet when its
serialisation begins; the wire adds the serialisation time.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from waymark import architecture
from waymark.addressing import Addressing, derive
from waymark.architecture import Architecture
from waymark.errors import WaymarkError
from waymark.topology import Link, Switch, Topology

MAX_INTERFACE = 15
"""Maximum octets of an interface's name (``IFNAMSIZ`` − 1)."""

HOST_INTERFACE = "eth0"
"""A host's interface in its namespace."""

OFFLOADS_OFF = tuple(
    word for what in ("tx", "rx", "tso", "gso", "gro", "txvlan", "rxvlan") for word in (what, "off")
)
"""``ethtool -K`` at a host: turns off offloads to hardware, which a veth does not have."""

FIRST_GRPC_PORT = 9559
"""P4Runtime's assigned port; the first switch listens on it, the next ones on the ports above."""

TUTORIAL_GRPC_PORT = 50051
"""The first switch's port in the P4 tutorials, whose clients expect it."""

FIRST_THRIFT_PORT = 9090
"""BMv2's default."""

WireLine = tuple[int | None, int | None, float, float]
"""Rate in bit/s, queue in packets (None: the input is already shaped), delay in seconds, loss, in
the core's format."""


@dataclass(frozen=True)
class HostPlan:
    """A host: a namespace with one interface.

    Attributes:
        address: with its prefix length.
        gateway: address and MAC address of the switch's port.
        commands: run instead of setting the gateway.
    """

    name: str
    address: str
    mac: str
    gateway: tuple[str, str]
    commands: tuple[str, ...]

    def place(self, interface: str) -> dict[str, str]:
        """Its interface and addresses, as options of ``waymark host``."""
        gateway, gateway_mac = self.gateway
        return {
            "interface": interface,
            "address": self.address,
            "mac": self.mac,
            "gateway": gateway,
            "gateway-mac": gateway_mac,
        }


@dataclass(frozen=True)
class SwitchPlan:
    """A switch: a process that owns interfaces.

    Attributes:
        number: index of the switch, from 0.
        program: empty if a controller will load one.
        keeps_limits: whether its program enforces the queue limits, instead of the switch.
        interfaces: by port.
        links: the outgoing link of each port.
    """

    name: str
    number: int
    device_id: int
    grpc_port: int
    cpu_port: int
    program: str
    keeps_limits: bool
    interfaces: Mapping[int, str]
    links: Mapping[int, Link]

    @property
    def architecture(self) -> Architecture:
        """The architecture of its program."""
        return architecture.of_program(self.program)

    @property
    def grpc(self) -> str:
        """Its P4Runtime address."""
        return f"127.0.0.1:{self.grpc_port}"

    @property
    def thrift_port(self) -> int:
        """BMv2's port for settings that P4Runtime does not have."""
        return FIRST_THRIFT_PORT + self.number


@dataclass(frozen=True)
class Plan:
    """All parts of a topology on Linux.

    Attributes:
        cables: veth pairs between two ends: a host's name for its interface, or the name of an
            interface in the switches' namespace.
        wires: pairs of interfaces, and what the wire does to the input of each.
        links: the interfaces of each link in the switches' namespace, by the link's name.
    """

    topology: Topology
    addressing: Addressing
    hosts: tuple[HostPlan, ...]
    switches: tuple[SwitchPlan, ...]
    cables: tuple[tuple[str, str], ...]
    wires: tuple[tuple[tuple[str, str], tuple[WireLine, WireLine]], ...]
    links: Mapping[str, tuple[str, ...]]


def plan(topology: Topology) -> Plan:
    """The plan for ``topology``.

    Raises:
        WaymarkError: a name is too long for an interface, a host is unreachable, or a link is on a
            medium.
    """
    addressing = derive(topology)
    hosts = {host.name for host in topology.hosts}
    cables: list[tuple[str, str]] = []
    wires: list[tuple[tuple[str, str], tuple[WireLine, WireLine]]] = []
    links: dict[str, tuple[str, ...]] = {}
    for index, there in enumerate(topology.links):
        back = topology.link(there.target, there.source)
        if topology.links.index(back) < index:
            continue
        name = f"{there.source} - {there.target}"
        if there.medium is not None:
            raise WaymarkError(
                f"link {name} is on a medium, which is supported in virtual time only"
            )
        ends = tuple(_interface(link, addressing, hosts) for link in (there, back))
        links[name] = tuple(end for end in ends if end not in hosts)
        if not any(map(_needs_wire, (there, back), (there.source in hosts, back.source in hosts))):
            cables.append((ends[0], ends[1]))
            continue
        inner = tuple(_inner(link, addressing, hosts) for link in (there, back))
        links[name] += inner
        cables += zip(ends, inner, strict=True)
        lines = tuple(_line(link, link.source in hosts) for link in (there, back))
        wires.append(((inner[0], inner[1]), (lines[0], lines[1])))
    return Plan(
        topology,
        addressing,
        tuple(_host(host.name, topology, addressing) for host in topology.hosts),
        tuple(
            _switch(switch, number, topology, addressing)
            for number, switch in enumerate(topology.switches)
        ),
        tuple(cables),
        tuple(wires),
        links,
    )


def _host(name: str, topology: Topology, addressing: Addressing) -> HostPlan:
    host = next(host for host in topology.hosts if host.name == name)
    (port, switch), *further = addressing.ports[name].items()
    if further:
        raise WaymarkError(
            f"host {name} has several links, which is supported in virtual time only"
        )
    return HostPlan(
        name,
        host.address or f"{addressing.ipv4[name]}/32",
        addressing.mac[name, port],
        (str(addressing.ipv4[switch]), addressing.mac[switch, addressing.port_to(switch, name)]),
        host.commands,
    )


def _switch(switch: Switch, number: int, topology: Topology, addressing: Addressing) -> SwitchPlan:
    ports = addressing.ports[switch.name]
    its = switch.tutorial
    return SwitchPlan(
        switch.name,
        number,
        device_id=number + 1 if its is None else its.number,
        grpc_port=FIRST_GRPC_PORT + number if its is None else TUTORIAL_GRPC_PORT + its.number,
        cpu_port=architecture.of_program(switch.program).cpu_port
        if its is None or its.cpu_port is None
        else its.cpu_port,
        program=switch.program,
        keeps_limits=its is None,
        interfaces={port: f"{switch.name}-{port}" for port in ports},
        links={port: topology.link(switch.name, end) for port, end in ports.items()},
    )


def _interface(link: Link, addressing: Addressing, hosts: set[str]) -> str:
    """The end of a link at its source: a host's name, or a switch's interface."""
    if link.source in hosts:
        return link.source
    return _checked(f"{link.source}-{addressing.port_to(link.source, link.target)}")


def _inner(link: Link, addressing: Addressing, hosts: set[str]) -> str:
    """The interface where a wire receives the packets of the link's source."""
    return _checked(f"{_interface(link, addressing, hosts)}w")


def _checked(name: str) -> str:
    if len(name) > MAX_INTERFACE or "/" in name:
        raise WaymarkError(
            f"{name!r} is not a valid interface name; valid: at most {MAX_INTERFACE} octets, no /. "
            "Give its node a shorter name"
        )
    return name


def _needs_wire(link: Link, from_host: bool) -> bool:
    return from_host or link.delay_s > 0 or link.loss > 0


def _line(link: Link, from_host: bool) -> WireLine:
    queue_packets = link.queue_packets if from_host else None
    return round(link.rate_bps), queue_packets, link.delay_s, link.loss
