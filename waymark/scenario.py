"""A whole run as data: network, traffic, duration, seed."""

import json
import math
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property, lru_cache
from typing import Any

from waymark import architecture, congestion, hops, program, sctp
from waymark.addressing import Addressing, derive, least_round_trip_s
from waymark.architecture import Architecture
from waymark.congestion import CongestionControl
from waymark.controls import BY_NAME
from waymark.drai import MTU_OCTETS
from waymark.entries import PROGRAM_OF, csig_quantiser, entries_for, limits_queues, writes
from waymark.entry import Entry
from waymark.errors import WaymarkError
from waymark.sctp import Association
from waymark.topology import Link, Switch, Topology
from waymark.traffic import THRESHOLD, Cbr, Flow, Source, Tracing


@dataclass(frozen=True)
class LinkChange:
    """A change of one direction of a cable during the run.

    A packet uses the values at the time when its first octet leaves. The switch's configuration for
    the link (queue limit, the rate for a mark) does not change.

    Attributes:
        at_s: when, in seconds.
        source, target: the link's ends, in its direction.
        rate_bps, delay_s, loss: what changes, as in :class:`waymark.Link`; None: nothing.
    """

    at_s: float
    source: str
    target: str
    rate_bps: float | None = None
    delay_s: float | None = None
    loss: float | None = None


@dataclass(frozen=True)
class Clock:
    """A host's clock relative to the run's, as seen in its TCP timestamps.

    Attributes:
        offset_s: its value at time zero, in seconds.
        skew_ppm: its deviation, in parts per million; positive: it runs too fast.
    """

    offset_s: float = 0.0
    skew_ppm: float = 0.0


@dataclass(frozen=True)
class Scenario:
    """The input of :func:`waymark.run`.

    Attributes:
        name: for messages and records.
        topology: the network.
        end_s: when the run ends, in seconds of virtual time.
        flows: TCP connections; results keep their order.
        sources: other traffic.
        associations: SCTP between hosts with several links; results keep their order.
        seed: of all random numbers of the run.
        changes: of links, during the run.
        clocks: of hosts, by name; other clocks are exact.
        sample_s: width of the bins in which results over time are kept, in seconds.
        counters_every_s: how often counters and registers of the switches are sampled, in seconds,
            for ``Result.switches[…].counters[…].over_time(…)``; None: they are read at the end
            only.
        check_aqt: compare the AQT of every arriving packet with the simulator's waiting times.

    Raises:
        WaymarkError: traffic or a clock names a node that is not a host of the topology, a change
            names a missing link, or traffic begins after the end of the run.
    """

    name: str
    topology: Topology
    end_s: float
    flows: tuple[Flow, ...] = ()
    sources: tuple[Source, ...] = ()
    seed: int = 1
    sample_s: float = 1.0
    check_aqt: bool = False
    changes: tuple[LinkChange, ...] = ()
    clocks: Mapping[str, Clock] = field(default_factory=dict[str, Clock])
    associations: tuple[Association, ...] = ()
    counters_every_s: float | None = None

    def __post_init__(self) -> None:
        hosts = dict.fromkeys(host.name for host in self.topology.hosts)
        for traffic in (*self.flows, *self.associations, *self.sources):
            for end in (traffic.source, traffic.target):
                if end not in hosts:
                    raise WaymarkError(
                        f"scenario {self.name}: traffic {traffic.source}->{traffic.target}: no "
                        f"host {end!r} (hosts: {', '.join(hosts)})"
                    )
            name = f"traffic {traffic.source}->{traffic.target}"
            self._require_within(name, "start_s", traffic.start_s)
        for flow in self.flows:
            if isinstance(flow.trace, Tracing):
                name = f"trace of flow {flow.source}->{flow.target}"
                self._require_within(name, "from_s", flow.trace.from_s)
        for name in self.clocks:
            if name not in hosts:
                raise WaymarkError(
                    f"scenario {self.name}: clocks: no host {name!r} (hosts: {', '.join(hosts)})"
                )
        for change in self.changes:
            self.topology.link(change.source, change.target)
            name = f"change of {change.source}->{change.target}"
            self._require_within(name, "at_s", change.at_s)

    def _require_within(self, what: str, parameter: str, time_s: float) -> None:
        if time_s >= self.end_s:
            raise WaymarkError(
                f"scenario {self.name}: {what}: {parameter} {time_s:g}, expected less than end_s, "
                f"{self.end_s:g}"
            )

    @cached_property
    def largest_packet(self) -> int:
        """Octets of the largest data packet of a flow; without flows, the MTU."""
        return max((flow.profile.packet_octets for flow in self.flows), default=MTU_OCTETS)

    @property
    def programs(self) -> tuple[str, ...]:
        """The P4 programs that its switches run, each once, in the order of the switches."""
        return tuple(dict.fromkeys(switch.program for switch in self.topology.switches))


