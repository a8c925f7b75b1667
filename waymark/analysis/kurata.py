"""Reno and Vegas at one bottleneck: Kurata, Hasegawa and Murata, §4.

The paper's formulas are images that its text lost; what is here is derived from its prose, and the
numbers of equations are inferred. μ is the bottleneck's rate in packets per second, τ the sum of
the propagation delays one way, windows and queues are in packets.
"""

from dataclasses import dataclass
from math import log2


@dataclass(frozen=True)
class Mix:
    """Flows and the path that they share.

    Attributes:
        reno, vegas: how many flows of each.
        rate_pps: μ.
        delay_s: τ.
        alpha, beta: Vegas' thresholds, packets.
    """

    reno: int
    vegas: int
    rate_pps: float
    delay_s: float
    alpha: float = 1
    beta: float = 3

    @property
    def pipe(self) -> float:
        """2τμ: packets that are under way where nothing is queued."""
        return 2 * self.delay_s * self.rate_pps

    @property
    def vegas_window(self) -> float:
        """Of all Vegas flows: (α + β)/2 packets each (6)."""
        return self.vegas * (self.alpha + self.beta) / 2


@dataclass(frozen=True)
class Shares:
    """Throughput of one flow of each kind, packets per second."""

    reno_pps: float
    vegas_pps: float


@dataclass(frozen=True)
class Sawtooth:
    """The cycle of Reno's windows over a drop-tail queue (figure 2).

    Attributes:
        window_at_loss: of all Reno flows, when the queue is full (7).
        window_after: just after the loss (9).
        rounds: round trips of the climb; one more is flat (10).
        mean_window: over the cycle (10).
    """

    window_at_loss: float
    window_after: float
    rounds: float
    mean_window: float


def drop_tail_cycle(mix: Mix, buffer: float) -> Sawtooth:
    """The sawtooth over a queue of ``buffer`` packets.

    In a loss event N_r packets are lost, one a Reno flow, shared with Vegas in proportion to
    the windows (8); each lost packet of Reno halves one flow's window. Where Vegas' packets alone
    fill the queue the model leaves Reno nothing.
    """
    at_loss = max(0.0, mix.pipe + buffer - mix.vegas_window)
    lost = mix.reno * at_loss / (at_loss + mix.vegas_window)
    after = at_loss * (1 - lost / (2 * mix.reno))
    rounds = (at_loss - after) / mix.reno
    mean = (rounds * (at_loss + after) / 2 + at_loss) / (rounds + 1)
    return Sawtooth(at_loss, after, rounds, mean)


def drop_tail(mix: Mix, buffer: float) -> Shares:
    """Throughput over a drop-tail queue: in proportion to the windows (11, 12)."""
    return _shares(mix, drop_tail_cycle(mix, buffer).mean_window)


def queue_of(mix: Mix, reno_window: float) -> float:
    """Packets queued where Reno's windows add up to ``reno_window``."""
    return max(0.0, reno_window + mix.vegas_window - mix.pipe)


def red(mix: Mix, drop_probability: float, min_rto_s: float = 0.2) -> Shares:
    """Throughput where each packet is dropped with one probability (13 to 22).

    A cycle of one Reno flow is the 1/p packets between two drops. It ends in a timeout if any of
    the other packets of the window is dropped too, else in a fast retransmit. The round-trip time
    depends on the queue, which depends on the windows: found by iteration.
    """
    window = _window_at_loss(drop_probability)
    timeout_probability = _timeout_probability(drop_probability, window)
    rtt_s = 2 * mix.delay_s
    mean = 1.0
    for _ in range(200):
        rto_s = max(min_rto_s, 2 * rtt_s)
        slow_start_s = rtt_s * max(0.0, log2(window / 2))
        climb_s = rtt_s * window / 2
        cycle_s = climb_s + timeout_probability * (slow_start_s + rto_s)
        mean = rtt_s / drop_probability / cycle_s
        queue = queue_of(mix, mix.reno * mean)
        rtt_s = (rtt_s + 2 * mix.delay_s + queue / mix.rate_pps) / 2
    return _shares(mix, mix.reno * mean)


def _shares(mix: Mix, reno_window: float) -> Shares:
    total = reno_window + mix.vegas_window
    rate_pps = min(mix.rate_pps, total / (2 * mix.delay_s))
    return Shares(
        rate_pps * reno_window / total / mix.reno,
        rate_pps * mix.vegas_window / total / mix.vegas,
    )


def _timeout_probability(drop_probability: float, window: float) -> float:
    return 1 - (1 - drop_probability) ** (window - 1)


def _window_at_loss(drop_probability: float) -> float:
    """The window at which a cycle has sent 1/p packets (20), by bisection."""
    low, high = 1.0, 4.0 / drop_probability
    for _ in range(100):
        window = (low + high) / 2
        timeout = _timeout_probability(drop_probability, window)
        climb = 3 * window**2 / 8
        sent = climb + timeout * max(0.0, window / 2 - 1)
        low, high = (window, high) if sent < 1 / drop_probability else (low, window)
    return (low + high) / 2
