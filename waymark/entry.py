"""Table entries, and how each setting of a port or a route is written as one.

The tables are those of ``p4src/`` (its README lists keys, actions and parameters). This module
depends neither on topologies nor on the controller: the lab and ``controller/`` both use it.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from waymark.architecture import V1MODEL, Architecture
from waymark.csig import SIGNALS, Quantiser
from waymark.drai import MTU_OCTETS, ROUND_TRIP_LOG2, drai_ranges, window_log2, window_shift
from waymark.dual_pi2 import DualPi2, parameters
from waymark.errors import WaymarkError
from waymark.red import CERTAIN, ConstantDrop, Red, RedStep, red_steps, red_steps_of_depth
from waymark.tcp_int import parameters as tcp_int_parameters
from waymark.telemetry import Request

Value = int | str | tuple[int, int]
"""A number, an address (``"10.0.0.1"``, ``"02:00:00:00:00:01"``), a prefix ``"10.0.0.0/24"``, or a
range (low, high), both included."""

MARKS = ("aqt", "drai", "ci")
"""The marks a port can write, in the order of ``set_feedback``'s parameters."""

ETHER_TYPE_ARP = 0x0806
MAX_KBPS = 0xFFFFFFFE
"""Maximum rate in telemetry: all ones mean no rate."""

DISJOINT = 1
"""The priority of entries with ranges: these never overlap, so that all have the same."""


@dataclass(frozen=True)
class Entry:
    """One table entry; names are the control plane's, after the last dot.

    Attributes:
        match: each key's value. An omitted key matches anything.
        alternatives: parameters of the same action again; the table's action selector chooses among
            ``params`` and these.
        priority: the matching entry with the largest wins, in tables with ranges; otherwise 0.
    """

    table: str
    match: Mapping[str, Value]
    action: str
    params: Mapping[str, int | str] = field(default_factory=dict[str, int | str])
    priority: int = 0
    alternatives: tuple[Mapping[str, int | str], ...] = ()

    def __str__(self) -> str:
        """As ``route dst_addr=10.0.0.0/24 -> via(port=1, next_hop=10.0.9.1)``."""
        match = " ".join(f"{key}={value}" for key, value in self.match.items())
        choices = (
            ", ".join(f"{name}={value}" for name, value in params.items())
            for params in (self.params, *self.alternatives)
        )
        actions = " | ".join(f"{self.action}({params})" for params in choices)
        return f"{self.table} {match} -> {actions}"

    def to_core(self) -> dict[str, Any]:
        """The entry as the core reads it."""
        entry: dict[str, Any] = {
            "table": self.table,
            "match": dict(self.match),
            "action": self.action,
            "params": dict(self.params),
        }
        if self.alternatives:
            entry["alternatives"] = [dict(params) for params in self.alternatives]
        return entry | ({"priority": self.priority} if self.priority else {})


def direct_route(prefix: str, port: int) -> Entry:
    """Destinations in ``prefix`` are neighbours themselves, behind ``port``."""
    return Entry("ipv4_route", {"dst_addr": prefix}, "direct", {"port": port})


def route_via(prefix: str, port: int, next_hop: str) -> Entry:
    """Destinations in ``prefix`` are reached through the neighbour ``next_hop`` behind ``port``."""
    return Entry("ipv4_route", {"dst_addr": prefix}, "via", {"port": port, "next_hop": next_hop})


def ecmp_route(prefix: str, next_hops: Sequence[tuple[int, str | None]]) -> Entry:
    """Destinations in ``prefix`` are reached through any of ``next_hops``.

    Args:
        next_hops: port and neighbour of each, all different; None: the destination itself is the
            neighbour.
    """
    match: dict[str, Value] = {"dst_addr": prefix}
    (port, address), *others = next_hops
    if address is None:
        return Entry("ecmp_route", match, "direct", {"port": port})
    choices = tuple({"port": port, "next_hop": str(address)} for port, address in others)
    params: dict[str, int | str] = {"port": port, "next_hop": address}
    return Entry("ecmp_route", match, "via", params, alternatives=choices)


