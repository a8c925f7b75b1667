"""Kurata et al., figure 4: throughput of Reno and Vegas over the buffer, RED with p = 1/30."""

from experiments.kurata import early
from experiments.kurata import shared_link as net

DROP_TAIL = net.Reference("drop-tail", lambda _: None)

EXPERIMENT = early.experiment(
    4,
    1 / 30,
    {
        "5+5, B = 10": (149, 142),
        "5+5, B = 100": (214, 86),
        "5+10, B = 10": (96, 96),
        "5+10, B = 100": (150, 74),
        "10+5, B = 10": (98, 94),
        "10+5, B = 100": (116, 65),
    },
    DROP_TAIL,
    early.halved(DROP_TAIL),
    early.equal_totals(DROP_TAIL),
    early.UNCHANGED,
)
