import assert from "node:assert/strict";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { after, before, test } from "node:test";
import { deflateRawSync, gzipSync } from "node:zlib";
import { DIST, data, graded, ready, solution, start, toEnd, write } from "./lab.js";

let lab;

before(async () => {
  lab = await start();
});

after(async () => {
  await lab?.stop();
});

for (const entry of data("presets.json")) {
  test(`${entry.id}: the numbers are those of waymark run`, async () => {
    const preset = data(entry.file);
    const page = await lab.open();
    await page.selectOption("[data-test=preset]", entry.id);
    await ready(page);
    await page.selectOption("[data-test=run-1]", "");
    for (const run of preset.runs) {
      await page.selectOption("[data-test=run-0]", run.name);
      await page.locator(`tr[data-run="${run.name}"]`).waitFor();
      await ready(page);
      await toEnd(page);
      const row = page.locator(`tr[data-run="${run.name}"]`);
      const shown = await row.evaluate((element) => ({ ...element.dataset }));
      const sum = (name) => run.totals.flows.reduce((total, flow) => total + flow[name], 0);
      assert.equal(Number(shown.hops), run.totals.packet_hops, run.name);
      for (const name of ["sent", "delivered", "lost", "timeouts"]) {
        assert.equal(Number(shown[name]), sum(name), `${run.name}: ${name}`);
      }
      for (const measure of run.measures) {
        const value = page.locator(`tr[data-row="${measure.row}"]`);
        const here = Number(await value.getAttribute("data-value"));
        const error = Math.abs(here - measure.waymark);
        assert.ok(error <= 1e-9 * Math.abs(measure.waymark), `${measure.row}: ${here}`);
      }
    }
    await page.close();
  });
}

test("a mistake in P4 is underlined within 300 ms of the last key", async () => {
  const page = await lab.open();
  const compiled = page.locator(".editor footer");
  await page.getByText("compiles", { exact: true }).waitFor();
  await page.locator(".cm-line", { hasText: "PortFeedback() port_feedback;" }).click();
  await page.keyboard.press("End");
  await page.evaluate(() => {
    const took = new Promise((resolve) => {
      let last = 0;
      addEventListener("keydown", () => (last = performance.now()), true);
      new MutationObserver((_, observer) => {
        if (!document.querySelector(".cm-lintRange-error")) return;
        observer.disconnect();
        resolve(performance.now() - last);
      }).observe(document.body, { childList: true, subtree: true, attributes: true });
    });
    window.took = took;
  });
  await page.keyboard.type(" bogus");
  const took_ms = await page.evaluate(() => window.took);
  console.log(`underlined after ${took_ms.toFixed(0)} ms`);
  assert.ok(took_ms <= 300, `${took_ms} ms`);
  assert.match(await compiled.innerText(), /error/);
  await page.close();
});

test("fig3.6 plays at ten times real time with 50 frames per second", async () => {
  const page = await lab.open();
  assert.equal(await page.locator("[data-test=speed]").inputValue(), "10");
  const time_s = async () => parseFloat(await page.locator("[data-test=time]").innerText());
  await page.locator(".play").click();
  await page.waitForTimeout(1500);
  const [from, before_s] = [Date.now(), await time_s()];
  let best = 0;
  for (let i = 0; i < 8; i++) {
    await page.waitForTimeout(1000);
    const frames = await page.locator("[data-test=frames]").getAttribute("data-frames");
    best = Math.max(best, Number(frames));
  }
  const pace = ((await time_s()) - before_s) / ((Date.now() - from) / 1e3);
  console.log(`${best} frames per second, at ${pace.toFixed(1)} times real time`);
  assert.ok(best >= 50, `${best} frames per second`);
  assert.ok(pace > 8, `${pace} times real time`);
  await page.close();
});

test("200 s of fig3.6 take about a second", async () => {
  const page = await lab.open();
  await page.selectOption("[data-test=run-1]", "");
  await ready(page);
  let best = Infinity;
  for (let i = 0; i < 3; i++) {
    await page.getByRole("button", { name: "Restart" }).click();
    await page.locator("tr[data-hops]").waitFor({ state: "detached" });
    await ready(page);
    const from = Date.now();
    await toEnd(page);
    best = Math.min(best, Date.now() - from);
  }
  console.log(`200 s in ${best} ms`);
  // Other work may share the machine.
  assert.ok(best <= 3000, `${best} ms`);
  await page.close();
});

