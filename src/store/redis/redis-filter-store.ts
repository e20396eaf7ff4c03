import { BloomIdError, BloomUnavailableError, describeError } from '../../common/index.js';
import { BLOCK_BYTES, type IdKey, tooLong } from '../../filter/index.js';
import type {
  BlockListener,
  BloomVerdict,
  CopyableFilterStore,
  FilterDescription,
  RebuildLease,
} from '../index.js';
import { addCommand } from './add-command.js';
import { BlockReader } from './block-reader.js';
import { CircuitOpenError } from './circuit-breaker.js';
import type { FilterView } from './filter-view.js';
import { adviseOnServer } from './redis-advice.js';
import type { RedisFilterParts } from './redis-filter-parts.js';
import { acquireLease } from './redis-lease.js';
import type { AddReply } from './redis-scripts.js';
import { SEGMENT_BLOCKS } from './segments.js';
import { TickBatcher } from './tick-batcher.js';

/** Ids of one look-up, which has one deadline. */
const IDS_PER_LOOK_UP = 2048;
/** Ids of one call of the script `add`: it holds the server for about a millisecond. */
const IDS_PER_ADD = 256;
/** Calls of one bulk add on the way at once: the server works on one while the next is made. */
const ADDS_AT_ONCE = 4;
/** An add or a check starts over when the filter changed under it; a filter changes at most a few times a second. */
const MAX_ATTEMPTS = 5;

export class RedisFilterStore implements CopyableFilterStore {
  private readonly reader: BlockReader;
  private readonly checks = new TickBatcher((ids: readonly IdKey[]) => this.checkTogether(ids));
  private readonly adds = new TickBatcher((ids: readonly IdKey[]) => this.addTogether(ids));

  constructor(
    private readonly parts: RedisFilterParts,
    onBlocks?: BlockListener,
  ) {
    this.reader = new BlockReader(parts.connection, parts.scripts, onBlocks);
  }

  async check(ids: readonly IdKey[]): Promise<BloomVerdict[]> {
    return ids.length === 1 ? [await this.checkOne(ids[0]!)] : this.checkTogether(ids);
  }

