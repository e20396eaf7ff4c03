import { afterEach, describe, expect, it } from '@jest/globals';
import { type BloomEvent, type BloomFeature, BloomModule, BloomService } from 'nestjs-bloom';
import type { TestingModule } from '@nestjs/testing';
import { FilterMonitor } from '../../src/module/filter-monitor.js';
import type { ManagedFilter } from '../../src/service/index.js';
import { eventually } from '../support/eventually.js';
import { startContext } from '../support/nest-app.js';

describe('The watch over filters', () => {
  const rows: string[] = [];
  let module: TestingModule;
  let events: BloomEvent[];

  async function start(feature: Partial<BloomFeature>) {
    events = [];
    rows.splice(0, Infinity, ...idsOf('row', 100));
    module = await startContext({
      imports: [
        BloomModule.forRoot({ onEvent: (event) => events.push(event) }),
        BloomModule.forFeature([{ name: 'products', capacity: 1000, create: 'first-start', ...feature }]),
      ],
    });
    const filter = module.get(BloomService).filter('products') as ManagedFilter;
    return { filter, watch: new FilterMonitor((event) => events.push(event)) };
  }

  const source = {
    count: async () => rows.length,
    async *ids() {
      yield rows;
    },
  };

  afterEach(() => module.close());

  it('lets a filter alone that is within its plan', async () => {
    const { filter, watch } = await start({ source, rebuild: { onBoot: 'never', drainMs: 1 } });
    await filter.rebuild();
    await watch.look(filter);
    expect((await filter.info()).builds).toBe(1);
  });

  it('has a filter rebuilt that holds more ids than planned, for more of them, and says so', async () => {
    const { filter, watch } = await start({ source, rebuild: { onBoot: 'never', drainMs: 1 } });
    await filter.rebuild();
    const added = idsOf('added', 2000);
    rows.push(...added);
    await filter.addMany(added);
    await watch.look(filter);
    await eventually('the filter is rebuilt', async () => (await filter.info()).builds === 2);
    const overfull = events.find(({ type }) => type === 'overfull');
    expect(overfull).toMatchObject({ filter: 'products', capacity: 1000 });
    expect(overfull).toHaveProperty('count', expect.any(Number));
    const { builds, capacity, modelledErrorRate } = await filter.info();
    expect(builds).toBe(2);
    expect(capacity).toBeGreaterThanOrEqual(2100);
    expect(modelledErrorRate).toBeLessThan(0.0013);
  });

  it('advises an application in which no name is found to set an owner, unless it asked for none', async () => {
    const adviceFor = async (feature: Partial<BloomFeature>, hasOwner: boolean) => {
      await module?.close();
      const { filter } = await start(feature);
      const texts: string[] = [];
      const monitor = new FilterMonitor(
        (event) => event.type === 'advice' && texts.push(event.text),
        undefined,
        { hasOwner },
      );
      monitor.start([filter]);
      await new Promise(setImmediate);
      monitor.stop();
      return texts.filter((text) => /Set owner in BloomModule/.test(text)).length;
    };
    expect(await adviceFor({ source }, false)).toBe(1);
    expect(await adviceFor({ source }, true)).toBe(0);
    expect(await adviceFor({ source, owner: false }, false)).toBe(0);
    expect(await adviceFor({}, false)).toBe(0);
  });

  it('only reports a filter without a source', async () => {
    const { filter, watch } = await start({});
    await filter.addMany(idsOf('added', 2000));
    await watch.look(filter);
    expect(events.map(({ type }) => type)).toContain('overfull');
    expect((await filter.info()).builds).toBe(1);
  });

  it('denies nothing where the source was forgotten, and says so once at the start', async () => {
    const { filter, watch } = await start({ create: undefined } as object);
    const advice = () =>
      events
        .flatMap((event) => (event.type === 'advice' ? [event.text] : []))
        .filter((text) => /no source/.test(text));
    await eventually('the advice', () => advice().length > 0);
    expect(advice()).toEqual([
      expect.stringMatching(
        /^BLOOM_NOT_CREATED: Filter 'products' has no source and was never created: .* give it a source\. .* call reset\(\) once, or set create: 'first-start'/,
      ),
    ]);
    expect(new Set(await filter.checkMany(rows))).toEqual(new Set(['unknown']));
    await expect(filter.add('mug')).rejects.toThrow(/was not recorded.*Create it with reset\(\), once/);
    await filter.reset();
    expect(await watch.adviceOn(filter)).toEqual([]);
    expect(await filter.add('mug')).toBe(true);
    expect(await filter.check('cup')).toBe('absent');
  });

  it('advises at the start against a drain of 0', async () => {
    await start({ source, rebuild: { drainMs: 0 } });
    await new Promise(setImmediate);
    expect(events).toContainEqual(
      expect.objectContaining({ type: 'advice', text: expect.stringContaining('drainMs is 0') }),
    );
  });
});

function idsOf(prefix: string, count: number): string[] {
  return Array.from({ length: count }, (_, i) => `${prefix}-${i}`);
}
