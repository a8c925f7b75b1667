"""Chan 2004, figure 3.10: throughput over a parking lot against the load of the way back."""

from collections.abc import Mapping, Sequence

from matplotlib.figure import Figure

from experiments.chan import parking_lot as net
from experiments.chan.single_bottleneck import ALGORITHMS
from waymark import Expectation, Experiment, Row, Runs, Scale, Scenario, at_scale, plots

LOADS: Mapping[Scale, tuple[float, ...]] = {
    "quick": (0.0, 0.5, 1.0),
    "full": (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0),
}
END_S = 200.0
NS2_VEGAS_KBPS = {1.0: 88}
PAPER_RATIO = {1.0: 14.09}


def scenarios(scale: Scale, seed: int) -> Mapping[str, Scenario]:
    """One run a load and algorithm; all traffic from 0 s."""
    return {
        label(algorithm, load): net.run(
            label(algorithm, load), algorithm, load, (0.0, 0.0, 0.0), END_S, seed
        )
        for load in at_scale(LOADS, scale)
        for algorithm in ALGORITHMS
    }


def label(algorithm: str, load: float) -> str:
    """The label of a run."""
    return f"{algorithm} load={load:g}"


def rows(runs: Runs) -> list[Row]:
    """Average throughput, and RoVegas' ratio to Vegas, at each load."""
    table: list[Row] = []
    for load in _loads(runs):
        vegas, rovegas = (
            [r.throughput_bps(0, 0, END_S) / 1e3 for r in runs[label(a, load)]] for a in ALGORITHMS
        )
        ratios = [ro / ve for ro, ve in zip(rovegas, vegas, strict=True)]
        table.append(Row.of(f"Vegas, load {load:g}", "kb/s", vegas, ns2=NS2_VEGAS_KBPS.get(load)))
        table.append(Row.of(f"RoVegas, load {load:g}", "kb/s", rovegas))
        paper = PAPER_RATIO.get(load)
        table.append(Row.of(f"RoVegas/Vegas, load {load:g}", "1", ratios, paper))
    return table


def _loads(runs: Runs) -> list[float]:
    return [load for load in LOADS["full"] if label("vegas", load) in runs]


def draw(runs: Runs, table: Sequence[Row]) -> Figure:
    """Throughput against load."""
    figure = plots.new_figure()
    axes = figure.subplots()
    by_name = {row.quantity: row for row in table}
    for algorithm in ALGORITHMS:
        name = plots.NAMES[algorithm]
        points = {load: by_name[f"{name}, load {load:g}"] for load in _loads(runs)}
        plots.series(axes, points, plots.COLOURS[algorithm], name)
    at_one = by_name["Vegas, load 1"].waymark * PAPER_RATIO[1.0]
    axes.plot([1.0], [at_one], **plots.PAPER, label="paper: 14.09 × Vegas")
    plots.finish(
        axes,
        title="Chan 2004, figure 3.10: parking lot, average throughput against backward load",
        x="backward traffic load of each hop (of 1.6 Mb/s)",
        y="average throughput (kb/s)",
        legend_title=plots.mean_of(len(runs["vegas load=1"])),
    )
    axes.set_ylim(0, 1700)
    return figure


EXPERIMENT = Experiment(
    id="chan/fig3.10",
    paper="Chan 2004, figure 3.10 (section 3.5.1)",
    claim="Over three loaded hops RoVegas gets more than Vegas, 14 times as much at load 1",
    parameters=net.PARAMETERS | {"loads": list(LOADS["full"]), "end_s": END_S},
    seeds={"quick": 2, "full": 10},
    scenarios=scenarios,
    rows=rows,
    draw=draw,
    expectations=(
        Expectation(
            "RoVegas gets more than Vegas at every load above 0",
            "any amount more, on the mean of the seeds",
            lambda row: all(
                r.waymark > 1
                for name, r in row.items()
                if name.startswith("RoVegas/Vegas") and not name.endswith("load 0")
            ),
        ),
        Expectation(
            "RoVegas gets 14.09 times what Vegas gets at load 1",
            "within 15 %: one run of 200 s in the paper, and the seeds differ",
            lambda row: abs((row["RoVegas/Vegas, load 1"].ratio or 0) - 1) <= 0.15,
        ),
    ),
    choices=net.CHOICES,
    notes=(
        "The printed 14.09 is not explained, and does not fit the rest: times the 80 kb/s that "
        "ns-2 gives Vegas (76 ± 7 over six seeds) it would be over 1100 kb/s, but at load 0.8 "
        "figure 3.9 leaves RoVegas 3.46 times 231, that is 799. No reading of (3.3) gives it: with"
        " means over a round RoVegas gets 341 kb/s, with the newest RTT 301, without the limit to "
        "growth of section 3.4.2 347 (four seeds). A misprint of 4.09 would fit."
    ),
)
