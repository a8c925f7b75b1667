"""Lien and Chung, figure 4.5: throughput and loss of four flows over the buffer."""

from collections.abc import Mapping, Sequence

from experiments.lien import multiple_sessions as net
from waymark import Expectation, Scale, all_of, at_scale, criteria

BUFFERS: Mapping[Scale, Sequence[int]] = {
    "quick": (5, 50, 100),
    "full": (5, 10, 15, 25, 50, 75, 100),
}
NS2: Mapping[str, tuple[float, float]] = {
    "Tahoe, B = 5": (307.1, 9.006),
    "Reno, B = 5": (284.4, 8.326),
    "Vegas, B = 5": (335.9, 5.788),
    "Tahoe, B = 10": (348, 5.592),
    "Reno, B = 10": (328.6, 5.428),
    "Vegas, B = 10": (341.6, 0.1917),
    "Tahoe, B = 15": (368, 4.025),
    "Reno, B = 15": (344.6, 3.967),
    "Vegas, B = 15": (336.4, 0.04357),
    "Tahoe, B = 25": (371.9, 2.996),
    "Reno, B = 25": (357.3, 2.702),
    "Vegas, B = 25": (335.3, 0),
    "Tahoe, B = 50": (388.6, 2.422),
    "Reno, B = 50": (376.2, 2.379),
    "Vegas, B = 50": (335.3, 0),
    "Tahoe, B = 75": (389.3, 3.064),
    "Reno, B = 75": (373.9, 2.954),
    "Vegas, B = 75": (335.3, 0),
    "Tahoe, B = 100": (394.1, 3.607),
    "Reno, B = 100": (371.1, 3.543),
    "Vegas, B = 100": (335.3, 0),
}
"""Throughput and loss in ns-2.35, mean over five seeds of its own."""


def _label(buffer: float) -> str:
    return f"B = {buffer:g}"


def panels(scale: Scale) -> Sequence[net.Sweep]:
    """Simulation 2A."""
    points = {float(b): net.Setting(1e6, 0.005, b, 100e3) for b in at_scale(BUFFERS, scale)}
    return [net.Sweep("1 Mb/s, 5 ms, bursts of 100 kb/s", "buffer (packets)", _label, points)]


def _name(algorithm: net.Algorithm, buffer: int, metric: net.Metric = "throughput") -> str:
    return net.name(algorithm, _label(buffer), metric)


EXPERIMENT = net.experiment(
    figures=("4.5",),
    section="section IV.B, simulation 2A",
    claim="Muzha falls behind Vegas with a small buffer and passes it with a large one",
    parameters={"links": "1 Mb/s, 5 ms", "load_bps": 100e3, "buffers": list(BUFFERS["full"])},
    panels=panels,
    ns2=NS2,
    expectations=(
        Expectation(
            "With a small buffer Vegas has more throughput than Muzha",
            "at 5 packets",
            criteria.ascending(_name("muzha", 5), _name("vegas", 5)),
        ),
        Expectation(
            "With a large buffer Muzha has more throughput than Vegas",
            "at 50, 75 and 100 packets",
            lambda row: all_of(
                row[_name("muzha", b)].waymark > row[_name("vegas", b)].waymark
                for b in (50, 75, 100)
                if _name("muzha", b) in row
            ),
        ),
        Expectation(
            "With a small buffer Muzha suffers from overflow",
            "loss at 5 packets above that at 100",
            criteria.descending(_name("muzha", 5, "loss"), _name("muzha", 100, "loss")),
        ),
        Expectation(
            "Reno has a good throughput only where the buffer is large",
            "at 5 packets at least 5 % below that at 100",
            lambda row: row[_name("reno", 5)].waymark <= 0.95 * row[_name("reno", 100)].waymark,
        ),
    ),
    notes=net.SHORT_PATHS_NOTE,
)
