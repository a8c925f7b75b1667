"""Srijith et al., table 7: a file over a path of 60 ms."""

from experiments.srijith import lone_transfer

EXPERIMENT = lone_transfer.experiment(
    7,
    (0.025, 0.025, 0.01),
    {
        ("newreno", "5 MB"): (166.505, 11.29, 59),
        ("newreno", "10 MB"): (326.505, 23.0, 62),
        ("vegas", "5 MB"): (160.651, 0.82, 0),
        ("vegas", "10 MB"): (320.651, 1.63, 0),
        ("vegasa", "5 MB"): (160.654, 4.85, 0),
        ("vegasa", "10 MB"): (320.651, 10.84, 0),
    },
    {
        ("newreno", "5 MB"): (166.2, 11.27, 59),
        ("newreno", "10 MB"): (326.2, 23.09, 63),
        ("vegas", "5 MB"): (160.7, 0.8639, 0),
        ("vegas", "10 MB"): (320.7, 1.725, 0),
    },
)
