"""Srijith et al., table 1 and figures 2 to 5: the path becomes longer during the transfer."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from matplotlib.figure import Figure

from experiments.srijith import common
from waymark import (
    Expectation,
    Experiment,
    LinkChange,
    OnOff,
    Row,
    Runs,
    Scale,
    Scenario,
    plots,
)
from waymark.networks import dumbbell
from waymark.traffic import Algorithm

END_S = 200.0
CHANGE_S = 20.0
SLOW_DELAY_S = 0.1
ALGORITHMS: tuple[Algorithm, ...] = ("vegas", "vegasa", "newreno")
EXACT = "vegasa in whole nanoseconds"
NOISY = "vegasa in whole nanoseconds with noise"
NOISE = OnOff("s2", "d2", 800, 0.2, 0.2, packet_octets=40)
"""A packet of 40 octets every now and then: .04 % of the link."""

PAPER_BPS = {"vegas": 217320, "vegasa": 940240}
NS2_BPS = {"vegas": 217240}


NAMES = {a: plots.NAMES[a] for a in ALGORITHMS} | {
    EXACT: "Vegas-A, RTTs in whole ns",
    NOISY: "Vegas-A, whole ns, a little noise",
}
COLOURS = {a: plots.COLOURS[a] for a in ALGORITHMS} | {
    EXACT: "#009e73",
    NOISY: plots.COLOURS["rbccwl"],
}


def scenarios(_scale: Scale, seed: int) -> Mapping[str, Scenario]:
    """One flow alone; its first link's delay goes from 10 to 100 ms at 20 s."""
    network = dumbbell(2, (1e6, 0.005), (1e6, 0.01), (1e6, 0.005))
    changes = (
        LinkChange(CHANGE_S, "s1", "r1", delay_s=SLOW_DELAY_S),
        LinkChange(CHANGE_S, "r1", "s1", delay_s=SLOW_DELAY_S),
    )
    runs = {
        algorithm: Scenario(
            algorithm,
            network,
            END_S,
            flows=(common.flow(1, algorithm, trace=True),),
            changes=changes,
            seed=seed,
        )
        for algorithm in ALGORITHMS
    }
    flow = common.flow(1, "vegasa", trace=True)
    flow = replace(flow, profile=replace(flow.profile, floating_rtt=False))
    exact = replace(runs["vegasa"], flows=(flow,))
    return runs | {EXACT: exact, NOISY: replace(exact, sources=(NOISE,))}


def rows(runs: Runs) -> list[Row]:
    """Throughput over the whole run."""
    return [
        Row.of(
            name,
            "b/s",
            [common.lifetime_bps(r, 0, 0, END_S) for r in runs[label]],
            PAPER_BPS.get(label),
            NS2_BPS.get(label),
        )
        for label, name in NAMES.items()
    ]


def draw(runs: Runs, table: Sequence[Row]) -> Figure:
    """Throughput (figures 2 to 4) and window (figure 5) over time."""
    figure = plots.new_figure(9.0, 4.0)
    left, right = figure.subplots(1, 2)
    for (run, name), row in zip(NAMES.items(), table, strict=True):
        result, colour = runs[run][0], COLOURS[run]
        kbps = result.throughput_over_time_bps(0) / 1e3
        label = f"{name}, average {row.waymark / 1e3:.0f}"
        left.plot(result.times_s, kbps, color=colour, linewidth=1, label=label)
        if row.paper is not None:
            left.plot([END_S], [row.paper / 1e3], **plots.PAPER | {"color": colour}, clip_on=False)
        trace = result.flows[0].trace
        if trace is not None and run != "newreno":
            right.plot(trace.time_s, np.floor(trace.cwnd), color=colour, linewidth=1)
    left.set_title("throughput (kb/s); diamonds: the paper's averages")
    left.legend(fontsize="small", loc="center right")
    right.set_title("window of Vegas and Vegas-A (packets)")
    for axes in (left, right):
        axes.set_xlabel("time (s)")
        axes.set_xlim(0, END_S)
        axes.set_ylim(0)
    title = "Srijith et al., table 1, figures 2-5: delay 10 to 100 ms at 20 s"
    figure.suptitle(title, x=0.01, ha="left", fontsize=11)
    return figure


EXPERIMENT = Experiment(
    id="srijith/tab1",
    also=("srijith/fig2", "srijith/fig3", "srijith/fig4", "srijith/fig5"),
    paper="Srijith et al., table 1 and figures 2 to 5 (section VI.A)",
    claim="After a reroute to a longer path Vegas-A fills the link again, Vegas does not",
    parameters=common.PARAMETERS
    | {"links": "1 Mb/s; 10 (100 from 20 s), 5, 5 ms one way", "end_s": END_S},
    seeds={"quick": 1, "full": 5},
    scenarios=scenarios,
    rows=rows,
    draw=draw,
    expectations=(
        Expectation(
            "Vegas stays at 217 kb/s",
            "within 5 % of the printed number: nothing random",
            lambda row: abs((row["Vegas"].ratio or 0) - 1) <= 0.05,
        ),
        Expectation(
            "Vegas-A gets 940 kb/s",
            "within 5 % of the printed number: nothing random",
            lambda row: abs((row["Vegas-A"].ratio or 0) - 1) <= 0.05,
        ),
        Expectation(
            "Vegas-A fills the link again",
            "at least 3 times Vegas' throughput",
            lambda row: row["Vegas-A"].waymark >= 3 * row["Vegas"].waymark,
        ),
    ),
    choices=(common.RTT_CHOICE,),
    notes=(
        "Vegas-A lives on rounding here. α and β rise only after a round with more throughput than "
        "the one before. Alone on its path and settled at 3 packets in flight, every round has the "
        "same throughput, and Diff (2.94) stays between α and β for good: so it does where RTTs "
        "are whole nanoseconds. ns-2 takes them as differences of a clock in floating-point "
        "seconds, of which the last bit varies: what is 10⁻¹⁵ more counts as growth, and the "
        "window climbs until the link is full. With ns-2's clock tables 6 to 8 come out as "
        "printed too. A network has noise of its own: packets of 40 octets on the path (.04 % of "
        "the link) do the same."
    ),
)
