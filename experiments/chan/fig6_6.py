"""Chan 2004, figure 6.6: goodput against random loss at a cross traffic load of 0.5."""

from functools import partial

from experiments.chan import heterogeneous as net
from experiments.chan import redvegas
from waymark.criteria import as_printed, more_than

NS2 = {
    "Reno": {0.0: 533, 0.03: 207, 0.05: 135, 0.08: 81, 0.15: 29},
    f"Reno{net.PACKETS}": {0.0: 473, 0.03: 240, 0.05: 161, 0.08: 93, 0.15: 32},
    f"Vegas{net.DEFECT}": {0.0: 461, 0.03: 276, 0.05: 174, 0.08: 88, 0.15: 25},
}

EXPERIMENT = redvegas.experiment(
    "6.6",
    "loss",
    0.5,
    "At load .5 Vegas and RedVegas always get more than Reno; RedVegas gets over 10 % more than "
    "Vegas above 3 % of loss, 26.7 % at 8 %",
    (
        redvegas.Claim(
            "Vegas gets more than Reno",
            "at each loss rate: the paper has 'always'",
            ("Vegas", "Reno"),
            net.LOSSES["full"],
            partial(more_than, 1.0),
        ),
        redvegas.Claim(
            "RedVegas gets more than Reno",
            "at each loss rate: the paper has 'always'",
            ("RedVegas", "Reno"),
            net.LOSSES["full"],
            partial(more_than, 1.0),
        ),
        redvegas.Claim(
            "RedVegas gets more than 10 % more than Vegas above 3 % of loss",
            "at each loss rate: the paper has 'always'",
            ("RedVegas", "Vegas"),
            [loss for loss in net.LOSSES["full"] if loss > 0.03],
            partial(more_than, 1.1),
        ),
        redvegas.Claim(
            "RedVegas gets 26.7 % more than Vegas at 8 % of loss",
            redvegas.AS_PRINTED,
            ("RedVegas", "Vegas"),
            (0.08,),
            partial(as_printed, within=redvegas.WITHIN),
        ),
    ),
    ns2=NS2,
    printed={"RedVegas/Vegas": {0.08: 1.267}},
    notes=net.SILENCE_NOTE + net.BURST_NOTE + net.PHASE_NOTE + net.AGREEMENT_NOTE,
)
