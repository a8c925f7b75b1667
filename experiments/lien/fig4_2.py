"""Lien and Chung, figures 4.2 and 4.3: one flow's window, with a long and with a short buffer."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from matplotlib.figure import Figure

from experiments.lien import common
from waymark import (
    Choice,
    Expectation,
    Experiment,
    Row,
    Runs,
    Scale,
    Scenario,
    WaymarkError,
    plots,
)
from waymark.networks import dumbbell
from waymark.result import Result, Values
from waymark.traffic import Algorithm

ALGORITHMS: tuple[Algorithm, ...] = ("tahoe", "reno", "newreno", "vegas", "muzha")
BUFFERS = {50: "4.2", 15: "4.3"}
MIDDLE, ACCESS = (1e6, 0.02), (10e6, 0.002)
STEADY_FROM_S = 10.0
PIPE = 6.5
"""Packets that keep the link busy: 1 Mb/s times a round trip of 52 ms, in 1000 octets."""
NS2: Mapping[tuple[str, int], Sequence[float]] = {
    ("tahoe", 50): (964.3, 59, 1, 0.1821, 1, 57.99),
    ("reno", 50): (976.8, 59, 1, 0.1821, 28.99, 57.99),
    ("newreno", 50): (976.8, 59, 1, 0.1821, 28.99, 57.99),
    ("vegas", 50): (992.8, 0, 0, 0.3479, 9.5, 9.5),
    ("tahoe", 15): (930.2, 37, 0, 0.1821, 1, 22.97),
    ("reno", 15): (976.5, 37, 1, 0.1821, 11.47, 22.94),
    ("newreno", 15): (962.9, 39, 0, 0.1821, 11.47, 22.94),
    ("vegas", 15): (992.8, 0, 0, 0.3479, 9.5, 9.5),
}
"""What ns-2.35 gives, in the order of the rows."""


def scenarios(_scale: Scale, seed: int) -> Mapping[str, Scenario]:
    """Each algorithm alone with each buffer."""
    return {
        _label(algorithm, buffer): Scenario(
            _label(algorithm, buffer),
            common.routers(dumbbell(1, MIDDLE, ACCESS), buffer),
            common.END_S,
            flows=(replace(common.flow("s1", "d1", algorithm), trace=True),),
            seed=seed,
        )
        for buffer in BUFFERS
        for algorithm in ALGORITHMS
    }


def _label(algorithm: Algorithm, buffer: int) -> str:
    return f"{plots.NAMES[algorithm]}, B = {buffer}"


def rows(runs: Runs) -> list[Row]:
    """Throughput, losses, timeouts, and the window's range once it is steady."""
    table: list[Row] = []
    for buffer in BUFFERS:
        for algorithm in ALGORITHMS:
            label = _label(algorithm, buffer)
            results = runs[label]
            steady = [_window(r, STEADY_FROM_S)[1] for r in results]
            quantities = (
                ("throughput", "kb/s", [common.kbps(r, 0) for r in results]),
                ("losses", "packets", [float(r.flows[0].losses) for r in results]),
                ("timeouts", "1", [float(r.flows[0].timeouts) for r in results]),
                ("window reaches the pipe", "s", [_full_at_s(r) for r in results]),
                ("least window", "packets", [float(w.min()) for w in steady]),
                ("greatest window", "packets", [float(w.max()) for w in steady]),
            )
            known = NS2.get((algorithm, buffer), (None,) * len(quantities))
            table += [
                Row.of(f"{label}, {what}", unit, values, ns2=ns2)
                for (what, unit, values), ns2 in zip(quantities, known, strict=True)
            ]
    return table


def _window(result: Result, from_s: float) -> tuple[Values, Values]:
    trace = result.flows[0].trace
    if trace is None:
        raise WaymarkError("the run was not traced")
    late = trace.time_s >= from_s
    return trace.time_s[late], trace.cwnd[late]


def _full_at_s(result: Result) -> float:
    times_s, window = _window(result, 0)
    return float(times_s[np.argmax(window >= PIPE)])


