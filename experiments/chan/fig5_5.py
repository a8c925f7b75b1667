"""Chan 2004, figure 5.5: how long a flow takes to settle when the available bandwidth is halved."""

from experiments.chan import convergence
from waymark import Expectation, criteria

EXPERIMENT = convergence.experiment(
    "5.5",
    "halved",
    "When the bandwidth is halved Quick Vegas settles in far less time than Vegas",
    {1: 17, 5: 57, 10: 104, 20: 196, 30: 292, 50: 477},
    Expectation(
        "Quick Vegas settles sooner than Vegas at each capacity",
        "any amount",
        criteria.less_than(1, *convergence.ratios(above_kb=0)),
    ),
    Expectation(
        "It settles in far less time at each capacity",
        "less than half of Vegas' time; figure 5.2 prints 0.14 of it at 50 Mb/s",
        criteria.less_than(0.5, *convergence.ratios(above_kb=0)),
    ),
)
