import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  BloomConfigError,
  type BloomEvent,
  type BloomFeature,
  BloomModule,
  BloomService,
} from 'nestjs-bloom';
import { applicationName, ownerOf } from '../../src/module/store-factory.js';
import { eventually } from '../support/eventually.js';
import { startContext } from '../support/nest-app.js';
import { PATIENT } from '../support/patience.js';
import { RedisFixture } from '../support/redis-fixture.js';

describe('The name of an application', () => {
  let root: string;
  beforeAll(() => {
    root = mkdtempSync(join(tmpdir(), 'bloom-owner-'));
    for (const [path, text] of [
      ['shop/package.json', '{"name":"@acme/shop"}'],
      ['shop/dist/package.json', '{"type":"module"}'],
      ['shop/dist/main.js', ''],
      ['shop/node_modules/jest/package.json', '{"name":"jest"}'],
      ['shop/node_modules/jest/bin/jest.js', ''],
      ['odd/package.json', 'no JSON'],
      ['odd/main.js', ''],
    ] as const) {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      writeFileSync(join(root, path), text);
    }
    mkdirSync(join(root, 'bin'));
    symlinkSync(join(root, 'shop/dist/main.js'), join(root, 'bin/shop'));
  });
  afterAll(() => rmSync(root, { recursive: true }));

  it.each([
    ['stands above the main module', 'shop/dist/main.js', 'bin', '@acme/shop'],
    ['is found behind a link', 'bin/shop', 'odd', '@acme/shop'],
    [
      'is that of the working directory under a tool',
      'shop/node_modules/jest/bin/jest.js',
      'shop/dist',
      '@acme/shop',
    ],
    ['is not that of a tool', 'shop/node_modules/jest/bin/jest.js', 'odd', undefined],
    ['may be missing', 'odd/main.js', 'shop', undefined],
  ])('%s', (_, main, directory, name) => {
    expect(applicationName(join(root, main), join(root, directory))).toBe(name);
  });

  it('is that of the working directory without a main module', () => {
    expect(applicationName(undefined, join(root, 'shop'))).toBe('@acme/shop');
  });

  it('is what the option says, if that can be a name', () => {
    expect([ownerOf('crm'), ownerOf(false), ownerOf(undefined)]).toEqual(['crm', undefined, 'nestjs-bloom']);
    for (const option of ['', true, 7, 'x'.repeat(215), '\ud800'])
      expect(() => BloomModule.forRoot({ owner: option as string })).toThrow(
        /expected owner to be the name of an application/,
      );
  });
});

describe('Two applications on one Redis with one filter name', () => {
  let redis: RedisFixture;
  beforeAll(async () => {
    redis = await RedisFixture.start();
  });
  afterAll(() => redis.close());

  const start = (
    owner: string | false,
    feature: Partial<BloomFeature> = {},
    onEvent: (event: BloomEvent) => void = () => {},
  ) => {
    const source = {
      async *ids() {
        yield [`id of ${owner}`];
      },
    };
    const filter = { name: 'users', capacity: 1000, source, rebuild: { drainMs: 0 }, ...feature };
    const root = BloomModule.forRoot({
      redis: redis.server.url,
      ...PATIENT,
      owner,
      filters: [filter],
      onEvent,
    });
    return startContext({ imports: [root] });
  };

  it('is an error at start that says what to do, unless both are of one owner', async () => {
    const events: BloomEvent[] = [];
    const shop = await start('shop', {}, (event) => events.push(event));
    await eventually(
      'the shop has built it',
      async () => (await redis.client().hget('bloom:{users}:meta', 'state')) === 'ready',
    );
    expect(events.map(({ type }) => type)).not.toContain('filter-claimed');
    await expect(start('crm')).rejects.toThrow(BloomConfigError);
    await expect(start('crm')).rejects.toThrow(/belongs to the application 'shop', and this one is 'crm'/);
    for (const module of [await start('crm', { owner: 'shop' }), await start(false), await start('shop')]) {
      await module.close();
    }
    await shop.close();
  });

  it('is rebuilt once by the one that claims a filter of an older version', async () => {
    const admin = redis.client();
    const events: BloomEvent[] = [];
    const old = await start(false, { name: 'orders' });
    await eventually(
      'it is built',
      async () => (await admin.hget('bloom:{orders}:meta', 'state')) === 'ready',
    );
    await old.close();
    const shop = await start('shop', { name: 'orders' }, (event) => events.push(event));
    await eventually(
      'it is rebuilt',
      async () => (await admin.hget('bloom:{orders}:meta', 'builds')) === '2',
    );
    const filter = shop.get(BloomService).filter('orders');
    await eventually('the shop has seen its build', async () => (await filter.info()).state === 'ready');
    expect(await filter.checkMany(['id of shop', 'id of false'])).toEqual(['maybe', 'absent']);
    expect(events).toContainEqual({
      type: 'filter-claimed',
      filter: 'orders',
      owner: 'shop',
      key: 'bloom:{orders}:meta',
    });
    await shop.close();
    const again = await start('shop', { name: 'orders' });
    expect(await again.get(BloomService).filter('orders').check('id of shop')).toBe('maybe');
    await again.close();
    expect(await admin.hget('bloom:{orders}:meta', 'builds')).toBe('2');
  });

  it('denies nothing until a build has ended, also one of another process', async () => {
    const old = await start(false, { name: 'stock' });
    await eventually(
      'it is built',
      async () => (await redis.client().hget('bloom:{stock}:meta', 'state')) === 'ready',
    );
    await old.close();
    let hasFailed = false;
    const failing = {
      // oxlint-disable-next-line require-yield
      async *ids(): AsyncGenerator<string[]> {
        hasFailed = true;
        throw new Error('The database restarts.');
      },
    };
    const claims = await start('shop', { name: 'stock', source: failing });
    await eventually('a build has failed', async () => hasFailed);
    expect(await claims.get(BloomService).filter('stock').check('id of shop')).toBe('unknown');
    await claims.close();
    const shop = await start('shop', { name: 'stock' });
    const filter = shop.get(BloomService).filter('stock');
    expect(await filter.check('id of shop')).not.toBe('absent');
    await eventually('it is rebuilt', async () => (await filter.check('id of shop')) === 'maybe');
    await shop.close();
  });
});
