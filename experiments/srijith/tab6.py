"""Srijith et al., table 6: a file over a path of 20 ms."""

from experiments.srijith import lone_transfer

EXPERIMENT = lone_transfer.experiment(
    6,
    (0.005, 0.005, 0.01),
    {
        ("newreno", "5 MB"): (162.353, 11.46, 58),
        ("newreno", "10 MB"): (322.353, 23.27, 62),
        ("vegas", "5 MB"): (160.253, 0.65, 0),
        ("vegas", "10 MB"): (320.253, 1.3, 0),
        ("vegasa", "5 MB"): (160.253, 5.62, 0),
        ("vegasa", "10 MB"): (320.256, 12.4, 0),
    },
    {
        ("newreno", "5 MB"): (162.2, 11.48, 58),
        ("newreno", "10 MB"): (322.2, 23.31, 62),
        ("vegas", "5 MB"): (160.3, 0.7, 0),
        ("vegas", "10 MB"): (320.3, 1.401, 0),
    },
)
