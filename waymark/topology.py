"""A network as data: hosts, switches and the links between them.

A topology names rates, delays, queue limits, losses and programs, and no runner: what it is run on
(virtual time, Linux interfaces, Mininet) is decided elsewhere. Links are one-way; a full-duplex
cable is two of them (:func:`duplex`), whose settings may differ.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import cast

from waymark.errors import WaymarkError
from waymark.red import ConstantDrop, Red
from waymark.units import parse_rate, parse_time

DEFAULT_PROGRAM = "v1model/waymark.p4"
"""The P4 program of a switch that names none, relative to ``p4src/``."""


@dataclass(frozen=True)
class Host:
    """An end system with one network interface."""

    name: str


@dataclass(frozen=True)
class Switch:
    """A P4 switch.

    Attributes:
        program: the main P4 file, relative to the project's ``p4src/`` (or absolute).
        feedback: the marks its ports write: any of ``"aqt"``, ``"drai"``, ``"ci"``.
    """

    name: str
    program: str = DEFAULT_PROGRAM
    feedback: frozenset[str] = frozenset({"aqt"})


@dataclass(frozen=True)
class Link:
    """One direction of a cable, with the queue in front of it.

    Attributes:
        source: the node that sends on it.
        target: the node that receives from it.
        rate_bps: bits per second.
        delay_s: propagation delay in seconds.
        queue_packets: ns-2's limit L of the queue in front of the link: L - 1 packets wait and
            one is being sent.
        loss: probability that a packet that has left the queue is lost on the link.
        red: early drops in front of the queue; None: none. A switch's program has to have RED.
    """

    source: str
    target: str
    rate_bps: float
    delay_s: float
    queue_packets: int = 50
    loss: float = 0.0
    red: Red | ConstantDrop | None = None

    @property
    def name(self) -> str:
        """``"r1->r2"``: how results name this link and its queue."""
        return f"{self.source}->{self.target}"


def duplex(
    a: str, b: str, rate_bps: float, delay_s: float, queue_packets: int = 50, loss: float = 0.0
) -> tuple[Link, Link]:
    """Both directions of a full-duplex link between ``a`` and ``b``, with the same settings."""
    there = Link(a, b, rate_bps, delay_s, queue_packets, loss)
    return there, replace(there, source=b, target=a)


@dataclass(frozen=True)
class Topology:
    """Hosts, switches and links; checked when it is made.

    Raises:
        WaymarkError: a name used twice, a link to an unknown node, a host without exactly one
            link out and one in, a one-way cable, a value out of range.
    """

    hosts: tuple[Host, ...]
    switches: tuple[Switch, ...]
    links: tuple[Link, ...]

    def __post_init__(self) -> None:
        _check(self)

    @property
    def nodes(self) -> tuple[str, ...]:
        """The names of all hosts, then of all switches."""
        return tuple(node.name for node in (*self.hosts, *self.switches))

    def link(self, source: str, target: str) -> Link:
        """The link from ``source`` to ``target``."""
        for link in self.links:
            if (link.source, link.target) == (source, target):
                return link
        raise WaymarkError(
            f"no link {source}->{target}; links: {', '.join(link.name for link in self.links)}"
        )

    def switch(self, name: str) -> Switch:
        """The switch called ``name``."""
        for switch in self.switches:
            if switch.name == name:
                return switch
        raise WaymarkError(
            f"no switch {name!r}; switches: {', '.join(s.name for s in self.switches)}"
        )

    def with_link(
        self,
        source: str,
        target: str,
        *,
        rate_bps: float | None = None,
        delay_s: float | None = None,
        queue_packets: int | None = None,
        loss: float | None = None,
        red: Red | ConstantDrop | None = None,
    ) -> "Topology":
        """The same topology with other settings on the one link ``source`` -> ``target``."""
        old = self.link(source, target)
        new = Link(
            source,
            target,
            old.rate_bps if rate_bps is None else rate_bps,
            old.delay_s if delay_s is None else delay_s,
            old.queue_packets if queue_packets is None else queue_packets,
            old.loss if loss is None else loss,
            old.red if red is None else red,
        )
        return replace(self, links=tuple(new if link is old else link for link in self.links))

    def with_queues(self, queue_packets: int) -> "Topology":
        """The same topology with every queue's limit set to ``queue_packets``."""
        links = tuple(replace(link, queue_packets=queue_packets) for link in self.links)
        return replace(self, links=links)

    def with_program(self, program: str) -> "Topology":
        """The same topology with every switch running ``program``."""
        switches = tuple(replace(switch, program=program) for switch in self.switches)
        return replace(self, switches=switches)

    @staticmethod
    def load(path: str | Path) -> "Topology":
        """Read a topology file (see ``topologies/README.md`` for its form).

        Raises:
            WaymarkError: the file is missing, is not JSON, or does not describe a topology;
                the message names the file and the entry.
        """
        path = Path(path)
        try:
            data = json.loads(path.read_text(encoding="utf-8"))
        except OSError as error:
            raise WaymarkError(f"{path}: {error.strerror}") from error
        except json.JSONDecodeError as error:
            raise WaymarkError(
                f"{path}:{error.lineno}:{error.colno}: not JSON: {error.msg}"
            ) from error
        try:
            return _from_json(data)
        except WaymarkError as error:
            raise WaymarkError(f"{path}: {error}") from error


