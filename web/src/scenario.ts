/** A scenario as the sliders have it. */
import type { Json, Path, Preset, PresetRun, Scenario, Slider } from "./protocol";

/** Slider positions by name. */
export type Positions = Record<string, number>;

export const CONTROL = "control.js";

/** The sliders of the runs shown, each name once. */
export function slidersOf(runs: PresetRun[]): Slider[] {
  const named = new Map<string, Slider>();
  for (const slider of runs.flatMap((run) => run.sliders)) {
    if (!named.has(slider.name)) named.set(slider.name, slider);
  }
  return [...named.values()];
}

/** A run's scenario with the positions of the sliders, and with the page's control if asked for. */
export function adjusted(run: PresetRun, positions: Positions, own: boolean): Scenario {
  const scenario = JSON.parse(JSON.stringify(run.scenario)) as Scenario;
  for (const slider of run.sliders) move(scenario, slider, positions[slider.name]);
  const first = scenario.flows[0];
  if (own && first) {
    const custom = { name: "custom", factory: first.name, recovery: "newreno" };
    Object.assign(first.connection, { control: custom, aqt: true, avbw: true, ci: true });
  }
  return scenario;
}

/** A scenario with a slider at a value. */
export function assigned(scenario: Scenario, slider: Slider, value: number): Scenario {
  const changed = JSON.parse(JSON.stringify(scenario)) as Scenario;
  move(changed, slider, value);
  return changed;
}

function move(scenario: Scenario, slider: Slider, value: number | undefined): void {
  const index = value === undefined ? -1 : slider.values.indexOf(value);
  if (index < 0) return;
  for (const { path, values } of slider.paths)
    assign(scenario as unknown as Json, path, values[index]!);
}

function assign(data: Json, path: Path, value: Json): void {
  const last = path[path.length - 1]!;
  const parent = path
    .slice(0, -1)
    .reduce((at: Json, key) => (at as Record<string, Json>)[key]!, data);
  (parent as Record<string, Json>)[last] = value;
}

/** The page's own run in addition to those of the preset: the first run under the control in JavaScript. */
export function withOwn(preset: Preset): PresetRun[] {
  const first = preset.runs[0]!;
  const own = { ...first, name: CONTROL, label: "your control (JavaScript)", measures: [] };
  return [...preset.runs, own];
}