test("a packet's trace marks the lines that it met", async () => {
  const page = await lab.open();
  await page.selectOption("[data-test=speed]", "1");
  await page.locator(".play").click();
  await page.waitForFunction(
    () => parseFloat(document.querySelector("[data-test=time]").textContent) > 1,
  );
  await page.locator(".play").click();
  await page.locator("section.topology canvas").first().focus();
  await page.keyboard.press("ArrowRight");
  const trace = page.getByRole("region", { name: "Packet trace" });
  await trace
    .getByText(/ipv4_route/)
    .first()
    .waitFor();
  await page.locator(".cm-line.met.strong").waitFor();
  const cut = await trace
    .locator(".what", { hasText: "state" })
    .evaluateAll((all) =>
      all.filter((one) => one.scrollWidth > one.clientWidth).map((one) => one.textContent),
    );
  assert.deepEqual(cut, []);
  const step = trace.getByRole("button").filter({ hasText: "state" }).first();
  await step.click();
  const shown = (await step.innerText()).match(/(\w+\.p4):\d+/)[1];
  assert.match(await page.locator(".editor select").inputValue(), new RegExp(`${shown}$`));
  await step.press("Escape");
  await trace.waitFor({ state: "detached" });
  await page.close();
});

test("the keyboard leaves the editor by Escape and Tab", async () => {
  const page = await lab.open();
  await page.locator(".cm-content").click();
  await page.keyboard.press("Escape");
  await page.keyboard.press("Tab");
  assert.ok(await page.evaluate(() => !document.activeElement.closest(".cm-content")));
  await page.close();
});

test("a share link restores the state", async () => {
  const page = await lab.open();
  await page.selectOption("[data-test=preset]", "beyond/fig1");
  await ready(page);
  await page.selectOption("[data-test=run-1]", "vegas");
  await page.selectOption("[data-test=speed]", "100");
  await page.locator("[data-test=slider-delay]").fill("2");
  await page.locator(".editor select").selectOption("controls/aqt.p4");
  await page.locator(".cm-content").click();
  await page.keyboard.press("Control+Home");
  await page.keyboard.type("// mine\n");
  await page.getByRole("button", { name: "Share" }).click();
  await page.waitForFunction(() => location.hash.startsWith("#s="));
  const state = async (of) => ({
    preset: await of.locator("[data-test=preset]").inputValue(),
    runs: [
      await of.locator("[data-test=run-0]").inputValue(),
      await of.locator("[data-test=run-1]").inputValue(),
    ],
    speed: await of.locator("[data-test=speed]").inputValue(),
    delay: await of.locator("[data-test=slider-delay]").inputValue(),
    file: await of.locator(".editor select").inputValue(),
    first: await of.locator(".cm-line").first().innerText(),
  });
  const before = await state(page);
  assert.deepEqual(
    [before.preset, before.runs[1], before.speed, before.delay, before.first],
    ["beyond/fig1", "vegas", "100", "2", "// mine"],
  );
  const fragment = new URL(page.url()).hash;
  const other = await lab.open(fragment);
  await other.getByText("// mine").waitFor();
  assert.deepEqual(await state(other), before);
  await other.getByRole("button", { name: "Reset" }).click();
  await ready(other);
  assert.equal(new URL(other.url()).hash, "");
  assert.notEqual(await other.locator(".cm-line").first().innerText(), "// mine");
  await page.close();
  await other.close();
});

test("a damaged share link opens the first preset and says so", async () => {
  const link = (state) => "#s=" + deflateRawSync(JSON.stringify(state)).toString("base64url");
  const whole = { speed: 1, sliders: {}, edits: {}, control: null, file: "control.js" };
  const damaged = [
    "#s=%%%",
    link({}),
    link("text"),
    link({ ...whole, preset: "chan/fig3.6", a: "rovegas", b: null, sliders: null }),
    link({ ...whole, preset: "chan/fig3.6", a: "rovegas", b: null, edits: { "a.p4": 5 } }),
  ];
  for (const fragment of damaged) {
    const page = await lab.open(fragment);
    await page.getByRole("alert").getByText("The link is damaged.").waitFor();
    assert.equal(await page.locator("[data-test=run-0]").inputValue(), "rovegas");
    await page.close();
  }
  const unknown = await lab.open(link({ ...whole, preset: "no/such", a: "foo", b: "bar" }));
  assert.equal(await unknown.locator("[data-test=run-0]").inputValue(), "rovegas");
  await unknown.getByRole("alert").getByText("that this page does not have").waitFor();
  await unknown.close();
});

