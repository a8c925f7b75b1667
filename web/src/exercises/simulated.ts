/** The checks that simulate a scenario: its table with the claims of the exercise. */
import { Core, failed, told } from "../client";
import type { Files, Results, Scenario } from "../protocol";
import { digits, range, within } from "./format";

export interface Simulated {
  scenario: Scenario;
  measures: Measure[];
  /** The file with the control of a flow. */
  control: string | null;
}

export interface Measure {
  row: string;
  quantity:
    "throughput" | "losses" | "retransmissions" | "timeouts" | "queue" | "queue p99" | "queue peak";
  unit: string;
  /** A flow's name, or a link. */
  of: string;
  flow: number | null;
  from_s: number;
  to_s: number;
}

export interface Claim {
  row: string;
  switch: string | null;
  counter: string | null;
  cell: number;
  at_least: number | null;
  at_most: number | null;
  why: string;
}

export interface Line {
  text: string;
  /** Why it is not as claimed. */
  why: string;
}

export interface Queue {
  link: string;
  waiting: number[];
  end_s: number;
}

export interface Found {
  passed: boolean;
  lines: Line[];
  /** The queues that the scenario measures, if it did not pass. */
  queues: Queue[];
}

/** Runs a scenario to its end; throws what is wrong with it, a program or a control. */
export async function simulate(
  core: Core,
  files: Files,
  scenario: Scenario,
  control: string | null,
): Promise<Results> {
  const opened = await core.open(files, scenario, scenario.end_s, control);
  if (failed(opened)) throw new Error(told(opened.error));
  const last = await core.run(scenario.end_s, () => undefined);
  if (failed(last)) throw new Error(told(last.error));
  const results = await core.finish();
  if (failed(results)) throw new Error(told(results.error));
  return results;
}

/** A row of the table, as `waymark run` computes it. */
export function value(measure: Measure, results: Results): number {
  const first = Math.round(measure.from_s / results.bin_s);
  const last = Math.round(measure.to_s / results.bin_s);
  const mean = (column: number[]) =>
    column.slice(first, last).reduce((a, b) => a + b, 0) / (last - first);
  if (measure.flow === null) {
    const line = results.lines[measure.of]!;
    if (measure.quantity === "queue peak") return Math.max(0, ...line.max_waiting);
    if (measure.quantity === "queue") return mean(line.mean_waiting);
    return percentile(line.mean_waiting.slice(first, last), 99);
  }
  const flow = Object.values(results.flows)[measure.flow]!;
  switch (measure.quantity) {
    case "losses":
      return flow.lost;
    case "retransmissions":
      return flow.resent;
    case "timeouts":
      return flow.timeouts;
    default:
      return (mean(flow.delivered_packets) * flow.counted_octets * 8) / results.bin_s / 1e3;
  }
}

/** Between two values it is interpolated linearly. */
function percentile(values: number[], percent: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  const place = ((sorted.length - 1) * percent) / 100;
  const low = Math.floor(place);
  const above = sorted[Math.min(low + 1, sorted.length - 1)]!;
  return sorted[low]! + (above - sorted[low]!) * (place - low);
}

/** What the claims of a check find in a run. */
export function judged(check: Simulated & { claims: Claim[] }, results: Results): Found {
  const lines: Line[] = [];
  let passed = true;
  for (const claim of check.claims) {
    const [found, unit] = claimed(claim, check.measures, results);
    const good = within(found, claim.at_least, claim.at_most);
    passed &&= good;
    const expected = good ? "" : `, expected ${range(claim.at_least, claim.at_most)} ${unit}`;
    const text = `${claim.row}: ${digits(found)} ${unit}${expected}`;
    lines.push({ text, why: good ? "" : claim.why });
  }
  if (results.aqt) {
    const { compared, mismatches, first } = results.aqt;
    passed &&= mismatches === 0 && compared > 0;
    const text = `AQT of ${compared} packets compared, ${mismatches} wrong`;
    lines.push({ text, why: first.slice(0, 2).join("\n") });
  }
  return { passed, lines, queues: passed ? [] : queues(check, results) };
}

function claimed(claim: Claim, measures: Measure[], results: Results): [number, string] {
  if (claim.switch === null || claim.counter === null) {
    const measure = measures.find((one) => one.row === claim.row)!;
    return [value(measure, results), measure.unit];
  }
  const counter = counterOf(results.switches[claim.switch]!, claim.counter);
  if (!counter) throw new Error(`${claim.switch} has no counter ${claim.counter}`);
  const at = counter.index.indexOf(claim.cell);
  return [counter.packets[at] ?? 0, "packets"];
}

/** A counter by its own name, which its control-plane name ends with. */
export function counterOf({ counters }: Results["switches"][string], name: string) {
  const found = Object.entries(counters).find(([full]) => `.${full}`.endsWith(`.${name}`));
  return found?.[1];
}

export function queues(run: Simulated, results: Results): Queue[] {
  const links = new Set(run.measures.filter((one) => one.flow === null).map((one) => one.of));
  return [...links].map((link) => ({
    link,
    waiting: results.lines[link]!.mean_waiting,
    end_s: run.scenario.end_s,
  }));
}
