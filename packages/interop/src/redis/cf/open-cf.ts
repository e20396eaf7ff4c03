import { BloomUnavailableError, isLongerThan, type StagePlan } from 'nestjs-bloom/store';
import type { IdKey } from 'nestjs-bloom/filter';
import type { CuckooLayoutOptions } from '../../formats/cuckoo-codec.js';
import { MAX_ATTEMPTS, type RedisContext, unavailable } from 'nestjs-bloom/internal';
import { DrivenFilter, type DrivenFilterOptions } from '../generation/driven-filter.js';
import { FILTER_GONE, notRemoved } from './cf.messages.js';
import { CfDriver } from './cf-driver.js';
import { CfKeys } from './cf-keys.js';
import type { ResolvedCf } from './resolved-cf.js';

interface CfFilterOptions extends DrivenFilterOptions<ResolvedCf> {
  readonly driver: CfDriver;
  readonly plan: StagePlan;
}

/** A filter of `CF.*` commands. */
class CfFilterInRedis extends DrivenFilter<ResolvedCf> {
  constructor(protected override readonly options: CfFilterOptions) {
    super(options);
  }

  async remove(ids: readonly IdKey[]): Promise<boolean[]> {
    const { driver, plan } = this.options;
    const removed: boolean[] = [];
    const startedAt = performance.now();
    const time = await unavailable(driver.clock());
    // Not later than when this was called, however long the question was on its way.
    const beganAt = time - (performance.now() - startedAt);
    for (const id of ids) {
      const isNone = isLongerThan(id, plan.maxIdBytes);
      removed.push(!isNone && (await this.removeOne(id, beganAt)));
    }
    return removed;
  }

  private async removeOne(id: IdKey, beganAt: number): Promise<boolean> {
    const { name, driver } = this.options;
    const { metadata } = this.context;
    let snapshot = await unavailable(metadata.current());
    for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
      if (!snapshot.live) break;
      const reply = await unavailable(driver.remove(snapshot.live, [id], beganAt));
      if (typeof reply === 'object') return reply[0]!;
      if (reply === 'LOST') await unavailable(metadata.takeOffline(snapshot, 'lost', FILTER_GONE));
      snapshot = await unavailable(metadata.reload());
    }
    throw new BloomUnavailableError(notRemoved(name, snapshot.description.state));
  }
}

export function openCf(context: RedisContext, layout: CuckooLayoutOptions): CfFilterInRedis {
  const { name, keyPrefix } = context;
  const keys = new CfKeys(keyPrefix, name);
  const driver = new CfDriver({ ...context, layout, filter: name, keys });
  return new CfFilterInRedis({ ...context, keys, driver, ownsKey: true });
}