test("a control in JavaScript runs, and its errors are shown", async () => {
  const page = await lab.open();
  await page.selectOption("[data-test=run-1]", "");
  await page.selectOption("[data-test=run-0]", "control.js");
  await page.locator('tr[data-run="control.js"]').waitFor();
  await ready(page);
  await toEnd(page);
  const delivered = page.locator('tr[data-run="control.js"]');
  assert.ok(Number(await delivered.getAttribute("data-delivered")) > 10_000);

  await page.locator(".editor select").selectOption("control.js");
  const methods = "on_loss(loss) {}\n on_timeout(timeout) {}\n";
  await write(page, `class Control {\n on_ack(ack) { throw new Error("mine"); }\n ${methods}}`);
  await page.getByRole("button", { name: "Restart" }).click();
  await ready(page);
  await page.getByRole("button", { name: "To the end" }).click();
  await page.getByText(/on_ack: Error: mine/).waitFor();

  await write(page, `class Control {\n on_ack(ack) { for (;;); }\n ${methods}}`);
  await page.getByRole("button", { name: "Restart" }).click();
  await ready(page);
  await page.getByRole("button", { name: "To the end" }).click();
  await page.getByText(/an endless loop\?/).waitFor();
  await page.selectOption("[data-test=run-0]", "rovegas");
  await page.locator('tr[data-run="rovegas"]').waitFor();
  await ready(page);
  await toEnd(page);
  await page.close();
});

test("a scenario is edited as text, and an error is underlined where it is", async () => {
  const page = await lab.open();
  const file = "chan/fig3.6/rovegas.json";
  await page.locator(".editor select").selectOption(file);
  const shown = (of) =>
    of.evaluate(() => document.querySelector(".cm-content").cmTile.view.state.doc.toString());
  const text = await shown(page);
  const underlined = async (wrong, right, place) => {
    assert.ok(text.includes(right), right);
    await write(page, text.replace(right, wrong));
    const mark = page.locator(".cm-lintRange-error");
    for (let i = 0; i < 50 && (await mark.count()) === 0; i += 1) {
      await page.waitForTimeout(100);
      // To the next diagnostic; the editor draws only what is in view.
      await page.keyboard.press("F8");
    }
    assert.ok(place.includes(await mark.first().textContent()), await mark.first().textContent());
    await mark.first().hover();
    return page.locator(".cm-tooltip-lint").textContent();
  };
  assert.match(await underlined('"delay_s": -1', '"delay_s": 0.02', "-1"), /delay_s/);
  assert.match(
    await underlined('{"name": "rovega"', '{"name": "rovegas"', '"control"'),
    /valid: .*rovegas/,
  );
  assert.match(await underlined('"seed" 1', '"seed": 1', "1"), /expected `:`/);
  await page.getByRole("button", { name: "Restart" }).click();
  await page.getByText("expected `:`").first().waitFor();
  await write(page, text.replace('"end_s": 200', '"end_s": 20'));
  await page.getByRole("button", { name: "Restart" }).click();
  await ready(page);
  await toEnd(page, 1);
  assert.equal(await page.locator(".cm-lintRange-error").count(), 0);
  await page.getByRole("button", { name: "Share" }).click();
  await page.waitForFunction(() => location.hash.startsWith("#s="));
  const link = await page.evaluate(() => location.hash);
  const other = await lab.open(link);
  await other.locator(".editor select").selectOption(file);
  assert.match(await shown(other), /"end_s": 20,/);
  await other.close();
  await page.getByRole("button", { name: "Reset" }).click();
  await ready(page);
  assert.equal(await shown(page), text);
  await page.close();
});

test("a program that cannot run is refused in the page", async () => {
  const page = await lab.open();
  await write(page, "#include <core.p4>\n#include <v1model.p4>\nparser P() {\n");
  await page.getByRole("button", { name: "Restart" }).click();
  await page
    .getByText(/v1model\/waymark\.p4:\d+: /)
    .first()
    .waitFor();
  await page.getByRole("button", { name: "Reset" }).click();
  await ready(page);
  await toEnd(page, 2);
  await page.close();
});