  checkOne(id: IdKey): Promise<BloomVerdict> {
    return this.checks.call(id);
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

  async distrust(reason: string): Promise<void> {
    const { views } = this.parts;
    const view = await unavailable(views.reload());
    if (view.live) await unavailable(views.takeOffline(view, 'suspect', reason));
  }

  advise(filter: { bytes: number; hasSource: boolean }): Promise<readonly string[]> {
    return adviseOnServer(this.parts, filter);
  }

  async lease({ leaseMs }: { leaseMs: number }): Promise<RebuildLease | undefined> {
    // Its reader reads staged generations: they are not what checks are told of.
    return acquireLease(this.parts, new BlockReader(this.parts.connection, this.parts.scripts), leaseMs);
  }

  readBlocks(first: number, count: number): Promise<Uint8Array> {
    const { keys, connection } = this.parts;
    const from = (first % SEGMENT_BLOCKS) * BLOCK_BYTES;
    const key = keys.segment(Math.floor(first / SEGMENT_BLOCKS));
    return unavailable(connection.getPiece(key, from, from + count * BLOCK_BYTES - 1));
  }

  async close(): Promise<void> {
    this.parts.views.forget();
  }

  private async checkTogether(ids: readonly IdKey[]): Promise<BloomVerdict[]> {
    if (ids.length <= IDS_PER_LOOK_UP) return this.lookUp(ids);
    const verdicts: BloomVerdict[] = [];
    for (let at = 0; at < ids.length; at += IDS_PER_LOOK_UP) {
      for (const verdict of await this.lookUp(ids.slice(at, at + IDS_PER_LOOK_UP))) verdicts.push(verdict);
    }
    return verdicts;
  }

  private async lookUp(ids: readonly IdKey[]): Promise<BloomVerdict[]> {
    if (ids.length === 0) return [];
    const { connection, emit, name } = this.parts;
    try {
      return await connection.lookUp(() => this.read(ids));
    } catch (error) {
      if (!(error instanceof CircuitOpenError))
        emit({ type: 'store-error', filter: name, operation: 'check', error });
      return ids.map(() => 'unknown');
    }
  }

  /**
   * Blocks whose tag is that of the view's generation are an answer of this very generation, unless the server changed
   * meanwhile: another one may have the same generation without some of its ids.
   */
  private async read(ids: readonly IdKey[]): Promise<BloomVerdict[]> {
    const { views } = this.parts;
    let view = await views.current();
    for (let attempt = 1; ; attempt++) {
      if (!view.live) return ids.map(() => 'unknown');
      const verdicts = await this.reader.read(view.live, ids);
      const sameServer = views.isOfServer(view);
      if (sameServer && !verdicts.includes('unknown')) return verdicts;
      const next = await views.reload();
      const sameGeneration = next.live?.generation.tag === view.live.generation.tag;
      if (sameServer && sameGeneration && next.server === view.server) {
        await views.takeOffline(next, 'lost', 'A segment is gone or damaged.');
        return verdicts;
      }
      if (attempt === MAX_ATTEMPTS) return ids.map(() => 'unknown');
      view = next;
    }
  }

  private async addTogether(ids: readonly IdKey[]): Promise<boolean[]> {
    if (ids.length > IDS_PER_ADD) await this.assertFit(ids);
    const results: boolean[] = [];
    for (let at = 0; at < ids.length;) {
      const calls: Promise<boolean[]>[] = [];
      for (; at < ids.length && calls.length < ADDS_AT_ONCE; at += IDS_PER_ADD) {
        calls.push(this.record(ids.slice(at, at + IDS_PER_ADD)));
      }
      for (const added of await Promise.all(calls)) results.push(...added);
    }
    return results;
  }

  /** An id that is too long must be found before any of its call is recorded. */
  private async assertFit(ids: readonly IdKey[]): Promise<void> {
    const { live, staged } = await unavailable(this.parts.views.current());
    for (const generation of [live, staged]) {
      if (generation && ids.some((id) => generation.layout.isTooLong(id)))
        throw tooLong(generation.generation.maxIdBytes);
    }
  }

  private async record(ids: readonly IdKey[]): Promise<boolean[]> {
    const { name, views } = this.parts;
    let view = await unavailable(views.current());
    for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
      const reply = await this.send(view, ids);
      if (typeof reply === 'object') return ids.map((_, i) => reply.flags[i] !== '0');
      const before = view;
      view = await unavailable(views.reload());
      if (reply === 'NOMETA' && !view.stored) {
        await unavailable(views.takeOffline(view, 'unbuilt', 'The metadata are gone.'));
      } else if (reply === 'LOST' && view.live && tagOf(view) === tagOf(before)) {
        await unavailable(views.takeOffline(view, 'lost', 'A segment is gone or damaged.'));
      } else continue;
      view = await unavailable(views.reload());
    }
    throw new BloomUnavailableError(`Filter '${name}' kept changing while ids were added.`);
  }

  private async send(view: FilterView, ids: readonly IdKey[]): Promise<AddReply> {
    const { keys, scripts, views } = this.parts;
    const command = addCommand(view.live, view.staged, ids);
    try {
      return await scripts.add(keys, command);
    } catch (error) {
      // The metadata may be what it failed on.
      views.forget();
      throw asUnavailable(error);
    }
  }
}

function tagOf(view: FilterView): number | undefined {
  return view.live?.generation.tag;
}

/** Whatever kept Redis from doing it: for the caller of an add it is one kind of error. */
async function unavailable<Value>(promise: Promise<Value>): Promise<Value> {
  try {
    return await promise;
  } catch (error) {
    throw asUnavailable(error);
  }
}

function asUnavailable(error: unknown): BloomUnavailableError {
  if (error instanceof BloomUnavailableError) return error;
  return new BloomUnavailableError(`Redis refused: ${describeError(error)}`, { cause: error });
}
