import { describe, expect, it } from '@jest/globals';
import { createHash } from 'node:crypto';
import { BloomConfigError, BloomFormatError, BloomFullError } from 'nestjs-bloom/filter';
import { redisBloom, type RedisBloomChunk, type RedisBloomTarget } from '../../src/index.js';
import { ByteSink } from '../../src/formats/byte-sink.js';
import { RedisBloomHash } from '../../src/formats/redis-bloom-chain.js';
import { RedisBloomLoader } from '../../src/formats/redis-bloom-filter.js';
import { bytesOf, fromHex, named, readVectors, rows, toHex } from './vectors.js';

interface Chunk {
  readonly iter: number;
  readonly hex: string;
  readonly length: number;
  readonly sha256?: string;
}
interface Single {
  readonly id: string;
  readonly positions: readonly {
    bits: number;
    hashes: number;
    entries: number;
    linkError: number;
    indexes: number[];
  }[];
  readonly [setBits: `setBits reserve ${string}`]: readonly number[];
}

const vectors = readVectors<{
  readonly hashes: readonly { readonly id: string; readonly a: string; readonly b: string }[];
  readonly single: readonly Single[];
  readonly sizing: readonly {
    readonly errorRate: number;
    readonly capacity: number;
    readonly options: string;
    readonly headerHex: string;
    /** Where 2.8.20 replies otherwise. */
    readonly headerHexOf2_8?: string;
  }[];
  readonly filters: readonly {
    readonly description: string;
    readonly create: string | null;
    readonly added: readonly string[];
    readonly notNew: readonly string[];
    readonly refused: readonly string[];
    readonly falsePositives: readonly string[];
    readonly absent: readonly string[];
    readonly scandump: readonly Chunk[];
    readonly card: number;
  }[];
  readonly loadchunk: readonly {
    readonly case: string;
    readonly chunks: readonly { readonly iter: number; readonly hex: string }[];
    readonly replies: readonly { readonly simple?: string; readonly error?: string }[];
    readonly existsAfter: number;
  }[];
  readonly commands: readonly { readonly command: readonly string[]; readonly resp2: { error?: string } }[];
  readonly large: { readonly reserve: string; readonly scandump: readonly Chunk[] };
}>('redisbloom');

/** `BF.RESERVE key error capacity options` as options of ours. */
function demandOf(words: readonly string[]): RedisBloomTarget {
  const [errorRate, capacity, option, value] = words;
  return {
    errorRate: Number(errorRate),
    capacity: Number(capacity),
    ...(option === 'NONSCALING' ? { nonScaling: true } : {}),
    ...(option === 'EXPANSION' ? { expansion: Number(value) } : {}),
  };
}

function hex(high: number, low: number): string {
  return (high >>> 0).toString(16).padStart(8, '0') + (low >>> 0).toString(16).padStart(8, '0');
}

function chunksOf(scandump: readonly Chunk[]): RedisBloomChunk[] {
  return scandump.map(({ iter, hex }) => ({ iterator: iter, data: fromHex(hex) }));
}

describe('RedisBloom', () => {
  it.each(rows(vectors.hashes))('hashes $name as RedisBloom does', ({ key }) => {
    const sink = new ByteSink();
    sink.putBytes(bytesOf(key.id));
    sink.pad();
    const hash = new RedisBloomHash();
    hash.hash(sink);
    expect([hex(hash.firstHigh, hash.firstLow), hex(hash.secondHigh, hash.secondLow)]).toEqual([
      key.a,
      key.b,
    ]);
  });

  it.each(rows(vectors.single))('has the bits of $name where RedisBloom has', ({ key }) => {
    for (const { bits, hashes, entries, linkError, indexes } of key.positions) {
      const layout = redisBloom.layout({ bits, hashCount: hashes });
      expect(layout.positions(bytesOf(key.id))).toEqual(indexes);
      expect(layout.positions(named(key.id))).toEqual(indexes);
      const size = redisBloom.size({ capacity: entries, errorRate: linkError, nonScaling: true });
      expect(size).toMatchObject({ bits, hashCount: hashes });
    }
  });

  it.each(rows(vectors.single))('sets the bits of $name that the server set', ({ key }) => {
    for (const reserve of ['setBits reserve 0.01 100', 'setBits reserve 0.001 1000'] as const) {
      const size = redisBloom.size(demandOf(reserve.split(' ').slice(2)));
      const places = new Set(redisBloom.layout(size).positions(bytesOf(key.id)));
      expect([...places].sort((a, b) => a - b)).toEqual(key[reserve]);
    }
  });

  it.each(vectors.sizing)('reserves $capacity ids at $errorRate $options as Redis 8 does', (expected) => {
    const { errorRate, capacity, options, headerHex } = expected;
    const filter = redisBloom.create(demandOf([`${errorRate}`, `${capacity}`, ...options.split(' ')]));
    expect(toHex(filter.write()[0]!.data)).toBe(headerHex);
  });

  it('reserves error rates above 0.25 as RedisBloom 2.8 does, when told so', () => {
    const older = vectors.sizing.filter(({ headerHexOf2_8 }) => headerHexOf2_8 !== undefined);
    expect(older).toHaveLength(3);
    for (const { errorRate, capacity, options, headerHexOf2_8 } of older) {
      const target = demandOf([`${errorRate}`, `${capacity}`, ...options.split(' ')]);
      expect(toHex(redisBloom.create({ ...target, maxErrorRate: 1 }).write()[0]!.data)).toBe(headerHexOf2_8);
    }
  });

  const reserves = vectors.commands.filter(
    ({ command }) => command[0] === 'BF.RESERVE' && command.length >= 4,
  );
  const made = reserves.filter(
    ({ command }) => Number(command[3]) <= 1000 && !Number.isNaN(Number(command[2])),
  );
  it.each(made.filter(({ command }) => command[1] === 'e'))(
    'answers $command as Redis 8 does',
    ({ command, resp2 }) => {
      const [errorRate, capacity, ...options] = command.slice(2) as [string, string, ...string[]];
      const at = options.indexOf('EXPANSION');
      const create = () =>
        redisBloom.create({
          errorRate: Number(errorRate),
          capacity: Number(capacity),
          ...(options.includes('NONSCALING') ? { nonScaling: true } : {}),
          ...(at >= 0 ? { expansion: Number(options[at + 1] ?? NaN) } : {}),
        });
      if (resp2.error === undefined) expect(create).not.toThrow();
      else expect(create).toThrow(BloomConfigError);
    },
  );

  it('has the limits of Redis 8', () => {
    expect(redisBloom.size({ errorRate: 0.01, capacity: 2 ** 30 }).bits).toBeGreaterThan(2 ** 33);
    expect(() => redisBloom.size({ errorRate: 0.01, capacity: 2 ** 30 + 1 })).toThrow(BloomConfigError);
    expect(() => redisBloom.size({ errorRate: 0.01, capacity: 10, expansion: 32_769 })).toThrow(
      BloomConfigError,
    );
    expect(() => redisBloom.size({ errorRate: Number.MIN_VALUE, capacity: 10 })).toThrow(BloomConfigError);
    expect(redisBloom.size({ errorRate: Number.MIN_VALUE, capacity: 10, nonScaling: true }).hashCount).toBe(
      1075,
    );
  });
});

