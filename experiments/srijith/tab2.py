"""Srijith et al., table 2 and figures 6 and 7: NewReno joins Vegas, or Vegas-A."""

from collections.abc import Mapping, Sequence

from matplotlib.figure import Figure

from experiments.srijith import common
from waymark import Expectation, Experiment, Row, Runs, Scale, Scenario, plots
from waymark.networks import dumbbell

END_S = 200.0
JOIN_S = 10.0
PAPER_BPS = {"vegas": (132040, 703875), "vegasa": (199320, 633307)}
PAPER_RATIO = {"vegas": 5.33, "vegasa": 3.17}
NS2_RATIO = {"vegas": 5.40}


def scenarios(_scale: Scale, seed: int) -> Mapping[str, Scenario]:
    """One of ours from 0 s, NewReno from 10 s."""
    network = dumbbell(2, (0.8e6, 0.04), (8e6, 0.01))
    first, second = common.starts_s(2, JOIN_S, seed)
    return {
        plots.NAMES[ours]: Scenario(
            ours,
            network,
            END_S,
            flows=(
                common.flow(1, ours, start_s=first),
                common.flow(2, "newreno", start_s=second),
            ),
            seed=seed,
        )
        for ours in common.OURS
    }


def rows(runs: Runs) -> list[Row]:
    """Each flow's throughput over its lifetime, and the ratio."""
    table: list[Row] = []
    for ours in common.OURS:
        name = plots.NAMES[ours]
        own = [common.lifetime_bps(r, 0, 0, END_S) for r in runs[name]]
        newreno = [common.lifetime_bps(r, 1, JOIN_S, END_S) for r in runs[name]]
        ratios = [a / b for a, b in zip(newreno, own, strict=True)]
        table.append(Row.of(name, "b/s", own, PAPER_BPS[ours][0]))
        table.append(Row.of(f"NewReno beside {name}", "b/s", newreno, PAPER_BPS[ours][1]))
        ratio = PAPER_RATIO[ours], NS2_RATIO.get(ours)
        table.append(Row.of(f"NewReno/{name}", "1", ratios, *ratio))
    return table


def draw(runs: Runs, _table: Sequence[Row]) -> Figure:
    """Throughput over time."""
    return common.draw_throughputs(
        runs,
        {label: (label, "NewReno") for label in runs},
        lambda label, index: plots.COLOURS[
            "newreno" if index else next(a for a in common.OURS if plots.NAMES[a] == label)
        ],
        "Srijith et al., table 2, figures 6 and 7: NewReno from 10 s on (first seed)",
        END_S,
    )


EXPERIMENT = Experiment(
    id="srijith/tab2",
    also=("srijith/fig6", "srijith/fig7"),
    paper="Srijith et al., table 2 and figures 6 and 7 (section VI.B)",
    claim="NewReno takes 5.33 times what Vegas gets, but only 3.17 times what Vegas-A gets",
    parameters=common.PARAMETERS
    | {"links": "8, 0.8, 8 Mb/s; 10, 40, 10 ms one way", "join_s": JOIN_S, "end_s": END_S},
    seeds={"quick": 1, "full": 10},
    scenarios=scenarios,
    rows=rows,
    draw=draw,
    expectations=(
        Expectation(
            "NewReno takes less from Vegas-A than from Vegas",
            "on the mean of the seeds",
            lambda row: row["NewReno/Vegas-A"].waymark < row["NewReno/Vegas"].waymark,
        ),
        Expectation(
            "NewReno/Vegas is 5.33",
            "within 10 %: two flows, one of them losing packets",
            lambda row: abs((row["NewReno/Vegas"].ratio or 0) - 1) <= 0.1,
        ),
        Expectation(
            "NewReno/Vegas-A is 3.17",
            "within 15 %: the details of Vegas-A are less sure than those of Vegas",
            lambda row: abs((row["NewReno/Vegas-A"].ratio or 0) - 1) <= 0.15,
        ),
    ),
    choices=(common.RTT_CHOICE,),
    notes="Seeds after the first start each flow up to 0.1 s later.",
)
