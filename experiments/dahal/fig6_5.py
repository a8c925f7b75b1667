"""Dahal 2007, figures 6.5 to 6.8: SCTP's latency and queue over time."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from experiments.dahal import paths as net
from experiments.dahal.printed import as_printed
from waymark import Expectation, Experiment, Row, Runs, Scale, Scenario, plots

PAIRS = 5
FACTORS = (1.5, 2.0, 2.3)
QUEUE = "rs2->rd2"
SHADES = dict(zip(FACTORS, ("#56b4e9", "#0072b2", "#d55e00"), strict=True))
PAPER: Mapping[str, tuple[float, float]] = {
    "Std": (0.6002, 0.09078),
    "RBCA": (0.1244, 0.00995),
    "RBCA & SPC": (0.1242, 0.00992),
    "SPC": (0.1854, 0.08664),
    "RBCA, F = 2.3": (0.1427, 0.02085),
    "RBCA & SPC, F = 2.3": (0.1424, 0.01414),
}
"""Latency and jitter, of table 6.1."""
NS2_STD_LATENCY_S = 0.618
NS2_STD_JITTER_S = 0.121
NS2_STD_QUEUE = 42.1
"""The latter two are means over ten start offsets."""
VARIED = ("RBCA", "RBCA & SPC")


def _label(scheme: str, factor: float = 2.0) -> str:
    return scheme if factor == 2.0 else f"{scheme}, F = {factor:g}"


def scenarios(_scale: Scale, seed: int) -> Mapping[str, Scenario]:
    """Each scheme at F = 2, and those with RBCA at two others."""
    runs = {name: net.run(name, name, PAIRS, seed, trace=True) for name in net.WITH_NS2}
    for name in VARIED:
        for factor in FACTORS:
            label = _label(name, factor)
            runs[label] = net.run(label, name, PAIRS, seed, factor=factor, trace=True)
    return runs


def rows(runs: Runs) -> list[Row]:
    """Latency, jitter, and the second path's queue once it is the primary."""
    table: list[Row] = []
    for label, results in runs.items():
        latency, jitter = PAPER.get(label, (None, None))
        known = NS2_STD_LATENCY_S, NS2_STD_JITTER_S, NS2_STD_QUEUE
        ns2 = known if label == net.NS2_STD else (None, None, None)
        table += [
            Row.of(f"{label}, latency", "s", [net.latency_s(r) for r in results], latency, ns2[0]),
            Row.of(f"{label}, jitter", "s", [net.jitter_s(r) for r in results], jitter, ns2[1]),
            Row.of(
                f"{label}, mean queue",
                "packets",
                [r.mean_waiting(QUEUE, net.SWITCHED_S, net.END_S) for r in results],
                ns2=ns2[2],
            ),
        ]
    return table


def draw(runs: Runs, _table: Sequence[Row]) -> Figure:
    """RTTs of the four, of RBCA and of RBCA & SPC by F; queues."""
    figure = plots.new_figure(10.0, 7.0)
    panels: Sequence[Axes] = list(figure.subplots(2, 2).flat)
    first, last = panels[0], panels[3]
    for name, scheme in net.SCHEMES.items():
        first.plot(*net.rtts_s(runs[name][0]), color=scheme.colour, linewidth=0.7, label=name)
        result = runs[name][0]
        late = result.times_s >= net.SWITCHED_S
        waiting = result.queues[QUEUE].waiting[late]
        last.plot(result.times_s[late], waiting, color=scheme.colour, linewidth=0.7, label=name)
    for axes, name in zip(panels[1:3], VARIED, strict=True):
        for factor in reversed(FACTORS):
            times_s, rtts_s = net.rtts_s(runs[_label(name, factor)][0])
            label = f"F = {factor:g}"
            axes.plot(times_s, rtts_s, color=SHADES[factor], linewidth=0.7, label=label)
    titles = ("6.5: RTT", "6.6: RTT, RBCA", "6.7: RTT, RBCA & SPC", "6.8: queue of path 2")
    for axes, title in zip(panels, titles, strict=True):
        axes.set_title(f"Dahal 2007, figure {title}")
        axes.set_xlabel("time (s)")
        axes.set_ylabel("queue (packets)" if axes is last else "RTT (s)")
        axes.set_ylim(0)
        axes.legend(fontsize="x-small", ncols=4, loc="lower left", bbox_to_anchor=(0, 1.08))
    return figure


def _of(row: Mapping[str, Row], label: str, what: str) -> float:
    return row[f"{label}, {what}"].waymark


EXPERIMENT = Experiment(
    id="dahal/fig6.5",
    also=("dahal/fig6.6", "dahal/fig6.7", "dahal/fig6.8"),
    paper="Dahal 2007, figures 6.5 to 6.8 (sections 6.2.5, 6.2.6)",
    claim="RBCA keeps SCTP's latency and queue low; F sets how low",
    parameters=net.PARAMETERS | {"pairs": PAIRS, "F": list(FACTORS)},
    seeds={"quick": 1, "full": 3},
    scenarios=scenarios,
    rows=rows,
    draw=draw,
    expectations=(
        Expectation(
            "Std's latency is high, that with RBCA very low, SPC's in the middle",
            "with RBCA below a third of Std's; SPC's between",
            lambda row: all(
                _of(row, one, "latency") < _of(row, "Std", "latency") / 3
                and _of(row, one, "latency")
                < _of(row, "SPC", "latency")
                < _of(row, "Std", "latency")
                for one in VARIED
            ),
        ),
        Expectation(
            "RBCA and RBCA & SPC maintain a very low jitter",
            "below a third of Std's and of SPC's",
            lambda row: all(
                _of(row, one, "jitter") < _of(row, other, "jitter") / 3
                for one in VARIED
                for other in ("Std", "SPC")
            ),
        ),
        Expectation(
            "The latency can be controlled by the threshold",
            "it rises with F, with RBCA and with RBCA & SPC",
            lambda row: all(
                np.all(np.diff([_of(row, _label(one, f), "latency") for f in FACTORS]) > 0)
                for one in VARIED
            ),
        ),
        as_printed("Latencies", "four decimals", {f"{label}, latency": 4 for label in PAPER}),
        as_printed("Jitters", "five decimals", {f"{label}, jitter": 5 for label in PAPER}),
        Expectation(
            "Std's queue is high, the others' very low, RBCA & SPC's the lowest",
            "the others' below a quarter of Std's; RBCA & SPC's below both",
            lambda row: (
                all(
                    _of(row, one, "mean queue") < _of(row, "Std", "mean queue") / 4
                    for one in (*VARIED, "SPC")
                )
                and all(
                    _of(row, "RBCA & SPC", "mean queue") < _of(row, one, "mean queue")
                    for one in ("RBCA", "SPC")
                )
            ),
        ),
    ),
    choices=net.CHOICES,
    notes=net.MEASURES + net.NS2_NOTE + net.LATENCY_NOTE,
)
