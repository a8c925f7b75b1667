"""A user-defined mark: ``peak.p4`` writes the longest queue on the path, and a control reads it.

``python examples/peak.py`` prints the results of the control and of Vegas in the same network.
"""

from pathlib import Path

import waymark as wm

PEAK = wm.Mark("peak", option=0x9E, fields=(wm.Field("depth", 16, "max"),))


class Shallow(wm.CongestionControl):
    """Keeps the longest queue on the path at some packets."""

    marks = (PEAK,)

    def __init__(self, target: int = 4) -> None:
        self.target = target

    def on_ack(self, event: wm.AckEvent) -> None:
        depth = event.marks["peak"].depth
        if self.cwnd < self.ssthresh and depth < self.target:
            self.cwnd += 1
        else:
            self.ssthresh = 0
            change = 1 / self.cwnd
            self.cwnd = max(self.cwnd + (change if depth < self.target else -change), 2)

    def on_loss(self, event: wm.LossEvent) -> None:
        self.cwnd = max(self.cwnd / 2, 2)

    def on_timeout(self, event: wm.TimeoutEvent) -> None:
        self.cwnd = 2


PROGRAM = str(Path(__file__).with_name("peak.p4"))

NETWORK = wm.Topology(
    hosts=(wm.Host("a"), wm.Host("b")),
    switches=(wm.Switch("r1", PROGRAM), wm.Switch("r2", PROGRAM)),
    links=(
        *wm.duplex("a", "r1", 10e6, 0.001),
        *wm.duplex("r1", "r2", 1.6e6, 0.02, queue_packets=20),
        *wm.duplex("r2", "b", 10e6, 0.001),
    ),
)

if __name__ == "__main__":
    for control in (Shallow, "vegas"):
        flow = wm.Flow("a", "b", control)
        result = wm.run(wm.Scenario("peak", NETWORK, end_s=30, flows=(flow,)))
        print(
            f"{flow.algorithm_name}: {result.throughput_bps(0, 10, 30) / 1e3:.0f} kb/s,",
            f"queue {result.mean_waiting('r1->r2', 10, 30):.1f} packets,",
            f"packet {result.flows[0].packet_octets} octets,",
            f"{result.flows[0].feedback_octets} of them the mark's",
        )
