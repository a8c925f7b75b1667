/** The exercises: a student's files, their diagnostics, and the verdict of their checks. */
import { Core, ENDLESS, failed, told } from "../client";
import { json } from "../data";
import type { Diagnostic, Files, Slider, Verdict } from "../protocol";
import { assigned } from "../scenario";
import { answered, type Question } from "./answers";
import { withRed, type RedOnly } from "./red";
import { counterOf, judged, queues, simulate, value } from "./simulated";
import type { Claim, Found, Line, Queue, Simulated } from "./simulated";

/** How long after the last key a program is compiled. */
const LINT_AFTER_MS = 60;

export interface Exercise {
  id: string;
  number: number;
  title: string;
  minutes: number;
  /** Markdown. */
  text: string;
  hints: string[];
  /** What the student edits, as it is at first. */
  files: Files;
  given: Files;
  checks: Check[];
  /** Scenarios to look at. */
  runs: (Simulated & { name: string; slider: Slider | null })[];
}

type Check = { name: string } & (
  | { kind: "script"; program: string; scripts: string[] }
  | ({ kind: "scenario"; claims: Claim[]; red?: RedOnly } & Simulated)
  | { kind: "answers"; questions: Record<string, Question> }
);

export interface Outcome {
  name: string;
  passed: boolean;
  /** Why there is no verdict. */
  error: string;
  /** Of packet scripts. */
  verdict: Verdict | null;
  /** Of a scenario or answers. */
  found: Found | null;
}

/** A scenario that was looked at. */
export interface Look {
  name: string;
  error: string;
  lines: Line[];
  queues: Queue[];
}

/** Causes of drops, as the programs number them (`p4src/include/types.p4`). */
const CAUSES = ["", "malformed", "checksum", "TTL", "no route", "queue full", "RED"];

export class Exercises {
  index = $state.raw<{ number: number; title: string; file: string }[]>([]);
  one = $state.raw<Exercise | null>(null);
  edits = $state.raw<Files>({});
  file = $state("");
  hints = $state(0);
  checking = $state(false);
  /** Null before the first check. */
  outcomes = $state.raw<Outcome[] | null>(null);
  diagnostics = $state.raw<Diagnostic[]>([]);
  looks = $state.raw<Look[]>([]);
  readonly files = $derived(this.inFolder({ ...this.one?.files, ...this.one?.given }));
  readonly shown = $derived<Files>({ ...this.files, ...this.edits });
  readonly passed = $derived(this.outcomes?.every((one) => one.passed) ?? false);

  private readonly core = new Core();
  private included: Files = {};
  private timer = 0;
  private turn = 0;

  async start(): Promise<void> {
    [this.index, this.included] = await Promise.all([
      json<Exercises["index"]>("exercises.json"),
      json<Files>("p4src.json"),
    ]);
    await this.choose(this.index[0]!.number);
  }

  async choose(number: number): Promise<void> {
    const { file } = this.index.find((one) => one.number === number)!;
    const one = await json<Exercise>(file);
    this.one = one;
    this.restart();
  }

  /** The skeleton again. */
  restart(): void {
    this.edits = {};
    this.hints = 0;
    this.outcomes = null;
    this.looks = [];
    this.show(Object.keys(this.inFolder(this.one?.files ?? {}))[0] ?? "");
  }

  show(file: string): void {
    this.file = file;
    void this.compile();
  }

  edit(name: string, text: string): void {
    const { [name]: _, ...others } = this.edits;
    this.edits = text === this.files[name] ? others : { ...others, [name]: text };
    this.outcomes = null;
    clearTimeout(this.timer);
    this.timer = window.setTimeout(() => void this.compile(), LINT_AFTER_MS);
  }

  /** Runs the checks, on the given files as they were handed out. */
  async check(): Promise<void> {
    const one = this.one;
    if (!one) return;
    this.checking = true;
    const files = this.handedOut();
    const outcomes: Outcome[] = [];
    for (const check of one.checks) {
      const outcome = { name: check.name, passed: false, error: "", verdict: null, found: null };
      try {
        const came = await this.graded(check, files);
        outcomes.push({ ...outcome, ...came, passed: (came.verdict ?? came.found)!.passed });
      } catch (error) {
        outcomes.push({ ...outcome, error: (error as Error).message });
        // What never ends in one check never ends in the others: each would take as long.
        if ((error as Error).message === ENDLESS) break;
      }
    }
    const ended = outcomes.length;
    for (const { name } of one.checks.slice(ended)) {
      const error = `not run, after ${outcomes[ended - 1]!.name}`;
      outcomes.push({ name, passed: false, error, verdict: null, found: null });
    }
    this.checking = false;
    if (one === this.one) this.outcomes = outcomes;
  }

