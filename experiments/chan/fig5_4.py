"""Chan 2004, figure 5.4: how long a new flow takes to settle."""

from experiments.chan import convergence
from waymark import Expectation

EXPERIMENT = convergence.experiment(
    "5.4",
    "new",
    "A new Quick Vegas flow settles in about half the time of Vegas",
    {1: 15, 5: 52, 10: 115, 20: 214, 30: 339, 50: 590},
    Expectation(
        "Quick Vegas takes about half of Vegas' time where the product is above 500 kb",
        ".3 to .7 of it at each capacity above 5 Mb/s: 'about half' is the paper's word",
        lambda row: all(0.3 <= ratio <= 0.7 for ratio in convergence.ratios(row, 10)),
    ),
)
