import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Controller, Get, Injectable, Param } from '@nestjs/common';
import type { TestingModule } from '@nestjs/testing';
import fc from 'fast-check';
import {
  BloomConfigError,
  type BloomFilter,
  BloomGuarded,
  type BloomId,
  BloomModule,
  BloomRegisters,
  BloomService,
} from 'nestjs-bloom';
import { defineFilter } from '../../src/service/index.js';
import { type RunningApp, startApp, startContext } from '../support/nest-app.js';
import { leastCpuMsOf } from '../support/cpu-time.js';
import type { Anything } from './support/anything.js';

const cyclic: unknown[] = [];
cyclic.push(cyclic);

/** What a request, a parser or a mistake may hand to a guard. */
const ODD_IDS: readonly unknown[] = [
  undefined,
  null,
  NaN,
  -0,
  0,
  1e21,
  -1e21,
  Infinity,
  0.1,
  Number.MAX_SAFE_INTEGER,
  2 ** 53,
  true,
  '',
  ' ',
  '\0',
  'a\0b',
  '\ud800',
  '\udfff\ud800',
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
  'K',
  '\u212a',
  '\u0130',
  'é',
  'e\u0301',
  {},
  [],
  [[]],
  cyclic,
  Object.create(null),
  new Proxy({}, {}),
  new Date(NaN),
  /x/,
  Symbol('x'),
  () => 'x',
  new Map(),
  10n ** 400n,
  -1n,
  new Uint8Array(),
  new Uint8Array([0]),
  new Uint16Array([1]),
  new ArrayBuffer(4),
  Buffer.from('buffer'),
  {
    toString: () => {
      throw new Error('no text');
    },
  },
  new String('boxed'),
  new Number(7),
];

@Injectable()
class Rows {
  readonly seen: unknown[] = [];

  @BloomGuarded('rows')
  async find(id: Anything): Promise<string> {
    this.seen.push(id);
    return 'row';
  }

  @BloomGuarded('rows', { id: 'id' })
  async findBy(criteria: { id?: Anything } | null | undefined): Promise<string> {
    this.seen.push(criteria);
    return 'row';
  }

  @BloomRegisters('rows')
  async create(_id: Anything): Promise<string> {
    return 'created';
  }
}

@Controller('rows')
class RowsController {
  @Get(':id')
  @BloomGuarded('rows')
  async find(@Param('id') id: string): Promise<{ id: string }> {
    return { id };
  }
}

describe('Whatever is given for an id', () => {
  let module: TestingModule;
  let rows: Rows;
  let filter: BloomFilter;

  beforeAll(async () => {
    module = await startContext({
      imports: [
        BloomModule.forRoot({
          filters: [{ name: 'rows', capacity: 10_000, errorRate: 1e-6, create: 'first-start' }],
          onEvent: () => {},
        }),
      ],
      providers: [Rows],
    });
    rows = module.get(Rows);
    filter = module.get(BloomService).filter('rows');
  });

  afterAll(() => module.close());

  it('a guard never throws, and finds what a creating method has accepted', async () => {
    for (const id of ODD_IDS) {
      const accepted = await rows.create(id).then(
        () => true,
        (error: unknown) => {
          expect(error).toHaveProperty('code', 'BLOOM_ID');
          expect(String(error)).toMatch(/Expected (an|one) id/);
          return false;
        },
      );
      // What can be no id passes as well: it was never compared with anything.
      expect(await rows.find(id)).toBe('row');
      expect(await rows.findBy({ id })).toBe('row');
      // An array is a list of ids.
      if (accepted && !Array.isArray(id)) expect(await filter.check(id as BloomId)).toBe('maybe');
    }
    for (const criteria of [null, undefined, cyclic, 7, 'text'] as never[]) {
      expect(await rows.findBy(criteria)).toBe('row');
    }
  });

  it('no two ids that look alike are taken for one', async () => {
    const alike = ['K\u00fc', '\u212a\u00fc', 'Ku\u0308', '1.0', '01', '+1', '1 ', '\u0661', '__proto__x'];
    for (const [i, id] of alike.entries()) {
      for (const later of alike.slice(i)) expect(await filter.check(later)).toBe('absent');
      await filter.add(id);
      expect(await filter.check(id)).toBe('maybe');
    }
  });

  it('any id that can be added is found (random ids of all kinds)', async () => {
    const ids = fc.oneof(
      fc.string({ unit: 'binary', minLength: 1 }),
      fc.string({ unit: 'grapheme', minLength: 1 }),
      fc.integer(),
      fc.bigInt(),
      fc.uint8Array({ minLength: 1 }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(ids, { minLength: 1, maxLength: 50 }), async (batch) => {
        await filter.addMany(batch);
        expect(new Set(await filter.checkMany(batch))).toEqual(new Set(['maybe']));
      }),
      { numRuns: 200 },
    );
  });

  it('a giant id is absent without being hashed', async () => {
    const giants = [
      'x'.repeat(10_000_000),
      '\u20ac'.repeat(5_000_000),
      new Uint8Array(10_000_000),
      1n << 40_000_000n,
    ];
    const encodingMs = await leastCpuMsOf(() => new TextEncoder().encode(giants[0] as string));
    const checkingMs = await leastCpuMsOf(async () => {
      for (let i = 0; i < 50; i++) {
        for (const giant of giants.slice(0, 3)) expect(await filter.check(giant)).toBe('absent');
      }
    });
    // To hash one takes longer than to encode it.
    expect(checkingMs).toBeLessThan(50 * encodingMs);
    expect(await filter.check(giants[3]!)).toBe('absent');
    for (const giant of giants) await expect(filter.add(giant)).rejects.toHaveProperty('code', 'BLOOM_ID');
  });
});