def to_core(
    scenario: Scenario, tables: Mapping[str, Collection[str]], *, as_they_end: bool = False
) -> dict[str, Any]:
    """The scenario in the core's format (``crates/netsim/src/scenario``).

        It contains everything that a control plane decides: addresses, routes, neighbours, queue
            limits and feedback, as table entries.

    Args:
        scenario: the scenario.
        tables: the control-plane names of the tables that each program has.
        as_they_end: flows are returned as they end. There may be many: a flow with the same
            connection as the previous one is abbreviated.

    Raises:
        WaymarkError: a link has what its switch's program does not know, a flow reads telemetry
            and no switch writes it, or a path has too many switches.
    """
    addressing, network = _network_to_core(*_network(scenario, tables))
    return network | _of_run(scenario, addressing, tables, as_they_end)


def halves_to_core(
    scenario: Scenario, tables: Mapping[str, Collection[str]], *, as_they_end: bool = False
) -> tuple[str, dict[str, Any]]:
    """As :func:`to_core`, in two parts: the network as JSON, which many runs share, and the
    rest."""
    topology, network = scenario.topology, _network(scenario, tables)
    # A runtime file may change, and entries have dicts, which have no hash.
    is_kept = len(topology.links) <= MOST_KEPT_LINKS and not any(
        switch.runtime is not None or switch.entries for switch in topology.switches
    )
    addressing, text = (_kept_text if is_kept else _network_text)(*network)
    return text, _of_run(scenario, addressing, tables, as_they_end)


MOST_KEPT_LINKS = 1000
"""Limit for networks that are cached as text for the next run; larger ones take much memory."""


def _of_run(
    scenario: Scenario,
    addressing: Addressing,
    tables: Mapping[str, Collection[str]],
    as_they_end: bool,
) -> dict[str, Any]:
    _check_telemetry(scenario, tables)
    hops.check(scenario, addressing, tables)
    return {
        "name": scenario.name,
        "seed": scenario.seed,
        "end_s": scenario.end_s,
        "sample_s": scenario.sample_s,
        "flows": [
            _short(flow)
            if as_they_end and index > 0 and _is_alike(flow, scenario.flows[index - 1])
            else _flow(index, flow, scenario, addressing, tables)
            for index, flow in enumerate(scenario.flows)
        ],
        "associations": [
            sctp.to_core(index, association, scenario.topology, addressing)
            for index, association in enumerate(scenario.associations)
        ],
        "sources": [source_to_core(source) for source in scenario.sources],
        "record": {
            "check_aqt": scenario.check_aqt,
            "sample_objects_s": scenario.counters_every_s,
            **({"flows_as_they_end": True} if as_they_end else {}),
        },
    }


_Network = tuple[
    Topology,
    tuple[tuple[str, tuple[str, ...]], ...],
    tuple[tuple[str, Clock], ...],
    tuple[LinkChange, ...],
    int,
]
"""The inputs of :func:`_network_to_core`."""


def _network(scenario: Scenario, tables: Mapping[str, Collection[str]]) -> _Network:
    of_programs = tuple((name, tuple(tables[name])) for name in scenario.programs)
    clocks = tuple(scenario.clocks.items())
    return scenario.topology, of_programs, clocks, scenario.changes, scenario.largest_packet


def _network_text(*network: *_Network) -> tuple[Addressing, str]:
    addressing, parts = _network_to_core(*network)
    return addressing, json.dumps(parts)


_kept_text = lru_cache(maxsize=64)(_network_text)
"""Runs that differ only in seed or congestion control share one network."""


