"""RTT of the first flow and the bottleneck's queue over time: figures 3.1 to 4.18."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from experiments.dahal import wired as net
from waymark import Result, Row, Runs, Scenario, plots

FROM_S = 5.0
"""From here on a run counts as steady, where a row says so."""

FINE_S = 0.05
"""Width of the bins in which queues are shown."""

PERCENTILES = (5, 50, 95)
"""Of the queue's means over such bins."""


def run(name: str, control: net.Control, count: int, seed: int) -> Scenario:
    """A run with its first flow traced and its queues in fine bins."""
    return replace(net.run(name, control, count, seed, trace=True), sample_s=FINE_S)


def queue(result: Result, from_s: float = 0.0, to_s: float = net.END_S) -> np.ndarray:
    """Waiting packets at the bottleneck by bin."""
    return result.queues[net.QUEUE].waiting[round(from_s / FINE_S) : round(to_s / FINE_S)]


def queue_rows(runs: Runs, label: str, ns2: float | None = None) -> list[Row]:
    """Mean, deviation and percentiles of the queue from 5 s on."""
    queues = [queue(result, FROM_S) for result in runs[label]]
    return [
        Row.of(f"{label}, mean queue", "packets", [float(np.mean(q)) for q in queues], ns2=ns2),
        Row.of(f"{label}, queue's deviation", "packets", [float(np.std(q)) for q in queues]),
        *(
            Row.of(
                f"{label}, queue's {percent}th percentile",
                "packets",
                [float(np.percentile(q, percent)) for q in queues],
            )
            for percent in PERCENTILES
        ),
    ]


def rtt_rows(
    runs: Runs,
    label: str,
    paper: tuple[float, float] | None = None,
    ns2: tuple[float, float | None] | None = None,
) -> list[Row]:
    """Latency and jitter of the first flow over the whole run.

    Args:
        runs: the runs.
        label: which.
        paper, ns2: latency and jitter that are known.
    """
    results = runs[label]
    printed, measured = paper or (None, None), ns2 or (None, None)
    latency, jitter = net.latency_s(results), net.jitter_s(results)
    return [
        Row.of(f"{label}, latency", "s", latency, printed[0], measured[0]),
        Row.of(f"{label}, jitter", "s", jitter, printed[1], measured[1]),
    ]


def draw_rtt(axes: Axes, runs: Runs, lines: Mapping[str, str]) -> None:
    """RTT samples of the first seed; lines are labels with their colours."""
    for label, colour in lines.items():
        times_s, rtts_s = net.rtts_s(runs[label][0])
        axes.plot(times_s, rtts_s, color=colour, linewidth=0.8, label=label)
    axes.set_xlabel("time (s)")
    axes.set_ylabel("RTT (s)")


def draw_queue(axes: Axes, runs: Runs, lines: Mapping[str, str]) -> None:
    """The queue of the first seed; lines are labels with their colours."""
    times_s = (np.arange(round(net.END_S / FINE_S)) + 0.5) * FINE_S
    for label, colour in lines.items():
        axes.plot(times_s, queue(runs[label][0]), color=colour, linewidth=0.8, label=label)
    axes.set_xlabel("time (s)")
    axes.set_ylabel("queue (packets)")
    axes.set_ylim(0, net.BUFFER)


def rtt_and_queue_rows(
    runs: Runs, labels: Sequence[str], paper: Mapping[str, tuple[float, float]] | None = None
) -> list[Row]:
    """Latency, jitter and queue of each label; ``paper``: latency and jitter that are known."""
    table: list[Row] = []
    for label in labels:
        table += rtt_rows(runs, label, (paper or {}).get(label))
        table += queue_rows(runs, label)
    return table


def draw_rtt_and_queue(runs: Runs, lines: Mapping[str, str], title: str) -> Figure:
    """RTTs on the left, queues of up to 20 packets on the right."""
    figure = plots.new_figure(10.0, 3.6)
    left, right = figure.subplots(1, 2)
    draw_rtt(left, runs, lines)
    draw_queue(right, runs, lines)
    left.set_ylim(0)
    right.set_ylim(0, 20)
    for axes in (left, right):
        axes.set_xlim(0, net.END_S)
    right.legend(fontsize="small", ncols=len(lines), loc="upper right")
    figure.suptitle(title, x=0.01, ha="left", fontsize=11)
    return figure


def lines_of(controls: Mapping[str, net.Control]) -> dict[str, str]:
    """Each label with its algorithm's colour."""
    return {label: plots.COLOURS[control.algorithm] for label, control in controls.items()}


def number(row: Mapping[str, Row], label: str, what: str) -> float:
    """Waymark's number of a row."""
    return row[f"{label}, {what}"].waymark


def rising(row: Mapping[str, Row], labels: Sequence[str], what: str) -> bool:
    """Whether a quantity grows from each label to the next."""
    numbers = [number(row, label, what) for label in labels]
    return all(a < b for a, b in pairwise(numbers))
