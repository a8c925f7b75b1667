"""The network of Dahal 2007, figure 4.2, and what is measured on it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from waymark import DAHAL, Choice, Flow, Profile, Result, Scenario, WaymarkError
from waymark.analysis.fairness import jain
from waymark.networks import in_file
from waymark.result import Values
from waymark.traffic import Algorithm

PAIRS = 5
LINK = (1e6, 0.01)
BUFFER = 50
END_S = 100.0
SAMPLE_S = 0.5
QUEUE = "r1->r2"
START_WITHIN_S = 0.1

PROFILES: Mapping[Algorithm, Profile] = {
    "rbcc": DAHAL,
    "newreno": replace(DAHAL, packet_octets=1040),
    "vegas": DAHAL,
    "sack": replace(DAHAL, packet_octets=1040),
}

PARAMETERS: dict[str, object] = {
    "pairs": PAIRS,
    "links": "all 1 Mb/s, 10 ms",
    "buffer": BUFFER,
    "end_s": END_S,
    "profiles": {name: profile.by_family() for name, profile in PROFILES.items()},
    "vegas_alpha_beta_gamma": [1, 3, 1],
    "rtt_min_s": 0.062,
}

CHOICES = (
    Choice(
        "starts",
        "all at 0 s with the first seed, uniform in the first 0.1 s with the others",
        "the paper gives none",
        "the deviation over seeds tells",
    ),
    Choice(
        "RTT_min",
        "0.062 s: what a 40-octet packet takes over the six links",
        "(3.2) leaves the packet's length open; the latencies of table 4.1 over F are .062 both",
        "with a data packet's length T would be a third longer: F = 2 acts as F = 2.7",
        fitted=True,
    ),
    Choice(
        "octets of a packet",
        "1000 of RBCC and Vegas, 1040 of NewReno and SACK",
        "the thesis gives none; ns-2.35's defaults add headers to the latter two",
        "with 1000 NewReno loses 1.5 and 15.9 % with 5 and 25 flows instead of 1.6 and 14.7 %, and "
        "has 100 and 95 % of the capacity instead of 96 and 92",
    ),
)

MEASURES = (
    "Loss is retransmissions of packets sent, throughput packets sent less retransmissions at 1000 "
    "octets each, in percent of 1 Mb/s, latency the senders' RTT samples, jitter their standard "
    "deviation; all as the thesis (section 4.5), over the whole 100 s. "
)


@dataclass(frozen=True)
class Control:
    """A congestion control and, for RBCC, where its threshold comes from.

    Attributes:
        factor: F, which makes T = F · RTT_min; None: T is found by probing.
    """

    algorithm: Algorithm
    factor: float | None = None


def run(name: str, control: Control, count: int, seed: int, *, trace: bool = False) -> Scenario:
    """``count`` flows of one kind, spread evenly over the five pairs; the first is traced."""
    starts_s = (
        np.zeros(count)
        if seed == 1
        else np.random.default_rng(seed).uniform(0, START_WITHIN_S, count)
    )
    flows = tuple(
        Flow(
            f"s{i % PAIRS + 1}",
            f"d{i % PAIRS + 1}",
            control.algorithm,
            PROFILES[control.algorithm],
            start_s=float(starts_s[i]),
            threshold_factor=control.factor,
            trace=trace and i == 0,
        )
        for i in range(count)
    )
    return Scenario(name, in_file("dahal"), END_S, flows=flows, seed=seed, sample_s=SAMPLE_S)


def loss_percent(result: Result) -> float:
    """Retransmissions of packets sent, in percent."""
    resent = sum(flow.retransmissions for flow in result.flows)
    sent = sum(int(flow.sent.sum()) for flow in result.flows)
    # Of SYNs those that are sent again count: where none arrives, all is lost.
    return 100 * resent / max(sent, resent, 1)


def fresh(result: Result) -> list[int]:
    """Packets that each flow sent for the first time."""
    return [int(flow.sent.sum()) - flow.retransmissions for flow in result.flows]


def utilisation_percent(result: Result) -> float:
    """What all flows sent for the first time, in percent of the bottleneck."""
    return 100 * sum(fresh(result)) * 8000 / (LINK[0] * END_S)


def fairness(result: Result) -> float:
    """Jain's index of the flows' throughput (1.1)."""
    return jain([float(packets) for packets in fresh(result)])


def rtts_s(result: Result) -> tuple[Values, Values]:
    """When the first flow took a sample of its RTT, and the sample."""
    trace = result.flows[0].trace
    if trace is None:
        raise WaymarkError("the run was not traced")
    acknowledged = [change == "ack" for change in trace.changes]
    sampled = np.array(acknowledged)[trace.change] & ~np.isnan(trace.rtt_s)
    return trace.time_s[sampled], trace.rtt_s[sampled]


def latency_s(results: Sequence[Result]) -> list[float]:
    """Mean RTT of the first flow, by seed."""
    return [float(np.mean(rtts_s(result)[1])) for result in results]


def jitter_s(results: Sequence[Result]) -> list[float]:
    """Standard deviation of the first flow's RTT, by seed."""
    return [float(np.std(rtts_s(result)[1])) for result in results]
