import { BloomIdError, BloomUnavailableError } from '../../common/index.js';
import type { IdKey } from '../../filter/index.js';
import type { BloomFilterStore, BloomVerdict, FilterDescription, RebuildLease } from '../index.js';
import { addCommand } from './add-command.js';
import { BlockReader } from './block-reader.js';
import type { RedisFilterParts } from './redis-filter-parts.js';
import { acquireLease } from './redis-lease.js';
import { TickBatcher } from './tick-batcher.js';

/** Ids of one call of the script `add`: it holds the server for about a millisecond. */
const IDS_PER_ADD = 256;
/** An add or a check starts over when the filter changed under it; a filter changes at most a few times a second. */
const MAX_ATTEMPTS = 5;

export class RedisFilterStore implements BloomFilterStore {
  private readonly reader: BlockReader;
  private readonly checks = new TickBatcher((ids: readonly IdKey[]) => this.checkTogether(ids));
  private readonly adds = new TickBatcher((ids: readonly IdKey[]) => this.addTogether(ids));

  constructor(private readonly parts: RedisFilterParts) {
    this.reader = new BlockReader(parts.connection, parts.scripts);
  }

  async check(ids: readonly IdKey[]): Promise<BloomVerdict[]> {
    return ids.length === 1 ? [await this.checks.call(ids[0]!)] : this.checkTogether(ids);
  }

  async add(ids: readonly IdKey[]): Promise<boolean[]> {
    if (ids.length !== 1) return this.addTogether(ids);
    try {
      return [await this.adds.call(ids[0]!)];
    } catch (error) {
      // One id of the batch is too long: it must not fail the others.
      if (error instanceof BloomIdError) return this.addTogether(ids);
      throw error;
    }
  }

  async describe(): Promise<FilterDescription> {
    return (await this.parts.views.reload()).description;
  }

  async lease({ leaseMs }: { leaseMs: number }): Promise<RebuildLease | undefined> {
    return acquireLease(this.parts, this.reader, leaseMs);
  }

  async close(): Promise<void> {
    this.parts.views.forget();
  }

  private async checkTogether(ids: readonly IdKey[]): Promise<BloomVerdict[]> {
    if (ids.length === 0) return [];
    try {
      return await this.read(ids);
    } catch (error) {
      this.parts.emit({ type: 'store-error', filter: this.parts.name, operation: 'check', error });
      return ids.map(() => 'unknown');
    }
  }

  /**
   * Blocks whose tag is that of the view's generation are an answer of this very generation, unless a connection ended
   * meanwhile: then another server may have given it.
   */
  private async read(ids: readonly IdKey[]): Promise<BloomVerdict[]> {
    const { views, connection } = this.parts;
    let view = await views.current();
    for (let attempt = 1; ; attempt++) {
      if (!view.live) return ids.map(() => 'unknown');
      const verdicts = await this.reader.read(view.live, ids);
      const sameServer = view.epoch === connection.epoch;
      if (sameServer && !verdicts.includes('unknown')) return verdicts;
      const next = await views.reload();
      const sameGeneration = next.live?.generation.tag === view.live.generation.tag;
      if (sameServer && sameGeneration && next.epoch === view.epoch) {
        await views.takeOffline(next, 'lost', 'A segment is gone or damaged.');
        return verdicts;
      }
      if (attempt === MAX_ATTEMPTS) return ids.map(() => 'unknown');
      view = next;
    }
  }

  private async addTogether(ids: readonly IdKey[]): Promise<boolean[]> {
    const results: boolean[] = [];
    for (let at = 0; at < ids.length; at += IDS_PER_ADD) {
      results.push(...(await this.record(ids.slice(at, at + IDS_PER_ADD))));
    }
    return results;
  }

  private async record(ids: readonly IdKey[]): Promise<boolean[]> {
    const { name, keys, scripts, views } = this.parts;
    let view = await unavailable(views.current());
    for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
      const reply = await unavailable(scripts.add(keys, addCommand(view.live, view.staged, ids)));
      if (typeof reply === 'object') return ids.map((_, i) => reply.flags[i] !== '0');
      view = await unavailable(views.reload());
      if (reply === 'NOMETA' && !view.stored) {
        await unavailable(views.takeOffline(view, 'lost', 'The metadata are gone.'));
      } else if (reply === 'LOST' && view.live) {
        await unavailable(views.takeOffline(view, 'lost', 'A segment is gone or damaged.'));
      } else continue;
      view = await unavailable(views.reload());
    }
    throw new BloomUnavailableError(`Filter '${name}' kept changing while ids were added.`);
  }
}

/** Whatever kept Redis from doing it: for the caller of an add it is one kind of error. */
async function unavailable<Value>(promise: Promise<Value>): Promise<Value> {
  try {
    return await promise;
  } catch (error) {
    if (error instanceof BloomUnavailableError) throw error;
    const message = error instanceof Error ? error.message : String(error);
    throw new BloomUnavailableError(`Redis refused: ${message}`, { cause: error });
  }
}
