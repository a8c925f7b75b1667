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
    """Latency, jitter and queue, and the ratio of the latencies."""
    ratio = Row.ratio_of(
        "dynamic/static, latency",
        net.latency_s(runs["dynamic"]),
        net.latency_s(runs["static"]),
    )
    return [*over_time.rtt_and_queue_rows(runs, list(LINES)), ratio]


def draw(runs: Runs, _table: Sequence[Row]) -> Figure:
    """RTTs on the left, queues on the right."""
    title = "Dahal 2007, figures 4.17 and 4.18: threshold F = 2, and found by probing"
    return over_time.draw_rtt_and_queue(runs, LINES, title)


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
            lambda row: 0.8 <= row["dynamic/static, latency"].waymark < 1,
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
