"""A network as data: hosts, switches and the links between them.

A topology contains rates, delays, queue limits, losses and programs, but no runner: virtual time,
Linux interfaces or Mininet are chosen elsewhere. Links are one-way; a full-duplex cable is two of
them (:func:`duplex`), whose settings may differ.
"""

import math
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from waymark import program
from waymark.drai import MAX_DEPTH, MAX_WINDOW_LOG2, ROUND_TRIP_LOG2
from waymark.dual_pi2 import MAX_COUPLING, MAX_GAIN, MAX_US, DualPi2, parameters
from waymark.entry import Entry
from waymark.errors import WaymarkError
from waymark.ports import MAX_PORT, PRIORITIES
from waymark.red import MAX_W, ConstantDrop, Red
from waymark.trim import LEAST_OCTETS, MOST_OCTETS, Trim

DEFAULT_PROGRAM = "v1model/waymark.p4"
"""The P4 program of a switch that names none, relative to ``p4src/``."""

MAX_RATE_BPS = 1e15
"""Maximum rate of a link, so that the engine's counters can count its packets for years."""

MAX_DELAY_S = 1e6
"""Maximum delay of a link: the longest run has fewer seconds."""

MAX_QUEUE = 2**31
"""Maximum queue limit in packets; the engine counts them with 32 bits."""


MAX_SLOTS = 2**16
"""Maximum number of slots of a gap on a medium."""


@dataclass(frozen=True)
class Host:
    """An end system with one network interface, or several for SCTP over several paths.

    TCP and UDP use the interface of the host's first link in the topology.

    Attributes:
        address: its IPv4 address and prefix length, ``"10.0.1.1/24"``; None: the next free one.
        mac: its interface's address; None: derived from its place in the topology.
        commands: shell commands that configure it instead of the default route; only on Linux
            interfaces.
    """

    name: str
    address: str | None = None
    mac: str | None = None
    commands: tuple[str, ...] = ()


@dataclass(frozen=True)
class Tutorial:
    """Settings of a switch in a topology of the P4 tutorials; only on Linux interfaces.

    Their clients expect the first switch on gRPC port 50051 with device id 0, the second on 50052
    with device id 1, and so on.

    Attributes:
        folder: the exercise's folder, to which all paths in its files are relative.
        number: index of the switch, from 0.
        cpu_port: the port of packets to and from controllers; None: none.
        program: p4c's JSON that the topology names for this switch, relative to ``folder``.
    """

    folder: Path
    number: int
    cpu_port: int | None = None
    program: str | None = None


@dataclass(frozen=True)
class Switch:
    """A P4 switch.

    Attributes:
        program: the main P4 file, relative to the project's ``p4src/`` (or absolute); empty: none
            until a controller loads one, only on Linux interfaces.
        feedback: the marks its ports write: any of ``"aqt"``, ``"drai"``, ``"ci"``.
        drai_window_log2: its ports measure their rate for DRAI over 2^k µs, or over four packets if
            these take longer: about a round trip (:mod:`waymark.drai`).
        runtime: a file with its entries, default actions, multicast groups and clone sessions, in
            the format of the P4 tutorials; it replaces the entries derived from the topology.
        entries: table entries written to it after the others, for a program's own tables; only in
            virtual time.
        tutorial: settings from a topology of the tutorials; None: it is not from one.
        snoop: neighbours beyond wireless links, on which an agent repairs TCP's losses
            (Balakrishnan et al. 1995); only in virtual time.
    """

    name: str
    program: str = DEFAULT_PROGRAM
    feedback: frozenset[str] = frozenset({"aqt"})
    drai_window_log2: int = ROUND_TRIP_LOG2
    runtime: Path | None = None
    tutorial: Tutorial | None = None
    snoop: tuple[str, ...] = ()
    entries: tuple[Entry, ...] = ()