def _network_to_core(
    topology: Topology,
    of_programs: tuple[tuple[str, tuple[str, ...]], ...],
    clocks: tuple[tuple[str, Clock], ...],
    changes: tuple[LinkChange, ...],
    largest_packet: int,
) -> tuple[Addressing, dict[str, Any]]:
    addressing, tables, of_hosts = derive(topology), dict(of_programs), dict(clocks)
    return addressing, {
        "hosts": {
            host.name: _host(host.name, addressing, of_hosts.get(host.name, Clock()))
            for host in topology.hosts
        },
        "switches": {
            switch.name: {
                "program": switch.program,
                **_held(topology, addressing, switch, tables[switch.program], largest_packet),
                "snoop": [addressing.port_to(switch.name, end) for end in switch.snoop],
            }
            for switch in topology.switches
        },
        "links": [
            _link(link, topology.link(link.target, link.source), changes, addressing)
            for link in _first_of_pairs(topology)
        ],
        "media": _media(topology),
    }


def _check_telemetry(scenario: Scenario, tables: Mapping[str, Collection[str]]) -> None:
    """Without telemetry, a control that reads it would keep its first window, or act
    differently."""
    for flow in scenario.flows:
        if not isinstance(flow.algorithm, str) or flow.profile.family != "modern":
            continue
        for mark in PROGRAM_OF.keys() & BY_NAME[flow.algorithm].marks:
            if not any(writes(mark, tables[program]) for program in scenario.programs):
                raise WaymarkError(
                    f"scenario {scenario.name}: flow {flow.source}->{flow.target}: "
                    f"{flow.algorithm} reads {mark}, which no switch writes; valid: "
                    f"{PROGRAM_OF[mark]} at the switches"
                )


def _held(
    topology: Topology,
    addressing: Addressing,
    switch: Switch,
    tables: Collection[str],
    largest_packet: int,
) -> dict[str, Any]:
    """The entries of a switch: from its runtime file, or else derived from the topology."""
    own = [entry.to_core() for entry in switch.entries]
    if switch.runtime is None:
        entries = _derived(topology, addressing, switch, tables, largest_packet)
        held: dict[str, Any] = {"entries": [*(entry.to_core() for entry in entries), *own]}
        held |= _weights(topology, addressing, switch)
        if limits_queues(tables):
            return held
        return held | _limits(topology, addressing, switch)
    from topologies import virtual  # brings the controller, and with it gRPC

    for link in topology.links:
        if link.source != switch.name:
            continue
        if (link.red, link.ecn_threshold, link.dual_pi2, link.trim) != (None, None, None, None):
            raise WaymarkError(
                f"link {link.name}: RED, ECN thresholds, DualPI2 and trimming need table "
                f"entries, but the entries of {switch.name} are those of its runtime file"
            )
    held = virtual.held(switch.runtime, program.of_project(switch.program))
    return held | {
        "entries": [*held["entries"], *own],
        **_weights(topology, addressing, switch),
        **_limits(topology, addressing, switch),
    }


def _derived(
    topology: Topology,
    addressing: Addressing,
    switch: Switch,
    tables: Collection[str],
    largest_packet: int,
) -> list[Entry]:
    return entries_for(topology, addressing, switch, tables, _architecture(switch), largest_packet)


def explain_derived(scenario: Scenario, tables: Mapping[str, Collection[str]], message: str) -> str:
    """A suffix for the core's ``message`` if it refuses a derived entry; otherwise empty.

    Args:
        scenario: the scenario.
        tables: the control-plane names of the tables that each program has.
        message: begins with the place of an entry in :func:`to_core`'s form, or is about others.
    """
    place = re.match(r"switches\.(?P<switch>.+)\.entries\[(?P<number>\d+)\]: ", message)
    if place is None:
        return ""
    topology = scenario.topology
    switch = topology.switch(place["switch"])
    if switch.runtime is not None:
        return ""
    derived = _derived(
        topology, derive(topology), switch, tables[switch.program], scenario.largest_packet
    )
    number = int(place["number"])
    if number >= len(derived):
        return ""
    entry = derived[number]
    return (
        f"\nWaymark derived this entry from the topology, because {switch.program} has a table "
        f"{entry.table}:\n  {entry}\nIf the table is your own, rename it, or give the switch a "
        "runtime file: then Waymark derives no entries."
    )


