"""Dahal 2007, figure 5.5: fairness over the number of flows, over a wireless link."""

from collections.abc import Mapping, Sequence

from experiments.dahal import sweep
from experiments.dahal import wireless as net
from experiments.dahal.printed import as_printed
from waymark import Expectation, Row, Scale, Scenario, all_of

EXPONENT = 2.2
COUNTS: Mapping[Scale, Sequence[float]] = {"quick": (5, 25), "full": (5, 10, 15, 25, 35, 50)}
PAPER: sweep.Numbers = {
    ("RBCC-WL", 5, "fairness"): 0.24,
    ("RBCC-WL", 25, "fairness"): 0.38,
    ("RBCC-WL", 50, "fairness"): 0.48,
    ("NewReno", 5, "fairness"): 0.26,
    ("NewReno", 25, "fairness"): 0.27,
    ("NewReno", 50, "fairness"): 0.22,
    ("Vegas", 5, "fairness"): 0.24,
    ("Vegas", 25, "fairness"): 0.46,
    ("Vegas", 50, "fairness"): 0.23,
    ("SACK", 5, "fairness"): 0.29,
    ("SACK", 25, "fairness"): 0.28,
    ("SACK", 50, "fairness"): 0.30,
    ("Snoop", 5, "fairness"): 0.67,
    ("Snoop", 25, "fairness"): 0.37,
    ("Snoop", 50, "fairness"): 0.28,
}


def _run(name: str, line: str, count: float, seed: int) -> Scenario:
    return net.run(name, line, int(count), EXPONENT, seed)


def _fairer(row: Mapping[str, Row], others: Sequence[str], least: float) -> bool | None:
    """Whether RBCC-WL is fairer than all others with ``least`` flows or more."""
    return all_of(
        index > sweep.points(row, one, "fairness")[n]
        for one in others
        for n, index in sweep.points(row, "RBCC-WL", "fairness").items()
        if n >= least
    )


EXPERIMENT = sweep.experiment(
    figures=("5.5",),
    section="section 5.3.3",
    claim="RBCC-WL is fairer than SACK, and than the others with many flows",
    x="n",
    x_title="number of flows",
    values=COUNTS,
    lines={name: scheme.colour for name, scheme in net.SCHEMES.items()},
    run=_run,
    parameters={"exponent": EXPONENT, "F": net.F},
    paper=PAPER,
    setup=sweep.WIRELESS,
    expectations=(
        Expectation(
            "RBCC-WL is fairer than SACK",
            "from 25 flows on; with 5 table 5.1 prints the opposite of the text",
            lambda row: _fairer(row, ("SACK",), 25),
        ),
        Expectation(
            "With more flows it is fairer than the other three, too",
            "with 50; with 25 table 5.1 prints a higher index of Vegas",
            lambda row: _fairer(row, ("NewReno", "Vegas", "Snoop"), 50),
        ),
        as_printed(
            "Indices of fairness",
            "two decimals",
            {f"{sweep.label(line, 'n', n)}, fairness": 2 for line, n, _ in PAPER},
        ),
    ),
    notes="The printed indices (.22 to .67) are those of a few flows that have nearly everything. "
    "In the thesis hosts move, and the far ones get nothing; here all are at one distance and lose "
    "alike, so that shares are even; table 5.1 has scattered hosts. With 25 flows the printed "
    "table contradicts the text: Vegas has .46. " + net.SNOOP,
)
