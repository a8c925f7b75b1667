"""Chan 2004, figure 6.4: goodput against cross traffic, without random loss."""

from functools import partial

from experiments.chan import heterogeneous as net
from experiments.chan import redvegas
from waymark.criteria import between, more_than

NS2 = {
    "Reno": {0.0: 1599, 0.1: 1409, 0.3: 990, 0.5: 533, 0.7: 288, 0.9: 136},
    f"Reno{net.PACKETS}": {0.1: 1068, 0.3: 686, 0.5: 473, 0.7: 300, 0.9: 136},
    f"Vegas{net.DEFECT}": {0.1: 1132, 0.3: 864, 0.5: 461, 0.7: 322, 0.9: 190},
}
LOADS = net.LOADS["full"]

EXPERIMENT = redvegas.experiment(
    "6.4",
    "load",
    0.0,
    "Without random loss RedVegas is Vegas, and both get more than Reno",
    (
        redvegas.Claim(
            "Vegas and RedVegas get the same",
            "within 1 % at each load: the paper has 'always identical', and a curve hides no more",
            ("RedVegas", "Vegas"),
            LOADS,
            partial(between, 0.99, 1.01),
        ),
        redvegas.Claim(
            "Vegas gets more than Reno",
            "at each load: the paper has 'always'",
            ("Vegas", "Reno"),
            LOADS,
            partial(more_than, 1.0),
        ),
        redvegas.Claim(
            "RedVegas gets more than Reno",
            "at each load",
            ("RedVegas", "Reno"),
            LOADS,
            partial(more_than, 1.0),
        ),
    ),
    ns2=NS2,
    notes=net.PHASE_NOTE + net.TIES_NOTE + net.BURST_NOTE + net.AGREEMENT_NOTE,
)
