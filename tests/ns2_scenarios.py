"""A scenario of the lab as a script for ns-2, and ns-2's run of it as a result of the lab.

So an experiment's rows can also be computed from ns-2's runs: ``tests/ns2_compare.py``.
"""

import tempfile
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import ns2_associations
import numpy as np
from ns2_runs import AGENTS, SEED_STEP, simulate

from waymark import Cbr, Flow, Link, OnOff, Scenario
from waymark.red import ConstantDrop, Red
from waymark.result import Counts, FlowResult, QueueResult, Result, Values
from waymark.trace import Trace
from waymark.traffic import Ns2Profile, Source

SETTING = """
# The clocks' phases are drawn when nodes are reset; a tick of nothing has phase 0.
Node instproc reset {} { set phases kept }
Agent/TCP set tcpTick_ 1e-300; Agent/TCP set rttvar_init_ 0
# Slow but steady, without deflation.
Agent/TCP/Newreno set newreno_changes1_ 0
Agent/TCP/Newreno set partial_window_deflation_ 0
set ns [new Simulator]
set null [new Agent/Null]
"""
CHANGES = ("ack", "sent", "resent")
HEADER_OCTETS = 40

Sends = Mapping[int, Sequence[float]]
"""When each source, by its place in the scenario, sends a packet, in seconds."""


def is_known(scenario: Scenario) -> bool:
    """Whether ns-2 has all of its controls, and it has no Snoop, which ns-2 has on a LAN.

    Media are in ``ns2_wireless``.
    """
    if any(switch.snoop for switch in scenario.topology.switches):
        return False
    if any(link.medium for link in scenario.topology.links):
        return False
    if scenario.associations:
        return ns2_associations.is_known(scenario)
    return all(f.algorithm in AGENTS for f in scenario.flows)


def with_the_defect(scenario: Scenario) -> Scenario:
    """With ns-2's defect of Vegas, which shows only after timeouts."""
    flows = (replace(f, profile=replace(f.profile, phantom_rtt=True)) for f in scenario.flows)
    return replace(scenario, flows=tuple(flows))


def run(
    scenario: Scenario, sends: Sends | None = None, watched: Collection[str] | None = None
) -> Result:
    """The scenario in ns-2: Reno's family, Vegas, their sources, drop-tail and RED; or SCTP.

    Args:
        scenario: what to run; its seed is that of ns-2's random numbers too.
        sends: when sources send; those that it does not name draw for themselves.
        watched: the links whose queues and drops the result contains; None: all.
    """
    if scenario.associations:
        return ns2_associations.run(scenario)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        printed = simulate(script(scenario, sends or {}, watched), folder)
        return result(scenario, printed, folder, watched)


def script(scenario: Scenario, sends: Sends, watched: Collection[str] | None) -> str:
    """The run in ns-2; it writes its counters at the end of each bin."""
    topology = scenario.topology
    lines = [f"ns-random {SEED_STEP * scenario.seed}", SETTING]
    lines += [f"set n({node}) [$ns node]" for node in topology.nodes]
    for index, link in enumerate(topology.links):
        lines += _link(link)
        if _is_traced(link, scenario, watched):
            lines.append(f"set trace({index}) [open link{index}.tr w]")
            lines.append(f"$ns trace-queue {_ends(link)} $trace({index})")
    for index, flow in enumerate(scenario.flows):
        lines += flow_script(index, flow)
    for index, source in enumerate(scenario.sources):
        lines += _source(index, source, sends.get(index))
    for change in scenario.changes:
        link = f"[[$ns link $n({change.source}) $n({change.target})] link]"
        for name, value in (("bandwidth_", change.rate_bps), ("delay_", change.delay_s)):
            if value is not None:
                lines.append(f'$ns at {change.at_s!r} "{link} set {name} {value!r}"')
    return "\n".join([*lines, *count(scenario)])


