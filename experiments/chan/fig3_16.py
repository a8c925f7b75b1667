"""Chan 2004, figure 3.16: one router of the parking lot is AQT-capable, the others are not."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from matplotlib.figure import Figure

from experiments.chan import parking_lot as net
from experiments.chan.single_bottleneck import ALGORITHMS
from waymark import Choice, Expectation, Experiment, Row, Runs, Scale, Scenario, criteria, plots

LOAD = 0.8
END_S = 200.0


def scenarios(_scale: Scale, seed: int) -> Mapping[str, Scenario]:
    """One run of each algorithm, all traffic from 0 s."""
    return {algorithm: _run(algorithm, seed) for algorithm in ALGORITHMS}


def _run(algorithm: str, seed: int) -> Scenario:
    whole = net.run(algorithm, "rovegas", LOAD, (0.0, 0.0, 0.0), END_S, seed)
    flow = (
        replace(whole.flows[0], settings={"full_deployment": False})
        if algorithm == "rovegas"
        else net.flow("vegas")
    )
    return net.only_r2_marks(replace(whole, flows=(flow,)))


def rows(runs: Runs) -> list[Row]:
    """Average throughput and the ratio."""
    kbps = {a: [r.throughput_bps(0, 0, END_S) / 1e3 for r in runs[a]] for a in ALGORITHMS}
    return [
        *(Row.of(plots.NAMES[a], "kb/s", kbps[a]) for a in ALGORITHMS),
        Row.ratio_of("RoVegas/Vegas", kbps["rovegas"], kbps["vegas"]),
    ]


def draw(runs: Runs, table: Sequence[Row]) -> Figure:
    """Throughput over time, the first seed."""
    figure = plots.new_figure()
    axes = figure.subplots()
    for algorithm, row in zip(ALGORITHMS, table, strict=False):
        result = runs[algorithm][0]
        axes.plot(
            result.times_s,
            result.throughput_over_time_bps(0) / 1e3,
            color=plots.COLOURS[algorithm],
            linewidth=1,
            label=f"{plots.NAMES[algorithm]}, average {row.waymark:.0f}",
        )
    plots.finish(
        axes,
        title="Chan 2004, figure 3.16: only r2 of the parking lot is AQT-capable",
        x="time (s)",
        y="throughput (kb/s)",
        legend_title=f"curves: the first seed\naverages of {len(runs['vegas'])}, kb/s",
    )
    axes.set_xlim(0, END_S)
    axes.set_ylim(0, 1700)
    return figure


EXPERIMENT = Experiment(
    id="chan/fig3.16",
    paper="Chan 2004, figure 3.16 (section 3.5.4)",
    claim="With one AQT-capable router of four, RoVegas still gets more than Vegas",
    parameters=net.PARAMETERS | {"load": LOAD, "end_s": END_S, "aqt_capable": ["r2"]},
    seeds={"quick": 2, "full": 20},
    scenarios=scenarios,
    rows=rows,
    draw=draw,
    expectations=(
        Expectation(
            "RoVegas gets more than Vegas",
            "any amount more, by the ratio of the means over the seeds",
            criteria.more_than(1, "RoVegas/Vegas"),
        ),
    ),
    choices=(
        *net.CHOICES,
        Choice("length", "200 s", "as figure 3.10; the paper does not say", "none on an average"),
    ),
    notes="The other routers run plain.p4, which does not touch the option.",
)
