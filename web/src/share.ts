/** The state of the page in the address: compressed JSON in the fragment, which stays in the browser. */
import type { Files } from "./protocol";
import type { Positions } from "./scenario";

export interface Shared {
  preset: string;
  a: string;
  b: string | null;
  speed: number;
  sliders: Positions;
  /** The files that were edited, whole. */
  edits: Files;
  /** The control in JavaScript, where it was edited. */
  control: string | null;
  file: string;
}

const PREFIX = "#s=";

async function through(bytes: Uint8Array, stream: CompressionStream | DecompressionStream) {
  const body = new Blob([bytes as BlobPart]).stream().pipeThrough(stream);
  return new Uint8Array(await new Response(body).arrayBuffer());
}

export async function toFragment(state: Shared): Promise<string> {
  const bytes = new TextEncoder().encode(JSON.stringify(state));
  const packed = await through(bytes, new CompressionStream("deflate-raw"));
  const text = btoa(Array.from(packed, (octet) => String.fromCharCode(octet)).join(""));
  return PREFIX + text.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/** Whether a fragment claims to have a state. */
export function isLink(fragment: string): boolean {
  return fragment.startsWith(PREFIX);
}

/** The state in a fragment; null where there is none, or none that can be read. */
export async function fromFragment(fragment: string): Promise<Shared | null> {
  if (!isLink(fragment)) return null;
  try {
    const text = atob(fragment.slice(PREFIX.length).replaceAll("-", "+").replaceAll("_", "/"));
    const packed = Uint8Array.from(text, (character) => character.charCodeAt(0));
    const bytes = await through(packed, new DecompressionStream("deflate-raw"));
    const state: unknown = JSON.parse(new TextDecoder().decode(bytes));
    return isShared(state) ? state : null;
  } catch {
    return null;
  }
}

/** Whether data of a link, which may be malformed, has the state's shape. */
function isShared(data: unknown): data is Shared {
  if (!isRecord(data)) return false;
  const { preset, a, b, speed, sliders, edits, control, file } = data;
  return (
    [preset, a, file].every((one) => typeof one === "string") &&
    [b, control].every((one) => one === null || typeof one === "string") &&
    typeof speed === "number" &&
    isRecord(sliders) &&
    Object.values(sliders).every((one) => typeof one === "number") &&
    isRecord(edits) &&
    Object.values(edits).every((one) => typeof one === "string")
  );
}

function isRecord(data: unknown): data is Record<string, unknown> {
  return typeof data === "object" && data !== null && !Array.isArray(data);
}
