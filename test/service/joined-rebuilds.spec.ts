import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import {
  type BloomEvent,
  type BloomRebuildProgress,
  BloomUnavailableError,
  systemClock,
} from '../../src/common/index.js';
import { defineFilter, ManagedFilter } from '../../src/service/index.js';
import { MemoryStore } from '../../src/store/memory/index.js';

let events: BloomEvent[];
let reads: { release(): void; fail(): void }[];
let wake: (() => void)[];
let filter: ManagedFilter;

beforeEach(() => {
  events = [];
  reads = [];
  wake = [];
  const definition = defineFilter({
    name: 'products',
    capacity: 1000,
    errorRate: 1e-6,
    source: {
      async *ids() {
        yield ['a', 'b', 'b'];
        await new Promise<void>((release, fail) => {
          reads.push({ release, fail: () => fail(new Error('no database')) });
          for (const go of wake.splice(0)) go();
        });
      },
    },
  });
  const emit = (event: BloomEvent) => void events.push(event);
  filter = new ManagedFilter(definition, { store: new MemoryStore(), emit, clock: systemClock });
});

afterEach(async () => {
  for (const { release } of reads) release();
  await filter.close();
});

/** When the source is read for this time. */
async function reading(times: number): Promise<void> {
  while (reads.length < times) await new Promise<void>((go) => wake.push(go));
}

const atStart = () => filter.rebuild({ occasion: { kind: 'recovery' } });

describe('a rebuild while this process builds', () => {
  it('joins the run: one report for all, and the source is read once', async () => {
    const first = atStart();
    await reading(1);
    const joined = [filter.rebuild(), filter.rebuild({ join: true })];
    reads[0]!.release();
    const report = await first;
    expect(report).toMatchObject({ outcome: 'published', ids: 3, distinctIds: 2, idsRead: 3 });
    for (const one of joined) expect(await one).toBe(report);
    expect(reads).toHaveLength(1);
    expect(events.map(({ type }) => type)).not.toContain('rebuild-skipped');
  });

  it('fails as the run does', async () => {
    const first = atStart();
    await reading(1);
    const joined = filter.rebuild();
    reads[0]!.fail();
    await expect(first).rejects.toMatchObject({ reason: 'source-failed' });
    await expect(joined).rejects.toMatchObject({ reason: 'source-failed' });
  });

  it('stops waiting by its own signal, and by an error of its own onProgress; the run goes on', async () => {
    const first = atStart();
    await reading(1);
    const stopped = new AbortController();
    const phases: BloomRebuildProgress['phase'][] = [];
    const impatient = filter.rebuild({ signal: stopped.signal });
    const failing = filter.rebuild({
      onProgress: () => {
        throw new Error('cannot draw');
      },
    });
    const watching = filter.rebuild({ onProgress: ({ phase }) => phases.push(phase) });
    stopped.abort(new Error('enough'));
    await expect(impatient).rejects.toMatchObject({ code: 'BLOOM_REBUILD', reason: 'aborted' });
    await expect(filter.rebuild({ signal: stopped.signal })).rejects.toMatchObject({ reason: 'aborted' });
    reads[0]!.release();
    await expect(failing).rejects.toThrow('cannot draw');
    expect((await first).outcome).toBe('published');
    await watching;
    expect(phases).toEqual(expect.arrayContaining(['merging', 'swapping']));
  });

  it.each([{ join: false }, { force: true }])(
    'runs after it with %p, once for all who ask',
    async (options) => {
      const first = atStart();
      await reading(1);
      const others = [filter.rebuild(options), filter.rebuild(options)];
      reads[0]!.release();
      const report = await first;
      await reading(2);
      reads[1]!.release();
      const [second, third] = await Promise.all(others);
      expect(second).not.toBe(report);
      expect(third).toBe(second);
      expect(reads).toHaveLength(2);
    },
  );

  it('runs itself when the run ends without a generation', async () => {
    const skipped = filter.rebuild({ occasion: { kind: 'recovery' }, unless: () => 'Not now.' });
    const joined = filter.rebuild();
    expect(await skipped).toEqual({ outcome: 'skipped', reason: 'Not now.' });
    await reading(1);
    reads[0]!.release();
    expect((await joined).outcome).toBe('published');
  });
});

describe('an add', () => {
  it('rejects with BloomUnavailableError also where the filter could not be made', async () => {
    const store = new MemoryStore();
    const open = store.open.bind(store);
    store.open = (options) => {
      const inStore = open(options);
      inStore.lease = async () => {
        throw new Error('no connection');
      };
      return inStore;
    };
    const definition = defineFilter({ name: 'seen', capacity: 10, create: 'first-start' });
    const unmade = new ManagedFilter(definition, { store, emit: () => {}, clock: systemClock });
    const added = unmade.add('a');
    await expect(added).rejects.toBeInstanceOf(BloomUnavailableError);
    await expect(added).rejects.toThrow(/Filter 'seen' is not there, and could not be made.* no connection/);
    await unmade.close();
  });
});