@dataclass(frozen=True)
class Medium:
    """A half-duplex channel that several links share; only in virtual time.

    A node is one station on it, with any number of links, and sends one packet at a time. All
    stations hear each other. Transmissions that overlap are all lost, and not retransmitted.

    Attributes:
        name: links with media of one name share one medium.
        slot_s: the unit of a station's gaps, in seconds.
        slots: before each packet a station waits for 0 to ``slots`` - 1 slots, drawn evenly.
        carrier_sense: whether a station that hears another waits until it has sent, and then for
            another gap.
    """

    name: str
    slot_s: float
    slots: int
    carrier_sense: bool = True


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
        red: early drops in front of the queue; None: none. A switch's program must have RED.
        ecn_threshold: a packet behind more waiting packets is marked (RFC 8257's K);
            None: no marks. A switch's program must have ECN, such as ``v1model/ecn.p4``.
        dual_pi2: the coupled queue management of L4S; None: none. A switch's program must have it,
            such as ``v1model/l4s.p4``.
        trim: packet trimming; None: a switch whose program has it, such as ``v1model/trim.p4``,
            trims with the defaults.
        weights: how the queues of the port share the link while several have packets, by priority
            from 0: octets in proportion to the weights. A queue without a weight, or with 0, is
            served when the others are empty. None: the largest priority first.
        port: the port of ``source``, if that is a switch; None: the next free one.
        medium: the medium that it shares with other links, including its reverse; None: none.
    """

    source: str
    target: str
    rate_bps: float
    delay_s: float
    queue_packets: int = 50
    loss: float = 0.0
    port: int | None = None
    red: Red | ConstantDrop | None = None
    ecn_threshold: int | None = None
    dual_pi2: DualPi2 | None = None
    weights: tuple[int, ...] | None = None
    medium: Medium | None = None
    trim: Trim | None = None

    @property
    def name(self) -> str:
        """``"r1->r2"``: the name of this link and its queue in results."""
        return f"{self.source}->{self.target}"


def duplex(
    a: str,
    b: str,
    rate_bps: float,
    delay_s: float,
    queue_packets: int = 50,
    loss: float = 0.0,
    medium: Medium | None = None,
) -> tuple[Link, Link]:
    """Both directions between ``a`` and ``b``, with the same settings: full-duplex without a
    ``medium``, half-duplex over one."""
    there = Link(a, b, rate_bps, delay_s, queue_packets, loss, medium=medium)
    return there, replace(there, source=b, target=a)


@dataclass(frozen=True)
class Topology:
    """Hosts, switches and links; checked at construction.

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

    @cached_property
    def _by_ends(self) -> Mapping[tuple[str, str], Link]:
        return {(link.source, link.target): link for link in self.links}

    @cached_property
    def uplinks(self) -> Mapping[str, Link]:
        """The first link of each node."""
        first: dict[str, Link] = {}
        for link in self.links:
            first.setdefault(link.source, link)
        return first

    def link(self, source: str, target: str) -> Link:
        """The link from ``source`` to ``target``."""
        link = self._by_ends.get((source, target))
        if link is not None:
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
        ecn_threshold: int | None = None,
        dual_pi2: DualPi2 | None = None,
        weights: tuple[int, ...] | None = None,
        trim: Trim | None = None,
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
            old.port,
            old.red if red is None else red,
            old.ecn_threshold if ecn_threshold is None else ecn_threshold,
            old.dual_pi2 if dual_pi2 is None else dual_pi2,
            old.weights if weights is None else weights,
            old.medium,
            old.trim if trim is None else trim,
        )
        return replace(self, links=tuple(new if link is old else link for link in self.links))

    def with_queues(self, queue_packets: int) -> "Topology":
        """The same topology with every queue's limit set to ``queue_packets``."""
        links = tuple(replace(link, queue_packets=queue_packets) for link in self.links)
        return replace(self, links=links)

    def with_program(self, program: str, *, at: str | None = None) -> "Topology":
        """The same topology with the switch ``at``, or every switch, running ``program``."""
        chosen = None if at is None else self.switch(at)
        switches = tuple(
            replace(switch, program=program) if chosen in (None, switch) else switch
            for switch in self.switches
        )
        return replace(self, switches=switches)

    def with_feedback(self, marks: Collection[str]) -> "Topology":
        """The same topology, with all switches writing these marks of ``aqt``, ``drai`` and ``ci``.

        Raises:
            WaymarkError: a mark is unknown.
        """
        feedback = frozenset(marks)
        switches = tuple(replace(switch, feedback=feedback) for switch in self.switches)
        return replace(self, switches=switches)

    def with_architecture(self, name: str) -> "Topology":
        """The same topology, each switch with the program of that name for another architecture.

        Args:
            name: ``"v1model"``, ``"tna"`` or ``"t2na"``.

        Raises:
            WaymarkError: ``p4src/`` has no program of that name for the architecture.
        """
        switches = tuple(
            replace(switch, program=program.for_architecture(switch.program, name))
            for switch in self.switches
        )
        return replace(self, switches=switches)

    @staticmethod
    def load(path: str | Path) -> "Topology":
        """Read a topology file (format: ``topologies/README.md``).

        Raises:
            WaymarkError: the file is missing, or does not describe a topology; the message has
                file, line, key and the valid values.
        """
        from waymark import topology_file  # it imports this module

        return topology_file.load(Path(path))


