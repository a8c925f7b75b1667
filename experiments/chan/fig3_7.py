"""Chan 2004, figure 3.7: average throughput against the load of the way back."""

from collections.abc import Mapping, Sequence

from matplotlib.figure import Figure

from experiments.chan import single_bottleneck as net
from waymark import Expectation, Experiment, Row, Runs, Scale, Scenario, at_scale, mean_sd, plots

LOADS: Mapping[Scale, tuple[float, ...]] = {
    "quick": (0.0, 0.5, 1.0),
    "full": (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0),
}
END_S = 200.0

NS2_VEGAS_KBPS = {0.0: 1598, 0.5: 1246, 1.0: 231}
PAPER_RATIO = {1.0: 4.1}


def scenarios(scale: Scale, seed: int) -> Mapping[str, Scenario]:
    """One run a load and algorithm; all traffic from 0 s."""
    return {
        label(algorithm, load): net.run(
            label(algorithm, load),
            algorithm,
            net.topology(),
            net.backward_traffic(load),
            END_S,
            seed,
        )
        for load in at_scale(LOADS, scale)
        for algorithm in net.ALGORITHMS
    }


def label(algorithm: net.Algorithm, load: float) -> str:
    """The label of a run."""
    return f"{algorithm} load={load:g}"


def rows(runs: Runs) -> list[Row]:
    """Average throughput over 200 s, and RoVegas' ratio to Vegas, at each load."""
    table: list[Row] = []
    for load in loads_of(runs):
        vegas, rovegas = (kbps(runs, algorithm, load) for algorithm in net.ALGORITHMS)
        ratios = [ro / ve for ro, ve in zip(rovegas, vegas, strict=True)]
        ns2 = NS2_VEGAS_KBPS.get(load)
        table.append(Row(f"Vegas, load {load:g}", "kb/s", None, ns2, *mean_sd(vegas)))
        table.append(Row(f"RoVegas, load {load:g}", "kb/s", None, None, *mean_sd(rovegas)))
        paper = PAPER_RATIO.get(load)
        table.append(Row(f"RoVegas/Vegas, load {load:g}", "1", paper, None, *mean_sd(ratios)))
    return table


def loads_of(runs: Runs) -> list[float]:
    """The loads that were run."""
    return [load for load in LOADS["full"] if label("vegas", load) in runs]


def kbps(runs: Runs, algorithm: net.Algorithm, load: float) -> list[float]:
    """Average throughput, one a seed."""
    return [r.throughput_bps(0, 0.0, END_S) / 1e3 for r in runs[label(algorithm, load)]]


def draw(runs: Runs, table: Sequence[Row]) -> Figure:
    """Throughput against load, with the seeds' deviation."""
    figure = plots.new_figure()
    axes = figure.subplots()
    loads = loads_of(runs)
    by_name = {row.quantity: row for row in table}
    for algorithm in net.ALGORITHMS:
        name = plots.NAMES[algorithm]
        points = [by_name[f"{name}, load {load:g}"] for load in loads]
        means, colour = [row.waymark for row in points], plots.COLOURS[algorithm]
        axes.plot(loads, means, color=colour, marker="o", markersize=4, label=name)
        deviations = [row.waymark_sd or 0 for row in points]
        axes.errorbar(loads, means, yerr=deviations, color=colour, capsize=3, fmt="none")
    axes.plot(
        list(NS2_VEGAS_KBPS), list(NS2_VEGAS_KBPS.values()), **plots.NS2, label="Vegas in ns-2.35"
    )
    at_one = by_name["Vegas, load 1"].waymark * PAPER_RATIO[1.0]
    axes.plot([1.0], [at_one], **plots.PAPER, label="paper: 4.1 × Vegas")
    plots.finish(
        axes,
        title="Chan 2004, figure 3.7: average throughput against backward load",
        x="backward traffic load (of 1.6 Mb/s)",
        y="average throughput (kb/s)",
        legend_title=f"mean of {len(runs['vegas load=1'])} seeds\nbars: ± one deviation",
    )
    axes.set_xlim(-0.02, 1.02)
    axes.set_ylim(0, 1700)
    return figure


EXPERIMENT = Experiment(
    id="chan/fig3.7",
    paper="Chan 2004, figure 3.7 (section 3.5.1)",
    claim="At every backward load above 0 RoVegas gets more than Vegas, 4.1 times at load 1",
    parameters=net.PARAMETERS | {"loads": list(LOADS["full"]), "end_s": END_S, "queue_packets": 50},
    seeds={"quick": 2, "full": 20},
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
            "RoVegas gets 4.1 times what Vegas gets at load 1",
            "within 15 %: one run of 200 s in the paper, and the seeds differ",
            lambda row: abs((row["RoVegas/Vegas, load 1"].ratio or 0) - 1) <= 0.15,
        ),
    ),
    choices=(net.VBR_CHOICE,),
    notes=(
        "Bursts are whole packets, "
        "at least one: at load 1 the source sends 1.3 % more than the link carries, in ns-2 too."
    ),
)
