import type { BloomEventListener } from '../../../../common/index.js';
import type { BlockedSnapshot } from '../blocked-snapshot.js';
import { NO_RECORDER, type StoreRecorder } from '../../../index.js';
import type { RedisKeys } from '../../protocol/redis-keys.js';
import type { ReadStream, StreamEntry, StreamReader } from '../../client/stream-reader.js';
import { DelayAlarm } from './delay-alarm.js';
import { type Acknowledged, acknowledgedIn, type CopyScripts } from './copy-scripts.js';

/** Who waits asks at the latest after this time; sooner while the stream of acknowledgements is not heard yet. */
const ASK_EVERY_MS = 100;
const FIRST_ASKED_MS = 1;
/** The stream is heard for so long after the last wait: the next one needs no question then. */
const HEARD_FOR_MS = 10_000;

/** What an add or a swap has to wait for before it is acknowledged, as its script says. */
export interface CopyWait {
  readonly for: 'nothing' | 'readers' | 'time';
  /** At most, in milliseconds. */
  readonly ms: number;
  readonly list: string;
  /** Of the last entry. */
  readonly number: number;
}

interface Waiting {
  readonly list: string;
  readonly number: number;
  end(): void;
}

export interface CopyWaitsContext {
  readonly name: string;
  readonly emit: BloomEventListener;
  readonly keys: RedisKeys;
  readonly copyScripts: CopyScripts;
  /** Undefined where nobody counts. */
  readonly recorder?: StoreRecorder | undefined;
  readonly metadata: { isOfServer(snapshot: BlockedSnapshot): boolean };
  /** The longest lease that this process knows of, in milliseconds; 0: it knows of none. */
  readonly unseenLeases: { readonly leaseMs: number };
  /** Undefined on a Cluster, where nobody reads with leases. */
  readonly streams: StreamReader | undefined;
  /** Left out: one of its own. The parts of a filter share one. */
  readonly alarm?: DelayAlarm | undefined;
}

/** Those of one filter who wait until readers have acknowledged an entry. */
export class CopyWaits {
  private readonly waiting = new Set<Waiting>();
  private stream: ReadStream | undefined;
  private stopTimer: NodeJS.Timeout | undefined;
  private last: { readonly list: string; readonly least: Acknowledged } | undefined;
  private isAsking = false;
  private readonly alarm: DelayAlarm;

  constructor(private readonly context: CopyWaitsContext) {
    this.alarm = context.alarm ?? new DelayAlarm();
  }

  /** The same as `settle`, for an add. */
  async settleAdd(snapshot: BlockedSnapshot, wait: CopyWait | undefined): Promise<void> {
    const { recorder = NO_RECORDER, emit, name } = this.context;
    const since = performance.now();
    if (wait?.for !== 'readers' && this.pauseMs(snapshot, wait) <= 0) return;
    await this.settle(snapshot, wait);
    const ms = performance.now() - since;
    recorder.waited(ms);
    // An acknowledgement takes a round trip. Without one, a wait ends with the lease, of which a part is over when the wait begins.
    const isLong = ms >= (snapshot.leasesMs ?? ms) / 2;
    const report = isLong ? this.alarm.delayed(ms) : undefined;
    if (report) emit({ type: 'adds-delayed', filter: name, ...report });
  }

  /** Resolves when nobody answers any more from a copy that lacks what was written under this snapshot. */
  async settle(snapshot: BlockedSnapshot, wait: CopyWait | undefined): Promise<void> {
    const ms = this.pauseMs(snapshot, wait);
    if (ms > 0) await waitMs(ms);
    else if (wait?.for === 'readers') await this.waitFor(wait);
  }

  /** How long nobody knows for whom to wait. */
  private pauseMs(snapshot: BlockedSnapshot, wait: CopyWait | undefined): number {
    const { metadata, unseenLeases } = this.context;
    const { leasesMs = unseenLeases.leaseMs, unseenUntil } = snapshot;
    // Carried out, perhaps, by another server, after which nobody knows who has a lease.
    const isOther = !metadata.isOfServer(snapshot);
    const stated = wait?.for === 'time' ? wait.ms : 0;
    return Math.max(unseenUntil - performance.now(), isOther ? leasesMs : 0, stated);
  }

