"""HPCC, PowerTCP and θ-PowerTCP as fluids in front of one bottleneck.

Sources: Li et al., SIGCOMM 2019, algorithm 1 and equations 1 to 4; Addanki et al., NSDI 2022,
equations 1 to 8 and algorithms 1 and 2. Written from the papers, not from ``crates/congestion``.

A sender lets out its window in a base round trip, and never has more than its window in flight. Its
data joins one queue, which is served in order, and is acknowledged a fixed time after it left. Data
and feedback are continuous: a step of time is a small part of a round trip, and has no packets.

Windows are in segments, the queue and what the link carried in octets, times in seconds.
"""

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Protocol


@dataclass(frozen=True)
class Path:
    """A bottleneck, and the way to it and back.

    Attributes:
        rate_bps: of the bottleneck.
        to_queue_s, back_s: from a sender to the queue; from the start of a packet's transmission
            until its acknowledgement is there.
        link_octets: that the bottleneck charges for a segment.
        segment_octets: of a segment as a control counts it.
    """

    rate_bps: float
    to_queue_s: float
    back_s: float
    link_octets: float
    segment_octets: float

    @property
    def base_s(self) -> float:
        """T of HPCC, τ of PowerTCP: a round trip without a queue."""
        return self.to_queue_s + self.back_s

    @property
    def octets_per_s(self) -> float:
        """B."""
        return self.rate_bps / 8

    @property
    def full_window(self) -> float:
        """W_init, HostBw·τ: what a host's link of the same rate carries in a base round trip."""
        return self.octets_per_s * self.base_s / self.segment_octets


@dataclass(frozen=True)
class Feedback:
    """What a step's acknowledgements say.

    Attributes:
        now_s: when they came.
        rtt_s: their round-trip time.
        left_s: when what they acknowledge left the queue; then
        queue: octets were left behind in it, and
        carried: octets had been carried by the link so far.
        segments: that they acknowledge.
        old_window: the window when these were sent.
        ends_round: whether data is acknowledged that was sent after the last round ended.
    """

    now_s: float
    rtt_s: float
    left_s: float
    queue: float
    carried: float
    segments: float
    old_window: float
    ends_round: bool


class Law(Protocol):
    """A congestion control."""

    window: float

    def react(self, seen: Feedback) -> None:
        """Change the window."""
        ...


@dataclass
class Hpcc:
    """Algorithm 1 of HPCC.

    Attributes:
        path: of the flow.
        flows: N of W_AI.
    """

    path: Path
    flows: float
    eta: float = 0.95
    max_stage: int = 5
    window: float = field(init=False)
    _reference: float = field(init=False)
    _in_flight: float = field(init=False, default=1.0)
    _stage: int = field(init=False, default=0)
    _last: Feedback | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        self.window = self._reference = self.path.full_window

    def react(self, seen: Feedback) -> None:
        """NewAck: what is in flight on the link, averaged over T, and the window for it."""
        last, self._last = self._last, seen
        if last is None:
            return
        rate, base_s, full = self.path.octets_per_s, self.path.base_s, self.path.full_window
        interval_s = seen.left_s - last.left_s
        sent = (seen.carried - last.carried) / interval_s
        now = min(seen.queue, last.queue) / (rate * base_s) + sent / rate
        weight = min(interval_s, base_s) / base_s
        self._in_flight += weight * (now - self._in_flight)

        increase = full * (1 - self.eta) / self.flows
        multiplies = self._in_flight >= self.eta or self._stage >= self.max_stage
        factor = self.eta / self._in_flight if multiplies else 1.0
        self.window = min(self._reference * factor, full) + increase
        if seen.ends_round:
            self._reference = self.window
            self._stage = 0 if multiplies else self._stage + 1


@dataclass
class PowerTcp:
    """Algorithm 1 of PowerTCP.

    Attributes:
        path: of the flow.
        flows: N of β.
        gamma: the weight of a new target, per acknowledged segment.
    """

    path: Path
    flows: float
    gamma: float = 0.9
    window: float = field(init=False)
    _power: float = field(init=False, default=1.0)
    _last: Feedback | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        self.window = self.path.full_window

    def react(self, seen: Feedback) -> None:
        """NEW_ACK: current times voltage, averaged over τ, and the window for it."""
        last, self._last = self._last, seen
        if last is None:
            return
        rate, base_s, full = self.path.octets_per_s, self.path.base_s, self.path.full_window
        interval_s = seen.left_s - last.left_s
        current = (seen.queue - last.queue + seen.carried - last.carried) / interval_s
        voltage = seen.queue + rate * base_s
        now = current * voltage / (rate * rate * base_s)
        self._power += min(interval_s, base_s) / base_s * (now - self._power)

        beta = full / self.flows
        target = min(seen.old_window / max(self._power, 1e-9), full) + beta
        kept = (1 - self.gamma) ** seen.segments
        self.window = min((1 - kept) * target + kept * self.window, full + beta)


