import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { planFilter } from 'nestjs-bloom/filter';
import { requestIn } from '../src/access-log/logged-request.js';
import { LookupTally } from '../src/access-log/lookup-tally.js';
import { idOfRoute } from '../src/access-log/route.js';
import { run } from './support/command.js';
import { runHere } from './support/in-process.js';
import { type InstalledPackage, installPackage } from './support/installed-package.js';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'nestjs-bloom-estimate-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

const line = (target: string, status: number, { time = '13:55:36', method = 'GET' } = {}) =>
  `::1 - - [10/Oct/2026:${time} -0700] "${method} ${target} HTTP/1.1" ${status} 12 "-" "curl/8 \\"x\\""`;

function log(name: string, lines: readonly string[], end = '\n'): string {
  const file = join(folder, name);
  writeFileSync(file, lines.join('\n') + end);
  return file;
}

const estimate = (file: string, ...words: string[]) =>
  runHere(['estimate', file, '--route', '/products/:id', ...words]);

const LINES = [
  line('/products/1', 200),
  line('/products/2?x=/products/9', 304),
  line('/products/404', 404),
  line('/products/404/', 404, { time: '13:56:01' }),
  line('/products/405', 404, { time: '13:56:59' }),
  line('/products/406', 410, { time: '13:57:00' }),
  line('/products/1', 200, { time: '13:56:30' }),
  line('/products/7', 401),
  line('/products/8', 503),
  line('/products/9', 404, { method: 'OPTIONS' }),
  line('/products', 404),
  line('/products/1/reviews', 404),
  '::1 - - [10/Oct/2026:13:55:36 -0700] "\\x16\\x03\\x01" 400 150 "-" "-"',
  '',
];

describe('nestjs-bloom estimate', () => {
  it('says which share of the lookups a guard saves, and what the filter takes', async () => {
    const file = log('common.log', LINES, '');
    const { stdout, code } = await estimate(file, '--ids', '1e6', '--json');
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      lines: 13,
      lookups: 6,
      missing: 3,
      missingShare: 0.5,
      distinctMissing: 2,
      isDistinctComplete: true,
      busiestMinute: { minute: '10/Oct/2026:13:56', missing: 2, lookups: 3 },
      otherAnswers: { 401: 1, 410: 1, 503: 1 },
      bytes: planFilter({ capacity: 1_000_000, errorRate: 0.001 }).bytes,
    });
    const both = JSON.parse((await estimate(file, '--missing', '404,410', '--json')).stdout) as object;
    expect(both).toMatchObject({ lookups: 7, missing: 4, distinctMissing: 3 });
    const text = await estimate(file, '--ids', '1e6');
    expect(text.stdout).toMatch(/^\/products\/:id: 50 % of the lookups are of ids that do not exist\n/);
    expect(text.stdout).toMatch(/missing +3 lookups of 2 distinct ids\n/);
    expect(text.stdout).toMatch(/busiest +2 of 3 lookups missing \(66.7 %\), 10\/Oct\/2026:13:56\n/);
    expect(text.stdout).toMatch(
      /filter costs +1.78 MiB for 1,000,000 ids, in Redis and in each process \(local copy\)\n/,
    );
    expect(text.stdout).toContain('1 × 401');
  });

  it('takes the error rate off what a guard saves', async () => {
    const file = log(
      'many.log',
      Array.from({ length: 10_000 }, (_, i) => line(`/products/${i}`, 404)),
    );
    const { stdout } = await estimate(file);
    expect(stdout).toContain('9,990 of 10,000 lookups');
    expect(stdout).toContain('give --ids');
  });

  it('reads the standard input, several files and lines of JSON', async () => {
    const installed: InstalledPackage = installPackage();
    try {
      const input = Buffer.from(`${LINES.join('\n')}\n`);
      const words = ['estimate', '--route', '/products/:id', '--json'];
      const piped = await run(installed, words, { input });
      expect([piped.code, piped.stderr]).toEqual([0, '']);
      expect(JSON.parse(piped.stdout)).toMatchObject({ lookups: 6, missing: 3 });
      const file = log('json.log', [
        JSON.stringify({
          req: { method: 'GET', url: '/products/a?b' },
          res: { statusCode: 404 },
          time: 1e12,
        }),
        JSON.stringify({ level: 30, msg: 'no request' }),
      ]);
      const more = await run(installed, [...words, file, '-'], { input });
      expect(JSON.parse(more.stdout)).toMatchObject({ lookups: 7, missing: 4, distinctMissing: 3 });
    } finally {
      installed.remove();
    }
  });

  it.each([
    [
      'a line of no format',
      () => [log('bad.log', [LINES[0]!, 'panic: x'])],
      /bad\.log:2: expected a line .* got 'panic: x'/,
      1,
    ],
    ['broken JSON', () => [log('cut.log', ['{"url":"/products/1","sta'])], /cut\.log:1: expected a line/, 1],
    [
      'a line without an end',
      () => [log('long.log', ['x'.repeat(70_000)])],
      /long\.log:1: .* more than 65536/,
      1,
    ],
    [
      'an application log',
      () => [log('app.log', ['{"msg":"hi"}'])],
      /got none in 1 line\. JSON needs a path/,
      1,
    ],
    [
      'a route without requests',
      () => [log('other.log', [line('/api/products/1', 200)])],
      /'\/api\/products\/1'/,
      1,
    ],
    [
      'a file that is not there',
      () => [join(folder, 'gone.log')],
      /gone\.log' to be an access log: .*ENOENT/,
      2,
    ],
    ['a folder', () => [folder], /EISDIR/, 2],
    [
      'statuses that are none',
      () => [log('s.log', LINES), '--missing', '404,none'],
      /--missing to list statuses/,
      2,
    ],
    [
      'a number of ids that is not a number',
      () => [log('n.log', LINES), '--ids', 'many'],
      /number of ids that exist/,
      2,
    ],
  ])('refuses %s in one sentence', async (_, words, text, code) => {
    const [file, ...more] = words();
    const result = await estimate(file!, ...more);
    expect(result.stderr).toMatch(text);
    expect([result.code, result.stdout]).toEqual([code, '']);
    expect(result.stderr).not.toMatch(/\n +at /);
  });

  it('says how to read a compressed file, and leaves out bad lines where it may', async () => {
    const file = join(folder, 'access.log.gz');
    writeFileSync(file, gzipSync(LINES.join('\n')));
    expect((await estimate(file)).stderr).toContain('zcat');
    const bad = log('mixed.log', [...LINES, 'panic: x']);
    const { stdout, code } = await estimate(bad, '--skip');
    expect([code, stdout]).toEqual([0, expect.stringContaining('14 lines, 1 of them not readable')]);
  });
});

