"""Transfers of a whole file by one flow alone: tables 6, 7 and 8 of Srijith et al."""

from collections.abc import Sequence

from experiments.srijith import common
from waymark import Scenario
from waymark.networks import RateDelay, dumbbell
from waymark.result import Result
from waymark.traffic import Algorithm

ALGORITHMS: tuple[Algorithm, ...] = ("newreno", "vegas", "vegasa")
START_S = 0.1
END_S = 500.0
HOST_QUEUE_PACKETS = 1000


def run(
    name: str,
    algorithm: Algorithm,
    links: Sequence[RateDelay],
    packets: int,
    queue_packets: int,
    seed: int,
) -> Scenario:
    """One transfer over sender's link, bottleneck and receiver's link.

    ``queue_packets`` is the routers' limit; the sender's own queue drops nothing.
    """
    sender, middle, receiver = links
    network = dumbbell(1, middle, sender, receiver, queue_packets, HOST_QUEUE_PACKETS)
    flow = common.flow(1, algorithm, start_s=START_S, segments=packets)
    return Scenario(name, network, END_S, flows=(flow,), seed=seed)


def finished_s(results: Sequence[Result]) -> list[float]:
    """When all was acknowledged, counted from 0; the end of the run if it never was."""
    return [r.flows[0].finished_s or END_S for r in results]


def queue(results: Sequence[Result]) -> list[float]:
    """Mean packets waiting at the bottleneck, over all of the 500 s."""
    return [r.mean_waiting("r1->r2", 0, END_S) for r in results]


def resent(results: Sequence[Result]) -> list[float]:
    """Retransmitted packets."""
    return [float(r.flows[0].retransmissions) for r in results]
