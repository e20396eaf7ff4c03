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
        expect(dueInMs).toBeGreaterThan(50_000);
        expect(dueInMs).toBeLessThanOrEqual(60_000);
        await make({ kind: 'scheduled', withinMs: 0 });
        await make(MANUAL);
      },
    );

    it('that went live is enough for a schedule, whatever asked for it, and one that failed is not', async () => {
      await make(MANUAL, { kind: 'failed' });
      await make(SCHEDULED);
      await make(MANUAL, { kind: 'published' });
      expect(await ask(SCHEDULED)).toBeGreaterThan(50_000);
    });

    it('that did not take place counts for nothing', async () => {
      await make(SCHEDULED);
      await make(SCHEDULED);
      await make(RECOVERY);
      await make(RECOVERY);
    });

    it('that failed is followed by a pause, which doubles, for all but those that somebody asks for', async () => {
      await make(RECOVERY, { kind: 'failed' });
      const first = await ask(RECOVERY);
      expect(first).toBeGreaterThan(400);
      expect(first).toBeLessThanOrEqual(1200);
      for (let i = 0; i < 3; i++) await make(MANUAL, { kind: 'failed' });
      expect(await ask(RECOVERY)).toBeGreaterThan(5000);
      for (let i = 0; i < 9; i++) await make(MANUAL, { kind: 'failed' });
      expect(await ask(RECOVERY)).toBeLessThanOrEqual(72_000);
      await make(MANUAL, { kind: 'published' });
      await make(RECOVERY, { kind: 'failed' });
      expect(await ask(RECOVERY)).toBeLessThanOrEqual(1200);
    });

    it('that failed may name a longer pause', async () => {
      await make(RECOVERY, { kind: 'failed', retryAfterMs: 300_000 });
      expect(await ask(RECOVERY)).toBeGreaterThan(290_000);
      await make(MANUAL, { kind: 'published' });
      await make(RECOVERY);
    });
  });
}
