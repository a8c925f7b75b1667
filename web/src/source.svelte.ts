/** The files of the editor: the P4 programs, the control and the scenarios, the edits, and what is wrong. */
import { Core, failed } from "./client";
import { EXAMPLE } from "./control";
import type { Diagnostic, Files } from "./protocol";
import { CONTROL } from "./scenario";
import { isScenario, placed } from "./scenario-text";

/** How long after the last key a program is compiled. */
const LINT_AFTER_MS = 60;

export class Source {
  original = $state.raw<Files>({});
  edits = $state.raw<Files>({});
  /** The control in JavaScript; null where it is the example. */
  control = $state<string | null>(null);
  /** The file that the editor shows. */
  file = $state("v1model/waymark.p4");
  diagnostics = $state.raw<Diagnostic[]>([]);
  readonly programs = $derived<Files>({ ...this.original, ...this.edits });
  readonly files = $derived.by<Files>(() => ({
    ...this.original,
    ...this.scenarios(),
    ...this.edits,
    [CONTROL]: this.control ?? EXAMPLE,
  }));
  readonly edited = $derived([
    ...Object.keys(this.edits),
    ...(this.control === null ? [] : [CONTROL]),
  ]);

  private readonly main: () => string | undefined;
  private readonly scenarios: () => Files;
  private readonly core = new Core();
  private timer = 0;
  private turn = 0;

  /** `main` gives the program that the switches run, `scenarios` the runs' scenarios as they are unedited. */
  constructor(main: () => string | undefined, scenarios: () => Files) {
    this.main = main;
    this.scenarios = scenarios;
  }

  show(file: string): void {
    this.file = file;
    void this.check();
  }

  edit(name: string, text: string): void {
    if (name === CONTROL) {
      this.control = text === EXAMPLE ? null : text;
      return;
    }
    const { [name]: _, ...others } = this.edits;
    const unedited = this.original[name] ?? this.scenarios()[name];
    this.edits = text === unedited ? others : { ...others, [name]: text };
    clearTimeout(this.timer);
    this.timer = window.setTimeout(() => void this.check(), LINT_AFTER_MS);
  }

  /** Forgets the edited scenarios of runs that are not shown. */
  forget(): void {
    const shown = this.scenarios();
    const kept = Object.entries(this.edits).filter(([name]) => !isScenario(name) || name in shown);
    this.edits = Object.fromEntries(kept);
    if (!(this.file in this.files)) this.file = this.main() ?? CONTROL;
  }

  reset(): void {
    this.edits = {};
    this.control = null;
  }

  /** Compiles the program that is edited: the file itself if it is a whole program. Reads a scenario. */
  async check(): Promise<void> {
    const turn = ++this.turn;
    const diagnostics = isScenario(this.file)
      ? await this.inScenario(this.file)
      : await this.inProgram();
    if (turn === this.turn) this.diagnostics = diagnostics;
  }

  private async inProgram(): Promise<Diagnostic[]> {
    const whole = this.file.startsWith("v1model/") ? this.file : (this.main() ?? this.file);
    const answer = await this.core.check(this.programs, whole);
    return failed(answer) ? [] : answer.diagnostics;
  }

  private async inScenario(file: string): Promise<Diagnostic[]> {
    const text = this.files[file] ?? "";
    const answer = await this.core.open(this.programs, text, 1, this.control ?? EXAMPLE);
    if (!failed(answer) || typeof answer.error === "string") return [];
    if ("scenario" in answer.error) return [placed(file, text, answer.error.scenario)];
    return "diagnostics" in answer.error ? answer.error.diagnostics : [];
  }
}
