import { EventEmitter } from 'node:events';
import { describe, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { BloomConfigError, BloomModule, BloomService } from 'nestjs-bloom';
import { BloomTestingModule } from '../../src/testing/index.js';
import { nearestName } from '../../src/common/index.js';
import { startContext } from '../support/nest-app.js';

/** As `process.env` has it. */
const NOT_SET = undefined;
const quiet = { onEvent: () => {} };
const products = { name: 'products', capacity: 1000 };

/** The error with which options are refused, as a JavaScript program or a cast would write them. */
async function refusal(make: () => object): Promise<string> {
  try {
    const module = await startContext({ imports: [make() as never] });
    await module.close();
  } catch (error) {
    expect(error).toBeInstanceOf(BloomConfigError);
    return (error as Error).message;
  }
  throw new Error('Expected a refusal, and the application started.');
}

const forRoot = (options: object) => () => BloomModule.forRoot({ ...quiet, ...options });
const made = (options: object) => () =>
  BloomModule.forRootAsync({ useFactory: () => ({ ...quiet, ...options }) });
const forFilter = (options: object) => forRoot({ filters: [{ ...products, ...options }] });

describe('an option that there is not', () => {
  it.each([
    [
      'forRoot',
      forRoot({ timeoutMS: 5 }),
      "BloomModule.forRoot(): expected no option 'timeoutMS'. Did you mean 'timeoutMs'?",
    ],
    ['forRoot, far from any', forRoot({ cache: 5 }), 'The options are redis, store, keyPrefix, owner'],
    ['guard', forRoot({ guard: { onAbset: () => 0 } }), "'guard.onAbset'. Did you mean 'guard.onAbsent'?"],
    ['copies', forRoot({ copies: { maxByte: 1 } }), "Did you mean 'copies.maxBytes'?"],
    [
      'a filter',
      forFilter({ errorrate: 0.1 }),
      "Filter 'products': expected no option 'errorrate'. Did you mean 'errorRate'?",
    ],
    ['rebuild', forFilter({ rebuild: { drainMS: 1 } }), "'rebuild.drainMS'. Did you mean 'rebuild.drainMs'?"],
    ['rebuild beside it', forFilter({ drainMs: 1 }), 'Write it into rebuild: rebuild: { drainMs: … }.'],
    ['in rebuild', forFilter({ rebuild: { normalize: String } }), 'Write it beside rebuild, not into it.'],
    [
      'audit',
      forFilter({ audit: { rate: 1 } }),
      'The options of audit are sampleRate. Leave it out, or correct its spelling.',
    ],
    ['negativeCache', forFilter({ negativeCache: { lifeMS: 1 } }), "Did you mean 'negativeCache.lifeMs'?"],
    [
      'a source',
      forFilter({ source: { useFactory: () => ({}), injects: [] } }),
      "Did you mean 'source.inject'?",
    ],
    [
      'a source, as it is',
      forFilter({ source: { async *ids() {}, cuont: async () => 1 } }),
      "Did you mean 'source.count'?",
    ],
    ['forFeature', () => BloomModule.forFeature({ ...products, capcity: 1 } as never), undefined],
    [
      'BloomTestingModule',
      () => BloomTestingModule.passAll({ onEvents: () => {} } as never),
      "Did you mean 'onEvent'?",
    ],
  ])('%s', async (_, make, message) => {
    if (message === undefined) {
      const imports = [BloomModule.forRoot(quiet), make() as never];
      await expect(startContext({ imports })).rejects.toThrow(/'capcity'. Did you mean 'capacity'\?/);
      return;
    }
    expect(await refusal(make)).toContain(message);
  });

  it('is refused in what factories make, and beside them', async () => {
    expect(await refusal(made({ keyprefix: 'a' }))).toContain("Did you mean 'keyPrefix'?");
    expect(await refusal(made({ filters: [products] }))).toContain(
      'Write it beside the factory: forRootAsync({ filters',
    );
    expect(
      await refusal(() => BloomModule.forRootAsync({ redis: 'x', useFactory: () => ({}) } as never)),
    ).toContain('Return it from the factory');
    const beside = { ...products, useFactory: () => ({ capacity: 1 }) };
    expect(await refusal(() => BloomModule.forFeatureAsync(beside as never))).toContain(
      "expected no option 'capacity'. Return the options of a filter from useFactory",
    );
    const imports = [
      BloomModule.forRoot(quiet),
      BloomModule.forFeatureAsync({
        name: 'products',
        useFactory: () => ({ ...products, name: 'other' }) as never,
      }),
    ];
    await expect(startContext({ imports })).rejects.toThrow(
      /expected its useFactory to return the options .* name: 'other'/,
    );
  });

  it('may be there without a value, and a source may have members of its own', async () => {
    const source = { async *ids() {}, counter: () => 1, pool: {} };
    const module = await startContext({
      imports: [forFilter({ scaling: undefined, source, rebuild: { onBoot: 'never' } })() as never],
    });
    expect(module.get(BloomService).has('products')).toBe(true);
    await module.close();
  });

  it('is one of wrong type', async () => {
    expect(await refusal(forRoot({ trustAfterFailover: 'false' }))).toContain(
      "trustAfterFailover to be true or false, got 'false'",
    );
    expect(await refusal(() => BloomModule.forRoot({ onEvent: 'log' as never }))).toContain(
      'onEvent to be a function',
    );
    expect(await refusal(forRoot({ filters: products }))).toContain('filters to be an array');
    expect(await refusal(forRoot({ filters: [undefined] }))).toContain('two files may import each other');
    expect(await refusal(forRoot({ timeoutMs: '25' }))).toContain(
      "BloomModule.forRoot(): expected timeoutMs to be a number of milliseconds of at least 1, got '25'",
    );
    expect(await refusal(made({ heartbeat: { everyMs: 1 } }))).toContain('from 1000 to 60000');
    expect(await refusal(forFilter({ shadow: 'no' }))).toContain('shadow to be true or false');
    expect(await refusal(forFilter({ rebuild: 5 }))).toContain('expected rebuild to be an object, got 5');
    expect(await refusal(() => BloomModule.forRoot('redis://localhost' as never))).toContain(
      'expected an object with the options redis, store, ',
    );
  });
});

describe('an option that a missing variable of the environment leaves without a value', () => {
  it.each([
    ['redis', { redis: NOT_SET }],
    ['keyPrefix', { keyPrefix: NOT_SET }],
    ['owner', { owner: NOT_SET }],
    ['store', { store: NOT_SET }],
  ])('fails the start: %s', async (option, options) => {
    for (const make of [forRoot(options), made(options)])
      expect(await refusal(make)).toContain(`expected the option '${option}' to have a value, got undefined`);
  });

  it.each([
    ['source', { source: NOT_SET }],
    ['normalize', { normalize: NOT_SET }],
    ['feed', { feed: NOT_SET }],
    ['owner', { owner: NOT_SET }],
    ['rebuild.cron', { rebuild: { cron: NOT_SET } }],
  ])('fails the start of a filter: %s', async (option, options) => {
    const message = `Filter 'products': expected the option '${option}' to have a value, got undefined`;
    expect(await refusal(forFilter(options))).toContain(message);
    const features = [
      BloomModule.forFeature({ ...products, ...options }),
      BloomModule.forFeatureAsync({ name: 'products', useFactory: () => ({ capacity: 1, ...options }) }),
    ];
    for (const feature of features)
      await expect(startContext({ imports: [BloomModule.forRoot(quiet), feature] })).rejects.toThrow(message);
  });

  it('fails the start where one source of several has none', async () => {
    const source = { async *ids() {} };
    expect(await refusal(forFilter({ source: [source, NOT_SET] }))).toContain('source');
  });
});

describe('the option redis', () => {
  class NodeRedisClient extends EventEmitter {
    async sendCommand() {}
  }
  class Keyv {
    readonly opts = {};
    async get() {}
  }
  class Settings {
    readonly host = '127.0.0.1';
    readonly port = 1;
  }

  it.each([
    [
      'a client of node-redis',
      new NodeRedisClient(),
      'got an object of the class NodeRedisClient. A client of node-redis',
    ],
    ['a Keyv', new Keyv(), 'give the URL or the options that it was made with'],
    ['a class', Redis, 'got the Redis itself. Call it, or construct it with new.'],
    ['a promise', Promise.resolve({}), 'Await it: BloomModule.forRootAsync('],
    ['an empty text', '', "got ''. If it comes from the environment"],
    ['a text of spaces', ' ', 'Leave redis out for filters in memory.'],
    ['null', null, 'got null. If it comes from the environment'],
    [
      'undefined',
      undefined,
      "expected the option 'redis' to have a value, got undefined. If it comes from the environment",
    ],
    ['the URL of a web server', 'http://localhost:6379', "got one that begins with 'http://'"],
    [
      'a URL of sentinels',
      'redis-sentinel://localhost:26379',
      "got one that begins with 'redis-sentinel://'",
    ],
    ['a scheme in capitals, of which ioredis knows no TLS', 'REDISS://localhost', "begins with 'REDISS://'"],
    [
      'a URL whose host is not set',
      `redis://${NOT_SET}:6379`,
      "with the host 'undefined'. If it comes from the environment",
    ],
    ['a URL with a user whose host is not set', 'redis://:secret@:6379/0', "got one with the host ''"],
    ['an address with a path', 'localhost:6379/0', 'got one with a path and without a scheme'],
    [
      'a password with #',
      'redis://u:se#cret@localhost:6379',
      'one that cannot be read. Write #, /, ? and % of a password as %23',
    ],
    ['a password with /', 'redis://u:se/cret@localhost:6379', 'one that cannot be read'],
    ['a password that begins as a port', 'redis://u:1/secret@localhost', 'one that cannot be read'],
    ['a password with ?', 'redis://u:1?secret@localhost', 'one that cannot be read'],
    ['a password with %', 'redis://u:%secret@localhost', 'one that cannot be read'],
    ['a path that is no database', 'redis://localhost/products', 'one whose path is no number of a database'],
    [
      'a database that is no number',
      { db: 'products' },
      "redis.db to be the number of a database, got 'products'",
    ],
    ['what ioredis refuses', { port: 1, Connector: 'secret' }, 'to be what ioredis takes, and it says: '],
    [
      'a host that is not set',
      { host: NOT_SET, port: 6379 },
      'expected redis.host to be a value, got undefined',
    ],
    ['an empty host', { host: '' }, "expected redis.host to be a value, got ''"],
    ['a socket that is not set', { path: NOT_SET }, 'expected redis.path to be a value'],
    [
      'a port that is not set',
      { host: '127.0.0.1', port: Number(NOT_SET) },
      'redis.port to be a number below 65,536, got NaN',
    ],
    ['a port', 6379, 'got 6379'],
    ['options of node-redis', { url: 'redis://localhost' }, "Give the URL itself: redis: 'redis://…'."],
    ['a socket of node-redis', { socket: { host: 'a' } }, 'redis: { host, port }'],
    ['options with a slip', { hots: 'a' }, "'redis.hots'. Did you mean 'redis.host'?"],
  ])('refuses %s', async (_, redis, message) => {
    for (const make of [forRoot({ redis }), made({ redis })]) {
      const text = await refusal(make);
      expect(text).toContain(message);
      expect(text).not.toMatch(/secret|cret@/);
    }
  });

  it.each([
    ['an option that ioredis will have one day', { host: '127.0.0.1', port: 1, anOptionOfTomorrow: 5 }],
    ['an address beside one that looks misspelt', { host: '127.0.0.1', port: 1, hosts: [] }],
    ['a password that is not set', { host: '127.0.0.1', port: 1, password: NOT_SET }],
    ['a host that is not set beside a socket', { host: NOT_SET, path: '/tmp/no-redis.sock' }],
    ['no address', {}],
    [
      'every option that ioredis has a default for',
      { ...(Reflect.get(Redis, 'defaultOptions') as object), port: 1, sentinelTLS: {} },
    ],
    ['an address alone', '127.0.0.1:1'],
    ['a URL of TLS with a user', 'rediss://ada:p%40ss@127.0.0.1:1/2?family=4'],
    ['a URL of IPv6', 'redis://[::1]:1'],
    ['a socket', '/tmp/no-redis.sock'],
  ])('takes %s', async (_, redis) => {
    const module = await startContext({ imports: [forRoot({ redis })()] });
    await module.close();
  });

  it('may be left out', async () => {
    const module = await startContext({ imports: [forRoot({})()] });
    await module.close();
  });

  it('takes options that are an object of a class', async () => {
    const module = await startContext({ imports: [forRoot({ redis: new Settings() })()] });
    await module.close();
  });
});

describe('forFeature', () => {
  it('takes one filter as well as several', async () => {
    const module = await startContext({
      imports: [
        BloomModule.forRoot(quiet),
        BloomModule.forFeature(products),
        BloomModule.forFeatureAsync({ name: 'orders', useFactory: () => ({ capacity: 10 }) }),
      ],
    });
    expect(
      module
        .get(BloomService)
        .filters()
        .map(({ name }) => name),
    ).toEqual(['products', 'orders']);
    await module.close();
  });
});

describe('nearestName', () => {
  it.each([
    ['errorrate', 'errorRate'],
    ['error_rate', 'errorRate'],
    ['hots', 'host'],
    ['tiemZone', 'timeZone'],
    ['db', undefined],
    ['counter', 'counters'],
    ['contr', undefined],
    ['', undefined],
  ])('%s', (name, expected) => {
    expect(nearestName(name, ['errorRate', 'host', 'timeZone', 'id', 'counters'], 1)).toBe(expected);
  });
});
