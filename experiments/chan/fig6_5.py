"""Chan 2004, figure 6.5: goodput against random loss, without cross traffic."""

from experiments.chan import heterogeneous as net
from experiments.chan import redvegas
from waymark import Expectation

NS2 = {
    "Reno": {0.01: 1120, 0.03: 499, 0.05: 270, 0.06: 208, 0.08: 131, 0.1: 90, 0.13: 54, 0.15: 39},
    f"Vegas{net.DEFECT}": {
        0.01: 1495,
        0.03: 1015,
        0.05: 509,
        0.06: 374,
        0.08: 170,
        0.1: 91,
        0.13: 44,
        0.15: 31,
    },
}

EXPERIMENT = redvegas.experiment(
    "6.5",
    "loss",
    0.0,
    "RedVegas gets 20 % more than Vegas from 3 to 13 % of loss, and 2.84 times Reno at 6 %",
    (
        Expectation(
            "RedVegas is more than 20 % above Vegas from 3 to 13 % of loss",
            "at each loss rate",
            redvegas.everywhere("RedVegas/Vegas", 1.2, lambda loss: 0.03 <= loss <= 0.13),
        ),
        Expectation(
            "RedVegas is above Reno wherever packets are lost",
            "at each loss rate above 0",
            redvegas.everywhere("RedVegas/Reno", 1.0, lambda loss: loss > 0),
        ),
        Expectation(
            "The printed ratios: 2.84 over Reno at 6 %, 1.40 at 15 %; 1.289 over Vegas at 7 %",
            "each within 15 %, of those that the scale has",
            redvegas.as_printed(0.15, "RedVegas/Reno", "RedVegas/Vegas"),
        ),
        Expectation(
            "Without RFC 2988 RedVegas is above Reno wherever packets are lost",
            "at each loss rate above 0",
            redvegas.everywhere(f"RedVegas/Reno{net.WITHOUT}", 1.0, lambda loss: loss > 0),
        ),
        Expectation(
            "Without RFC 2988 RedVegas is 2.84 times Reno at 6 %, 1.40 at 15 %",
            "each within 15 %, of those that the scale has",
            redvegas.as_printed(0.15, f"RedVegas/Reno{net.WITHOUT}"),
        ),
    ),
    ns2=NS2,
    red_over={"Reno": {0.06: 2.84, 0.15: 1.40}, "Vegas": {0.07: 1.289, 0.15: 1.167}},
    notes=net.SILENCE_NOTE + net.READINGS_NOTE + net.AGREEMENT_NOTE,
)
