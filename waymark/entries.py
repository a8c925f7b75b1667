"""The table entries of a switch in a topology, as a controller would write them.

Every setting of a switch is an entry in a table of its P4 program (``p4src/``): routes and
neighbours, the queue limit of each port, and the marks that each port writes.
"""

from collections.abc import Collection

from waymark import csig, ecmp, trim
from waymark import entry as entry_of
from waymark.addressing import Addressing
from waymark.architecture import V1MODEL, Architecture
from waymark.drai import MTU_OCTETS
from waymark.entry import Entry
from waymark.errors import WaymarkError
from waymark.topology import Link, Switch, Topology

NO_MTU = 65535
"""Links of virtual time take every IPv4 packet."""


def entries_for(
    topology: Topology,
    addressing: Addressing,
    switch: Switch,
    tables: Collection[str],
    architecture: Architecture = V1MODEL,
    packet_octets: int = MTU_OCTETS,
) -> list[Entry]:
    """All entries of ``switch``: routes, neighbours, then queue, feedback and telemetry of
    each port.

    Args:
        topology: the network.
        addressing: what was derived from it.
        switch: one of its switches.
        tables: the control-plane names of its program's tables. Tables of ``p4src/`` that are not
            among them get no entries: plain.p4 writes no marks and has no ``port_feedback``, and a
            user's own program may have none of them.
        architecture: in whose units the entries are.
        packet_octets: of the packets that fill queues, where depths are in cells.

    Raises:
        WaymarkError: a link has RED, an ECN threshold, DualPI2 or trimming that the program does
            not support.
    """
    ports = addressing.ports[switch.name]
    present = {table.split(".")[-1] for table in tables}
    links = {port: topology.link(switch.name, end) for port, end in ports.items()}
    entries: list[Entry] = []
    if "ipv4_route" in present:
        entries += _routes(addressing, switch)
    if "ecmp_route" in present:
        entries += [
            entry_of.ecmp_route(
                str(route.prefix),
                [
                    (addressing.port_to(switch.name, hop), _router(addressing, hop))
                    for hop in route.next_hops
                ],
            )
            for route in ecmp.routes(addressing, switch.name)
        ]
    if "neighbour" in present:
        entries += [_neighbour(addressing, switch, port) for port in ports]
    if limits_queues(tables):
        entries += [entry_of.queue_limit(port, link.queue_packets) for port, link in links.items()]
    if "port_feedback" in present:
        entries += [
            entry_of.feedback(port, switch.feedback, link.rate_bps, switch.drai_window_log2)
            for port, link in links.items()
        ]
    if "drai" in present and "drai" in switch.feedback:
        for port, link in links.items():
            entries += entry_of.drai(
                port,
                link.rate_bps,
                link.queue_packets,
                architecture,
                packet_octets,
                switch.drai_window_log2,
            )
    if "csig_port" in present:
        quantiser = csig_quantiser(topology)
        locator = csig_locator(topology, switch)
        entries += [
            entry_of.csig_port(port, link.rate_bps, locator, quantiser)
            for port, link in links.items()
        ]
        entries += entry_of.csig_bands(quantiser)
    if "tcp_int_port" in present:
        entries += [entry_of.tcp_int(port, link.rate_bps) for port, link in links.items()]
    if "int_port" in present:
        node = topology.switches.index(switch) + 1
        entries += [
            entry_of.telemetry(port, node, link.rate_bps, NO_MTU) for port, link in links.items()
        ]
    for port, link in links.items():
        if link.red is not None:
            _need(link, switch, "red", present)
            try:
                entries += entry_of.red(port, link.red, architecture, packet_octets)
            except WaymarkError as error:
                raise WaymarkError(f"link {link.name}: {error}") from error
        if link.ecn_threshold is not None:
            _need(link, switch, "ecn_threshold", present)
            entries.append(entry_of.ecn_threshold(port, link.ecn_threshold))
        if link.dual_pi2 is not None:
            _need(link, switch, "dual_pi2", present)
            entries.append(entry_of.dual_pi2(port, link.dual_pi2))
        if link.trim is not None:
            _need(link, switch, "trimming", present)
        if "trimming" in present:
            entries += trim.entries(port, link.trim or trim.Trim())
    return entries


def csig_quantiser(topology: Topology) -> csig.Quantiser:
    """The quantiser of CSIG's hops and hosts in a topology."""
    switches = {switch.name for switch in topology.switches}
    return csig.quantiser_for(
        (link.rate_bps, link.queue_packets) for link in topology.links if link.source in switches
    )


def csig_locator(topology: Topology, switch: Switch) -> int:
    """The number that identifies a switch in CSIG tags; unique for up to 127 switches."""
    return 1 + topology.switches.index(switch) % csig.MAX_LOCATOR


def _need(link: Link, switch: Switch, table: str, present: Collection[str]) -> None:
    if table not in present:
        raise WaymarkError(f"link {link.name}: {switch.program} has no table {table}")


def limits_queues(tables: Collection[str]) -> bool:
    """Whether a program with these tables limits its queues itself."""
    return any(table.split(".")[-1] == "port_queue" for table in tables)


PROGRAM_OF = {"INT": "v1model/int.p4", "TCP-INT": "v1model/tcp_int.p4"}
"""The project's programs for marks that a switch's feedback setting cannot enable."""

_PORT_TABLES = {"INT": "int_port", "TCP-INT": "tcp_int_port"}


def writes(mark: str, tables: Collection[str]) -> bool:
    """Whether a program with these tables writes one of the marks of `PROGRAM_OF`."""
    return any(table.split(".")[-1] == _PORT_TABLES[mark] for table in tables)


def _routes(addressing: Addressing, switch: Switch) -> list[Entry]:
    entries: list[Entry] = []
    for (host, interface), address in addressing.interfaces.items():
        next_hop = addressing.next_hop_to.get((switch.name, host, interface))
        if next_hop is None:
            continue  # of a host with several interfaces, one that is on another path
        prefix = f"{address}/32"
        port = addressing.port_to(switch.name, next_hop)
        if next_hop == host:
            entries.append(entry_of.direct_route(prefix, port))
        else:
            entries.append(entry_of.route_via(prefix, port, str(addressing.ipv4[next_hop])))
    return entries


def _router(addressing: Addressing, hop: str) -> str | None:
    """The address of a next hop that is a switch."""
    return None if hop in addressing.hosts else str(addressing.ipv4[hop])


def _neighbour(addressing: Addressing, switch: Switch, port: int) -> Entry:
    end = addressing.ports[switch.name][port]
    its_port = addressing.port_to(end, switch.name)
    return entry_of.neighbour(
        port,
        str(addressing.interfaces.get((end, its_port), addressing.ipv4[end])),
        own_mac=addressing.mac[switch.name, port],
        mac=addressing.mac[end, its_port],
    )
