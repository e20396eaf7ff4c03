import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import type { TestingModule } from '@nestjs/testing';
import {
  type BloomEvent,
  type BloomFeature,
  type BloomIdsContext,
  BloomModule,
  BloomService,
} from 'nestjs-bloom';
import { eventually } from '../support/eventually.js';
import { startContext } from '../support/nest-app.js';

let module: TestingModule;
let events: BloomEvent[];
let bloom: BloomService;
/** The source waits for this. */
let gate: Promise<void>;
let open: () => void;

async function start(feature: Partial<BloomFeature> = {}) {
  events = [];
  gate = Promise.resolve();
  const source = {
    async *ids({ signal }: BloomIdsContext) {
      yield ['a', 'b'];
      await Promise.race([
        gate,
        new Promise((_, reject) => (signal.onabort = () => reject(signal.reason as Error))),
      ]);
      yield ['c'];
    },
  };
  const filter = {
    name: 'products',
    capacity: 100,
    source,
    rebuild: { onBoot: 'never', drainMs: 0 },
    ...feature,
  };
  module = await startContext({
    imports: [
      BloomModule.forRoot({ filters: [filter as BloomFeature], onEvent: (event) => events.push(event) }),
    ],
  });
  bloom = module.get(BloomService);
  return bloom.filter('products');
}

beforeEach(async () => void (await start()));
afterEach(() => module.close());

const changes = () => events.filter((event) => event.type === 'mode-changed');

it('knows the only process of a filter in memory, and its rebuilds', async () => {
  const before = Date.now();
  await bloom.filter('products').rebuild();
  const { instances, rebuilds, running, mode } = await bloom.instances('products');
  expect(instances).toEqual([
    expect.objectContaining({
      id: expect.stringMatching(/^[\da-f]{16}$/),
      pid: process.pid,
      metrics: expect.objectContaining({ filter: 'products', mode: 'on' }),
    }),
  ]);
  expect(instances[0]!.seenAt.getTime()).toBeGreaterThanOrEqual(before);
  expect(rebuilds).toEqual([
    expect.objectContaining({ outcome: 'published', ids: 3, distinctIds: 3, pid: process.pid }),
  ]);
  expect(rebuilds[0]!.startedAt.getTime()).toBeGreaterThanOrEqual(before);
  expect(rebuilds[0]!.phases.map(({ phase }) => phase)).toEqual([
    'staging',
    'draining',
    'scanning',
    'merging',
    'verifying',
    'swapping',
  ]);
  expect([running, mode]).toEqual([undefined, undefined]);
});

it('shows the running rebuild, and stops it', async () => {
  gate = new Promise((resolve) => (open = resolve));
  const run = bloom.filter('products').rebuild();
  const ended = expect(run).rejects.toMatchObject({ reason: 'aborted', retryAfterMs: 300_000 });
  await eventually('it is seen', async () => (await bloom.instances('products')).running !== undefined);
  await eventually(
    'it scans',
    async () => (await bloom.instances('products')).running?.progress?.phase === 'scanning',
  );
  expect(await bloom.stopRebuild('products', { by: 'Ana' })).toBe(true);
  await ended;
  open();
  const { rebuilds, running } = await bloom.instances('products');
  expect(running).toBeUndefined();
  expect(rebuilds).toEqual([
    expect.objectContaining({
      outcome: 'stopped',
      reason: expect.stringContaining('It was stopped by Ana.'),
    }),
  ]);
  expect(await bloom.stopRebuild('products', { by: 'Ana' })).toBe(false);
});

it('keeps the last 50 rebuilds, the latest first, and none that was skipped', async () => {
  const filter = bloom.filter('products');
  for (let run = 0; run < 52; run++) await filter.rebuild();
  const controller = new AbortController();
  controller.abort(new Error('not now'));
  await filter.rebuild({ signal: controller.signal }).catch(() => {});
  const { rebuilds } = await bloom.instances('products');
  expect(rebuilds.length).toBe(50);
  const times = rebuilds.map(({ startedAt }) => startedAt.getTime());
  expect(times).toEqual([...times].sort((one, other) => other - one));
});

it('keeps ids out of what it says of a failure', async () => {
  await module.close();
  const failing = async function* () {
    yield ['a'];
    throw new Error('Failed query: select sku where sku > $1\nparams: sku-4711');
  };
  const filter = await start({ source: { ids: failing } });
  await filter.rebuild().catch(() => {});
  await module.close();
  const [byQuery] = (await bloom.instances('products')).rebuilds;
  expect(byQuery!.reason).toBe('Failed query: select sku where sku > $1');
  const bad = async function* () {
    yield ['sku-4711'.repeat(1000)];
  };
  await (await start({ source: { ids: bad } })).rebuild().catch(() => {});
  const [byId] = (await bloom.instances('products')).rebuilds;
  expect(byId!.outcome).toBe('failed');
  expect(byId!.reason).not.toContain('4711');
});

it('sets a mode, which a later change of the process itself takes the place of, and withdraws it', async () => {
  const { guarding } = bloom.filter('products');
  await bloom.setMode('products', 'off', { by: 'Ana' });
  expect(guarding.mode).toBe('off');
  expect((await bloom.instances('products')).mode).toMatchObject({ mode: 'off', by: 'Ana' });
  guarding.mode = 'shadow';
  await bloom.instances('products');
  expect(guarding.mode).toBe('shadow');
  await bloom.setMode('products', 'on', { by: 'Ben' });
  expect(guarding.mode).toBe('on');
  await bloom.setMode('products', null, { by: 'Ben' });
  expect(guarding.mode).toBe('shadow');
  expect((await bloom.instances('products')).mode).toBeUndefined();
  expect(changes()).toEqual([
    expect.objectContaining({ mode: 'off', by: 'Ana', at: expect.any(Date) }),
    expect.objectContaining({ mode: 'on', by: 'Ben' }),
    expect.objectContaining({ mode: 'shadow', by: 'Ben', withdrawn: true }),
  ]);
});

it('refuses a mode that there is not, a name that is none, and a filter that is not registered', async () => {
  await expect(bloom.setMode('products', 'of' as 'off', { by: 'Ana' })).rejects.toThrow(/got 'of'/);
  await expect(bloom.setMode('products', undefined!, { by: 'Ana' })).rejects.toThrow(
    /null, which withdraws it/,
  );
  await expect(bloom.setMode('products', 'off', { by: ' ' })).rejects.toThrow(/1 to 200 characters/);
  await expect(bloom.setMode('products', 'off', undefined!)).rejects.toThrow(/1 to 200 characters/);
  await expect(bloom.stopRebuild('products', { by: 'x'.repeat(201) })).rejects.toThrow(/1 to 200/);
  await expect(bloom.setMode('product', 'off', { by: 'Ana' })).rejects.toThrow(/Did you mean 'products'/);
  expect(bloom.filter('products').guarding.mode).toBe('on');
  await delay(0);
  expect(changes()).toEqual([]);
});
