"""What figures 6.4 to 6.7 of Chan 2004 have in common: goodput over a load or a loss rate."""

from collections.abc import Callable, Mapping, Sequence
from typing import Literal

from matplotlib.figure import Figure

from experiments.chan import heterogeneous as net
from waymark import Expectation, Experiment, Row, Runs, Scale, Scenario, all_of, at_scale, plots

Swept = Literal["load", "loss"]


def experiment(
    figure: str,
    swept: Swept,
    held: float,
    claim: str,
    expectations: Sequence[Expectation],
    *,
    ns2: Mapping[str, Mapping[float, float]] | None = None,
    red_over: Mapping[str, Mapping[float, float]] | None = None,
    notes: str = "",
) -> Experiment:
    """One of the four figures.

    Args:
        figure: ``"6.4"``.
        swept: what is on the axis; ``held`` is the other's value.
        held: see there.
        claim: of the paper.
        expectations: its claims.
        ns2: goodput in ns-2 by variant and x, kb/s.
        red_over: the paper's ratios of RedVegas, by ``"Reno"`` and ``"Vegas"``.
        notes: after what all four have in common.
    """
    xs_at = net.LOADS if swept == "load" else net.LOSSES

    def scenarios(scale: Scale, seed: int) -> Mapping[str, Scenario]:
        end_s = at_scale(net.END_S, scale)
        return {
            net.label(variant, x): net.run(
                net.label(variant, x),
                variant,
                x if swept == "load" else held,
                x if swept == "loss" else held,
                end_s,
                seed,
            )
            for variant in net.VARIANTS
            for x in at_scale(xs_at, scale)
        }

    def xs_of(runs: Runs) -> list[float]:
        return [x for x in xs_at["full"] if net.label(net.VARIANTS[0], x) in runs]

    def rows(runs: Runs) -> list[Row]:
        return net.rows(runs, xs_of(runs), ns2, red_over)

    def draw(runs: Runs, table: Sequence[Row]) -> Figure:
        drawing = plots.new_figure(9.0, 4.6)
        axes = drawing.subplots()
        net.plot(axes, table, xs_of(runs))
        other = "loss rate" if swept == "load" else "load"
        plots.finish(
            axes,
            title=f"Chan 2004, figure {figure}: goodput, {other} {held:g}",
            x="cross traffic load" if swept == "load" else "loss rate of data packets",
            y="goodput (kb/s)",
            legend_title=plots.mean_of(len(next(iter(runs.values())))),
        )
        axes.set_ylim(0, 1700)
        return drawing

    return Experiment(
        id=f"chan/fig{figure}",
        paper=f"Chan 2004, figure {figure} (section 6.4)",
        claim=claim,
        parameters=net.PARAMETERS | {swept: list(xs_at["full"]), "held": held},
        seeds={"quick": 1, "full": 3},
        scenarios=scenarios,
        rows=rows,
        draw=draw,
        expectations=expectations,
        choices=net.CHOICES,
        notes=net.VARIANTS_NOTE + notes,
    )


def everywhere(
    ratio: str, least: float, points: Callable[[float], bool] = lambda _: True
) -> Callable[[Mapping[str, Row]], bool | None]:
    """Whether a ratio, as ``"RedVegas/Reno"``, is at least so much at all measured points that
    ``points`` takes."""

    def holds(row: Mapping[str, Row]) -> bool | None:
        return all_of(value >= least for x, value in ratios(row, ratio) if points(x))

    return holds


def as_printed(off: float, *chosen: str) -> Callable[[Mapping[str, Row]], bool | None]:
    """Whether the chosen ratios are as the paper prints them, to ``off`` of it, where it does."""

    def holds(row: Mapping[str, Row]) -> bool | None:
        return all_of(
            abs(r.ratio - 1) <= off
            for name, r in row.items()
            if name.split(", ")[0] in chosen and r.paper is not None and r.ratio is not None
        )

    return holds


def ratios(row: Mapping[str, Row], ratio: str) -> list[tuple[float, float]]:
    """A ratio at each measured point."""
    prefix = f"{ratio}, "
    return [
        (float(name.removeprefix(prefix)), r.waymark)
        for name, r in row.items()
        if name.startswith(prefix)
    ]
