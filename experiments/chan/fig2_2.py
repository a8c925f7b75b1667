"""Chan 2004, figures 2.2 and 2.3: the windows of one Reno and of one Vegas flow over time."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from matplotlib.figure import Figure

from experiments.chan import single_bottleneck as net
from waymark import (
    CHAN,
    Choice,
    Expectation,
    Experiment,
    Flow,
    Row,
    Runs,
    Scale,
    Scenario,
    WaymarkError,
    criteria,
    plots,
)
from waymark.result import Result, Values

END_S = 60.0
STEADY_FROM_S = 20.0
RENO = replace(CHAN, packet_octets=1040, syn=True, bugfix=True, exact_halving=True)
HALVING = "Reno, greatest/least window"
VEGAS_LEAST, VEGAS_GREATEST = (
    f"Vegas, {what} window, {STEADY_FROM_S:g}-{END_S:g} s" for what in ("least", "greatest")
)
PROFILES = {"reno": RENO, "vegas": CHAN}


def scenarios(_scale: Scale, seed: int) -> Mapping[str, Scenario]:
    """Each alone."""
    return {
        "reno": _run(Flow("s1", "d1", "reno", PROFILES["reno"], trace=True), seed),
        "vegas": _run(Flow("s1", "d1", "vegas", PROFILES["vegas"], trace=True), seed),
    }


def _run(flow: Flow, seed: int) -> Scenario:
    return Scenario(flow.algorithm_name, net.topology(), END_S, flows=(flow,), seed=seed)


def rows(runs: Runs) -> list[Row]:
    """The window's range once it is steady, and timeouts."""
    table: list[Row] = []
    for algorithm, results in runs.items():
        name = plots.NAMES[algorithm]
        steady = [_window(r, STEADY_FROM_S) for r in results]
        for what, values in (
            ("least window", [float(w.min()) for _, w in steady]),
            ("greatest window", [float(w.max()) for _, w in steady]),
        ):
            label = f"{name}, {what}, {STEADY_FROM_S:g}-{END_S:g} s"
            table.append(Row.of(label, "packets", values))
        if algorithm == "reno":
            table.append(
                Row.ratio_of(
                    HALVING,
                    [float(w.max()) for _, w in steady],
                    [float(w.min()) for _, w in steady],
                    derived=2,
                )
            )
        timeouts = [float(r.flows[0].timeouts) for r in results]
        table.append(Row.of(f"{name}, timeouts", "1", timeouts))
    return table


def _window(result: Result, from_s: float) -> tuple[Values, Values]:
    trace = result.flows[0].trace
    if trace is None:
        raise WaymarkError("the run was not traced")
    late = trace.time_s >= from_s
    return trace.time_s[late], trace.cwnd[late]


def draw(runs: Runs, _rows: Sequence[Row]) -> Figure:
    """The windows over time."""
    figure = plots.new_figure()
    axes = figure.subplots()
    for algorithm, results in runs.items():
        times_s, window = _window(results[0], 0)
        axes.step(
            times_s,
            np.floor(window),
            where="post",
            color=plots.COLOURS[algorithm],
            label=plots.NAMES[algorithm],
        )
    plots.finish(
        axes,
        title="Chan 2004, figures 2.2 and 2.3: windows of Reno and of Vegas, each alone",
        x="time (s)",
        y="congestion window (packets)",
    )
    axes.set_xlim(0, END_S)
    axes.set_ylim(0)
    return figure


EXPERIMENT = Experiment(
    id="chan/fig2.2",
    also=("chan/fig2.3",),
    paper="Chan 2004, figures 2.2 and 2.3 (sections 2.1, 2.2)",
    claim="Reno times out, then oscillates between half a window and loss; Vegas converges and "
    "stays",
    parameters=net.PARAMETERS | {"end_s": END_S, "queue_packets": 50},
    seeds={"quick": 1, "full": 1},
    scenarios=scenarios,
    rows=rows,
    draw=draw,
    expectations=(
        Expectation(
            "Reno's first slow start overshoots and ends in a retransmission timeout",
            "at least one timeout",
            criteria.at_least(1, "Reno, timeouts"),
        ),
        Expectation(
            "Reno's window then oscillates: it halves and grows again",
            "the greatest is twice the least, within 4 %: the half is rounded down to whole "
            "packets, here by at most 1 of 30",
            criteria.as_derived(HALVING, within=0.04),
        ),
        Expectation(
            "Vegas' window is stable",
            "within one packet from 20 s on: a step is one packet",
            lambda row: 0 <= row[VEGAS_GREATEST].waymark - row[VEGAS_LEAST].waymark <= 1,
        ),
    ),
    choices=(
        Choice(
            "network and length",
            "figure 3.3's, 60 s",
            "the paper shows the shape and names no network",
            "a longer queue makes the swings slower and higher, a shorter one faster",
        ),
    ),
    notes="Nothing in this network is random: one seed is enough.",
)
