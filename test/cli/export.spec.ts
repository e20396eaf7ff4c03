import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  type GenerationHeader as Header,
  GenerationFileWriter,
  readGenerationFile,
} from '../../src/cli/generation-file.js';
import { BloomFormatError } from '../../src/common/index.js';
import { scaling } from '../../src/scaling/index.js';
import { build, idsOf } from '../support/built-filter.js';
import { RedisFixture } from '../support/redis-fixture.js';
import { exportHere, runHere } from './support/in-process.js';

describe('nestjs-bloom export', () => {
  let redis: RedisFixture;
  let folder: string;
  beforeAll(async () => {
    redis = await RedisFixture.start();
    folder = mkdtempSync(join(tmpdir(), 'nestjs-bloom-export-'));
  });
  afterAll(async () => {
    rmSync(folder, { recursive: true });
    await redis.close();
  });

  it('writes a generation of several segments, in which every id is found, and leaves Redis as it is', async () => {
    const name = redis.name();
    const { filter } = await redis.open(name);
    const ids = idsOf('a', 2000);
    await build(filter, ids, { capacity: 400_000 });
    const client = redis.client();
    const meta = `bloom:{${name}}:meta`;
    const before = await client.hgetall(meta);
    expect(await client.exists(`bloom:{${name}}:1`)).toBe(1);

    const { bytes, stderr, code } = await exportHere(name, redis.server.url);
    expect([code, stderr]).toEqual([0, expect.stringContaining('generation of 2,000 ids')]);
    expect(await client.hgetall(meta)).toEqual(before);
    const { header, holds } = readGenerationFile(bytes);
    expect(header).toMatchObject({ filter: name, count: 2000, capacity: 400_000 });
    expect(ids.filter((id) => !holds(id))).toEqual([]);
    expect(idsOf('b', 2000).filter((id) => holds(id)).length).toBeLessThan(2);

    const file = join(folder, 'products.bloom');
    writeFileSync(file, bytes);
    const [found, absent, other] = await Promise.all([
      runHere(['check', name, 'a-7', '--file', file]),
      runHere(['check', name, 'nobody', '--file', file]),
      runHere(['check', 'users', 'a-7', '--file', file]),
    ]);
    expect([found.stdout, absent.stdout]).toEqual([
      expect.stringContaining(': maybe'),
      expect.stringContaining(': absent'),
    ]);
    expect(absent.stdout).toContain('ids that were added later are not in it');
    expect([other.code, other.stderr]).toEqual([2, expect.stringContaining(`got one of '${name}'`)]);
  });

  it('is described from its file alone', async () => {
    const name = redis.name();
    const { filter } = await redis.open(name);
    await build(filter, idsOf('a', 500), { errorRate: 0.001 });
    const file = join(folder, 'described.bloom');
    writeFileSync(file, (await exportHere(name, redis.server.url)).bytes);
    const [shown, json, other, missing] = await Promise.all([
      runHere(['inspect', name, '--file', file]),
      runHere(['inspect', name, '--file', file, '--json']),
      runHere(['inspect', 'users', '--file', file]),
      runHere(['inspect', name, '--file', join(folder, 'none.bloom')]),
    ]);
    expect([shown.code, shown.stdout]).toEqual([
      0,
      expect.stringMatching(/ids +500, planned for 1,000; what was added later/),
    ]);
    const described = JSON.parse(json.stdout) as Record<string, number>;
    expect(described).toMatchObject({ filter: name, count: 500, capacity: 1000, errorRate: 0.001 });
    expect(described.fillRatio).toBeGreaterThan(0.1);
    expect(described.measuredErrorRate).toBeLessThan(0.001);
    expect([other.code, other.stderr]).toEqual([2, expect.stringContaining(`got one of '${name}'`)]);
    expect([missing.code, missing.stderr]).toEqual([2, expect.stringContaining('ENOENT')]);
  });

  it('is not imported: the command says why, and what to do', async () => {
    for (const words of [
      ['import'],
      ['import', 'products', 'products.bloom', '--redis', redis.server.url, '--force'],
    ]) {
      const { code, stdout, stderr } = await runHere(words);
      expect([code, stdout, stderr]).toEqual([
        2,
        '',
        expect.stringMatching(/no import, on purpose\. .* rebuild products --app/),
      ]);
    }
  });

  it('is refused to be read when it is cut short, damaged, newer or something else', async () => {
    const name = redis.name();
    const { filter } = await redis.open(name);
    await build(filter, ['a']);
    const { bytes } = await exportHere(name, redis.server.url);
    const flipped = Buffer.from(bytes);
    flipped[bytes.length - 40]! ^= 1;
    const newer = Buffer.from(bytes);
    newer.writeUInt32LE(2, 12);
    for (const [odd, text] of [
      [bytes.subarray(0, -1), 'cut short or damaged'],
      [flipped, 'cut short or damaged'],
      [newer, 'got version 2'],
      [Buffer.from('hello'), 'something else'],
      [Buffer.alloc(0), 'something else'],
    ] as const) {
      expect(() => readGenerationFile(odd)).toThrow(BloomFormatError);
      expect(() => readGenerationFile(odd)).toThrow(text);
    }
  });

  it.each<[string, (header: never) => unknown]>([
    ['a text that is no header', () => '{'],
    ['null', () => null],
    ['no generation', (header: Header) => ({ ...header, generation: undefined })],
    ['a generation that is a number', (header: Header) => ({ ...header, generation: 5 })],
    [
      'no blocks',
      (header: Header) => ({ ...header, generation: { ...header.generation, blocks: undefined } }),
    ],
    ['no key', (header: Header) => ({ ...header, generation: { ...header.generation, key: [] } })],
    [
      'a hash count without end',
      (header: Header) => ({ ...header, generation: { ...header.generation, hashCount: 2 ** 50 } }),
    ],
    ['another layout', (header: Header) => ({ ...header, generation: { ...header.generation, layout: 2 } })],
    ['no date', (header: Header) => ({ ...header, exportedAt: 'yesterday' })],
    ['a count that is none', (header: Header) => ({ ...header, count: 'many' })],
    ['a filter that is no text', (header: Header) => ({ ...header, filter: { toString: 1 } })],
    ['another filter', (header: Header) => ({ ...header, filter: '\u001b[2J\nforged' })],
  ])('is refused in one sentence where its header has %s', async (_, changed) => {
    const name = redis.name();
    const { filter } = await redis.open(name);
    await build(filter, ['a']);
    const { bytes } = await exportHere(name, redis.server.url);
    const length = bytes.readUInt32LE(16);
    const header = JSON.parse(bytes.toString('utf8', 20, 20 + length)) as Header;
    const writer = new GenerationFileWriter();
    const head = writer.head(changed(header as never) as Header);
    const blocks = writer.part(bytes.subarray(20 + length, -32));
    const file = join(folder, 'malformed.bloom');
    writeFileSync(file, Buffer.concat([head, blocks, writer.end()]));
    for (const words of [
      ['inspect', name],
      ['check', name, 'a'],
    ]) {
      const { code, stdout, stderr } = await runHere([...words, '--file', file]);
      expect(stderr).toMatch(/^error: .*\n$/);
      // oxlint-disable-next-line no-control-regex
      expect(stderr).not.toMatch(/\u001b/);
      expect([code! > 0, stdout]).toEqual([true, '']);
    }
  });

  it('fails for a filter that is not ready, is lost meanwhile, or has another layout', async () => {
    const name = redis.name();
    const missing = await exportHere(name, redis.server.url);
    expect([missing.code, missing.stderr, missing.bytes.length]).toEqual([
      1,
      expect.stringContaining('is missing'),
      0,
    ]);
    const { filter } = await redis.open(name);
    await build(filter, ['a']);
    await redis.client().setrange(`bloom:{${name}}:0`, 0, 'else');
    const damaged = await exportHere(name, redis.server.url);
    expect([damaged.code, damaged.stderr]).toEqual([1, expect.stringContaining('Export it again')]);
    expect(() => readGenerationFile(damaged.bytes)).toThrow(BloomFormatError);
    const grown = redis.name();
    const layout = scaling();
    await build((await redis.open(grown, {}, { hasSource: false, layout })).filter, []);
    expect((await exportHere(grown, redis.server.url)).stderr).toContain("got 'blocked, scaling'");
  });
});
