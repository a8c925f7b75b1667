"""Loss, throughput and fairness over one quantity: what figures 4.3 to 4.16 have in common."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from experiments.dahal import paths, wireless
from experiments.dahal import wired as net
from waymark import Choice, Expectation, Experiment, Result, Row, Runs, Scale, Scenario, plots

Metric = Literal["loss", "throughput", "fairness"]
METRICS: Mapping[Metric, tuple[str, Callable[[Result], float]]] = {
    "loss": ("%", net.loss_percent),
    "throughput": ("% of capacity", net.utilisation_percent),
    "fairness": ("1", net.fairness),
}
"""Unit and measure."""

Numbers = Mapping[tuple[str, float, Metric], float]
"""Printed numbers by line, x and metric."""


@dataclass(frozen=True)
class Setup:
    """What belongs to a chapter's network.

    Attributes:
        metrics: unit and measure of each.
        parameters, choices: in common.
        measures: how they are measured, in a sentence.
        seeds: by scale.
    """

    metrics: Mapping[Metric, tuple[str, Callable[[Result], float]]]
    parameters: Mapping[str, object]
    choices: Sequence[Choice]
    measures: str
    seeds: Mapping[Scale, int]


WIRED = Setup(METRICS, net.PARAMETERS, net.CHOICES, net.MEASURES, {"quick": 1, "full": 5})
WIRELESS = Setup(
    {
        "loss": ("%", net.loss_percent),
        "throughput": ("% of capacity", wireless.utilisation_percent),
        "fairness": ("1", wireless.fairness),
    },
    wireless.PARAMETERS,
    wireless.CHOICES,
    wireless.MEASURES,
    {"quick": 1, "full": 5},
)
SCTP = Setup(
    {
        "loss": ("%", paths.loss_percent),
        "throughput": ("% of capacity", paths.utilisation_percent),
        "fairness": ("1", paths.fairness),
    },
    paths.PARAMETERS,
    paths.CHOICES,
    paths.MEASURES,
    {"quick": 1, "full": 10},
)


MARKERS = ("o", "s", "^", "v", "P")
"""Of the lines, in their order; the paper's and ns-2's numbers are diamonds and crosses."""


def label(line: str, x: str, value: float) -> str:
    """A point's name."""
    return f"{line}, {x} = {value:g}"


def experiment(
    *,
    figures: Sequence[str],
    section: str,
    claim: str,
    x: str,
    x_title: str,
    values: Mapping[Scale, Sequence[float]],
    lines: Mapping[str, str],
    run: Callable[[str, str, float, int], Scenario],
    parameters: Mapping[str, object],
    expectations: Sequence[Expectation],
    choices: Sequence[Choice] = (),
    paper: Numbers | None = None,
    ns2: Numbers | None = None,
    notes: str = "",
    setup: Setup = WIRED,
) -> Experiment:
    """Three figures that show the same runs.

    Args:
        figures: their numbers; the first names the experiment.
        section: of the thesis.
        claim: of the thesis.
        x: the swept quantity's symbol.
        x_title: what it is.
        values: which, by scale.
        lines: names, with their colours.
        run: the scenario from its name, the line, the value and the seed.
        parameters: in addition to the common ones.
        expectations: the claims.
        choices: in addition to the common ones.
        paper, ns2: numbers that are known.
        notes: after what all have in common.
        setup: the chapter's.
    """

    def scenarios(scale: Scale, seed: int) -> Mapping[str, Scenario]:
        return {
            label(line, x, value): run(label(line, x, value), line, value, seed)
            for line in lines
            for value in values.get(scale, values["full"])
        }

    def rows(runs: Runs) -> list[Row]:
        return [
            Row.of(
                f"{label(line, x, value)}, {metric}",
                unit,
                [measure(result) for result in runs[label(line, x, value)]],
                (paper or {}).get((line, value, metric)),
                (ns2 or {}).get((line, value, metric)),
            )
            for metric, (unit, measure) in setup.metrics.items()
            for line in lines
            for value in values["full"]
            if label(line, x, value) in runs
        ]

    def draw(_runs: Runs, table: Sequence[Row]) -> Figure:
        by_name = {row.quantity: row for row in table}
        figure = plots.new_figure(11.0, 3.6)
        for axes, (metric, (unit, _)) in zip(
            figure.subplots(1, len(setup.metrics)), setup.metrics.items(), strict=True
        ):
            for (line, colour), marker in zip(lines.items(), MARKERS, strict=False):
                points = {
                    value: by_name[f"{label(line, x, value)}, {metric}"]
                    for value in values["full"]
                    if f"{label(line, x, value)}, {metric}" in by_name
                }
                plots.series(axes, points, colour, line, marker=marker)
            axes.set_xlabel(x_title)
            axes.set_ylabel(metric if unit == "1" else f"{metric} ({unit})")
            axes.set_ylim(0, {"loss": None, "throughput": 105, "fairness": 1.05}[metric])
        _legend(figure, [row for row in table if row.paper is not None or row.ns2 is not None])
        title = f"Dahal 2007, figures {', '.join(figures)}"
        figure.suptitle(title, x=0.01, ha="left", fontsize=11)
        return figure

    first, *others = (f"dahal/fig{number}" for number in figures)
    return Experiment(
        id=first,
        also=tuple(others),
        paper=f"Dahal 2007, figures {', '.join(figures)} ({section})",
        claim=claim,
        parameters={**setup.parameters, x: list(values["full"]), **parameters},
        seeds=setup.seeds,
        scenarios=scenarios,
        rows=rows,
        draw=draw,
        expectations=expectations,
        choices=(*setup.choices, *choices),
        notes=setup.measures + notes,
    )


def _legend(figure: Figure, known: Sequence[Row]) -> None:
    """Below the panels: each line once, and what the marks of its colour are."""
    handles, labels = figure.axes[0].get_legend_handles_labels()
    lines = {name: handle for handle, name in zip(handles, labels, strict=True) if "," not in name}
    for style, name, has in (
        (plots.PAPER, "paper", any(row.paper is not None for row in known)),
        (plots.NS2, "ns-2.35", any(row.ns2 is not None for row in known)),
    ):
        if has:
            marks: dict[str, Any] = style | {"color": plots.COLOURS["paper"]}
            lines[name] = Line2D([], [], **marks)
    if len(lines) > 1:
        figure.legend(
            lines.values(),
            lines.keys(),
            loc="outside lower center",
            ncols=len(lines),
            fontsize="small",
        )


def points(row: Mapping[str, Row], line: str, metric: Metric) -> dict[float, float]:
    """Waymark's numbers of a line over x."""
    found = {
        name.removesuffix(f", {metric}").rpartition(" = ")[2]: one.waymark
        for name, one in row.items()
        if name.startswith(f"{line}, ") and name.endswith(f", {metric}")
    }
    return {float(value): number for value, number in found.items()}
