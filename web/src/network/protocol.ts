/** What `waymark lab --network` sends over the WebSocket. */
import type { Endpoint, Files } from "../protocol";

export interface About {
  kind: "network";
  name: string;
  file: string;
  target: string;
  /** The congestion control of Linux's TCP at hosts, where it carries marks; or empty. */
  kernel: string;
  /** Whether hosts are left to the project's own transports. */
  bare: boolean;
  map: {
    /** Addresses by name. */
    hosts: Record<string, string>;
    switches: Record<string, { program: string }>;
    links: { a: Endpoint; b: Endpoint; rate_bps: number; ba: { rate_bps: number } }[];
  };
  files: Files;
}

/** Counters of a port since its pipeline was loaded. */
export interface Port {
  received_packets: number;
  sent_packets: number;
  sent_octets: number;
  drops: Record<string, number>;
  marks: Record<string, number>;
  /** Packets in its queues; null where registers cannot be read. */
  waiting: number | null;
}

export type Reading = { error: string } | { ports: Record<string, Port>; read_s: number };

/** A sender: as it published itself, or of Linux's TCP, whose marks are not known (null). */
export interface Sender {
  id: string;
  host: string;
  control: string;
  to: string;
  /** It ended without a report. */
  gone: boolean;
  time_s: number;
  octets: number;
  throughput_bps: number;
  rtt_s: number | null;
  cwnd: number | null;
  resent: number;
  aqt_forward_s: number | null;
  aqt_backward_s: number | null;
  mrai: number | null;
  /** ACKs so far that indicated congestion. */
  ci: number | null;
}

export interface State {
  kind: "state";
  time_s: number;
  problem: string;
  switches: Record<string, Reading>;
  flows: Sender[];
}
