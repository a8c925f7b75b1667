/** Where the nodes of a large network are drawn: links pull their ends together, and nodes repel each other. */
import {
  forceCollide,
  forceLink,
  forceManyBody,
  forceSimulation,
  forceX,
  forceY,
  type SimulationNodeDatum,
} from "d3-force";

const TICKS = 300;
/** The length of a link in pixels. */
const LINK = 40;

/** A node, with the free space around it in pixels. */
interface Node extends SimulationNodeDatum {
  radius: number;
}

/**
 * Places in pixels, which are the same for the same network. `radii` has the free space around each node, `links`
 * the numbers of their ends.
 */
export function spread(radii: number[], links: [number, number][]): [number, number][] {
  const nodes: Node[] = radii.map((radius) => ({ radius }));
  const ends = links.map(([source, target]) => ({ source, target }));
  forceSimulation(nodes)
    .force("link", forceLink(ends).distance(LINK).strength(1))
    .force("charge", forceManyBody().strength(-4 * LINK))
    .force("collide", forceCollide<Node>((node) => node.radius).iterations(4))
    .force("x", forceX().strength(0.02))
    .force("y", forceY().strength(0.06))
    .stop()
    .tick(TICKS);
  return nodes.map(({ x, y }) => [x ?? 0, y ?? 0]);
}
