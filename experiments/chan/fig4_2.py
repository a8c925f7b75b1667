"""Chan 2004, figure 4.2: throughput over time with backward load 0.9."""

from collections.abc import Mapping, Sequence

from matplotlib.figure import Figure

from experiments.chan import enhanced as net
from waymark import Expectation, Experiment, Row, Runs, Scale, Scenario, plots

LOAD = 0.9
TRAFFIC_FROM_S = 50.0
END_S = 200.0
PAPER_KBPS = {"vegas": 325, "enhancedvegas": 767}
NS2_KBPS = {"vegas": 323}


def scenarios(_scale: Scale, seed: int) -> Mapping[str, Scenario]:
    """One run of each algorithm."""
    sources = net.traffic(LOAD, TRAFFIC_FROM_S)
    return {a: net.run(a, a, sources, END_S, seed) for a in net.ALGORITHMS}


def rows(runs: Runs) -> list[Row]:
    """Averages before and after the traffic starts."""
    table: list[Row] = []
    for algorithm, results in runs.items():
        name = plots.NAMES[algorithm]
        alone = [r.throughput_bps(0, 10, TRAFFIC_FROM_S) / 1e3 for r in results]
        loaded = [r.throughput_bps(0, TRAFFIC_FROM_S, END_S) / 1e3 for r in results]
        paper = 1000 if algorithm == "vegas" else None
        table.append(Row.of(f"{name}, 10-50 s", "kb/s", alone, paper))
        numbers = PAPER_KBPS[algorithm], NS2_KBPS.get(algorithm)
        table.append(Row.of(f"{name}, 50-200 s", "kb/s", loaded, *numbers))
    return table


def draw(runs: Runs, table: Sequence[Row]) -> Figure:
    """Throughput over time, the first seed."""
    figure = plots.new_figure()
    axes = figure.subplots()
    by_name = {row.quantity: row for row in table}
    for algorithm, results in runs.items():
        name, colour = plots.NAMES[algorithm], plots.COLOURS[algorithm]
        row = by_name[f"{name}, 50-200 s"]
        axes.plot(
            results[0].times_s,
            results[0].throughput_over_time_bps(0) / 1e3,
            color=colour,
            linewidth=1,
            label=f"{name}, average {row.waymark:.0f}",
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
        title="Chan 2004, figure 4.2: backward load 0.9 from 50 s on",
        x="time (s)",
        y="throughput (kb/s)",
        legend_title=f"curves: the first seed\naverages of {len(runs['vegas'])}, kb/s",
    )
    axes.set_xlim(0, END_S)
    axes.set_ylim(0, 1100)
    return figure


EXPERIMENT = Experiment(
    id="chan/fig4.2",
    paper="Chan 2004, figure 4.2 (section 4.2)",
    claim="With backward load 0.9 Enhanced Vegas keeps more than twice the throughput of Vegas",
    parameters=net.PARAMETERS | {"load": LOAD, "traffic_from_s": TRAFFIC_FROM_S, "end_s": END_S},
    seeds={"quick": 2, "full": 30},
    scenarios=scenarios,
    rows=rows,
    draw=draw,
    expectations=(
        Expectation(
            "Enhanced Vegas' throughput is well above Vegas' while the way back is congested",
            "at least 1.5 times; the paper's is 2.36",
            lambda row: (
                row["Enhanced Vegas, 50-200 s"].waymark >= 1.5 * row["Vegas, 50-200 s"].waymark
            ),
        ),
        Expectation(
            "Vegas gets 325 kb/s and Enhanced Vegas 767",
            "each within 15 %: one run in the paper",
            lambda row: all(
                abs((row[f"{plots.NAMES[a]}, 50-200 s"].ratio or 0) - 1) <= 0.15
                for a in net.ALGORITHMS
            ),
        ),
    ),
    choices=net.CHOICES,
    notes=net.NOTE,
)
