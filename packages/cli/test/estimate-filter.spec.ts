import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { type INestApplicationContext, Injectable } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { BloomGuarded, BloomModule, BloomService } from 'nestjs-bloom';
import { eventually } from '../../../test/support/eventually.js';
import { RedisFixture } from '../../../test/support/redis-fixture.js';
import { runHere } from './support/in-process.js';

@Injectable()
class Products {
  @BloomGuarded('products')
  async find(id: string): Promise<string | null> {
    return id.startsWith('row') || id === 'added elsewhere' ? id : null;
  }
}

let redis: RedisFixture;
let app: INestApplicationContext | undefined;
beforeAll(async () => {
  redis = await RedisFixture.start();
});
afterEach(() => app?.close());
afterAll(() => redis.close());

const on = (...words: string[]) =>
  runHere(['estimate', '--filter', 'products', ...words, '--redis', redis.server.url]);

describe('nestjs-bloom estimate --filter', () => {
  it('says what a guard that only counts would save, once the processes report', async () => {
    const ids = async function* () {
      yield ['row-1', 'row-2', 'deleted'];
    };
    const module = await Test.createTestingModule({
      imports: [
        BloomModule.forRoot({ redis: redis.server.url, timeoutMs: 5000 }),
        BloomModule.forFeature({
          name: 'products',
          capacity: 1000,
          errorRate: 1e-6,
          source: { ids },
          shadow: true,
          rebuild: { drainMs: 0 },
        }),
      ],
      providers: [Products],
    }).compile();
    app = await module.init();
    const filter = module.get(BloomService).filter('products');
    await eventually('it is built', async () => (await filter.info()).state === 'ready');
    const products = module.get(Products);
    const silent = await on();
    expect([silent.code, silent.stderr]).toEqual([1, expect.stringContaining('run mode products shadow')]);

    await runHere(['mode', 'products', 'shadow', '--redis', redis.server.url]);
    await eventually('it reports', async () => !(await on()).stderr.includes('No process reports'), 60_000);
    expect((await on()).stderr).toContain('no guard has counted a lookup');
    for (const id of ['row-1', 'row-1', 'row-2', 'deleted', 'x-1', 'x-2', 'x-2', 'x-3', 'x-4', 'x-5'])
      await products.find(id);
    const read = async () => JSON.parse((await on('--json')).stdout || '{}') as Record<string, unknown>;
    await eventually('all are reported', async () => (await read())['lookups'] === 10, 60_000);
    expect(await read()).toMatchObject({
      processes: 1,
      modes: ['shadow'],
      missing: 7,
      missingShare: 0.7,
      saved: 6,
      wrongAbsents: 0,
      bytes: (await filter.info()).bytes,
    });
    const { stdout, stderr, code } = await on();
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(/^products: 70 % of the lookups are of ids that do not exist\n/);
    expect(stdout).toMatch(/counted +by 1 process, mode shadow, since /);
    expect(stdout).toMatch(/guard saves +6 of 10 lookups from the database\n/);
    expect(stdout).toMatch(/filter costs +[\d.]+ KiB, in Redis and in each process \(local copy\)\n/);

    await products.find('added elsewhere');
    await eventually('it is reported', async () => (await read())['wrongAbsents'] === 1, 60_000);
    expect((await on()).stderr).toContain('Do not turn guards on');
    expect((await read())['missing']).toBe(7);
  });

  it('reads either logs or a filter', async () => {
    for (const words of [['--filter', 'x', '--route', '/x/:id'], []])
      expect(await runHere(['estimate', ...words])).toMatchObject({
        code: 2,
        stderr: expect.stringContaining('Expected --route'),
      });
  });
});
