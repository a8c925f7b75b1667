"""Dahal 2007, figures 3.1 to 3.4: queue and RTT over time, NewReno and RBCC."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.figure import Figure

from experiments.dahal import over_time
from experiments.dahal import wired as net
from waymark import Choice, Expectation, Experiment, Result, Row, Runs, Scale, Scenario, criteria

CONTROLS = {"NewReno": net.Control("newreno"), "RBCC": net.Control("rbcc", 2.0)}
FLOWS = 5
SHOWN_S = 20.0
PEAK_S = (4.0, 4.5)
ACCESS_S = 0.0182
"""From a sender to the bottleneck's queue: 10 ms and the packet's own 8.2 ms."""


def scenarios(_scale: Scale, seed: int) -> Mapping[str, Scenario]:
    """Both, with five flows."""
    return {
        label: over_time.run(label, control, FLOWS, seed) for label, control in CONTROLS.items()
    }


def rows(runs: Runs) -> list[Row]:
    """Latency, queue, how both go together, and the greatest queue."""
    table: list[Row] = []
    for label in CONTROLS:
        table += over_time.rtt_rows(runs, label)
        table += over_time.queue_rows(runs, label)
        together = [_correlation(result) for result in runs[label]]
        table.append(Row.of(f"{label}, correlation of RTT and queue", "1", together))
    rbcc, newreno = (net.latency_s(runs[label]) for label in ("RBCC", "NewReno"))
    table.append(Row.ratio_of("RBCC/NewReno, latency", rbcc, newreno))
    peaks = [float(over_time.queue(result, *PEAK_S).max()) for result in runs["NewReno"]]
    table.append(
        Row.of(f"NewReno, greatest queue, {PEAK_S[0]:g}-{PEAK_S[1]:g} s", "packets", peaks, ns2=48)
    )
    return table


def _correlation(result: Result) -> float:
    """Of each RTT with the queue that the packet found."""
    times_s, rtts_s = net.rtts_s(result)
    queue = over_time.queue(result)
    found = ((times_s - rtts_s + ACCESS_S) / over_time.FINE_S).astype(int)
    return float(np.corrcoef(rtts_s, queue[found])[0, 1])


def draw(runs: Runs, _table: Sequence[Row]) -> Figure:
    """Queues on the left, RTTs on the right."""
    figure = over_time.plots.new_figure(10.0, 3.6)
    left, right = figure.subplots(1, 2)
    lines = over_time.lines_of(CONTROLS)
    over_time.draw_queue(left, runs, lines)
    over_time.draw_rtt(right, runs, lines)
    for axes in (left, right):
        axes.set_xlim(0, SHOWN_S)
    right.set_ylim(0)
    right.legend(fontsize="small")
    title = "Dahal 2007, figures 3.1 to 3.4: queue and RTT of five flows"
    figure.suptitle(title, x=0.01, ha="left", fontsize=11)
    return figure


EXPERIMENT = Experiment(
    id="dahal/fig3.1",
    also=("dahal/fig3.2", "dahal/fig3.3", "dahal/fig3.4"),
    paper="Dahal 2007, figures 3.1 to 3.4 (sections 3.1, 3.3)",
    claim="The RTT indicates the queue; with it RBCC keeps both low",
    parameters=net.PARAMETERS | {"flows": FLOWS, "F": 2.0},
    seeds={"quick": 1, "full": 5},
    scenarios=scenarios,
    rows=rows,
    draw=draw,
    expectations=(
        Expectation(
            "RTT and queue are highly correlated",
            "a coefficient of .9 or more, of each RTT with the queue that the packet found",
            lambda row: all(
                over_time.number(row, label, "correlation of RTT and queue") >= 0.9
                for label in CONTROLS
            ),
        ),
        Expectation(
            "RBCC maintains a low queue",
            "less than a quarter of NewReno's on average",
            lambda row: (
                over_time.number(row, "RBCC", "mean queue")
                < over_time.number(row, "NewReno", "mean queue") / 4
            ),
        ),
        Expectation(
            "RBCC's latency is many times lower",
            "less than a third of NewReno's on average",
            criteria.less_than(1 / 3, "RBCC/NewReno, latency"),
        ),
    ),
    choices=(
        *net.CHOICES,
        Choice(
            "network, flows and F",
            "chapter 4's network, five flows, F = 2",
            "chapter 3 names none",
            "F moves RBCC's queue: see figure 4.7",
        ),
    ),
    notes=net.MEASURES
    + "The queue is the mean of 50 ms, during which RBCC's moves by some packets.",
)
