/** An instance of the core in a Worker; one that breaks or hangs is replaced. */
import type {
  Advanced,
  Failure,
  Files,
  Opened,
  Results,
  Scenario,
  Verdict,
  Visits,
  Diagnostic,
} from "./protocol";
import type { FromWorker, ToWorker } from "./worker";

const WASM = new URL("lab.wasm", document.baseURI).href;
/** How long a request may take before its instance is replaced. */
const LIMIT_MS = 10_000;
/** The message then. */
export const ENDLESS = `no answer within ${LIMIT_MS / 1000} s: an endless loop? The simulator was restarted.`;

type Answer<T> = T | { error: Failure };
type Waiting = { done: (answer: never) => void; each?: (answer: never) => void; timer: number };

export function failed<T extends object>(answer: Answer<T>): answer is { error: Failure } {
  return "error" in answer;
}

/** A failure as a text of some lines. */
export function told(error: Failure): string {
  if (typeof error === "string") return error;
  if ("control" in error) return error.control;
  if ("scenario" in error) return `${error.scenario.path}: ${error.scenario.message}`;
  const first = error.diagnostics.find((one) => one.severity === "error");
  const at = first?.labels[0];
  const place = at ? `${at.file}:${at.line}: ` : `${error.program}: `;
  return `${place}${first?.message ?? "the program does not compile"}`;
}

export class Core {
  private worker: Worker | undefined;
  private loaded: Promise<void> = Promise.resolve();
  private waiting = new Map<number, Waiting>();
  private last = 0;

  constructor() {
    this.start();
  }

  private start(): void {
    const worker = new Worker(new URL("./worker.ts", import.meta.url), { type: "module" });
    this.worker = worker;
    this.loaded = new Promise((resolve) => {
      worker.onmessage = ({ data }: MessageEvent<FromWorker>) => {
        if (data.kind === "loaded") resolve();
        else if (data.kind === "broken") this.replace(data.message);
        else this.answered(data.id, data.answer, data.last);
      };
      worker.onerror = (event) => this.replace(event.message || "the worker failed to start");
    });
    this.post({ kind: "load", wasm: WASM });
  }

  private post(message: ToWorker): void {
    this.worker?.postMessage(message);
  }

  private answered(id: number, answer: unknown, last: boolean): void {
    const waiting = this.waiting.get(id);
    if (!waiting) return;
    clearTimeout(waiting.timer);
    waiting.each?.(answer as never);
    if (last) {
      this.waiting.delete(id);
      waiting.done(answer as never);
    } else {
      waiting.timer = this.timer();
    }
  }

  private timer(): number {
    return window.setTimeout(() => this.replace(ENDLESS), LIMIT_MS);
  }

  /** Starts a new instance; all waiting requests fail with the message. */
  private replace(message: string): void {
    this.worker?.terminate();
    const waiting = [...this.waiting.values()];
    this.waiting.clear();
    this.start();
    for (const one of waiting) {
      clearTimeout(one.timer);
      one.done({ error: message } as never);
    }
  }

  /** Ends the instance for good. */
  end(): void {
    this.worker?.terminate();
    for (const one of this.waiting.values()) clearTimeout(one.timer);
    this.waiting.clear();
  }

  /** Ends what the instance does now. */
  stop(): void {
    if (this.waiting.size > 0) this.replace("stopped");
  }

  private async send<T>(
    message: (id: number) => ToWorker,
    each?: (answer: Answer<T>) => void,
  ): Promise<Answer<T>> {
    await this.loaded;
    const id = ++this.last;
    return new Promise((done) => {
      const waiting: Waiting = { done: done as (answer: never) => void, timer: this.timer() };
      if (each) waiting.each = each as (answer: never) => void;
      this.waiting.set(id, waiting);
      this.post(message(id));
    });
  }

  private request<T>(request: object): Promise<Answer<T>> {
    return this.send((id) => ({ kind: "request", id, request }));
  }

  check(files: Files, main: string) {
    return this.request<{ diagnostics: Diagnostic[]; runs: boolean }>({ do: "check", files, main });
  }

  grade(files: Files, main: string, scripts: [string, string][]) {
    return this.request<Verdict>({ do: "grade", files, main, scripts });
  }

  async open(files: Files, scenario: Scenario | string, sample_s: number, control: string | null) {
    await this.loaded;
    this.post({ kind: "control", source: control });
    return this.request<Opened>({ do: "open", files, scenario, sample_s });
  }

  advance(until_s: number, watch: "nothing" | "flights" | "traces") {
    return this.request<Advanced>({ do: "advance", until_s, events: 1e9, watch });
  }

  /** Runs to a time as fast as possible; `each` gets what every slice gives. */
  run(until_s: number, each: (answer: Answer<Advanced>) => void) {
    return this.send<Advanced>((id) => ({ kind: "run", id, until_s, slice_ms: 50 }), each);
  }

  packet(id: number) {
    return this.request<Visits>({ do: "packet", id });
  }

  finish() {
    return this.request<Results>({ do: "finish" });
  }
}