def draw(runs: Runs, _rows: Sequence[Row]) -> Figure:
    """The windows over time."""
    figure = plots.new_figure(9.0, 6.5)
    panels = figure.subplots(2, 1, sharex=True)
    for axes, (buffer, number) in zip(panels, BUFFERS.items(), strict=True):
        for algorithm in ALGORITHMS:
            times_s, window = _window(runs[_label(algorithm, buffer)][0], 0)
            axes.step(
                times_s,
                window,
                where="post",
                color=plots.COLOURS["sack" if algorithm == "newreno" else algorithm],
                linestyle=(0, (5, 2)) if algorithm == "newreno" else "-",
                linewidth=1.2,
                label=plots.NAMES[algorithm],
            )
        plots.finish(
            axes,
            title=f"Lien and Chung, figure {number}: one flow's window, a buffer of {buffer}",
            x="time (s)" if axes is panels[-1] else "",
            y="window (packets)",
        )
        axes.set_xlim(0, common.END_S)
        axes.set_ylim(0, 70)
    return figure


def _of(row: Mapping[str, Row], algorithm: Algorithm, buffer: int, what: str) -> float:
    return row[f"{_label(algorithm, buffer)}, {what}"].waymark


def _swing(row: Mapping[str, Row], algorithm: Algorithm, buffer: int) -> float:
    """Packets between the least and the greatest window."""
    greatest = _of(row, algorithm, buffer, "greatest window")
    return greatest - _of(row, algorithm, buffer, "least window")


EXPERIMENT = Experiment(
    id="lien/fig4.2",
    also=("lien/fig4.3",),
    paper="Lien and Chung, figures 4.2 and 4.3 (section IV.A)",
    claim="Alone, Muzha's window fills the link at once and stays, also with a short buffer",
    parameters=common.PARAMETERS
    | {
        "bottleneck": "1 Mb/s, 20 ms",
        "access": "10 Mb/s, 2 ms",
        "buffers": list(BUFFERS),
        "end_s": common.END_S,
    },
    seeds={"quick": 1, "full": 1},
    scenarios=scenarios,
    rows=rows,
    draw=draw,
    expectations=(
        Expectation(
            "Buffer 50: Muzha's window is steady and loses nothing",
            "no loss; within one packet from 10 s on, the step of its indices 3 and 2",
            lambda row: _of(row, "muzha", 50, "losses") == 0 and _swing(row, "muzha", 50) <= 1,
        ),
        Expectation(
            "Muzha adjusts its window up to the network's bandwidth promptly",
            "the window holds a pipe's worth before that of every other algorithm does, with both "
            "buffers",
            lambda row: all(
                _of(row, "muzha", b, "window reaches the pipe")
                < _of(row, other, b, "window reaches the pipe")
                for b in BUFFERS
                for other in ALGORITHMS
                if other != "muzha"
            ),
        ),
        Expectation(
            "Vegas' window is steady",
            "within one packet from 10 s on, with both buffers",
            lambda row: all(_swing(row, "vegas", b) <= 1 for b in BUFFERS),
        ),
        Expectation(
            "Vegas is too conservative to keep up to the network bandwidth",
            "throughput below 95 % of the link, with both buffers",
            lambda row: all(_of(row, "vegas", b, "throughput") < 950 for b in BUFFERS),
        ),
        Expectation(
            "Tahoe's and Reno's windows swing by periodic loss",
            "the greatest at least 1.8 times the least from 10 s on, with both buffers",
            lambda row: all(
                _of(row, a, b, "greatest window") >= 1.8 * _of(row, a, b, "least window")
                for a in ("tahoe", "reno")
                for b in BUFFERS
            ),
        ),
        Expectation(
            "Buffer 15: Muzha can't avoid the first congestion, then its window is steady",
            "losses, and from 10 s on within one packet",
            lambda row: _of(row, "muzha", 15, "losses") > 0 and _swing(row, "muzha", 15) <= 1,
        ),
    ),
    choices=(
        common.DRAI_CHOICE,
        Choice(
            "length",
            "30 s from 0 s",
            "the paper gives it for the other simulations",
            "none on the windows, which are periodic or constant after 10 s",
        ),
    ),
    notes=common.OCTETS_NOTE
    + "Nothing in this network is random: one seed is enough. Vegas keeps the link busy with a "
    "window of 9.5 packets, here as in ns-2. The paper's statement that it does not keep up is "
    "true of its window next to the others', and not of its throughput. The text does not name "
    "NewReno for these figures.",
)
