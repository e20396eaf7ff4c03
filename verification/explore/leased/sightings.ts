import type { Command } from 'ioredis';
import type { LiveCopy } from '../../../src/store/local-copy/live-copy.js';
import type { LocalCopy } from '../../../src/store/local-copy/local-copy.js';
import { isDone } from '../commands.js';
import type { GatedInstance } from '../gated-instance.js';

/** What schedules have to contain, so that they say something of copies of a staging. */
export const SIGHTS = [
  'stagings announced',
  'copies of them begun',
  'copies of them whole',
  'adds meanwhile',
  'adds of ids that are live, meanwhile',
  'filters offline meanwhile',
  'rebuilders killed meanwhile',
  'stagings given up meanwhile',
  'swaps of them',
  'copies that went live',
] as const;

export type Sights = Record<(typeof SIGHTS)[number], number>;

export function noSights(): Sights {
  return Object.fromEntries(SIGHTS.map((name) => [name, 0])) as Sights;
}

/** Adds those of one schedule. */
export function addSights(
  sums: { readonly times: Sights; readonly schedules: Sights },
  counts: Readonly<Sights>,
): void {
  for (const name of SIGHTS) {
    sums.times[name] += counts[name];
    if (counts[name] > 0) sums.schedules[name]++;
  }
}

interface CopiesOfProcess {
  readonly current: LocalCopy | undefined;
  readonly next: { readonly copy: LocalCopy | undefined } | undefined;
}

/** Counts in one schedule what happens to announced stagings. */
export class Sightings {
  readonly counts = noSights();
  /** Whose staging is announced now. */
  announcer: GatedInstance | undefined;
  /** Whether somebody else has copied it. */
  isCopied = false;
  private readonly begun = new WeakSet<LocalCopy>();
  private readonly whole = new WeakSet<LocalCopy>();
  private readonly live = new WeakSet<LocalCopy>();

  /** Whether a process has a whole copy of a staging. */
  hasCopied(instance: GatedInstance): boolean {
    return copiesOf(instance).next?.copy?.isWhole === true;
  }

  /** What the server has done. */
  onReply(instance: GatedInstance, what: string, { args }: Command, value: unknown): void {
    const { counts } = this;
    if (what === 'copyAnnounce') {
      const begins = String(args.at(-1)) === '1';
      if (!begins || !(Number(value) > 0)) return;
      counts['stagings announced']++;
      this.announcer = instance;
      this.isCopied = false;
      return;
    }
    if (!this.announcer) return;
    if (what === 'add' && Array.isArray(value)) {
      counts['adds meanwhile']++;
      if (!String(value[0]).includes('1')) counts['adds of ids that are live, meanwhile']++;
    }
    if (what === 'swap' && isDone(value)) this.end('swaps of them');
    if (what === 'offline' && Array.isArray(value)) this.end('filters offline meanwhile');
    if (what === 'withdraw' && instance === this.announcer) this.end('stagings given up meanwhile');
  }

  /** Looks at the copies of all processes. */
  look(instances: readonly GatedInstance[]): void {
    const { counts } = this;
    if (this.announcer?.isAlive === false) this.end('rebuilders killed meanwhile');
    for (const instance of instances) {
      const { current, next } = copiesOf(instance);
      const copy = next?.copy;
      if (copy && isNew(this.begun, copy)) counts['copies of them begun']++;
      if (copy?.isWhole && isNew(this.whole, copy)) {
        counts['copies of them whole']++;
        if (instance !== this.announcer) this.isCopied = true;
      }
      if (current && this.begun.has(current) && isNew(this.live, current)) counts['copies that went live']++;
    }
  }

  private end(sight: keyof Sights): void {
    this.counts[sight]++;
    this.announcer = undefined;
  }
}

function isNew(known: WeakSet<LocalCopy>, copy: LocalCopy): boolean {
  if (known.has(copy)) return false;
  known.add(copy);
  return true;
}

function copiesOf({ filter }: GatedInstance): CopiesOfProcess {
  const { copies } = (filter as unknown as { inStore: { copies?: LiveCopy } }).inStore;
  return (copies ?? { current: undefined, next: undefined }) as unknown as CopiesOfProcess;
}
