/** RED's settings in a scenario's text, and the table entries that they become (`waymark/red.py`). */
import type { Json, Scenario } from "../protocol";

export interface RedOnly {
  file: string;
  /** The text before and after the settings: it may not change. */
  before: string;
  after: string;
  settings: Record<string, Limits>;
}

interface Limits {
  description: string;
  type: "number" | "integer";
  minimum?: number;
  exclusiveMinimum?: number;
  maximum?: number;
  default?: number;
}

interface Entry {
  table: string;
  match: Record<string, Json>;
  params: Record<string, Json>;
}

const STEPS = 16;
const ONE = 2 ** 16;
const MOST = 2 ** 48 - 1;

/** The scenario with the settings of a student's text; throws what is wrong with these. */
export function withRed(scenario: Scenario, only: RedOnly, text: string): Scenario {
  const found = /^([^]*?)red: \{([^}]*)\}([^]*)$/.exec(text);
  const [before, settings, after] = [found?.[1] ?? "", found?.[2] ?? "", found?.[3] ?? ""];
  if (plain(before) !== plain(only.before) || plain(after) !== plain(only.after)) {
    throw new Error(
      `${only.file}: more than the settings in red: {…} differs from the skeleton. Restore the rest, and ` +
        "change only these.",
    );
  }
  const changed = JSON.parse(JSON.stringify(scenario)) as Scenario;
  const { thmin, thmax, pmax, w } = read(only, settings);
  if (thmin! >= thmax!) {
    throw new Error(`${only.file}: red: thmin is ${thmin}; expected less than thmax, ${thmax}`);
  }
  for (const one of Object.values(changed.switches)) {
    const held = one as unknown as { entries: Entry[] };
    const step = held.entries.find(({ table }) => table === "red");
    if (!step) continue;
    const others = held.entries.filter(({ table }) => table !== "red");
    for (const entry of others) if (entry.table === "red_weight") entry.params = { w: w! };
    const steps = stair(thmin!, thmax!, pmax!).map(({ average, probability }) => ({
      ...step,
      match: { ...step.match, average },
      params: { probability },
    }));
    held.entries = [...others, ...steps];
  }
  return changed;
}

/** Without comments and spaces. */
function plain(text: string): string {
  return text.replace(/#.*$/gm, "").replace(/\s+/g, "");
}

function read(only: RedOnly, text: string): Record<string, number> {
  const names = Object.keys(only.settings);
  const values: Record<string, number> = {};
  for (const part of text.split(",").filter((one) => one.trim())) {
    const [name = "", given = ""] = part.split(":").map((one) => one.trim());
    const limits = only.settings[name];
    if (!limits) {
      throw new Error(`${only.file}: red: found ${name}; valid: ${names.join(", ")}`);
    }
    const number = Number(given);
    const good =
      given !== "" &&
      Number.isFinite(number) &&
      (limits.type !== "integer" || /^[+-]?\d+$/.test(given)) &&
      number >= (limits.minimum ?? -Infinity) &&
      number > (limits.exclusiveMinimum ?? -Infinity) &&
      number <= (limits.maximum ?? Infinity);
    if (!good) {
      throw new Error(
        `${only.file}: red.${name}: found ${given || "nothing"}; valid: ${limits.description}`,
      );
    }
    values[name] = number;
  }
  for (const name of names) {
    const value = values[name] ?? only.settings[name]!.default;
    if (value === undefined) throw new Error(`${only.file}: red: ${name} is missing`);
    values[name] = value;
  }
  return values;
}

/** Equal steps from thmin to thmax, each with the probability of its middle, and certain drops above. */
function stair(thmin: number, thmax: number, pmax: number) {
  const bounds = Array.from({ length: STEPS + 1 }, (_, step) =>
    Math.ceil((thmin + ((thmax - thmin) * step) / STEPS) * ONE),
  );
  const steps = bounds.slice(1).map((high, step) => ({
    average: [bounds[step]!, high - 1],
    probability: rounded(((pmax * (step + 0.5)) / STEPS) * ONE),
  }));
  return [
    ...steps.filter(({ average }) => average[0]! <= average[1]!),
    { average: [bounds[STEPS]!, MOST], probability: ONE },
  ];
}

/** To the nearest integer; in the middle to the even one, as Python rounds. */
function rounded(value: number): number {
  const nearest = Math.round(value);
  return Math.abs(value % 1) === 0.5 && nearest % 2 !== 0 ? nearest - 1 : nearest;
}
