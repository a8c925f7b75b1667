/** Runs one instance of the core. It answers every request, and reports when the instance breaks. */
import { controlFrom, type PageControl } from "./control";

interface Core {
  memory: WebAssembly.Memory;
  reserve(octets: number): number;
  call(): number;
  answer(): number;
}

export type ToWorker =
  | { kind: "load"; wasm: string }
  | { kind: "control"; source: string | null }
  | { kind: "request"; id: number; request: unknown }
  | { kind: "run"; id: number; until_s: number; slice_ms: number };

export type FromWorker =
  | { kind: "loaded" }
  | { kind: "answer"; id: number; answer: unknown; last: boolean }
  | { kind: "broken"; message: string };

const encoder = new TextEncoder();
const decoder = new TextDecoder();
let core: Core | undefined;
let source: string | null = null;
const controls = new Map<string, PageControl>();
/** What a control threw, or a panic's message: the core knows only that something failed. */
let thrown = "";

function post(message: FromWorker): void {
  self.postMessage(message);
}

function text(at: number, octets: number): string {
  if (!core) return "";
  return decoder.decode(new Uint8Array(core.memory.buffer, at, octets));
}

/** Calls the control of a flow, and writes the window that it leaves. */
function callControl(at: number, octets: number, window: number): number {
  const { flow, method, event } = JSON.parse(text(at, octets)) as {
    flow: string;
    method: "start" | "on_ack" | "on_loss" | "on_timeout";
    event: { cwnd: number; ssthresh: number };
  };
  try {
    let control = controls.get(flow);
    if (method === "start" || !control) {
      control = controlFrom(source ?? "", event);
      controls.set(flow, control);
    } else {
      control[method](event);
    }
    const written = new Float64Array(core!.memory.buffer, window, 3);
    written.set([Number(control.cwnd), Number(control.ssthresh), Number(control.pacing_rate ?? 0)]);
    return 1;
  } catch (error) {
    thrown = `${method}: ${String(error)}`;
    return 0;
  }
}

function ask(request: unknown): unknown {
  if (!core) throw new Error("the core is not loaded");
  const octets = encoder.encode(JSON.stringify(request));
  const at = core.reserve(octets.length);
  new Uint8Array(core.memory.buffer, at, octets.length).set(octets);
  const length = core.call();
  const answer = JSON.parse(text(core.answer(), length)) as { error?: unknown };
  const failed = answer.error as { control?: string } | undefined;
  if (failed && typeof failed === "object" && failed.control && thrown) {
    failed.control = `${failed.control}: ${thrown}`;
  }
  return answer;
}

async function load(wasm: string): Promise<void> {
  const page = {
    control: callControl,
    panicked: (at: number, octets: number) => {
      thrown = text(at, octets);
    },
  };
  const response = await fetch(wasm);
  if (!response.ok) throw new Error(`${wasm}: ${response.status} ${response.statusText}`);
  const module = await WebAssembly.instantiate(await response.arrayBuffer(), { page });
  core = module.instance.exports as unknown as Core;
  post({ kind: "loaded" });
}

/** As fast as possible, with an answer for each slice. */
function run(id: number, until_s: number, slice_ms: number): void {
  for (let last = false; !last;) {
    const begun = performance.now();
    const samples: unknown[] = [];
    let answer: { error?: unknown; ended?: boolean; now_s?: number; samples?: unknown[] };
    do {
      const request = { do: "advance", until_s, events: 50_000, watch: "nothing" };
      answer = ask(request) as typeof answer;
      samples.push(...(answer.samples ?? []));
      last = !!answer.error || !!answer.ended || (answer.now_s ?? 0) >= until_s;
    } while (!last && performance.now() - begun < slice_ms);
    post({ kind: "answer", id, answer: { ...answer, samples }, last });
  }
}

self.onmessage = ({ data }: MessageEvent<ToWorker>) => {
  try {
    switch (data.kind) {
      case "load":
        load(data.wasm).catch((error: unknown) => post({ kind: "broken", message: String(error) }));
        break;
      case "control":
        source = data.source;
        controls.clear();
        break;
      case "request":
        thrown = "";
        post({ kind: "answer", id: data.id, answer: ask(data.request), last: true });
        break;
      case "run":
        thrown = "";
        run(data.id, data.until_s, data.slice_ms);
        break;
    }
  } catch (error) {
    // A trap: the instance's memory can no longer be trusted.
    post({ kind: "broken", message: thrown || String(error) });
  }
};