def count(scenario: Scenario, from_s: float = 0.0) -> Iterator[str]:
    """The end of a script, which prints the flows' counters at the end of each bin."""
    yield from (
        "Agent/TCP instproc done {} { global ns finished; set finished($self) [$ns now] }",
        "proc count {} {",
        "    global ns tcp sink finished",
        f"    for {{set i 0}} {{$i < {len(scenario.flows)}}} {{incr i}} {{",
        "        set end [expr {[info exists finished($tcp($i))] ? $finished($tcp($i)) : -1}]",
        "        puts -nonewline [list $end [$sink($i) set bytes_] [$tcp($i) set ndatapack_]]",
        '        puts " [$tcp($i) set nrexmitpack_] [$tcp($i) set nrexmit_]"',
        "    }",
        "}",
    )
    bins = round(scenario.end_s / scenario.sample_s)
    yield f"for {{set k 1}} {{$k <= {bins}}} {{incr k}} {{"
    yield f'    $ns at [expr {from_s!r} + $k * {scenario.sample_s!r}] "count"'
    yield "}"
    yield f'$ns at {from_s + scenario.end_s + 1e-6} "exit 0"'
    yield "$ns run"


def _is_traced(link: Link, scenario: Scenario, watched: Collection[str] | None) -> bool:
    """Those that are watched, and those next to a flow whose round trips are asked for."""
    asking = {flow.source for flow in scenario.flows if flow.trace}
    near = bool(asking & {link.source, link.target})
    return watched is None or link.name in watched or near


def _ends(link: Link) -> str:
    return f"$n({link.source}) $n({link.target})"


def _link(link: Link) -> Iterator[str]:
    ends = _ends(link)
    kind = "RED" if isinstance(link.red, Red) else "DropTail"
    yield f"$ns simplex-link {ends} {link.rate_bps!r} {link.delay_s!r} {kind}"
    # RED's limit counts the packets that wait, drop-tail's one more.
    yield f"$ns queue-limit {ends} {link.queue_packets - (kind == 'RED')}"
    if isinstance(link.red, Red):
        yield f"set red [[$ns link {ends}] queue]"
        for name, value in {
            "thresh_": link.red.thmin,
            "maxthresh_": link.red.thmax,
            "linterm_": 1 / link.red.pmax,
            "q_weight_": 2**-link.red.w,
            "bytes_": "false",
            "queue_in_bytes_": "false",
            "gentle_": "false",
        }.items():
            yield f"$red set {name} {value}"
    if isinstance(link.red, ConstantDrop):
        yield from _losses(f"lossmodel $model {ends}", link.red.probability)
    if link.loss:
        yield from _losses(f"link-lossmodel $model {ends}", link.loss)


def _losses(insert: str, probability: float) -> Iterator[str]:
    yield f"set model [new ErrorModel]; $model unit pkt; $model set rate_ {probability!r}"
    yield "$model ranvar [new RandomVariable/Uniform]; $model drop-target $null"
    yield f"$ns {insert}"


def settings(profile: Ns2Profile, algorithm: str) -> dict[str, object]:
    """A profile in the names of ns-2."""
    vegas = algorithm == "vegas"
    delayed = vegas or profile.syn
    return {
        "window_": profile.window,
        "windowInit_": profile.initial_window,
        "minrto_": profile.min_rto_s,
        "rtxcur_init_": profile.initial_rto_s,
        "rfc2988_": int(profile.rfc2988),
        "singledup_": int(profile.limited_transmit),
        "maxcwnd_": profile.max_cwnd or 0,
        "bugFix_": int(profile.bugfix),
        "precisionReduce_": int(profile.exact_halving),
        "useHeaders_": int(profile.packet_octets > 1000),
        # Vegas sends no SYN, with any value here. It has its initial window from the 2nd ACK on.
        "syn_": int(delayed),
        "delay_growth_": int(delayed),
    }


