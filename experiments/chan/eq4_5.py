"""Chan 2004, equation 4.5: Enhanced Vegas where the receiver's clock runs fast or slow."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from matplotlib.figure import Figure

from experiments.chan import enhanced as net
from waymark import (
    Choice,
    Clock,
    Expectation,
    Experiment,
    Row,
    Runs,
    Scale,
    Scenario,
    at_scale,
    criteria,
    plots,
)

LOAD = 0.9
SKEWS_PPM = (-200, -50, 0, 50, 200)
END_S: Mapping[Scale, float] = {"quick": 200.0, "full": 1000.0}
FROM_S = 50.0


def scenarios(scale: Scale, seed: int) -> Mapping[str, Scenario]:
    """One run per skew, with the correction and without it."""
    runs: dict[str, Scenario] = {}
    for corrected in (True, False):
        for skew in SKEWS_PPM:
            name = label(skew, corrected)
            run = net.run(name, "enhancedvegas", net.traffic(LOAD), at_scale(END_S, scale), seed)
            flow = replace(run.flows[0], settings={"skew_correction": corrected})
            runs[name] = replace(run, flows=(flow,), clocks={"d1": Clock(skew_ppm=skew)})
    return runs


def label(skew_ppm: int, corrected: bool) -> str:
    """The label of a run."""
    return f"{skew_ppm:+d} ppm, {'corrected' if corrected else 'not corrected'}"


def ratio(skew_ppm: int, corrected: bool) -> str:
    """The row of the throughput over that with a right clock."""
    return f"{label(skew_ppm, corrected)}, over +0 ppm"


def rows(runs: Runs) -> list[Row]:
    """Throughput after the first 50 s, and its ratio to that without skew."""
    table: list[Row] = []
    kbps = {
        name: [r.throughput_bps(0, FROM_S, len(r.times_s) * r.sample_s) / 1e3 for r in results]
        for name, results in runs.items()
    }
    for corrected in (True, False):
        right = kbps[label(0, corrected)]
        for skew in SKEWS_PPM:
            name = label(skew, corrected)
            table.append(Row.of(name, "kb/s", kbps[name]))
            if skew:
                derived = 1 if corrected else None
                name = ratio(skew, corrected)
                table.append(
                    Row.ratio_of(name, kbps[label(skew, corrected)], right, derived=derived)
                )
    return table


def draw(_runs: Runs, table: Sequence[Row]) -> Figure:
    """Throughput over skew."""
    figure = plots.new_figure()
    axes = figure.subplots()
    by_name = {row.quantity: row for row in table}
    for corrected, colour in ((True, "enhancedvegas"), (False, "reno")):
        points = {float(skew): by_name[label(skew, corrected)] for skew in SKEWS_PPM}
        name = f"{'with' if corrected else 'without'} (4.5)"
        plots.series(axes, points, plots.COLOURS[colour], name)
    plots.finish(
        axes,
        title="Chan 2004, equation 4.5: Enhanced Vegas with a receiver's clock that drifts",
        x="receiver's clock against the sender's (ppm)",
        y="throughput (kb/s)",
    )
    axes.set_ylim(0)
    return figure


EXPERIMENT = Experiment(
    id="chan/eq4.5",
    paper="Chan 2004, equation 4.5 (section 4.1)",
    claim="With the clock ratio known, a drifting clock of the receiver has no effect",
    parameters=net.PARAMETERS | {"load": LOAD, "skew_ppm": list(SKEWS_PPM), "end_s": END_S["full"]},
    seeds={"quick": 1, "full": 5},
    scenarios=scenarios,
    rows=rows,
    draw=draw,
    expectations=(
        Expectation(
            "With the correction, throughput is that with an accurate clock",
            "within 5 % at every skew: the spread of single runs with other traffic (1 sd)",
            criteria.as_derived(*(ratio(skew, True) for skew in SKEWS_PPM), within=0.05),
        ),
    ),
    choices=(
        Choice(
            "how the clock ratio is found",
            "from the lower hull of the one-way delays over time",
            "the thesis leaves the estimator to its references",
            "the runs without correction show what a missing one costs",
        ),
    ),
    notes="The thesis has no figure of this; the loads and the network are figure 4.2's.",
)
