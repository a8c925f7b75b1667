"""Lien and Chung, figures 4.6 and 4.7: throughput and loss of four flows over the bursts' load."""

from collections.abc import Mapping, Sequence

from experiments.lien import multiple_sessions as net
from waymark import Expectation, Row, Scale, at_scale

LOADS_KBPS: Mapping[Scale, Sequence[int]] = {"quick": (300, 900), "full": (300, 500, 700, 900)}
BUFFERS = (20, 60)
NS2: Mapping[str, tuple[float, float]] = {
    "Tahoe, B = 20, load 300 kb/s": (698, 3.074),
    "Reno, B = 20, load 300 kb/s": (687.8, 2.747),
    "Vegas, B = 20, load 300 kb/s": (629.9, 0),
    "Tahoe, B = 20, load 500 kb/s": (614.1, 4.321),
    "Reno, B = 20, load 500 kb/s": (580.7, 3.99),
    "Vegas, B = 20, load 500 kb/s": (561.6, 0.004608),
    "Tahoe, B = 20, load 700 kb/s": (530.9, 5.8),
    "Reno, B = 20, load 700 kb/s": (500.1, 5.559),
    "Vegas, B = 20, load 700 kb/s": (519.9, 0.4642),
    "Tahoe, B = 20, load 900 kb/s": (432.2, 8.244),
    "Reno, B = 20, load 900 kb/s": (409.4, 7.606),
    "Vegas, B = 20, load 900 kb/s": (405.4, 2.842),
    "Tahoe, B = 60, load 300 kb/s": (729.7, 1.971),
    "Reno, B = 60, load 300 kb/s": (723.9, 1.627),
    "Vegas, B = 60, load 300 kb/s": (629.9, 0),
    "Tahoe, B = 60, load 500 kb/s": (642.6, 2.54),
    "Reno, B = 60, load 500 kb/s": (610.2, 2.338),
    "Vegas, B = 60, load 500 kb/s": (561.1, 0),
    "Tahoe, B = 60, load 700 kb/s": (557.1, 3.445),
    "Reno, B = 60, load 700 kb/s": (529.2, 3.209),
    "Vegas, B = 60, load 700 kb/s": (501.2, 0),
    "Tahoe, B = 60, load 900 kb/s": (468.4, 4.872),
    "Reno, B = 60, load 900 kb/s": (436.1, 4.625),
    "Vegas, B = 60, load 900 kb/s": (432, 0),
}
"""Throughput and loss in ns-2.35, mean over five seeds of its own."""


def _label(buffer: int, load: float) -> str:
    return f"B = {buffer}, load {load:g} kb/s"


def panels(scale: Scale) -> Sequence[net.Sweep]:
    """Simulation 2B."""
    return [
        net.Sweep(
            f"2 Mb/s, 4 ms, a buffer of {buffer}",
            "load of the bursts (kb/s)",
            lambda load, buffer=buffer: _label(buffer, load),
            {
                float(load): net.Setting(2e6, 0.004, buffer, load * 1e3)
                for load in at_scale(LOADS_KBPS, scale)
            },
        )
        for buffer in BUFFERS
    ]


def _labels(row: Mapping[str, Row], above_kbps: float) -> list[str]:
    """The measured points above a load."""
    labels = [_label(b, load) for b in BUFFERS for load in LOADS_KBPS["full"] if load > above_kbps]
    return [label for label in labels if net.measured(row, label)]


def _each(
    row: Mapping[str, Row], above_kbps: float, metric: net.Metric, more: net.Algorithm,
    less: net.Algorithm, factor: float = 1.0,
) -> bool:  # fmt: skip
    """Whether one is above ``factor`` times the other at every point above a load."""
    return all(
        net.of(row, more, label, metric) > factor * net.of(row, less, label, metric)
        for label in _labels(row, above_kbps)
    )


EXPERIMENT = net.experiment(
    figures=("4.6", "4.7"),
    section="section IV.B, simulation 2B",
    claim="Under load, Muzha has more throughput than Vegas and much less loss than Reno",
    parameters={
        "links": "2 Mb/s, 4 ms",
        "loads_kbps": list(LOADS_KBPS["full"]),
        "buffers": list(BUFFERS),
    },
    panels=panels,
    ns2=NS2,
    expectations=(
        Expectation(
            "Above 500 kb/s, Muzha has more throughput than Vegas",
            "at 700 and 900 kb/s, with both buffers",
            lambda row: _each(row, 500, "throughput", "muzha", "vegas"),
        ),
        Expectation(
            "Below 500 kb/s, Vegas has slightly more throughput than Muzha",
            "at 300 kb/s, with both buffers",
            lambda row: all(
                net.of(row, "vegas", _label(b, 300), "throughput")
                > net.of(row, "muzha", _label(b, 300), "throughput")
                for b in BUFFERS
            ),
        ),
        Expectation(
            "Reno suffers from heavy load",
            "its throughput at 900 kb/s below that at 300, with both buffers",
            lambda row: all(
                net.of(row, "reno", _label(b, 900), "throughput")
                < net.of(row, "reno", _label(b, 300), "throughput")
                for b in BUFFERS
            ),
        ),
        Expectation(
            "When the load increases, Muzha has a much lower loss rate than Reno",
            "less than half of it above 300 kb/s, with both buffers",
            lambda row: _each(row, 300, "loss", "reno", "muzha", 2),
        ),
    ),
    notes=net.SHORT_PATHS_NOTE,
)
