"""Chan 2004, figure 3.5: RoVegas and Vegas in asymmetric networks."""

import statistics
from collections.abc import Mapping, Sequence

from matplotlib.figure import Figure

from experiments.chan import asymmetric
from waymark import Expectation, Experiment, Row, Runs, Scale, Scenario, criteria, plots

PAPER_RATIO = {2: 2, 4: 2, 8: 3, 16: 3, 32: 3}
PAPER_KBPS = {2: 1587.2}
"""Printed in the text; the others are curves."""

RATIOS = {k: f"RoVegas/Vegas, k = {k}" for k in asymmetric.FACTORS}


def scenarios(_scale: Scale, seed: int) -> Mapping[str, Scenario]:
    """One run of each algorithm per factor."""
    return asymmetric.scenarios("vegas", seed) | asymmetric.scenarios("rovegas", seed)


def rows(runs: Runs) -> list[Row]:
    """RoVegas' throughput, and its ratio to Vegas'."""
    table: list[Row] = []
    for k in asymmetric.FACTORS:
        rovegas = asymmetric.steady_kbps(runs, "rovegas", k)
        vegas = asymmetric.steady_kbps(runs, "vegas", k)
        table.append(Row.of(f"RoVegas, k = {k}", "kb/s", rovegas, PAPER_KBPS.get(k)))
        table.append(Row.ratio_of(RATIOS[k], rovegas, vegas, PAPER_RATIO[k]))
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
        "Chan 2004, figure 3.5: RoVegas, reverse path k times slower",
        ((times_vegas, plots.PAPER, "paper: about 2, 2, 3, 3, 3 × Vegas"),),
    )


EXPERIMENT = Experiment(
    id="chan/fig3.5",
    paper="Chan 2004, figure 3.5 (section 3.5.1)",
    claim=(
        "Where the reverse path is k times slower, RoVegas gets about 2 times (k = 2, 4) or 3 "
        "times "
        "(k = 8, 16, 32) what Vegas gets"
    ),
    parameters=asymmetric.parameters(),
    seeds={"quick": 1, "full": 1},
    scenarios=scenarios,
    rows=rows,
    draw=draw,
    expectations=(
        Expectation(
            "RoVegas gets more than Vegas, and at most 3 times as much (3.21)",
            "more than 1 and at most 3, at every k; the option's octets are taken off",
            criteria.together(
                criteria.more_than(1, *RATIOS.values()), criteria.at_most(3, *RATIOS.values())
            ),
        ),
        Expectation(
            "The ratio is about 2 at k = 2 and 4, about 3 at k = 8, 16 and 32",
            "within 1 %: nothing is random, and the option takes 0.8 % off a whole number of "
            "packets per ACK",
            criteria.as_printed(*RATIOS.values(), within=0.01),
        ),
        Expectation(
            "At k = 2 RoVegas gets 1587.2 kb/s, as if the reverse path were not congested",
            "within 0.08 kb/s, one packet in 100 s",
            criteria.as_printed("RoVegas, k = 2", within_absolute=0.08),
        ),
    ),
    notes=(
        "Nothing in this network is random: one seed is enough. At k = 4 the ratio depends on how "
        "(3.3) is read: Actual' is the window over the newest RTT less its QT_b. With a round's "
        "means and what the round sent, as in ns-2's Vegas, slow start ends at a window of 33.16, "
        "an ACK stands for 2 or 3 packets, the window may no longer grow (section 3.4.2), and the "
        "ratio stays at 2.55. At k = 8 and above the ratio is 3 because growth ends where the "
        "window is more than 2 packets ahead of what is outstanding, as section 3.4.2 has it. With "
        "3 packets, as in ns-2's Vegas, the ratios would be 1.94, 2.69, 3.97, 3.97 and 3.97."
    ),
)
