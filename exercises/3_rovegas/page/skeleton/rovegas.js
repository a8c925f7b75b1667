// Vegas, which is to become RoVegas (Chan 2004, ch. 3). All packets carry AQT here: TODO 1 is done.

/** Keeps ALPHA to BETA packets of its own in the queues on the way of the data. */
class Control {
  static ALPHA = 1;
  static BETA = 3;

  baseRtt = Infinity; // the round-trip time without queues, in seconds
  roundEnd = 0; // once per round trip: when this segment is acknowledged

  on_ack(ack) {
    if (ack.rtt === null) return; // sent twice: no measurement
    // TODO 2: ack.aqt_echo is the time that the data packet waited in queues on its way there,
    // ack.aqt_backward that of the acknowledgement on the reverse path; both in seconds, null without a
    // mark. The round-trip time without both is the propagation delay.
    const propagation = ack.rtt;
    this.baseRtt = Math.min(this.baseRtt, propagation);
    if (ack.acked <= this.roundEnd) return;
    this.roundEnd = ack.next;
    // TODO 3: a queue on the reverse path is not this flow's.
    const rtt = ack.rtt;
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
