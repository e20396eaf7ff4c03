import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { type BloomEvent, type BloomFeature, BloomModule, BloomService } from 'nestjs-bloom';
import type { TestingModule } from '@nestjs/testing';
import { Redis } from 'ioredis';
import { FilterMonitor, OverfullPacer } from '../../src/module/filter-monitor.js';
import type { ManagedFilter } from '../../src/service/index.js';
import { eventually } from '../support/eventually.js';
import { startContext } from '../support/nest-app.js';
import { PATIENT } from '../support/patience.js';
import { type RedisServer, startRedis } from '../support/redis-server.js';

let server: RedisServer;
beforeAll(async () => void (server = await startRedis()));
afterAll(() => server.stop());

describe.each(['redis', 'memory'])('A filter in %s that creates which fail fill up', (kind) => {
  let module: TestingModule;
  let events: BloomEvent[];
  let scans: number;

  const idsOf = (prefix: string, count: number) => Array.from({ length: count }, (_, i) => `${prefix}-${i}`);
  const overfull = () => events.filter((event) => event.type === 'overfull');

  async function start(feature: Partial<BloomFeature> = {}): Promise<ManagedFilter> {
    events = [];
    scans = 0;
    const source = {
      async *ids() {
        scans++;
        yield idsOf('row', 100);
      },
    };
    module = await startContext({
      imports: [
        BloomModule.forRoot({
          ...(kind === 'redis' ? { redis: server.url, ...PATIENT } : {}),
          filters: [
            {
              name: `f${Math.random().toString(36).slice(2)}`,
              capacity: 1000,
              source,
              rebuild: { onBoot: 'never', drainMs: 1 },
              ...feature,
            },
          ],
          onEvent: (event) => events.push(event),
        }),
      ],
    });
    const [filter] = module.get(BloomService).filters() as ManagedFilter[];
    return filter!;
  }

  afterEach(() => module.close());

  it('tells it at once, at the capacity and at its multiples, and not with each add', async () => {
    const filter = await start();
    await filter.rebuild();
    const junk = idsOf('junk', 3000);
    await filter.addMany(junk.slice(0, 850));
    expect(overfull()).toEqual([]);
    for (const id of junk.slice(850, 1000)) await filter.add(id);
    await eventually('one event', () => overfull().length === 1);
    expect(overfull()[0]).toMatchObject({ filter: filter.name, capacity: 1000 });
    for (const id of junk.slice(1000, 1200)) await filter.add(id);
    expect(overfull()).toHaveLength(1);
    await filter.addMany(junk);
    await eventually('two events', () => overfull().length === 2);
    await filter.add('one more');
    expect(overfull()).toHaveLength(2);
  });

  it('tells the share that passes from the bits that are set', async () => {
    const filter = await start();
    await filter.rebuild();
    await filter.addMany(idsOf('junk', 10_000));
    const absent = await filter.checkMany(idsOf('absent', 4000));
    const observed = absent.filter((verdict) => verdict === 'maybe').length / absent.length;
    expect(observed).toBeGreaterThan(0.9);
    const { modelledErrorRate } = await filter.info();
    expect(Math.abs(modelledErrorRate! - observed)).toBeLessThan(0.03);
    await eventually('an event', () => overfull().length > 0);
  });

  it('is not rebuilt for ids that the source does not have, but after a pause', async () => {
    const filter = await start();
    await filter.rebuild();
    const watch = new FilterMonitor((event) => events.push(event));
    for (let round = 0; round < 5; round++) {
      await filter.addMany(idsOf(`junk${round}`, 2000));
      await watch.look(filter);
    }
    expect(scans).toBe(1);
    expect(overfull().length).toBeGreaterThan(0);
  });

  it('is rebuilt also where a process that died has left something in staging', async () => {
    const filter = await start();
    await filter.rebuild();
    await filter.addMany(idsOf('junk', 2000));
    const info = await filter.info();
    let rebuilds = 0;
    const left = {
      definition: filter.definition,
      lookAtLoad: async () => ({ ...info, builtAt: undefined, rebuilding: true }),
      rebuild: async () => void rebuilds++,
    };
    await new FilterMonitor((event) => events.push(event)).look(left as unknown as ManagedFilter);
    expect(rebuilds).toBe(1);
  });

  it('is rebuilt once in a pause, by however many processes, where its rebuilds fail', async () => {
    const source = {
      async *ids() {
        if (++scans > 1) throw new Error('The table is locked.');
        yield idsOf('row', 100);
      },
    };
    // The monitor of the module would act in the time that is made up below.
    const startOfModule = jest.spyOn(FilterMonitor.prototype, 'start').mockReturnValue();
    const filter = await start({ source });
    startOfModule.mockRestore();
    await filter.rebuild();
    await filter.addMany(idsOf('junk', 2000));
    await eventually('an event', () => overfull().length > 0);
    const later = jest.spyOn(Date, 'now').mockReturnValue(Date.now() + 20 * 60_000);
    try {
      for (let process = 0; process < 4; process++) {
        const watch = new FilterMonitor((event) => events.push(event));
        await watch.look(filter);
        expect(scans).toBe(1);
      }
      if (kind === 'memory') return;
      const admin = new Redis(server.url);
      await admin.hincrby(`bloom:{${filter.name}}:builds`, 'live', -20 * 60_000);
      for (let process = 0; process < 4; process++) {
        const watch = new FilterMonitor((event) => events.push(event));
        await watch.look(filter);
        await admin.hdel(`bloom:{${filter.name}}:builds`, 'due');
        expect(scans).toBe(2);
      }
      await admin.quit();
    } finally {
      later.mockRestore();
    }
  });

  it('is looked at again when an event comes while the one before is acted on', async () => {
    const filter = await start();
    await filter.rebuild();
    const info = await filter.info();
    const found: (() => void)[] = [];
    const held = {
      name: filter.name,
      definition: filter.definition,
      info: () => new Promise((resolve) => found.push(() => resolve(info))),
      rebuild: async () => {},
      advise: async () => [],
      advice: { withdraw() {} },
    } as unknown as ManagedFilter;
    let tell: (event: BloomEvent) => void = () => {};
    const monitor = new FilterMonitor(
      () => {},
      (listener) => (tell = listener),
    );
    monitor.start([held]);
    const event = { type: 'overfull', filter: filter.name, count: 2000, capacity: 1000 } as BloomEvent;
    for (let i = 0; i < 3; i++) tell(event);
    expect(found).toHaveLength(1);
    found[0]!();
    await eventually('it is looked at again', () => found.length === 2);
    found[1]!();
    tell(event);
    monitor.stop();
    await new Promise((resolve) => setImmediate(resolve));
    expect(found).toHaveLength(2);
  });

  it('is rebuilt at once where the source has more ids than planned', async () => {
    const rows = idsOf('row', 100);
    let counts = 0;
    const source = {
      count: async () => (counts++, rows.length),
      async *ids() {
        yield rows;
      },
    };
    const filter = await start({ source });
    await filter.rebuild();
    // Less than twice the capacity, where it would be counted once more.
    await filter.addMany(idsOf('junk', 1500));
    await eventually('the source is counted', () => counts === 2);
    rows.push(...idsOf('new', 5000));
    await filter.addMany(idsOf('new', 5000));
    await eventually('a larger filter', async () => (await filter.info()).capacity > 5000);
    expect((await filter.info()).modelledErrorRate).toBeLessThan(0.0013);
  });
});