test("a parser that never ends leaves the page alive", async () => {
  const page = await lab.open();
  await page.locator(".editor select").selectOption("controls/v1model/parser.p4");
  const text = await page.evaluate(async () => {
    const files = await (await fetch("data/p4src.json")).json();
    return files["controls/v1model/parser.p4"];
  });
  const endless = text.replace(/state start \{[^}]*\}/, "state start { transition start; }");
  assert.notEqual(endless, text);
  await write(page, endless);
  await page.getByRole("button", { name: "Restart" }).click();
  await ready(page);
  await page.locator(".play").click();
  await page.waitForTimeout(2000);
  const frames = await page.locator("[data-test=frames]").getAttribute("data-frames");
  assert.ok(Number(frames) > 20, `${frames} frames per second`);
  await page.getByRole("button", { name: "Reset" }).click();
  await ready(page);
  await toEnd(page, 2);
  await page.close();
});

for (const viewport of [
  { width: 1280, height: 720 },
  { width: 820, height: 1180 },
  { width: 390, height: 844 },
]) {
  test(`nothing shifts while the page loads at ${viewport.width} × ${viewport.height}`, async () => {
    const page = await lab.open("", { viewport });
    const shift = await page.evaluate(
      () =>
        new Promise((resolve) => {
          let sum = 0;
          new PerformanceObserver((list) => {
            for (const entry of list.getEntries()) sum += entry.value;
          }).observe({ type: "layout-shift", buffered: true });
          setTimeout(() => resolve(sum), 500);
        }),
    );
    assert.ok(shift < 0.02, `layout shift ${shift}`);
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    assert.ok(wide <= 0, `${wide} pixels too wide`);
    for (const colour of ["aqt", "drai", "ci"]) {
      await page.selectOption("[data-test=colour]", colour);
      const cut = await page
        .locator(".legend, .charts h3, .watched")
        .evaluateAll((all) =>
          all.filter((one) => one.scrollWidth > one.clientWidth).map((one) => one.textContent),
        );
      assert.deepEqual(cut, []);
    }
    await page.close();
  });
}

/** The result of each check on the page: whether it passed, and what it says. */
async function checked(page) {
  await page.getByRole("button", { name: "Check", exact: true }).press("Enter");
  await page.locator("[data-test=verdict] h3").waitFor();
  return page.locator("[data-check]").evaluateAll((outcomes) =>
    outcomes.map((outcome) => ({
      name: outcome.dataset.check,
      passed: outcome.dataset.passed === "true",
      said: [...outcome.querySelectorAll("strong, .line, .why, pre.error")].map((one) =>
        one.textContent.replace(/\s+/g, " ").trim(),
      ),
      plots: outcome.querySelectorAll("svg").length,
      fields: [...outcome.querySelectorAll("tbody tr")].map((row) =>
        [...row.cells].map((cell) => cell.textContent),
      ),
    })),
  );
}

/** All that the page says about a check, the command line says as well. */
function same(outcomes, expected) {
  for (const { name, passed, said, fields } of outcomes) {
    assert.equal(passed, expected[name].passed, name);
    const says = expected[name].text;
    // The command line says once what two checks have in common.
    if (says.startsWith("as ")) continue;
    for (const text of said) assert.ok(says.includes(text), `${text}: ${says}`);
    // And the reverse, except for the plots and hints.
    const rest = said.reduce((left, text) => left.replace(text, ""), says);
    if (name.endsWith(".yaml")) assert.match(rest, /^ *(Queue .*Plot: .*)?$/);
    for (const [field, want, found] of fields) {
      const text = `${field}: expected ${want}, found ${found}`;
      assert.ok(says.includes(text) || says.includes(`${field} differs`), `${text}: ${says}`);
    }
  }
}

async function exercise(number, title) {
  const page = await lab.open();
  await page.getByRole("button", { name: "Exercises" }).click();
  await page.locator("[data-test=exercise] option").first().waitFor({ state: "attached" });
  await page.selectOption("[data-test=exercise]", String(number));
  await page.getByRole("heading", { name: title }).waitFor();
  return page;
}

