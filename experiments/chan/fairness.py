"""What figures 3.14 and 3.15 of Chan 2004 have in common: four variants, shares, Jain's index."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from matplotlib.figure import Figure

from experiments.chan import single_bottleneck as net
from waymark import Expectation, Row, Runs, Scenario, Topology, criteria, plots
from waymark.analysis.fairness import jain

FLOWS = 5


class Variant(NamedTuple):
    """An algorithm with its thresholds."""

    algorithm: net.Algorithm
    alpha: int
    beta: int

    @property
    def label(self) -> str:
        """``"Vegas (1, 3)"``."""
        return f"{plots.NAMES[self.algorithm]} ({self.alpha}, {self.beta})"


VARIANTS = (
    Variant("vegas", 1, 3),
    Variant("vegas", 2, 2),
    Variant("rovegas", 1, 3),
    Variant("rovegas", 2, 2),
)

JAIN = tuple(f"{variant.label}, Jain's index" for variant in VARIANTS)
FAIR = 0.99


def scenarios(
    network: Topology, starts_s: Sequence[float], end_s: float, seed: int
) -> Mapping[str, Scenario]:
    """One run per variant: flows s1 -> d1, s2 -> d2, … that start at these times."""
    return {
        variant.label: Scenario(
            variant.label,
            network,
            end_s,
            flows=tuple(
                replace(
                    net.flow(variant.algorithm),
                    source=f"s{number}",
                    target=f"d{number}",
                    start_s=start_s,
                    settings={"alpha": variant.alpha, "beta": variant.beta},
                )
                for number, start_s in enumerate(starts_s, start=1)
            ),
            seed=seed,
        )
        for variant in VARIANTS
    }


def rows(
    runs: Runs, from_s: float, to_s: float, ns2: Mapping[str, float] | None = None
) -> list[Row]:
    """Jain's index and each flow's share."""
    table: list[Row] = []
    for label, results in runs.items():
        shares = [[r.throughput_bps(f, from_s, to_s) / 1e3 for f in range(FLOWS)] for r in results]
        fairness = [jain(each) for each in shares]
        table.append(Row.of(f"{label}, Jain's index", "1", fairness, ns2=(ns2 or {}).get(label)))
        for flow in range(FLOWS):
            values = [each[flow] for each in shares]
            table.append(Row.of(f"{label}, flow {flow + 1}", "kb/s", values))
    return table


def draw(runs: Runs, table: Sequence[Row], title: str, end_s: float) -> Figure:
    """Each flow's throughput over time, one panel per variant."""
    figure = plots.new_figure(9.0, 6.0)
    panels = figure.subplots(2, 2, sharex=True, sharey=True)
    by_name = {row.quantity: row for row in table}
    for axes, (label, results), variant in zip(panels.flat, runs.items(), VARIANTS, strict=True):
        result = results[0]
        for flow in range(FLOWS):
            shade = plots.shade(plots.COLOURS[variant.algorithm], 1 - 0.17 * flow)
            over_time = result.throughput_over_time_bps(flow) / 1e3
            axes.plot(result.times_s, over_time, color=shade, linewidth=1, label=f"flow {flow + 1}")
        fairness = by_name[f"{label}, Jain's index"].waymark
        axes.set_title(f"{label}: Jain's index {fairness:.3f}")
        axes.set_xlim(0, end_s)
        axes.set_ylim(0, 1700)
    for axes in panels[1]:
        axes.set_xlabel("time (s)")
    for axes in panels[:, 0]:
        axes.set_ylabel("throughput (kb/s)")
    panels[0, 1].legend(loc="upper right", fontsize="small")
    figure.suptitle(title, x=0.01, ha="left", fontsize=11)
    return figure


EXPECTATIONS = (
    Expectation(
        "The RoVegas flows with α = β = 2 share the link fairly",
        "Jain's index at least 0.99, that is a spread between flows of 10 % at most; the paper "
        "shows curves and prints no number",
        criteria.at_least(FAIR, JAIN[-1]),
    ),
    Expectation(
        "The other three variants do not",
        "Jain's index below 0.99",
        criteria.less_than(FAIR, *JAIN[:-1]),
    ),
)
