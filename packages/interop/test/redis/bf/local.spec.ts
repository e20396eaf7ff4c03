import { describe, expect, it } from '@jest/globals';
import { BloomConfigError, BloomIdError } from 'nestjs-bloom/filter';
import { redisBloom } from '../../../src/index.js';
import { IdLog } from '../../../src/redis/generation/id-log.js';
import { LocalChain } from '../../../src/redis/bf/local-chain.js';
import { createGeneration, resolveBf } from '../../../src/redis/bf/resolved-bf.js';
import { reserveArguments } from '../../../src/redis/bf/reserve.js';
import type { BfScripts } from '../../../src/redis/bf/bf-scripts.js';
import { askCommands } from '../../../src/redis/bf/server-commands.js';
import { idsOf, RARE } from '../../../../../test/support/built-filter.js';

function resolved(
  options: { capacity?: number; errorRate?: number; expansion?: number; nonScaling?: boolean } = {},
) {
  const { capacity = 100, errorRate = 0.001, ...growth } = options;
  return resolveBf(createGeneration('token', { capacity, errorRate }, growth), 'key')!;
}

describe('The canaries of a generation', () => {
  it.each([0.0001, 0.001, 0.01, 0.1, 0.25])(
    'all pass another filter of error rate %d less than once in 2^32',
    (errorRate) => {
      const { canaries } = resolved({ errorRate });
      expect(Math.max(errorRate, 0.01) ** canaries.length).toBeLessThanOrEqual(2 ** -32);
      expect(canaries.length).toBeLessThanOrEqual(16);
      expect(new Set(canaries).size).toBe(canaries.length);
    },
  );

  it('are others for each generation', () => {
    expect(resolved().canaries).not.toEqual(resolved().canaries);
  });

  it.each([
    ['no canaries', { canaries: '' }],
    ['no settings', { settings: '' }],
    ['settings that are no object', { settings: '7' }],
    ['a capacity that is none', { settings: '{"capacity":-1,"errorRate":0.1}' }],
    ['an error rate that is none', { settings: '{"capacity":10,"errorRate":1}' }],
  ])('and settings make no sense with %s', (_, change) => {
    const generation = createGeneration('token', { capacity: 10, errorRate: 0.1 }, {});
    expect(resolveBf({ ...generation, ...change }, 'key')).toBeUndefined();
  });
});

describe('A filter that is built in this process', () => {
  it('holds the canaries beside all ids that were planned, in one link', () => {
    const chain = new LocalChain(resolved({ errorRate: RARE }), { maxIdBytes: 64, keepsIds: false });
    expect(chain.isEmpty).toBe(true);
    for (const id of idsOf('id', 100)) chain.addKey(id);
    expect(chain.isEmpty).toBe(false);
    expect(chain.filter.describe()).toHaveLength(1);
    expect(chain.filter.mightContain('id-99')).toBe(true);
    expect(chain.overflow).toBeUndefined();
    expect(chain.ids).toBeUndefined();
  });

  it('is the one that BF.RESERVE makes of the same arguments', () => {
    const of = resolved({ capacity: 50, errorRate: 0.01, expansion: 4 });
    const chain = new LocalChain(of, { maxIdBytes: 64, keepsIds: false });
    const [errorRate, capacity, option, expansion] = reserveArguments(of);
    expect(option).toBe('EXPANSION');
    const reserved = redisBloom.create({
      capacity: Number(capacity),
      errorRate: Number(errorRate),
      expansion: Number(expansion),
    });
    for (const canary of of.canaries) reserved.add(canary);
    expect(chain.filter.write()).toEqual(reserved.write());
    expect(reserveArguments(resolved({ nonScaling: true })).slice(2)).toEqual(['NONSCALING']);
    expect(reserveArguments(resolved()).slice(2)).toEqual([]);
  });

  it('takes one id more than planned without failing, and is not to be used then', () => {
    const chain = new LocalChain(resolved({ nonScaling: true, errorRate: RARE }), {
      maxIdBytes: 64,
      keepsIds: false,
    });
    for (const id of idsOf('id', 100)) chain.addKey(id);
    expect(chain.overflow).toBeUndefined();
    expect(chain.addKey('one too many')).toBe(true);
    expect(chain.overflow).toBeDefined();
  });

  it('refuses an id that is too long', () => {
    const chain = new LocalChain(resolved(), { maxIdBytes: 4, keepsIds: true });
    expect(() => chain.addKey('12345')).toThrow(BloomIdError);
    expect([...chain.ids!.batches(10)]).toEqual([]);
  });
});

describe('A log of ids', () => {
  it('gives them back in order, text as its bytes, however long they are', () => {
    const log = new IdLog();
    const ids = ['a', 'ü', new Uint8Array([0, 255]), 'x'.repeat(3_000_000), '', ...idsOf('id', 70_000)];
    for (const id of ids) log.append(id);
    const batches = [...log.batches(512)];
    expect(batches.every((batch) => batch.length > 0 && batch.length <= 512)).toBe(true);
    const back = batches.flat();
    expect(back).toHaveLength(ids.length);
    expect(back.every((bytes, i) => bytes.equals(Buffer.from(ids[i] as string)))).toBe(true);
  });
});

describe('What a server can do', () => {
  /** A server that says the same of every command but those named. */
  const server = (others: Record<string, string>) =>
    ({
      askCommands: async (commands: readonly string[]) => commands.map((command) => others[command] ?? ''),
    }) as unknown as BfScripts;
  const unknown = 'ERR Unknown Redis command called from script script: 5f7c';

  it('is everything, when it is RedisBloom', async () => {
    const said = {
      'BF.INSERT': 'ERR not found',
      'BF.RESERVE': 'ERR bad error rate',
      'BF.LOADCHUNK': 'ERR not found',
    };
    expect(await askCommands(server(said), 'products')).toEqual({ canLoad: true });
  });

  it('is all but loading, when it is valkey-bloom', async () => {
    const found = await askCommands(server({ 'BF.LOADCHUNK': unknown }), 'products');
    expect(found).toEqual({ canLoad: false });
  });

  it.each([
    "NOPERM User limited has no permissions to run the 'bf.loadchunk' command",
    "ERR The user executing the script can't run this command or subcommand",
  ])('is what its user may: %s', async (refusal) => {
    const found = await askCommands(server({ 'BF.INSERT': refusal, 'BF.LOADCHUNK': refusal }), 'products');
    expect(found).toEqual({ canLoad: false });
  });

  it('is too little without BF.MEXISTS', async () => {
    const found = askCommands(server({ 'BF.MEXISTS': unknown }), 'products');
    await expect(found).rejects.toBeInstanceOf(BloomConfigError);
    await expect(found).rejects.toThrow(
      /Filter 'products': expected a server with BF\.MEXISTS for the layout redisBloom\(\)/,
    );
  });
});