for (const { file } of data("exercises.json")) {
  const { id, number, title, files, hints } = data(file);
  test(`${id}: the page says what waymark exercise check says`, async () => {
    const page = await exercise(number, title);
    const skeleton = await checked(page);
    assert.ok(skeleton.some(({ passed }) => !passed));
    for (const { name, passed, said, plots } of skeleton) {
      assert.ok(passed || said.length > 0, name);
      assert.equal(plots > 0, !passed && name.endsWith(".yaml") && name !== "answers.yaml", name);
    }
    // The skeleton in Python of exercise 3 asks for no marks; on the page all packets carry them.
    if (number !== 3) same(skeleton, graded(id, "skeleton"));
    await page.getByRole("button", { name: "Next hint" }).press("Enter");
    await page.getByRole("button", { name: `(1 of ${hints.length})` }).waitFor();
    for (const name of Object.keys(files)) {
      await page.locator(".editor select").selectOption(`${id}/${name}`);
      await write(page, solution(id, name));
    }
    const solved = await checked(page);
    assert.equal(solved.length, skeleton.length);
    assert.ok(
      solved.every(({ passed }) => passed),
      JSON.stringify(solved),
    );
    same(solved, graded(id, "solution"));
    await page.close();
  });
}

test("a control that never ends is reported once", async () => {
  const { id, title } = data("exercise-3.json");
  const page = await exercise(3, title);
  await write(
    page,
    solution(id, "rovegas.js").replace("on_ack(ack) {", "on_ack(ack) {\nfor (;;);"),
  );
  const [first, ...others] = await checked(page);
  assert.match(first.said[0], /an endless loop\?/);
  for (const { said } of others) assert.deepEqual(said, ["not run, after alone.yaml"]);
  await page.close();
});

test("in exercise 5 only RED's settings can be changed, within their limits", async () => {
  const { id, title } = data("exercise-5.json");
  const page = await exercise(5, title);
  await page.locator(".editor select").selectOption(`${id}/thresholds.yaml`);
  const text = solution(id, "thresholds.yaml");
  const error = async (changed) => {
    assert.notEqual(changed, text);
    await write(page, changed);
    await checked(page);
    return page.locator("[data-check='thresholds.yaml'] pre").textContent();
  };
  assert.match(await error(text.replace("4 Mb/s", "5 Mb/s")), /more than the settings in red/);
  assert.match(await error(text.replace(/w: \d+/, "w: 16")), /red\.w: found 16; valid: 0 to 15/);
  assert.match(await error(text.replace(/thmin: \d+/, "thmin: 50")), /thmin is 50; expected less/);
  await page.close();
});

test("exercises 7 and 8 run the networks that their questions are about", async () => {
  const page = await exercise(7, data("exercise-7.json").title);
  await page.getByLabel("buffer of r1-r2").selectOption("10");
  await page.getByRole("button", { name: "Run compete.yaml" }).click();
  const looks = page.locator("[data-test=looks]");
  await looks.getByText("compete.yaml, buffer of r1-r2 10 packets").waitFor();
  const shares = await looks.locator(".line").allTextContents();
  const vegas = Number(/throughput of Vegas: ([\d.]+)/.exec(shares.join("\n"))[1]);
  assert.ok(vegas > 1600 / 3, shares.join("\n"));
  await page.selectOption("[data-test=exercise]", "8");
  await page.getByRole("button", { name: "Run network.yaml" }).click();
  await looks.getByText("r2 port 1 (r2->r1): in 1436, out 1200; dropped: checksum 44").waitFor();
  await looks.getByText("dropped: queue full 442").waitFor();
  await page.close();
});

test("the first load is at most 1.5 MB gzipped", () => {
  const files = readdirSync(DIST, { recursive: true }).filter(
    (name) =>
      statSync(`${DIST}/${name}`).isFile() && !/data\/.*-|assets\/(Panel|LiveNetwork)-/.test(name),
  );
  const first = data("presets.json")[0].file;
  const sizes = [...files, `data/${first}`].map(
    (name) => gzipSync(readFileSync(`${DIST}/${name}`), { level: 9 }).length,
  );
  const octets = sizes.reduce((a, b) => a + b, 0);
  console.log(`first load: ${(octets / 1e6).toFixed(2)} MB gzipped`);
  assert.ok(octets <= 1.5e6, `${octets} octets`);
});

test("no request left the page's origin, and nothing was thrown", () => {
  assert.ok(lab.requests.length > 20);
  const { origin } = new URL(lab.url);
  const foreign = lab.requests.filter((url) => new URL(url).origin !== origin);
  assert.deepEqual(foreign, []);
  assert.deepEqual(lab.errors, []);
});
