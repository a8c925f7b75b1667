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
        "at load .9, four seeds: with a bottleneck of 5, 10, 20, 50, 100 ms Vegas gets 343, 333, "
        "299, 242, 214 and Enhanced Vegas 521, 544, 565, 603, 633 kb/s: no delay gives both "
        "printed numbers",
    ),
    Choice(
        "queue limit",
        "500 packets",
        "with 50 Vegas gets 165 kb/s at load 1, of which 12 times is more than the link has",
        "four seeds: with 50 Vegas gets 317 and Enhanced Vegas 622 kb/s at load .9, and Enhanced "
        "Vegas 3.0 times as much as Vegas at load 1; with 100 299, 579 and 3.8 times; with 500 "
        "299, 565 and 4.8 times",
    ),
    Choice(
        "mean ON time of the VBR source",
        "20 ms",
        "so ns-2's Vegas comes nearest to the printed 325 kb/s (323 ± 18)",
        "with a queue of 50, four seeds: with 8, 16, 20, 50, 100 ms Vegas gets 353, 328, 317, 275, "
        "266 and Enhanced Vegas 704, 637, 622, 528, 462 kb/s at load .9: 1.7 to 2.0 times as much "
        "throughout, where the paper has 2.36; at load 1 it is 3.8, 3.5, 3.0, 2.4, 2.2 times. With "
        "4 ms bursts are single packets, and much more than the load is sent",
    ),
)


NOTE = (
    "What limits Enhanced Vegas is its window, in the trace 11.8 packets on average over a round "
    "trip of 164 ms, of which the queue of the way back takes 100: it neither loses a packet nor "
    "times out, and RoVegas, which is told the delays by the switches, gets as much. By (4.1) Diff "
    "is W·q / (BaseRTT + q), q the queueing time on the way forth: all of the window counts, also "
    "what waits on the way back. Acknowledgements leave that queue in clumps, data follows them in "
    "bursts, and these wait q = 12 ms (1.5 packets) at the forward bottleneck; so Diff is 2 at W = "
    "2 (1 + 52/12) = 11, whatever the way back would need. 767 kb/s would take 16 packets, and so "
    "a q of 8 ms, one packet. Why the paper's waits less is not explained. Other readings of (4.1) "
    "do not give 767 kb/s either: means over a round instead of the newest RTT, what a round sent "
    "instead of the window, no limit to how far the window runs ahead: 565 kb/s each (four seeds). "
    "Nor does any queue, burst length or delay that leaves Vegas its 325. The 12 times of figure "
    "4.3 need a window of over 200 packets at load 1 with a queue of 500 (4 s), at one packet a "
    "round trip of 200 s. ns-2.35's Vegas gets 40 ± 22 kb/s at load 1 (twelve seeds), Waymark's 34 "
    "± 23."
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
