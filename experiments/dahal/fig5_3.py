"""Dahal 2007, figures 5.3 and 5.4: throughput and loss over the path loss exponent."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from experiments.dahal import sweep
from experiments.dahal import wireless as net
from waymark import Expectation, Row, Scale, Scenario, all_of

FLOWS = 10
EXPONENTS: Mapping[Scale, Sequence[float]] = {
    "quick": (2, 2.2, 2.3),
    "full": (2, 2.1, 2.2, 2.3, 2.4, 2.5, 2.6, 2.7),
}
PAPER: sweep.Numbers = {
    ("RBCC-WL", 2, "loss"): 0.43,
    ("RBCC-WL", 2.2, "loss"): 2.4,
    ("NewReno", 2, "loss"): 5.9,
    ("NewReno", 2.2, "loss"): 4.1,
    ("Vegas", 2, "loss"): 0.49,
    ("Vegas", 2.2, "loss"): 4.9,
    ("SACK", 2, "loss"): 5.2,
    ("SACK", 2.2, "loss"): 2.9,
    ("Snoop", 2, "loss"): 6.1,
    ("Snoop", 2.2, "loss"): 4.6,
    ("RBCC-WL", 2, "throughput"): 99,
    ("RBCC-WL", 2.2, "throughput"): 97,
    ("NewReno", 2, "throughput"): 95,
    ("NewReno", 2.2, "throughput"): 94,
    ("Vegas", 2, "throughput"): 99,
    ("Vegas", 2.2, "throughput"): 95,
    ("SACK", 2, "throughput"): 95,
    ("SACK", 2.2, "throughput"): 94,
    ("Snoop", 2, "throughput"): 95,
    ("Snoop", 2.2, "throughput"): 94,
}
"""Table 5.1: the figures themselves are images."""
OTHERS = ("NewReno", "Vegas", "SACK", "Snoop")
NS2: sweep.Numbers = {
    ("NewReno", 2, "loss"): 5.03,
    ("NewReno", 2.2, "loss"): 5.75,
    ("Vegas", 2, "loss"): 0.24,
    ("Vegas", 2.2, "loss"): 4.59,
    ("SACK", 2, "loss"): 4.55,
    ("SACK", 2.2, "loss"): 5.19,
    ("NewReno", 2, "throughput"): 96.3,
    ("NewReno", 2.2, "throughput"): 91.9,
    ("Vegas", 2, "throughput"): 100.2,
    ("Vegas", 2.2, "throughput"): 95.8,
    ("SACK", 2, "throughput"): 96.5,
    ("SACK", 2.2, "throughput"): 92.3,
}
"""ns-2.35 with ``Mac/Simple``, routes known beforehand and not updated: means of ten seeds."""


def _run(name: str, line: str, exponent: float, seed: int) -> Scenario:
    return net.run(name, line, FLOWS, exponent, seed)


def _best(row: Mapping[str, Row], exponent: float, rivals: Sequence[str]) -> bool:
    ours = sweep.points(row, "RBCC-WL", "throughput")[exponent]
    return all(ours > sweep.points(row, one, "throughput")[exponent] for one in rivals)


def _loss(row: Mapping[str, Row], name: str, exponent: float) -> float:
    return sweep.points(row, name, "loss")[exponent]


def _highest(row: Mapping[str, Row]) -> float:
    return max(sweep.points(row, "RBCC-WL", "loss"))


EXPERIMENT = sweep.experiment(
    figures=("5.3", "5.4"),
    section="section 5.3.3",
    claim="Over a wireless link RBCC-WL has more throughput than all but, at high losses, Snoop",
    x="exponent",
    x_title="path loss exponent",
    values=EXPONENTS,
    lines={name: scheme.colour for name, scheme in net.SCHEMES.items()},
    run=_run,
    parameters={"flows": FLOWS, "F": net.F},
    paper=PAPER,
    ns2=NS2,
    setup=replace(sweep.WIRELESS, seeds={"quick": 1, "full": 10}),
    expectations=(
        Expectation(
            "With few losses RBCC-WL and Vegas have similar throughput",
            "exponent 2: within 1 percentage point; table 5.1 prints 99 % for both",
            lambda row: (
                abs(
                    sweep.points(row, "RBCC-WL", "throughput")[2]
                    - sweep.points(row, "Vegas", "throughput")[2]
                )
                <= 1
            ),
        ),
        Expectation(
            "Up to an exponent of 2.4 RBCC-WL has more throughput than all others",
            "at each exponent measured; at 2 Vegas is left out, whose throughput is similar",
            lambda row: all(
                _best(row, exponent, [one for one in OTHERS if exponent > 2 or one != "Vegas"])
                for exponent in sweep.points(row, "RBCC-WL", "throughput")
                if exponent <= 2.4
            ),
        ),
        Expectation(
            "Above 2.4 RBCC-WL has less throughput than Snoop and more than the other three",
            "at each exponent measured",
            lambda row: all_of(
                _best(row, exponent, ("NewReno", "Vegas", "SACK"))
                and not _best(row, exponent, ("Snoop",))
                for exponent in sweep.points(row, "RBCC-WL", "throughput")
                if exponent > 2.4
            ),
        ),
        Expectation(
            "RBCC-WL's losses are lower than the others', except at high exponents",
            "at 2 and 2.2, which table 5.1 reports, below each other's; at the highest measured "
            "above each",
            lambda row: (
                all(
                    _loss(row, "RBCC-WL", x) < _loss(row, one, x)
                    for x in (2, 2.2)
                    for one in OTHERS
                )
                and all(
                    _loss(row, "RBCC-WL", _highest(row)) > _loss(row, one, _highest(row))
                    for one in OTHERS
                )
            ),
        ),
    ),
    notes="Losses at 2.2 are above the printed ones but for Vegas'; table 5.1 holds the numbers to "
    "the printed digits. RBCC-WL resends more than the air loses. Its share of the path is two "
    "packets, too few for three duplicate ACKs, so that a loss is a timeout, and after a timeout "
    "it sends a whole window again. At 190 m for all hosts an exponent of 2.4 loses a quarter of "
    "all packets in each direction, 2.5 half; the thesis' moving hosts were nearer on average. "
    + net.SNOOP,
)
