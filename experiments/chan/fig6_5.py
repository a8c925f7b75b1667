"""Chan 2004, figure 6.5: goodput against random loss, without cross traffic."""

from functools import partial

from experiments.chan import heterogeneous as net
from experiments.chan import redvegas
from waymark.criteria import as_printed, more_than

NS2 = {
    "Reno": {
        0.0: 1599,
        0.01: 1100,
        0.03: 488,
        0.05: 260,
        0.06: 201,
        0.08: 128,
        0.1: 86,
        0.13: 52,
        0.15: 37,
    },
    f"Reno{net.PACKETS}": {
        0.01: 1120,
        0.03: 499,
        0.05: 270,
        0.06: 208,
        0.08: 131,
        0.1: 90,
        0.13: 54,
        0.15: 39,
    },
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
    "RedVegas gets over 20 % more than Vegas from 3 to 13 % of loss, 28.9 % at 7 and 16.7 % at "
    "15 %, and 2.84 times Reno's goodput at 6 %, 1.40 times at 15 %",
    (
        redvegas.Claim(
            "RedVegas gets more than 20 % more than Vegas from 3 to 13 % of loss",
            "at each loss rate: the paper has 'always'",
            ("RedVegas", "Vegas"),
            [loss for loss in net.LOSSES["full"] if 0.03 <= loss <= 0.13],
            partial(more_than, 1.2),
        ),
        redvegas.Claim(
            "RedVegas gets 28.9 % more than Vegas at 7 % of loss, 16.7 % more at 15 %",
            redvegas.AS_PRINTED,
            ("RedVegas", "Vegas"),
            (0.07, 0.15),
            partial(as_printed, within=redvegas.WITHIN),
        ),
        redvegas.Claim(
            "RedVegas gets 2.84 times Reno's goodput at 6 % of loss, 1.40 times at 15 %",
            redvegas.AS_PRINTED,
            ("RedVegas", "Reno"),
            (0.06, 0.15),
            partial(as_printed, within=redvegas.WITHIN),
        ),
    ),
    ns2=NS2,
    printed={
        "RedVegas/Reno": {0.06: 2.84, 0.15: 1.40},
        "RedVegas/Vegas": {0.07: 1.289, 0.15: 1.167},
    },
    notes=net.SILENCE_NOTE + net.AGREEMENT_NOTE,
)
