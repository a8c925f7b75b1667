/**
 * Draws the pictures of the live lab in the documentation: `node pictures.js FOLDER` writes `lab.png` and the frames
 * of the animation. `docs/lab_picture.py` calls it.
 */
import { start } from "./tests/lab.js";

const [, , folder] = process.argv;
const FRAMES = 60;

const lab = await start();
try {
  const page = await lab.open("", { viewport: { width: 1280, height: 720 } });
  const press = (name) => page.getByRole("button", { name, exact: true }).click();
  const speed = (label) => page.getByLabel("Speed").selectOption({ label });
  const until = (time_s) =>
    page.waitForFunction(
      (wanted) => Number.parseFloat(document.querySelector("[data-test=time]").innerText) >= wanted,
      time_s,
    );

  // Packets while the reverse path begins to be congested.
  await speed("10×");
  await press("Run");
  await until(58);
  await press("Pause");
  await speed("0.1×");
  await press("Run");
  for (let frame = 0; frame < FRAMES; frame++) {
    await page.screenshot({ path: `${folder}/frame-${String(frame).padStart(3, "0")}.png` });
  }

  // The trace of one packet.
  await speed("100×");
  await until(92);
  await press("Pause");
  await page.getByLabel("Packets of RoVegas").focus();
  for (let step = 0; step < 6; step++) await page.keyboard.press("ArrowRight");
  const step = page.getByText("ipv4_route").last();
  await step.waitFor();
  await step.click();
  await page.waitForTimeout(1000);
  await page.screenshot({ path: `${folder}/lab.png` });
} finally {
  await lab.stop();
}
