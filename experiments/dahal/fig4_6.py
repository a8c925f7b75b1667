"""Dahal 2007, figures 4.6 and 4.7: RBCC's RTT and queue over time for three F."""

from collections.abc import Mapping, Sequence

from matplotlib.figure import Figure

from experiments.dahal import over_time
from experiments.dahal import wired as net
from experiments.dahal.printed import as_printed
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
    return over_time.rtt_and_queue_rows(runs, list(LINES), PAPER)


def draw(runs: Runs, _table: Sequence[Row]) -> Figure:
    """RTTs on the left, queues on the right."""
    title = "Dahal 2007, figures 4.6 and 4.7: RTT and queue of five RBCC flows"
    return over_time.draw_rtt_and_queue(runs, LINES, title)


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
        as_printed("Latencies", "four decimals", {f"{label}, latency": 4 for label in PAPER}),
        as_printed("Jitters", "five decimals", {f"{label}, jitter": 5 for label in PAPER}),
    ),
    choices=net.CHOICES,
    notes=net.MEASURES,
)
