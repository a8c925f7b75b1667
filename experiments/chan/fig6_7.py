"""Chan 2004, figure 6.7: goodput against cross traffic with 5 % of random loss."""

from experiments.chan import heterogeneous as net
from experiments.chan import redvegas
from waymark import Expectation

NS2 = {
    "Reno": {0.0: 270, 0.1: 244, 0.3: 199, 0.5: 161, 0.7: 122, 0.9: 78},
    f"Vegas{net.DEFECT}": {0.0: 509, 0.1: 392, 0.3: 264, 0.5: 174, 0.7: 115, 0.9: 66},
}

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
                1.05 <= ratio <= 1.35 for _, ratio in redvegas.ratios(row, "RedVegas/Vegas")
            ),
        ),
        Expectation(
            "RedVegas is above Reno", "at each load", redvegas.everywhere("RedVegas/Reno", 1.0)
        ),
        Expectation(
            "Without RFC 2988 RedVegas is above Reno",
            "at each load",
            redvegas.everywhere(f"RedVegas/Reno{net.WITHOUT}", 1.0),
        ),
    ),
    ns2=NS2,
    notes=net.SILENCE_NOTE
    + net.BURST_NOTE
    + "Without RFC 2988 RedVegas is up to 216 % above Reno, 16 % at the least, and 0 to 18 % above "
    "Vegas (one seed of an hour). " + net.AGREEMENT_NOTE,
)
