"""The network of Chan 2004, figure 5.1, and how long a flow takes to settle on it."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Literal

import numpy as np

from waymark import CHAN, Cbr, Choice, Flow, Scenario
from waymark.networks import dumbbell
from waymark.result import Result

Algorithm = Literal["vegas", "quickvegas"]
ALGORITHMS: tuple[Algorithm, ...] = ("vegas", "quickvegas")

ACCESS = (1e9, 0.001)
DELAY_S = 0.048
BASE_RTT_S = 0.1
PROFILE = replace(CHAN, window=20_000)
NEWRENO = replace(PROFILE, packet_octets=1040, syn=True, bugfix=True, exact_halving=True)
"""With what ns-2.35 does for Reno's family, as in its stock profile."""

ALPHA, BETA, GAMMA = 2, 4, 1
QUEUE_PACKETS = 10_000
SAMPLE_S = 0.1
QUEUE = "r1->r2"
TOLERANCE_PACKETS = 2.0
PHASES = ("new", "halved", "doubled")

PARAMETERS: dict[str, object] = {
    "access": "1 Gb/s, 1 ms",
    "bottleneck_delay_s": DELAY_S,
    "profile": PROFILE.by_family(),
    "alpha_beta_gamma": [ALPHA, BETA, GAMMA],
}

SETTLED_CHOICE = Choice(
    "what 'converged' means",
    "from then on, in averages of 0.1 s, the queue is within 2 packets of the range that it has in "
    "the phase's last 5 s, and the throughput within 3 % of its mean there",
    "the paper does not say. With 2 packets the times come nearest to the printed ones; a range, "
    "because Quick Vegas with the CBR source settles in a cycle of 3.5 packets at 40, 60 and 100 "
    "Mb/s",
    "figure 5.2 with 1 packet: Quick Vegas 27.0, 8.1, 3.1 s; with 2: 27.0, 6.7, 3.1; with 3: 25.0, "
    "6.7, 3.1; Vegas' times change by 0.3 s",
    fitted=True,
)
WINDOW_CHOICE = Choice(
    "receiver's window",
    "20000 packets",
    "the paper's windows need more than ns-2's default",
    "none, as long as it is above the largest window",
)


def flow(number: int, algorithm: Algorithm | Literal["newreno"], start_s: float = 0.0) -> Flow:
    """A greedy flow s<number> -> d<number>; NewReno's packets take 1040 octets."""
    source, target = f"s{number}", f"d{number}"
    if algorithm == "newreno":
        return Flow(source, target, algorithm, NEWRENO, start_s=start_s)
    settings = {"alpha": ALPHA, "beta": BETA, "gamma": GAMMA}
    return Flow(source, target, algorithm, PROFILE, start_s=start_s, settings=settings)


def halved_and_doubled(
    name: str,
    algorithm: Algorithm,
    capacity_bps: float,
    times_s: tuple[float, float, float],
    seed: int,
) -> Scenario:
    """One flow; a CBR source takes half of the link between the first two times."""
    from_s, to_s, end_s = times_s
    cbr = Cbr("s2", "d2", capacity_bps / 2, start_s=from_s, stop_s=to_s)
    return Scenario(
        name,
        dumbbell(2, (capacity_bps, DELAY_S), ACCESS, queue_packets=QUEUE_PACKETS),
        end_s,
        flows=(flow(1, algorithm),),
        sources=(cbr,),
        seed=seed,
        sample_s=SAMPLE_S,
    )


def settling_s(result: Result, times_s: tuple[float, float, float]) -> Mapping[str, float]:
    """How long each phase took to settle: new flow, rate halved, rate doubled."""
    from_s, to_s, end_s = times_s
    spans = ((0.0, from_s), (from_s, to_s), (to_s, end_s))
    return {
        phase: settled_after_s(result, *span) for phase, span in zip(PHASES, spans, strict=True)
    }


def settled_after_s(result: Result, from_s: float, to_s: float) -> float:
    """When the queue last left its final range, counted from ``from_s``.

    A range, because a flow that shares the link with a CBR source can settle in a small cycle.
    """
    first, last = round(from_s / result.sample_s), round(to_s / result.sample_s)
    waiting = result.queues[QUEUE].waiting[first:last]
    final = waiting[-round(5 / result.sample_s) :]
    low, high = final.min() - TOLERANCE_PACKETS, final.max() + TOLERANCE_PACKETS
    outside = np.flatnonzero((waiting < low) | (waiting > high))
    delivered = result.flows[0].delivered[first:last]
    rate = float(np.mean(delivered[-round(5 / result.sample_s) :]))
    slow = np.flatnonzero(delivered < rate - max(0.03 * rate, 1.5))
    unsettled = max(outside.max(initial=-1), slow.max(initial=-1))
    return float(unsettled + 1) * result.sample_s
