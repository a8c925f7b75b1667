"""Vegas, which is to become RoVegas (Chan 2004, ch. 3)."""

import waymark as wm


class RoVegas(wm.CongestionControl):
    """Keeps ALPHA to BETA packets of its own in the queues on the way of the data."""

    recovery = "newreno"
    # TODO 1: aqt = True lets the packets carry AQT.

    ALPHA = 1
    BETA = 3

    def on_start(self, limits: wm.Limits) -> None:
        super().on_start(limits)
        self.base_rtt = None  # the round-trip time without queues, in seconds
        self.round_end = 0  # once per round trip: when this segment is acknowledged

    def on_ack(self, event: wm.AckEvent) -> None:
        if event.rtt is None:
            return  # sent twice: no measurement
        # TODO 2: event.aqt_echo is the time that the data packet waited in queues on its way there,
        # event.aqt_backward that of the acknowledgement on the reverse path; both in seconds, None
        # without a mark. The round-trip time without both is the propagation delay.
        propagation = event.rtt
        if self.base_rtt is None or propagation < self.base_rtt:
            self.base_rtt = propagation
        if event.acked <= self.round_end:
            return
        self.round_end = event.next
        # TODO 3: a queue on the reverse path is not this flow's.
        rtt = event.rtt
        queued = self.cwnd * (1 - self.base_rtt / rtt)  # packets of this flow in queues
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

    def on_timeout(self, event: wm.TimeoutEvent) -> None:
        self.cwnd, self.ssthresh = 2, max(event.window / 2, 2)
