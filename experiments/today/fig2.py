"""L4S with Classic traffic: Prague and CUBIC through DualPI2's two queues."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from experiments.today import signals
from waymark import (
    MODERN,
    Expectation,
    Experiment,
    Flow,
    Row,
    Runs,
    Scale,
    Scenario,
    Topology,
    plots,
)
from waymark.criteria import Criterion, at_least, between, less_than
from waymark.dual_pi2 import WEIGHTS
from waymark.networks import dumbbell
from waymark.result import Result

RATE_BPS = 40e6
RTTS_MS = (5, 10, 20, 50)
ACCESS_DELAY_S = 0.0005
QUEUE_PACKETS = 500
FROM_S, END_S = 20.0, 60.0
QUEUE = "r1->r2"
FLOWS = ("cubic", "prague")
EQUAL = 1.25
"""Rates are equal if neither is more than this times the other."""


def scenarios(_scale: Scale, seed: int) -> Mapping[str, Scenario]:
    """Both flows from the start, at each round-trip time."""
    return {str(rtt_ms): _scenario(rtt_ms, seed) for rtt_ms in RTTS_MS}


def network(rtt_ms: int) -> Topology:
    """Two pairs of hosts and one link of 40 Mb/s."""
    delay_s = rtt_ms / 2e3 - 2 * ACCESS_DELAY_S
    return dumbbell(2, (RATE_BPS, delay_s), (1e9, ACCESS_DELAY_S), queue_packets=QUEUE_PACKETS)


def _scenario(rtt_ms: int, seed: int) -> Scenario:
    return Scenario(
        str(rtt_ms),
        signals.network_for("prague", network(rtt_ms), signals.wide_area([QUEUE], RATE_BPS)),
        END_S,
        flows=tuple(
            Flow(f"s{i}", f"d{i}", control, MODERN, trace=True)
            for i, control in enumerate(FLOWS, 1)
        ),
        seed=seed,
    )


def rows(runs: Runs) -> list[Row]:
    """Rates, their ratio, and how long packets of each kind wait, at each round-trip time."""
    table: list[Row] = []
    for rtt_ms in RTTS_MS:
        at = f", RTT {rtt_ms} ms"
        # Runs take 30 MB each with their traces: each is read once, and none is kept meanwhile.
        measured = list(map(_measured, runs[str(rtt_ms)]))
        mbps = [[run[flow][0] for run in measured] for flow in range(len(FLOWS))]
        for flow, control in enumerate(FLOWS):
            name = plots.NAMES[control] + at
            table.append(Row.of(name, "Mb/s", mbps[flow]))
            p99 = [run[flow][1] for run in measured]
            table.append(Row.of(f"{name}, waited, p99", "ms", p99))
        table.append(Row.ratio_of(f"Prague/CUBIC{at}", mbps[1], mbps[0]))
        shares = [100 * sum(both) * 1e6 / RATE_BPS for both in zip(*mbps, strict=True)]
        table.append(Row.of(f"both{at}, of the link", "%", shares))
    return table


def _measured(run: Result) -> list[tuple[float, float]]:
    """Of each flow: its rate in Mb/s, and the 99th percentile of how long packets wait in ms."""
    return [
        (run.throughput_bps(flow, FROM_S, END_S) / 1e6, _waited_p99_ms(run, flow))
        for flow in range(len(FLOWS))
    ]


def _waited_p99_ms(run: Result, flow: int) -> float:
    """The 99th percentile of the round-trip time above its least."""
    trace = run.flows[flow].trace
    assert trace is not None
    rtts_s = trace.rtt_s[~np.isnan(trace.rtt_s)]
    late_s = trace.rtt_s[(trace.time_s >= FROM_S) & ~np.isnan(trace.rtt_s)]
    return 1e3 * float(np.percentile(late_s, 99) - rtts_s.min())


def draw(runs: Runs, table: Sequence[Row]) -> Figure:
    """Rates and waiting times over the round-trip time."""
    figure = plots.new_figure()
    rates, waits = figure.subplots(1, 2)
    of = {row.quantity: row.waymark for row in table}
    for control in FLOWS:
        names = [f"{plots.NAMES[control]}, RTT {rtt_ms} ms" for rtt_ms in RTTS_MS]
        drawn: dict[str, Any] = {"color": plots.COLOURS[control], "marker": "o"}
        rates.plot(RTTS_MS, [of[n] for n in names], label=plots.NAMES[control], **drawn)
        waits.plot(RTTS_MS, [of[f"{n}, waited, p99"] for n in names], **drawn)
    for axes in (rates, waits):
        axes.set_xlabel("round-trip time (ms)")
    rates.set_ylabel("throughput (Mb/s)")
    rates.set_ylim(0, 40)
    waits.set_yscale("log")
    waits.set_ylabel("waiting time, p99 (ms)")
    plots.finish_panels(
        figure,
        rates,
        title="Prague and CUBIC through DualPI2, 40 Mb/s",
        legend_title=plots.mean_of(len(next(iter(runs.values())))),
    )
    return figure


def equal(*ratios: str) -> Criterion:
    """Whether rates are equal, by their ratios."""
    return between(1 / EQUAL, EQUAL, *ratios)


EXPERIMENT = Experiment(
    id="today/fig2",
    paper="Current signals; RFC 9332",
    claim="DualPI2 keeps the L4S queue short with Classic flows, which get as much as L4S flows",
    parameters={
        "profile": MODERN.by_family(),
        "rate_bps": RATE_BPS,
        "rtts_ms": list(RTTS_MS),
        "queue_packets": QUEUE_PACKETS,
        "measured_s": [FROM_S, END_S],
        "weights": list(WEIGHTS),
    },
    seeds={"quick": 1, "full": 10},
    scenarios=scenarios,
    rows=rows,
    draw=draw,
    expectations=(
        Expectation(
            "L4S packets wait less than 2 ms",
            "the 99th percentile of Prague's round-trip time above its least, in each case",
            less_than(2.0, *(f"Prague, RTT {rtt_ms} ms, waited, p99" for rtt_ms in RTTS_MS)),
        ),
        Expectation(
            "Prague and CUBIC get equal rates",
            "within 25 %, at each round-trip time",
            equal(*(f"Prague/CUBIC, RTT {rtt_ms} ms" for rtt_ms in RTTS_MS)),
        ),
        Expectation(
            "Both together fill the link",
            "at least 95 % of its rate without headers, at each round-trip time",
            at_least(
                95.0 * 1448 / 1500, *(f"both, RTT {rtt_ms} ms, of the link" for rtt_ms in RTTS_MS)
            ),
        ),
    ),
    choices=(signals.PROFILE_CHOICE, signals.MARKING_CHOICE),
)
