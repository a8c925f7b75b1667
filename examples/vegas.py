"""Vegas (Brakmo and Peterson 1995; Chan 2004, §2.2), with the window of the compiled one.

``python examples/vegas.py`` runs both in the same network, compares their windows at every change,
and writes ``vegas.parquet`` for ``waymark plot``.
"""

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import waymark as wm

if TYPE_CHECKING:
    import pyarrow as pa

MIN_WINDOW = 2.0
"""No decrease takes the window below two segments."""

SLACK = 3.0
"""The window grows only if it exceeds the segments in flight by no more than this, in segments."""


def elapsed(start: float, now: float) -> float:
    """Seconds between two times, rounded to whole nanoseconds like the compiled one."""
    return round(now - start, 9)


@dataclass
class Round:
    """From the sending of the marked segment to its acknowledgement, about one RTT."""

    mark: int
    start: float
    stale: bool = False  # the mark was sent before the round and gives no RTT
    rtt_sum: float = 0.0
    samples: int = 0


class Vegas(wm.CongestionControl):
    """Keeps alpha to beta of its own segments in the queues."""

    recovery = "vegas"

    def __init__(self, alpha: float = 1, beta: float = 3, gamma: float = 1) -> None:
        self.alpha, self.beta, self.gamma = alpha, beta, gamma

    def on_start(self, limits: wm.Limits) -> None:
        super().on_start(limits)
        self.cwnd = 1.0
        self.initial_window = limits.initial_window
        self.increment = 0.0  # added to cwnd by every new ACK of the round
        self.growing = True  # slow start grows in every other round
        self.deflated = 0.0  # the window to which a recovery deflates cwnd
        self.last_cut = 0.0
        self.round: Round | None = None
        self.highest = 0

    def on_sent(self, now: float, segment: int) -> None:
        self.highest = max(self.highest, segment + 1)
        if self.round is None:
            self.round = Round(segment, now)
            self.last_cut = now

    def on_ack(self, event: wm.AckEvent) -> None:
        self.first_answer(event)
        if event.acked - event.newly_acked == 1:  # the ACK after segment 0's
            self.cwnd = self.initial_window
        if self.round is not None and event.acked > self.round.mark:
            self.round = self.close(self.round, event)
        if self.increment >= 1 and self.cwnd >= self.ssthresh:
            self.increment = 0.0
        if self.cwnd - (event.next - event.acked) <= SLACK:
            self.cwnd += self.increment
        if event.rtt is not None and self.round is not None:
            self.round.rtt_sum += event.rtt
            self.round.samples += 1
            self.base_rtt = min(self.base_rtt or event.rtt, event.rtt)

    def on_duplicate_ack(self, event: wm.AckEvent) -> None:
        self.first_answer(event)

    def first_answer(self, event: wm.AckEvent) -> None:
        """The first acknowledgement gives the first base RTT."""
        if self.base_rtt is None and self.round is not None:
            self.base_rtt = elapsed(self.round.start, event.now)

    def close(self, ended: Round, event: wm.AckEvent) -> Round:
        """Once per round trip: estimate the segments in queues, and choose the window's change."""
        sent = event.next - ended.mark
        rtt = ended.rtt_sum / ended.samples if ended.samples else 0.0
        if not ended.samples and not ended.stale:
            rtt = elapsed(ended.start, event.now)
        self.increment = 0.0
        if rtt > 0 and self.base_rtt is not None:
            if rtt < self.base_rtt or sent <= 1:
                self.base_rtt = rtt
            expected = (event.next - event.acked + 1) / self.base_rtt  # Chan (2.1)
            self.diff = (expected - sent / rtt) * self.base_rtt
            self.step(int(self.diff + 0.5))
        return Round(event.next, event.now, stale=event.next < self.highest)

    def step(self, delta: int) -> None:
        """Slow start doubles every other round (Chan 2004, §2.2.1); then Chan (2.2)."""
        if self.cwnd < self.ssthresh:
            self.growing = not self.growing
            if self.growing and delta <= self.gamma:
                self.increment = 1.0
            elif self.growing:
                self.ssthresh = MIN_WINDOW
                self.cwnd = max(self.cwnd - self.cwnd / 8, MIN_WINDOW)
        elif delta > self.beta:
            self.cwnd = max(self.cwnd - 1, MIN_WINDOW)
        elif delta < self.alpha:
            self.increment = 1 / self.cwnd

    def on_loss(self, event: wm.LossEvent) -> None:
        """Cut once per window: only if it was not cut since the lost segment was sent."""
        if event.sent_at is None or event.sent_at <= self.last_cut:
            return
        window = event.window
        if window <= 3:
            window = 2
        elif event.transmissions > 1:
            window //= 2
        else:
            window -= window // 4
        self.deflated = float(window)
        self.cwnd = self.deflated + event.duplicates
        self.last_cut = event.now

    def on_departure(self, now: float) -> None:
        self.cwnd += 1

    def on_recovered(self, now: float) -> None:
        if self.cwnd > self.deflated:
            self.cwnd = self.deflated
            self.ssthresh = MIN_WINDOW

    def on_timeout(self, event: wm.TimeoutEvent) -> None:
        self.ssthresh = max(event.window // 2, MIN_WINDOW)
        self.cwnd = MIN_WINDOW
        self.deflated = 0.0
        self.last_cut = event.now


PROFILE = wm.Ns2Profile(floating_rtt=False)
"""A transport that takes times from a clock of whole nanoseconds."""

NETWORK = wm.Topology(
    hosts=(wm.Host("a"), wm.Host("b")),
    switches=(wm.Switch("r"),),
    links=(
        *wm.duplex("a", "r", 10e6, 0.001),
        *wm.duplex("r", "b", 1.6e6, 0.02, loss=0.01),
    ),
)


def curve(algorithm: type[Vegas] | Literal["vegas"]) -> "pa.Table":
    """The sender's state at every change in 60 s, with one packet in a hundred lost."""
    flow = wm.Flow("a", "b", algorithm, PROFILE, trace=True)
    return wm.run(wm.Scenario("vegas", NETWORK, end_s=60, flows=(flow,))).trace(0)


if __name__ == "__main__":
    ours, compiled = curve(Vegas), curve("vegas")
    wm.trace.write(ours, "vegas.parquet")
    same = ours.equals(compiled)
    print(f"{ours.num_rows} changes, {'as' if same else 'NOT as'} the compiled one's")
    sys.exit(not same)
