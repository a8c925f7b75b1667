"""Dahal 2007, figures 4.11 to 4.13: RTT and queue over time, RBCC and the others."""

from collections.abc import Mapping, Sequence

from matplotlib.figure import Figure

from experiments.dahal import over_time
from experiments.dahal import wired as net
from waymark import Expectation, Experiment, Row, Runs, Scale, Scenario

CONTROLS = {
    "NewReno": net.Control("newreno"),
    "SACK": net.Control("sack"),
    "Vegas": net.Control("vegas"),
    "RBCC": net.Control("rbcc", 2.0),
}
COUNTS = (5, 40)


def _label(name: str, count: int) -> str:
    return f"{name}, {count} flows"


def scenarios(_scale: Scale, seed: int) -> Mapping[str, Scenario]:
    """Each control with five flows, and with forty."""
    return {
        _label(name, count): over_time.run(_label(name, count), control, count, seed)
        for count in COUNTS
        for name, control in CONTROLS.items()
    }


def rows(runs: Runs) -> list[Row]:
    """Latency, jitter and queues."""
    labels = [_label(name, count) for count in COUNTS for name in CONTROLS]
    return over_time.rtt_and_queue_rows(runs, labels)


def draw(runs: Runs, _table: Sequence[Row]) -> Figure:
    """RTTs, then queues of five and of forty flows."""
    figure = over_time.plots.new_figure(9.0, 9.0)
    top, middle, bottom = figure.subplots(3, 1, sharex=True)
    lines = {
        count: {
            _label(name, count): over_time.plots.COLOURS[control.algorithm]
            for name, control in CONTROLS.items()
        }
        for count in COUNTS
    }
    over_time.draw_rtt(top, runs, lines[5])
    over_time.draw_queue(middle, runs, lines[5])
    over_time.draw_queue(bottom, runs, lines[40])
    for axes, number in ((top, "4.11"), (middle, "4.12"), (bottom, "4.13")):
        over_time.plots.finish(
            axes,
            title=f"Dahal 2007, figure {number}",
            x="time (s)" if axes is bottom else "",
            y="RTT (s)" if axes is top else "queue (packets)",
        )
        axes.set_xlim(0, net.END_S)
    top.set_ylim(0)
    return figure


def _lowest(row: Mapping[str, Row], count: int, what: str) -> bool:
    ours = over_time.number(row, _label("RBCC", count), what)
    return all(
        ours < over_time.number(row, _label(name, count), what)
        for name in CONTROLS
        if name != "RBCC"
    )


EXPERIMENT = Experiment(
    id="dahal/fig4.11",
    also=("dahal/fig4.12", "dahal/fig4.13"),
    paper="Dahal 2007, figures 4.11 to 4.13 (sections 4.5.7.4, 4.5.7.5)",
    claim="RBCC has the lowest latency and the shortest queue, also under a high load",
    parameters=net.PARAMETERS | {"flows": list(COUNTS), "F": 2.0},
    seeds={"quick": 1, "full": 5},
    scenarios=scenarios,
    rows=rows,
    draw=draw,
    expectations=(
        Expectation(
            "RBCC's latency is significantly lower than the others', Vegas' is nearest",
            "5 flows: below .7 of Vegas', which is the next",
            lambda row: (
                over_time.number(row, _label("RBCC", 5), "latency")
                < 0.7 * over_time.number(row, _label("Vegas", 5), "latency")
                and over_time.rising(
                    row, [_label(n, 5) for n in ("RBCC", "Vegas", "NewReno")], "latency"
                )
                and over_time.rising(row, [_label(n, 5) for n in ("Vegas", "SACK")], "latency")
            ),
        ),
        Expectation(
            "RBCC's jitter is far below NewReno's and SACK's; Vegas' is lower still",
            "5 flows: below a third of both; above Vegas'",
            lambda row: (
                all(
                    over_time.number(row, _label("RBCC", 5), "jitter")
                    < over_time.number(row, _label(name, 5), "jitter") / 3
                    for name in ("NewReno", "SACK")
                )
                and over_time.rising(row, [_label(n, 5) for n in ("Vegas", "RBCC")], "jitter")
            ),
        ),
        Expectation(
            "The queue is the lowest for RBCC, with 5 flows and with 40",
            "mean from 5 s on",
            lambda row: all(_lowest(row, count, "mean queue") for count in COUNTS),
        ),
        Expectation(
            "With 40 flows RBCC's queue is still much lower",
            "below three quarters of the mean of each other control",
            lambda row: all(
                over_time.number(row, _label("RBCC", 40), "mean queue")
                < 0.75 * over_time.number(row, _label(name, 40), "mean queue")
                for name in ("NewReno", "SACK", "Vegas")
            ),
        ),
        Expectation(
            "With 40 flows its fluctuations get significantly less",
            "deviation from 5 s on below that with 5",
            lambda row: over_time.rising(
                row, [_label("RBCC", 40), _label("RBCC", 5)], "queue's deviation"
            ),
        ),
        Expectation(
            "At low load Vegas' queue is lower than NewReno's and SACK's; at high load as poor",
            "5 flows: below half of both; 40 flows: within 15 % of both",
            lambda row: all(
                over_time.number(row, _label("Vegas", 5), "mean queue")
                < 0.5 * over_time.number(row, _label(name, 5), "mean queue")
                and abs(
                    over_time.number(row, _label("Vegas", 40), "mean queue")
                    - over_time.number(row, _label(name, 40), "mean queue")
                )
                <= 0.15 * over_time.number(row, _label(name, 40), "mean queue")
                for name in ("NewReno", "SACK")
            ),
        ),
    ),
    choices=net.CHOICES,
    notes=net.MEASURES,
)
