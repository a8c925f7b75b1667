"""Figures 3.7, 3.10 and 4.3 of Chan 2004: a proposal and Vegas against the backward load."""

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from matplotlib.figure import Figure

from waymark import (
    Choice,
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

LOADS: Mapping[Scale, tuple[float, ...]] = {
    "quick": (0.0, 0.5, 1.0),
    "full": (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0),
}
END_S = 200.0

A = TypeVar("A", bound=str)


def experiment(
    figure: str,
    where: str,
    claim: str,
    algorithms: Sequence[A],
    make: Callable[[str, A, float, int], Scenario],
    parameters: Mapping[str, object],
    *,
    paper: float,
    at_load_1: Expectation,
    ns2: Mapping[float, float],
    seeds: int,
    title: str,
    x: str,
    top_kbps: float,
    choices: Sequence[Choice],
    notes: str,
) -> Experiment:
    """One of the figures.

    Args:
        figure: ``"3.10"``.
        where: the section.
        claim: of the paper.
        algorithms: Vegas, and the proposal.
        make: a run of :data:`END_S` from its name, algorithm, load and seed.
        parameters: of the network.
        paper: the printed ratio at load 1.
        at_load_1: the claim on the ratio at load 1.
        ns2: Vegas' kb/s in ns-2.35, by load.
        seeds: at full scale.
        title: of the picture, after the figure's number.
        x: what the load is of.
        top_kbps: end of the axis.
        choices: what the paper leaves open.
        notes: on the results.
    """
    own = plots.NAMES[algorithms[1]]

    def scenarios(scale: Scale, seed: int) -> Mapping[str, Scenario]:
        return {
            label(a, load): make(label(a, load), a, load, seed)
            for load in at_scale(LOADS, scale)
            for a in algorithms
        }

    def loads_of(runs: Runs) -> list[float]:
        return [load for load in LOADS["full"] if label("vegas", load) in runs]

    def rows(runs: Runs) -> list[Row]:
        table: list[Row] = []
        for load in loads_of(runs):
            vegas, proposal = (
                [r.throughput_bps(0, 0, END_S) / 1e3 for r in runs[label(a, load)]]
                for a in algorithms
            )
            name = f"load {load:g}"
            printed = paper if load == 1 else None
            table += [
                Row.of(f"Vegas, {name}", "kb/s", vegas, ns2=ns2.get(load)),
                Row.of(f"{own}, {name}", "kb/s", proposal),
                Row.ratio_of(f"{own}/Vegas, {name}", proposal, vegas, printed),
            ]
        return table

    def draw(runs: Runs, table: Sequence[Row]) -> Figure:
        drawing = plots.new_figure()
        axes = drawing.subplots()
        by_name = {row.quantity: row for row in table}
        for algorithm in algorithms:
            name = plots.NAMES[algorithm]
            points = {load: by_name[f"{name}, load {load:g}"] for load in loads_of(runs)}
            plots.series(axes, points, plots.COLOURS[algorithm], name)
        at_one = by_name["Vegas, load 1"].waymark * paper
        if at_one <= top_kbps:
            axes.plot([1.0], [at_one], **plots.PAPER, label=f"paper: {paper:g} × Vegas")
        plots.finish(
            axes,
            title=f"Chan 2004, figure {figure}: {title}",
            x=x,
            y="average throughput (kb/s)",
            legend_title=plots.mean_of(len(runs[label("vegas", 1.0)])),
        )
        axes.set_ylim(0, top_kbps)
        return drawing

    more = Expectation(
        f"{own} gets more than Vegas at every load above 0",
        "any amount more, by the ratio of the means over the seeds",
        criteria.more_than(1, *(f"{own}/Vegas, load {load:g}" for load in LOADS["full"] if load)),
    )
    return Experiment(
        id=f"chan/fig{figure}",
        paper=f"Chan 2004, figure {figure} (section {where})",
        claim=claim,
        parameters={**parameters, "loads": list(LOADS["full"]), "end_s": END_S},
        seeds={"quick": 2, "full": seeds},
        scenarios=scenarios,
        rows=rows,
        draw=draw,
        expectations=(more, at_load_1),
        choices=choices,
        notes=notes,
    )


def label(algorithm: str, load: float) -> str:
    """The label of a run."""
    return f"{algorithm} load={load:g}"
