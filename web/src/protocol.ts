/** What crosses the boundaries: presets as `presets.py` writes them, and the answers of the core. */

export type Path = (string | number)[];
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

export interface Slider {
  name: string;
  about: string;
  unit: string;
  /** Its positions, in `unit`. */
  values: number[];
  value: number;
  /** What each position changes in the scenario. */
  paths: { path: Path; values: Json[] }[];
}

export interface Measure {
  row: string;
  kind: "throughput" | "whole" | "waiting";
  from_s: number;
  to_s: number;
  link: string;
  unit: string;
  waymark: number;
  paper: number | null;
  ns2: number | null;
}

export interface Endpoint {
  node: string;
  port: number;
}

export interface Scenario {
  name: string;
  seed: number;
  end_s: number;
  sample_s: number;
  hosts: Record<string, Json>;
  switches: Record<string, { program: string }>;
  links: { a: Endpoint; b: Endpoint; rate_bps: number; ba: { rate_bps: number } }[];
  flows: { name: string; from: string; to: string; connection: { control: { name: string } } }[];
  sources: { from: string; to: string }[];
}

export interface Totals {
  packet_hops: number;
  packets: number;
  flows: { sent: number; delivered: number; lost: number; resent: number; timeouts: number }[];
}

export interface PresetRun {
  name: string;
  label: string;
  scenario: Scenario;
  sliders: Slider[];
  measures: Measure[];
  totals: Totals;
}

export interface Preset {
  id: string;
  title: string;
  paper: string;
  claim: string;
  watched: string;
  mark: "aqt" | "drai" | "ci";
  pair: [string, string | null];
  runs: PresetRun[];
}

export type Files = Record<string, string>;

export interface Label {
  file: string;
  line: number;
  column: number;
  end_line: number;
  end_column: number;
  text: string;
}

export interface Diagnostic {
  severity: "error" | "warning";
  code: string;
  message: string;
  labels: Label[];
  notes: string[];
  help: string | null;
}

/** Time; packets that wait for each line; of each flow: b/s, window, AQT forward and backward, MRAI, CI. */
export type Sample = [number, number[], [number, number, number, number, number, boolean][]];

export interface Flight {
  line: number;
  start_s: number;
  arrive_s: number;
  lost: boolean;
  /** IPv4 source, then identification: 48 bits. */
  id: number;
  kind: "udp" | "data" | "ack" | "other";
  aqt_us: number | null;
  drai: number | null;
  ci: boolean;
}

export interface Opened {
  end_s: number;
  lines: { name: string; rate_bps: number; delay_s: number }[];
  flows: string[];
}

export interface Advanced {
  now_s: number;
  ended: boolean;
  hops: number;
  samples: Sample[];
  flights: Flight[] | null;
}

export interface Step {
  time_ns: number;
  text: string;
  event: { event: string };
  source: { file: string; line: number; column: number } | null;
}

export interface Visits {
  visits: { switch: number; steps: Step[] }[];
}

export interface FlowResults {
  sent_packets: number[];
  delivered_packets: number[];
  goodput_octets: number[];
  payload_octets: number;
  packet_octets: number;
  counted_octets: number;
  resent: number;
  lost: number;
  timeouts: number;
}

export interface Results {
  bin_s: number;
  flows: Record<string, FlowResults>;
  lines: Record<string, { mean_waiting: number[]; max_waiting: number[] }>;
  switches: Record<
    string,
    {
      drops: Record<string, number>;
      /** Cells that are not zero. */
      counters: Record<string, { index: number[]; packets: number[] }>;
      ports: { port: number; line: string; rx_packets: number; tx_packets: number }[];
      cut_loops: number;
      panic: string | null;
    }
  >;
  /** AQT compared with the truth, if the scenario asks for it. */
  aqt: { compared: number; mismatches: number; first: string[] } | null;
  totals: { events: number; packets: number; packet_hops: number };
}

/** The results of the packet scripts of an exercise. */
export interface Verdict {
  passed: boolean;
  packets: number;
  expected: number;
  failures: {
    script: string;
    line: number;
    what: string;
    test: string;
    fields: { field: string; expected: string; found: string }[];
    packets: string[];
  }[];
}

/** Why a request failed: a text, diagnostics of a program, a control's own error, or a scenario's. */
export type Failure =
  | string
  | { program: string; diagnostics: Diagnostic[] }
  | { control: string }
  /** The path is as `flows[2].from`, or `.` for the whole. */
  | { scenario: { path: string; message: string } };
