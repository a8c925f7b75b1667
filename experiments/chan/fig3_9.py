"""Chan 2004, figure 3.9: throughput over a parking lot, one more hop loaded every 100 s."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.figure import Figure

from experiments.chan import parking_lot as net
from experiments.chan.single_bottleneck import ALGORITHMS, ONE_RUN, ONE_RUN_REASON
from waymark import Expectation, Experiment, Row, Runs, Scale, Scenario, criteria, plots

LOAD = 0.8
PHASE_S = 100.0
END_S = 400.0
STARTS_S = (100.0, 200.0, 300.0)
NS2_VEGAS_KBPS = (1590, 649, 336, 231)
PAPER_RATIO = (None, 2.00, 2.77, 3.46)
RATIOS = tuple(f"RoVegas/Vegas, {phase} hops loaded" for phase in range(4))


def scenarios(_scale: Scale, seed: int) -> Mapping[str, Scenario]:
    """One run of each algorithm."""
    return {a: net.run(a, a, LOAD, STARTS_S, END_S, seed) for a in ALGORITHMS}


def rows(runs: Runs) -> list[Row]:
    """Throughput in each phase, and RoVegas' ratio to Vegas."""
    table: list[Row] = []
    for phase, (ns2, ratio) in enumerate(zip(NS2_VEGAS_KBPS, PAPER_RATIO, strict=True)):
        vegas, rovegas = (_kbps(runs, a, phase) for a in ALGORITHMS)
        table.append(Row.of(f"Vegas, {phase} hops loaded", "kb/s", vegas, ns2=ns2))
        table.append(Row.of(f"RoVegas, {phase} hops loaded", "kb/s", rovegas))
        table.append(Row.ratio_of(RATIOS[phase], rovegas, vegas, ratio))
    return table


def _kbps(runs: Runs, algorithm: str, phase: int) -> list[float]:
    from_s = phase * PHASE_S
    return [r.throughput_bps(0, from_s, from_s + PHASE_S) / 1e3 for r in runs[algorithm]]


def draw(runs: Runs, table: Sequence[Row]) -> Figure:
    """Throughput over time, the first seed, and the averages of the phases."""
    figure = plots.new_figure()
    axes = figure.subplots()
    by_name = {row.quantity: row for row in table}
    middles = [(phase + 0.5) * PHASE_S for phase in range(4)]
    for algorithm in ALGORITHMS:
        name, colour = plots.NAMES[algorithm], plots.COLOURS[algorithm]
        result = runs[algorithm][0]
        over_time = result.throughput_over_time_bps(0) / 1e3
        axes.plot(result.times_s, over_time, color=plots.shade(colour, 0.5), linewidth=0.7)
        points = {at: by_name[f"{name}, {phase} hops loaded"] for phase, at in enumerate(middles)}
        plots.series(axes, points, colour, f"{name}, averages")
    vegas = np.array([by_name[f"Vegas, {phase} hops loaded"].waymark for phase in (1, 2, 3)])
    ratios = np.array(PAPER_RATIO[1:], dtype=float)
    axes.plot(middles[1:], vegas * ratios, **plots.PAPER, label="paper: 2.00, 2.77, 3.46 × Vegas")
    plots.finish(
        axes,
        title="Chan 2004, figure 3.9: parking lot, one more hop loaded every 100 s",
        x="time (s)",
        y="throughput (kb/s)",
        legend_title=f"averages of {len(runs['vegas'])} seeds; thin: the first",
    )
    axes.set_xlim(0, END_S)
    axes.set_ylim(0, 1700)
    return figure


EXPERIMENT = Experiment(
    id="chan/fig3.9",
    paper="Chan 2004, figure 3.9 (section 3.5.1)",
    claim="The more hops are loaded backward, the more RoVegas gains: 2.00, 2.77, 3.46 times",
    parameters=net.PARAMETERS | {"load": LOAD, "starts_s": list(STARTS_S), "end_s": END_S},
    seeds={"quick": 2, "full": 20},
    scenarios=scenarios,
    rows=rows,
    draw=draw,
    expectations=(
        Expectation(
            "RoVegas gets more than Vegas in every phase with traffic, and the ratio rises",
            "any amount more, by the ratios of the means over the seeds",
            criteria.together(criteria.more_than(1, *RATIOS[1:]), criteria.ascending(*RATIOS[1:])),
        ),
        Expectation(
            "The ratios are 2.00, 2.77 and 3.46",
            ONE_RUN_REASON,
            criteria.as_printed(*RATIOS[1:], within=ONE_RUN),
        ),
    ),
    choices=net.CHOICES,
)
