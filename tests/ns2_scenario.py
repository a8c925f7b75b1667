"""Scenarios as scripts for ns-2, and what ns-2 measures in the form of our own results."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np
from ns2_runs import AGENTS, SETTING

from waymark import Scenario
from waymark.result import FlowResult, QueueResult, Result
from waymark.topology import Link
from waymark.traffic import Cbr, Flow, Source

HEADER_OCTETS = 40
UNKNOWN = 0
"""In the results that ns-2 does not keep."""

Sends = Mapping[int, Sequence[float]]
"""When each source, by its place in the scenario, sends a packet, in seconds."""


def is_baseline(scenario: Scenario) -> bool:
    """Whether ns-2 has all of a scenario's algorithms."""
    return all(flow.algorithm_name in AGENTS for flow in scenario.flows)


def simulate(scenario: Scenario, folder: Path, sends: Sends | None = None) -> Result:
    """Run a scenario in ns-2.

    Args:
        scenario: what to run; its seed is that of ns-2's random numbers too.
        folder: for the script.
        sends: when sources send; the others draw for themselves.
    """
    path = folder / "run.tcl"
    path.write_text(script(scenario, sends or {}))
    home = os.environ | {"HOME": str(folder)}
    done = subprocess.run(["ns", path], cwd=folder, env=home, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"ns: {done.stderr}")
    return _result(scenario, done.stdout.splitlines())


def script(scenario: Scenario, sends: Sends) -> str:
    """The run in ns-2, which writes what flows and queues have counted after each bin."""
    topology = scenario.topology
    lines = [SETTING, f"global defaultRNG; $defaultRNG seed {12345 * scenario.seed}"]
    lines += [f"set n({node}) [$ns node]" for node in topology.nodes]
    for link in topology.links:
        lines += _link(link)
    for index, link in enumerate(_between_switches(scenario)):
        lines.append(
            f"set monitor({index}) [$ns monitor-queue {_ends(link)} [open /dev/null w] 1e6]"
        )
        lines.append(f"set area({index}) [$monitor({index}) get-pkts-integrator]")
    for index, flow in enumerate(scenario.flows):
        lines += _flow(index, flow)
    for index, source in enumerate(scenario.sources):
        lines += _source(index, source, sends.get(index))
    for change in scenario.changes:
        link = f"[[$ns link $n({change.source}) $n({change.target})] link]"
        for field, value in (("bandwidth_", change.rate_bps), ("delay_", change.delay_s)):
            if value is not None:
                lines.append(f'$ns at {change.at_s!r} "{link} set {field} {value!r}"')
    bins = round(scenario.end_s / scenario.sample_s)
    lines.append(_RECORD)
    lines.append(
        f"for {{set i 1}} {{$i <= {bins}}} {{incr i}} {{$ns at [expr $i * {scenario.sample_s!r}]"
        f" {{record {len(scenario.flows)} {len(_between_switches(scenario))}}}}}"
    )
    lines.append(f"$ns at {scenario.end_s + 1e-9!r} {{finish {len(scenario.flows)}; exit 0}}")
    return "\n".join([*lines, "$ns run"])


_RECORD = """
Agent/TCP instproc done {} { global ns finished; set finished($self) [$ns now] }
proc record {flows queues} {
    global ns sink monitor area
    set row {}
    for {set i 0} {$i < $flows} {incr i} { lappend row [$sink($i) set bytes_] }
    for {set i 0} {$i < $queues} {incr i} {
        $area($i) newpoint [$ns now] [$monitor($i) set pkts_]
        lappend row [$area($i) set sum_]
    }
    puts $row
}
proc finish {flows} {
    global tcp finished
    for {set i 0} {$i < $flows} {incr i} {
        set at [expr {[info exists finished($tcp($i))] ? $finished($tcp($i)) : -1}]
        puts "[$tcp($i) set nrexmitpack_] [$tcp($i) set nrexmit_] $at"
    }
}
"""


def _ends(link: Link) -> str:
    return f"$n({link.source}) $n({link.target})"


def _between_switches(scenario: Scenario) -> list[Link]:
    switches = {switch.name for switch in scenario.topology.switches}
    links = scenario.topology.links
    return [link for link in links if {link.source, link.target} <= switches]


def _link(link: Link) -> Iterable[str]:
    yield f"$ns simplex-link {_ends(link)} {link.rate_bps!r} {link.delay_s!r} DropTail"
    yield f"$ns queue-limit {_ends(link)} {link.queue_packets}"
    if link.loss:
        yield f"set model [new ErrorModel]; $model set rate_ {link.loss!r}; $model unit pkt"
        yield "$model ranvar [new RandomVariable/Uniform]"
        yield f"$model drop-target [new Agent/Null]; $ns link-lossmodel $model {_ends(link)}"


