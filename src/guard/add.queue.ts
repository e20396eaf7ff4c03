import { Logger } from '@nestjs/common';
import { BloomIdError, type BloomEventListener, BloomUnavailableError } from '../common/index.js';
import { type BloomId, ownText } from '../filter/index.js';
import type { GuardableFilter } from '../service/index.js';

export interface AddQueueOptions {
  readonly filter: GuardableFilter;
  readonly emit: BloomEventListener;
  readonly limits?: AddQueueLimits;
}

export interface AddQueueLimits {
  /** Ids kept at most. Default 10,000. */
  readonly ids?: number;
  /** Memory that the ids may take, about. Default 16 MiB. */
  readonly bytes?: number;
  /** Wait before the first retry; doubles with every failure. Default 100. */
  readonly minRetryMs?: number;
  /** Default 10,000. */
  readonly maxRetryMs?: number;
}

/** Ids of one `addMany`: keeps a batch well below the store's deadline. */
const BATCH_IDS = 1000;

/** Of one id in the queue, beside what it is itself: its note, and the places in the map. */
const ENTRY_BYTES = 200;

/** An id that waits. Another object stands for it when it was put once more: what an attempt has recorded by then may be too early. */
interface WaitingId {
  readonly id: BloomId;
}

/** Ids of one filter that could not be recorded yet. Tries until they are. */
export class AddQueue {
  private readonly waiting = new Map<string, WaitingId>();
  private readonly limit: number;
  private readonly byteLimit: number;
  private bytes = 0;
  private readonly minRetryMs: number;
  private readonly maxRetryMs: number;
  private retryMs: number;
  private timer: NodeJS.Timeout | undefined;
  private flushing: Promise<void> | undefined;
  private closed = false;

  constructor(private readonly options: AddQueueOptions) {
    const { ids = 10_000, bytes = 16 << 20, minRetryMs = 100, maxRetryMs = 10_000 } = options.limits ?? {};
    this.limit = ids;
    this.byteLimit = bytes;
    this.minRetryMs = this.retryMs = minRetryMs;
    this.maxRetryMs = maxRetryMs;
  }

  /**
   * Keeps ids whose `add` failed with this error.
   *
   * @throws {BloomUnavailableError} when they do not fit; then none is kept.
   */
  put(ids: readonly BloomId[], error: unknown): void {
    const { name } = this.options.filter;
    const keyed = new Map(ids.map((id) => [this.options.filter.keyText(id), id]));
    for (const key of keyed.keys()) if (this.renew(key)) keyed.delete(key);
    const bytes = [...keyed.values()].reduce((sum: number, id) => sum + bytesOf(id), this.bytes);
    if (this.waiting.size + keyed.size > this.limit || bytes > this.byteLimit) {
      throw new BloomUnavailableError(
        `Expected filter '${name}' to record ids again before ${this.limit} of them wait, or ${this.byteLimit} bytes, but the queue ` +
          'is full. Bring the store back; until then creating calls are refused.',
        { cause: error },
      );
    }
    for (const [key, id] of keyed)
      this.waiting.set(ownText(key), { id: typeof id === 'string' ? ownText(id) : id });
    this.bytes = bytes;
    this.tell(error);
    this.schedule();
  }

  /** Whether the id waits. Ask before the filter is checked: an id leaves the queue when it is in the filter. */
  has(id: unknown): boolean {
    if (this.waiting.size === 0) return false;
    try {
      return this.waiting.has(this.options.filter.keyText(id));
    } catch {
      return false; // No id: the filter says so, and tells it.
    }
  }

  /** Whether all of these ids wait. Then each is recorded later than now, also where an attempt is under way. */
  putOff(ids: readonly BloomId[]): boolean {
    if (!ids.every((id) => this.has(id))) return false;
    for (const id of ids) this.renew(this.options.filter.keyText(id));
    return true;
  }

  /** Stops trying, after one last time. */
  async close(): Promise<void> {
    this.closed = true;
    clearTimeout(this.timer);
    await this.flushing;
    await this.flush();
    if (this.waiting.size > 0) {
      new Logger('BloomRegisters').error(
        `${this.waiting.size} ids of filter '${this.options.filter.name}' were not recorded before the shutdown. ` +
          'Rebuild the filter, or their lookups are answered "absent".',
      );
    }
  }

  /** False for an id that does not wait. */
  private renew(key: string): boolean {
    const waiting = this.waiting.get(key);
    if (waiting) this.waiting.set(key, { ...waiting });
    return waiting !== undefined;
  }

  private schedule(): void {
    if (this.closed || this.timer || this.waiting.size === 0) return;
    this.timer = setTimeout(() => {
      this.flushing = this.flush().finally(() => {
        this.timer = this.flushing = undefined;
        this.schedule();
      });
    }, this.retryMs).unref();
  }

  private async flush(): Promise<void> {
    const entries = [...this.waiting];
    try {
      for (let at = 0; at < entries.length; at += BATCH_IDS)
        await this.record(entries.slice(at, at + BATCH_IDS));
      this.retryMs = this.minRetryMs;
    } catch (error) {
      this.retryMs = Math.min(this.retryMs * 2, this.maxRetryMs);
      this.tell(error);
    }
  }

  private async record(entries: [string, WaitingId][]): Promise<void> {
    const { filter, emit } = this.options;
    try {
      await filter.addMany(entries.map(([, { id }]) => id));
    } catch (error) {
      if (!(error instanceof BloomIdError)) throw error;
      // Too long: known only now that the store can be asked again. It must not hold up the others.
      if (entries.length > 1) {
        for (const entry of entries) await this.record([entry]);
        return;
      }
      emit({ type: 'store-error', filter: filter.name, operation: 'add', error });
    }
    for (const [key, recorded] of entries) {
      if (this.waiting.get(key) !== recorded) continue;
      this.waiting.delete(key);
      this.bytes -= bytesOf(recorded.id);
    }
  }

  private tell(error: unknown): void {
    const { filter, emit } = this.options;
    emit({ type: 'add-queued', filter: filter.name, queued: this.waiting.size, error });
  }
}

function bytesOf(id: BloomId): number {
  if (typeof id === 'string') return ENTRY_BYTES + 2 * id.length;
  if (typeof id === 'object') return ENTRY_BYTES + id.byteLength;
  return ENTRY_BYTES + (typeof id === 'bigint' ? id.toString(16).length : 0);
}
