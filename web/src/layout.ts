/**
 * Where the nodes of a network are drawn: switches in a row, or on an arc if links pass others, with the
 * hosts on both sides; the nodes of large networks as `spread.ts` places them.
 */
import type { Endpoint } from "./protocol";
import { spread } from "./spread";

/** What a network consists of: a scenario has all of it, and so has the map of a live network. */
export interface Network {
  hosts: Record<string, unknown>;
  switches: Record<string, unknown>;
  links: { a: Endpoint; b: Endpoint }[];
  flows: { from: string }[];
}

export interface Place {
  x: number;
  y: number;
  kind: "host" | "switch";
  /** Half of the node's width in pixels: its name fits. */
  half: number;
}

/** A drawing of a network. */
export interface Drawing {
  places: Map<string, Place>;
  /** Half of a node's height in pixels. */
  tall: number;
  /** The size of the names in pixels. */
  font: number;
}

/** Half of a node's height in pixels, and of a small one's. */
const [HALF, SMALL] = [14, 9];

/** More switches, or more hosts on one side, are drawn small and spread over the whole area. */
const [ROW_MOST, COLUMN_MOST] = [6, 7];
/** Free space around nodes, in pixels. */
const GAP = 6;

/** A node's centre in pixels. The whole node is in the area. */
export function centre(place: Place, width: number, height: number): [number, number] {
  const rest = place.half + 2;
  return [Math.max(rest, Math.min(place.x * width, width - rest)), place.y * height];
}

/** How far a node reaches from its centre in a direction, in pixels, with a margin. */
export const reach = (place: Place, tall: number, dx: number, dy: number): number =>
  2 + Math.min(place.half, place.half / Math.abs(dx), tall / Math.abs(dy));

/** The least size, at least the given one and in its proportions, at which no node covers another. */
export function enough(drawing: Drawing, width: number, height: number): [number, number] {
  const nodes = [...drawing.places.values()];
  const isFree = (times: number) => {
    const at = nodes.map((place) => centre(place, times * width, times * height));
    return nodes.every((one, i) =>
      nodes.slice(i + 1).every((other, j) => {
        const [[ax, ay], [bx, by]] = [at[i]!, at[i + 1 + j]!];
        const isApart = Math.abs(ax - bx) >= one.half + other.half + GAP;
        return isApart || Math.abs(ay - by) >= 2 * drawing.tall + GAP;
      }),
    );
  };
  let times = 1;
  while (times < 8 && !isFree(times)) times *= 1.1;
  return [Math.round(times * width), Math.round(times * height)];
}

/** Places within a unit square. */
export function placed(network: Network): Drawing {
  const neighbours = new Map<string, string[]>();
  for (const { a, b } of network.links) {
    neighbours.set(a.node, [...(neighbours.get(a.node) ?? []), b.node]);
    neighbours.set(b.node, [...(neighbours.get(b.node) ?? []), a.node]);
  }
  const switches = ordered(Object.keys(network.switches), network, neighbours);
  const inRows = switches.length <= ROW_MOST ? rows(network, neighbours, switches) : null;
  return inRows ?? over(network, switches);
}

/** Switches in a row or on an arc, hosts on both sides; null: there are too many hosts. */
function rows(
  network: Network,
  neighbours: Map<string, string[]>,
  switches: string[],
): Drawing | null {
  const places = new Map<string, Place>();
  const number = new Map(switches.map((name, i) => [name, i]));
  const isRow = network.links.every(({ a, b }) => {
    const [from, to] = [number.get(a.node), number.get(b.node)];
    return from === undefined || to === undefined || Math.abs(from - to) === 1;
  });
  switches.forEach((name, i) => {
    const along = switches.length === 1 ? 0.5 : i / (switches.length - 1);
    const y = isRow ? 0.5 : 0.8 - 0.6 * Math.sin(Math.PI * along);
    places.set(name, { x: 0.3 + 0.4 * along, y, kind: "switch", half: halfOf(name, 20) });
  });
  const senders = new Set(network.flows.map((flow) => flow.from));
  const columns = new Map<string, string[]>();
  for (const host of Object.keys(network.hosts)) {
    const at = neighbours.get(host)?.[0] ?? "";
    const index = switches.indexOf(at);
    const alone = switches.length <= 1;
    const left = alone ? senders.has(host) : index * 2 < switches.length - 1;
    const side = left ? "left" : "right";
    columns.set(side, [...(columns.get(side) ?? []), host]);
  }
  if ([...columns.values()].some((hosts) => hosts.length > COLUMN_MOST)) return null;
  for (const [side, hosts] of columns) {
    hosts.forEach((host, i) => {
      const y = (i + 0.5) / hosts.length;
      places.set(host, {
        x: side === "left" ? 0.07 : 0.93,
        y: 0.08 + 0.84 * y,
        kind: "host",
        half: halfOf(host, HALF),
      });
    });
  }
  return { places, tall: HALF, font: 12 };
}

/** Small nodes over the whole area, the first sender on the left. */
function over(network: Network, switches: string[]): Drawing {
  const names = [...switches, ...Object.keys(network.hosts)];
  const number = new Map(names.map((name, i) => [name, i]));
  const halves = names.map((name) => Math.max(SMALL, 3 * name.length + 4));
  const ends = network.links.map(({ a, b }): [number, number] => [
    number.get(a.node)!,
    number.get(b.node)!,
  ]);
  const points = spread(
    halves.map((half) => half + GAP),
    ends,
  );
  const extent = (axis: 0 | 1): [number, number] => {
    const along = points.map((point) => point[axis]);
    return [Math.min(...along), Math.max(...along)];
  };
  const [left, right] = extent(0);
  const [top, bottom] = extent(1);
  const sender = number.get(network.flows[0]?.from ?? "");
  const isTurned = sender !== undefined && 2 * points[sender]![0] > left + right;
  const places = new Map<string, Place>();
  names.forEach((name, i) => {
    const x = (points[i]![0] - left) / (right - left || 1);
    const y = (points[i]![1] - top) / (bottom - top || 1);
    places.set(name, {
      x: 0.05 + 0.9 * (isTurned ? 1 - x : x),
      y: 0.06 + 0.88 * y,
      kind: i < switches.length ? "switch" : "host",
      half: halves[i]!,
    });
  });
  return { places, tall: SMALL, font: 10 };
}

/** Half of the width that a name in 12 pixels needs. */
const halfOf = (name: string, least: number) => Math.max(least, 4 * name.length + 5);

/** The switches from the first flow's sender on. */
function ordered(names: string[], network: Network, neighbours: Map<string, string[]>): string[] {
  const known = new Set(names);
  const start = network.flows[0]?.from ?? names[0] ?? "";
  const seen = new Set([start]);
  const queue = [start];
  const found: string[] = [];
  for (let at = queue.shift(); at !== undefined; at = queue.shift()) {
    if (known.has(at)) found.push(at);
    for (const next of neighbours.get(at) ?? []) {
      if (seen.has(next)) continue;
      seen.add(next);
      if (known.has(next) || at === start) queue.push(next);
    }
  }
  return [...found, ...names.filter((name) => !found.includes(name))];
}
