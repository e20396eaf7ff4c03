import { afterEach, describe, expect, it, jest } from '@jest/globals';
import type { CoveredIds, StoredFilter } from '../../../src/store/index.js';
import { LocalCopyStore } from '../../../src/store/local-copy/index.js';
import { COPY_RULES, type CopyRule, copyStoreWithout, isCoveredRule } from '../../support/broken-copies.js';
import { idsOf } from '../../support/built-filter.js';
import { CopyableOriginal, settled } from '../../support/copyable-original.js';
import { openOptions } from '../../support/open-options.js';
import { ScriptedLeases } from '../../support/scripted-leases.js';

const LEASE_MS = 1000;
/** Capacity of a filter whose blocks are one piece of a load. */
const CAPACITY = 10_000;

/** One reader, and what others do. */
class Reader {
  readonly original = new CopyableOriginal();
  readonly leases = new ScriptedLeases(this.original);
  readonly filter: StoredFilter;
  /** What is covered, as this process has heard. */
  covered: CoveredIds | undefined;
  private readonly skew = { now: 0, wall: 0 };

  constructor(Store: typeof LocalCopyStore, isCovered: boolean) {
    const { original, leases } = this;
    original.readsWhenAsked = true;
    original.swap(idsOf('id', 200), CAPACITY);
    if (!isCovered) original.leases = leases;
    const now = () => performance.now() + this.skew.now;
    const wall = () => performance.now() + this.skew.wall;
    const clock = { now, wall, sleep: () => Promise.reject(new Error('not slept here')) };
    const kind = isCovered
      ? { covers: () => this.covered }
      : { replica: 'leased' as const, leaseMs: LEASE_MS };
    this.filter = new Store(original).open(openOptions({ clock, ...kind }));
  }

  /** The process hears of a mark after all ids: those of a live generation are in the original. */
  hear(): void {
    this.covered = { era: { isOver: false }, holds: () => true };
  }

  async load(): Promise<void> {
    await this.filter.describe();
    await settled();
    await this.original.answerAll();
  }

  /**
   * It is stopped for so long that its lease is over, and goes on. A clock that is left out stood still, or
   * was set back.
   */
  stop(clocks: readonly ('now' | 'wall')[] = ['now', 'wall']): void {
    for (const clock of clocks) this.skew[clock] += 10 * LEASE_MS;
  }

  /** A rebuild has read these ids. */
  async announce(ids: readonly string[]): Promise<void> {
    this.original.stage(ids, CAPACITY);
    this.leases.isAnnounced = true;
    await this.renew();
  }

  renew(): Promise<void> {
    return jest.advanceTimersByTimeAsync(LEASE_MS / 4);
  }
}

