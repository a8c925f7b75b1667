"""Dahal 2007, figures 4.17 and 4.18: RTT and queue over time, static and dynamic threshold."""

from collections.abc import Mapping, Sequence

from matplotlib.figure import Figure

from experiments.dahal import over_time
from experiments.dahal import wired as net
from waymark import Expectation, Experiment, Row, Runs, Scale, Scenario

LINES = {"static": "#0072b2", "dynamic": "#d55e00"}
CONTROLS = {"static": net.Control("rbcc", 2.0), "dynamic": net.Control("rbcc")}
FLOWS = 5


def scenarios(_scale: Scale, seed: int) -> Mapping[str, Scenario]:
    """Both, with five flows."""
    return {
        label: over_time.run(label, control, FLOWS, seed) for label, control in CONTROLS.items()
    }


def rows(runs: Runs) -> list[Row]:
    """Latency, jitter and queue."""
    table: list[Row] = []
    for label in LINES:
        table += over_time.rtt_rows(runs, label)
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
    right.legend(fontsize="small")
    title = "Dahal 2007, figures 4.17 and 4.18: threshold F = 2, and found by probing"
    figure.suptitle(title, x=0.01, ha="left", fontsize=11)
    return figure


EXPERIMENT = Experiment(
    id="dahal/fig4.17",
    also=("dahal/fig4.18",),
    paper="Dahal 2007, figures 4.17 and 4.18 (sections 4.5.8.4, 4.5.8.5)",
    claim="With the dynamic threshold latency and queue are marginally lower than with F = 2",
    parameters=net.PARAMETERS | {"flows": FLOWS, "F": 2.0},
    seeds={"quick": 10, "full": 10},
    scenarios=scenarios,
    rows=rows,
    draw=draw,
    expectations=(
        Expectation(
            "The dynamic algorithm maintains a marginally lower latency",
            "between .8 and 1 of the static one's, mean over seeds",
            lambda row: (
                0.8
                <= over_time.number(row, "dynamic", "latency")
                / over_time.number(row, "static", "latency")
                < 1
            ),
        ),
        Expectation(
            "The dynamic algorithm maintains a marginally lower queue",
            "lower, mean over seeds",
            lambda row: over_time.rising(row, ["dynamic", "static"], "mean queue"),
        ),
    ),
    choices=net.CHOICES,
    notes=net.MEASURES
    + "The threshold that holds the queue is that of the flow whose probe ended highest, and where "
    "it ends depends on how the flows start: see the range over seeds, and figure 4.16.",
)