def _from_json(data: object) -> Topology:
    top = _table(data, "the file", {"description", "hosts", "switches", "links"})
    hosts = _table(top.get("hosts", {}), "hosts")
    switches: list[Switch] = []
    for name, value in _table(top.get("switches", {}), "switches").items():
        fields = _table(value, f"switches.{name}", {"program", "feedback"})
        feedback = fields.get("feedback", ["aqt"])
        if not isinstance(feedback, list):
            raise WaymarkError(f'switches.{name}.feedback: expected a list such as ["aqt"]')
        switches.append(
            Switch(
                name,
                str(fields.get("program", DEFAULT_PROGRAM)),
                frozenset(str(mark) for mark in cast("list[object]", feedback)),
            )
        )
    links = top.get("links", [])
    if not isinstance(links, list):
        raise WaymarkError("links: expected a list of objects")
    return Topology(
        tuple(Host(name) for name in hosts),
        tuple(switches),
        tuple(
            link
            for index, entry in enumerate(cast("list[object]", links))
            for link in _links_from_json(entry, f"links[{index}]")
        ),
    )


def _links_from_json(entry: object, where: str) -> Iterable[Link]:
    settings = {"rate", "delay", "queue", "loss"}
    fields = _table(entry, where, {"ends", "back"} | settings)
    ends = fields.get("ends")
    if not isinstance(ends, list) or len(cast("list[object]", ends)) != 2:
        raise WaymarkError(f'{where}.ends: expected two node names, such as ["r1", "r2"]')
    a, b = (str(end) for end in cast("list[object]", ends))
    there = {key: fields[key] for key in settings if key in fields}
    back = there | _table(fields.get("back", {}), f"{where}.back", settings)
    yield _link(a, b, there, where)
    yield _link(b, a, back, where)


def _link(a: str, b: str, fields: Mapping[str, object], where: str) -> Link:
    for key in ("rate", "delay"):
        if key not in fields:
            raise WaymarkError(f"{where}: {key} is missing")
    try:
        return Link(
            a,
            b,
            parse_rate(cast("str | float", fields["rate"])),
            parse_time(cast("str | float", fields["delay"])),
            int(cast("int", fields.get("queue", 50))),
            float(cast("float", fields.get("loss", 0.0))),
        )
    except (WaymarkError, TypeError, ValueError) as error:
        raise WaymarkError(f"{where}: {error}") from error


def _table(value: object, where: str, allowed: set[str] | None = None) -> dict[str, object]:
    if not isinstance(value, dict):
        raise WaymarkError(f"{where}: expected an object")
    table = cast("dict[str, object]", value)
    unknown = sorted(set(table) - allowed) if allowed is not None else []
    if unknown:
        valid = ", ".join(sorted(allowed or ()))
        raise WaymarkError(f"{where}: unknown key {unknown[0]!r} (valid: {valid})")
    return table


def _check(topology: Topology) -> None:
    nodes = topology.nodes
    for name in nodes:
        if nodes.count(name) > 1:
            raise WaymarkError(f"two nodes are called {name!r}")
    ends = [(link.source, link.target) for link in topology.links]
    for link in topology.links:
        for end in (link.source, link.target):
            if end not in nodes:
                raise WaymarkError(f"link {link.name}: no node {end!r} (nodes: {', '.join(nodes)})")
        if link.source == link.target:
            raise WaymarkError(f"link {link.name} leads back to its own node")
        if ends.count((link.source, link.target)) > 1:
            raise WaymarkError(f"two links {link.name}")
        if (link.target, link.source) not in ends:
            raise WaymarkError(
                f"link {link.name} has no way back: add {link.target}->{link.source} (see duplex)"
            )
        if link.rate_bps < 1:
            raise WaymarkError(f"link {link.name}: rate {link.rate_bps:g} b/s, expected at least 1")
        if link.delay_s < 0:
            raise WaymarkError(f"link {link.name}: delay {link.delay_s:g} s is negative")
        if link.queue_packets < 2:
            raise WaymarkError(
                f"link {link.name}: queue limit {link.queue_packets}, expected at least 2 "
                "(one packet waits while another is being sent)"
            )
        if not 0 <= link.loss <= 1:
            raise WaymarkError(f"link {link.name}: loss {link.loss:g}, expected 0 to 1")
    for host in topology.hosts:
        uplinks = [link for link in topology.links if link.source == host.name]
        if len(uplinks) != 1:
            raise WaymarkError(f"host {host.name} has {len(uplinks)} links, expected exactly one")
    for switch in topology.switches:
        unknown = sorted(switch.feedback - {"aqt", "drai", "ci"})
        if unknown:
            raise WaymarkError(
                f"switch {switch.name}: unknown feedback {unknown[0]!r} (valid: aqt, drai, ci)"
            )
