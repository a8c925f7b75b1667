"""Chan 2004, figure 6.7: goodput against cross traffic with 5 % of random loss."""

from functools import partial

from experiments.chan import heterogeneous as net
from experiments.chan import redvegas
from waymark.criteria import as_printed

NS2 = {
    "Reno": {0.0: 260, 0.1: 234, 0.3: 190, 0.5: 135, 0.7: 101, 0.9: 70},
    f"Reno{net.PACKETS}": {0.0: 270, 0.1: 244, 0.3: 199, 0.5: 161, 0.7: 122, 0.9: 78},
    f"Vegas{net.DEFECT}": {0.0: 509, 0.1: 392, 0.3: 264, 0.5: 174, 0.7: 115, 0.9: 66},
}

EXPERIMENT = redvegas.experiment(
    "6.7",
    "load",
    0.05,
    "With 5 % of loss RedVegas gets 6.7 to 28.1 % more than Vegas, 6.7 to 185 % more than Reno",
    (
        redvegas.Claim(
            "RedVegas gets 6.7 to 28.1 % more than Vegas",
            f"the least and the greatest ratio over the loads {redvegas.AS_PRINTED}",
            ("RedVegas", "Vegas"),
            ("least", "most"),
            partial(as_printed, within=redvegas.WITHIN),
        ),
        redvegas.Claim(
            "RedVegas gets 6.7 to 185 % more than Reno",
            f"the least and the greatest ratio over the loads {redvegas.AS_PRINTED}",
            ("RedVegas", "Reno"),
            ("least", "most"),
            partial(as_printed, within=redvegas.WITHIN),
        ),
    ),
    ns2=NS2,
    extremes={("RedVegas", "Vegas"): (1.067, 1.281), ("RedVegas", "Reno"): (1.067, 2.85)},
    notes=net.SILENCE_NOTE + net.BURST_NOTE + net.PHASE_NOTE + net.AGREEMENT_NOTE,
)
