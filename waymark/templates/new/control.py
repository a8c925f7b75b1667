"""A congestion control, which runs like the compiled ones.

    waymark compare ./my_control.py vegas cubic --load 0.5 --seeds 3

The documentation has all callbacks and what an event holds: docs/congestion-control.md. Marks of
your own, which your P4 program writes: docs/new-mark.md.
"""

import waymark as wm


class MyControl(wm.CongestionControl):
    """Additive increase, multiplicative decrease: replace it by what you want to test.

    Set `self.cwnd` and `self.ssthresh`, in packets; the connection reads both after every call.
    """

    recovery = "newreno"  # loss recovery: tahoe, reno, newreno, sack, fack or vegas
    aqt = False  # True: switches write how long packets queued; see event.aqt_echo
    avbw = False  # True: switches write their data rate adjustment index; see event.mrai
    ci = False  # True: switches mark packets that waited in a full queue; see event.ci_echo

    def __init__(self, beta: float = 0.5) -> None:
        # Called once per flow, so that attributes are a flow's own.
        self.beta = beta

    def on_ack(self, event: wm.AckEvent) -> None:
        # New data was acknowledged. event.rtt is in seconds; None for a packet sent twice.
        if event.window_unused:
            return
        self.cwnd += 1 if self.cwnd < self.ssthresh else 1 / self.cwnd

    def on_loss(self, event: wm.LossEvent) -> None:
        # A packet was found lost, and is about to be sent again.
        self.cwnd = self.ssthresh = max(event.window * self.beta, 2)

    def on_timeout(self, event: wm.TimeoutEvent) -> None:
        # No acknowledgement came for too long: slow start from one packet.
        self.cwnd, self.ssthresh = 1, max(event.window * self.beta, 2)
