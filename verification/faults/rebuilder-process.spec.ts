import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { eventually } from '../../test/support/eventually.js';
import { RebuilderProcess } from './rebuilder-process.js';
import type { RebuilderOptions } from './rebuilder-protocol.js';
import { ShopDatabase } from './shop-database.js';

const OPTIONS: RebuilderOptions = {
  redisUrl: 'redis://127.0.0.1:1',
  capacity: 10,
  kind: 'blocked',
  without: undefined,
  stop: { at: 'scan', how: 'wait' },
};

let dir: string;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'nestjs-bloom-rebuilder-'));
});
afterAll(() => rm(dir, { recursive: true, force: true }));

async function start(name: string, program: string, giveUpMs: number): Promise<RebuilderProcess> {
  const path = join(dir, `${name}.mjs`);
  const notesPid = `import { writeFileSync } from 'node:fs'; writeFileSync(${JSON.stringify(pidFile(name))}, String(process.pid));`;
  await writeFile(path, `${notesPid}\n${program}`);
  return RebuilderProcess.start(new ShopDatabase([]), OPTIONS, { path, giveUpMs });
}

function pidFile(name: string): string {
  return join(dir, `${name}.pid`);
}

async function hasEnded(name: string): Promise<boolean> {
  const pid = Number(await readFile(pidFile(name), 'utf8'));
  try {
    process.kill(pid, 0);
    return false;
  } catch {
    return true;
  }
}

describe('A process that rebuilds', () => {
  it('is gone when it said nothing in its time', async () => {
    // Longer and longer, until it has begun in its time.
    for (let giveUpMs = 1000; !existsSync(pidFile('mute')); giveUpMs *= 4) {
      const mute = start('mute', 'setInterval(() => {}, 1000);', giveUpMs);
      await expect(mute).rejects.toThrow(/never said 'ready'/);
    }
    expect(await hasEnded('mute')).toBe(true);
  });

  it('is waited for as long as it takes to start, and no longer than it lives', async () => {
    const late = `setTimeout(() => process.send({ type: 'ready' }), 500); process.on('message', () => process.exit(3));`;
    const rebuilder = await start('late', late, 60_000);
    await expect(rebuilder.runToStep()).rejects.toThrow(/ended before 'stopping'/);
    await rebuilder.stop();
    expect(await hasEnded('late')).toBe(true);
  });

  it('is gone after a stop while it is paused', async () => {
    const rebuilder = await start(
      'paused',
      `process.send({ type: 'ready' }); setInterval(() => {}, 1000);`,
      60_000,
    );
    rebuilder.signal('SIGSTOP');
    await rebuilder.stop();
    await eventually('its end', () => hasEnded('paused'));
  });
});
