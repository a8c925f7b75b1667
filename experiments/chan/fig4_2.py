"""Chan 2004, figure 4.2: throughput over time with backward load 0.9."""

from collections.abc import Mapping, Sequence

from matplotlib.figure import Figure

from experiments.chan import enhanced as net
from experiments.chan.single_bottleneck import ONE_RUN, ONE_RUN_REASON
from waymark import Expectation, Experiment, Row, Runs, Scale, Scenario, criteria, plots
from waymark.result import Result

LOAD = 0.9
TRAFFIC_FROM_S = 50.0
SETTLED_FROM_S = 10.0
END_S = 200.0
PAPER_KBPS = {"vegas": 325, "enhancedvegas": 767}
ALONE_KBPS = {"vegas": 1000}
"""Until 50 s Vegas "stabilizes at 1,000 Kb/s"."""

NS2_KBPS = {net.SETTING: 323, net.NEAREST: 331}
"""Vegas' throughput from 50 s on, by setting."""

SUFFIX = {net.SETTING: "", net.NEAREST: ", variant"}
ALONE, LOADED = (
    f"{from_s:g}-{to_s:g} s"
    for from_s, to_s in ((SETTLED_FROM_S, TRAFFIC_FROM_S), (TRAFFIC_FROM_S, END_S))
)


def scenarios(_scale: Scale, seed: int) -> Mapping[str, Scenario]:
    """One run of each algorithm per setting."""
    return {
        f"{a}{suffix}": net.run(
            f"{a}{suffix}", a, net.traffic(LOAD, TRAFFIC_FROM_S, setting), END_S, seed, setting
        )
        for setting, suffix in SUFFIX.items()
        for a in net.ALGORITHMS
    }


def rows(runs: Runs) -> list[Row]:
    """Averages before and after the traffic starts, and the ratio then."""
    table: list[Row] = []
    derived = PAPER_KBPS["enhancedvegas"] / PAPER_KBPS["vegas"]
    for setting, suffix in SUFFIX.items():
        loaded = {a: _kbps(runs[a + suffix], TRAFFIC_FROM_S, END_S) for a in net.ALGORITHMS}
        for algorithm in net.ALGORITHMS:
            name = plots.NAMES[algorithm]
            alone = _kbps(runs[algorithm + suffix], SETTLED_FROM_S, TRAFFIC_FROM_S)
            ns2 = NS2_KBPS[setting] if algorithm == "vegas" else None
            printed = PAPER_KBPS[algorithm]
            table += [
                Row.of(f"{name}, {ALONE}{suffix}", "kb/s", alone, ALONE_KBPS.get(algorithm)),
                Row.of(f"{name}, {LOADED}{suffix}", "kb/s", loaded[algorithm], printed, ns2),
            ]
        table.append(
            Row.ratio_of(
                f"Enhanced Vegas/Vegas, {LOADED}{suffix}",
                loaded["enhancedvegas"],
                loaded["vegas"],
                derived=derived,
            )
        )
    return table


def _kbps(results: Sequence[Result], from_s: float, to_s: float) -> list[float]:
    return [r.throughput_bps(0, from_s, to_s) / 1e3 for r in results]


def draw(runs: Runs, table: Sequence[Row]) -> Figure:
    """Throughput over time, the first seed; one panel per setting."""
    figure = plots.new_figure(8.0, 7.0)
    panels = figure.subplots(2, 1, sharex=True)
    by_name = {row.quantity: row for row in table}
    for axes, (setting, suffix) in zip(panels, SUFFIX.items(), strict=True):
        for algorithm in net.ALGORITHMS:
            name, colour = plots.NAMES[algorithm], plots.COLOURS[algorithm]
            result = runs[algorithm + suffix][0]
            average = by_name[f"{name}, {LOADED}{suffix}"].waymark
            axes.plot(
                result.times_s,
                result.throughput_over_time_bps(0) / 1e3,
                color=colour,
                linewidth=1,
                label=f"{name}, average {average:.0f}",
            )
            axes.hlines(
                PAPER_KBPS[algorithm],
                TRAFFIC_FROM_S,
                END_S,
                color=plots.COLOURS["paper"],
                linestyle="--" if algorithm == "vegas" else ":",
                label=f"{name} in the paper, {PAPER_KBPS[algorithm]}",
            )
        plots.finish(
            axes,
            title=str(setting).capitalize().replace("mean on", "mean ON"),
            x="time (s)" if setting == net.NEAREST else "",
            y="throughput (kb/s)",
            legend_title=f"curves: the first seed\naverages of {len(runs['vegas'])}, kb/s",
        )
        axes.set_xlim(0, END_S)
        axes.set_ylim(0, 1100)
    title = "Chan 2004, figure 4.2: backward load 0.9 from 50 s on"
    figure.suptitle(title, x=0.01, ha="left", fontsize=11)
    return figure


def expectations(setting: net.Setting, variant: str) -> tuple[Expectation, ...]:
    """The paper's claims, about a setting."""
    suffix = SUFFIX[setting]
    ratio = f"Enhanced Vegas/Vegas, {LOADED}{suffix}"
    loaded = tuple(f"{plots.NAMES[a]}, {LOADED}{suffix}" for a in net.ALGORITHMS)
    return (
        Expectation(
            "Alone, Vegas gets 1,000 kb/s",
            "within 0.2 kb/s, one packet in 40 s: nothing is random before 50 s",
            criteria.as_printed(f"Vegas, {ALONE}{suffix}", within_absolute=0.2),
            variant,
        ),
        Expectation(
            "While the reverse path is congested Enhanced Vegas gets more than twice what Vegas "
            "gets",
            "more than 2 times, by the ratio of the means over the seeds; 767/325 is 2.36",
            criteria.more_than(2, ratio),
            variant,
        ),
        Expectation(
            "Vegas gets 325 kb/s then, Enhanced Vegas 767",
            ONE_RUN_REASON,
            criteria.as_printed(*loaded, within=ONE_RUN),
            variant,
        ),
    )


EXPERIMENT = Experiment(
    id="chan/fig4.2",
    paper="Chan 2004, figure 4.2 (section 4.2)",
    claim=(
        "With backward load 0.9 Enhanced Vegas keeps more than twice the throughput of Vegas: 767 "
        "for 325 kb/s"
    ),
    parameters=net.PARAMETERS | {"load": LOAD, "traffic_from_s": TRAFFIC_FROM_S, "end_s": END_S},
    seeds={"quick": 2, "full": 30},
    scenarios=scenarios,
    rows=rows,
    draw=draw,
    expectations=(*expectations(net.SETTING, ""), *expectations(net.NEAREST, str(net.NEAREST))),
    choices=(*net.CHOICES, net.NEAREST_CHOICE),
    notes=net.NOTE,
)
