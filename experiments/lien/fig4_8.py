"""Lien and Chung, figure 4.8: throughput and loss of four flows over the links' delay."""

from collections.abc import Mapping, Sequence

from experiments.lien import multiple_sessions as net
from waymark import Expectation, Row, Scale, all_of, at_scale

DELAYS_MS: Mapping[Scale, Sequence[int]] = {"quick": (4, 32, 80), "full": (4, 8, 16, 32, 64, 80)}
BUFFER = 25


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
