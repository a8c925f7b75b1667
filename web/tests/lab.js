/** The page as a user opens it: `waymark lab`, and Debian's Chromium. */
import { spawn, spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";

export const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const VENV = `${ROOT}/.venv/bin/python`;
export const PYTHON = process.env.PYTHON ?? (existsSync(VENV) ? VENV : "python3");

export const DIST = `${ROOT}/web/dist`;
export const data = (name) => JSON.parse(readFileSync(`${DIST}/data/${name}`, "utf8"));

/** Debian's Chromium, or the one that CHROMIUM names. */
export function launch() {
  return chromium.launch({
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    args: ["--headless", "--no-sandbox"],
  });
}

/** What `waymark exercise check` says about an exercise's skeleton or solution, by check. */
export function graded(id, part) {
  const folder = mkdtempSync(`${tmpdir()}/exercise-`);
  const env = { ...process.env, PYTHONPATH: ROOT };
  const waymark = (...words) => spawnSync(PYTHON, ["-m", "waymark", ...words], { cwd: ROOT, env });
  try {
    waymark("exercise", "start", id, folder);
    cpSync(`${ROOT}/exercises/${id}/${part}`, folder, { recursive: true });
    const { checks } = JSON.parse(waymark("exercise", "check", folder, "--json").stdout);
    const one = ({ passed, lines }) => ({ passed, text: lines.join(" ").replace(/\s+/g, " ") });
    return Object.fromEntries(checks.map((check) => [check.name, one(check)]));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** A solution's file; controls are in JavaScript on the page. */
export const solution = (id, name) =>
  readFileSync(
    `${ROOT}/exercises/${id}/${name.endsWith(".js") ? "page/" : ""}solution/${name}`,
    "utf8",
  );

/** Starts the server and the browser; `requests` are the addresses that pages asked for. */
export async function start() {
  const server = spawn(PYTHON, ["-m", "waymark", "lab", "--port", "0"], {
    cwd: ROOT,
    stdio: ["ignore", "pipe", "inherit"],
  });
  const url = await new Promise((resolve, reject) => {
    server.stdout.once("data", (text) => resolve(String(text).trim()));
    server.once("exit", (code) => reject(new Error(`waymark lab ended with ${code}`)));
  });
  const browser = await launch();
  const requests = [];
  const errors = [];
  return {
    url,
    requests,
    errors,
    async open(fragment = "", options = {}) {
      const viewport = { width: 1280, height: 720 };
      const context = await browser.newContext({ viewport, ...options });
      context.on("request", (request) => requests.push(request.url()));
      const page = await context.newPage();
      page.setDefaultTimeout(60_000);
      page.on("pageerror", (error) => errors.push(error.message));
      await page.goto(url + fragment);
      await ready(page);
      return page;
    },
    async stop() {
      await browser.close();
      server.kill("SIGINT");
    },
  };
}

/** Waits until the runs are compiled. */
export async function ready(page) {
  await page.waitForFunction(() => {
    const states = [...document.querySelectorAll("section.topology")];
    const busy = document.querySelector(".page[aria-busy=true]") !== null;
    return !busy && states.length > 0 && states.every((one) => one.dataset.status !== "opening");
  });
}

/** Puts a text in place of all that the editor has. */
export async function write(page, text) {
  await page.locator(".cm-content").click();
  await page.keyboard.press("Control+a");
  await page.keyboard.insertText(text);
}

/** Runs to the end; resolves when the numbers are there. */
export async function toEnd(page, runs = 1) {
  await page.getByRole("button", { name: "To the end" }).click();
  await page.waitForFunction(
    (count) => document.querySelectorAll("tr[data-hops]").length >= count,
    runs,
  );
}
