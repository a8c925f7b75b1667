/** Where nodes are drawn: none covers another, in the networks of papers and in large ones. */
import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { after, before, test } from "node:test";
import { createServer } from "vite";

let vite;
let layout;

before(async () => {
  const root = fileURLToPath(new URL("..", import.meta.url));
  const server = { middlewareMode: true, ws: false, watch: null };
  vite = await createServer({ root, server, logLevel: "error", appType: "custom" });
  layout = await vite.ssrLoadModule("/src/layout.ts");
});
after(() => vite?.close());

const named = (names) => Object.fromEntries(names.map((name) => [name, {}]));
const numbers = (count) => [...Array(count).keys()];

function network(switches, hosts, links) {
  const ends = links.map(([a, b]) => ({ a: { node: a, port: 1 }, b: { node: b, port: 1 } }));
  return {
    hosts: named(hosts),
    switches: named(switches),
    links: ends,
    flows: [{ from: hosts[0] }],
  };
}

function dumbbell(pairs) {
  const links = numbers(pairs).flatMap((i) => [
    [`s${i}`, "r1"],
    ["r2", `d${i}`],
  ]);
  const hosts = numbers(pairs).flatMap((i) => [`s${i}`, `d${i}`]);
  return network(["r1", "r2"], hosts, [["r1", "r2"], ...links]);
}

function fatTree(k) {
  const half = numbers(k / 2);
  const links = numbers(k).flatMap((pod) =>
    half.flatMap((i) => [
      ...half.map((j) => [`h${pod}_${i}_${j}`, `e${pod}_${i}`]),
      ...half.map((j) => [`e${pod}_${i}`, `a${pod}_${j}`]),
      ...half.map((j) => [`a${pod}_${i}`, `c${i}_${j}`]),
    ]),
  );
  const names = [...new Set(links.flat())];
  const isHost = (name) => name.startsWith("h");
  return network(
    names.filter((name) => !isHost(name)),
    names.filter(isHost),
    links,
  );
}

function ring(count) {
  const links = numbers(count).flatMap((i) => [
    [`city${i}`, `city${(i + 1) % count}`],
    [`city${i}`, `host${i}`],
  ]);
  const names = (stem) => numbers(count).map((i) => `${stem}${i}`);
  return network(names("city"), names("host"), links);
}

const NETWORKS = {
  "a dumbbell": dumbbell(2),
  "an incast of 32": dumbbell(32),
  "a fat-tree of 20 switches": fatTree(4),
  "a fat-tree of 80 switches": fatTree(8),
  "a ring of 25 switches": ring(25),
  "nodes without links": network(["r1", "r2", "r3", "r4", "r5", "r6", "r7"], ["a", "b"], []),
};

for (const [name, one] of Object.entries(NETWORKS)) {
  for (const [areaWidth, areaHeight] of [
    [520, 260],
    [370, 220],
  ]) {
    test(`${name} in ${areaWidth} pixels: no node covers another`, () => {
      const drawing = layout.placed(one);
      const nodes = [...drawing.places];
      assert.equal(nodes.length, Object.keys(one.hosts).length + Object.keys(one.switches).length);
      const [width, height] = layout.enough(drawing, areaWidth, areaHeight);
      const at = nodes.map(([, place]) => layout.centre(place, width, height));
      nodes.forEach(([first, { half }], i) => {
        const [x, y] = at[i];
        assert.ok(x - half >= 0 && x + half <= width && y >= 0 && y <= height, first);
        nodes.slice(i + 1).forEach(([second, other], j) => {
          const [ox, oy] = at[i + 1 + j];
          const isApart =
            Math.abs(x - ox) >= half + other.half || Math.abs(y - oy) >= 2 * drawing.tall;
          assert.ok(isApart, `${first} and ${second}`);
        });
      });
    });
  }
}

test("the sender of the first flow is on the left", () => {
  const one = ring(25);
  for (const from of ["host0", "host7", "host19"]) {
    const { places } = layout.placed({ ...one, flows: [{ from }] });
    assert.ok(places.get(from).x <= 0.5, from);
  }
});

test("a small network has its switches in a row, and hosts in two columns", () => {
  const { places } = layout.placed(dumbbell(2));
  assert.equal(places.get("r1").y, places.get("r2").y);
  assert.equal(places.get("s0").x, places.get("s1").x);
});