def neighbour(port: int, address: str, *, own_mac: str, mac: str) -> Entry:
    """Frames to ``address`` leave ``port`` from ``own_mac`` to ``mac``."""
    match: dict[str, Value] = {"port": port, "next_hop": address}
    return Entry("neighbour", match, "rewrite", {"src_addr": own_mac, "dst_addr": mac})


def punt(ether_type: int) -> Entry:
    """Frames of this type go to the CPU port."""
    return Entry("punt", {"ether_type": ether_type}, "send_to_cpu")


def queue_limit(port: int, limit_packets: int) -> Entry:
    """The queue limit of a port, as ns-2 counts it.

    ns-2's limit L counts the packet that is being sent; the program counts those that wait.
    """
    return Entry("port_queue", {"port": port}, "drop_tail", {"max_waiting": limit_packets - 1})


def ecn_threshold(port: int, packets: int) -> Entry:
    """A packet behind more than this many waiting packets is marked (RFC 8257, §3.1: K)."""
    return Entry("ecn_threshold", {"port": port}, "mark_above", {"threshold": packets})


def dual_pi2(port: int, settings: DualPi2) -> Entry:
    """DualPI2 at a port; see `waymark.dual_pi2`."""
    return Entry("dual_pi2", {"port": port}, "control_queueing", parameters(settings))


def trimming(
    port: int, trimmable: int, trimmed: int, octets: int, limit_packets: int
) -> list[Entry]:
    """Packets with the first DSCP are cut to this many octets of the frame if the port's queue is
    full, and sent with the second DSCP, by a separate queue. Its limit counts like ns-2's."""
    waiting = {"max_waiting": limit_packets - 1}
    cut = {"octets": octets, "dscp": trimmed, **waiting}
    return [
        Entry("trimming", {"port": port, "dscp": trimmable}, "cut", cut),
        Entry("trimming", {"port": port, "dscp": trimmed}, "send_first", waiting),
    ]


def csig_port(
    port: int, rate_bps: float, locator: int, quantiser: Quantiser, *, strip: bool = False
) -> Entry:
    """A port updates CSIG tags as the hop `locator`, and removes them if ``strip`` is set."""
    capacity = quantiser.capacity_octets(rate_bps)
    params: dict[str, int | str] = {
        "locator": locator,
        "interval_log2": quantiser.interval_log2,
        "capacity": capacity,
        "per_octet": 2**48 // capacity,
        "strip": int(strip),
    }
    return Entry("csig_port", {"port": port}, "write", params)


def csig_insertion(port: int, signal: int) -> Entry:
    """IPv4 packets that arrive at a port without a CSIG tag get one that requests ``signal``."""
    return Entry("csig_insertion", {"port": port}, "insert", {"signal": signal})


def csig_bands(quantiser: Quantiser) -> list[Entry]:
    """The bands of CSIG's signals; see `waymark.csig`."""
    return [
        Entry(
            "csig_band", {"signal": signal, "value": values}, "set_band", {"band": band}, DISJOINT
        )
        for signal in SIGNALS.values()
        for values, band in quantiser.ranges(signal)
    ]


def tcp_int(port: int, rate_bps: float) -> Entry:
    """A port writes TCP-INT; see `waymark.tcp_int`."""
    return Entry("tcp_int_port", {"port": port}, "write", tcp_int_parameters(rate_bps))


def telemetry(port: int, node: int, rate_bps: float, mtu: int) -> Entry:
    """A port records in packets with telemetry (INT 2.1) that leave by it.

    Args:
        port: of the queue.
        node: the switch's number in the domain, 0 to 2^32 - 1.
        rate_bps: of the port's line. It is recorded in kb/s, at least 1: hosts ignore a rate of 0.
        mtu: octets of the longest IPv4 packet on the line.
    """
    rate_kbps = min(max(1, round(rate_bps / 1000)), MAX_KBPS)
    params = {"node": node, "rate_kbps": rate_kbps, "mtu": mtu}
    return Entry("int_port", {"port": port}, "write_records", params)


