"""Vegas+ (Hasegawa, Kurata and Murata 2000): Vegas that notices a flow that fills the queue."""

import waymark as wm


class VegasPlus(wm.CongestionControl):
    """Keeps ALPHA to BETA packets of its own in the queues on the way of the data."""

    recovery = "newreno"

    ALPHA = 1
    BETA = 3
    PATIENCE = 8  # round trips whose delay grows, although the window does not

    def on_start(self, limits: wm.Limits) -> None:
        super().on_start(limits)
        self.base_rtt = None  # the round-trip time without queues, in seconds
        self.suspicion = 0  # grows with each such round trip, falls with each other one
        self.last_rtt = 0.0  # of the last round trip, in seconds
        self.round_end = 0  # once per round trip: when this segment is acknowledged

    def on_ack(self, event: wm.AckEvent) -> None:
        if event.rtt is None:
            return  # sent twice: no measurement
        if self.base_rtt is None or event.rtt < self.base_rtt:
            self.base_rtt = event.rtt
        if event.acked <= self.round_end:
            return
        self.round_end = event.next
        # TODO 1: if this round trip took longer than the last one, suspicion rises by 1; else it
        # falls by 1, not below 0. Remember the round-trip time for the next comparison.

        # TODO 2: from PATIENCE on, the window grows by one packet per round trip, as Reno's does,
        # and Vegas' rule below does not apply.

        queued = self.cwnd * (1 - self.base_rtt / event.rtt)  # packets of this flow in queues
        if self.cwnd < self.ssthresh:
            if queued < self.ALPHA:
                self.cwnd *= 1.5
            else:
                self.ssthresh = 2  # slow start ends
        elif queued < self.ALPHA:
            self.cwnd += 1
        elif queued > self.BETA:
            self.cwnd = max(self.cwnd - 1, 2)

    def on_loss(self, event: wm.LossEvent) -> None:
        self.cwnd = self.ssthresh = max(event.window * 3 / 4, 2)
        # TODO 3: after a loss, Reno halves. Trust the queue a little more: halve the suspicion.

    def on_timeout(self, event: wm.TimeoutEvent) -> None:
        self.cwnd, self.ssthresh = 2, max(event.window / 2, 2)