describe('A filter of RedisBloom', () => {
  it.each(vectors.filters)(
    'grows and is dumped as on the server: $description',
    ({ create, added, notNew, refused, scandump, falsePositives, absent, card }) => {
      const filter = redisBloom.create(
        demandOf(create === null ? ['0.01', '100'] : create.split(' ').slice(2)),
      );
      for (const id of added) {
        if (refused.includes(id)) expect(() => filter.add(named(id))).toThrow(BloomFullError);
        else expect(filter.add(named(id))).toBe(!notNew.includes(id));
      }
      const dump = [...filter.write(), { iterator: 0, data: new Uint8Array() }];
      expect(dump.map(({ iterator, data }) => [iterator, toHex(data)])).toEqual(
        scandump.map(({ iter, hex }) => [iter, hex]),
      );
      const read = redisBloom.read(chunksOf(scandump));
      const present = [...added.filter((id) => !refused.includes(id)), ...falsePositives];
      for (const one of [filter, read]) {
        for (const id of present) expect(one.mightContain(named(id))).toBe(true);
        for (const id of absent) expect(one.mightContain(named(id))).toBe(false);
      }
      expect(read.estimate().ids).toBe(card);
      expect(read.write()).toEqual(filter.write());
    },
  );

  it('that was read grows on as it would have on the server', () => {
    const ids = Array.from({ length: 200 }, (_, i) => `id-${i}`);
    const whole = redisBloom.create({ errorRate: 0.05, capacity: 4 });
    const half = redisBloom.create({ errorRate: 0.05, capacity: 4 });
    for (const id of ids) whole.add(id);
    for (const id of ids.slice(0, 100)) half.add(id);
    const read = redisBloom.read(half.write());
    for (const id of ids.slice(100)) read.add(id);
    expect(read.write()).toEqual(whole.write());
    expect(read.describe().map(({ capacity }) => capacity)).toEqual([4, 8, 16, 32, 64, 128]);
  });

  it('of 18 MB has chunks of 16 MiB, byte for byte', () => {
    const { reserve, scandump } = vectors.large;
    const filter = redisBloom.create(demandOf(reserve.split(' ').slice(2)));
    for (let i = 0; i < 2000; i++) filter.add(`public-${i}`);
    const chunks = filter.write();
    expect(chunks.map(({ iterator, data }) => [iterator, data.length])).toEqual(
      scandump.slice(0, -1).map(({ iter, length }) => [iter, length]),
    );
    expect(toHex(chunks[0]!.data)).toBe(scandump[0]!.hex);
    for (const i of [1, 2]) {
      expect(createHash('sha256').update(chunks[i]!.data).digest('hex')).toBe(scandump[i]!.sha256);
    }
    const read = redisBloom.read(chunks);
    for (let i = 0; i < 2000; i++) expect(read.mightContain(`public-${i}`)).toBe(true);
  });
});

describe('Chunks', () => {
  it.each(vectors.loadchunk)(
    'are taken or refused as LOADCHUNK does: $case',
    ({ chunks, replies, existsAfter }) => {
      const loader = new RedisBloomLoader();
      for (const [index, { iter, hex }] of chunks.entries()) {
        const load = () => loader.load({ iterator: iter, data: fromHex(hex) });
        if (replies[index]!.error === undefined) expect(load).not.toThrow();
        else expect(load).toThrow(BloomFormatError);
      }
      // The server goes on with what is there; here, bits that are missing would be wrong answers.
      if (existsAfter === 1) expect(loader.finish().mightContain('a')).toBe(true);
      else expect(() => loader.finish()).toThrow(BloomFormatError);
    },
  );
});
