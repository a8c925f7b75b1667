"""Chan 2004, figure 6.6: goodput against random loss at a cross traffic load of 0.5."""

from experiments.chan import heterogeneous as net
from experiments.chan import redvegas
from waymark import Expectation

NS2 = {
    "Reno": {0.0: 473, 0.03: 240, 0.05: 161, 0.08: 93, 0.15: 32},
    f"Vegas{net.DEFECT}": {0.0: 461, 0.03: 276, 0.05: 174, 0.08: 88, 0.15: 25},
}

EXPERIMENT = redvegas.experiment(
    "6.6",
    "loss",
    0.5,
    "At load .5 RedVegas gets over 10 % more than Vegas above 3 % of loss, 27 % at 8 %",
    (
        Expectation(
            "RedVegas is more than 10 % above Vegas where more than 3 % are lost",
            "at each loss rate above 3 %",
            redvegas.everywhere("RedVegas/Vegas", 1.1, lambda loss: loss > 0.03),
        ),
        Expectation(
            "RedVegas and Vegas are above Reno",
            "RedVegas at each loss rate above 0",
            redvegas.everywhere("RedVegas/Reno", 1.0, lambda loss: loss > 0),
        ),
        Expectation(
            "Without RFC 2988 RedVegas and Vegas are above Reno",
            "RedVegas at each loss rate above 0",
            redvegas.everywhere(f"RedVegas/Reno{net.WITHOUT}", 1.0, lambda loss: loss > 0),
        ),
    ),
    ns2=NS2,
    red_over={"Vegas": {0.08: 1.267}},
    notes=net.SILENCE_NOTE
    + net.BURST_NOTE
    + "With the loss recovery of today the printed ratios come out: beyond/fig2. "
    + net.AGREEMENT_NOTE,
)
