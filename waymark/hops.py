"""How many switches packets may pass on their way."""

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

from waymark.addressing import Addressing, path
from waymark.controls import BY_NAME
from waymark.entries import writes
from waymark.errors import WaymarkError

if TYPE_CHECKING:
    from waymark.scenario import Scenario

MAX_SWITCHES = 63
"""Hosts send with a TTL of 64. Each switch takes 1, and drops a packet that arrives with 1."""

MAX_INT_RECORDS = 8
"""Records of in-band telemetry for which a data packet leaves room."""

_ROUTES = {"ipv4_route", "ecmp_route"}
"""The tables of the project's routers, which take 1 of the TTL."""


def check(
    scenario: "Scenario", addressing: Addressing, tables: Mapping[str, Collection[str]]
) -> None:
    """Refuse traffic whose path is too long for its TTL, or for the telemetry that it reads.

    Args:
        scenario: what to run.
        addressing: of its topology.
        tables: the control-plane names of the tables that each program has.

    Raises:
        WaymarkError: naming both ends, the switches on the path, and how many are valid.
    """
    _check_ttl(scenario, addressing, tables)
    _check_telemetry(scenario, addressing, tables)


def _check_ttl(
    scenario: "Scenario", addressing: Addressing, tables: Mapping[str, Collection[str]]
) -> None:
    routers = {
        switch.name
        for switch in scenario.topology.switches
        if any(table.split(".")[-1] in _ROUTES for table in tables[switch.program])
    }
    if len(routers) <= MAX_SWITCHES:
        return
    ends = {(one.source, one.target, 0) for one in (*scenario.flows, *scenario.sources)}
    ends |= {
        (one.source, one.target, interface)
        for one in scenario.associations
        for interface in range(min(len(addressing.ports[end]) for end in (one.source, one.target)))
    }
    for source, target, interface in sorted(ends):
        passed = _passed(scenario, addressing, routers, source, target, interface)
        if passed > MAX_SWITCHES:
            raise WaymarkError(
                f"scenario {scenario.name}: traffic {source}->{target}: {passed} switches on the "
                f"path, expected at most {MAX_SWITCHES}: hosts send with a TTL of 64, of which "
                "each switch takes 1"
            )


def _check_telemetry(
    scenario: "Scenario", addressing: Addressing, tables: Mapping[str, Collection[str]]
) -> None:
    writers = {
        switch.name
        for switch in scenario.topology.switches
        if writes("INT", tables[switch.program])
    }
    if len(writers) <= MAX_INT_RECORDS:
        return
    readers = {
        (flow.source, flow.target): flow.algorithm
        for flow in scenario.flows
        if isinstance(flow.algorithm, str)
        and flow.profile.family == "modern"
        and "INT" in BY_NAME[flow.algorithm].marks
    }
    for (source, target), algorithm in readers.items():
        passed = _passed(scenario, addressing, writers, source, target)
        if passed > MAX_INT_RECORDS:
            raise WaymarkError(
                f"scenario {scenario.name}: flow {source}->{target}: {algorithm} reads INT of at "
                f"most {MAX_INT_RECORDS} switches, and {passed} on the flow's path write it"
            )


def _passed(
    scenario: "Scenario",
    addressing: Addressing,
    counted: Collection[str],
    source: str,
    target: str,
    interface: int = 0,
) -> int:
    """How many of these switches are on a path."""
    links = path(scenario.topology, addressing, source, target, interface)
    return sum(link.source in counted for link in links)
