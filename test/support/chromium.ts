import { spawnSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, isAbsolute, join } from 'node:path';
import { existsSync } from 'node:fs';
import { type Browser, launch } from 'puppeteer-core';

/** As scripts/ensure-chromium.mjs, which "npm test" runs first, looks for it. */
const PROGRAMS = [
  'chromium',
  'chromium-browser',
  'google-chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
];

const FLAGS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--host-resolver-rules=MAP *.example 127.0.0.1',
];

export interface Chromium {
  readonly browser: Browser;
  close(): Promise<void>;
}

/**
 * A browser of its own, with a profile that is gone with it. It looks for nothing outside of this machine.
 */
export async function startChromium(): Promise<Chromium> {
  const executablePath = chromiumPath();
  const userDataDir = await mkdtemp(join(tmpdir(), 'nestjs-bloom-chromium-'));
  const remove = () => rm(userDataDir, { recursive: true, force: true, maxRetries: 10 });
  try {
    const browser = await launch({
      executablePath,
      userDataDir,
      args: FLAGS,
      timeout: 120_000,
      protocolTimeout: 120_000,
    });
    const close = async () => {
      await browser.close();
      await remove();
    };
    return { browser, close };
  } catch (error) {
    await remove();
    throw error;
  }
}

function chromiumPath(): string {
  const found = [process.env['CHROMIUM'], ...PROGRAMS].flatMap((program) =>
    program ? [pathOf(program)] : [],
  );
  const path = found.find((one) => one !== undefined);
  if (path === undefined)
    throw new Error('Expected a Chromium: run "node scripts/ensure-chromium.mjs", as "npm test" does.');
  return path;
}

function pathOf(program: string): string | undefined {
  const folders = isAbsolute(program) ? [''] : (process.env['PATH'] ?? '').split(delimiter);
  const paths = folders.map((folder) => (folder === '' ? program : join(folder, program)));
  return paths.find((path) => existsSync(path) && spawnSync(path, ['--version']).status === 0);
}
