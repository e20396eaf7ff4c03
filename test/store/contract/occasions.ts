import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { StoredFilter, BuildOccasion, BuildOutcome, RebuildLease } from '../../../src/store/index.js';
import { LEASE_MS } from '../../support/built-filter.js';

const SCHEDULED: BuildOccasion = { kind: 'scheduled', withinMs: 60_000 };
const RECOVERY: BuildOccasion = { kind: 'recovery' };
const MANUAL: BuildOccasion = { kind: 'manual' };

/** Which builds are due, as the processes share it. */
export function describeOccasions(open: () => Promise<StoredFilter>): void {
  describe('a build', () => {
    let filter: StoredFilter;
    beforeEach(async () => {
      filter = await open();
    });
    afterEach(() => filter.close());

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
      if (typeof lease === 'number') throw new Error(`Not due for ${lease} ms.`);
      await lease.release(outcome);
    }

    it.each<BuildOutcome>([{ kind: 'published' }, { kind: 'failed' }])(
      'that a schedule asked for is enough for the time that it names ($kind)',
      async (outcome) => {
        await make(SCHEDULED, outcome);
        const dueInMs = await ask(SCHEDULED);
        expect(dueInMs).toBeGreaterThan(30_000);
        expect(dueInMs).toBeLessThanOrEqual(60_000);
        await make({ kind: 'scheduled', withinMs: 0 });
        await make(MANUAL);
      },
    );

    it('that went live is enough for a schedule, whatever asked for it, and one that failed is not', async () => {
      await make(MANUAL, { kind: 'failed' });
      await make(SCHEDULED);
      await make(MANUAL, { kind: 'published' });
      expect(await ask(SCHEDULED)).toBeGreaterThan(30_000);
    });

    it('that did not take place counts for nothing', async () => {
      await make(SCHEDULED);
      await make(SCHEDULED);
      await make(RECOVERY);
      await make(RECOVERY);
    });

    it('that failed is followed by a pause, which doubles, for all but those that somebody asks for', async () => {
      const failAgain = async (times: number) => {
        for (let i = 0; i < times; i++) await make(MANUAL, { kind: 'failed' });
      };
      await make(RECOVERY, { kind: 'failed' });
      expect(await pauseBefore(RECOVERY)).toBeLessThanOrEqual(1200);
      // One, two, four, eight and sixteen seconds, of which some have passed on a machine that is busy.
      await failAgain(4);
      const fifth = await pauseBefore(RECOVERY);
      expect(fifth).toBeGreaterThan(5000);
      expect(fifth).toBeLessThanOrEqual(19_200);
      await failAgain(1);
      expect(await pauseBefore(RECOVERY)).toBeGreaterThan(19_200);
      await failAgain(7);
      expect(await pauseBefore(RECOVERY)).toBeLessThanOrEqual(72_000);
      await make(MANUAL, { kind: 'published' });
      await make(RECOVERY, { kind: 'failed' });
      expect(await pauseBefore(RECOVERY)).toBeLessThanOrEqual(1200);
    });

    it('that failed may name a longer pause', async () => {
      await make(RECOVERY, { kind: 'failed', retryAfterMs: 300_000 });
      expect(await ask(RECOVERY)).toBeGreaterThan(200_000);
      await make(MANUAL, { kind: 'published' });
      await make(RECOVERY);
    });
  });
}
