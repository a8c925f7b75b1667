"""The table entries of a switch that follow from a topology: what a controller would write.

Every setting of a switch enters through the tables of its P4 program (``p4src/``): routes and
neighbours, the queue limit of each port, and the marks that each port writes.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from math import ceil, log2
from typing import Any

from waymark.addressing import Addressing
from waymark.topology import Switch, Topology

MTU_OCTETS = 1500
WINDOW_PACKETS = 32
"""A port measures its rate over a window that holds at least this many packets of the MTU."""


@dataclass(frozen=True)
class Entry:
    """One table entry; names are those of the control plane.

    Attributes:
        match: each key's value: a number, an address, or a prefix ``"10.0.0.1/32"``.
    """

    table: str
    match: Mapping[str, int | str]
    action: str
    params: Mapping[str, int | str]

    def to_core(self) -> dict[str, Any]:
        """The entry as the core reads it."""
        return {
            "table": self.table,
            "match": dict(self.match),
            "action": self.action,
            "params": dict(self.params),
        }


def entries_for(
    topology: Topology, addressing: Addressing, switch: Switch, tables: Collection[str]
) -> list[Entry]:
    """All entries of ``switch``: routes, neighbours, then queue and feedback of each port.

    Args:
        topology: the network.
        addressing: what was derived from it.
        switch: one of its switches.
        tables: the control-plane names of its program's tables. A program that writes no marks,
            such as plain.p4, has no ``port_feedback`` and gets no entries for it.
    """
    ports = addressing.ports[switch.name]
    entries = [
        *_routes(addressing, switch),
        *(_neighbour(addressing, switch, port) for port in ports),
        *(_queue(topology, switch, port, end) for port, end in ports.items()),
    ]
    if any(table.split(".")[-1] == "port_feedback" for table in tables):
        entries += [_feedback(topology, switch, port, end) for port, end in ports.items()]
    return entries


def _routes(addressing: Addressing, switch: Switch) -> list[Entry]:
    entries: list[Entry] = []
    for host, address in addressing.ipv4.items():
        if host not in addressing.hosts:
            continue
        next_hop = addressing.next_hop[switch.name, host]
        match = {"dst_addr": f"{address}/32"}
        port = addressing.port_to(switch.name, next_hop)
        if next_hop == host:
            entries.append(Entry("ipv4_route", match, "direct", {"port": port}))
        else:
            params: dict[str, int | str] = {
                "port": port,
                "next_hop": str(addressing.ipv4[next_hop]),
            }
            entries.append(Entry("ipv4_route", match, "via", params))
    return entries


def _neighbour(addressing: Addressing, switch: Switch, port: int) -> Entry:
    neighbour = addressing.ports[switch.name][port]
    far_port = addressing.port_to(neighbour, switch.name)
    return Entry(
        "neighbour",
        {"port": port, "next_hop": str(addressing.ipv4[neighbour])},
        "rewrite",
        {
            "src_addr": addressing.mac[switch.name, port],
            "dst_addr": addressing.mac[neighbour, far_port],
        },
    )


def _queue(topology: Topology, switch: Switch, port: int, neighbour: str) -> Entry:
    # ns-2's limit L counts the packet that is being sent; the program counts those that wait.
    limit = topology.link(switch.name, neighbour).queue_packets
    return Entry("port_queue", {"port": port}, "drop_tail", {"max_waiting": limit - 1})


def _feedback(topology: Topology, switch: Switch, port: int, neighbour: str) -> Entry:
    rate_bps = topology.link(switch.name, neighbour).rate_bps
    return Entry(
        "port_feedback",
        {"port": port},
        "set_feedback",
        {mark: int(mark in switch.feedback) for mark in ("aqt", "drai", "ci")}
        | {"window_log2": window_log2(rate_bps)},
    )


def window_log2(rate_bps: float) -> int:
    """The least k for which 2^k µs hold 32 packets of the MTU at ``rate_bps``."""
    return max(0, ceil(log2(WINDOW_PACKETS * MTU_OCTETS * 8 / rate_bps * 1e6)))