describe('The lines of access logs', () => {
  it.each([
    [
      '{"request":"GET /p/1?q HTTP/1.1","status":"404","time_local":"10/Oct/2026:13:55:36 +0000"}',
      '10/Oct/2026:13:55',
    ],
    ['{"request":{"method":"GET","uri":"/p/1"},"status":404,"ts":1790000000.5}', '2026-09-21T14:13'],
    [
      '{"httpRequest":{"requestMethod":"GET","requestUrl":"https://x.example/p/1","status":404},"timestamp":"2026-01-02T03:04:05Z"}',
      '2026-01-02T03:04',
    ],
    ['{"RequestMethod":"GET","RequestPath":"/p/1","DownstreamStatus":404}', ''],
    [
      '{"url.path":"/p/1","http.request.method":"GET","http.response.status_code":404,"@timestamp":"2026-01-02 03:04:05"}',
      '2026-01-02 03:04',
    ],
    [
      'shop.example:443 ::1 - ana [10/Oct/2026:13:55:36 +0000] "GET http://shop.example/p/1 HTTP/1.1" 404 -',
      '10/Oct/2026:13:55',
    ],
  ])('are read: %s', (text, minute) => {
    expect(requestIn(text)).toEqual({ method: 'GET', path: '/p/1', status: 404, minute });
  });

  it('have the id where the route says', () => {
    expect(idOfRoute('/shops/:shop/orders/:id/')('/shops/a/orders/b')).toBe('b');
    expect(idOfRoute('/a.b/:sku')('/aXb/1')).toBeUndefined();
    for (const wrong of ['products/:id', '/products', '/:a/:b', '/:id/:id'])
      expect(() => idOfRoute(wrong)).toThrow('Expected --route to be a path');
  });

  it('are counted in bounded memory', () => {
    const tally = new LookupTally(idOfRoute('/p/:id'), new Set([404]), 10);
    const add = (i: number, minute: string) =>
      tally.add({ method: 'GET', path: `/p/${i}`, status: 404, minute });
    for (let i = 0; i < 10; i++) add(i, 'first');
    for (let i = 0; i < 10; i++) add(i, 'second');
    expect([tally.distinct, tally.isDistinctComplete]).toEqual([10, true]);
    for (let i = 0; i < 20_000; i++) add(i, `minute ${i}`);
    expect([tally.distinct, tally.isDistinctComplete]).toEqual([10, false]);
    expect(tally.busiest).toEqual({ minute: 'first', lookups: 10, missing: 10 });
    expect((tally as unknown as { minutes: Map<string, unknown> }).minutes.size).toBeLessThanOrEqual(5000);
  });
});
