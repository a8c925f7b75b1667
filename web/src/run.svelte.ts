/** A run: an instance of the core, what it has given so far, and its time. */
import { Core, failed, told } from "./client";
import type {
  Diagnostic,
  Failure,
  Files,
  Flight,
  Measure,
  Opened,
  PresetRun,
  Results,
  Sample,
  Scenario,
  Visits,
} from "./protocol";

export type Status = "opening" | "ready" | "ended" | "failed";

/** Samples over a run: points of each curve. */
const SAMPLES = 1000;
/** How far ahead of the shown time a run is computed at least, in seconds. */
const AHEAD_S = 0.05;
/** How long before the shown time packets are traced, in seconds: longer than one is under way. */
const TRACED_S = 3;

export class Run {
  readonly core = new Core();
  readonly preset: PresetRun;
  status = $state<Status>("opening");
  error = $state.raw<string | null>(null);
  diagnostics = $state.raw<Diagnostic[]>([]);
  opened = $state.raw<Opened | null>(null);
  results = $state.raw<Results | null>(null);
  /** Grows with the samples. */
  version = $state(0);
  samples: Sample[] = [];
  flights: Flight[] = [];
  scenario: Scenario;
  now_s = 0;
  private started: { files: Files; control: string | null } = { files: {}, control: null };
  private busy = false;
  private current = 0;

  constructor(preset: PresetRun) {
    this.preset = preset;
    this.scenario = preset.scenario;
  }

  /**
   * What a packet that is shown at a time met in the switches: the run is repeated up to there by an
   * separate instance.
   */
  async trace(id: number, shown_s: number): Promise<Visits["visits"]> {
    const { files, control } = this.started;
    const tracer = new Core();
    try {
      const steps = [
        () => tracer.open(files, this.scenario, this.scenario.end_s, control),
        () => tracer.advance(shown_s - TRACED_S, "nothing"),
        () => tracer.advance(shown_s, "traces"),
      ];
      for (const step of steps) {
        const answer = await step();
        if (failed<object>(answer)) throw new Error(told(answer.error));
      }
      const answer = await tracer.packet(id);
      return failed(answer) ? [] : answer.visits;
    } finally {
      tracer.end();
    }
  }

  /** Begins again; the scenario may be a text that a user wrote. */
  async open(files: Files, scenario: Scenario | string, control: string | null): Promise<void> {
    const turn = ++this.current;
    this.core.stop();
    this.started = { files, control };
    this.status = "opening";
    [this.error, this.results, this.samples, this.flights, this.now_s] = [null, null, [], [], 0];
    this.diagnostics = [];
    this.busy = false;
    this.version += 1;
    const read = typeof scenario === "string" ? parsed(scenario) : scenario;
    const sample_s = (Number(read?.end_s) || 1) / SAMPLES;
    const answer = await this.core.open(files, scenario, sample_s, control);
    if (turn !== this.current) return;
    if (failed(answer)) return this.fail(answer.error);
    if (read) this.scenario = read;
    this.opened = answer;
    this.status = "ready";
  }

  /** Computes what is shown at a time; does nothing while the answer of the last call is due. */
  async advance(shown_s: number, ahead_s: number): Promise<void> {
    if (this.status !== "ready" || this.busy) return;
    const until_s = shown_s + Math.max(AHEAD_S, ahead_s);
    if (until_s <= this.now_s) return;
    const turn = this.current;
    this.busy = true;
    const answer = await this.core.advance(until_s, "flights");
    if (turn !== this.current) return;
    this.busy = false;
    if (failed(answer)) return this.fail(answer.error);
    this.now_s = answer.now_s;
    this.flights = this.flights.filter((flight) => flight.arrive_s > shown_s - 0.5);
    this.flights.push(...(answer.flights ?? []));
    this.took(answer.samples);
    if (answer.ended) await this.finish();
  }

  /** Runs to the end as fast as possible; packets are not shown. */
  async rush(): Promise<void> {
    if (this.status !== "ready") return;
    const turn = this.current;
    this.flights = [];
    let error: Failure | null = null;
    await this.core
      .run(this.scenario.end_s, (answer) => {
        if (turn !== this.current) return;
        if (failed(answer)) {
          error = answer.error;
          return;
        }
        this.now_s = answer.now_s;
        this.took(answer.samples);
      })
      .then((last) => {
        if (failed(last)) error = last.error;
      });
    if (turn !== this.current) return;
    if (error) return this.fail(error);
    await this.finish();
  }

  private took(samples: Sample[]): void {
    if (samples.length === 0) return;
    this.samples.push(...samples);
    this.version += 1;
  }

  private async finish(): Promise<void> {
    const turn = this.current;
    const answer = await this.core.finish();
    if (turn !== this.current) return;
    if (failed(answer)) return this.fail(answer.error);
    this.results = answer;
    this.status = "ended";
    const panics = Object.entries(answer.switches).filter(([, one]) => one.panic);
    if (panics[0]) this.error = `${panics[0][0]}: ${panics[0][1].panic}`;
  }

  private fail(error: Failure): void {
    this.status = "failed";
    this.error = told(error);
    if (typeof error === "object" && "diagnostics" in error) this.diagnostics = error.diagnostics;
  }

  /** The last sample before a time. */
  sampleAt(time_s: number): Sample | undefined {
    const step = this.scenario.end_s / SAMPLES;
    const index = Math.min(this.samples.length, Math.floor(time_s / step + 1e-9)) - 1;
    return this.samples[index];
  }
}

/** What a text says; null where it is not JSON, which the core reports. */
function parsed(text: string): Scenario | null {
  try {
    return JSON.parse(text) as Scenario;
  } catch {
    return null;
  }
}

/** What `waymark run` would give for a row, from the records of a run. */
export function measured(measure: Measure, results: Results): number {
  const first = Math.round(measure.from_s / results.bin_s);
  const last = Math.round(measure.to_s / results.bin_s);
  const sum = (column: number[]) => column.slice(first, last).reduce((a, b) => a + b, 0);
  if (measure.kind === "waiting") {
    return sum(results.lines[measure.link]?.mean_waiting ?? []) / (last - first);
  }
  const flow = Object.values(results.flows)[0];
  if (!flow) return 0;
  const seconds = measure.to_s - measure.from_s;
  if (measure.kind === "whole") {
    const packets = sum(flow.goodput_octets) / flow.payload_octets;
    return (packets * flow.packet_octets * 8) / seconds / 1e3;
  }
  return (sum(flow.delivered_packets) * flow.counted_octets * 8) / seconds / 1e3;
}
