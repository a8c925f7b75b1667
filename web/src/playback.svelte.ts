/** The time that the page shows: it moves at the chosen speed, never ahead of what is computed. */
import type { Run } from "./run.svelte";

export const SPEEDS = [0.01, 0.1, 1, 10, 100];
export const DEFAULT_SPEED = 10;
export const STEP_S = 0.01;

export class Playback {
  speed = $state(DEFAULT_SPEED);
  playing = $state(false);
  /** The runs are computed to their end as fast as possible. */
  rushing = $state(false);
  shown_s = $state(0);
  private readonly runs: () => Run[];

  constructor(runs: () => Run[]) {
    this.runs = runs;
  }

  get end_s(): number {
    return this.runs()[0]?.scenario.end_s ?? 0;
  }

  get ended(): boolean {
    return this.shown_s >= this.end_s;
  }

  restart(): void {
    this.playing = this.rushing = false;
    this.shown_s = 0;
  }

  pause(): void {
    this.playing = false;
  }

  toggle(): void {
    if (!this.ended) this.playing = !this.playing;
  }

  /** Called for every frame, with the time since the last one. */
  tick(passed_s: number): void {
    const runs = this.runs();
    if (this.rushing) {
      this.shown_s = Math.min(...runs.map((run) => run.now_s));
      return;
    }
    if (!this.playing) return;
    const ahead_s = this.speed * 0.1;
    const wanted = this.shown_s + Math.min(passed_s, 0.1) * this.speed;
    const computed = Math.min(...runs.map((run) => (run.status === "failed" ? 0 : run.now_s)));
    this.shown_s = Math.max(this.shown_s, Math.min(wanted, computed, this.end_s));
    for (const run of runs) void run.advance(this.shown_s, ahead_s);
    if (runs.some((run) => run.status === "failed") || this.ended) this.playing = false;
  }

  async step(): Promise<void> {
    this.playing = false;
    const next = Math.min(this.shown_s + STEP_S, this.end_s);
    const runs = this.runs();
    await Promise.all(runs.map((run) => run.advance(next, 0)));
    this.shown_s = Math.min(next, ...runs.map((run) => run.now_s));
  }

  async toEnd(): Promise<void> {
    this.playing = false;
    this.rushing = true;
    await Promise.all(this.runs().map((run) => run.rush()));
    if (!this.rushing) return;
    this.rushing = false;
    this.shown_s = this.end_s;
  }
}
