import { casesOf, type OpenFilter, type StoreContractCase } from './contract-case.js';
import { expect } from './expect.js';
import type { StoredFilter, BuildOccasion, BuildOutcome, RebuildLease } from '../../store/index.js';
import { buildNotDue } from '../testing.messages.js';
import { LEASE_MS } from './built-filter.js';

const SCHEDULED: BuildOccasion = { kind: 'scheduled', withinMs: 60_000 };
const RECOVERY: BuildOccasion = { kind: 'recovery' };
const MANUAL: BuildOccasion = { kind: 'manual' };
const OUTCOMES: readonly BuildOutcome[] = [{ kind: 'published' }, { kind: 'failed' }];

/** Which builds are due, as the processes share it. */
export function occasions(open: OpenFilter): StoreContractCase[] {
  return casesOf('a build', open, (it) => {
    for (const outcome of OUTCOMES) {
      it(`that a schedule asked for is enough for the time that it names (${outcome.kind})`, async (filter) => {
        const { ask, make } = buildsOf(filter);
        await make(SCHEDULED, outcome);
        const dueInMs = await ask(SCHEDULED);
        expect(dueInMs).toBeGreaterThan(30_000);
        expect(dueInMs).toBeLessThanOrEqual(60_000);
        await make({ kind: 'scheduled', withinMs: 0 });
        await make(MANUAL);
      });
    }

    it('that went live is enough for a schedule, whatever asked for it, and one that failed is not', async (filter) => {
      const builds = buildsOf(filter);
      await builds.make(MANUAL, { kind: 'failed' });
      await builds.make(SCHEDULED);
      await builds.make(MANUAL, { kind: 'published' });
      expect(await builds.ask(SCHEDULED)).toBeGreaterThan(30_000);
    });

    it('that did not take place counts for nothing', async (filter) => {
      const builds = buildsOf(filter);
      await builds.make(SCHEDULED);
      await builds.make(SCHEDULED);
      await builds.make(RECOVERY);
      await builds.make(RECOVERY);
    });

    it('that failed is followed by a pause, which doubles, for all but those that somebody asks for', async (filter) => {
      const builds = buildsOf(filter);
      const failAgain = async (times: number) => {
        for (let i = 0; i < times; i++) await builds.make(MANUAL, { kind: 'failed' });
      };
      await builds.make(RECOVERY, { kind: 'failed' });
      expect(await builds.pauseBefore(RECOVERY)).toBeLessThanOrEqual(1200);
      // One, two, four, eight and sixteen seconds, of which some have passed on a machine that is busy.
      await failAgain(4);
      const fifth = await builds.pauseBefore(RECOVERY);
      expect(fifth).toBeGreaterThan(5000);
      expect(fifth).toBeLessThanOrEqual(19_200);
      await failAgain(1);
      expect(await builds.pauseBefore(RECOVERY)).toBeGreaterThan(19_200);
      await failAgain(7);
      expect(await builds.pauseBefore(RECOVERY)).toBeLessThanOrEqual(72_000);
      await builds.make(MANUAL, { kind: 'published' });
      await builds.make(RECOVERY, { kind: 'failed' });
      expect(await builds.pauseBefore(RECOVERY)).toBeLessThanOrEqual(1200);
    });

    it('that failed may name a longer pause', async (filter) => {
      const builds = buildsOf(filter);
      await builds.make(RECOVERY, { kind: 'failed', retryAfterMs: 300_000 });
      expect(await builds.ask(RECOVERY)).toBeGreaterThan(200_000);
      await builds.make(MANUAL, { kind: 'published' });
      await builds.make(RECOVERY);
    });
  });
}

/** Asks for builds of a filter. */
function buildsOf(filter: StoredFilter) {
  /** The lease, or the time until a build is due. */
  async function ask(occasion: BuildOccasion): Promise<RebuildLease | number> {
    let dueInMs = 0;
    const lease = await filter.lease({ leaseMs: LEASE_MS, occasion, onNotDue: (ms) => (dueInMs = ms) });
    return lease ?? dueInMs;
  }

  /** None when it is due. */
  async function pauseBefore(occasion: BuildOccasion): Promise<number> {
    const asked = await ask(occasion);
    if (typeof asked === 'number') return asked;
    await asked.release();
    return 0;
  }

  async function make(occasion: BuildOccasion, outcome?: BuildOutcome): Promise<void> {
    const lease = await ask(occasion);
    if (typeof lease === 'number') throw new Error(buildNotDue(lease));
    await lease.release(outcome);
  }

  return { ask, pauseBefore, make };
}
