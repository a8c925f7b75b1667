"""Chan 2004, figure 3.5: RoVegas in asymmetric networks, beside Vegas."""

import statistics
from collections.abc import Mapping, Sequence

from matplotlib.figure import Figure

from experiments.chan import asymmetric
from waymark import Expectation, Experiment, Row, Runs, Scale, Scenario, mean_sd, plots

PAPER_RATIO = {2: 2, 4: 2, 8: 3, 16: 3, 32: 3}
PAPER_KBPS: dict[int, float | None] = {2: 1587.2}
"""Printed in the text; the others are curves."""


def scenarios(_scale: Scale, seed: int) -> Mapping[str, Scenario]:
    """One run of each algorithm a factor."""
    return asymmetric.scenarios("vegas", seed) | asymmetric.scenarios("rovegas", seed)


def rows(runs: Runs) -> list[Row]:
    """RoVegas' throughput, and its ratio to Vegas'."""
    table: list[Row] = []
    for k in asymmetric.FACTORS:
        rovegas = asymmetric.steady_kbps(runs, "rovegas", k)
        vegas = asymmetric.steady_kbps(runs, "vegas", k)
        ratios = [ro / ve for ro, ve in zip(rovegas, vegas, strict=True)]
        table.append(Row(f"RoVegas, k = {k}", "kb/s", PAPER_KBPS.get(k), None, *mean_sd(rovegas)))
        table.append(Row(f"RoVegas/Vegas, k = {k}", "1", PAPER_RATIO[k], None, *mean_sd(ratios)))
    return table


def draw(runs: Runs, _rows: Sequence[Row]) -> Figure:
    """Throughput over time."""
    times_vegas = {
        k: ratio * statistics.mean(asymmetric.steady_kbps(runs, "vegas", k))
        for k, ratio in PAPER_RATIO.items()
    }
    return asymmetric.draw_curves(
        runs,
        "rovegas",
        "Chan 2004, figure 3.5: RoVegas, way back k times slower",
        ((times_vegas, plots.PAPER, "paper: about 2, 2, 3, 3, 3 × Vegas"),),
    )


EXPERIMENT = Experiment(
    id="chan/fig3.5",
    paper="Chan 2004, figure 3.5 (section 3.5.1)",
    claim="Where the way back is k times slower, RoVegas gets 2 to 3 times what Vegas gets",
    parameters=asymmetric.parameters(),
    seeds={"quick": 1, "full": 1},
    scenarios=scenarios,
    rows=rows,
    draw=draw,
    expectations=(
        Expectation(
            "RoVegas is above Vegas, and at most 3 times: 1 < F <= 3 (eq. 3.21)",
            "1 to 3.05: the bound is of a steady state, and 100 s are a finite average",
            lambda row: all(
                1 < row[f"RoVegas/Vegas, k = {k}"].waymark <= 3.05 for k in asymmetric.FACTORS
            ),
        ),
        Expectation(
            "The ratio is about 2 at k = 2 and 4, about 3 at k = 8, 16 and 32",
            "within 10 %: 'about' is the paper's word",
            lambda row: all(
                abs((row[f"RoVegas/Vegas, k = {k}"].ratio or 0) - 1) <= 0.1
                for k in asymmetric.FACTORS
            ),
        ),
    ),
    notes=(
        "Nothing in this network is random: one seed is enough. The ratio at k = 4 shows how (3.3)"
        " is meant: Actual' is the window over the newest RTT less its QT_b. With a round's means "
        "and what the round sent, as ns-2's Vegas reckons, slow start ends at a window of 33.16 "
        "and the ratio is 2.55: where an ACK stands for 2 or 3 packets the window may not grow "
        "(section 3.4.2), and stays."
    ),
)
