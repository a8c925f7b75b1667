"""Chan 2004, figure 6.4: goodput against cross traffic, without random loss."""

from experiments.chan import heterogeneous, redvegas
from waymark import Expectation

EXPERIMENT = redvegas.experiment(
    "6.4",
    "load",
    0.0,
    "Without random loss RedVegas is Vegas, and both get more than Reno",
    (
        Expectation(
            "Vegas and RedVegas get the same",
            "within 2 % at each load",
            lambda row: all(
                abs(r.waymark - 1) <= 0.02
                for name, r in row.items()
                if name.startswith("RedVegas/Vegas, ")
            ),
        ),
        Expectation(
            "Vegas gets more than Reno",
            "at each load",
            redvegas.everywhere("Reno", 1.0),
        ),
    ),
    ns2={"Reno": {0.0: 1600, 0.9: 198}},
    notes=heterogeneous.BURST_NOTE,
)
