"""Scenarios of SCTP associations as scripts for ns-2, and ns-2's runs of them as results.

Its timeouts are those of heartbeats too. What arrives counts as goodput at once, in order or not.
"""

import tempfile
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from ns2_runs import SEED_STEP, simulate

from waymark import Association, Scenario
from waymark.result import QueueResult, Result, Values
from waymark.sctp import NS2_SCTP, AssociationResult

SETTING = """
Trace set show_sctphdr_ 1
set ns [new Simulator]
set null [new Agent/Null]
$ns trace-all [open all.tr w]
"""


def is_known(scenario: Scenario) -> bool:
    """Whether ns-2 has what its associations need, and nothing but associations sends."""
    return (
        bool(scenario.associations)
        and not scenario.flows
        and not scenario.sources
        and not scenario.changes
        and all(
            one.control == "std"
            and not one.spc
            and (one.profile.initial_octets, one.profile.least_packets, one.profile.ns2_quirks)
            == (NS2_SCTP.initial_octets, NS2_SCTP.least_packets, NS2_SCTP.ns2_quirks)
            for one in scenario.associations
        )
    )


def run(scenario: Scenario) -> Result:
    """The scenario in ns-2."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        printed = simulate("\n".join(script(scenario)), folder)
        timeouts = [int(number) for number in printed.split()]
        return _result(scenario, folder / "all.tr", timeouts)


def script(scenario: Scenario) -> Iterator[str]:
    """The run; it prints the associations' timeouts at its end."""
    topology = scenario.topology
    yield f"ns-random {SEED_STEP * scenario.seed}"
    yield SETTING
    for name in _nodes(scenario):
        yield f"set n({name}) [$ns node]"
    for host in topology.hosts:
        yield f"set core({host.name}) [$ns node]"
        for name in _interfaces(scenario, host.name):
            yield f"$ns multihome-add-interface $core({host.name}) $n({name})"
    for link, (a, b) in zip(topology.links, _link_ends(scenario), strict=True):
        ends = f"$n({a}) $n({b})"
        yield f"$ns simplex-link {ends} {link.rate_bps!r} {link.delay_s!r} DropTail"
        yield f"$ns queue-limit {ends} {link.queue_packets}"
        if link.loss:
            yield f"set model [new ErrorModel]; $model unit pkt; $model set rate_ {link.loss!r}"
            yield "$model ranvar [new RandomVariable/Uniform]; $model drop-target $null"
            yield f"$ns link-lossmodel $model {ends}"
    for index, association in enumerate(scenario.associations):
        yield from _association(scenario, index, association)
    yield f'$ns at {scenario.end_s!r} "finish"'
    yield "proc finish {} {"
    yield "    global ns agent before; $ns flush-trace"
    for index in range(len(scenario.associations)):
        yield f"    puts [expr [$agent({index}) set timeoutCount_] - $before({index})]"
    yield "    exit 0"
    yield "}"
    yield "$ns run"


def _association(scenario: Scenario, index: int, one: Association) -> Iterator[str]:
    profile = one.profile
    settings = {
        "mtu_": profile.mtu,
        "dataChunkSize_": profile.chunk_octets,
        "initialRwnd_": profile.window,
        "initialSsthresh_": profile.ssthresh,
        "initialRto_": profile.rto_initial_s,
        "minRto_": profile.rto_min_s,
        "maxRto_": profile.rto_max_s,
        "associationMaxRetrans_": profile.association_max_retrans,
        "pathMaxRetrans_": profile.path_max_retrans,
        "maxInitRetransmits_": profile.max_init_retransmits,
        "heartbeatInterval_": round(profile.heartbeat_s or 0),
        "sackDelay_": profile.sack_delay_s,
        "fastRtxTrigger_": profile.missing_reports,
    }
    for name, value in settings.items():
        yield f"Agent/SCTP set {name} {value}"
    yield f"set agent({index}) [new Agent/SCTP]; set sink [new Agent/SCTP]"
    yield f"$agent({index}) set fid_ {index}; $sink set fid_ {index}"
    yield f"$ns multihome-attach-agent $core({one.source}) $agent({index})"
    yield f"$ns multihome-attach-agent $core({one.target}) $sink; $ns connect $agent({index}) $sink"
    yield f"set ftp [new Application/FTP]; $ftp attach-agent $agent({index})"
    targets = _interfaces(scenario, one.target)
    yield f"$agent({index}) set-primary-destination $n({targets[0]})"
    yield f'$ns at {one.start_s!r} "$ftp start"'
    # The counter does not begin at 0.
    begin = f"set before({index}) [$agent({index}) set timeoutCount_]"
    yield f'$ns at {one.start_s + 1e-6!r} "{begin}"'
    for at_s, path in one.primary:
        yield f'$ns at {at_s!r} "$agent({index}) set-primary-destination $n({targets[path]})"'


def _interfaces(scenario: Scenario, host: str) -> list[str]:
    """A host's nodes: one for each of its links."""
    links = scenario.topology.links
    return [f"{host}.{place}" for place in range(sum(link.source == host for link in links))]


def _nodes(scenario: Scenario) -> list[str]:
    """Switches and hosts' interfaces, in the order of their numbers in ns-2."""
    topology = scenario.topology
    ends = [name for host in topology.hosts for name in _interfaces(scenario, host.name)]
    return [switch.name for switch in topology.switches] + ends


