"""Chan 2004, figure 5.4: how long a new flow takes to settle."""

from experiments.chan import convergence
from waymark import Expectation, criteria

EXPERIMENT = convergence.experiment(
    "5.4",
    "new",
    "Above a bandwidth-delay product of 500 kb a new Quick Vegas flow takes half as long as Vegas",
    {1: 15, 5: 52, 10: 115, 20: 214, 30: 339, 50: 590},
    Expectation(
        "A new Quick Vegas flow takes about half of Vegas' time where the product is above 500 kb",
        '0.45 to 0.55 at each capacity above 5 Mb/s: the paper has "about half", and 27/59 = 0.46 '
        "at 50 Mb/s",
        criteria.between(0.45, 0.55, *convergence.ratios(above_kb=500)),
    ),
)
