/** The exercises: a student's files, their diagnostics, and the verdict of their packet scripts. */
import { Core, failed, told } from "../client";
import { json } from "../data";
import type { Diagnostic, Files, Verdict } from "../protocol";

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
  /** Those without a program run on the command line. */
  checks: { name: string; program: string | null; scripts: string[] }[];
}

export interface Outcome {
  name: string;
  /** Why there is no verdict. */
  error: string;
  verdict: Verdict | null;
}

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
  readonly files = $derived(this.inFolder({ ...this.one?.files, ...this.one?.given }));
  readonly shown = $derived<Files>({ ...this.files, ...this.edits });
  readonly elsewhere = $derived(
    this.one?.checks.flatMap((check) => (check.program ? [] : check.name)) ?? [],
  );
  readonly passed = $derived(this.outcomes?.every((one) => one.verdict?.passed) ?? false);

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

  /** Runs the packet scripts, on the given files as they were handed out. */
  async check(): Promise<void> {
    const one = this.one;
    if (!one) return;
    this.checking = true;
    const files = { ...this.included, ...this.shown, ...this.inFolder(one.given) };
    const outcomes: Outcome[] = [];
    for (const { name, program, scripts } of one.checks) {
      if (!program) continue;
      const texts = scripts.map((script): [string, string] => [script, files[this.path(script)]!]);
      const answer = await this.core.grade(files, this.path(program), texts);
      outcomes.push(
        failed(answer)
          ? { name, error: told(answer.error), verdict: null }
          : { name, error: "", verdict: answer },
      );
    }
    this.checking = false;
    if (one === this.one) this.outcomes = outcomes;
  }

  private async compile(): Promise<void> {
    const program = this.one?.checks.find((check) => check.program)?.program;
    if (!program) return;
    const turn = ++this.turn;
    const files = { ...this.included, ...this.shown };
    const answer = await this.core.check(files, this.path(program));
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
