"""Chan 2004, figure 5.5: how long a flow takes to settle when the available bandwidth is halved."""

from experiments.chan import convergence
from waymark import Expectation

EXPERIMENT = convergence.experiment(
    "5.5",
    "halved",
    "When the bandwidth is halved Quick Vegas settles in far less time than Vegas",
    {1: 17, 5: 57, 10: 104, 20: 196, 30: 292, 50: 477},
    Expectation(
        "Quick Vegas settles in far less time",
        "less than half of Vegas' time at each capacity from 10 Mb/s on",
        lambda row: all(ratio < 0.5 for ratio in convergence.ratios(row, 10)),
    ),
)