/** After each of them, an add of `late` is acknowledged, or the generation that has it is live. */
const PROMISES: Record<CopyRule, (reader: Reader) => Promise<void>> = {
  async 'number-before-load'({ filter, original, leases }) {
    await filter.describe();
    await settled();
    // The only piece has been read.
    leases.add('late');
    leases.deliver();
    await original.answerAll();
    await settled();
  },
  async 'one-server'({ filter, original, leases }) {
    const { bytes } = original.live!;
    const older = bytes.slice();
    original.readsWhenAsked = false;
    leases.add('late');
    leases.deliver();
    await filter.describe();
    await settled();
    // Another server answers from here on, which lacks what was added last.
    leases.server = 'server-2';
    bytes.set(older);
    await original.answerAll();
    await settled();
  },
  async 'renew-applied'(reader) {
    await reader.load();
    reader.stop();
    // The add has waited for a whole lease.
    reader.leases.add('late');
    await reader.renew();
  },
  async 'ack-applied'({ leases, ...reader }) {
    await reader.filter.describe();
    await settled();
    await reader.original.answerAll();
    leases.add('late');
    await jest.advanceTimersByTimeAsync(LEASE_MS / 4);
    const isPromised = leases.acknowledged.some(({ applied }) => applied === leases.number);
    // Whoever adds still waits.
    if (!isPromised) leases.deliver();
  },
  async 'gap-seen'(reader) {
    await reader.load();
    reader.leases.add('late');
    reader.leases.undelivered = [];
    reader.leases.add('another');
    reader.leases.deliver();
  },
  async 'message-follows'(reader) {
    await reader.load();
    reader.leases.add('late');
    const [missing] = reader.leases.undelivered;
    reader.leases.undelivered = [];
    reader.leases.add('another');
    reader.leases.deliver({ asMessages: true });
    // What is missing is read from the stream.
    reader.leases.undelivered = [missing!];
    reader.leases.deliver();
  },
  async 'tag-in-entry'(reader) {
    await reader.load();
    reader.leases.swap(['late']);
    reader.leases.deliver();
  },
  async 'feed-identity'(reader) {
    await reader.load();
    reader.leases.add('late');
    reader.leases.undelivered = [];
    reader.leases.list = 'list-2';
    reader.leases.number = 0;
    await reader.renew();
  },
  async 'lease-ends'(reader) {
    await reader.load();
    reader.stop();
    reader.leases.add('late');
  },
  async 'before-asking'(reader) {
    await reader.load();
    reader.leases.isHeldBack = true;
    await reader.renew();
    reader.stop();
    reader.leases.add('late');
    reader.leases.answer();
    await settled();
  },
  async 'wall-clock'(reader) {
    await reader.load();
    reader.stop(['wall']);
    reader.leases.add('late');
  },
  async 'monotonic-clock'(reader) {
    await reader.load();
    reader.stop(['now']);
    reader.leases.add('late');
  },
  async 'own-copy'(reader) {
    await reader.load();
    await reader.filter.add(['late']);
  },
  async 'next-whole'(reader) {
    await reader.load();
    await reader.announce(['late']);
    // No piece has been answered.
    reader.leases.goLive();
    reader.leases.deliver();
  },
  async 'next-of-swap'(reader) {
    await reader.load();
    await reader.announce([]);
    await reader.original.answerAll();
    // Its rebuild has died.
    reader.leases.isAnnounced = false;
    reader.original.stage(['late'], CAPACITY);
    // A description would show that the copy is of another generation.
    reader.original.duringDescribe = () => new Promise(() => {});
    reader.leases.goLive();
    reader.leases.deliver();
  },

  async 'heard-before-blocks'(reader) {
    const { filter, original } = reader;
    await filter.describe();
    await settled();
    // The only piece has been read.
    original.live!.addKey('late');
    reader.hear();
    await original.answerAll();
    await settled();
  },
  async 'look-after-blocks'(reader) {
    const { filter, original } = reader;
    reader.hear();
    await filter.describe();
    await settled();
    // A server that came back without what was added last; the filter is suspect when that is noticed.
    original.live = undefined;
    original.state = 'suspect';
    await original.answerAll();
    await settled();
  },
  async 'bits-stay'(reader) {
    const { filter, original } = reader;
    let answer = () => {};
    const answered = new Promise<void>((resolve) => (answer = resolve));
    original.duringCheck = () => answered;
    const asked = filter.check(['late']);
    await settled();
    original.live!.addKey('late');
    reader.hear();
    await reader.load();
    await settled();
    answer();
    await asked;
  },
  async 'suspect-ends'(reader) {
    const { filter, original } = reader;
    reader.hear();
    await reader.load();
    // A row was found that the filter denies.
    original.live = undefined;
    original.state = 'suspect';
    await filter.describe();
  },
  async 'other-generation-ends'(reader) {
    const { filter, original } = reader;
    reader.hear();
    await reader.load();
    await settled();
    filter.checkOne('nobody');
    original.swap([...idsOf('id', 200), 'late'], CAPACITY);
    await jest.advanceTimersByTimeAsync(1_000);
  },
};

describe.each(COPY_RULES)('The rule %s', (rule) => {
  let reader: Reader;
  afterEach(async () => {
    await reader.filter.close();
    jest.useRealTimers();
  });

  async function answers(Store: typeof LocalCopyStore): Promise<{ late: unknown; nobody: unknown }> {
    jest.useFakeTimers();
    reader = new Reader(Store, isCoveredRule(rule));
    await PROMISES[rule](reader);
    return { late: reader.filter.checkOne('late'), nobody: reader.filter.checkOne('nobody') };
  }

  it('keeps a copy from denying an id that is promised', async () => {
    expect((await answers(LocalCopyStore)).late).not.toBe('absent');
  });

  it('is missed', async () => {
    const Store = await copyStoreWithout(rule);
    expect(await answers(Store)).toEqual({ late: 'absent', nobody: 'absent' });
  });
});

describe('A copy that covers ids', () => {
  afterEach(() => {
    jest.useRealTimers();
  });

  it('reads its blocks again when another era has begun, since what it covered is over', async () => {
    jest.useFakeTimers();
    const reader = new Reader(LocalCopyStore, true);
    const era = { isOver: false };
    reader.covered = { era, holds: () => true };
    await reader.load();
    await settled();
    expect(reader.filter.checkOne('nobody')).toBe('absent');
    era.isOver = true;
    expect(reader.filter.checkOne('nobody')).toBeInstanceOf(Promise);
    reader.hear();
    await jest.advanceTimersByTimeAsync(1_000);
    await reader.original.answerAll();
    await settled();
    expect(reader.filter.checkOne('nobody')).toBe('absent');
    await reader.filter.close();
  });
});
