"""Kurata et al., figure 5: throughput of Reno and Vegas over the buffer, RED with p = 1/10."""

from experiments.kurata import early
from experiments.kurata import shared_link as net

EXPERIMENT = early.experiment(
    5,
    1 / 10,
    {
        "5+5, B = 10": (158, 132),
        "5+5, B = 100": (165, 133),
        "5+10, B = 10": (104, 92),
        "5+10, B = 100": (100, 98),
        "10+5, B = 10": (102, 87),
        "10+5, B = 100": (99, 98),
    },
    net.Reference("RED and p = 1/30", lambda buffer: early.settings(buffer, 1 / 30)),
)
