// Vegas+ (Hasegawa, Kurata and Murata 2000): Vegas that notices a flow that fills the queue.

/** Keeps ALPHA to BETA packets of its own in the queues on the way of the data. */
class Control {
  static ALPHA = 1;
  static BETA = 3;
  static PATIENCE = 8; // round trips whose delay grows, although the window does not

  baseRtt = Infinity; // the round-trip time without queues, in seconds
  roundEnd = 0; // once per round trip: when this segment is acknowledged
  suspicion = 0; // grows with each round trip whose delay grows, falls with each other one
  lastRtt = 0; // of the last round trip, in seconds

  on_ack(ack) {
    if (ack.rtt === null) return; // sent twice: no measurement
    this.baseRtt = Math.min(this.baseRtt, ack.rtt);
    if (ack.acked <= this.roundEnd) return;
    this.roundEnd = ack.next;
    // TODO 1: if this round trip took longer than the last one, suspicion rises by 1; else it falls
    // by 1, not below 0. Remember the round-trip time for the next comparison.

    // TODO 2: from PATIENCE on, the window grows by one packet per round trip, as Reno's does, and
    // Vegas' rule below does not apply.

    const queued = this.cwnd * (1 - this.baseRtt / ack.rtt); // packets of this flow in queues
    if (this.cwnd < this.ssthresh) {
      if (queued < Control.ALPHA) this.cwnd *= 1.5;
      else this.ssthresh = 2; // slow start ends
    } else if (queued < Control.ALPHA) {
      this.cwnd += 1;
    } else if (queued > Control.BETA) {
      this.cwnd = Math.max(this.cwnd - 1, 2);
    }
  }

  on_loss(loss) {
    this.cwnd = this.ssthresh = Math.max((loss.window * 3) / 4, 2);
    // TODO 3: after a loss, Reno halves. Trust the queue a little more: halve the suspicion.
  }

  on_timeout(timeout) {
    this.cwnd = 2;
    this.ssthresh = Math.max(timeout.window / 2, 2);
  }
}
