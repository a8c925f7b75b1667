// Vegas (Brakmo and Peterson 1995), which shares a queue with Reno.

/** Keeps ALPHA to BETA packets of its own in the queues on the way of the data. */
class Control {
  static ALPHA = 1;
  static BETA = 3;

  baseRtt = Infinity; // the round-trip time without queues, in seconds
  roundEnd = 0; // once per round trip: when this segment is acknowledged

  on_ack(ack) {
    if (ack.rtt === null) return; // sent twice: no measurement
    this.baseRtt = Math.min(this.baseRtt, ack.rtt);
    if (ack.acked <= this.roundEnd) return;
    this.roundEnd = ack.next;
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
  }

  on_timeout(timeout) {
    this.cwnd = 2;
    this.ssthresh = Math.max(timeout.window / 2, 2);
  }
}
