/**
 * Where the nodes of a network are drawn: switches in a row, or on an arc if links pass others; hosts
 * next to their switch.
 */
import type { Endpoint } from "./protocol";

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

/** Half of a node's height in pixels. */
export const HALF = 14;

/** A node's centre in pixels. The whole node is in the area. */
export function centre(place: Place, width: number, height: number): [number, number] {
  const rest = place.half + 2;
  return [Math.max(rest, Math.min(place.x * width, width - rest)), place.y * height];
}

/** How far a node reaches from its centre in a direction, in pixels, with a margin. */
export const reach = (place: Place, dx: number, dy: number): number =>
  2 + Math.min(place.half, place.half / Math.abs(dx), HALF / Math.abs(dy));

/** Places within a unit square. */
export function placed(network: Network): Map<string, Place> {
  const neighbours = new Map<string, string[]>();
  for (const { a, b } of network.links) {
    neighbours.set(a.node, [...(neighbours.get(a.node) ?? []), b.node]);
    neighbours.set(b.node, [...(neighbours.get(b.node) ?? []), a.node]);
  }
  const switches = ordered(Object.keys(network.switches), network, neighbours);
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
  return places;
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