  /** Runs one of the scenarios to look at, with a value of its slider. */
  async look(name: string, position: number | null): Promise<void> {
    const one = this.one;
    const run = one?.runs.find((run) => run.name === name);
    if (!one || !run) return;
    this.checking = true;
    const { slider } = run;
    const label = slider ? `${name}, ${slider.name} ${position} ${slider.unit}` : name;
    const scenario =
      slider && position !== null ? assigned(run.scenario, slider, position) : run.scenario;
    const files = this.handedOut();
    const look: Look = { name: label, error: "", lines: [], queues: [] };
    try {
      const results = await simulate(this.core, files, scenario, this.control(run, files));
      const row = (text: string) => look.lines.push({ text, why: "" });
      for (const measure of run.measures) {
        row(`${measure.row}: ${value(measure, results).toFixed(1)} ${measure.unit}`);
      }
      for (const [name, device] of Object.entries(results.switches)) {
        const drops = counterOf(device, "drops");
        for (const { port, line, rx_packets, tx_packets } of slider ? [] : device.ports) {
          const dropped = CAUSES.flatMap((cause, i) => {
            const at = drops?.index.indexOf(8 * port + i) ?? -1;
            return at < 0 ? [] : [`${cause} ${drops!.packets[at]}`];
          });
          const lost = dropped.length > 0 ? `; dropped: ${dropped.join(", ")}` : "";
          row(`${name} port ${port} (${line}): in ${rx_packets}, out ${tx_packets}${lost}`);
        }
      }
      look.queues = queues(run, results);
    } catch (error) {
      look.error = (error as Error).message;
    }
    this.checking = false;
    if (one === this.one) this.looks = [look, ...this.looks];
  }

  private async graded(check: Check, files: Files): Promise<Pick<Outcome, "verdict" | "found">> {
    switch (check.kind) {
      case "script": {
        const scripts = check.scripts.map((name): [string, string] => [
          name,
          files[this.path(name)]!,
        ]);
        const answer = await this.core.grade(files, this.path(check.program), scripts);
        if (failed(answer)) throw new Error(told(answer.error));
        return { verdict: answer, found: null };
      }
      case "answers":
        return {
          verdict: null,
          found: answered(check.questions, files[this.path(check.name)] ?? ""),
        };
      case "scenario": {
        const { red } = check;
        const scenario = red
          ? withRed(check.scenario, red, files[this.path(red.file)] ?? "")
          : check.scenario;
        const results = await simulate(this.core, files, scenario, this.control(check, files));
        return { verdict: null, found: judged(check, results) };
      }
    }
  }

  private handedOut(): Files {
    return { ...this.included, ...this.shown, ...this.inFolder(this.one?.given ?? {}) };
  }

  private control(run: Simulated, files: Files): string | null {
    return run.control === null ? null : (files[this.path(run.control)] ?? null);
  }

  /** The main file of the student's program. */
  private get program(): string | undefined {
    for (const check of this.one?.checks ?? []) {
      if (check.kind === "script") return this.path(check.program);
      if (check.kind === "scenario") {
        const programs = Object.values(check.scenario.switches).map((one) => one.program);
        const own = programs.find((program) => program.startsWith(this.path("")));
        if (own) return own;
      }
    }
    return undefined;
  }

  private async compile(): Promise<void> {
    const { program } = this;
    const turn = ++this.turn;
    if (!program) {
      this.diagnostics = [];
      return;
    }
    const files = { ...this.included, ...this.shown };
    const answer = await this.core.check(files, program);
    if (turn === this.turn) this.diagnostics = failed(answer) ? [] : answer.diagnostics;
  }

  private path(name: string): string {
    return `${this.one?.id}/${name}`;
  }

  private inFolder(files: Files): Files {
    const named = Object.entries(files).map(([name, text]) => [this.path(name), text]);
    return Object.fromEntries(named) as Files;
  }
}