describe.each(['express', 'fastify'] as const)('Whatever is requested on %s', (platform) => {
  let running: RunningApp;

  beforeAll(async () => {
    running = await startApp(platform, {
      imports: [
        BloomModule.forRoot({
          filters: [{ name: 'rows', capacity: 1000, errorRate: 1e-6, create: 'first-start', audit: false }],
          onEvent: () => {},
        }),
      ],
      controllers: [RowsController],
    });
  });

  afterAll(() => running.close());

  it('an absent id is 404, and an added one is found in every encoding of its URL', async () => {
    const filter = running.app.get(BloomService).filter('rows');
    const ids = ['__proto__', 'a b', 'ä/ö', '%', '%2F', '\u202e', 'a\u0000b', '😀', "'; drop table rows; --"];
    for (const id of ids) {
      const path = `/rows/${encodeURIComponent(id)}`;
      expect((await running.get(path)).status).toBe(404);
      await filter.add(id);
      expect((await running.get(path)).status).toBe(200);
    }
    for (const path of ['/rows/%', '/rows/%ff', `/rows/${'x'.repeat(4000)}`, '/rows/%00']) {
      expect([400, 404, 414]).toContain((await running.get(path)).status);
    }
  });
});

describe('Whatever is given for an option', () => {
  const odd = fc.oneof(
    fc.constantFrom(...ODD_IDS.filter((value) => typeof value !== 'bigint')),
    fc.double(),
    fc.string(),
  );
  const options = fc.record(
    {
      name: fc.oneof(fc.constant('rows'), odd),
      capacity: fc.oneof(fc.constantFrom(1, 1000, 10 ** 9), odd),
      errorRate: fc.oneof(fc.constantFrom(0.01, 1e-4), odd),
      layout: odd,
      source: odd,
      normalize: odd,
      maxIdBytes: odd,
      shadow: odd,
      audit: odd,
      negativeCache: odd,
      rebuild: fc.oneof(
        odd,
        fc.record({ cron: odd, everyMs: odd, onBoot: odd, drainMs: odd, minRatio: odd, leaseMs: odd }),
      ),
    },
    { requiredKeys: ['name', 'capacity'] },
  );

  it('it is taken, or refused with a message that names the filter and the option', () => {
    fc.assert(
      fc.property(options, (given) => {
        try {
          defineFilter(given as never);
        } catch (error) {
          expect(error).toBeInstanceOf(BloomConfigError);
          expect(String(error)).toMatch(/Filter '.*': /s);
        }
      }),
      { numRuns: 3000 },
    );
  });
});
