"""Kurata et al., figure 4: throughput of Reno and Vegas over the buffer, RED with p = 1/30."""

from experiments.kurata import early
from experiments.kurata import shared_link as net
from waymark import Expectation

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
    early.fairer_than("drop-tail", 100, 238 / 62),
    Expectation(
        "The model illustrates well how different the throughputs are",
        "within 30 % from a buffer of 50 on",
        lambda row: net.near_model(row, 50, 0.3),
    ),
)
