"""The network of Chan 2004, figure 4.1, and a flow of Vegas or Enhanced Vegas over it."""

from dataclasses import asdict
from typing import Literal

from waymark import CHAN, Choice, Flow, OnOff, Scenario, Topology
from waymark.networks import chain

Algorithm = Literal["vegas", "enhancedvegas"]
ALGORITHMS: tuple[Algorithm, ...] = ("vegas", "enhancedvegas")

BOTTLENECK_BPS = 1_000_000
VBR_ON_BPS = 2_000_000
VBR_MEAN_ON_S = 0.02
QUEUE_PACKETS = 500

PARAMETERS: dict[str, object] = {
    "access": "10 Mb/s, 1 ms",
    "bottleneck": "1 Mb/s, 20 ms",
    "queue_packets": QUEUE_PACKETS,
    "profile": asdict(CHAN),
    "alpha_beta_gamma": [1, 3, 1],
    "vbr": {"on_bps": VBR_ON_BPS, "mean_on_s": VBR_MEAN_ON_S, "packet_octets": 1000},
}

CHOICES = (
    Choice(
        "network",
        "access 10 Mb/s and 1 ms, bottleneck 1 Mb/s and 20 ms",
        "figure 4.1 is lost; 1 Mb/s follows from the printed rates, the rest is chapter 3's",
        "not swept",
    ),
    Choice(
        "queue limit",
        "500 packets",
        "with 50 Vegas gets 165 kb/s at load 1, of which 12 times is more than the link has",
        "at load .9, one seed: with 50 Vegas gets 284 and Enhanced Vegas 582 kb/s, with 100 257 "
        "and 516, with 500 254 and 502",
    ),
    Choice(
        "mean ON time of the VBR source",
        "20 ms",
        "so ns-2's Vegas comes nearest to the printed 325 kb/s (323 ± 18)",
        "at load .9, one seed: with 5 ms Vegas gets 30 and Enhanced Vegas 173 kb/s (bursts are "
        "whole packets, so that more than .9 is sent), with 50 ms 204 and 422",
    ),
)


NOTE = (
    "Why Enhanced Vegas gets less than printed is not explained. The estimate of delays is not the "
    "cause: RoVegas, which is told them by the switches, gets 497 kb/s where Enhanced Vegas gets "
    "502 (load .9, one seed). Neither loses a packet or times out; the window, which may grow by "
    "one packet a round trip, does not follow the queue of the way back, and so throughput falls "
    "while that is long."
)


def topology() -> Topology:
    """s1 sends to d1 over r1 and r2, s2 to d2 the other way."""
    hosts = {"s1": "r1", "d1": "r2", "s2": "r2", "d2": "r1"}
    return chain([(BOTTLENECK_BPS, 0.02)], hosts, (10e6, 0.001), QUEUE_PACKETS)


def traffic(load: float, start_s: float = 0.0) -> tuple[OnOff, ...]:
    """The VBR source against the flow; none at load 0."""
    if load == 0:
        return ()
    vbr = OnOff.for_load(
        "s2",
        "d2",
        load=load,
        link_bps=BOTTLENECK_BPS,
        rate_bps=VBR_ON_BPS,
        mean_on_s=VBR_MEAN_ON_S,
        start_s=start_s,
    )
    return (vbr,)


def run(
    name: str, algorithm: Algorithm, sources: tuple[OnOff, ...], end_s: float, seed: int
) -> Scenario:
    """One run of one algorithm alone."""
    flow = Flow("s1", "d1", algorithm, CHAN)
    return Scenario(name, topology(), end_s, flows=(flow,), sources=sources, seed=seed)
