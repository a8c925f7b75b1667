"""The map of a network that is up, for the live lab: its nodes, links, ports and programs."""

import json
from typing import Any

from topologies.state import State
from waymark.addressing import derive
from waymark.errors import WaymarkError
from waymark.topology import Topology

_FILE = "map.json"


def write(topology: Topology, state: State) -> None:
    """Write the map into the network's folder."""
    (state.folder / _FILE).write_text(json.dumps(of(topology)), encoding="utf-8")


def read(state: State) -> dict[str, Any]:
    """The map that :func:`write` wrote.

    Raises:
        WaymarkError: the file is missing or unreadable.
    """
    path = state.folder / _FILE
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        hint = f"take the network down and up again: waymark down {state.name}"
        raise WaymarkError(f"{path}: {error}; {hint}") from None


def of(topology: Topology) -> dict[str, Any]:
    """Hosts with addresses, switches with programs, and links with both ports and rates in b/s."""
    addressing = derive(topology)
    links: list[dict[str, Any]] = []
    seen: set[frozenset[str]] = set()
    for link in topology.links:
        ends = frozenset((link.source, link.target))
        if ends in seen:
            continue
        seen.add(ends)
        back = topology.link(link.target, link.source)
        links.append(
            {
                "a": {
                    "node": link.source,
                    "port": addressing.port_to(link.source, link.target),
                },
                "b": {
                    "node": link.target,
                    "port": addressing.port_to(link.target, link.source),
                },
                "rate_bps": link.rate_bps,
                "ba": {"rate_bps": back.rate_bps},
            }
        )
    return {
        "hosts": {host.name: str(addressing.ipv4[host.name]) for host in topology.hosts},
        "switches": {switch.name: {"program": switch.program} for switch in topology.switches},
        "links": links,
    }