def telemetry_removed(port: int) -> Entry:
    """A port removes telemetry from packets, for neighbours that do not support it."""
    return Entry("int_port", {"port": port}, "remove_stack")


def telemetry_source(
    port: int, protocol: int, dst_ports: tuple[int, int], request: Request
) -> Entry:
    """Packets of this protocol (6 or 17) that arrive at ``port`` get telemetry.

    Args:
        port: where they arrive.
        protocol: TCP or UDP.
        dst_ports: the first and the last of the destination ports.
        request: what hops record.
    """
    match: dict[str, Value] = {"port": port, "protocol": protocol, "dst_port": dst_ports}
    return Entry("int_source", match, "start", request.parameters(), DISJOINT)


def feedback(
    port: int,
    marks: Collection[str],
    rate_bps: float | None,
    round_trip_log2: int = ROUND_TRIP_LOG2,
) -> Entry:
    """The marks that a port writes, and its DRAI window for its rate (None: no DRAI)."""
    params: dict[str, int | str] = {mark: int(mark in marks) for mark in MARKS}
    params["window_log2"] = 0 if rate_bps is None else window_log2(rate_bps, round_trip_log2)
    return Entry("port_feedback", {"port": port}, "set_feedback", params)


def drai(
    port: int,
    rate_bps: float,
    limit_packets: int,
    architecture: Architecture = V1MODEL,
    packet_octets: int = MTU_OCTETS,
    round_trip_log2: int = ROUND_TRIP_LOG2,
) -> list[Entry]:
    """The port's DRAI by waiting packets and octets of the last window; see `waymark.drai`."""
    ranges = [
        Entry(
            "drai",
            {"port": port, "queue_depth": r.queue_depth, "window_octets": r.window_octets},
            "set_index",
            {"index": r.index},
            DISJOINT,
        )
        for r in drai_ranges(rate_bps, limit_packets, architecture, packet_octets, round_trip_log2)
    ]
    shift = window_shift(rate_bps, architecture, round_trip_log2)
    unit = [Entry("window_unit", {"port": port}, f"shift_{shift}")] if shift else []
    return [*unit, *ranges]


def red(
    port: int,
    settings: Red | ConstantDrop,
    architecture: Architecture = V1MODEL,
    packet_octets: int = MTU_OCTETS,
) -> list[Entry]:
    """The weight of RED's average, and its drop probability by average; see `waymark.red`.

    Args:
        port: of the queue.
        settings: thresholds in packets.
        architecture: if it counts cells, RED reads the depth that a packet found.
        packet_octets: of a waiting packet, if depths are in cells.

    Raises:
        WaymarkError: ``settings`` has an average, and the program has none.
    """
    if architecture.cell_octets is None:
        weight = [Entry("red_weight", {"port": port}, "average_occupancy", {"w": settings.w})]
        return [*weight, *(_red_step(port, "average", step) for step in red_steps(settings))]
    if settings.w != 0:
        raise WaymarkError(
            f"red: w is {settings.w}, but programs for {architecture.name} have no average; "
            "valid: w: 0 (docs/tofino.md)"
        )
    steps = red_steps_of_depth(settings, architecture.depth_of(packet_octets))
    return [
        Entry("red", {"port": port, "queue_depth": step.bounds}, "drop_all", {}, DISJOINT)
        if step.probability == CERTAIN
        else _red_step(port, "queue_depth", step)
        for step in steps
    ]


def _red_step(port: int, key: str, step: RedStep) -> Entry:
    """Drops with a probability; ``key`` is what the table reads."""
    match: dict[str, Value] = {"port": port, key: step.bounds}
    action = "drop_spaced" if step.spaced else "drop_some"
    return Entry("red", match, action, {"probability": step.probability}, DISJOINT)