def _limits(topology: Topology, addressing: Addressing, switch: Switch) -> dict[str, Any]:
    """The capacity of the queues of a switch whose program does not limit them.

    A traffic manager that limits queues is configured per port; ns-2's limit includes the packet in
    service. Otherwise all ports have the largest limit.
    """
    links = [link for link in topology.links if link.source == switch.name]
    if not _architecture(switch).limits_queues:
        return {"capacity": max((link.queue_packets for link in links), default=2)}
    ports = addressing.ports[switch.name]
    capacities = {
        port: topology.link(switch.name, end).queue_packets - 1 for port, end in ports.items()
    }
    return {"port_capacity": capacities}


def _weights(topology: Topology, addressing: Addressing, switch: Switch) -> dict[str, Any]:
    """The weights with which the queues of each port share its line, if it is not by priority
    alone."""
    links = {
        port: topology.link(switch.name, end) for port, end in addressing.ports[switch.name].items()
    }
    weights = {port: list(link.weights) for port, link in links.items() if link.weights is not None}
    return {"port_weights": weights} if weights else {}


def _architecture(switch: Switch) -> Architecture:
    return architecture.of(program.of_project(switch.program).architecture)


def _host(name: str, addressing: Addressing, clock: Clock) -> dict[str, Any]:
    first, *further = (
        {
            "ipv4": str(addressing.interfaces[name, port]),
            "mac": addressing.mac[name, port],
            "gateway_mac": addressing.mac[gateway, addressing.port_to(gateway, name)],
        }
        for port, gateway in addressing.ports[name].items()
    )
    return {**first, "clock": asdict(clock), "interfaces": further}


def _media(topology: Topology) -> dict[str, Any]:
    return {
        link.medium.name: {
            "slot_s": link.medium.slot_s,
            "slots": link.medium.slots,
            "carrier_sense": link.medium.carrier_sense,
        }
        for link in topology.links
        if link.medium is not None
    }


def _first_of_pairs(topology: Topology) -> Iterator[Link]:
    """The first direction of each cable."""
    seen: set[tuple[str, str]] = set()
    for link in topology.links:
        seen.add((link.source, link.target))
        if (link.target, link.source) not in seen:
            yield link


def _link(
    there: Link, back: Link, changes: Sequence[LinkChange], addressing: Addressing
) -> dict[str, Any]:
    def end(node: str, neighbour: str) -> dict[str, Any]:
        port = addressing.port_to(node, neighbour)
        if node in addressing.hosts:
            port = list(addressing.ports[node]).index(port)
        return {"node": node, "port": port}

    def settings(link: Link) -> dict[str, Any]:
        return {
            "rate_bps": round(link.rate_bps),
            "delay_s": link.delay_s,
            "queue": link.queue_packets,
            "loss": link.loss,
        }

    return {
        "a": end(there.source, there.target),
        "b": end(there.target, there.source),
        **settings(there),
        "medium": None if there.medium is None else there.medium.name,
        "ba": settings(back),
        "changes": [
            _change(change, direction)
            for direction, link in (("ab", there), ("ba", back))
            for change in changes
            if (change.source, change.target) == (link.source, link.target)
        ],
    }


def _change(change: LinkChange, direction: str) -> dict[str, Any]:
    rate_bps = change.rate_bps
    if rate_bps is not None and math.isfinite(rate_bps):  # the core refuses others
        rate_bps = round(rate_bps)
    return {
        "at_s": change.at_s,
        "direction": direction,
        "rate_bps": rate_bps,
        "delay_s": change.delay_s,
        "loss": change.loss,
    }


def custom_controls(scenario: Scenario) -> dict[str, Callable[[], CongestionControl]]:
    """The factories of the controls in Python, by the names that :func:`to_core` gives them."""
    return {
        _name(index): flow.start_custom
        for index, flow in enumerate(scenario.flows)
        if not isinstance(flow.algorithm, str)
    }


def _name(flow: int) -> str:
    return f"flow{flow}"


def control_to_core(flow: Flow) -> dict[str, Any]:
    """A flow's compiled congestion control and its settings in the core's format."""
    return {"name": flow.algorithm, **flow.settings}


