import { expect } from '@jest/globals';
import type { Redis } from 'ioredis';
import { eventually } from '../../../../test/support/eventually.js';
import { start } from './command.js';
import type { InstalledPackage } from './installed-package.js';

const PATIENCE_MS = 90_000;

/**
 * A rebuild that is interrupted while it reads its source gives its lease back, and leaves nothing that is
 * staged.
 */
export async function expectInterruptible(
  installed: InstalledPackage,
  { redis, client, terminal }: { redis: string; client: Redis; terminal: boolean },
): Promise<void> {
  const env = { SHOP_REDIS: redis, SOURCE: 'hanging' };
  const words = ['rebuild', 'products', '--app', 'dist/app.module.js'];
  const command = start(installed, words, { env, terminal });
  await eventually('the source is read', () => command.output().includes('reading ids'), PATIENCE_MS);
  expect(await client.exists('bloom:{products}:lease')).toBe(1);
  command.child.kill('SIGINT');
  const { code, stdout, stderr } = await command.result;
  expect(stdout + stderr).toContain('was interrupted: the filter is as it was.');
  expect(code).toBe(130);
  expect(await client.keys('bloom:{products}:*')).toEqual(
    expect.not.arrayContaining([expect.stringMatching(/lease|next/)]),
  );
}
