import { Logger } from '@nestjs/common';
import { BloomIdError, type BloomEventListener, BloomUnavailableError, withHelp } from '../common/index.js';
import { type IdKey, idNote, ownText } from '../filter/index.js';
import type { GuardableFilter } from '../service/index.js';
import { lostAtShutdown, queueFull } from './guard.messages.js';

export interface AddQueueOptions {
  readonly filter: GuardableFilter;
  readonly emit: BloomEventListener;
  readonly limits?: AddQueueLimits;
}

export interface AddQueueLimits {
  /** Ids kept at most. */
  readonly ids?: number;
  /** Memory that the ids may take, about. */
  readonly bytes?: number;
  /** Wait before the first retry; doubles with every failure. */
  readonly minRetryMs?: number;
  readonly maxRetryMs?: number;
}

const DEFAULT_LIMITS = { ids: 10_000, bytes: 16 << 20, minRetryMs: 100, maxRetryMs: 10_000 };

/** Ids of one `addMany`: keeps a batch well below the store's deadline. */
const BATCH_IDS = 1000;

/** Memory of one id in the queue beside the id itself: its note, and its entry in the map. */
const ENTRY_BYTES = 200;

/** An id that waits; put once more it is another object, since what is being recorded may be too early. */
interface WaitingId {
  readonly key: IdKey;
}

/** Keeps the ids of one filter that could not be recorded, and retries until they are. */
export class AddQueue {
  /** By the note of each id. */
  private readonly waiting = new Map<string, WaitingId>();
  private readonly limits: Required<AddQueueLimits>;
  private bytes = 0;
  private retryMs: number;
  private timer: NodeJS.Timeout | undefined;
  private flushing: Promise<void> | undefined;
  private closed = false;

  constructor(private readonly options: AddQueueOptions) {
    this.limits = { ...DEFAULT_LIMITS, ...options.limits };
    this.retryMs = this.limits.minRetryMs;
  }

  /**
   * Keeps ids whose `add` failed with this error.
   *
   * @throws {BloomUnavailableError} when they do not fit; then none is kept.
   */
  put(keys: readonly IdKey[], error: unknown): void {
    const fresh = new Map(keys.map((key) => [idNote(key), key]));
    for (const note of fresh.keys()) if (this.renew(note)) fresh.delete(note);
    const bytes = [...fresh.values()].reduce((sum: number, key) => sum + bytesOf(key), this.bytes);
    const { limits } = this;
    if (this.waiting.size + fresh.size > limits.ids || bytes > limits.bytes) {
      const message = queueFull(this.options.filter.name, limits.ids, limits.bytes);
      throw new BloomUnavailableError(message, { cause: error });
    }
    for (const [note, key] of fresh)
      this.waiting.set(ownText(note), { key: typeof key === 'string' ? ownText(key) : key });
    this.bytes = bytes;
    this.report(error);
    this.schedule();
  }

  /** Ids that wait. */
  get size(): number {
    return this.waiting.size;
  }

  /** Whether the id waits. Ask before the filter is checked: recorded ids leave the queue. */
  has(note: string): boolean {
    return this.waiting.has(note);
  }

  /**
   * Whether all of these ids wait. Then each is recorded later than now, also where an attempt is under way.
   */
  putOff(keys: readonly IdKey[]): boolean {
    const notes = keys.map(idNote);
    if (!notes.every((note) => this.has(note))) return false;
    for (const note of notes) this.renew(note);
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
        withHelp(lostAtShutdown(this.waiting.size, this.options.filter.name)),
      );
    }
  }

  /** False for an id that does not wait. */
  private renew(note: string): boolean {
    const waiting = this.waiting.get(note);
    if (waiting) this.waiting.set(note, { ...waiting });
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
      this.retryMs = this.limits.minRetryMs;
    } catch (error) {
      this.retryMs = Math.min(this.retryMs * 2, this.limits.maxRetryMs);
      this.report(error);
    }
  }

  private async record(entries: [string, WaitingId][]): Promise<void> {
    const { filter, emit } = this.options;
    try {
      await filter.addKeys(entries.map(([, { key }]) => key));
    } catch (error) {
      if (!(error instanceof BloomIdError)) throw error;
      // One that is too long for the live generation, which is known only now, must not hold up the others.
      if (entries.length > 1) {
        for (const entry of entries) await this.record([entry]);
        return;
      }
      emit({ type: 'store-error', filter: filter.name, operation: 'add', error });
    }
    for (const [note, recorded] of entries) {
      if (this.waiting.get(note) !== recorded) continue;
      this.waiting.delete(note);
      this.bytes -= bytesOf(recorded.key);
    }
  }

  private report(error: unknown): void {
    const { filter, emit } = this.options;
    emit({ type: 'add-queued', filter: filter.name, queued: this.waiting.size, error });
  }
}

function bytesOf(key: IdKey): number {
  return ENTRY_BYTES + (typeof key === 'string' ? 2 * key.length : key.byteLength);
}
