"""Lien and Chung, figure 4.5: throughput and loss of four flows over the buffer."""

from collections.abc import Mapping, Sequence

from experiments.lien import multiple_sessions as net
from waymark import Expectation, Row, Scale, at_scale

BUFFERS: Mapping[Scale, Sequence[int]] = {
    "quick": (5, 50, 100),
    "full": (5, 10, 15, 25, 50, 75, 100),
}


def _label(buffer: float) -> str:
    return f"B = {buffer:g}"


def _panels(scale: Scale) -> Sequence[net.Sweep]:
    points = {float(b): net.Setting(1e6, 0.005, b, 100e3) for b in at_scale(BUFFERS, scale)}
    return [net.Sweep("1 Mb/s, 5 ms, bursts of 100 kb/s", "buffer (packets)", _label, points)]


def _throughput(row: Mapping[str, Row], algorithm: net.Algorithm, buffer: int) -> float:
    return net.of(row, algorithm, _label(buffer), "throughput")


EXPERIMENT = net.experiment(
    figures=("4.5",),
    section="section IV.B, simulation 2A",
    claim="Muzha falls behind Vegas with a small buffer and passes it with a large one",
    parameters={"links": "1 Mb/s, 5 ms", "load_bps": 100e3, "buffers": list(BUFFERS["full"])},
    panels=_panels,
    expectations=(
        Expectation(
            "With a large buffer Muzha performs better than Vegas",
            "throughput at 50 and 100",
            lambda row: all(
                _throughput(row, "muzha", b) > _throughput(row, "vegas", b) for b in (50, 100)
            ),
        ),
        Expectation(
            "With a small buffer Vegas performs better than Muzha",
            "throughput at 5",
            lambda row: _throughput(row, "vegas", 5) > _throughput(row, "muzha", 5),
        ),
        Expectation(
            "Muzha loses more with a small buffer than with a large one",
            "loss at 5 above that at 100",
            lambda row: (
                net.of(row, "muzha", _label(5), "loss") > net.of(row, "muzha", _label(100), "loss")
            ),
        ),
        Expectation(
            "Reno only has a good throughput where the buffer is large",
            "at 5 below that at 100 by 5 % or more",
            lambda row: _throughput(row, "reno", 5) <= 0.95 * _throughput(row, "reno", 100),
        ),
        net.ABOVE_RENO,
    ),
    notes=net.SHORT_PATHS_NOTE,
)
