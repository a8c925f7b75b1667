"""Srijith et al., table 2 and figures 6 and 7: NewReno joins Vegas, or Vegas-A."""

from collections.abc import Sequence

from matplotlib.figure import Figure

from experiments.srijith import common
from waymark import Expectation, Experiment, Row, Runs, criteria, plots
from waymark.networks import in_file

NET = common.Joining(
    in_file("srijith"),
    ours=1,
    newreno=1,
    every_s=10.0,
    end_s=200.0,
    name=lambda label, number: label if number == 1 else f"NewReno against {label}",
)
PAPER_BPS = {"vegas": (132040, 703875), "vegasa": (199320, 633307)}
PAPER_RATIO = {"vegas": 5.33, "vegasa": 3.17}
NS2_BPS = {"vegas": (130000, 701200)}
NS2_RATIO = {"vegas": 5.396}


def rows(runs: Runs) -> list[Row]:
    """Each flow's throughput over its lifetime, and the ratio."""
    table: list[Row] = []
    for ours in common.OURS:
        name = plots.NAMES[ours]
        table += NET.rows(runs, ours, PAPER_BPS[ours], NS2_BPS.get(ours))
        own, newreno = NET.shares_bps(runs, name)
        printed, ns2 = PAPER_RATIO[ours], NS2_RATIO.get(ours)
        table.append(Row.ratio_of(f"NewReno/{name}", newreno, own, printed, ns2))
    return table


def draw(runs: Runs, _table: Sequence[Row]) -> Figure:
    """Throughput over time."""
    return NET.draw(
        runs, "Srijith et al., table 2, figures 6 and 7: NewReno from 10 s on (first seed)"
    )


EXPERIMENT = Experiment(
    id="srijith/tab2",
    also=("srijith/fig6", "srijith/fig7"),
    paper="Srijith et al., table 2 and figures 6 and 7 (section VI.B)",
    claim="NewReno takes 5.33 times what Vegas gets, but only 3.17 times what Vegas-A gets",
    parameters=common.PARAMETERS
    | {"links": "8, 0.8, 8 Mb/s; 10, 40, 10 ms one way", "join_s": 10.0, "end_s": NET.end_s},
    seeds={"quick": 1, "full": 10},
    scenarios=NET.scenarios,
    rows=rows,
    draw=draw,
    expectations=(
        Expectation(
            "NewReno takes more from Vegas than from Vegas-A",
            "of the two ratios, over all seeds",
            criteria.ascending("NewReno/Vegas-A", "NewReno/Vegas"),
        ),
        *(
            Expectation(
                f"NewReno gets {PAPER_RATIO[ours]} times the throughput of {name}",
                f"the ratio and both throughputs {common.CLOSE_CRITERION}",
                criteria.as_printed(f"NewReno/{name}", *NET.names(name), within=common.CLOSE),
            )
            for ours, name in ((a, plots.NAMES[a]) for a in common.OURS)
        ),
    ),
    choices=(common.PROFILE_CHOICE, common.RTT_CHOICE),
    notes=common.STARTS + common.AS_IN_NS2,
)
