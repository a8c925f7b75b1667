"""Chan 2004, figure 6.6: goodput against random loss at a cross traffic load of 0.5."""

from experiments.chan import heterogeneous, redvegas
from waymark import Expectation

EXPERIMENT = redvegas.experiment(
    "6.6",
    "loss",
    0.5,
    "At load .5 RedVegas gets over 10 % more than Vegas above 3 % of loss, 27 % at 8 %",
    (
        Expectation(
            "RedVegas is more than 10 % above Vegas where more than 3 % are lost",
            "at each loss rate above 3 %",
            redvegas.everywhere("Vegas", 1.1, lambda loss: loss > 0.03),
        ),
        Expectation(
            "RedVegas and Vegas are above Reno",
            "RedVegas at each loss rate above 0",
            redvegas.everywhere("Reno", 1.0, lambda loss: loss > 0),
        ),
    ),
    red_over={"Vegas": {0.08: 1.267}},
    notes=heterogeneous.SILENCE_NOTE
    + heterogeneous.BURST_NOTE
    + "With the loss recovery of today the printed ratios come out: beyond/fig2.",
)
