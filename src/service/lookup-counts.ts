import type { BloomUnknownReason, LookupOutcome, StoreRecorder } from '../store/index.js';
import { BATCH_BOUNDS, Histogram, LOCAL_BOUNDS_MS, REMOTE_BOUNDS_MS } from './histogram.js';
import { noUnknowns, type UnknownCounts } from './method-counts.js';
import type { BloomCopyWaits, BloomFilterMetrics } from './metrics.js';

/** What the store has done for one filter in this process. */
export class LookupCounts implements StoreRecorder {
  local = 0;
  private remote = 0;
  private waits = { adds: 0, ms: 0 };
  private readonly reasons: UnknownCounts = noUnknowns();
  private readonly localMs = new Histogram(LOCAL_BOUNDS_MS);
  private readonly remoteMs = new Histogram(REMOTE_BOUNDS_MS);
  private readonly addMs = new Histogram(REMOTE_BOUNDS_MS);
  private readonly checkSizes = new Histogram(BATCH_BOUNDS);
  private readonly addSizes = new Histogram(BATCH_BOUNDS);

  get copyWaits(): BloomCopyWaits {
    return { ...this.waits };
  }

  timedLocal(ms: number): void {
    this.localMs.observe(ms);
  }

  looked(outcomes: readonly LookupOutcome[], ms: number): void {
    let answered = 0;
    for (const outcome of outcomes) {
      if (outcome === 'maybe' || outcome === 'absent') answered++;
      else this.reasons[outcome]++;
    }
    this.remote += answered;
    // Of the others most were not sent, and say nothing of the store.
    if (answered === 0 && outcomes[0] !== 'timeout') return;
    this.remoteMs.observe(ms);
    this.checkSizes.observe(outcomes.length);
  }

  unknown(reason: BloomUnknownReason, ids: number): void {
    this.reasons[reason] += ids;
  }

  added(ids: number, ms: number): void {
    this.addMs.observe(ms);
    this.addSizes.observe(ids);
  }

  waited(ms: number): void {
    this.waits.adds++;
    this.waits.ms += ms;
  }

  snapshot(): Pick<BloomFilterMetrics, 'lookups' | 'latencyMs' | 'batchSizes' | 'copyWaits'> {
    return {
      lookups: { local: this.local, remote: this.remote, unknown: { ...this.reasons } },
      latencyMs: {
        local: this.localMs.snapshot(),
        remote: this.remoteMs.snapshot(),
        add: this.addMs.snapshot(),
      },
      copyWaits: this.copyWaits,
      batchSizes: { check: this.checkSizes.snapshot(), add: this.addSizes.snapshot() },
    };
  }
}
