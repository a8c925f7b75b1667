// RoVegas (Chan 2004, ch. 3): Vegas that takes only its own queue for congestion.

/** Keeps ALPHA to BETA packets of its own in the queues on the way of the data. */
class Control {
  static ALPHA = 1;
  static BETA = 3;

  baseRtt = Infinity; // the round-trip time without queues, in seconds
  roundEnd = 0; // once per round trip: when this segment is acknowledged

  on_ack(ack) {
    if (ack.rtt === null || ack.aqt_echo === null || ack.aqt_backward === null) {
      return; // sent twice, or without marks: no measurement
    }
    const propagation = ack.rtt - ack.aqt_echo - ack.aqt_backward;
    this.baseRtt = Math.min(this.baseRtt, propagation);
    if (ack.acked <= this.roundEnd) return;
    this.roundEnd = ack.next;
    const rtt = ack.rtt - ack.aqt_backward;
    const queued = this.cwnd * (1 - this.baseRtt / rtt); // packets of this flow in queues
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
