/** The page on a network of `waymark up`: it needs root, and namespaces. */
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { after, before, test } from "node:test";
import { PYTHON, ROOT, launch } from "./lab.js";

const NAME = `w${process.pid}`;
const LINKS = [
  "{ends: [a, router1], rate: 100 Mb/s, delay: 1 ms}",
  "{ends: [router1, r2], rate: 4 Mb/s, delay: 10 ms, queue: 100}",
  "{ends: [r2, b], rate: 100 Mb/s, delay: 1 ms}",
  "{ends: [r2, r3], rate: 4 Mb/s, delay: 10 ms}",
  "{ends: [router1, r3], rate: 4 Mb/s, delay: 20 ms}",
];
const TOPOLOGY = [
  "hosts: {a: {}, b: {}}",
  "switches: {router1: {feedback: [aqt, drai]}, r2: {feedback: [aqt, drai]}, r3: {}}",
  `links: [${LINKS.join(", ")}]`,
  "",
].join("\n");

const probe = `wm-${NAME}-probe`;
const made = spawnSync("ip", ["netns", "add", probe]);
if (made.status === 0) spawnSync("ip", ["netns", "del", probe]);
const skip = made.status === 0 ? false : "network namespaces need root and iproute2";

const children = [];
let folder;
let lab;
let browser;

function waymark(...words) {
  const child = spawn(PYTHON, ["-m", "waymark", ...words], { cwd: ROOT });
  children.push(child);
  return child;
}

function finished(...words) {
  const done = spawnSync(PYTHON, ["-m", "waymark", ...words], { cwd: ROOT, encoding: "utf8" });
  assert.equal(done.status, 0, done.stderr);
}

const printed = (child) =>
  new Promise((resolve, reject) => {
    child.stdout.once("data", (text) => resolve(String(text).trim()));
    child.once("exit", (code) => reject(new Error(`ended with ${code}`)));
  });

before(async () => {
  if (skip) return;
  folder = mkdtempSync(`${tmpdir()}/${NAME}-`);
  writeFileSync(`${folder}/${NAME}.yaml`, TOPOLOGY);
  finished("up", `${folder}/${NAME}.yaml`, "--bare");
  await printed(waymark("host", "recv", "--at", "b", "--network", NAME));
  const to = ["host", "send", "10.0.0.2", "--at", "a", "--network", NAME];
  waymark(...to, "--control", "rovegas", "--seconds", "600");
  lab = waymark("lab", "--network", NAME, "--port", "0");
  browser = await launch();
});

after(async () => {
  await browser?.close();
  for (const child of children) child.kill("SIGKILL");
  if (folder) {
    spawnSync(PYTHON, ["-m", "waymark", "down", NAME], { cwd: ROOT });
    rmSync(folder, { recursive: true });
  }
});

test("a live network is shown, and faults of its parts", { skip, timeout: 120_000 }, async () => {
  const url = await printed(lab);
  const errors = [];
  const requests = [];
  const page = await browser.newPage({ viewport: { width: 1280, height: 720 } });
  page.on("pageerror", (error) => errors.push(error.message));
  page.on("request", (request) => requests.push(request.url()));
  await page.goto(url);
  const status = page.locator("[data-test=status]");
  const reads = (text) =>
    page.waitForFunction(
      (wanted) => document.querySelector("[data-test=status]")?.textContent.includes(wanted),
      text,
      { timeout: 30_000 },
    );
  await reads("live");
  const queue = page.locator('tr[data-link="router1→r2"] td').nth(2);
  await page.waitForFunction(
    (cell) => Number(document.querySelector(cell)?.textContent) > 0,
    'tr[data-link="router1→r2"] td:nth-child(3)',
    { timeout: 30_000 },
  );
  assert.ok(Number(await queue.innerText()) >= 0);
  await page.getByText("a rovegas").first().waitFor();

  const { cut, hidden } = await page.locator(".area svg").evaluate(drawn);
  assert.deepEqual(cut, [], "names are within their nodes");
  assert.deepEqual(hidden, [], "no link is behind a node");

  const text = page.locator(".cm-content");
  const before = await text.innerText();
  await text.click();
  await page.keyboard.type("mistake");
  assert.equal(await text.innerText(), before, "the program is read-only");
  assert.equal(await page.locator("input[type=range]").count(), 0);
  if (process.env.SCREENSHOTS) await screenshots(page);

  finished("down", NAME);
  await reads("is down");
  lab.kill("SIGKILL");
  await reads("connection lost");
  const port = new URL(url).port;
  const other = await browser.newPage();
  await assert.rejects(other.goto(`http://127.0.0.1:${port}/`));
  assert.ok(Number(await status.getAttribute("data-points")) <= 600);
  const { origin } = new URL(url);
  assert.deepEqual(
    requests.filter((one) => new URL(one).origin !== origin),
    [],
  );
  assert.deepEqual(errors, []);
});

/** Names that are wider than their nodes, and links whose middle is in a node. */
function drawn(svg) {
  const cut = [];
  const boxes = [...svg.querySelectorAll("rect")].map((rect) => rect.getBBox());
  for (const [i, text] of [...svg.querySelectorAll("rect + text")].entries()) {
    if (text.getBBox().width > boxes[i].width) cut.push(text.textContent);
  }
  const middles = [...svg.querySelectorAll("line.wire")].map(({ x1, y1, x2, y2 }) => ({
    x: (x1.baseVal.value + x2.baseVal.value) / 2,
    y: (y1.baseVal.value + y2.baseVal.value) / 2,
  }));
  const within =
    ({ x, y }) =>
    (box) =>
      x > box.x && x < box.x + box.width && y > box.y && y < box.y + box.height;
  return { cut, hidden: middles.filter((middle) => boxes.some(within(middle))) };
}

/** Pictures to look at, where SCREENSHOTS names a folder. */
async function screenshots(page) {
  await page.waitForTimeout(8000);
  for (const colorScheme of ["light", "dark"]) {
    await page.emulateMedia({ colorScheme });
    for (const [width, height] of [
      [1280, 720],
      [820, 1180],
    ]) {
      await page.setViewportSize({ width, height });
      await page.waitForTimeout(700);
      await page.screenshot({ path: `${process.env.SCREENSHOTS}/${colorScheme}-${width}.png` });
    }
  }
  await page.setViewportSize({ width: 1280, height: 720 });
}