  /** Resolves when all readers have acknowledged the entry, none has a lease any more, or the time is up. */
  private async waitFor({ list, number, ms }: Omit<CopyWait, 'for'>): Promise<void> {
    const until = performance.now() + ms;
    if (this.last && isOver({ list, number }, this.last)) return;
    this.listen();
    let isOverNow = false;
    let end = () => {};
    const ended = new Promise<void>((resolve) => (end = resolve));
    const waiting: Waiting = {
      list,
      number,
      end() {
        isOverNow = true;
        end();
      },
    };
    this.waiting.add(waiting);
    try {
      let pauseMs = FIRST_ASKED_MS;
      for (;;) {
        const leftMs = until - performance.now();
        if (leftMs <= 0) return;
        if (this.stream?.isHeard) pauseMs = ASK_EVERY_MS;
        await firstOf(ended, Math.min(leftMs, pauseMs));
        if (isOverNow) return;
        if (performance.now() < until) await this.ask(list, ms);
        if (isOverNow) {
          // The stream has not reported it: it may be one that began again, with lower ids.
          this.close();
          return;
        }
        pauseMs = Math.min(2 * pauseMs, ASK_EVERY_MS);
      }
    } finally {
      this.waiting.delete(waiting);
      this.stopLater();
    }
  }

  close(): void {
    clearTimeout(this.stopTimer);
    if (this.stream) this.context.streams?.stop(this.stream);
    this.stream = undefined;
  }

  private listen(): void {
    clearTimeout(this.stopTimer);
    const { streams, keys } = this.context;
    // From its beginning: it holds one entry, which says how things stand.
    this.stream ??= streams?.read(keys.acks, '0-0', (entries) => this.onEntries(entries));
  }

  private stopLater(): void {
    clearTimeout(this.stopTimer);
    this.stopTimer = setTimeout(() => this.close(), HEARD_FOR_MS).unref();
  }

  private onEntries(entries: readonly StreamEntry[]): void {
    const { fields } = entries.at(-1)!;
    const [, list, , least] = fields.map(String);
    if (list === undefined || least === undefined) return;
    this.heard(list, acknowledgedIn(least));
  }

  private heard(list: string, least: Acknowledged): void {
    this.last = { list, least };
    for (const waiting of this.waiting) if (isOver(waiting, { list, least })) waiting.end();
  }

  private async ask(list: string, ms: number): Promise<void> {
    if (this.isAsking) return;
    this.isAsking = true;
    const { copyScripts, keys, emit, name } = this.context;
    try {
      this.heard(list, await copyScripts.acknowledged(keys, list, ms));
    } catch (error) {
      // The wait ends with the time at the latest.
      emit({ type: 'store-error', filter: name, operation: 'ask what readers have acknowledged', error });
    } finally {
      this.isAsking = false;
    }
  }
}

function isOver(
  { list, number }: Pick<Waiting, 'list' | 'number'>,
  heard: { readonly list: string; readonly least: Acknowledged },
): boolean {
  const { least } = heard;
  return heard.list === list && least !== 'LIST' && least >= number;
}

/** Resolves when the promise does or the time is up. The connection keeps the process, as long as there is one. */
async function firstOf(ended: Promise<void>, ms: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const time = new Promise<void>((resolve) => (timer = setTimeout(resolve, Math.ceil(ms)).unref()));
  await Promise.race([ended, time]);
  clearTimeout(timer);
}

/** At least so many milliseconds: a timer may be early by a part of one. */
export async function waitMs(ms: number): Promise<void> {
  const until = performance.now() + ms;
  for (let left = ms; left > 0; left = until - performance.now()) {
    const pauseMs = Math.ceil(left);
    await new Promise((resolve) => setTimeout(resolve, pauseMs).unref());
  }
}