def _check(topology: Topology) -> None:
    nodes = Counter(topology.nodes)
    for name, times in nodes.items():
        if times > 1:
            raise WaymarkError(f"two nodes have the name {name!r}")
    ends = Counter((link.source, link.target) for link in topology.links)
    for link in topology.links:
        for end in (link.source, link.target):
            if end not in nodes:
                raise WaymarkError(f"link {link.name}: no node {end!r} (nodes: {', '.join(nodes)})")
        if link.source == link.target:
            raise WaymarkError(f"link {link.name} connects {link.source} to itself")
        if ends[link.source, link.target] > 1:
            raise WaymarkError(f"two links {link.name}")
        if (link.target, link.source) not in ends:
            raise WaymarkError(
                f"link {link.name} has no reverse link; "
                f"add {link.target}->{link.source}, or use duplex"
            )
        if not link.rate_bps >= 1:
            raise WaymarkError(f"link {link.name}: rate {link.rate_bps:g} b/s, expected at least 1")
        if link.rate_bps > MAX_RATE_BPS:
            raise WaymarkError(
                f"link {link.name}: rate {link.rate_bps:g} b/s, expected at most {MAX_RATE_BPS:g}"
            )
        if link.delay_s < 0:
            raise WaymarkError(f"link {link.name}: delay {link.delay_s:g} s is negative")
        if not link.delay_s <= MAX_DELAY_S:
            raise WaymarkError(
                f"link {link.name}: delay {link.delay_s:g} s, expected at most {MAX_DELAY_S:g}"
            )
        if link.queue_packets > MAX_QUEUE:
            raise WaymarkError(
                f"link {link.name}: queue limit {link.queue_packets}, expected at most {MAX_QUEUE}"
            )
        if link.queue_packets < 2:
            raise WaymarkError(
                f"link {link.name}: queue limit {link.queue_packets}, expected at least 2 "
                "(one packet waits while another is transmitted)"
            )
        if not 0 <= link.loss <= 1:
            raise WaymarkError(f"link {link.name}: loss {link.loss:g}, expected 0 to 1")
        if link.ecn_threshold is not None and not 0 <= link.ecn_threshold <= MAX_DEPTH:
            raise WaymarkError(
                f"link {link.name}: ECN threshold {link.ecn_threshold}, expected 0 to {MAX_DEPTH}"
            )
        _check_red(link)
        _check_dual_pi2(link)
        _check_weights(link)
        _check_trim(link)
        if link.port is not None and not 1 <= link.port <= MAX_PORT:
            raise WaymarkError(f"link {link.name}: port {link.port}, expected 1 to {MAX_PORT}")
        if link.medium != topology.link(link.target, link.source).medium:
            raise WaymarkError(f"link {link.name}: its reverse link is on another medium")
    _check_media({link.medium for link in topology.links if link.medium is not None})
    leaving = Counter((link.source, link.port) for link in topology.links if link.port is not None)
    for (node, port), times in leaving.items():
        if times > 1:
            raise WaymarkError(f"two links at port {port} of {node}")
    sources = {link.source for link in topology.links}
    for host in topology.hosts:
        if host.name not in sources:
            raise WaymarkError(f"host {host.name} has no link, expected at least one")
    for switch in topology.switches:
        for neighbour in switch.snoop:
            if (switch.name, neighbour) not in ends:
                raise WaymarkError(f"switch {switch.name}: snoop: no link to {neighbour!r}")
        if not 0 <= switch.drai_window_log2 <= MAX_WINDOW_LOG2:
            raise WaymarkError(
                f"switch {switch.name}: a DRAI window of 2^{switch.drai_window_log2} µs, expected "
                f"2^0 to 2^{MAX_WINDOW_LOG2}"
            )
        unknown = sorted(switch.feedback - {"aqt", "drai", "ci"})
        if unknown:
            raise WaymarkError(
                f"switch {switch.name}: unknown feedback {unknown[0]!r} (valid: aqt, drai, ci)"
            )


