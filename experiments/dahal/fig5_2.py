"""Dahal 2007, figure 5.2: RBCC-WL's loss over F, over two wireless links."""

from collections.abc import Mapping, Sequence

from experiments.dahal import sweep
from experiments.dahal import wireless as net
from waymark import Expectation, Scale, Scenario

FLOWS = 10
EXPONENTS = {"exponent 2.1": 2.1, "exponent 2.3": 2.3}
FACTORS: Mapping[Scale, Sequence[float]] = {
    "quick": (1.1, 1.7, 4, 8),
    "full": (1.1, 1.3, 1.7, 2, 2.5, 3, 4, 5, 6, 7, 8),
}


def _run(name: str, line: str, factor: float, seed: int) -> Scenario:
    return net.run(name, "RBCC-WL", FLOWS, EXPONENTS[line], seed, factor=factor)


def _starts_low(throughput: Mapping[float, float]) -> bool:
    return throughput[min(throughput)] <= throughput[1.7] - 2


EXPERIMENT = sweep.experiment(
    figures=("5.2",),
    section="section 5.3.2",
    claim="RBCC-WL's losses stay low up to a certain F, then grow fast",
    x="F",
    x_title="F, threshold over least RTT",
    values=FACTORS,
    lines={"exponent 2.1": "#0072b2", "exponent 2.3": "#d55e00"},
    run=_run,
    parameters={"flows": FLOWS, "exponents": list(EXPONENTS.values())},
    setup=sweep.WIRELESS,
    expectations=(
        Expectation(
            "With a larger path loss exponent losses are higher",
            "at every F",
            lambda row: all(
                loss < sweep.points(row, "exponent 2.3", "loss")[f]
                for f, loss in sweep.points(row, "exponent 2.1", "loss").items()
            ),
        ),
        Expectation(
            "Losses remain low up to a certain threshold, then grow fast",
            "exponent 2.1: at 8 at least three times those at 1.7, at 4 less than twice",
            lambda row: (
                sweep.points(row, "exponent 2.1", "loss")[8]
                >= 3 * sweep.points(row, "exponent 2.1", "loss")[1.7]
                and sweep.points(row, "exponent 2.1", "loss")[4]
                < 2 * sweep.points(row, "exponent 2.1", "loss")[1.7]
            ),
        ),
        Expectation(
            "With a very low threshold too little is sent",
            "both exponents: throughput at the least F 2 percentage points below that at 1.7",
            lambda row: all(
                _starts_low(sweep.points(row, line, "throughput")) for line in EXPONENTS
            ),
        ),
    ),
    notes="At an exponent of 2.1 loss is 1.4 % at F = 6, 6.6 % at 7 and 21 % at 8: the queue "
    "overflows. Ten flows have at least ten packets on the way, which fill the path (8) at any F, "
    "so that the lowest threshold costs 1 percentage point of throughput there.",
)
