import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { planFilter } from 'nestjs-bloom/filter';
import { run as runIn, type CommandOptions } from './support/command.js';
import { redisson } from '@nestjs-bloom/interop';
import { runHere } from './support/in-process.js';
import { type InstalledPackage, installPackage } from './support/installed-package.js';

describe('nestjs-bloom plan', () => {
  let installed: InstalledPackage;
  beforeAll(() => {
    installed = installPackage();
  });
  afterAll(() => installed.remove());
  const run = (words: string, options?: CommandOptions) => runIn(installed, words.split(' '), options);

  it('says what a filter takes', async () => {
    const { code, stdout, stderr } = await run('plan 1e6 0.1%');
    const plan = planFilter({ capacity: 1_000_000, errorRate: 0.001 });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain('1,000,000 ids at an error rate of 0.1 %, layout blocked');
    expect(stdout).toContain(`(${plan.bytes.toLocaleString('en-US')} bytes)`);
    expect(stdout).toMatch(new RegExp(`hash count +${plan.hashCount}\n`));
    expect(stdout).toMatch(/bits per id +14\.96\n/);
  });

  it('prints JSON, by the rules of another layout', async () => {
    const { code, stdout } = await runHere('plan 50_000 0.01 --layout redisson --json'.split(' '));
    const { bytes, hashCount } = redisson.plan({ capacity: 50_000, errorRate: 0.01 });
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      layout: 'redisson',
      capacity: 50_000,
      bytes,
      hashCount,
      rebuildBytes: 2 * bytes,
    });
  });

  it.each([
    [
      'an unknown layout',
      'plan 1e6 0.001 --layout block',
      2,
      'Expected --layout to be one of blocked, go-zero',
    ],
    ['no number', 'plan many 0.001', 2, "Expected the number of ids, such as 1e6 or 1_000_000, got 'many'"],
    ['an error rate that cannot be', 'plan 1e6 7', 1, 'Expected errorRate to be from 0.000001 to 0.5'],
    ['a missing argument', 'plan 1e6', 2, "missing required argument 'error-rate'"],
    ['an unknown command', 'inspct products', 2, '(Did you mean inspect?)'],
    ['an unknown option', 'plan 1e6 0.001 --jsn', 2, '(Did you mean --json?)'],
    [
      'no server',
      'inspect products',
      2,
      'Expected where Redis is, got nothing. Give --redis redis://localhost:6379',
    ],
    ['a URL of something else', 'inspect products --redis postgres://u:secret@h/d', 2, "with 'postgres://'"],
    ['a password with @', 'inspect products --redis redis://u:p@secret@127.0.0.1:1', 1, 'at 127.0.0.1:1: '],
    ['a password with /', 'inspect products --redis redis://u:p@/secret@127.0.0.1:1', 2, 'cannot be read'],
    ['a password with ?', 'inspect products --redis redis://u:p?secret@127.0.0.1:1', 2, 'as %23'],
    ['a password that begins as a port', 'inspect products --redis redis://u:1/secret@h', 2, 'as %23'],
    ['a password that begins as a port and ?', 'inspect products --redis redis://u:1?secret@h', 2, 'as %23'],
    ['a password with %', 'inspect products --redis redis://u:%secret@127.0.0.1:1', 2, '%25'],
    ['a password in place of a host', 'inspect products --redis redis://:secret', 2, "the host ''"],
    ['a password in place of a port', 'inspect products --redis redis://u:secret', 2, 'cannot be read'],
    ['a password in the query', 'inspect products --redis redis://h/0?password=p@secret', 2, 'as %23'],
    ['no scheme', 'inspect products --redis u:p@secret@127.0.0.1:1', 1, 'at 127.0.0.1:1: '],
    [
      'a database that is no number',
      'inspect products --redis redis://h/products',
      2,
      'no number of a database',
    ],
    [
      'a server that is not there',
      'inspect products --redis redis://u:secret@127.0.0.1:1',
      1,
      'ECONNREFUSED',
    ],
    ['a file that is not there', 'inspect products --redis-options gone.json', 2, 'ENOENT'],
    ['an id that is no bytes', 'check products xyz --hex --redis redis://127.0.0.1:1', 1, 'ECONNREFUSED'],
  ])('refuses %s in one sentence', async (_, words, code, text) => {
    const result = await runHere(words.split(' '));
    expect(result.stderr).toContain(text);
    expect(result.code).toBe(code);
    expect(result.stderr).not.toMatch(/secret|\n +at /);
    expect(result.stdout).toBe('');
  });

  it('has help with examples, and a version', async () => {
    const [help, version] = await Promise.all([runHere(['help', 'inspect']), run('--version')]);
    expect(help.stdout).toContain('$ npx @nestjs-bloom/cli inspect products --redis redis://localhost:6379');
    expect(version.stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
    expect([help.code, version.code]).toEqual([0, 0]);
  });

  it('is coloured in a terminal, and not where NO_COLOR says so', async () => {
    const words = 'plan 1000 0.01';
    const [coloured, plain, piped] = await Promise.all([
      run(words, { terminal: true }),
      run(words, { terminal: true, env: { NO_COLOR: '1' } }),
      run(words),
    ]);
    expect(coloured.stdout).toContain('\u001b[1m1,000 ids');
    expect(plain.stdout).not.toContain('\u001b[');
    expect(plain.stdout.replaceAll('\r', '')).toBe(piped.stdout);
  });
});
