import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { build, leaseOf, testPlan } from '../support/built-filter.js';
import { eventually } from '../support/eventually.js';
import { RedisFixture } from '../support/redis-fixture.js';
import { start } from './support/command.js';
import { runHere } from './support/in-process.js';
import { type InstalledPackage, installPackage } from './support/installed-package.js';

/** A command is a process of its own: on a busy machine that takes its time. */
const PATIENCE_MS = 90_000;

describe('nestjs-bloom watch', () => {
  let redis: RedisFixture;
  let installed: InstalledPackage;
  beforeAll(async () => {
    redis = await RedisFixture.start();
    installed = installPackage();
  });
  afterAll(async () => {
    installed.remove();
    await redis.close();
  });

  it('writes a line for each change, where lines are all there is', async () => {
    const name = redis.name();
    const { filter } = await redis.open(name);
    await build(filter, ['a', 'b']);
    const { stdout, code } = await runHere([
      'watch',
      name,
      '--redis',
      redis.server.url,
      '--every',
      '10',
      '--times',
      '4',
    ]);
    expect(code).toBe(0);
    expect(stdout).toMatch(new RegExp(`^\\S+Z ${name} ready: 2 of 1,000 ids, .*, build 1\n$`));
  });

  it('draws in place in a terminal, and ends with Ctrl-C', async () => {
    const name = redis.name();
    const { filter } = await redis.open(name);
    await build(filter, ['a']);
    const words = ['watch', name, '--redis', redis.server.url, '--every', '50'];
    const command = start(installed, words, { terminal: true });
    await eventually('it has been drawn', () => command.output().includes('1 of 1,000 ids'), PATIENCE_MS);
    const lease = await leaseOf(filter);
    const staging = await lease.stage(testPlan());
    await eventually('the rebuild is shown', () => command.output().includes('rebuild staged'), PATIENCE_MS);
    await staging.abort();
    await lease.release();
    command.child.kill('SIGINT');
    const { code, stdout } = await command.result;
    expect(code).toBe(0);
    expect(stdout).toContain('\u001b[2A\u001b[2K');
  });

  it('goes on while the server is away, and sees it come back', async () => {
    const server = await RedisFixture.start();
    const words = ['watch', 'products', '--redis', server.server.url, '--every', '50', '--timeout', '1000'];
    const command = start(installed, words);
    try {
      await eventually('it is missing', () => command.output().includes('products missing'), PATIENCE_MS);
      await server.server.kill();
      await eventually('it is away', () => command.output().includes('products unreachable'), PATIENCE_MS);
      await server.server.restart();
      const count = () => command.output().split('products missing').length;
      await eventually('it is back', () => count() > 2, PATIENCE_MS);
    } finally {
      command.child.kill('SIGTERM');
      await command.result;
      await server.close();
    }
  });
});
