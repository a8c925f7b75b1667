/** The files of the editor: the P4 programs and the control, the edits, and their diagnostics. */
import { Core, failed } from "./client";
import { EXAMPLE } from "./control";
import type { Diagnostic, Files } from "./protocol";
import { CONTROL } from "./scenario";

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
  readonly files = $derived<Files>({ ...this.programs, [CONTROL]: this.control ?? EXAMPLE });
  readonly edited = $derived([
    ...Object.keys(this.edits),
    ...(this.control === null ? [] : [CONTROL]),
  ]);

  private readonly main: () => string | undefined;
  private readonly core = new Core();
  private timer = 0;
  private turn = 0;

  /** `main` gives the program that the switches run. */
  constructor(main: () => string | undefined) {
    this.main = main;
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
    this.edits = text === this.original[name] ? others : { ...others, [name]: text };
    clearTimeout(this.timer);
    this.timer = window.setTimeout(() => void this.check(), LINT_AFTER_MS);
  }

  reset(): void {
    this.edits = {};
    this.control = null;
  }

  /** Compiles the program that is edited: the file itself if it is a whole program. */
  async check(): Promise<void> {
    const turn = ++this.turn;
    const whole = this.file.startsWith("v1model/") ? this.file : (this.main() ?? this.file);
    const answer = await this.core.check(this.programs, whole);
    if (turn === this.turn) this.diagnostics = failed(answer) ? [] : answer.diagnostics;
  }
}
