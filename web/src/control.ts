/** A congestion control in JavaScript: the callbacks of the Python class `CongestionControl`. */

export interface PageControl {
  cwnd: number;
  ssthresh: number;
  pacing_rate?: number | null;
  on_ack(ack: object): void;
  on_loss(loss: object): void;
  on_timeout(timeout: object): void;
}

export const EXAMPLE = `// Windows are in packets, times in seconds.
// ack: now, acked, newly_acked, in_flight, next, rtt,
//      aqt_echo, aqt_backward (null without the mark), mrai, ci_echo
class Control {
  cwnd = 2;
  ssthresh = 1000;

  on_ack(ack) {
    this.base = Math.min(this.base ?? Infinity, ack.rtt ?? Infinity);
    // Queueing of the data alone: the reverse path does not count.
    const waited = ack.aqt_echo ?? (ack.rtt ?? this.base) - this.base;
    const own = (this.cwnd * waited) / (this.base + waited);
    if (own > 3) this.cwnd -= 1 / this.cwnd;
    else if (own < 1) this.cwnd += this.cwnd < this.ssthresh ? 0.5 : 1 / this.cwnd;
  }

  on_loss(loss) {
    this.ssthresh = Math.max(2, loss.window / 2);
    this.cwnd = this.ssthresh;
  }

  on_timeout(timeout) {
    this.ssthresh = Math.max(2, timeout.window / 2);
    this.cwnd = 1;
  }
}
`;

/** The control that a text defines as `class Control`. */
export function controlFrom(
  source: string,
  limits: { cwnd: number; ssthresh: number },
): PageControl {
  const made = new Function(`"use strict";\n${source}\nreturn new Control();`)() as PageControl;
  for (const method of ["on_ack", "on_loss", "on_timeout"] as const) {
    if (typeof made[method] !== "function")
      throw new Error(`class Control has no ${method}(event)`);
  }
  made.cwnd ??= limits.cwnd;
  made.ssthresh ??= limits.ssthresh;
  return made;
}