def _check_media(media: Collection[Medium]) -> None:
    names = [medium.name for medium in media]
    for medium in media:
        if names.count(medium.name) > 1:
            raise WaymarkError(f"medium {medium.name}: two links differ in its settings")
        if not 0 <= medium.slot_s <= MAX_DELAY_S:
            raise WaymarkError(
                f"medium {medium.name}: slot {medium.slot_s:g} s, expected 0 to {MAX_DELAY_S:g}"
            )
        if not 1 <= medium.slots <= MAX_SLOTS:
            raise WaymarkError(
                f"medium {medium.name}: {medium.slots} slots, expected 1 to {MAX_SLOTS}"
            )


def _check_dual_pi2(link: Link) -> None:
    settings = link.dual_pi2
    if settings is None:
        return
    for name, number in vars(settings).items():
        if not math.isfinite(number):
            raise WaymarkError(
                f"link {link.name}: DualPI2's {name} {number:g}, expected a finite number"
            )
    given = parameters(settings)
    bounds = {
        "target_s": (given["target"], MAX_US, "0 to 4294 s"),
        "step_s": (given["step"], MAX_US, "0 to 4294 s"),
        "coupling": (settings.coupling, MAX_COUPLING, f"0 to {MAX_COUPLING}"),
        "alpha_hz": (given["alpha"], MAX_GAIN, "0 to 15.2 Hz"),
        "beta_hz": (given["beta"], MAX_GAIN, "0 to 15.2 Hz"),
    }
    for name, (value, largest, valid) in bounds.items():
        if not 0 <= value <= largest:
            found = getattr(settings, name)
            raise WaymarkError(f"link {link.name}: DualPI2's {name} {found:g}, expected {valid}")


def _check_weights(link: Link) -> None:
    weights = link.weights
    if weights is None:
        return
    if len(weights) > PRIORITIES or not any(weights) or not all(0 <= w <= 255 for w in weights):
        raise WaymarkError(
            f"link {link.name}: weights {list(weights)}, expected at most {PRIORITIES} from 0 to "
            "255, not all 0"
        )


def _check_trim(link: Link) -> None:
    trim = link.trim
    if trim is None:
        return
    if not LEAST_OCTETS <= trim.octets <= MOST_OCTETS:
        raise WaymarkError(
            f"link {link.name}: trimmed to {trim.octets} octets, expected {LEAST_OCTETS} to "
            f"{MOST_OCTETS}"
        )
    if not 2 <= trim.queue_packets <= MAX_DEPTH:
        raise WaymarkError(
            f"link {link.name}: queue limit {trim.queue_packets} of trimmed packets, expected 2 to "
            f"{MAX_DEPTH}"
        )


def _check_red(link: Link) -> None:
    match link.red:
        case Red(thmin, thmax, pmax, w):
            if not 0 <= thmin < thmax < math.inf:
                raise WaymarkError(
                    f"link {link.name}: RED from {thmin:g} to {thmax:g} packets, expected thmin 0 "
                    "or more, and a finite thmax above it"
                )
            probability = pmax
        case ConstantDrop(probability, w):
            pass
        case None:
            return
    if not 0 < probability <= 1:
        raise WaymarkError(
            f"link {link.name}: drop probability {probability:g}, expected above 0, at most 1"
        )
    if not 0 <= w <= MAX_W:
        raise WaymarkError(f"link {link.name}: RED's weight w {w}, expected 0 to {MAX_W}")
