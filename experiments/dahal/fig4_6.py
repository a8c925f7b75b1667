"""Dahal 2007, figures 4.6 and 4.7: RBCC's RTT and queue over time for three F."""

from collections.abc import Mapping, Sequence

from matplotlib.figure import Figure

from experiments.dahal import over_time
from experiments.dahal import wired as net
from waymark import Expectation, Experiment, Row, Runs, Scale, Scenario

LINES = {"F = 1.5": "#56b4e9", "F = 2": "#0072b2", "F = 2.5": "#d55e00"}
FACTORS = {"F = 1.5": 1.5, "F = 2": 2.0, "F = 2.5": 2.5}
PAPER = {"F = 2": (0.1241, 0.00908), "F = 2.5": (0.1549, 0.00805)}
"""Latency and jitter, of table 4.1."""
FLOWS = 5


def scenarios(_scale: Scale, seed: int) -> Mapping[str, Scenario]:
    """One run for each F."""
    return {
        label: over_time.run(label, net.Control("rbcc", factor), FLOWS, seed)
        for label, factor in FACTORS.items()
    }


def rows(runs: Runs) -> list[Row]:
    """Latency, jitter and queue."""
    table: list[Row] = []
    for label in LINES:
        table += over_time.rtt_rows(runs, label, PAPER.get(label))
        table += over_time.queue_rows(runs, label)
    return table


def draw(runs: Runs, _table: Sequence[Row]) -> Figure:
    """RTTs on the left, queues on the right."""
    figure = over_time.plots.new_figure(10.0, 3.6)
    left, right = figure.subplots(1, 2)
    over_time.draw_rtt(left, runs, LINES)
    over_time.draw_queue(right, runs, LINES)
    left.set_ylim(0)
    right.set_ylim(0, 20)
    for axes in (left, right):
        axes.set_xlim(0, net.END_S)
    right.legend(fontsize="small", ncols=3, loc="upper right")
    title = "Dahal 2007, figures 4.6 and 4.7: RTT and queue of five RBCC flows"
    figure.suptitle(title, x=0.01, ha="left", fontsize=11)
    return figure


EXPERIMENT = Experiment(
    id="dahal/fig4.6",
    also=("dahal/fig4.7",),
    paper="Dahal 2007, figures 4.6 and 4.7 (sections 4.5.5, 4.5.6)",
    claim="F sets RBCC's latency and its queue",
    parameters=net.PARAMETERS | {"flows": FLOWS, "F": list(FACTORS.values())},
    seeds={"quick": 1, "full": 5},
    scenarios=scenarios,
    rows=rows,
    draw=draw,
    expectations=(
        Expectation(
            "A lower threshold gives a lower latency",
            "mean RTT rises with F",
            lambda row: over_time.rising(row, list(LINES), "latency"),
        ),
        Expectation(
            "The queue can be limited by the threshold",
            "its mean from 5 s on rises with F",
            lambda row: over_time.rising(row, list(LINES), "mean queue"),
        ),
        Expectation(
            "The latencies of table 4.1",
            "within 5 % at F = 2 and 2.5",
            lambda row: all(
                abs((row[f"{label}, latency"].ratio or 0) - 1) <= 0.05 for label in PAPER
            ),
        ),
    ),
    choices=net.CHOICES,
    notes=net.MEASURES,
)
