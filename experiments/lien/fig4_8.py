"""Lien and Chung, figure 4.8: throughput and loss of four flows over the links' delay."""

from collections.abc import Mapping, Sequence

from experiments.lien import multiple_sessions as net
from waymark import Expectation, Row, Scale, all_of, at_scale

DELAYS_MS: Mapping[Scale, Sequence[int]] = {"quick": (4, 32, 80), "full": (4, 8, 16, 32, 64, 80)}
BUFFER = 25
NS2: Mapping[str, tuple[float, float]] = {
    "Tahoe, 4 ms": (815, 1.938),
    "Reno, 4 ms": (834.2, 1.65),
    "Vegas, 4 ms": (716.2, 0),
    "Tahoe, 8 ms": (798.6, 1.819),
    "Reno, 8 ms": (839.7, 1.572),
    "Vegas, 8 ms": (730.5, 0),
    "Tahoe, 16 ms": (774.3, 1.96),
    "Reno, 16 ms": (786.2, 1.624),
    "Vegas, 16 ms": (736.1, 0.01435),
    "Tahoe, 32 ms": (678.1, 1.578),
    "Reno, 32 ms": (672.9, 1.305),
    "Vegas, 32 ms": (729.5, 0),
    "Tahoe, 64 ms": (636.4, 1.232),
    "Reno, 64 ms": (607.5, 1.291),
    "Vegas, 64 ms": (666.4, 0.001965),
    "Tahoe, 80 ms": (548.1, 1.577),
    "Reno, 80 ms": (523.5, 1.458),
    "Vegas, 80 ms": (629.5, 0.06423),
}
"""Throughput and loss in ns-2.35, mean over five seeds of its own."""


def _label(delay_ms: float) -> str:
    return f"{delay_ms:g} ms"


def panels(scale: Scale) -> Sequence[net.Sweep]:
    """Simulation 2C."""
    points = {
        float(ms): net.Setting(2e6, ms / 1e3, BUFFER, 100e3) for ms in at_scale(DELAYS_MS, scale)
    }
    title = f"2 Mb/s, a buffer of {BUFFER}, bursts of 100 kb/s"
    return [net.Sweep(title, "delay of each link (ms)", _label, points)]


def _name(algorithm: net.Algorithm, delay_ms: int) -> str:
    return net.name(algorithm, _label(delay_ms), "loss")


def _loss(row: Mapping[str, Row], algorithm: net.Algorithm, delay_ms: int) -> float:
    return net.of(row, algorithm, _label(delay_ms), "loss")


EXPERIMENT = net.experiment(
    figures=("4.8",),
    section="section IV.B, simulation 2C",
    claim="With delays above 32 ms Muzha's loss grows; Vegas loses throughput, but few packets",
    parameters={
        "links_bps": 2e6,
        "buffer": BUFFER,
        "load_bps": 100e3,
        "delays_ms": list(DELAYS_MS["full"]),
    },
    panels=panels,
    ns2=NS2,
    expectations=(
        Expectation(
            "Muzha's loss rate grows significantly when the delay is above 32 ms",
            "at 64 ms more than twice that at 32 ms, and still more at 80 ms",
            lambda row: (
                None
                if _name("muzha", 64) not in row
                else _loss(row, "muzha", 64) > 2 * _loss(row, "muzha", 32)
                and _loss(row, "muzha", 80) > _loss(row, "muzha", 64)
            ),
        ),
        Expectation(
            "Vegas' loss rate is much less than Reno's and Muzha's",
            "less than half of each, at all delays above 32 ms",
            lambda row: all_of(
                _loss(row, "vegas", ms) < 0.5 * _loss(row, other, ms)
                for ms in (64, 80)
                for other in ("reno", "muzha")
                if _name(other, ms) in row
            ),
        ),
        Expectation(
            "Vegas' throughput degrades with the delay",
            "at 80 ms below that at 4 ms",
            lambda row: (
                net.of(row, "vegas", _label(80), "throughput")
                < net.of(row, "vegas", _label(4), "throughput")
            ),
        ),
    ),
    notes="In the trace at 80 ms, R1-R2's window triples five times in a row, to 243 packets, "
    "where pipe and buffer hold 68: a hundred packets and more are lost at once, and timeouts "
    "follow. The index is as old as the round trip (180 ms), and a port that measures over 33 ms "
    "sees either a burst or the gap behind it, which reads as an idle link. Muzha's throughput "
    "falls below Reno's from 32 ms on; the paper's text is silent about that. ",
)
