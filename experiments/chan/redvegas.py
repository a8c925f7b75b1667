"""What figures 6.4 to 6.7 of Chan 2004 have in common: goodput over a load or a loss rate."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, ScalarFormatter

from experiments.chan import heterogeneous as net
from waymark import Expectation, Experiment, Row, Runs, Scale, Scenario, at_scale, plots
from waymark.criteria import Criterion

Swept = Literal["load", "loss"]

WITHIN = 0.05
AS_PRINTED = (
    "within 5 %: the paper's are single runs of 10 h, whose ratios deviate by 1 % (without RFC "
    "2988) to 4 %"
)


@dataclass(frozen=True)
class Claim:
    """A claim of the paper about a ratio of goodputs, to be judged in each setting.

    Attributes:
        claim: one sentence.
        criterion: what the table must show, and why that.
        ratio: whose goodput over whose, as in :data:`net.RATIOS`.
        at: the points of the sweep that the claim is about, or ``"least"`` and ``"most"``.
        shown_by: makes the criterion for the rows' names.
    """

    claim: str
    criterion: str
    ratio: tuple[str, str]
    at: Sequence[float | str]
    shown_by: Callable[..., Criterion]

    def in_setting(self, setting: str) -> Expectation:
        """The claim in one of :data:`net.COMPARED`."""
        rows = (net.ratio_label(*self.ratio, setting, x) for x in self.at)
        variant = setting.strip().removeprefix("with ")
        return Expectation(self.claim, self.criterion, self.shown_by(*rows), variant)


def experiment(
    figure: str,
    swept: Swept,
    held: float,
    claim: str,
    claims: Sequence[Claim],
    *,
    ns2: Mapping[str, Mapping[float, float]],
    printed: Mapping[str, Mapping[float, float]] | None = None,
    extremes: Mapping[tuple[str, str], tuple[float, float]] | None = None,
    notes: str = "",
) -> Experiment:
    """One of the four figures.

    Args:
        figure: ``"6.4"``.
        swept: what is on the axis.
        held: the other's value.
        claim: what the paper says that the figure shows.
        claims: it, to be judged.
        ns2: goodput in ns-2 by variant and x, kb/s.
        printed: ratios by name and x.
        extremes: the least and the greatest ratio over the sweep, as printed.
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
        table = net.rows(runs, xs_of(runs), ns2, printed or {})
        return table + _extremes(table, xs_of(runs), extremes or {})

    def draw(runs: Runs, table: Sequence[Row]) -> Figure:
        drawing = plots.new_figure(9.5, 8.0)
        upper, lower = drawing.subplots(2, 1, sharex=True)
        other = "loss rate" if swept == "load" else "load"
        net.plot_goodput(upper, table, xs_of(runs))
        plots.finish(
            upper,
            title=f"Chan 2004, figure {figure}: goodput, {other} {held:g}",
            x="",
            y="goodput (kb/s)",
            legend_title=plots.mean_of(len(next(iter(runs.values())))),
        )
        upper.set_ylim(0, 1700)
        net.plot_ratios(lower, table, xs_of(runs))
        plots.finish(
            lower,
            title="ratios, with 95 % confidence intervals",
            x="cross traffic load" if swept == "load" else "loss rate of data packets",
            y="ratio of goodputs (log scale)",
        )
        lower.set_yscale("log")
        lower.yaxis.set_major_locator(
            LogLocator(subs=(1.0, 1.2, 1.4, 1.7, 2.0, 2.4, 2.8, 5.0, 7.0))
        )
        lower.yaxis.set_major_formatter(ScalarFormatter())
        lower.yaxis.set_minor_locator(LogLocator(subs=()))
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
        expectations=[
            one.in_setting(setting)
            for setting in net.COMPARED
            for one in claims
            if net.is_compared(*one.ratio, setting)
        ],
        choices=net.CHOICES,
        notes=net.VARIANTS_NOTE + notes,
    )


def _extremes(
    table: Sequence[Row],
    xs: Sequence[float],
    printed: Mapping[tuple[str, str], tuple[float, float]],
) -> list[Row]:
    """The least and the greatest ratio over the sweep in each setting."""
    by_name = {row.quantity: row for row in table}
    found: list[Row] = []
    for (above, below), (least, most) in printed.items():
        for setting in net.COMPARED:
            if not net.is_compared(above, below, setting):
                continue
            points = [by_name[net.ratio_label(above, below, setting, x)] for x in xs]
            points.sort(key=lambda row: row.waymark)
            for row, name, paper in ((points[0], "least", least), (points[-1], "most", most)):
                quantity = net.ratio_label(above, below, setting, name)
                found.append(replace(row, quantity=quantity, paper=paper))
    return found
