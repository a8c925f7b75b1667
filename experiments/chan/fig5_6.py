"""Chan 2004, figure 5.6: how long a flow takes to settle when the available bandwidth doubles."""

from experiments.chan import convergence
from waymark import Expectation, criteria

EXPERIMENT = convergence.experiment(
    "5.6",
    "doubled",
    "When the bandwidth doubles Quick Vegas settles in far less time than Vegas",
    {5: 34, 10: 66, 20: 128, 30: 191, 50: 316},
    Expectation(
        "Quick Vegas settles sooner than Vegas at each capacity",
        "any amount",
        criteria.less_than(1, *convergence.ratios(above_kb=0)),
    ),
    Expectation(
        "It settles in far less time at each capacity",
        "less than half of Vegas' time; figure 5.2 prints 0.12 of it at 50 Mb/s",
        criteria.less_than(0.5, *convergence.ratios(above_kb=0)),
    ),
)