def _link_ends(scenario: Scenario) -> Iterator[tuple[str, str]]:
    """The nodes of each link; the n-th link from or to a host is at its n-th interface."""
    hosts = {host.name for host in scenario.topology.hosts}
    seen: dict[tuple[str, str], int] = defaultdict(int)

    def end(node: str, side: str) -> str:
        if node not in hosts:
            return node
        seen[node, side] += 1
        return f"{node}.{seen[node, side] - 1}"

    for link in scenario.topology.links:
        yield end(link.source, "source"), end(link.target, "target")


@dataclass
class _Packet:
    """A packet with DATA."""

    tsn: int
    path: int
    sent_s: float
    arrived_s: float | None = None


@dataclass
class _Told:
    """What the trace shows of an association: its packets with DATA, and its SACKs' two times."""

    packets: dict[str, _Packet] = field(default_factory=dict[str, _Packet])
    sacks: dict[str, list[float]] = field(default_factory=dict[str, list[float]])
    losses: int = 0


@dataclass
class _Queue:
    """When the queue of a link changed, and how many waited from then on."""

    times: list[float] = field(default_factory=lambda: [0.0])
    waiting: list[int] = field(default_factory=lambda: [0])
    inside: set[str] = field(default_factory=set[str])

    def change(self, at_s: float) -> None:
        self.times.append(at_s)
        self.waiting.append(len(self.inside))


def _result(scenario: Scenario, trace: Path, timeouts: Sequence[int]) -> Result:
    names = _nodes(scenario)
    ends = {number: name for number, name in enumerate(names) if "." in name}
    told = [_Told() for _ in scenario.associations]
    numbers = {name: str(number) for number, name in enumerate(names)}
    lines = {(numbers[a], numbers[b]): _Queue() for a, b in _link_ends(scenario)}
    with trace.open() as events:
        for event in events:
            kind, at, source, target, _, _, flags, flow, _, _, _, tsn, packet, *_ = event.split()
            one, at_s, last = told[int(flow)], float(at), flags[-1]
            line = lines[source, target]
            if kind in "+-d":
                if kind == "+":
                    line.inside.add(packet)
                else:
                    line.inside.discard(packet)
                line.change(at_s)
            if last == "D":
                if kind == "+" and int(source) in ends:
                    path = int(ends[int(source)].rpartition(".")[2])
                    one.packets[packet] = _Packet(int(tsn), path, at_s)
                elif kind == "r" and int(target) in ends:
                    one.packets[packet].arrived_s = at_s
                one.losses += kind == "d"
            elif last == "S":
                if kind == "+" and int(source) in ends:
                    one.sacks[packet] = [at_s]
                elif kind == "r" and int(target) in ends:
                    one.sacks[packet].append(at_s)
    bins = round(scenario.end_s / scenario.sample_s)
    edges = np.arange(bins + 1, dtype=np.float64) * scenario.sample_s
    return Result(
        sample_s=scenario.sample_s,
        flows=(),
        associations=tuple(
            _association_result(association, one, count, edges)
            for association, one, count in zip(scenario.associations, told, timeouts, strict=True)
        ),
        sources=(),
        queues={
            link.name: _waiting(queue, edges)
            for link, queue in zip(scenario.topology.links, lines.values(), strict=True)
        },
        packets=0,
        packet_hops=0,
        aqt=None,
        wall_s=0.0,
        cpu_s=0.0,
    )


def _association_result(
    association: Association, told: _Told, timeouts: int, edges: Values
) -> AssociationResult:
    def binned(times_s: Sequence[float]) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
        return np.histogram(times_s, edges)[0].astype(np.int64)

    packets = list(told.packets.values())
    arrived = [packet for packet in packets if packet.arrived_s is not None]
    arrived.sort(key=lambda packet: packet.arrived_s or 0.0)
    first: dict[int, _Packet] = {}
    for packet in arrived:
        first.setdefault(packet.tsn, packet)
    payload = association.profile.chunk_octets - 16
    latencies_s = np.array(list(_latencies_s(first.values(), told)))
    paths = range(1 + max((packet.path for packet in packets), default=0))
    return AssociationResult(
        packet_octets=association.packet_octets,
        chunk_payload=payload,
        sent=binned([packet.sent_s for packet in packets]),
        sent_on_path=tuple(
            binned([packet.sent_s for packet in packets if packet.path == path]) for path in paths
        ),
        delivered=binned([packet.arrived_s or 0.0 for packet in arrived]),
        goodput_octets=payload * binned([packet.arrived_s or 0.0 for packet in first.values()]),
        retransmissions=len(packets) - len({packet.tsn for packet in packets}),
        losses=told.losses,
        timeouts=timeouts,
        switches=0,
        mean_rtt_s=float("nan"),
        latency_s=float(latencies_s.mean()),
        jitter_s=float(latencies_s.std()),
        mean_delay_s=np.full(len(edges) - 1, np.nan),
        trace=None,
    )


def _latencies_s(chunks: Iterable[_Packet], told: _Told) -> Iterator[float]:
    """From each chunk's sending to the first SACK of those that left after it had come."""
    sacks = sorted(times for times in told.sacks.values() if len(times) == 2)
    for chunk in chunks:
        place = bisect_left(sacks, [(chunk.arrived_s or 0.0) - 1e-9])
        if place < len(sacks):
            yield sacks[place][1] - chunk.sent_s


def _waiting(queue: _Queue, edges: Values) -> QueueResult:
    times = np.array([*queue.times, max(edges[-1], queue.times[-1])])
    area = np.concatenate([[0.0], np.cumsum(np.array(queue.waiting) * np.diff(times))])
    return QueueResult(
        np.diff(np.interp(edges, times, area)) / (edges[1] - edges[0]), max(queue.waiting)
    )
