/** Colours of packets by their marks: lightness tells the order, so that hue need not be seen. */
import type { Flight } from "./protocol";

export type Colouring = "aqt" | "drai" | "ci";

/** From little to much: steps of the colour map cividis, made for colour blindness. */
export const RAMP = ["#00326f", "#35476c", "#5d5f70", "#7f7a78", "#a69a75", "#cfbc67", "#fde737"];
export const PLAIN = "#8a8f98";
/** Runs: blue and vermilion of Okabe and Ito. */
export const RUN_COLOURS = ["#0072b2", "#d55e00"] as const;

/** The AQT that has the last colour. */
export const AQT_FULL_MS = 200;

export const LEGENDS: Record<Colouring, { title: string; low: string; high: string }> = {
  aqt: { title: "AQT so far", low: "0 ms", high: `${AQT_FULL_MS} ms` },
  drai: { title: "DRAI so far", low: "6: faster", high: "1: slower" },
  ci: { title: "CI", low: "not marked", high: "marked" },
};

/** A packet's place on the ramp, 0 to 1; null where it carries no such mark. */
export function strength(flight: Flight, by: Colouring): number | null {
  if (by === "ci") return flight.kind === "data" ? (flight.ci ? 1 : 0) : null;
  if (by === "drai") return flight.drai == null ? null : (6 - flight.drai) / 5;
  return flight.aqt_us == null ? null : Math.min(1, flight.aqt_us / 1e3 / AQT_FULL_MS);
}

export function colour(flight: Flight, by: Colouring): string {
  const at = strength(flight, by);
  return at === null ? PLAIN : RAMP[Math.round(at * (RAMP.length - 1))]!;
}