describe('The pace of rebuilds of an overfull filter', () => {
  const MINUTE_MS = 60_000;

  it('is ten minutes after a build, and twice as long each time that the next one is soon full again', () => {
    const pacer = new OverfullPacer();
    let builtAt = 1_000_000_000_000;
    for (const pauseMs of [10, 20, 40, 80].map((minutes) => minutes * MINUTE_MS)) {
      expect(pacer.isDue(builtAt, builtAt + pauseMs - 1)).toBe(false);
      expect(pacer.isDue(builtAt, builtAt + pauseMs)).toBe(true);
      builtAt += pauseMs;
    }
    for (let i = 0; i < 20; i++) pacer.isDue((builtAt += 60 * MINUTE_MS), builtAt);
    expect(pacer.isDue(builtAt, builtAt + 24 * 60 * MINUTE_MS)).toBe(true);
  });

  it('is not held up by a build that lies in the future', () => {
    expect(new OverfullPacer().isDue(2_000_000, 1_000_000)).toBe(true);
  });

  it('is ten minutes again when it was calm for long', () => {
    const pacer = new OverfullPacer();
    pacer.isDue(0, 0);
    pacer.isDue(10 * MINUTE_MS, 10 * MINUTE_MS);
    const later = 100 * MINUTE_MS;
    expect(pacer.isDue(later, later + 10 * MINUTE_MS)).toBe(true);
    expect(pacer.isDue(later, later + 10 * MINUTE_MS - 1)).toBe(false);
  });

  it('asks the source for each generation once, and at each power of two of the capacity', () => {
    const pacer = new OverfullPacer();
    pacer.isDue(0, 0);
    const found = [1.1, 1.5, 1.9, 2.1, 3.9, 4, 5, 70];
    expect(found.filter((times) => pacer.mayAskSource(times))).toEqual([1.1, 2.1, 4, 70]);
    pacer.isDue(1, 1);
    expect(pacer.mayAskSource(1.1)).toBe(true);
  });
});
