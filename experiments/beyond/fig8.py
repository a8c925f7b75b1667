"""A path that becomes longer or shorter, as in Srijith et al., table 1, today."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.figure import Figure

from experiments.beyond import today
from waymark import (
    MODERN,
    Choice,
    Expectation,
    Experiment,
    LinkChange,
    Row,
    Runs,
    Scale,
    Scenario,
    plots,
)
from waymark.criteria import at_least
from waymark.networks import dumbbell

CONTROLS = today.WITHOUT_ECN
RATES_BPS = (1e6, 10e6)
DELAYS_S = {"longer": (0.010, 0.100), "shorter": (0.100, 0.010)}
"""One way, of the access link: before and after the change."""
OTHER_S = 0.010
"""One way, of the rest of the path."""
CHANGE_S, END_S = 20.0, 60.0
SAMPLE_S = 0.02
SETTLING_RTTS = 10
QUEUE = "r1->r2"
QUEUE_PACKETS = 100


def scenarios(_scale: Scale, seed: int) -> Mapping[str, Scenario]:
    """Each control alone, on each link with each change; starts a little later with each seed."""
    return {
        name: _scenario(name, control, rate_bps, *delays_s, seed)
        for rate_bps in RATES_BPS
        for change, delays_s in DELAYS_S.items()
        for control in CONTROLS
        for name in [f"{control}, {rate_bps / 1e6:g} Mb/s, {change}"]
    }


def _scenario(
    name: str, control: today.Control, rate_bps: float, before_s: float, after_s: float, seed: int
) -> Scenario:
    network = dumbbell(
        2,
        (rate_bps, OTHER_S / 2),
        (100e6, before_s),
        (100e6, OTHER_S / 2),
        queue_packets=QUEUE_PACKETS,
    )
    ends = (("s1", "r1"), ("r1", "s1"))
    return Scenario(
        name,
        today.marking(network, control, [QUEUE]),
        END_S,
        flows=(today.flow(control, "s1", "d1", 0.1 * (seed - 1)),),
        changes=tuple(LinkChange(CHANGE_S, *end, delay_s=after_s) for end in ends),
        seed=seed,
        sample_s=SAMPLE_S,
    )


def _settling_s(change: str) -> float:
    """Ten round trips of the new path."""
    return SETTLING_RTTS * 2 * (DELAYS_S[change][1] + OTHER_S)


def rows(runs: Runs) -> list[Row]:
    """The part of the link that is used soon after the change, and at the end; the queue."""
    table: list[Row] = []
    for name, results in runs.items():
        control, rate, change = name.split(", ")
        rate_bps, settling_s = 1e6 * float(rate.removesuffix(" Mb/s")), _settling_s(change)
        spans = {
            "before": (CHANGE_S / 2, CHANGE_S),
            "from 10 to 20 RTTs after": (CHANGE_S + settling_s, CHANGE_S + 2 * settling_s),
            "at the end": (END_S - 10, END_S),
        }
        label = f"{plots.NAMES[control]}, {rate}, {change}"
        table += [
            Row.of(
                f"{label}: use {when}",
                "%",
                [100 * r.throughput_bps(0, *span) / rate_bps for r in results],
            )
            for when, span in spans.items()
        ]
        first = round(CHANGE_S / SAMPLE_S)
        table += [
            Row.of(
                f"{label}: most waiting after (of {SAMPLE_S} s)",
                "packets",
                [float(r.queues[QUEUE].waiting[first:].max()) for r in results],
            ),
            Row.of(
                f"{label}: waiting at the end",
                "packets",
                [r.mean_waiting(QUEUE, *spans["at the end"]) for r in results],
            ),
        ]
    return table


def draw(runs: Runs, _table: Sequence[Row]) -> Figure:
    """Throughput over time around the change, in averages of 0.2 s."""
    figure = plots.new_figure(9.0, 6.5)
    panels = figure.subplots(2, 2, sharex=True)
    for row, rate_bps in zip(panels, RATES_BPS, strict=True):
        for axes, change in zip(row, DELAYS_S, strict=True):
            for control in CONTROLS:
                result = runs[f"{control}, {rate_bps / 1e6:g} Mb/s, {change}"][0]
                mbps = result.throughput_over_time_bps(0).reshape(-1, 10).mean(axis=1) / 1e6
                times_s = (np.arange(len(mbps)) + 0.5) * 10 * SAMPLE_S
                axes.plot(
                    times_s,
                    mbps,
                    color=today.COLOURS[control],
                    linewidth=1.2,
                    label=plots.NAMES[control],
                )
            axes.set_title(f"{rate_bps / 1e6:g} Mb/s, {change} path")
            axes.set_xlim(CHANGE_S - 5, CHANGE_S + 20)
            axes.set_ylim(0, 1.15 * rate_bps / 1e6)
        row[0].set_ylabel("throughput (Mb/s)")
    for axes in panels[-1]:
        axes.set_xlabel("time (s)")
    title = "The path changes at 20 s (Srijith et al., table 1), current transports"
    plots.finish_panels(figure, panels[0][0], title=title)
    return figure


EXPERIMENT = Experiment(
    id="beyond/fig8",
    paper="Beyond the papers; the scenario of Srijith et al., table 1",
    claim="Waymark uses the link again ten round trips after its path has changed",
    parameters={
        "bottleneck": "1 and 10 Mb/s, 5 ms",
        "queue_packets": QUEUE_PACKETS,
        "access_ms": {name: [1e3 * d for d in delays] for name, delays in DELAYS_S.items()},
        "change_s": CHANGE_S,
        "profile": MODERN.by_family(),
    },
    seeds={"quick": 1, "full": 5},
    scenarios=scenarios,
    rows=rows,
    draw=draw,
    expectations=(
        Expectation(
            "Waymark uses the link again within ten round trips of the change",
            "at least 95 % of it from 10 to 20 round trips after the change, on both links",
            at_least(
                95.0,
                *(
                    f"Waymark, {rate_bps / 1e6:g} Mb/s, {change}: use from 10 to 20 RTTs after"
                    for rate_bps in RATES_BPS
                    for change in DELAYS_S
                ),
            ),
        ),
    ),
    choices=(
        today.PROFILE_CHOICE,
        Choice(
            "links",
            "also 10 Mb/s, and also a path that becomes shorter",
            "a greater window is further from its new value after the change",
            "both are rows",
        ),
    ),
    notes=(
        "Throughput is measured at the receiver: what waits in the queue when the path becomes "
        "shorter still arrives, so that a span may have more than the link's rate."
    ),
    comparisons=today.compared(
        more=[
            f"{{}}, {rate_bps / 1e6:g} Mb/s, {change}: use {when}"
            for rate_bps in RATES_BPS
            for change in DELAYS_S
            for when in ("before", "from 10 to 20 RTTs after", "at the end")
        ],
        less=[
            f"{{}}, {rate_bps / 1e6:g} Mb/s, {change}: {what}"
            for rate_bps in RATES_BPS
            for change in DELAYS_S
            for what in (f"most waiting after (of {SAMPLE_S} s)", "waiting at the end")
        ],
    ),
)
