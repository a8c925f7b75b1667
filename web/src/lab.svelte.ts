/** The state of the page: the preset with its runs, sliders, and the packet that is traced. */
import { EXAMPLE } from "./control";
import { json } from "./data";
import type { Colouring } from "./marks";
import { DEFAULT_SPEED, Playback, SPEEDS } from "./playback.svelte";
import type { Files, Json, Preset, PresetRun, Step, Visits } from "./protocol";
import { Run } from "./run.svelte";
import { adjusted, CONTROL, slidersOf, withOwn, type Positions } from "./scenario";
import { laidOut, scenarioFile } from "./scenario-text";
import { fromFragment, isLink, toFragment } from "./share";
import { Source } from "./source.svelte";

/** How long a notice is shown. */
const NOTICE_MS = 4000;

export interface Selected {
  id: number;
  /** Null while they are traced. */
  visits: Visits["visits"] | null;
  switches: string[];
}

export class Lab {
  index = $state.raw<{ id: string; title: string; file: string }[]>([]);
  preset = $state.raw<Preset | null>(null);
  /** The names of the run and of the one shown second. */
  names = $state.raw<[string, string | null]>(["", null]);
  runs = $state.raw<Run[]>([]);
  positions = $state.raw<Positions>({});
  colouring = $state<Colouring>("aqt");
  selected = $state.raw<Selected | null>(null);
  /** The step of the selected packet's trace that the editor shows. */
  step = $state.raw<Step | null>(null);
  problem = $state("");
  notice = $state("");
  /** The number of presets and runs that are being opened. */
  opening = $state(0);
  /** Whether the exercises are shown in place of the runs. */
  exercising = $state(false);

  readonly source = new Source(
    () => Object.values(this.runs[0]?.scenario.switches ?? {})[0]?.program,
    () => this.scenarios,
  );
  readonly playback = new Playback(() => this.runs);
  readonly choices = $derived(this.preset ? withOwn(this.preset) : []);
  readonly chosen = $derived(
    this.names.flatMap((name) => this.choices.find((choice) => choice.name === name) ?? []),
  );
  /** The texts of the chosen runs' scenarios, with the sliders as they are set. */
  readonly scenarios = $derived<Files>(
    Object.fromEntries(
      this.chosen.map((choice) => [
        this.fileOf(choice),
        laidOut(adjusted(choice, this.positions, choice.name === CONTROL) as unknown as Json),
      ]),
    ),
  );
  readonly sliders = $derived(slidersOf(this.chosen));
  /** Whether the runs differ from the preset's. */
  readonly changed = $derived(
    Object.keys(this.positions).length > 0 || Object.keys(this.source.edits).length > 0,
  );

  async start(): Promise<void> {
    [this.index, this.source.original] = await Promise.all([
      json<Lab["index"]>("presets.json"),
      json<Files>("p4src.json"),
    ]);
    if (!(await this.restore())) await this.choose(this.index[0]!.id);
  }

  /** Takes over the state of the address; whether there is one. */
  async restore(): Promise<boolean> {
    const state = await fromFragment(location.hash);
    if (!state && isLink(location.hash)) this.problem = "The link is damaged.";
    if (!state) return false;
    this.problem = "";
    const { source, playback } = this;
    source.edits = state.edits;
    source.control = state.control;
    this.positions = state.sliders;
    playback.speed = SPEEDS.includes(state.speed) ? state.speed : DEFAULT_SPEED;
    await this.choose(state.preset, [state.a, state.b]);
    if (state.file in source.files) source.file = state.file;
    return true;
  }

  async choose(id: string, pair?: [string, string | null]): Promise<void> {
    const found = this.index.find((one) => one.id === id);
    const entry = found ?? this.index[0]!;
    this.opening += 1;
    const next = await json<Preset>(entry.file).finally(() => (this.opening -= 1));
    if (!pair) this.positions = {};
    this.preset = next;
    const known = this.choices.map(({ name }) => name);
    const has = (name: string | null) => name === null || known.includes(name);
    this.names = pair && found && pair.every(has) ? pair : next.pair;
    if (pair && this.names !== pair) {
      this.problem = "The link has a preset or a run that this page does not have.";
    }
    this.colouring = next.mark;
    this.source.forget();
    await this.restart();
  }

  async chooseRun(name: string): Promise<void> {
    this.names = [name, this.names[1]];
    await this.restart();
  }

  /** Shows a run next to the first one; null: none. */
  async chooseSecond(name: string | null): Promise<void> {
    this.names = [this.names[0], name];
    await this.restart();
  }

  /** All runs from the beginning, with the files, sliders and control as they are now. */
  async restart(): Promise<void> {
    this.playback.restart();
    this.deselect();
    for (const run of this.runs.slice(this.chosen.length)) run.core.stop();
    this.runs = this.chosen.map((choice, i) => {
      const run = this.runs[i];
      return run?.preset === choice ? run : new Run(choice);
    });
    const { programs, control } = this.source;
    this.opening += 1;
    await Promise.all(
      this.runs.map((run) => {
        const isOwn = run.preset.name === CONTROL;
        const edited = this.source.edits[this.fileOf(run.preset)];
        const scenario = edited ?? adjusted(run.preset, this.positions, isOwn);
        return run.open(programs, scenario, isOwn ? (control ?? EXAMPLE) : null);
      }),
    ).finally(() => (this.opening -= 1));
    await this.source.check();
  }

  /** The file of the editor that has a run's scenario. */
  private fileOf(run: PresetRun): string {
    return scenarioFile(this.preset?.id ?? "", run.name);
  }

  slide(name: string, value: number, start: number): void {
    const { [name]: _, ...others } = this.positions;
    this.positions = value === start ? others : { ...others, [name]: value };
    void this.restart();
  }

  async select(run: Run, id: number): Promise<void> {
    this.playback.pause();
    const switches = Object.keys(run.scenario.switches);
    this.selected = { id, visits: null, switches };
    this.step = null;
    let visits: Visits["visits"];
    try {
      visits = await run.trace(id, this.playback.shown_s);
    } catch (error) {
      this.problem = String(error);
      return;
    }
    if (this.selected?.id !== id) return;
    this.selected = { id, visits, switches };
    const steps = visits.flatMap((visit) => visit.steps);
    const first = steps.find((one) => one.source && one.event.event === "table");
    if (first) this.showStep(first);
  }

  /** Shows the exercises in place of the runs. */
  exercise(): void {
    this.playback.pause();
    this.exercising = true;
  }

  deselect(): void {
    this.selected = this.step = null;
  }

  showStep(step: Step): void {
    this.step = step;
    if (step.source && step.source.file in this.source.programs) {
      this.source.file = step.source.file;
    }
  }

  async share(): Promise<void> {
    if (!this.preset) return;
    const fragment = await toFragment({
      preset: this.preset.id,
      a: this.names[0],
      b: this.names[1],
      speed: this.playback.speed,
      sliders: this.positions,
      edits: this.source.edits,
      control: this.source.control,
      file: this.source.file,
    });
    history.replaceState(null, "", fragment);
    try {
      await navigator.clipboard.writeText(location.href);
      this.notice = "The link is in the clipboard.";
    } catch {
      this.notice = "The link is in the address bar.";
    }
    setTimeout(() => (this.notice = ""), NOTICE_MS);
  }

  async reset(): Promise<void> {
    history.replaceState(null, "", location.pathname + location.search);
    this.source.reset();
    this.problem = "";
    this.playback.speed = DEFAULT_SPEED;
    if (this.preset) await this.choose(this.preset.id);
  }
}
