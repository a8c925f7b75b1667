/**
 * Where the nodes of a large network are drawn: distances on the picture approach the lengths of the shortest
 * paths (stress majorization: Gansner, Koren, North, GD 2004). The same network is always drawn alike.
 */

const ROUNDS = 150;

/** Places in units of a link, in the order of the nodes. `neighbours` has the neighbours' numbers of each node. */
export function spread(neighbours: number[][]): [number, number][] {
  const count = neighbours.length;
  const distances = neighbours.map((_, node) => distancesFrom(node, neighbours));
  const points = begin(distances);
  for (let round = 0; round < ROUNDS; round++) {
    for (let i = 0; i < count; i++) {
      let [x, y, weights] = [0, 0, 0];
      const [px, py] = points[i]!;
      for (let j = 0; j < count; j++) {
        if (i === j) continue;
        const wanted = distances[i]![j]!;
        const [qx, qy] = points[j]!;
        const pull = wanted / (Math.hypot(px - qx, py - qy) || 1e-9);
        const weight = 1 / (wanted * wanted);
        x += weight * (qx + pull * (px - qx));
        y += weight * (qy + pull * (py - qy));
        weights += weight;
      }
      if (weights > 0) points[i] = [x / weights, y / weights];
    }
  }
  return along(points);
}

/** Numbers of links on the shortest paths; nodes that are not connected are far away. */
function distancesFrom(node: number, neighbours: number[][]): number[] {
  const found = new Array<number>(neighbours.length).fill(Math.sqrt(neighbours.length) + 1);
  found[node] = 0;
  const seen = new Set([node]);
  for (const at of seen) {
    for (const next of neighbours[at]!) {
      if (seen.has(next)) continue;
      found[next] = found[at]! + 1;
      seen.add(next);
    }
  }
  return found;
}

/** A first guess: the distances from nodes that are far from each other. */
function begin(distances: number[][]): [number, number][] {
  const farthest = (from: number[]) => from.indexOf(Math.max(...from));
  const a = distances[farthest(distances[0] ?? [])] ?? [];
  const b = distances[farthest(a)] ?? [];
  const c = distances[farthest(a.map((far, i) => Math.min(far, b[i]!)))] ?? [];
  // Nodes with the same distances begin on a spiral.
  return a.map((far, i) => [
    far - b[i]! + 0.3 * Math.cos(2.4 * i),
    2 * c[i]! + 0.3 * Math.sin(2.4 * i),
  ]);
}

/** Turned so that the longest extent is horizontal. */
function along(points: [number, number][]): [number, number][] {
  const mean = (axis: 0 | 1) => points.reduce((sum, p) => sum + p[axis], 0) / points.length;
  const [mx, my] = [mean(0), mean(1)];
  let [xx, xy, yy] = [0, 0, 0];
  for (const [x, y] of points) {
    xx += (x - mx) ** 2;
    xy += (x - mx) * (y - my);
    yy += (y - my) ** 2;
  }
  const angle = Math.atan2(2 * xy, xx - yy) / 2;
  const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
  return points.map(([x, y]) => [(x - mx) * cos + (y - my) * sin, (y - my) * cos - (x - mx) * sin]);
}
