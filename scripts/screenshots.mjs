// Run by "npm run screenshots": takes the pictures of the dashboard in docs/pictures from a demo that runs,
// light and dark, while it is attacked. Say where it is: npm run screenshots -- http://127.0.0.1:3000/bloom/
import { statSync, writeFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { launch } from 'puppeteer-core';
import { root } from './packages.mjs';

const MOST_BYTES = 150_000;
const [WIDTH, HEIGHT] = [1120, 1130];
const [url] = process.argv.slice(2);
if (!url)
  throw new Error('Expected the address of the dashboard of a demo that runs, as "npm run demo" prints it.');

const userDataDir = mkdtempSync(join(tmpdir(), 'nestjs-bloom-screenshots-'));
const args = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];
const browser = await launch({
  executablePath: process.env.CHROMIUM || '/usr/bin/chromium',
  userDataDir,
  args,
});
try {
  const pages = {};
  for (const theme of ['light', 'dark']) {
    const page = await browser.newPage();
    await page.setViewport({ width: WIDTH, height: HEIGHT });
    await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: theme }]);
    await page.goto(`${url}#products`);
    await page.waitForSelector('.chart canvas');
    pages[theme] = page;
  }
  // A page behind another one draws nothing.
  await pages.light.bringToFront();
  await pages.light.click('::-p-text(Attack the shop)');
  // Past the attack without the guard, and some seconds into the one with it.
  await pages.light.waitForFunction(
    () => /^[1-9]/.test(document.querySelector('.chosen .blocked .figure')?.textContent ?? ''),
    { timeout: 60_000, polling: 500 },
  );
  await delay(6_000);
  for (const [theme, page] of Object.entries(pages)) {
    await page.bringToFront();
    await delay(1_500);
    const path = join(root, `docs/pictures/dashboard-${theme}.png`);
    writeFileSync(path, await page.screenshot({ optimizeForSpeed: false }));
    const { size } = statSync(path);
    console.log(`${path}: ${size} bytes`);
    if (size > MOST_BYTES) throw new Error(`Expected at most ${MOST_BYTES} bytes in ${path}, got ${size}.`);
  }
} finally {
  await browser.close();
  rmSync(userDataDir, { recursive: true, force: true });
}
