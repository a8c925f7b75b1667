"""Chan 2004, figure 6.7: goodput against cross traffic with 5 % of random loss."""

from experiments.chan import heterogeneous, redvegas
from waymark import Expectation

EXPERIMENT = redvegas.experiment(
    "6.7",
    "load",
    0.05,
    "With 5 % of loss RedVegas gets 6.7 to 28.1 % more than Vegas, 6.7 to 185 % more than Reno",
    (
        Expectation(
            "RedVegas is 6.7 to 28.1 % above Vegas",
            "5 to 35 % at each load",
            lambda row: all(
                1.05 <= r.waymark <= 1.35
                for name, r in row.items()
                if name.startswith("RedVegas/Vegas, ")
            ),
        ),
        Expectation(
            "RedVegas is above Reno",
            "at each load",
            redvegas.everywhere("Reno", 1.0),
        ),
    ),
    notes=heterogeneous.SILENCE_NOTE + heterogeneous.BURST_NOTE,
)
