"""Chan 2004, figure 4.3: average throughput against the load of the way back."""

from collections.abc import Mapping, Sequence

from matplotlib.figure import Figure

from experiments.chan import enhanced as net
from waymark import Expectation, Experiment, Row, Runs, Scale, Scenario, at_scale, plots

LOADS: Mapping[Scale, tuple[float, ...]] = {
    "quick": (0.0, 0.5, 1.0),
    "full": (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0),
}
END_S = 200.0
PAPER_RATIO = {1.0: 12}
NS2_VEGAS_KBPS = {1.0: 38}


def scenarios(scale: Scale, seed: int) -> Mapping[str, Scenario]:
    """One run a load and algorithm; all traffic from 0 s."""
    return {
        label(a, load): net.run(label(a, load), a, net.traffic(load), END_S, seed)
        for load in at_scale(LOADS, scale)
        for a in net.ALGORITHMS
    }


def label(algorithm: str, load: float) -> str:
    """The label of a run."""
    return f"{algorithm} load={load:g}"


def rows(runs: Runs) -> list[Row]:
    """Average throughput and the ratio at each load."""
    table: list[Row] = []
    for load in _loads(runs):
        vegas, enhanced = (
            [r.throughput_bps(0, 0, END_S) / 1e3 for r in runs[label(a, load)]]
            for a in net.ALGORITHMS
        )
        ratios = [en / ve for en, ve in zip(enhanced, vegas, strict=True)]
        table.append(Row.of(f"Vegas, load {load:g}", "kb/s", vegas, ns2=NS2_VEGAS_KBPS.get(load)))
        table.append(Row.of(f"Enhanced Vegas, load {load:g}", "kb/s", enhanced))
        table.append(Row.of(f"ratio, load {load:g}", "1", ratios, PAPER_RATIO.get(load)))
    return table


def _loads(runs: Runs) -> list[float]:
    return [load for load in LOADS["full"] if label("vegas", load) in runs]


def draw(runs: Runs, table: Sequence[Row]) -> Figure:
    """Throughput against load."""
    figure = plots.new_figure()
    axes = figure.subplots()
    by_name = {row.quantity: row for row in table}
    for algorithm in net.ALGORITHMS:
        name = plots.NAMES[algorithm]
        points = {load: by_name[f"{name}, load {load:g}"] for load in _loads(runs)}
        plots.series(axes, points, plots.COLOURS[algorithm], name)
    plots.finish(
        axes,
        title="Chan 2004, figure 4.3: average throughput against backward load",
        x="backward traffic load (of 1 Mb/s)",
        y="average throughput (kb/s)",
        legend_title=plots.mean_of(len(runs["vegas load=1"])),
    )
    axes.set_ylim(0, 1100)
    return figure


EXPERIMENT = Experiment(
    id="chan/fig4.3",
    paper="Chan 2004, figure 4.3 (section 4.2)",
    claim="Enhanced Vegas gets more than Vegas at every backward load, 12 times as much at load 1",
    parameters=net.PARAMETERS | {"loads": list(LOADS["full"]), "end_s": END_S},
    seeds={"quick": 2, "full": 10},
    scenarios=scenarios,
    rows=rows,
    draw=draw,
    expectations=(
        Expectation(
            "Enhanced Vegas gets more than Vegas at every load above 0",
            "any amount more, on the mean of the seeds",
            lambda row: all(
                r.waymark > 1
                for name, r in row.items()
                if name.startswith("ratio") and not name.endswith("load 0")
            ),
        ),
        Expectation(
            "12 times as much at load 1",
            "6 to 24 times: at load 1 the queue has no steady state, and runs differ widely",
            lambda row: 6 <= row["ratio, load 1"].waymark <= 24,
        ),
    ),
    choices=net.CHOICES,
    notes=net.NOTE,
)
