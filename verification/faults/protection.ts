import { setTimeout as delay } from 'node:timers/promises';
import type { ShopInstance } from './shop-instance.js';

interface Probe {
  readonly at: number;
  readonly wasAbsent: boolean;
}

/**
 * Protection is back when it has held for this long, and for so many lookups: on a machine that is busy they
 * take longer.
 */
const STEADY_MS = 300;
const STEADY_PROBES = 20;
/** Fewer unprotected answers in a row are a busy machine: a lookup that found no time. */
const STRETCH = 3;
const GIVE_UP_MS = 120_000;

/** Whether ids that are certainly absent are answered "absent", instance by instance. */
export class Protection {
  private readonly probes: ReadonlyMap<ShopInstance, Probe[]>;

  constructor(instances: readonly ShopInstance[]) {
    this.probes = new Map(instances.map((instance) => [instance, []]));
  }

  note(instance: ShopInstance, at: number, wasAbsent: boolean): void {
    this.probes.get(instance)!.push({ at, wasAbsent });
  }

  /**
   * Time from `since` to the last unprotected answer of any instance; null when protection does not come
   * back.
   */
  async backAfter(since: number): Promise<number | null> {
    const all = [...this.probes.values()];
    while (!all.every((probes) => isSteady(probes, since))) {
      if (performance.now() - since > GIVE_UP_MS) return null;
      await delay(20);
    }
    return Math.max(0, ...all.map((probes) => lastUnprotectedAt(probes) - since));
  }
}

function isSteady(probes: readonly Probe[], since: number): boolean {
  const later = probes.filter(({ at }) => at >= since);
  const from = Math.max(since, lastUnprotectedAt(later));
  const protectedSince = later.filter(({ at }) => at > from);
  return performance.now() - from >= STEADY_MS && protectedSince.length >= STEADY_PROBES;
}

/** Answers come in another order than they were asked for. */
function lastUnprotectedAt(probes: readonly Probe[]): number {
  const sorted = [...probes].sort((a, b) => a.at - b.at);
  let last = -Infinity;
  let stretch = 0;
  for (const { at, wasAbsent } of sorted) {
    stretch = wasAbsent ? 0 : stretch + 1;
    if (stretch >= STRETCH) last = at;
  }
  return last;
}