def flow_script(index: int, flow: Flow) -> Iterator[str]:
    assert isinstance(flow.profile, Ns2Profile)
    name = flow.algorithm_name
    for variable, value in settings(flow.profile, name).items():
        yield f"Agent/TCP set {variable} {value}"
    sink = "Agent/TCPSink/Sack1" if name in ("sack", "fack") else "Agent/TCPSink"
    yield f"set tcp({index}) [new {AGENTS[name]}]; set sink({index}) [new {sink}]"
    yield f"$tcp({index}) set fid_ {index + 1}; $tcp({index}) set tcpTick_ {flow.profile.tick_s}"
    if name == "vegas":
        for variable, value in flow.settings.items():
            yield f"$tcp({index}) set v_{variable}_ {value}"
    yield f"$ns attach-agent $n({flow.source}) $tcp({index})"
    yield f"$ns attach-agent $n({flow.target}) $sink({index})"
    yield f"$ns connect $tcp({index}) $sink({index})"
    yield f"set ftp({index}) [new Application/FTP]; $ftp({index}) attach-agent $tcp({index})"
    what = "start" if flow.segments is None else f"produce {flow.segments}"
    # Hosts start on a nanosecond.
    yield f'$ns at {round(flow.start_s, 9)!r} "$ftp({index}) {what}"'
    if flow.stop_s is not None:
        yield f'$ns at {flow.stop_s!r} "$ftp({index}) stop"'
    if flow.trace:
        yield f"$tcp({index}) attach [open window{index}.tr w]; $tcp({index}) trace cwnd_"


def _source(index: int, source: Source, times_s: Sequence[float] | None) -> Iterator[str]:
    kind = "CBR" if isinstance(source, Cbr) else source.distribution.capitalize()
    udp = f"$udp({index})"
    yield f"set udp({index}) [new Agent/UDP]; {udp} set packetSize_ {source.packet_octets}"
    yield f"set drain [new Agent/Null]; $ns attach-agent $n({source.source}) {udp}"
    yield f"$ns attach-agent $n({source.target}) $drain; $ns connect {udp} $drain"
    if times_s is not None:
        for at_s in times_s:
            yield f'$ns at {at_s:.9f} "{udp} send {source.packet_octets}"'
        return
    yield f"set on({index}) [new Application/Traffic/{kind}]; $on({index}) attach-agent {udp}"
    yield f"$on({index}) set packetSize_ {source.packet_octets}"
    yield f"$on({index}) set rate_ {source.rate_bps!r}"
    if isinstance(source, OnOff):
        yield f"$on({index}) set burst_time_ {source.mean_on_s!r}"
        yield f"$on({index}) set idle_time_ {source.mean_off_s!r}"
        if source.distribution == "pareto":
            yield f"$on({index}) set shape_ {source.shape!r}"
    yield f'$ns at {source.start_s!r} "$on({index}) start"'
    if source.stop_s is not None:
        yield f'$ns at {source.stop_s!r} "$on({index}) stop"'


@dataclass
class _Line:
    """What the trace of one link tells."""

    waiting: Values
    peak: int = 0
    refused: dict[int, int] = field(default_factory=lambda: defaultdict(int))


def result(
    scenario: Scenario, counted: str, folder: Path, watched: Collection[str] | None
) -> Result:
    """What a script counted and traced."""
    flows = len(scenario.flows)
    rows = np.array([line.split() for line in counted.splitlines()], dtype=np.float64)
    rows = rows.reshape(-1, flows, 5)
    bins = len(rows)
    edges = np.arange(bins + 1, dtype=np.float64) * scenario.sample_s
    lines = {
        link.name: _line(folder / f"link{index}.tr", edges)
        for index, link in enumerate(scenario.topology.links)
        if watched is None or link.name in watched
    }
    return Result(
        sample_s=scenario.sample_s,
        flows=tuple(
            _flow_result(
                flow,
                rows[:, index],
                sum(line.refused[index] for line in lines.values()),
                _trace(scenario, index, folder) if flow.trace else None,
            )
            for index, flow in enumerate(scenario.flows)
        ),
        associations=(),
        sources=(),
        queues={name: QueueResult(line.waiting, line.peak) for name, line in lines.items()},
        packets=0,
        packet_hops=0,
        aqt=None,
        wall_s=0.0,
        cpu_s=0.0,
    )


