"""Lien and Chung, figure 4.8: throughput and loss of four flows over the links' delay."""

from collections.abc import Mapping, Sequence

from experiments.lien import multiple_sessions as net
from waymark import Expectation, Row, Scale, at_scale

DELAYS_MS: Mapping[Scale, Sequence[int]] = {"quick": (4, 32, 80), "full": (4, 8, 16, 32, 64, 80)}
BUFFER = 25


def _label(delay_ms: float) -> str:
    return f"{delay_ms:g} ms"


def _panels(scale: Scale) -> Sequence[net.Sweep]:
    points = {
        float(ms): net.Setting(2e6, ms / 1e3, BUFFER, 100e3) for ms in at_scale(DELAYS_MS, scale)
    }
    title = f"2 Mb/s, a buffer of {BUFFER}, bursts of 100 kb/s"
    return [net.Sweep(title, "delay of each link (ms)", _label, points)]


def _loss(row: Mapping[str, Row], algorithm: net.Algorithm, delay_ms: int) -> float:
    return net.of(row, algorithm, _label(delay_ms), "loss")


EXPERIMENT = net.experiment(
    figures=("4.8",),
    section="section IV.B, simulation 2C",
    claim="A long delay makes the routers' advice stale: Muzha's loss grows past 32 ms",
    parameters={
        "links_bps": 2e6,
        "buffer": BUFFER,
        "load_bps": 100e3,
        "delays_ms": list(DELAYS_MS["full"]),
    },
    panels=_panels,
    expectations=(
        Expectation(
            "Muzha's loss rate rises much when the delay is above 32 ms",
            "at 80 ms at least twice that at 4 ms, and above that at 32 ms",
            lambda row: (
                _loss(row, "muzha", 80) >= 2 * _loss(row, "muzha", 4)
                and _loss(row, "muzha", 80) > _loss(row, "muzha", 32)
            ),
        ),
        Expectation(
            "Vegas loses less than Reno and Muzha",
            "at 80 ms",
            lambda row: _loss(row, "vegas", 80) < min(_loss(row, a, 80) for a in ("reno", "muzha")),
        ),
        Expectation(
            "Vegas' throughput degrades too",
            "at 80 ms below that at 4 ms",
            lambda row: (
                net.of(row, "vegas", _label(80), "throughput")
                < net.of(row, "vegas", _label(4), "throughput")
            ),
        ),
    ),
    notes="In the trace at 80 ms, R1-R2's window triples five times in a row, to 243 packets, "
    "where pipe and buffer hold 68; a hundred packets and more are lost at once, and timeouts "
    "follow. The advice is as old as the round trip (180 ms), and a port that measures over 33 ms "
    "sees either a burst or the gap behind it, which reads as an idle link. ",
)
