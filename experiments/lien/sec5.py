"""Lien and Chung, section V: the average throughput over the simulations."""

from collections.abc import Mapping, Sequence
from statistics import fmean

from matplotlib.figure import Figure

from experiments.lien import common, fig4_5, fig4_6, fig4_8
from experiments.lien import multiple_sessions as net
from waymark import (
    Choice,
    Expectation,
    Experiment,
    Row,
    Runs,
    Scale,
    Scenario,
    criteria,
    plots,
)
from waymark.traffic import Algorithm

SIMULATIONS = {
    "2A (figure 4.5)": fig4_5.panels,
    "2B (figure 4.6)": fig4_6.panels,
    "2C (figure 4.8)": fig4_8.panels,
}
ALL = "all"
AMPLE = "2A with a buffer of 100"
ALGORITHMS: tuple[Algorithm, ...] = ("reno", "vegas", "muzha")
PAPER = {"reno": 1.25}


def scenarios(scale: Scale, seed: int) -> Mapping[str, Scenario]:
    """The runs of figures 4.5, 4.6 and 4.8."""
    sweeps = [sweep for panels in SIMULATIONS.values() for sweep in panels(scale)]
    return net.runs_of(sweeps, ALGORITHMS, seed)


def rows(runs: Runs) -> list[Row]:
    """Mean throughput over the points of each simulation and of all, and Muzha's ratios."""
    points = {
        simulation: [
            sweep.label(x)
            for sweep in panels("full")
            for x in sweep.points
            if f"Muzha, {sweep.label(x)}" in runs
        ]
        for simulation, panels in SIMULATIONS.items()
    }
    points[ALL] = [label for labels in points.values() for label in labels]
    points[AMPLE] = [points["2A (figure 4.5)"][-1]]
    table: list[Row] = []
    for simulation, labels in points.items():
        rates = {a: _mean_kbps(runs, plots.NAMES[a], labels) for a in ALGORITHMS}
        table += [
            Row.of(f"{plots.NAMES[a]}, {simulation}", "kb/s per flow", rates[a]) for a in ALGORITHMS
        ]
        table += [
            Row.ratio_of(
                f"Muzha/{plots.NAMES[other]}, {simulation}",
                rates["muzha"],
                rates[other],
                PAPER.get(other) if simulation == ALL else None,
            )
            for other in ("reno", "vegas")
        ]
    return table


def _mean_kbps(runs: Runs, name: str, labels: Sequence[str]) -> list[float]:
    """The mean over points, by seed."""
    points = [[net.measure("throughput", r) for r in runs[f"{name}, {label}"]] for label in labels]
    return [fmean(each) for each in zip(*points, strict=True)]


def draw(_runs: Runs, table: Sequence[Row]) -> Figure:
    """Muzha's ratios to the others."""
    figure = plots.new_figure()
    axes = figure.subplots()
    plots.compare(axes, [row for row in table if "/" in row.quantity])
    axes.axvline(1, color=plots.COLOURS["model"], linewidth=0.8)
    plots.finish(
        axes,
        title="Lien and Chung, section V: average throughput",
        x="Muzha's over that of Reno or Vegas",
        y="",
    )
    axes.set_xlim(0)
    return figure


EXPERIMENT = Experiment(
    id="lien/sec5",
    paper="Lien and Chung, section V",
    claim="On average Muzha has about 25 % more throughput than Reno, slightly less than Vegas, "
    "and more than Vegas with sufficient resources",
    parameters=net.PARAMETERS | {"simulations": list(SIMULATIONS)},
    seeds=net.SEEDS,
    scenarios=scenarios,
    rows=rows,
    draw=draw,
    expectations=(
        Expectation(
            "Muzha's average throughput is about 25 % above Reno's",
            "ratio within 5 % of 1.25, mean over all points of the simulations that compare "
            "throughputs",
            criteria.as_printed(f"Muzha/Reno, {ALL}", within=0.05),
        ),
        Expectation(
            "Muzha's average throughput is slightly below Vegas'",
            "ratio from 0.9 to 1, mean over the same points",
            criteria.between(0.9, 1, f"Muzha/Vegas, {ALL}"),
        ),
        Expectation(
            "While the network has sufficient resources, Muzha performs better than Vegas",
            "with the largest buffer of simulation 2A",
            criteria.more_than(1, f"Muzha/Vegas, {AMPLE}"),
        ),
    ),
    choices=(
        common.DRAI_CHOICE,
        net.LAYOUT_CHOICE,
        net.BURST_CHOICE,
        common.START_CHOICE,
        Choice(
            "which simulations",
            "all points of figures 4.5, 4.6 and 4.8, with equal weights",
            "the paper says 'a series of simulations'; these plot the average throughput of each "
            "protocol by itself",
            "see the rows of each simulation",
        ),
    ),
    notes=common.OCTETS_NOTE
    + net.SHORT_PATHS_NOTE
    + "Muzha is 16 and 9 % above Reno in simulations 2A and 2B, and 20 % below in 2C, where its "
    "losses at long delays (figure 4.8) cost more than it gains at short ones. ",
)
