"""Additive increase, multiplicative decrease (RFC 5681, §3.1): a complete congestion control.

``python examples/aimd.py`` writes ``aimd.parquet``, and ``waymark plot aimd.parquet`` draws it.
"""

import waymark as wm


class Aimd(wm.CongestionControl):
    """Grows by one segment per round trip, faster in slow start; halves when a segment is lost."""

    def on_ack(self, event: wm.AckEvent) -> None:
        if not event.window_unused:
            self.cwnd += 1 if self.cwnd < self.ssthresh else 1 / self.cwnd

    def on_loss(self, event: wm.LossEvent) -> None:
        self.cwnd = self.ssthresh = max(event.window // 2, 2)

    def on_timeout(self, event: wm.TimeoutEvent) -> None:
        self.cwnd, self.ssthresh = 1, max(event.window // 2, 2)


NETWORK = wm.Topology(
    hosts=(wm.Host("a"), wm.Host("b")),
    switches=(wm.Switch("r"),),
    links=(
        *wm.duplex("a", "r", 10e6, 0.001),
        *wm.duplex("r", "b", 1.6e6, 0.02, queue_packets=20),
    ),
)

if __name__ == "__main__":
    flow = wm.Flow("a", "b", Aimd, trace=True)
    result = wm.run(wm.Scenario("aimd", NETWORK, end_s=30, flows=(flow,)))
    print(f"{result.throughput_bps(0, from_s=5, to_s=30) / 1e3:.0f} kb/s")
    wm.trace.write(result.trace(0), "aimd.parquet")
