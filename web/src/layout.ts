/** Where the nodes of a network are drawn: switches in a row, hosts beside theirs. */
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
}

/** Places within a unit square. */
export function placed(network: Network): Map<string, Place> {
  const neighbours = new Map<string, string[]>();
  for (const { a, b } of network.links) {
    neighbours.set(a.node, [...(neighbours.get(a.node) ?? []), b.node]);
    neighbours.set(b.node, [...(neighbours.get(b.node) ?? []), a.node]);
  }
  const switches = ordered(Object.keys(network.switches), network, neighbours);
  const places = new Map<string, Place>();
  switches.forEach((name, i) => {
    const x = switches.length === 1 ? 0.5 : 0.3 + (0.4 * i) / (switches.length - 1);
    places.set(name, { x, y: 0.5, kind: "switch" });
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
      places.set(host, { x: side === "left" ? 0.07 : 0.93, y: 0.08 + 0.84 * y, kind: "host" });
    });
  }
  return places;
}

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