def _flow_result(flow: Flow, rows: Values, losses: int, trace: Trace | None) -> FlowResult:
    each = flow.profile.packet_octets
    # A SYN's 40 octets are not a data packet.
    delivered = _steps((rows[:, 1] / each + 0.5).astype(np.int64))
    finished_s = float(rows[-1, 0])
    return FlowResult(
        packet_octets=each,
        feedback_octets=0,
        payload_octets=each - HEADER_OCTETS,
        delivered=delivered,
        goodput=delivered * (each - HEADER_OCTETS),
        sent=_steps(rows[:, 2].astype(np.int64)),
        retransmissions=int(rows[-1, 3]),
        losses=losses,
        trimmed=0,
        timeouts=int(rows[-1, 4]),
        reported_marks=0,
        start_s=flow.start_s,
        segments=flow.segments,
        finished_s=finished_s if finished_s >= 0 else None,
        verdicts=None,
        trace=trace,
    )


def _steps(totals: Counts) -> Counts:
    return np.diff(totals, prepend=0)


def _line(path: Path, edges: Values) -> _Line:
    times, depths, depth, peak = [0.0], [0], 0, 0
    line = _Line(np.zeros(len(edges) - 1))
    with path.open() as trace:
        for row in trace:
            kind, at, _, _, what, _, _, flow, _ = row.split(maxsplit=8)
            if kind == "r":
                continue
            depth += 1 if kind == "+" else -1
            if kind == "d" and what == "tcp":
                line.refused[int(flow) - 1] += 1
            elif kind == "-":
                # What passes an idle queue never waits.
                peak = max(peak, depth)
            times.append(float(at))
            depths.append(depth)
    area = np.concatenate([[0.0], np.cumsum(np.array(depths[:-1]) * np.diff(times)), [0.0]])
    area[-1] = area[-2] + depths[-1] * max(0.0, edges[-1] - times[-1])
    line.waiting = np.diff(np.interp(edges, [*times, max(edges[-1], times[-1])], area))
    line.waiting /= edges[1] - edges[0]
    line.peak = peak
    return line


def _trace(scenario: Scenario, flow: int, folder: Path) -> Trace:
    """Windows as they change, and the round-trip time of each packet that was sent once."""
    rows = [(at, np.nan, window) for at, window in _windows(folder / f"window{flow}.tr")]
    rows += [(at, rtt_s, np.nan) for at, rtt_s in _round_trips(scenario, flow, folder)]
    rows.sort(key=lambda row: row[0])
    time_s, rtt_s, cwnd = (np.array(column) for column in zip(*rows, strict=True))
    known = ~np.isnan(cwnd)
    last = np.maximum.accumulate(np.where(known, np.arange(len(cwnd)), 0))
    count = len(rows)
    nothing, none = np.full(count, np.nan), np.zeros(count, np.uint64)
    return Trace(
        time_s, np.zeros(count, np.uint8), np.zeros(count, np.uint8), cwnd[last], nothing, none,
        none, none, rtt_s, nothing, nothing, nothing, nothing, np.zeros(count, np.uint8),
        np.zeros(count, np.bool_), none, none, CHANGES, ("",), {},
    )  # fmt: skip


def _windows(path: Path) -> Iterator[tuple[float, float]]:
    for line in path.read_text().splitlines():
        at, *_, name, window = line.split()
        if name == "cwnd_":
            yield float(at), float(window)


def _round_trips(scenario: Scenario, flow: int, folder: Path) -> Iterator[tuple[float, float]]:
    source = scenario.flows[flow].source
    links = enumerate(scenario.topology.links)
    near = [index for index, link in links if source in (link.source, link.target)]
    events: list[tuple[float, str, int]] = []
    for index in near:
        for line in (folder / f"link{index}.tr").read_text().splitlines():
            kind, at, _, _, what, _, _, number, _, _, seq, _ = line.split()
            if int(number) != flow + 1:
                continue
            if (kind, what) in (("+", "tcp"), ("r", "ack")):
                events.append((float(at), what, int(seq)))
    yield from _samples(sorted(events, key=lambda event: event[0]))


def _samples(events: Sequence[tuple[float, str, int]]) -> Iterator[tuple[float, float]]:
    sent: dict[int, float] = {}
    again: set[int] = set()
    acked = -1
    for at, what, seq in events:
        if what == "tcp":
            if seq in sent:
                again.add(seq)
            sent[seq] = at
        elif seq > acked:
            # A segment that a gap held back shows how long it took to fill the gap.
            if seq == acked + 1 and seq in sent and seq not in again:
                yield at, at - sent[seq]
            acked = seq