@dataclass
class ThetaPowerTcp:
    """Algorithm 2 of PowerTCP, with the bound that this project adds.

    Attributes:
        window: the first one.
        beta: segments.
        least_power: a window grows by no more than the inverse.
    """

    window: float
    beta: float
    gamma: float = 0.9
    least_power: float = 0.5
    _base_s: float = field(init=False, default=float("inf"))
    _power: float = field(init=False, default=1.0)
    _last: Feedback | None = field(init=False, default=None)

    def react(self, seen: Feedback) -> None:
        """Power from the round-trip time and its gradient; a window for it once a round trip."""
        last, self._last = self._last, seen
        self._base_s = min(self._base_s, seen.rtt_s)
        if last is not None:
            interval_s = seen.now_s - last.now_s
            gradient = (seen.rtt_s - last.rtt_s) / interval_s
            now = (gradient + 1) * seen.rtt_s / self._base_s
            self._power += min(interval_s / self._base_s, 1.0) * (now - self._power)
        if seen.ends_round:
            target = seen.old_window / max(self._power, self.least_power) + self.beta
            self.window = max(self.gamma * target + (1 - self.gamma) * self.window, 1.0)


@dataclass(frozen=True)
class Sender:
    """A flow.

    Attributes:
        law: its congestion control, at the start.
        start_s: when its first data leaves.
        segments: to send; None: without end.
    """

    law: Law
    start_s: float = 0.0
    segments: float | None = None


@dataclass(frozen=True)
class Course:
    """What happened, by step.

    Attributes:
        step_s: the length of a step.
        queue: octets waiting at its end.
        carried: of each flow, segments that the link carried in it.
        windows: of each flow, at its end.
    """

    step_s: float
    queue: list[float]
    carried: list[list[float]]
    windows: list[list[float]]


STEPS = 50
"""In a base round trip."""


class _Flow:
    """A sender's state: segments sent, arrived at the queue, left and acknowledged, by step."""

    def __init__(self, sender: Sender) -> None:
        self.law = sender.law
        self.start_s = sender.start_s
        self.size = float("inf") if sender.segments is None else sender.segments
        self.sent = [0.0]
        self.left = [0.0]
        self.acked = 0.0
        self.round_ends_at = 0.0
        self.windows = [sender.law.window]

    def arrived(self, step: int) -> float:
        return self.sent[max(0, min(step, len(self.sent) - 1))]


def course(
    path: Path,
    senders: Sequence[Sender],
    end_s: float,
    other_bps: Callable[[float], float] = lambda _: 0.0,
    steps: int = STEPS,
) -> Course:
    """What flows do from 0 to ``end_s``.

    Args:
        path: of all flows.
        senders: the flows.
        end_s: in seconds.
        other_bps: of traffic that joins the queue at a time and does not react, on the link.
        steps: in a base round trip.
    """
    step_s = path.base_s / steps
    to_queue, back = round(path.to_queue_s / step_s), round(path.back_s / step_s)
    flows = [_Flow(sender) for sender in senders]
    # Octets that have joined the queue and left it, by step; step 0 is before the beginning.
    joined, carried, queue = [0.0], [0.0], [0.0]
    # The step, with its fraction, in which what leaves had joined.
    origin = [0.0]
    for step in range(1, round(end_s / step_s) + 1):
        now_s = step * step_s
        for flow in flows:
            _acknowledge(flow, step, step - back, to_queue, step_s, queue, carried, origin)
            rate = flow.law.window / path.base_s if now_s > flow.start_s else 0.0
            room = flow.law.window - (flow.sent[-1] - flow.acked)
            fresh = max(0.0, min(rate * step_s, room, flow.size - flow.sent[-1]))
            flow.sent.append(flow.sent[-1] + fresh)
            flow.windows.append(flow.law.window)
        own = sum(f.arrived(step - to_queue) - f.arrived(step - to_queue - 1) for f in flows)
        joined.append(
            joined[-1] + own * path.link_octets + other_bps(now_s - step_s / 2) / 8 * step_s
        )
        carried.append(min(joined[-1], carried[-1] + path.octets_per_s * step_s))
        queue.append(joined[-1] - carried[-1])
        origin.append(_when(joined, carried[-1], int(origin[-1])))
        whole, part = int(origin[-1]), origin[-1] % 1
        for flow in flows:
            before, after = (flow.arrived(whole + more - to_queue) for more in (0, 1))
            flow.left.append(before + part * (after - before))
    return Course(
        step_s,
        queue[1:],
        [[after - before for before, after in pairwise(f.left)] for f in flows],
        [f.windows[1:] for f in flows],
    )


def _when(joined: Sequence[float], octets: float, first: int) -> float:
    """The step, with its fraction, at which this many octets had joined."""
    after = bisect_right(joined, octets, lo=first)
    if after == len(joined):
        return float(len(joined) - 1)
    low, high = joined[after - 1], joined[after]
    return after - 1 + (octets - low) / (high - low)


def _acknowledge(
    flow: _Flow,
    step: int,
    left_at: int,
    to_queue: int,
    step_s: float,
    queue: Sequence[float],
    carried: Sequence[float],
    origin: Sequence[float],
) -> None:
    """What left the queue in a step has been acknowledged now."""
    if left_at < 1 or flow.left[left_at] <= flow.acked:
        return
    segments, flow.acked = flow.left[left_at] - flow.acked, flow.left[left_at]
    sent_at = origin[left_at] - to_queue
    ends_round = flow.acked > flow.round_ends_at
    if ends_round:
        flow.round_ends_at = flow.sent[-1]
    flow.law.react(
        Feedback(
            now_s=step * step_s,
            rtt_s=(step - sent_at) * step_s,
            left_s=left_at * step_s,
            queue=queue[left_at],
            carried=carried[left_at],
            segments=segments,
            old_window=flow.windows[max(0, int(sent_at))],
            ends_round=ends_round,
        )
    )
