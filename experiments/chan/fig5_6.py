"""Chan 2004, figure 5.6: how long a flow takes to settle when the available bandwidth doubles."""

from experiments.chan import convergence
from waymark import Expectation

EXPERIMENT = convergence.experiment(
    "5.6",
    "doubled",
    "When the bandwidth doubles Quick Vegas settles in far less time than Vegas",
    {5: 34, 10: 66, 20: 128, 30: 191, 50: 316},
    Expectation(
        "Quick Vegas settles in far less time",
        "less than half of Vegas' time at each capacity from 10 Mb/s on",
        lambda row: all(ratio < 0.5 for ratio in convergence.ratios(row, 10)),
    ),
)
