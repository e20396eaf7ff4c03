import type { BloomEvent } from '../../src/common/index.js';
import type { StoredFilter } from '../../src/store/index.js';
import { LocalCopyStore } from '../../src/store/local-copy/index.js';
import { idsOf } from './built-filter.js';
import { CopyableOriginal, settled } from './copyable-original.js';
import { openOptions } from './open-options.js';
import { ScriptedLeases } from './scripted-leases.js';

const IDS = idsOf('id', 200);
export const LEASE_MS = 1000;
/** What a reader believes of it. */
export const BELIEVED_MS = 750;

/** A filter that is read with leases, whose store and whose clocks do what a test says. */
export class LeasedCopy {
  readonly skew = { now: 0, wall: 0 };
  readonly events: BloomEvent[] = [];
  readonly original = new CopyableOriginal();
  readonly leases: ScriptedLeases;
  readonly filter: StoredFilter;

  constructor() {
    const { original, skew } = this;
    original.readsWhenAsked = true;
    original.swap(IDS);
    this.leases = new ScriptedLeases(original);
    original.leases = this.leases;
    const clock = {
      now: () => performance.now() + skew.now,
      wall: () => Date.now() + skew.wall,
      sleep: () => Promise.reject(new Error('not slept here')),
    };
    const emit = (event: BloomEvent) => void this.events.push(event);
    this.filter = new LocalCopyStore(original).open(
      openOptions({ emit, clock, replica: 'leased', leaseMs: LEASE_MS }),
    );
  }

  async load(): Promise<void> {
    const { original } = this;
    await this.filter.describe();
    await settled();
    await original.answerAll();
    original.asked.length = 0;
  }

  get lease() {
    return this.filter.copyLease;
  }

  get types() {
    return this.events.map(({ type }) => type);
  }
}
