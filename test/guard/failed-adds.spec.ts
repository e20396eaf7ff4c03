import { Injectable, Logger } from '@nestjs/common';
import type { TestingModule } from '@nestjs/testing';
import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import {
  BloomConfigError,
  type BloomEvent,
  type BloomFeature,
  BloomGuarded,
  BloomModule,
  BloomRegisters,
  BloomService,
} from 'nestjs-bloom';
import { lastValueFrom, of, throwError } from 'rxjs';
import { EventLog } from '../../src/module/event-log.js';
import { eventually } from '../support/eventually.js';
import { startContext } from '../support/nest-app.js';
import { PATIENT } from '../support/patience.js';
import { type RedisServer, startRedis } from '../support/redis-server.js';

const refused = new Error('The database refuses the row.');

@Injectable()
class Repository {
  readonly taken = new Set<string>();
  calls = 0;

  @BloomRegisters('products')
  async create(sku: string) {
    if (sku.startsWith('bad')) throw refused;
    return sku;
  }

  @BloomRegisters('products', { id: (skus: string[]) => skus })
  async createMany(_skus: string[]) {
    throw refused;
  }

  @BloomRegisters('products')
  async stream(_sku: string) {
    return throwError(() => refused);
  }

  @BloomRegisters('products')
  async streamOf(sku: string) {
    return of(sku, 'later');
  }

  @BloomRegisters('products', {
    async validate(this: Repository, sku: string) {
      await new Promise(setImmediate);
      if (this.taken.has(sku)) throw refused;
    },
  })
  async createFree(sku: string) {
    this.calls++;
    return sku;
  }

  @BloomRegisters('products', { validate: ((sku: string) => sku !== 'no') as never })
  async createChecked(sku: string) {
    this.calls++;
    return sku;
  }

  @BloomGuarded('products')
  async find(sku: string) {
    return sku;
  }
}

let server: RedisServer;
beforeAll(async () => void (server = await startRedis()));
afterAll(() => server.stop());
afterEach(() => void jest.restoreAllMocks());

const skus = (prefix: string, count: number) => Array.from({ length: count }, (_, i) => `${prefix}-${i}`);

describe.each(['memory', 'redis'])('Creates that fail, with a filter in %s', (kind) => {
  let module: TestingModule;
  let events: BloomEvent[];
  const failed = () => events.filter(({ type }) => type === 'failed-adds');
  const counts = () => module.get(BloomService).filter('products').guarding.counts();

  async function start(feature: Partial<BloomFeature> = {}): Promise<Repository> {
    events = [];
    module = await startContext({
      imports: [
        BloomModule.forRoot({
          ...(kind === 'redis'
            ? { redis: server.url, ...PATIENT, keyPrefix: Math.random().toString(36).slice(2) }
            : {}),
          // An id that passes by chance is not new, so there must be none.
          filters: [
            {
              name: 'products',
              capacity: 1000,
              errorRate: 1e-6,
              create: 'first-start',
              audit: false,
              ...feature,
            },
          ],
          onEvent: (event) => events.push(event),
        }),
      ],
      providers: [Repository],
    });
    return module.get(Repository);
  }

  afterEach(() => module.close());

  it('are counted by the ids that were new, and reported once where they fill a tenth of the filter', async () => {
    const repository = await start();
    await repository.create('A-1');
    await expect(repository.createMany(['A-1', ...skus('bad', 98)])).rejects.toBe(refused);
    await expect(repository.create('bad-0')).rejects.toBe(refused);
    await expect(lastValueFrom((await repository.stream('bad-98')) as never)).rejects.toBe(refused);
    expect(await lastValueFrom(await repository.streamOf('A-2'))).toBe('later');
    expect(counts().failedAdds).toBe(99);
    expect(failed()).toEqual([]);
    await expect(repository.create('bad-99')).rejects.toBe(refused);
    await eventually('the event', () => failed().length > 0);
    await expect(repository.createMany(skus('bad-more', 300))).rejects.toBe(refused);
    expect(counts().failedAdds).toBe(400);
    expect(failed()).toEqual([
      { type: 'failed-adds', filter: 'products', ids: 100, capacity: 1000, method: 'Repository.create' },
    ]);
    expect(await repository.find('bad-more-299')).toBe('bad-more-299');
  });

  it('are measured by what a rebuild has planned, and counted anew from it on', async () => {
    let rows = 4000;
    const source = {
      async *ids() {
        yield skus('row', rows);
      },
    };
    const repository = await start({ source, rebuild: { onBoot: 'never', drainMs: 1 } });
    const filter = module.get(BloomService).filter('products');
    await filter.rebuild();
    const { capacity } = await filter.info();
    const tenth = Math.ceil(capacity / 10);
    await expect(repository.createMany(skus('bad', tenth - 1))).rejects.toBe(refused);
    await filter.info();
    expect(failed()).toEqual([]);
    await expect(repository.create('bad-last')).rejects.toBe(refused);
    await eventually('the event', () => failed().length === 1);
    expect(failed()[0]).toMatchObject({ ids: tenth, capacity });
    rows = 3000;
    await filter.rebuild();
    const next = (await filter.info()).capacity;
    await expect(repository.createMany(skus('other', Math.ceil(next / 10)))).rejects.toBe(refused);
    let more = 0;
    await eventually('another event', async () => {
      // The process may not know of the new generation yet.
      await repository.create(`bad-again-${more++}`).catch(() => {});
      return failed().length === 2;
    });
  });

  it('add nothing where validate refuses them', async () => {
    const repository = await start();
    repository.taken.add('A-1');
    await expect(repository.createFree('A-1')).rejects.toBe(refused);
    expect(await repository.find('A-1')).toBeNull();
    expect(await repository.createFree('A-2')).toBe('A-2');
    expect(await repository.find('A-2')).toBe('A-2');
    await expect(repository.createChecked('no')).rejects.toThrow(
      new BloomConfigError(
        '@BloomRegisters on Repository.createChecked: expected validate to throw for a call that it refuses, and to return nothing for any other, got false.',
      ),
    );
    expect([repository.calls, counts().failedAdds]).toEqual([1, 0]);
  });
});

describe('The log', () => {
  it('says what to do about creates that fail, and about a filter that nothing makes larger', async () => {
    const warn = jest.spyOn(Logger.prototype, 'warn').mockImplementation(() => {});
    const log = new EventLog();
    const filter = 'products';
    log.write({ type: 'failed-adds', filter, ids: 100, capacity: 1000, method: 'Repository.create' });
    expect(warn.mock.calls.at(-1)![0]).toMatch(/Repository\.create.* validate.*docs\/security\.md/);
    const events: BloomEvent[] = [];
    const module = await startContext({
      imports: [
        BloomModule.forRoot({
          filters: [{ name: filter, capacity: 10, create: 'first-start' }],
          onEvent: (event) => events.push(event),
        }),
      ],
    });
    await module.get(BloomService).filter(filter).addMany(skus('row', 20));
    await eventually('overfull', () => events.some(({ type }) => type === 'overfull'));
    log.write(events.find(({ type }) => type === 'overfull')!);
    expect(warn.mock.calls.at(-1)![0]).toMatch(/It has no source, .* larger capacity .* reset\(\)/);
    await module.close();
  });
});

it('validate is refused where it cannot work', () => {
  const decorate = (options: object) => () => BloomRegisters('products', options)({}, 'create', {});
  expect(decorate({ validate: true })).toThrow(/validate to be a function, got true/);
  expect(decorate({ validate: () => {}, from: 'result' })).toThrow(/expected no option validate with from/);
});