def _flow(index: int, flow: Flow) -> Iterable[str]:
    name, profile = flow.algorithm_name, flow.profile
    vegas = name == "vegas"
    # Reno's family counts its headers only where it also sends a SYN; Vegas does neither.
    headers = int(profile.packet_octets > 1000)
    settings = {
        "window_": profile.window,
        "windowInit_": profile.initial_window,
        "syn_": int(vegas) or headers,
        # Vegas has its initial window from the second ACK on.
        "delay_growth_": int(vegas),
        "useHeaders_": headers,
        "packetSize_": 1000,
        "tcpTick_": profile.tick_s,
        "minrto_": profile.min_rto_s,
        "rtxcur_init_": profile.initial_rto_s,
        "rfc2988_": int(profile.rfc2988),
        "singledup_": int(profile.limited_transmit),
        "bugFix_": int(profile.bugfix),
        "maxcwnd_": profile.max_cwnd or 0,
    }
    for variable, value in settings.items():
        yield f"Agent/TCP set {variable} {value}"
    if vegas:
        thresholds = (flow.alpha or 1, flow.beta or 3, flow.gamma or 1)
        for variable, value in zip(("alpha", "beta", "gamma"), thresholds, strict=True):
            yield f"Agent/TCP/Vegas set v_{variable}_ {value}"
    sink = "Agent/TCPSink/Sack1" if name in ("sack", "fack") else "Agent/TCPSink"
    yield f"set tcp({index}) [new {AGENTS[name]}]; set sink({index}) [new {sink}]"
    # The tick that counts is the agent's; the class's is nothing while nodes draw their phases.
    yield "Agent/TCP set tcpTick_ 1e-300"
    yield f"$ns attach-agent $n({flow.source}) $tcp({index})"
    yield f"$ns attach-agent $n({flow.target}) $sink({index})"
    yield f"$ns connect $tcp({index}) $sink({index})"
    yield f"set ftp [new Application/FTP]; $ftp attach-agent $tcp({index})"
    what = "start" if flow.segments is None else f"produce {flow.segments}"
    yield f'$ns at {flow.start_s!r} "$ftp {what}"'
    if flow.stop_s is not None:
        yield f'$ns at {flow.stop_s!r} "$ftp stop"'


def _source(index: int, source: Source, times_s: Sequence[float] | None) -> Iterable[str]:
    octets = source.packet_octets
    yield f"set udp({index}) [new Agent/UDP]; $udp({index}) set packetSize_ {octets}"
    yield f"$ns attach-agent $n({source.source}) $udp({index}); set null [new Agent/Null]"
    yield f"$ns attach-agent $n({source.target}) $null; $ns connect $udp({index}) $null"
    if times_s is not None:
        for at_s in times_s:
            yield f'$ns at {at_s:.9f} "$udp({index}) send {octets}"'
        return
    if isinstance(source, Cbr):
        yield "set app [new Application/Traffic/CBR]"
    else:
        yield f"set app [new Application/Traffic/{source.distribution.capitalize()}]"
        yield f"$app set burst_time_ {source.mean_on_s!r}"
        yield f"$app set idle_time_ {source.mean_off_s!r}"
        if source.distribution == "pareto":
            yield f"$app set shape_ {source.shape!r}"
    yield f"$app set rate_ {source.rate_bps!r}; $app set packetSize_ {octets}"
    yield f"$app attach-agent $udp({index})"
    yield f'$ns at {source.start_s!r} "$app start"'
    if source.stop_s is not None:
        yield f'$ns at {source.stop_s!r} "$app stop"'


def _result(scenario: Scenario, lines: list[str]) -> Result:
    flows, links = scenario.flows, _between_switches(scenario)
    rows = np.array([line.split() for line in lines[: -len(flows)]], dtype=np.float64)
    bins = np.diff(rows, axis=0, prepend=0)
    ends = [line.split() for line in lines[-len(flows) :]]
    return Result(
        sample_s=scenario.sample_s,
        flows=tuple(_flow_result(f, rows[:, i], ends[i]) for i, f in enumerate(flows)),
        associations=(),
        queues={
            link.name: QueueResult(
                waiting=bins[:, len(flows) + i] / scenario.sample_s, peak=UNKNOWN
            )
            for i, link in enumerate(links)
        },
        packets=UNKNOWN,
        packet_hops=UNKNOWN,
        aqt=None,
        wall_s=0.0,
        cpu_s=0.0,
    )


def _flow_result(
    flow: Flow, octets: np.ndarray[tuple[int], np.dtype[np.float64]], end: list[str]
) -> FlowResult:
    # A SYN's 40 octets are no packet of data.
    each = flow.profile.packet_octets
    delivered = np.diff((octets / each + 0.5).astype(np.int64), prepend=0)
    return FlowResult(
        counted_octets=flow.counted_octets,
        delivered=delivered,
        goodput=delivered * (each - HEADER_OCTETS),
        sent=delivered,
        retransmissions=int(end[0]),
        losses=UNKNOWN,
        timeouts=int(end[1]),
        finished_s=float(end[2]) if float(end[2]) >= 0 else None,
        verdicts=None,
        trace=None,
    )
