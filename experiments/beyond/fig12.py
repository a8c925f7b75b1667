"""How soon shares are fair after a flow joins, as in Chan 2004, figure 3.12, today."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from matplotlib.figure import Figure

from experiments.beyond import fig3, today
from waymark import Choice, Expectation, Experiment, Row, Runs, Scale, Scenario, at_scale, plots
from waymark.analysis.fairness import jain
from waymark.criteria import at_least, at_most
from waymark.result import Result

CONTROLS: Mapping[Scale, tuple[today.Control, ...]] = {
    "quick": ("cubic", "waymark"),
    "full": ("cubic", "bbr", "bbr3", "dctcp", "vegas", "rovegas", "waymark"),
}
RTT_S = 0.044
SAMPLE_S = 5 * RTT_S
AFTER_RTTS = (10, 20, 40, 80)
"""Each is the end of the five round trips in which shares are measured."""
SETTLED_S = (
    math.ceil(fig3.FROM_S / SAMPLE_S) * SAMPLE_S,
    math.floor(fig3.END_S / SAMPLE_S) * SAMPLE_S,
)
"""All flows are there; whole samples."""


def scenarios(scale: Scale, seed: int) -> Mapping[str, Scenario]:
    """Those of beyond/fig3, sampled every five round trips."""
    return {
        control: replace(scenario, sample_s=SAMPLE_S)
        for control, scenario in fig3.scenarios(scale, seed).items()
        if control in at_scale(CONTROLS, scale)
    }


def _starts_s(seed: int) -> list[float]:
    later_s = fig3.OFFSET_S * (seed - 1) / 10
    return [i * (fig3.JOIN_EVERY_S + later_s) for i in range(fig3.FLOWS)]


def _jain_after(result: Result, start_s: float, flows: int, rtts: int) -> float:
    """Of the sample that ends up to five round trips after this many round trips."""
    at = int(np.ceil((start_s + rtts * RTT_S) / SAMPLE_S)) - 1
    return jain([float(result.throughput_over_time_bps(flow)[at]) for flow in range(flows)])


def rows(runs: Runs) -> list[Row]:
    """Jain's index some round trips after each join; the queue once all flows are there."""
    table: list[Row] = []
    for control, results in runs.items():
        name = plots.NAMES[control]
        for flows in range(2, fig3.FLOWS + 1):
            for rtts in AFTER_RTTS:
                table.append(
                    Row.of(
                        _label(name, flows, rtts),
                        "1",
                        [
                            _jain_after(r, _starts_s(seed)[flows - 1], flows, rtts)
                            for seed, r in enumerate(results, 1)
                        ],
                    )
                )
        span = SETTLED_S
        waiting = [r.mean_waiting(fig3.QUEUE, *span) for r in results]
        used = [
            sum(r.throughput_bps(flow, *span) for flow in range(fig3.FLOWS)) / fig3.RATE_BPS
            for r in results
        ]
        table += [
            Row.of(f"{name}, waiting", "packets", waiting),
            Row.of(f"{name}, use of the link", "1", used),
        ]
    return table


def _label(name: str, flows: int, rtts: int) -> str:
    return f"{name}, {flows} flows, {rtts} RTTs after: Jain's index"


def draw(runs: Runs, table: Sequence[Row]) -> Figure:
    """Jain's index ten round trips after each join."""
    figure = plots.new_figure()
    axes = figure.subplots()
    by_name = {row.quantity: row for row in table}
    for control in runs:
        name = plots.NAMES[control]
        points = {float(n): by_name[_label(name, n, 10)] for n in range(2, fig3.FLOWS + 1)}
        plots.series(axes, points, today.COLOURS[control], name)
    plots.finish(
        axes,
        title="Fairness 10 round trips after a flow joins (Chan 2004, figure 3.12), current "
        "transports",
        x="flows",
        y="Jain's index",
    )
    axes.set_ylim(0.4, 1)
    return figure


EXPERIMENT = Experiment(
    id="beyond/fig12",
    paper="Beyond the papers; the network of Chan 2004, figure 3.11",
    claim="With exact queueing marks, flows soon share a link fairly after one joins",
    parameters={
        **fig3.EXPERIMENT.parameters,
        "sample_rtts": 5,
        "after_rtts": list(AFTER_RTTS),
    },
    seeds={"quick": 1, "full": 5},
    scenarios=scenarios,
    rows=rows,
    draw=draw,
    expectations=(
        Expectation(
            "Waymark's shares are fair within 10 round trips of a join",
            "Jain's index at least .98, after each join",
            at_least(0.98, *(_label("Waymark", n, 10) for n in range(2, fig3.FLOWS + 1))),
        ),
        Expectation(
            "Waymark fills the link",
            "at least 99 % of it less the options' 12 of 1500 octets",
            at_least(0.99 * (1 - 12 / 1500), "Waymark, use of the link"),
        ),
        Expectation(
            "Waymark keeps the queue short",
            "at most 6 packets wait with eight flows",
            at_most(6.0, "Waymark, waiting"),
        ),
    ),
    comparisons=today.compared(
        more=[_label("{}", n, 10) for n in range(2, fig3.FLOWS + 1)],
        less=["{}, waiting"],
    ),
    choices=(
        today.PROFILE_CHOICE,
        today.ECN_CHOICE,
        Choice(
            "when shares are measured",
            "in a sample of five round trips",
            "eight flows have some 23 segments each in it",
            "the sample ends up to five round trips later than the name says",
        ),
    ),
)
