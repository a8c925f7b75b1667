/** The connection to a live network, and its states of the last minutes. */
import type { About, Port, State } from "./protocol";

/** How many states are kept: two minutes of five per second. */
const KEPT = 600;
/** The time before a lost connection is opened again. */
const AGAIN_MS = 1000;
/** The time after which a silent connection is lost: the server sends five states per second. */
const SILENT_MS = 5000;

export interface Point extends State {
  /** Bits per second that each port sent since the point before, by `switch:port`. */
  sent_bps: Record<string, number>;
}

export class Feed {
  about = $state.raw<About | null>(null);
  points = $state.raw<Point[]>([]);
  connected = $state(false);
  readonly last = $derived(this.points[this.points.length - 1]);
  private socket: WebSocket | undefined;
  private timer = 0;

  start(): void {
    const address = new URL("live", document.baseURI);
    address.protocol = address.protocol.replace("http", "ws");
    const socket = new WebSocket(address);
    this.socket = socket;
    this.expect();
    socket.onmessage = ({ data }: MessageEvent<string>) => {
      this.connected = true;
      this.expect();
      this.take(JSON.parse(data) as About | State);
    };
    socket.onclose = () => this.lost();
  }

  stop(): void {
    clearTimeout(this.timer);
    if (!this.socket) return;
    this.socket.onclose = this.socket.onmessage = null;
    this.socket.close();
  }

  private expect(): void {
    clearTimeout(this.timer);
    this.timer = window.setTimeout(() => this.lost(), SILENT_MS);
  }

  private lost(): void {
    this.stop();
    this.connected = false;
    this.timer = window.setTimeout(() => this.start(), AGAIN_MS);
  }

  private take(message: About | State): void {
    if (message.kind === "network") {
      this.about = message;
      this.points = [];
      return;
    }
    // A server that was started again counts from zero.
    const before = this.last && this.last.time_s < message.time_s ? this.last : undefined;
    const kept = before ? this.points.slice(1 - KEPT) : [];
    this.points = [...kept, { ...message, sent_bps: rates(before, message) }];
  }
}

/** The ports of a state, by `switch:port`, with the time when each was read. */
export function portsOf(state: State): Map<string, { port: Port; read_s: number }> {
  const found = new Map<string, { port: Port; read_s: number }>();
  for (const [name, reading] of Object.entries(state.switches)) {
    if ("error" in reading) continue;
    for (const [number, port] of Object.entries(reading.ports)) {
      found.set(`${name}:${number}`, { port, read_s: reading.read_s });
    }
  }
  return found;
}

function rates(before: Point | undefined, state: State): Record<string, number> {
  const old = before ? portsOf(before) : new Map<string, { port: Port; read_s: number }>();
  const found: Record<string, number> = {};
  for (const [key, { port, read_s }] of portsOf(state)) {
    const last = old.get(key);
    if (!last || !before) continue;
    const octets = port.sent_octets - last.port.sent_octets;
    const passed_s = read_s - last.read_s;
    if (passed_s <= 0) found[key] = before.sent_bps[key] ?? 0;
    else if (octets >= 0) found[key] = (octets * 8) / passed_s;
  }
  return found;
}