def _flow(
    index: int,
    flow: Flow,
    scenario: Scenario,
    addressing: Addressing,
    tables: Mapping[str, Collection[str]],
) -> dict[str, Any]:
    topology = scenario.topology
    control = control_to_core(flow)
    if flow.threshold_factor is not None:
        round_trip_s = least_round_trip_s(topology, addressing, flow.source, flow.target)
        control[THRESHOLD] = flow.threshold_factor * round_trip_s
    tracing = flow.trace if isinstance(flow.trace, Tracing) else Tracing()
    carried: dict[str, Any] = {}
    if not isinstance(flow.algorithm, str):
        custom = flow.start_custom()
        control = {"name": "custom", "factory": _name(index), "recovery": custom.recovery}
        carried = {mark: getattr(custom, mark) for mark in congestion.MARKS}
        carried["marks"] = [mark.to_core() for mark in custom.marks]
    elif "CSIG" in BY_NAME[flow.algorithm].marks and flow.profile.family == "modern":
        carried["csig"] = _csig(flow, scenario, tables)
    elif (
        "trimming" in BY_NAME[flow.algorithm].needs.split(", ") and flow.profile.family == "modern"
    ):
        _check_trimming(flow, scenario, tables)
    return {
        "name": _name(index),
        "from": flow.source,
        "to": flow.target,
        "connection": {"control": control, "profile": flow.profile.by_family(), **carried},
        "start_s": flow.start_s,
        "stop_s": flow.stop_s,
        "segments": flow.segments,
        "trace": bool(flow.trace),
        "tracing": dict(vars(tracing)),
    }


def _csig(
    flow: Flow, scenario: Scenario, tables: Mapping[str, Collection[str]]
) -> dict[str, float]:
    """The quantiser with which a flow reads CSIG tags.

    Raises:
        WaymarkError: a switch does not know the tags, and would drop packets with them.
    """
    topology = scenario.topology
    for switch in topology.switches:
        if not any(table.split(".")[-1] == "csig_port" for table in tables[switch.program]):
            raise WaymarkError(
                f"scenario {scenario.name}: flow {flow.source}->{flow.target}: {flow.algorithm} "
                f"sends CSIG tags, and {switch.program or 'the program'} of {switch.name} has no "
                "table csig_port: it would drop them; valid: v1model/csig.p4 at every switch"
            )
    quantiser = csig_quantiser(topology)
    return {"delay_unit_us": quantiser.delay_unit_us, "interval_us": quantiser.interval_us}


def _short(flow: Flow) -> dict[str, Any]:
    """A flow with the same connection as the previous one, and a name derived from its number."""
    return {
        "from": flow.source,
        "to": flow.target,
        "start_s": flow.start_s,
        "stop_s": flow.stop_s,
        "segments": flow.segments,
    }


def _is_alike(flow: Flow, before: Flow) -> bool:
    """Whether two flows have the same connection settings, and no trace."""
    return (
        isinstance(flow.algorithm, str)
        and flow.algorithm == before.algorithm
        and flow.profile == before.profile
        and flow.settings == before.settings
        and not (flow.trace or flow.threshold_factor or before.threshold_factor)
    )


def _check_trimming(flow: Flow, scenario: Scenario, tables: Mapping[str, Collection[str]]) -> None:
    """Check that all switches trim a flow's packets.

    Raises:
        WaymarkError: a switch drops the packets that its queue refuses.
    """
    for switch in scenario.topology.switches:
        if not any(table.split(".")[-1] == "trimming" for table in tables[switch.program]):
            raise WaymarkError(
                f"scenario {scenario.name}: flow {flow.source}->{flow.target}: {flow.algorithm} "
                f"needs switches that trim packets, and {switch.program or 'the program'} of "
                f"{switch.name} has no table trimming; valid: v1model/trim.p4 at every switch"
            )


def source_to_core(source: Source) -> dict[str, Any]:
    """A source in the core's format."""
    fields: dict[str, Any] = {
        "from": source.source,
        "to": source.target,
        "rate_bps": source.rate_bps,
        "packet_octets": source.packet_octets,
        "start_s": source.start_s,
        "stop_s": source.stop_s,
    }
    if isinstance(source, Cbr):
        return fields | {"kind": "cbr"}
    fields |= {"mean_on_s": source.mean_on_s, "mean_off_s": source.mean_off_s}
    if source.distribution == "pareto":
        fields["shape"] = source.shape
    return fields | {"kind": source.distribution}
